use std::fmt;
use std::str::FromStr;

use crate::assets::table::{Document, Table, TableEntry, Value, listed, nearest, unknown};

/// An override of a scene parameter: `dt=0.005`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Key.
    pub key: String,
    /// Value: a number, a word, or a list in TOML syntax.
    pub value: String,
}

impl Setting {
    /// Sets a key to a value.
    pub fn new(key: &str, value: impl fmt::Display) -> Self {
        Self { key: key.into(), value: value.to_string() }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// A setting without an equals sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected KEY=VALUE, found `{0}`")]
pub struct NoSetting(pub String);

impl FromStr for Setting {
    type Err = NoSetting;

    fn from_str(text: &str) -> Result<Self, NoSetting> {
        let (key, value) = text.split_once('=').ok_or_else(|| NoSetting(text.into()))?;
        Ok(Self::new(key.trim(), value.trim()))
    }
}

/// Every key, and where in a scene it is put: `NAME` is the same in both, `HAND` is every hand.
const KEYS: [(&str, &str); 23] = [
    ("dt", "dt"),
    ("seconds", "seconds"),
    ("gravity", "gravity"),
    ("method", "contact.method"),
    ("friction", "contact.friction"),
    ("pressure", "contact.pressure"),
    ("fingers", "hand.HAND.rigid"),
    ("aggregate.patches", "contact.patches"),
    ("aggregate.split", "contact.split"),
    ("aggregate.split_angle", "contact.split_angle"),
    ("contact.alarm", "contact.alarm"),
    ("contact.offset", "contact.offset"),
    ("skin.resolution", "hand.HAND.skin.resolution"),
    ("tissue.young", "hand.HAND.tissue.young"),
    ("material.NAME.friction", "material.NAME.friction"),
    ("body.NAME.mass", "body.NAME.mass"),
    ("body.NAME.position", "body.NAME.position"),
    ("solver.tolerance", "solver.tolerance"),
    ("solver.iterations", "solver.iterations"),
    ("solver.deadline_ms", "solver.deadline_ms"),
    ("refactor", "refactor"),
    ("drift", "drift"),
    ("seed", "seed"),
];

/// The keys that can be overridden; `NAME` is the name of a material or a body.
pub fn setting_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, _)| *key)
}

/// Writes settings into the document of a scene, so that they are checked like its own values.
pub fn apply(document: &mut Document, settings: &[Setting]) {
    for setting in settings {
        let entry = TableEntry::loose(&format!("--set {setting}"), &setting.value);
        if let Err(message) = apply_one(document, setting, &entry) {
            document.note(&entry.source, 0, String::new(), message);
        }
    }
}

fn apply_one(document: &mut Document, setting: &Setting, entry: &TableEntry) -> Result<(), String> {
    let (name, place) = KEYS
        .iter()
        .find_map(|(pattern, place)| Some((matched(pattern, &setting.key)?, *place)))
        .ok_or_else(|| unknown_key(&setting.key))?;
    let mut entry = entry.clone();
    if setting.key == "fingers" {
        entry.value = Value::Bool(match setting.value.as_str() {
            "soft" => false,
            "rigid" => true,
            other => return Err(format!("`{other}` is not known; expected {}", listed(&["soft", "rigid"]))),
        });
    }
    let path: Vec<&str> = place.split('.').map(|word| if word == "NAME" { name } else { word }).collect();
    if !name.is_empty() {
        known(&document.root(), path[0], name)?;
    }
    // A mass replaces a density.
    if let ["body", _, "mass"] = path.as_slice() {
        document.remove(&["body", name, "density"]);
    }
    if !path.contains(&"HAND") {
        document.set(&path, entry);
        return Ok(());
    }
    let hands: Vec<String> = document.root().named("hand").iter().map(|(hand, _)| hand.to_string()).collect();
    if hands.is_empty() {
        return Err("the scene has no hand".into());
    }
    for hand in &hands {
        let path: Vec<&str> = path.iter().map(|&word| if word == "HAND" { hand } else { word }).collect();
        document.set(&path, entry.clone());
    }
    Ok(())
}

/// The name in a key that matches a pattern, empty if the pattern has none.
fn matched<'k>(pattern: &str, key: &'k str) -> Option<&'k str> {
    match pattern.split_once("NAME") {
        None => (pattern == key).then_some(""),
        Some((before, after)) => key.strip_prefix(before)?.strip_suffix(after).filter(|name| !name.is_empty()),
    }
}

fn known(root: &Table<'_>, kind: &str, name: &str) -> Result<(), String> {
    let tables = root.named(kind);
    let mut names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    if kind == "material" {
        names.push("default");
    }
    if names.contains(&name) { Ok(()) } else { Err(unknown(kind, name, &names)) }
}

/// Lists similar keys: with a similar spelling, or a common word.
fn unknown_key(key: &str) -> String {
    let words = |key: &'static str| key.split('.').filter(|word| *word != "NAME");
    let shares = |known: &&'static str| {
        words(known).any(|word| key.split(['.', '_']).any(|own| nearest(own, &[word]).is_some()))
    };
    let near: Vec<&str> = setting_keys().filter(|known| nearest(key, &[*known]).is_some() || shares(known)).collect();
    if near.is_empty() {
        return format!("unknown setting; expected {}", listed(&setting_keys().collect::<Vec<_>>()));
    }
    format!("unknown setting; did you mean {}?", listed(&near))
}
