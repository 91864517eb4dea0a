use super::SurfaceMesh;
use crate::math::Vec3;

/// A grid of cubic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Lowest corner.
    pub min: Vec3,
    /// Edge of a cell.
    pub cell: f64,
    /// Cells along each axis.
    pub cells: [usize; 3],
}

impl Grid {
    /// The grid with a cell size that contains a box, with two cells of margin on every side.
    pub fn around(low: &Vec3, high: &Vec3, cell: f64) -> Self {
        const SPARE: usize = 2;
        let cells = [0, 1, 2].map(|i| ((high[i] - low[i]) / cell).ceil().max(1.0) as usize + 2 * SPARE);
        let size = Vec3::from(cells.map(|n| n as f64 * cell));
        Self { min: 0.5 * (low + high - size), cell, cells }
    }

    /// Position of a sample, in cells from the lowest corner.
    fn at(&self, place: [f64; 3]) -> Vec3 {
        self.min + self.cell * Vec3::from(place)
    }
}

/// Lipschitz bound of the distance function; blocks that are farther away are not sampled.
const STEEPEST: f64 = 1.25;
/// Samples along the edge of the blocks that are tested first.
const BLOCK: usize = 16;
/// Maximum shift of a vertex towards the surface, in cells; prevents inverted triangles.
const FARTHEST: f64 = 0.5;

/// The surface where `distance` is zero, wound outward (towards positive distance).
///
/// Surface nets: a vertex in every cell that the surface crosses, a quad around every edge of the grid that it crosses. The
/// quads are the faces between samples inside and samples outside, so the result is closed, and it is a manifold once no two
/// samples inside touch at an edge or a corner only (see `GridSamples::repair`). Vertices end on the zero set; details smaller
/// than a cell are lost. The samples at the border count as outside: a surface that leaves the grid is cut off and closed.
pub fn polygonise(grid: Grid, distance: impl Fn(&Vec3) -> f64) -> SurfaceMesh {
    let mut samples = GridSamples::new(grid, &distance);
    samples.repair();
    let mut mesh = SurfaceMesh::default();
    let mut vertex_in = vec![u32::MAX; samples.values.len()];
    for cell in samples.cells() {
        if let Some((start, gradient)) = samples.crossing(cell) {
            vertex_in[samples.index(cell)] = mesh.vertices.len() as u32;
            mesh.vertices.push(settled(&start, &gradient, grid.cell, &distance));
        }
    }
    for cell in samples.cells() {
        let here = samples.index(cell);
        for axis in 0..3 {
            let (from, to) = (samples.values[here] < 0.0, samples.values[here + samples.stride[axis]] < 0.0);
            if from == to {
                continue;
            }
            let (u, v) = (samples.stride[(axis + 1) % 3], samples.stride[(axis + 2) % 3]);
            let mut quad = [here, here - u, here - u - v, here - v].map(|cell| vertex_in[cell]);
            if to {
                quad.reverse();
            }
            add_quad(&mut mesh, quad);
        }
    }
    mesh
}

/// Splits a quad along its shorter diagonal.
fn add_quad(mesh: &mut SurfaceMesh, [a, b, c, d]: [u32; 4]) {
    let apart = |p: u32, q: u32| (mesh.vertices[p as usize] - mesh.vertices[q as usize]).norm_squared();
    let halves = if apart(a, c) <= apart(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
    mesh.triangles.extend(halves);
}

/// Projects a point on the zero set along a gradient: one Newton step with its slope, then secant steps on the same
/// line.
fn settled(start: &Vec3, gradient: &Vec3, cell: f64, distance: &impl Fn(&Vec3) -> f64) -> Vec3 {
    const STEPS: usize = 6;
    let Some(along) = gradient.try_normalize(1e-6) else { return *start };
    let (mut slope, mut moved, mut value) = (gradient.norm(), 0.0, distance(start));
    for _ in 0..STEPS {
        let next = (moved - value / slope).clamp(-FARTHEST * cell, FARTHEST * cell);
        if value.abs() < 1e-6 * cell || next == moved {
            break;
        }
        let after = distance(&(start + next * along));
        let secant = (after - value) / (next - moved);
        if secant > 0.1 * slope {
            slope = secant;
        }
        (moved, value) = (next, after);
    }
    start + moved * along
}

/// Offsets of corner `c` of a cell along the three axes.
fn corner(c: usize) -> [usize; 3] {
    [c & 1, c >> 1 & 1, c >> 2 & 1]
}

struct GridSamples {
    grid: Grid,
    size: [usize; 3],
    stride: [usize; 3],
    values: Vec<f64>,
}

impl GridSamples {
    fn new(grid: Grid, distance: &impl Fn(&Vec3) -> f64) -> Self {
        let size = grid.cells.map(|n| n + 1);
        let stride = [1, size[0], size[0] * size[1]];
        let mut samples = Self { grid, size, stride, values: vec![grid.cell; size.iter().product()] };
        for z in (0..size[2]).step_by(BLOCK) {
            for y in (0..size[1]).step_by(BLOCK) {
                for x in (0..size[0]).step_by(BLOCK) {
                    samples.fill([x, y, z], BLOCK, distance);
                }
            }
        }
        samples
    }

    fn index(&self, place: [usize; 3]) -> usize {
        (0..3).map(|i| place[i] * self.stride[i]).sum()
    }

    /// All cells, by the sample at their lowest corner.
    fn cells(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.grid.cells;
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    }

    /// Samples a cubic block; skips it if the surface is more than a cell away.
    fn fill(&mut self, low: [usize; 3], edge: usize, distance: &impl Fn(&Vec3) -> f64) {
        if (0..3).any(|i| low[i] + 1 >= self.size[i] || low[i] + edge <= 1) {
            return;
        }
        let half = 0.5 * (edge - 1) as f64;
        let value = distance(&self.grid.at(low.map(|l| l as f64 + half)));
        if edge > 1 && value.abs() < STEEPEST * self.grid.cell * (1.0 + 3f64.sqrt() * half) {
            let edge = edge / 2;
            (0..8).for_each(|c| self.fill([0, 1, 2].map(|i| low[i] + edge * corner(c)[i]), edge, distance));
            return;
        }
        // The border keeps its initial value, outside.
        let first = low.map(|l| l.max(1));
        let last = [0, 1, 2].map(|i| (low[i] + edge).min(self.size[i] - 1));
        for z in first[2]..last[2] {
            for y in first[1]..last[1] {
                let row = y * self.stride[1] + z * self.stride[2];
                self.values[row + first[0]..row + last[0].max(first[0])].fill(value);
            }
        }
    }

    fn corners(&self, cell: [usize; 3]) -> [usize; 8] {
        let ([x, y, z], here) = (self.stride, self.index(cell));
        [0, x, y, x + y, z, x + z, y + z, x + y + z].map(|step| here + step)
    }

    /// Bit mask of the corners of a cell that lie inside.
    fn inside(&self, corners: &[usize; 8]) -> u8 {
        (0..8).fold(0, |mask, c| mask | u8::from(self.values[corners[c]] < 0.0) << c)
    }

    /// Makes the set of samples inside well-composed (L. Latecki, 3D well-composed pictures, Graphical Models and Image
    /// Processing 59(3), 1997), so that its boundary is a manifold: where two of them touch at an edge or a corner only, a
    /// sample between them counts as inside too. It stays within the box of the two, so it is away from the border.
    fn repair(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for cell in self.cells() {
                let corners = self.corners(cell);
                while let Some(outside) = critical(self.inside(&corners)) {
                    let open = (0..8).filter(|c| outside >> c & 1 == 1).map(|c| corners[c]);
                    let Some(nearest) = open.min_by(|&a, &b| self.values[a].total_cmp(&self.values[b])) else { break };
                    self.values[nearest] = -1e-3 * self.grid.cell;
                    changed = true;
                }
            }
        }
    }

    /// Mean of the points where the surface crosses the edges of a cell, if it does, and the mean gradient in the cell.
    fn crossing(&self, cell: [usize; 3]) -> Option<(Vec3, Vec3)> {
        let corners = self.corners(cell);
        let inside = self.inside(&corners);
        if inside == 0 || inside == u8::MAX {
            return None;
        }
        let (mut sum, mut count, mut gradient) = (Vec3::zeros(), 0.0, Vec3::zeros());
        for from in 0..8 {
            for axis in (0..3).filter(|axis| from >> axis & 1 == 0) {
                let to = from | 1 << axis;
                let (a, b) = (self.values[corners[from]], self.values[corners[to]]);
                gradient[axis] += 0.25 * (b - a) / self.grid.cell;
                if (inside >> from & 1) != (inside >> to & 1) {
                    sum += Vec3::from(corner(from).map(|s| s as f64)) + Vec3::ith(axis, a / (a - b));
                    count += 1.0;
                }
            }
        }
        let place = Vec3::from(cell.map(|i| i as f64)) + sum / count;
        Some((self.grid.at(place.into()), gradient))
    }
}

/// The candidate corners to fill in a cell whose inside (or outside) corners, given as bits, touch only at an edge or a
/// corner. `None` if they do not.
fn critical(inside: u8) -> Option<u8> {
    const FACES: [u8; 6] = [0x55, 0xaa, 0x33, 0xcc, 0x0f, 0xf0];
    /// Diagonally opposite corners of a cell.
    const ACROSS: [u8; 4] = [0x81, 0x42, 0x24, 0x18];
    if ACROSS.iter().any(|&pair| inside == pair || inside == !pair) {
        return Some(!inside);
    }
    let across_a_face = |corners: u8| {
        corners.count_ones() == 2 && (corners.trailing_zeros() ^ (7 - corners.leading_zeros())).count_ones() == 2
    };
    FACES.into_iter().find(|face| across_a_face(inside & face)).map(|face| !inside & face)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn ball(centre: Vec3, radius: f64) -> impl Fn(&Vec3) -> f64 {
        move |p| (p - centre).norm() - radius
    }

    fn euler_characteristic(mesh: &SurfaceMesh) -> i64 {
        mesh.vertices.len() as i64 - mesh.triangles.len() as i64 / 2
    }

    #[test]
    fn a_ball_is_round() {
        let radius = 0.03;
        for shift in [0.0, 0.3, 0.77] {
            let cell = 0.0025;
            let centre = Vec3::new(0.01, -0.02, 0.04) + Vec3::repeat(shift * cell);
            let grid = Grid::around(&Vec3::repeat(-0.07), &Vec3::repeat(0.09), cell);
            let mesh = polygonise(grid, ball(centre, radius));
            assert!(mesh.is_closed());
            assert_eq!((mesh.components(), euler_characteristic(&mesh)), (1, 2));
            assert!((mesh.area() / (4.0 * PI * radius.powi(2)) - 1.0).abs() < 0.02);
            assert!((mesh.volume() / (4.0 / 3.0 * PI * radius.powi(3)) - 1.0).abs() < 0.02);
            assert!(mesh.vertices.iter().all(|p| ball(centre, radius)(p).abs() < 1e-6 * radius));
            for t in 0..mesh.triangles.len() {
                let outward = mesh.corners(t)[0] - centre;
                assert!(mesh.area_vector(t).dot(&outward) > 0.0, "triangle {t} is inverted");
            }
        }
    }

    #[test]
    fn a_torus_has_a_hole() {
        let torus = |p: &Vec3| f64::hypot(f64::hypot(p.x, p.y) - 0.02, p.z) - 0.007;
        let mesh = polygonise(Grid::around(&Vec3::repeat(-0.03), &Vec3::repeat(0.03), 0.002), torus);
        assert!(mesh.is_closed());
        assert_eq!((mesh.components(), euler_characteristic(&mesh)), (1, 0));
        assert!((mesh.volume() / (2.0 * PI * PI * 0.02 * 0.007f64.powi(2)) - 1.0).abs() < 0.02);
    }

    #[test]
    fn two_balls_stay_apart() {
        let (a, b) = (ball(Vec3::x() * -0.02, 0.015), ball(Vec3::x() * 0.02, 0.015));
        let grid = Grid::around(&Vec3::repeat(-0.04), &Vec3::repeat(0.04), 0.002);
        let mesh = polygonise(grid, |p| a(p).min(b(p)));
        assert!(mesh.is_closed());
        assert_eq!(mesh.components(), 2);
    }

    #[test]
    fn any_field_gives_a_closed_surface() {
        // Noise at the scale of a cell contains every ambiguous configuration, and it leaves the grid.
        let noise = |p: &Vec3| (p.dot(&Vec3::new(12.9898, 78.233, 37.719)) * 1e3).sin() * 1e-3;
        let grid = Grid { min: Vec3::zeros(), cell: 0.001, cells: [24, 20, 22] };
        let mesh = polygonise(grid, noise);
        assert!(mesh.triangles.len() > 1000 && mesh.is_closed());
        assert!(polygonise(grid, |_| 1.0).triangles.is_empty(), "nothing inside, no surface");
    }
}
