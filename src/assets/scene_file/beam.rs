use super::materials::read_material;
use super::{Cost, Scene, ranges};
use crate::assets::table::Table;
use crate::beam::{
    BeamDescription, BeamError, BeamMaterial, Damping, End, Motion, Section, Six, along_arc, along_points,
};
use crate::body::BeamBody;
use crate::hand::ranges as tissue;
use crate::math::Vec3;

const CHAIN_SHAPES: [&str; 2] = ["points", "arc"];
const ENDS: [(&str, End); 3] = [("free", End::Free), ("pinned", End::Pinned), ("clamped", End::Clamped)];
/// Material of a beam that names none: nylon.
const NYLON_YOUNG: f64 = 2e9;
const NYLON_POISSON: f64 = 0.35;
const NYLON_DENSITY: f64 = 1100.0;

/// Reads a chain of beams.
pub fn read_beam(name: &str, table: &Table<'_>, scene: &mut Scene) {
    let nodes = read_path(table);
    let sections = read_sections(table);
    let default = Damping::default();
    let material = BeamMaterial {
        young: table.number_or("young", NYLON_YOUNG, ranges::BEAM_YOUNG),
        poisson: table.number_or("poisson", NYLON_POISSON, tissue::POISSON),
        density: table.number_or("density", NYLON_DENSITY, ranges::DENSITY),
        flexural_part: table.number_or("flexural", 1.0, ranges::FLEXURAL),
    };
    let damping = Damping {
        mass: table.number_or("damping_mass", default.mass, tissue::DAMPING_MASS),
        stiffness: table.number_or("damping_stiffness", default.stiffness, tissue::DAMPING_STIFFNESS),
    };
    let motion = if table.flag_or("quasi_static", false) { Motion::QuasiStatic } else { Motion::Dynamic };
    let self_contact = table.flag_or("self_contact", false);
    let up = table.numbers_or("up", [0.0, 1.0, 0.0], ranges::AXIS).into();
    let [x, y, z] = table.numbers_or("velocity", [0.0; 3], ranges::VELOCITY);
    let (ends, surface) = (read_ends(table), read_material(table, &scene.world.materials));
    let (Some(nodes), Some(sections)) = (nodes, sections) else { return };
    if !scene.has_room(table, Cost::of_beam(nodes.len())) {
        return;
    }
    let description = BeamDescription { nodes, up, sections, material, ends, motion, damping };
    match BeamBody::new(&description) {
        Ok(mut body) => {
            for i in (0..body.chain().nodes()).filter(|i| description.held(*i) == 0) {
                body.chain_mut().set_velocity(i, Six::new(x, y, z, 0.0, 0.0, 0.0));
            }
            (body.material, body.self_contact) = (surface, self_contact);
            scene.world.add_named(name, body);
        }
        Err(error) => table.complain(key_of(&error), error.to_string()),
    }
}

fn read_path(table: &Table<'_>) -> Option<Vec<Vec3>> {
    let which = table.choice("shape", &CHAIN_SHAPES);
    if !table.has("shape") {
        return None;
    }
    let beams = table.count_or("beams", 20, ranges::BEAMS);
    let sound = |keys: &[&str]| keys.iter().all(|key| table.has(key) && !table.is_wrong(key));
    let path = if CHAIN_SHAPES[which] == "points" {
        let points = table.points("points", ranges::PLACE);
        sound(&["points"]).then(|| along_points(&points, beams))
    } else {
        let centre = table.vector("centre", ranges::PLACE);
        let (axis, start) = (table.vector("axis", ranges::AXIS), table.vector("start", ranges::PLACE));
        let angle = table.number("angle", ranges::ARC_ANGLE).to_radians();
        sound(&["centre", "axis", "start", "angle"]).then(|| along_arc(&centre, &axis, &start, angle, beams))
    };
    path?.map_err(|error| table.complain(key_of(&error), error.to_string())).ok()
}

/// A radius, or a width and a height; and the same with `end_` for a taper.
fn read_sections(table: &Table<'_>) -> Option<[Section; 2]> {
    let size = |key: &str| table.number_if_any(key, ranges::SECTION);
    let round = [size("radius"), size("end_radius")];
    let (width, height) = ([size("width"), size("end_width")], [size("height"), size("end_height")]);
    match (round, width, height) {
        ([Some(first), last], [None, None], [None, None]) => {
            Some([first, last.unwrap_or(first)].map(|radius| Section::Round { radius }))
        }
        ([None, None], [Some(w), end_w], [Some(h), end_h]) => {
            let end = Section::Rectangle { width: end_w.unwrap_or(w), height: end_h.unwrap_or(h) };
            Some([Section::Rectangle { width: w, height: h }, end])
        }
        _ => {
            table.complain("radius", "a section has a `radius`, or a `width` and a `height`");
            None
        }
    }
}

fn read_ends(table: &Table<'_>) -> [End; 2] {
    if !table.has("ends") {
        return [End::Free; 2];
    }
    table.texts::<2>("ends").map(|word| {
        let found = ENDS.iter().find(|(name, _)| *name == word);
        if found.is_none() && !table.is_wrong("ends") {
            table
                .complain("ends", format!("`{word}` is no way to hold an end; expected `free`, `pinned` or `clamped`"));
        }
        found.map_or(End::Free, |(_, end)| *end)
    })
}

fn key_of(error: &BeamError) -> &'static str {
    match error {
        BeamError::ShortPath(_) | BeamError::ZeroLength(_) | BeamError::Reversal(_) => "points",
        BeamError::Count { .. } => "beams",
        _ => "",
    }
}
