use super::experiments::{BALL, HALF_EDGE, above_cube, ball, cube, line};
use crate::body::fem::Continuum;
use crate::elastic::{DuffingLaw, ElasticError, ElasticObject, ElasticOptions};
use crate::hand::Material;
use crate::math::Vec3;
use crate::mesh::block;

/// Cells of the FEM cube along each edge.
const CUBE_CELLS: usize = 12;
/// Refinement of the cells towards the contact.
const GRADING: f64 = 1.6;
/// Iterations of the active set of contacting nodes, and Newton steps in each.
const CONTACT_ROUNDS: usize = 6;
const NEWTON_STEPS: usize = 4;
/// Compared depths, m.
const DEPTHS: [f64; 6] = [5e-4, 1e-3, 1.5e-3, 2e-3, 2.5e-3, 3e-3];
/// Rubber of the paper's table I. At its Poisson's ratio of 0.5 linear tetrahedra lock.
const RUBBER: Material =
    Material { young: 3e6, poisson: 0.45, density: 1100.0, damping_mass: 0.0, damping_stiffness: 0.0 };

/// The same cube and ball with finite elements and with the elastic model.
pub struct FemComparison {
    /// Depth in mm, force in N.
    pub fem: Curve,
    /// The model with the paper's parameters.
    pub printed: Curve,
    /// The model with parameters fitted to the forces of the FEM.
    pub fitted: Curve,
    /// The fitted law.
    pub law: DuffingLaw,
    /// Position along X and height of the top at the greatest depth, mm.
    pub fem_profile: Curve,
    pub model_profile: Curve,
    /// Number of FEM nodes.
    pub nodes: usize,
}

impl FemComparison {
    /// Largest difference of the fitted forces, relative to the largest FEM force.
    pub fn force_error(&self) -> f64 {
        let most = self.fem.iter().map(|f| f[1]).fold(0.0, f64::max);
        self.fem.iter().zip(&self.fitted).map(|(a, b)| (a[1] - b[1]).abs() / most).fold(0.0, f64::max)
    }

    /// Height of the top at a distance from the centre, by FEM and by the model, mm.
    pub fn heights(&self, x: f64) -> [f64; 2] {
        [&self.fem_profile, &self.model_profile].map(|profile| {
            let above = profile.iter().position(|p| p[0] >= x).unwrap_or(profile.len() - 1).max(1);
            let [a, b] = [profile[above - 1], profile[above]];
            a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
        })
    }
}

pub fn compare() -> Result<FemComparison, ElasticError> {
    let (fem, fem_profile, nodes) = indent();
    let forces = |law: DuffingLaw| -> Result<Curve, ElasticError> { Ok(pressed(law)?.0) };
    // The model force is linear in the parameters of the law, so the fit is a linear least-squares problem.
    let tiny = 1e-9;
    let [linear, cubic] = [
        forces(DuffingLaw { mass: 1.0, linear: 1.0, cubic: 0.0 })?,
        forces(DuffingLaw { mass: 1.0, linear: tiny, cubic: 1.0 })?,
    ];
    let dot = |a: &[[f64; 2]], b: &[[f64; 2]]| a.iter().zip(b).map(|(a, b)| a[1] * b[1]).sum::<f64>();
    let (ll, lc, cc) = (dot(&linear, &linear), dot(&linear, &cubic), dot(&cubic, &cubic));
    let (lf, cf) = (dot(&linear, &fem), dot(&cubic, &fem));
    let determinant = ll * cc - lc * lc;
    let mut law =
        DuffingLaw { mass: 1.0, linear: (cc * lf - lc * cf) / determinant, cubic: (ll * cf - lc * lf) / determinant };
    if law.cubic < 0.0 || law.linear <= 0.0 {
        law = DuffingLaw { mass: 1.0, linear: lf / ll, cubic: 0.0 };
    }
    let (fitted, model_profile) = pressed(law)?;
    Ok(FemComparison { fem, printed: forces(DuffingLaw::default())?, fitted, law, fem_profile, model_profile, nodes })
}

/// Points of a curve.
type Curve = Vec<[f64; 2]>;

/// Model forces at the depths, and the top of the cube at the last depth.
fn pressed(law: DuffingLaw) -> Result<(Curve, Curve), ElasticError> {
    let mut object = ElasticObject::new(ElasticOptions { law, ..cube() }, ball()?)?;
    object.update(&above_cube(-1e-4), 1e-3);
    let forces = DEPTHS.iter().map(|&d| [1e3 * d, object.update(&above_cube(d), 1e-3).force.y]).collect();
    Ok((forces, line(&object)))
}

/// FEM forces at the depths, the top of the cube at the last depth, and the number of nodes. The bottom is fixed; the
/// ball does not slip on the top.
fn indent() -> (Curve, Curve, usize) {
    let mut mesh = block(&Vec3::repeat(2.0), [CUBE_CELLS; 3]);
    for p in &mut mesh.nodes {
        let aside = |x: f64| HALF_EDGE * (x - 1.0).abs().powf(GRADING).copysign(x - 1.0);
        let below = 2.0 * HALF_EDGE * (1.0 - 0.5 * p.y).powf(GRADING);
        *p = Vec3::new(aside(p.x), HALF_EDGE - below, aside(p.z));
    }
    let top: Vec<usize> = (0..mesh.nodes.len()).filter(|&n| mesh.nodes[n].y > HALF_EDGE - 1e-9).collect();
    let bottom: Vec<usize> = (0..mesh.nodes.len()).filter(|&n| mesh.nodes[n].y < 1e-9 - HALF_EDGE).collect();
    let mut displacement = vec![Vec3::zeros(); mesh.nodes.len()];
    let mut forces = Vec::new();
    for depth in DEPTHS {
        let centre = HALF_EDGE + BALL - depth;
        // Height of the ball's lower side.
        let floor = |p: &Vec3| centre - (BALL * BALL - p.xz().norm_squared()).max(0.0).sqrt();
        let is_inside = |p: &Vec3| p.xz().norm() < BALL && p.y > floor(p) - 1e-12;
        let mut touching: Vec<usize> = top.iter().copied().filter(|&n| is_inside(&mesh.nodes[n])).collect();
        let mut force = 0.0;
        for _ in 0..CONTACT_ROUNDS {
            let mut held = vec![false; mesh.nodes.len()];
            bottom.iter().chain(&touching).for_each(|&n| held[n] = true);
            let body = Continuum::new(&mesh, &held, RUBBER);
            let mut state = body.at_rest();
            state.displacement.copy_from_slice(&displacement);
            bottom.iter().for_each(|&n| state.displacement[n] = Vec3::zeros());
            for &n in &touching {
                state.displacement[n] = Vec3::new(0.0, floor(&mesh.nodes[n]) - mesh.nodes[n].y, 0.0);
            }
            body.settle(&mut state, &vec![0.0; body.dofs()], 0.0, NEWTON_STEPS);
            let reactions = body.elastic_forces(&state);
            displacement.copy_from_slice(&state.displacement);
            force = -touching.iter().map(|&n| reactions[n].y).sum::<f64>();
            let pulled = |n: &usize| reactions[*n].y > 0.0;
            let entered = |n: &usize| is_inside(&(mesh.nodes[*n] + displacement[*n]));
            let next: Vec<usize> =
                top.iter().copied().filter(|n| if touching.contains(n) { !pulled(n) } else { entered(n) }).collect();
            if next == touching {
                break;
            }
            touching = next;
        }
        forces.push([1e3 * depth, force]);
    }
    let on_line = top.iter().filter(|&&n| mesh.nodes[n].z.abs() < 1e-9);
    let mut profile: Curve =
        on_line.map(|&n| mesh.nodes[n] + displacement[n]).map(|p| [1e3 * p.x, 1e3 * (p.y - HALF_EDGE)]).collect();
    profile.sort_by(|a, b| a[0].total_cmp(&b[0]));
    (forces, profile, mesh.nodes.len())
}
