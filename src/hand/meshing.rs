use super::description::HandDescription;
use super::model::HandFault;
use super::shape::SegmentShape;
use crate::math::Vec3;
use crate::mesh::{NodeMap, ShellGrid, SurfaceMesh, TetMesh, shell};
use crate::tracking::{Segment, Side};

/// The meshes of one segment in its bone frame: tetrahedra of the tissue (layer 4) and the collision skin (layer 5).
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentMesh {
    /// Tissue.
    pub tissue: TetMesh,
    /// Whether each node is fixed to the bone.
    pub held: Vec<bool>,
    /// The skin at rest.
    pub skin: SurfaceMesh,
    /// Embedding of its vertices in the tetrahedra.
    pub skin_maps: Vec<NodeMap>,
    /// Area of each vertex at rest, m².
    pub skin_areas: Vec<f64>,
}

/// Tetrahedra of an average phalanx at resolution 1.
const PHALANX_TETRAHEDRA: f64 = 100.0;
/// Relative number of tetrahedra of a last phalanx and of the others; the mean over the fifteen is one. The pads get
/// more.
const TIP_SHARE: f64 = 1.3;
const INNER_SHARE: f64 = 0.85;
/// Relative number of tetrahedra of the palm.
const PALM_SHARE: f64 = 2.0;
/// Grids farther than this from the wanted number are skipped.
const MOST_COST: f64 = 3.0;
/// Worst element quality that ends the grid search at once, and after some tries.
const GOOD_QUALITY: f64 = 0.1;
const SOUND: f64 = 0.005;
const GOOD_CANDIDATES: usize = 8;
/// Above this resolution the tissue gets a second layer of elements.
const TWO_LAYERS: f64 = 3.0;

impl SegmentMesh {
    /// Meshes a segment of a described hand, or takes the mesh of the description.
    pub fn new(hand: &HandDescription, segment: Segment, shape: &SegmentShape) -> Result<Self, HandFault> {
        let fault = |fault| HandFault::Mesh { segment: segment.name(), fault };
        let replaced = hand.mesh.replaced.iter().find(|(s, _)| *s == segment);
        let (mut tissue, mut held, smooth) = match replaced {
            Some((_, mesh)) => {
                let held: Vec<bool> = mesh.nodes.iter().map(|p| shape.is_in_bone(p)).collect();
                (mesh.clone(), held, false)
            }
            None => {
                let (mesh, inner) = best_shell(hand, segment, shape);
                let held: Vec<bool> = (0..mesh.nodes.len()).map(|n| n < inner).collect();
                (mesh, held, true)
            }
        };
        tissue.check().map_err(fault)?;
        if !held.iter().any(|&h| h) {
            return Err(HandFault::NothingHeld { segment: segment.name() });
        }
        if held.iter().all(|&h| h) {
            return Err(HandFault::AllHeld { segment: segment.name() });
        }
        let mut skin = skin_over(&tissue, &held, hand.mesh.skin, smooth.then_some(shape));
        if hand.side == Side::Left {
            mirror(&mut tissue, &mut skin.0);
        }
        drop_unused(&mut tissue, &mut held, &mut skin.1);
        let areas = skin.0.vertex_areas();
        Ok(Self { tissue, held, skin: skin.0, skin_maps: skin.1, skin_areas: areas })
    }

    /// Number of free nodes.
    pub fn free_nodes(&self) -> usize {
        self.held.iter().filter(|&&h| !h).count()
    }
}

/// Grids close to the wanted number of tetrahedra with nearly equilateral triangles on the skin, closest first.
fn grids_for(hand: &HandDescription, segment: Segment, shape: &SegmentShape) -> Vec<ShellGrid> {
    let share = match segment.finger() {
        None => PALM_SHARE,
        Some((_, 2)) => TIP_SHARE,
        Some(_) => INNER_SHARE,
    };
    let resolution = hand.mesh.resolution;
    let layers = if resolution > TWO_LAYERS { 2 } else { 1 };
    let wanted = PHALANX_TETRAHEDRA * resolution * share;
    let (length, girth) = shape.profile();
    let cost = |grid: &ShellGrid| {
        let count = (grid.tetrahedra() as f64 / wanted).ln().abs();
        let height = length / (grid.along + 1) as f64;
        let width = girth / grid.around as f64;
        2.0 * count + (height / (0.75f64.sqrt() * width)).ln().abs()
    };
    let all = (4..=64).flat_map(|around| (1..=64).map(move |along| ShellGrid { around, along, layers }));
    let mut grids: Vec<_> = all.map(|grid| (cost(&grid), grid)).filter(|(cost, _)| *cost < MOST_COST).collect();
    grids.sort_by(|a, b| a.0.total_cmp(&b.0));
    grids.into_iter().map(|(_, grid)| grid).collect()
}

/// The mesh of the closest grid with good elements; for unusual proportions, the one with the best.
fn best_shell(hand: &HandDescription, segment: Segment, shape: &SegmentShape) -> (TetMesh, usize) {
    let tissue = shape.tissue();
    let mut best = (f64::NEG_INFINITY, (TetMesh::default(), 0));
    for (i, grid) in grids_for(hand, segment, shape).into_iter().enumerate() {
        let made = shell(grid, |d, s, t| tissue.point(d, s, t));
        let quality = made.0.worst_quality().map_or(f64::NEG_INFINITY, |(_, q)| q);
        if quality > best.0 {
            best = (quality, made);
        }
        if best.0 > if i < GOOD_CANDIDATES { GOOD_QUALITY } else { SOUND } {
            break;
        }
    }
    best.1
}

/// The collision skin: the outer faces, each split into `parts²`, with new vertices projected on the smooth outline if
/// there is one. A vertex is embedded in the tetrahedron behind its face, so rigid and linear motions are reproduced
/// exactly.
fn skin_over(
    tissue: &TetMesh,
    held: &[bool],
    parts: usize,
    outline: Option<&SegmentShape>,
) -> (SurfaceMesh, Vec<NodeMap>) {
    let all_held = |face: &[u32; 3]| face.iter().all(|&n| held[n as usize]);
    let faces: Vec<_> = tissue.boundary_faces().into_iter().filter(|f| !all_held(f)).collect();
    let behind = tetrahedra_behind(tissue, &faces);
    let (coarse, node_of) = SurfaceMesh::from_faces(&tissue.nodes, &faces);
    let (mut skin, places) = coarse.refined(parts);
    let mut maps = Vec::with_capacity(places.len());
    for (v, place) in places.iter().enumerate() {
        let corner = v < node_of.len();
        if let (Some(shape), false) = (outline, corner) {
            skin.vertices[v] = shape.onto_skin(&skin.vertices[v]);
        }
        let tet = behind[place.triangle as usize];
        let nodes = tissue.tets[tet];
        maps.push(if corner {
            let mut weights = [0.0; 4];
            weights[nodes.iter().position(|&n| n == node_of[v]).unwrap_or(0)] = 1.0;
            NodeMap { nodes, weights }
        } else {
            NodeMap { nodes, weights: barycentric(&tissue.corners(tet), &skin.vertices[v]) }
        });
    }
    (skin, maps)
}

fn tetrahedra_behind(tissue: &TetMesh, faces: &[[u32; 3]]) -> Vec<usize> {
    let mut around = vec![Vec::new(); tissue.nodes.len()];
    for (t, tet) in tissue.tets.iter().enumerate() {
        for &n in tet {
            around[n as usize].push(t);
        }
    }
    let has = |t: usize, n: u32| tissue.tets[t].contains(&n);
    faces
        .iter()
        .map(|[a, b, c]| around[*a as usize].iter().copied().find(|&t| has(t, *b) && has(t, *c)).unwrap_or(0))
        .collect()
}

/// Barycentric coordinates of a point with respect to a tetrahedron.
pub(crate) fn barycentric(corners: &[Vec3; 4], p: &Vec3) -> [f64; 4] {
    let [a, b, c, d] = corners;
    let six = |a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3| (b - a).dot(&(c - a).cross(&(d - a)));
    let whole = six(a, b, c, d);
    let weights = [six(p, b, c, d), six(a, p, c, d), six(a, b, p, d)].map(|v| v / whole);
    [weights[0], weights[1], weights[2], 1.0 - weights[0] - weights[1] - weights[2]]
}

/// Mirrors a mesh, x → −x, and restores the positive orientation of its elements.
fn mirror(tissue: &mut TetMesh, skin: &mut SurfaceMesh) {
    tissue.nodes.iter_mut().chain(&mut skin.vertices).for_each(|p| p.x = -p.x);
    tissue.tets.iter_mut().for_each(|t| t.swap(2, 3));
    skin.triangles.iter_mut().for_each(|t| t.swap(1, 2));
}

/// Removes nodes that no tetrahedron uses (files may contain them).
fn drop_unused(tissue: &mut TetMesh, held: &mut Vec<bool>, maps: &mut [NodeMap]) {
    let mut used = vec![false; tissue.nodes.len()];
    tissue.tets.iter().flatten().for_each(|&n| used[n as usize] = true);
    if used.iter().all(|&u| u) {
        return;
    }
    let mut next = 0u32;
    let renumbered: Vec<u32> = used
        .iter()
        .map(|&u| {
            next += u32::from(u);
            next.wrapping_sub(1)
        })
        .collect();
    let mut keep = used.iter();
    tissue.nodes.retain(|_| keep.next() == Some(&true));
    let mut keep = used.iter();
    held.retain(|_| keep.next() == Some(&true));
    tissue.tets.iter_mut().flatten().for_each(|n| *n = renumbered[*n as usize]);
    maps.iter_mut().flat_map(|m| &mut m.nodes).for_each(|n| *n = renumbered[*n as usize]);
}
