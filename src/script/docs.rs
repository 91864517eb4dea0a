use std::fmt::Write;

use super::api::{Entry, entries};

/// The subjects in the order in which they were registered.
fn subjects() -> Vec<&'static str> {
    let mut subjects = Vec::new();
    for entry in entries() {
        if !subjects.contains(&entry.subject) {
            subjects.push(entry.subject);
        }
    }
    subjects
}

fn of(subject: &str) -> impl Iterator<Item = &'static Entry> + '_ {
    entries().iter().filter(move |entry| entry.subject == subject)
}

/// The definition file that editors complete scripts from.
pub fn definitions() -> String {
    let mut out = String::from("// Made by `fingerpad docs`. What scripts can call, for editors.\n\nmodule static;\n");
    for subject in subjects() {
        for entry in of(subject).filter(|entry| !entry.is_property()) {
            let _ = write!(out, "\n/// {}\nfn {};\n", entry.doc, entry.signature);
        }
    }
    out
}

/// The reference page.
pub fn reference() -> String {
    let mut out = String::from(include_str!("intro.md"));
    for subject in subjects() {
        let _ = write!(out, "\n### {subject}\n\n| call | does |\n|---|---|\n");
        for entry in of(subject) {
            let _ = writeln!(out, "| `{}` | {} |", call(entry), entry.doc.replace('|', "\\|"));
        }
    }
    out
}

/// The signature as it is called: what belongs to a hand, a body or a vector is called on it.
fn call(entry: &Entry) -> String {
    let Some((name, rest)) = entry.signature.split_once('(') else {
        return format!("vec.{}", entry.signature);
    };
    let owners = ["hand: Hand", "body: Body", "track: Track", "v: Vec3", "a: Vec3", "rotation: Rotation"];
    let Some(owner) = owners.iter().find(|owner| rest.starts_with(**owner)) else {
        return entry.signature.into();
    };
    let variable = owner.split(':').next().unwrap_or_default();
    let after = rest[owner.len()..].trim_start_matches([',', ' ']);
    format!("{variable}.{name}({after}")
}
