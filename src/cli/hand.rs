mod fit;

use std::path::PathBuf;

use serde_json::json;

use super::{Talk, load_model};
use crate::hand::{HandModel, REDUCED};
use crate::tracking::{Angle, Finger, PHALANGES, Segment};

/// Arguments of `hand`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<HandCommand>,
    /// Hand file or the name of a shipped hand (left, right, small, large) [default: right]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Subcommands of `hand`.
#[derive(clap::Subcommand)]
enum HandCommand {
    /// Write a hand file for a person from a few measured lengths, or from the tracked joints of a headset
    Fit(fit::Arguments),
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    if let Some(HandCommand::Fit(arguments)) = &arguments.command {
        return fit::run(arguments, talk);
    }
    let model = load_model(arguments.file.as_ref(), talk)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&as_json(&model))?);
    } else {
        print(&model);
    }
    Ok(())
}

/// Counts over segments.
struct SegmentCounts {
    nodes: usize,
    free_nodes: usize,
    tetrahedra: usize,
    skin_vertices: usize,
    skin_triangles: usize,
    worst_quality: f64,
}

fn totals(model: &HandModel, segments: impl Iterator<Item = Segment>) -> SegmentCounts {
    let none = SegmentCounts {
        nodes: 0,
        free_nodes: 0,
        tetrahedra: 0,
        skin_vertices: 0,
        skin_triangles: 0,
        worst_quality: f64::INFINITY,
    };
    segments.fold(none, |sum, s| {
        let mesh = &model.meshes[s.index()];
        let quality = mesh.tissue.worst_quality().map_or(f64::INFINITY, |(_, q)| q);
        SegmentCounts {
            nodes: sum.nodes + mesh.tissue.nodes.len(),
            free_nodes: sum.free_nodes + mesh.free_nodes(),
            tetrahedra: sum.tetrahedra + mesh.tissue.tets.len(),
            skin_vertices: sum.skin_vertices + mesh.skin.vertices.len(),
            skin_triangles: sum.skin_triangles + mesh.skin.triangles.len(),
            worst_quality: sum.worst_quality.min(quality),
        }
    })
}

fn as_json(model: &HandModel) -> serde_json::Value {
    let d = &model.description;
    let part = |t: &SegmentCounts| {
        json!({
            "nodes": t.nodes, "free_nodes": t.free_nodes, "tetrahedra": t.tetrahedra,
            "skin_vertices": t.skin_vertices, "skin_triangles": t.skin_triangles, "worst_quality": t.worst_quality,
        })
    };
    let phalanges = totals(model, Segment::phalanges());
    let palm = totals(model, std::iter::once(Segment::PALM));
    let segments: Vec<_> = Segment::all()
        .map(|s| {
            let mut value = part(&totals(model, std::iter::once(s)));
            value["name"] = s.name().into();
            value["mass_kg"] = model.inertias[s.index()].mass.into();
            if let Some((finger, place)) = s.finger() {
                value["bone_length_m"] = d.fingers[finger as usize].lengths[place].into();
            }
            value
        })
        .collect();
    let limits: serde_json::Map<_, _> =
        Angle::all().map(|a| (a.name(), json!(model.limits[a.index()].map(|x| round(x.to_degrees(), 6))))).collect();
    json!({
        "name": d.name,
        "side": d.side.name(),
        "hand_length_m": d.hand_length(),
        "phalanges": PHALANGES,
        "nodes": phalanges.nodes,
        "tetrahedra": phalanges.tetrahedra,
        "skin_vertices": phalanges.skin_vertices,
        "skin_triangles": phalanges.skin_triangles,
        "worst_quality": phalanges.worst_quality,
        "palm": part(&palm),
        "visual_vertices": model.visual().mesh.vertices.len(),
        "visual_triangles": model.visual().mesh.triangles.len(),
        "degrees_of_freedom": { "reduced": REDUCED, "soft": 3 * (phalanges.free_nodes + palm.free_nodes) },
        "mass_kg": model.mass(),
        "segments": segments,
        "limits_deg": limits,
        "poses": d.poses.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
    })
}

fn round(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

fn print(model: &HandModel) {
    let d = &model.description;
    let phalanges = totals(model, Segment::phalanges());
    let palm = totals(model, std::iter::once(Segment::PALM));
    println!("{} ({} hand, {:.0} mm)", d.name, d.side.name(), 1e3 * d.hand_length());
    println!();
    println!("{:<21} {:>9} {:>9}", "", "phalanges", "palm");
    let row = |name: &str, a: usize, b: usize| println!("{name:<21} {a:>9} {b:>9}");
    row("segments", PHALANGES, 1);
    row("nodes", phalanges.nodes, palm.nodes);
    row("  of them free", phalanges.free_nodes, palm.free_nodes);
    row("tetrahedra", phalanges.tetrahedra, palm.tetrahedra);
    row("skin vertices", phalanges.skin_vertices, palm.skin_vertices);
    row("skin triangles", phalanges.skin_triangles, palm.skin_triangles);
    println!("{:<21} {:>9.3} {:>9.3}", "worst element quality", phalanges.worst_quality, palm.worst_quality);
    println!();
    println!("degrees of freedom    {REDUCED} reduced, {} soft", 3 * (phalanges.free_nodes + palm.free_nodes));
    println!(
        "visual skin           {} vertices, {} triangles",
        model.visual().mesh.vertices.len(),
        model.visual().mesh.triangles.len()
    );
    println!("mass                  {:.3} kg", model.mass());
    println!("poses                 {}", d.poses.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", "));
    println!();
    println!("{:<8} {:>22}   limits of base flexion, base abduction, middle, tip (degrees)", "finger", "bones (mm)");
    for finger in Finger::ALL {
        let description = &d.fingers[finger as usize];
        let bones = description.lengths.map(|l| format!("{:.1}", 1e3 * l)).join(" + ");
        let limits = description.limits.map(|[a, b]| format!("{:.0}..{:.0}", a.to_degrees(), b.to_degrees()));
        println!("{:<8} {bones:>22}   {}", finger.name(), limits.map(|l| format!("{l:>9}")).join(" "));
    }
}
