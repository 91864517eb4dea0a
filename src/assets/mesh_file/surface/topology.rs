//! What keeps a surface from being closed, with the fix.

use std::collections::BTreeMap;

use crate::mesh::SurfaceMesh;

/// The triangles that run an edge from its lower vertex to its higher, and those that run it back.
#[derive(Default)]
struct Edge {
    forth: u32,
    back: u32,
    /// The last of them.
    triangle: usize,
}

/// The first triangle concerned, if one is, and what is wrong.
pub fn fault(mesh: &SurfaceMesh) -> Option<(Option<usize>, String)> {
    if let Some(degenerate) = mesh.triangles.iter().position(|[a, b, c]| a == b || b == c || c == a) {
        let fix = "remove it (in Blender: Mesh > Clean Up > Degenerate Dissolve)";
        return Some((Some(degenerate), format!("this triangle names a vertex twice: {fix}")));
    }
    let mut edges: BTreeMap<(u32, u32), Edge> = BTreeMap::new();
    for (triangle, [a, b, c]) in mesh.triangles.iter().enumerate() {
        for (from, to) in [(*a, *b), (*b, *c), (*c, *a)] {
            let edge = edges.entry((from.min(to), from.max(to))).or_default();
            edge.triangle = triangle;
            *(if from < to { &mut edge.forth } else { &mut edge.back }) += 1;
        }
    }
    let worst = |is_wrong: fn(&Edge) -> bool| {
        let mut wrong = edges.iter().filter(|(_, edge)| is_wrong(edge));
        wrong.next().map(|(ends, edge)| (1 + wrong.count(), *ends, edge.triangle))
    };
    let between = |(a, b): (u32, u32)| {
        let [a, b] = [a, b].map(|v| mesh.vertices[v as usize]);
        format!("from ({:.4}, {:.4}, {:.4}) to ({:.4}, {:.4}, {:.4})", a.x, a.y, a.z, b.x, b.y, b.z)
    };
    let edges_of = |count: usize| if count == 1 { "1 edge".into() } else { format!("{count} edges") };
    if let Some((count, ends, triangle)) = worst(|edge| edge.forth + edge.back > 2) {
        let fix = "keep one closed surface (in Blender: Select > All by Trait > Non Manifold)";
        let what = format!("{} in more than two triangles, the first {}", edges_of(count), between(ends));
        return Some((Some(triangle), format!("the surface is not a manifold, with {what}: {fix}")));
    }
    if let Some((count, ends, triangle)) = worst(|edge| edge.forth + edge.back == 1) {
        let fix =
            "close the holes (in Blender: Mesh > Clean Up > Fill Holes, or Merge by Distance if the parts should meet)";
        let what = format!("{} in one triangle only, the first {}", edges_of(count), between(ends));
        return Some((Some(triangle), format!("the surface is open, with {what}: {fix}")));
    }
    if let Some((count, ends, triangle)) = worst(|edge| edge.forth != edge.back) {
        let fix = "turn them all outward (in Blender: Mesh > Normals > Recalculate Outside)";
        let what = format!("at {}, the first {}", edges_of(count), between(ends));
        return Some((Some(triangle), format!("neighbouring triangles look in opposite directions {what}: {fix}")));
    }
    None
}
