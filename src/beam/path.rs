use super::error::{BeamError, in_range};
use crate::math::{Mat3, Quat, Vec3, exp};

/// The largest number of beams in a chain.
pub const MOST_BEAMS: usize = 100_000;

/// The smallest cosine of the turn between two neighbouring beams: 150°.
const LEAST_COSINE: f64 = -0.866;

/// `beams + 1` nodes, evenly spaced by length along straight lines through some points.
pub fn along_points(points: &[Vec3], beams: usize) -> Result<Vec<Vec3>, BeamError> {
    check_count(beams)?;
    if points.len() < 2 {
        return Err(BeamError::ShortPath(points.len()));
    }
    let mut lengths = Vec::with_capacity(points.len() - 1);
    for (i, pair) in points.windows(2).enumerate() {
        let length = (pair[1] - pair[0]).norm();
        in_range("a coordinate of a path", length, length.is_finite(), "a finite number")?;
        if length <= 0.0 {
            return Err(BeamError::ZeroLength(i));
        }
        lengths.push(length);
    }
    let total: f64 = lengths.iter().sum();
    let (mut piece, mut before) = (0, 0.0);
    let nodes = (0..=beams).map(|i| {
        let s = total * i as f64 / beams as f64;
        while piece + 1 < lengths.len() && s > before + lengths[piece] {
            before += lengths[piece];
            piece += 1;
        }
        let part = ((s - before) / lengths[piece]).clamp(0.0, 1.0);
        points[piece].lerp(&points[piece + 1], part)
    });
    Ok(nodes.collect())
}

/// `beams + 1` nodes on an arc from `start` about an axis through `centre`, by `angle` radians.
pub fn along_arc(centre: &Vec3, axis: &Vec3, start: &Vec3, angle: f64, beams: usize) -> Result<Vec<Vec3>, BeamError> {
    check_count(beams)?;
    in_range("angle of an arc", angle, angle != 0.0, "a number other than zero")?;
    let length = axis.norm();
    in_range("length of the axis of an arc", length, length > 0.0, "a positive number")?;
    let (axis, arm) = (axis / length, start - centre);
    let radius = arm.cross(&axis).norm();
    in_range("radius of an arc", radius, radius > 0.0, "a positive number")?;
    Ok((0..=beams).map(|i| centre + exp(&(axis * (angle * i as f64 / beams as f64))) * arm).collect())
}

fn check_count(beams: usize) -> Result<(), BeamError> {
    if (1..=MOST_BEAMS).contains(&beams) { Ok(()) } else { Err(BeamError::Count { count: beams, most: MOST_BEAMS }) }
}

/// Rotations of the nodes of a path: x along the path, y as near to `up` as it can be at the first node, and without twist from there on.
///
/// The tangent of an inner node halves the angle between the beams that meet there. Those of the ends continue the curvature of the path.
pub fn frames(nodes: &[Vec3], up: &Vec3) -> Result<Vec<Quat>, BeamError> {
    let n = nodes.len();
    if n < 2 {
        return Err(BeamError::ShortPath(n));
    }
    let mut chords = Vec::with_capacity(n - 1);
    for (i, pair) in nodes.windows(2).enumerate() {
        chords.push(
            (pair[1] - pair[0])
                .try_normalize(0.0)
                .filter(|c| c.iter().all(|x| x.is_finite()))
                .ok_or(BeamError::ZeroLength(i))?,
        );
    }
    let mut tangents = vec![chords[0]; n];
    for i in 1..n - 1 {
        if chords[i - 1].dot(&chords[i]) < LEAST_COSINE {
            return Err(BeamError::Reversal(i));
        }
        tangents[i] = (chords[i - 1] + chords[i]).normalize();
    }
    if n > 2 {
        let mirrored = |chord: &Vec3, tangent: &Vec3| 2.0 * chord.dot(tangent) * chord - tangent;
        tangents[0] = mirrored(&chords[0], &tangents[1]);
        tangents[n - 1] = mirrored(&chords[n - 2], &tangents[n - 2]);
    }
    let mut frames = Vec::with_capacity(n);
    frames.push(first_frame(&tangents[0], up));
    for i in 1..n {
        let turn = Quat::rotation_between(&tangents[i - 1], &tangents[i]).unwrap_or_else(Quat::identity);
        let mut frame = turn * frames[i - 1];
        frame.renormalize();
        frames.push(frame);
    }
    Ok(frames)
}

/// The frame with x along `tangent` and y nearest to `up`; where these are parallel, nearest to the axis most across the tangent.
fn first_frame(tangent: &Vec3, up: &Vec3) -> Quat {
    let across = |v: &Vec3| (v - v.dot(tangent) * tangent).try_normalize(1e-6 * v.norm().max(1e-300));
    let mut spare = Vec3::zeros();
    spare[tangent.iamin()] = 1.0;
    let y = across(up).or_else(|| across(&spare)).unwrap_or_else(Vec3::y);
    let matrix = Mat3::from_columns(&[*tangent, y, tangent.cross(&y)]);
    Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(matrix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::log;

    #[test]
    fn points_are_evenly_spaced() {
        let nodes = along_points(&[Vec3::zeros(), Vec3::x(), Vec3::new(1.0, 2.0, 0.0)], 6).expect("a path");
        assert_eq!(nodes.len(), 7);
        assert!((nodes[2] - Vec3::x()).norm() < 1e-12 && (nodes[4] - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-12);
        assert!((nodes[6] - Vec3::new(1.0, 2.0, 0.0)).norm() < 1e-12);
    }

    #[test]
    fn an_arc_has_even_curvature_and_no_twist() {
        let nodes = along_arc(&Vec3::zeros(), &Vec3::z(), &Vec3::x(), 2.0, 10).expect("an arc");
        let frames = frames(&nodes, &Vec3::z()).expect("frames");
        for pair in frames.windows(2) {
            let turn = log(&(pair[0].inverse() * pair[1]));
            // `up` is the normal of the plane, so y stays there and the path bends about it.
            assert!((turn - Vec3::new(0.0, 0.2, 0.0)).norm() < 1e-12, "{turn}");
        }
        assert!((frames[0] * Vec3::x() - Vec3::y()).norm() < 1e-12);
    }

    #[test]
    fn bad_paths_are_named() {
        let p = |x: f64| Vec3::new(x, 0.0, 0.0);
        assert_eq!(along_points(&[p(0.0)], 3), Err(BeamError::ShortPath(1)));
        assert_eq!(along_points(&[p(0.0), p(1.0), p(1.0)], 3), Err(BeamError::ZeroLength(1)));
        assert!(matches!(along_points(&[p(0.0), p(f64::NAN)], 3), Err(BeamError::OutOfRange { .. })));
        assert!(matches!(along_points(&[p(0.0), p(1.0)], 0), Err(BeamError::Count { .. })));
        assert_eq!(frames(&[p(0.0), p(1.0), p(0.5)], &Vec3::y()), Err(BeamError::Reversal(1)));
        assert!(along_arc(&Vec3::zeros(), &Vec3::z(), &Vec3::z(), 1.0, 4).is_err());
    }
}
