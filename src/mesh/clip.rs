use std::f64::consts::{PI, TAU};

use super::TetMesh;
use super::grid::cells;
use crate::math::Vec3;

/// A C-shaped snap clip: a ring about the Z axis that is open downward, with a handle on top. Lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Radius of the hole.
    pub inner_radius: f64,
    /// Thickness of the ring.
    pub thickness: f64,
    /// Angle of the opening, rad.
    pub opening: f64,
    /// Size along the axis.
    pub width: f64,
    /// Width and height of the handle.
    pub handle: [f64; 2],
    /// Cells around the ring, through its thickness and along the axis.
    pub cells: [usize; 3],
}

/// Why a clip cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClipFault {
    /// A size that is not positive and finite.
    #[error("every size of a clip must be positive and finite")]
    Size,
    /// The opening is not an angle that leaves a C.
    #[error("the opening of a clip must leave at least an eighth of the ring, and be at least 1°")]
    Opening,
    /// A handle wider than the ring.
    #[error("the handle of a clip must be narrower than the ring, and end before the tips")]
    Handle,
    /// Too few cells.
    #[error("a clip needs at least 6 cells around, and one through and along")]
    Cells,
}

impl Default for Clip {
    /// About 640 nodes and 2,400 tetrahedra, for a pipe of 40 mm.
    fn default() -> Self {
        Self {
            inner_radius: 0.02,
            thickness: 0.003,
            opening: 110f64.to_radians(),
            width: 0.025,
            handle: [0.014, 0.01],
            cells: [22, 4, 4],
        }
    }
}

impl Clip {
    /// Outer radius, m.
    pub fn outer_radius(&self) -> f64 {
        self.inner_radius + self.thickness
    }

    /// Half the angle of the ring, rad.
    fn reach(&self) -> f64 {
        PI - 0.5 * self.opening
    }

    /// Half the angle of the handle's foot, rad.
    fn foot(&self) -> f64 {
        (0.5 * self.handle[0] / self.outer_radius()).asin()
    }

    fn check(&self) -> Result<(), ClipFault> {
        let sizes = [self.inner_radius, self.thickness, self.width, self.handle[0], self.handle[1]];
        if sizes.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return Err(ClipFault::Size);
        }
        if !(self.opening >= PI / 180.0 && self.opening <= 7.0 / 8.0 * TAU) {
            return Err(ClipFault::Opening);
        }
        // A foot that is not a number is too wide.
        if !(self.foot() < 0.9 * self.reach() && self.foot() < 0.9 * 0.5 * PI) {
            return Err(ClipFault::Handle);
        }
        if self.cells[0] < 6 || self.cells[1] < 1 || self.cells[2] < 1 {
            return Err(ClipFault::Cells);
        }
        Ok(())
    }

    /// The mesh, with the origin at the centre of the ring.
    pub fn mesh(&self) -> Result<TetMesh, ClipFault> {
        self.check()?;
        let [around, through, along] = self.cells;
        let around = around + around % 2;
        let (reach, foot, half) = (self.reach(), self.foot(), around / 2);
        // Cells of the handle on each side of the middle, and its layers.
        let side = ((half as f64 * foot / reach).round() as usize).clamp(1, half - 2);
        let layers = ((self.handle[1] * side as f64 / (0.5 * self.handle[0])).round() as usize).max(1);
        let angle = |i: usize| {
            let steps = i as f64 - half as f64;
            let (side, half) = (side as f64, half as f64);
            let far = (steps.abs() - side).max(0.0) / (half - side);
            steps.signum() * (foot * (steps.abs() / side).min(1.0) + (reach - foot) * far)
        };
        let top = self.outer_radius() + self.handle[1];
        let place = |[i, j, k]: [usize; 3]| {
            let (sin, cos) = angle(i).sin_cos();
            let z = self.width * (k as f64 / along as f64 - 0.5);
            let radius = self.inner_radius + self.thickness * j.min(through) as f64 / through as f64;
            let raised = j.saturating_sub(through) as f64 / layers as f64;
            let y = radius * cos;
            Vec3::new(radius * sin, y + raised * (top - y), z)
        };
        let wanted = |[i, j, _]: [usize; 3]| j < through || (i + side >= half && i < half + side);
        Ok(cells([around, through + layers, along], [true, false, true], wanted, |at| at, place))
    }
}

/// A pipe about the Y axis, with its middle at the origin: cells through its thickness, around it and along it.
pub fn pipe(inner_radius: f64, outer_radius: f64, length: f64, divisions: [usize; 3]) -> TetMesh {
    let [through, around, along] = divisions;
    let place = |[i, j, k]: [usize; 3]| {
        let radius = inner_radius + (outer_radius - inner_radius) * i as f64 / through as f64;
        let (sin, cos) = (TAU * j as f64 / around as f64).sin_cos();
        Vec3::new(radius * sin, length * (k as f64 / along as f64 - 0.5), radius * cos)
    };
    cells(divisions, [false, false, true], |_| true, |[i, j, k]| [i, j % around, k], place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_is_sound_symmetric_and_as_large_as_the_paper_s() {
        let clip = Clip::default();
        let mesh = clip.mesh().expect("a clip");
        mesh.check().expect("a sound mesh");
        assert!((mesh.nodes.len() as f64 / 639.0 - 1.0).abs() < 0.03, "{} nodes", mesh.nodes.len());
        assert!((mesh.tets.len() as f64 / 2395.0 - 1.0).abs() < 0.01, "{} tetrahedra", mesh.tets.len());
        let (surface, _) = mesh.boundary();
        assert!(surface.is_closed());
        let (inner, outer) = (clip.inner_radius, clip.outer_radius());
        let ring = clip.reach() * (outer * outer - inner * inner) * clip.width;
        let foot = clip.foot();
        let segment = outer * outer * (foot - foot.sin() * foot.cos());
        let [wide, high] = clip.handle;
        let handle = (wide * (outer * (1.0 - foot.cos()) + high) - segment) * clip.width;
        let volume = mesh.total_volume();
        assert!((volume / (ring + handle) - 1.0).abs() < 0.01, "{volume:.3e} {:.3e}", ring + handle);
        // The mirror image of every node is a node, and that of every element an element.
        let number = |p: &Vec3| mesh.nodes.iter().position(|q| (p - q).norm() < 1e-9).expect("a mirror image") as u32;
        for axis in [0, 2] {
            let image: Vec<u32> = mesh
                .nodes
                .iter()
                .map(|p| number(&Vec3::from_fn(|i, _| if i == axis { -p[i] } else { p[i] })))
                .collect();
            let sorted = |mut tet: [u32; 4]| {
                tet.sort_unstable();
                tet
            };
            let all: std::collections::BTreeSet<_> = mesh.tets.iter().map(|t| sorted(*t)).collect();
            assert!(mesh.tets.iter().all(|t| all.contains(&sorted(t.map(|n| image[n as usize])))), "axis {axis}");
        }
    }

    #[test]
    fn bad_clips_are_refused() {
        let clip = Clip::default();
        let fault = |clip: Clip| clip.mesh().expect_err("a fault");
        assert_eq!(fault(Clip { thickness: 0.0, ..clip }), ClipFault::Size);
        assert_eq!(fault(Clip { width: f64::NAN, ..clip }), ClipFault::Size);
        assert_eq!(fault(Clip { opening: 0.0, ..clip }), ClipFault::Opening);
        assert_eq!(fault(Clip { opening: TAU, ..clip }), ClipFault::Opening);
        assert_eq!(fault(Clip { handle: [0.1, 0.01], ..clip }), ClipFault::Handle);
        assert_eq!(fault(Clip { cells: [4, 1, 1], ..clip }), ClipFault::Cells);
        for opening in [5.0, 60.0, 180.0, 300.0] {
            let clip = Clip { opening: f64::to_radians(opening), handle: [0.004, 0.005], cells: [7, 1, 1], ..clip };
            clip.mesh().expect("a clip").check().expect("a sound mesh");
        }
    }

    #[test]
    fn a_pipe_is_closed_and_has_its_volume() {
        let mesh = pipe(0.01, 0.02, 0.1, [2, 48, 6]);
        mesh.check().expect("a sound mesh");
        let (surface, _) = mesh.boundary();
        assert!(surface.is_closed());
        assert!((mesh.total_volume() / (PI * 3e-4 * 0.1) - 1.0).abs() < 0.01);
        // An inner and an outer surface: no handles but the hole through it.
        assert_eq!(surface.vertices.len() as i64 - surface.triangles.len() as i64 / 2, 0, "a torus");
    }
}
