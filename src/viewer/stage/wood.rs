use std::sync::Arc;

use crate::viewer::figure::{Colour, Painted};
use crate::viewer::palette::{Paint, Palette, mix};

/// Thickness of a table's top, m.
pub(super) const THICKNESS: f32 = 0.022;
/// Margin around the objects on it, m.
const TABLE_MARGIN: f32 = 0.34;
/// Number of planks.
const PLANKS: f32 = 6.0;
const LIGHT: Colour = [0.77, 0.68, 0.55];
const DARK_WOOD: Colour = [0.58, 0.47, 0.36];
const GAP_COLOUR: Colour = [0.40, 0.32, 0.25];

/// The top of a wooden table at height zero, under objects within a range of x and z.
pub(super) fn table([low, high]: [[f32; 2]; 2]) -> Painted {
    let (low, high) = (low.map(|c| c - TABLE_MARGIN), high.map(|c| c + TABLE_MARGIN));
    let mut table = Painted { opacity: 1.0, roughness: 0.62, colour: LIGHT, ..Painted::default() };
    let mut places = Vec::new();
    let at = |right: bool, up: bool, front: bool| {
        let [x, z] = [if right { high[0] } else { low[0] }, if front { high[1] } else { low[1] }];
        [x, if up { 0.0 } else { -THICKNESS }, z]
    };
    // Counter-clockwise seen from outside; the underside is omitted.
    let sides = [
        ([0.0, 1.0, 0.0], [at(false, true, true), at(true, true, true), at(true, true, false), at(false, true, false)]),
        ([0.0, 0.0, 1.0], [at(false, false, true), at(true, false, true), at(true, true, true), at(false, true, true)]),
        (
            [0.0, 0.0, -1.0],
            [at(true, false, false), at(false, false, false), at(false, true, false), at(true, true, false)],
        ),
        ([1.0, 0.0, 0.0], [at(true, false, true), at(true, false, false), at(true, true, false), at(true, true, true)]),
        (
            [-1.0, 0.0, 0.0],
            [at(false, false, false), at(false, false, true), at(false, true, true), at(false, true, false)],
        ),
    ];
    for (normal, corners) in sides {
        let first = table.vertices.len() as u32;
        for corner in corners {
            table.vertices.push(corner);
            table.normals.push(normal);
            // The grain runs along X, and continues down the long sides.
            let down = if normal[2] == 0.0 { 0.0 } else { -corner[1] / (high[1] - low[1]) };
            let across = (corner[2] - low[1]) / (high[1] - low[1]);
            places.push([(corner[0] - low[0]) / (high[0] - low[0]), (across - down).abs()]);
        }
        table.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    table.paint = Some(Paint { palette: Arc::new(Palette::new((1024, 512), wood)), places });
    table
}

/// The colour of planks along the first coordinate.
fn wood(along: f32, across: f32) -> Colour {
    let plank = (PLANKS * across).floor();
    let within = PLANKS * across - plank;
    // The pattern is discontinuous between planks.
    let along = along + 0.37 * plank;
    let bend = 0.9 * noise(2.5 * along, 3.0 * across + plank);
    let rings = 0.5 + 0.5 * (std::f32::consts::TAU * (3.0 * within + bend)).sin();
    let fibres = noise(14.0 * along, 260.0 * across);
    let fine = noise(60.0 * along, 700.0 * across);
    let tone = 0.30 * rings + 0.38 * fibres + 0.17 * fine + 0.25 * hash(plank, 7.0);
    let colour = mix(LIGHT, DARK_WOOD, tone.clamp(0.0, 1.0));
    let edge = within.min(1.0 - within);
    mix(GAP_COLOUR, colour, (edge / 0.012).clamp(0.35, 1.0))
}

/// Smooth noise from 0 to 1 with a cell size of one.
fn noise(x: f32, y: f32) -> f32 {
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (i, j) = (x.floor(), y.floor());
    let (u, v) = (smooth(x - i), smooth(y - j));
    let row = |j: f32| hash(i, j) * (1.0 - u) + hash(i + 1.0, j) * u;
    row(j) * (1.0 - v) + row(j + 1.0) * v
}

/// A hash of a cell, from 0 to 1.
fn hash(i: f32, j: f32) -> f32 {
    let mut bits = (i as i32 as u32).wrapping_mul(0x9e37_79b1) ^ (j as i32 as u32).wrapping_mul(0x85eb_ca77);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x2c1b_3c6d);
    bits ^= bits >> 13;
    (bits & 0xffff) as f32 / 65_535.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_exceeds_its_objects_and_is_wound_outward() {
        let table = table([[-0.1, -0.2], [0.3, 0.0]]);
        let reach =
            |i: usize| table.vertices.iter().map(|p| p[i]).fold([f32::MAX, f32::MIN], |[l, h], x| [l.min(x), h.max(x)]);
        assert_eq!(reach(1), [-THICKNESS, 0.0]);
        assert!(reach(0)[0] < -0.4 && reach(0)[1] > 0.6 && reach(2)[0] < -0.5 && reach(2)[1] > 0.3);
        for t in &table.triangles {
            let [a, b, c] = t.map(|v| nalgebra::Vector3::from(table.vertices[v as usize]));
            let out = nalgebra::Vector3::from(table.normals[t[0] as usize]);
            assert!((b - a).cross(&(c - a)).dot(&out) > 0.0, "{t:?}");
        }
        let paint = table.paint.expect("wood");
        assert!(paint.places.iter().flatten().all(|x| (0.0..=1.0).contains(x)), "{:?}", paint.places);
    }

    #[test]
    fn wood_stays_between_its_tones() {
        let palette = Palette::new((64, 64), wood);
        let within = |c: &Colour| (0..3).all(|i| (GAP_COLOUR[i] - 1e-3..=LIGHT[i] + 1e-3).contains(&c[i]));
        assert!(palette.colours.iter().all(within));
        assert!(palette.colours.iter().any(|c| *c != palette.colours[0]));
    }
}
