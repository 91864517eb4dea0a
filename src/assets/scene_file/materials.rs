use std::collections::BTreeSet;

use super::ranges;
use crate::assets::table::{Table, unknown};
use crate::body::MaterialId;
use crate::contact::{Friction, MEASURED, Materials};

/// Reads `[material.NAME]` and `[[pair]]`. A material with `measured` has the friction that was measured for fingertips on it, against the
/// default material, which hands have.
pub fn read_materials(root: &Table<'_>) -> Materials {
    let mut materials = Materials::default();
    for (name, table) in root.named("material") {
        if table.has("measured") {
            let names = MEASURED.map(|m| m.name);
            let friction = MEASURED[table.choice("measured", &names)].friction;
            let id = materials.set(name, friction);
            materials.set_pair(id, MaterialId::at(0), friction);
        } else {
            materials.set(name, read_friction(&table));
        }
        table.finish();
    }
    let mut seen = BTreeSet::new();
    for pair in root.tables("pair") {
        let names: [String; 2] = pair.texts("materials");
        let [a, b] = names.each_ref().map(|name| find_material(&pair, "materials", name, &materials));
        let friction = read_friction(&pair);
        let mut both = names.clone();
        both.sort();
        if !seen.insert(both) {
            let [a, b] = &names;
            pair.complain("materials", format!("the friction of `{a}` on `{b}` is given before; leave one out"));
        }
        if let (Some(a), Some(b)) = (a, b) {
            materials.set_pair(a, b, friction);
        }
        pair.finish();
    }
    materials
}

/// One coefficient, or a static and a dynamic one, and the exponent of their dependence on load.
fn read_friction(table: &Table<'_>) -> Friction {
    read_coefficients(table).with_load(table.number_or("load_exponent", 0.0, ranges::LOAD_EXPONENT))
}

fn read_coefficients(table: &Table<'_>) -> Friction {
    if !table.is_table("friction") {
        return Friction::of(table.number("friction", ranges::FRICTION));
    }
    let both = table.table("friction");
    let friction = Friction {
        sliding: both.number("sliding", ranges::FRICTION),
        ..Friction::of(both.number("rest", ranges::FRICTION))
    };
    if friction.sliding > friction.rest && !both.is_wrong("rest") {
        both.complain("sliding", format!("{} is more than the {} at rest", friction.sliding, friction.rest));
    }
    both.finish();
    friction
}

/// The material of a body: the one that `material` names, or the default.
pub fn read_material(table: &Table<'_>, materials: &Materials) -> MaterialId {
    let name = table.text_or("material", "default");
    find_material(table, "material", &name, materials).unwrap_or(MaterialId::at(0))
}

fn find_material(table: &Table<'_>, key: &str, name: &str, materials: &Materials) -> Option<MaterialId> {
    let found = materials.find(name);
    if found.is_none() {
        let known: Vec<&str> = materials.names().collect();
        table.complain(key, unknown("material", name, &known));
    }
    found
}
