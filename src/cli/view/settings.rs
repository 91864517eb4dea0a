//! What the window keeps between runs, in a file of the user's configuration.

use std::fmt::Write;
use std::path::PathBuf;

use crate::cli::{Talk, write_file};
use crate::viewer::Layers;
use crate::viewer::window::WindowSettings;

/// The file: `$XDG_CONFIG_HOME/fingerpad/window.toml`, or below `~/.config`; `%APPDATA%` on Windows.
pub fn file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| set("APPDATA")).or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("fingerpad").join("window.toml"))
}

/// What was kept; a file that cannot be read is reported, and the defaults are taken.
pub fn load(talk: Talk) -> WindowSettings {
    let Some(file) = file() else { return WindowSettings::default() };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return WindowSettings::default(),
        Err(error) => {
            talk.say(format_args!("{}: {error}; the default settings are used", file.display()));
            return WindowSettings::default();
        }
    };
    parse(&text).unwrap_or_else(|problem| {
        talk.say(format_args!("{}: {problem}; the default settings are used", file.display()));
        WindowSettings::default()
    })
}

/// Keeps settings; a folder that cannot be written to is no reason to fail.
pub fn save(kept: &WindowSettings) -> anyhow::Result<()> {
    file().map_or(Ok(()), |file| write_file(&file, text(kept).as_bytes()))
}

/// Forgets them.
pub fn reset() -> anyhow::Result<()> {
    match file().map(std::fs::remove_file) {
        Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn text(kept: &WindowSettings) -> String {
    let mut text = String::from("# Settings of the window. `fingerpad view --reset` forgets them.\n");
    let mut layers = kept.layers;
    let shown = Layers::SWITCHES.iter().filter(|(_, switch)| *switch(&mut layers)).map(|(name, _)| *name);
    let list = |names: Vec<&str>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "size = [{}, {}]", kept.size.0, kept.size.1);
    let _ = writeln!(text, "layers = [{}]", list(shown.collect()));
    let _ = writeln!(text, "panels = {}", kept.panels);
    if let Some(tree) = kept.tree {
        let _ = writeln!(text, "tree = {tree}");
    }
    let _ = writeln!(text, "plots = [{}]", list(kept.plots.iter().map(String::as_str).collect()));
    let _ = writeln!(text, "adapt_resolution = {}", kept.adapts);
    text
}

/// Unknown keys and layers are left out: they may be those of another version.
fn parse(text: &str) -> Result<WindowSettings, String> {
    let table = toml::de::DeTable::parse(text).map_err(|error| error.message().to_string())?;
    let mut kept = WindowSettings::default();
    let wrong = |key: &str| format!("`{key}` is not what was expected");
    for (key, value) in table.get_ref() {
        let (key, value): (&str, &toml::de::DeValue<'_>) = (key.get_ref(), value.get_ref());
        let flag = || value.as_bool().ok_or_else(|| wrong(key));
        let words = || -> Option<Vec<&str>> { value.as_array()?.iter().map(|word| word.get_ref().as_str()).collect() };
        match key {
            "size" => {
                let sides: Option<Vec<i64>> =
                    value.as_array().and_then(|list| list.iter().map(|x| whole(x.get_ref())).collect());
                let sides = sides.filter(|sides| sides.len() == 2 && sides.iter().all(|x| (240..=16384).contains(x)));
                let sides = sides.ok_or_else(|| wrong(key))?;
                kept.size = (sides[0] as u32, sides[1] as u32);
            }
            "layers" => {
                let names = words().ok_or_else(|| wrong(key))?;
                kept.layers = Layers::NONE;
                for (name, switch) in Layers::SWITCHES {
                    *switch(&mut kept.layers) = names.contains(&name);
                }
            }
            "panels" => kept.panels = flag()?,
            "tree" => kept.tree = Some(flag()?),
            "plots" => kept.plots = words().ok_or_else(|| wrong(key))?.into_iter().map(String::from).collect(),
            "adapt_resolution" => kept.adapts = flag()?,
            _ => {}
        }
    }
    Ok(kept)
}

fn whole(value: &toml::de::DeValue<'_>) -> Option<i64> {
    value.as_integer()?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_settings_are_restored() {
        let layers = Layers { pressure: true, slip: true, skin: false, ..Layers::default() };
        let plots = vec!["cube.y".to_string(), "a \"b\"".to_string()];
        let kept = WindowSettings { size: (900, 600), layers, panels: false, tree: Some(true), plots, adapts: false };
        assert_eq!(parse(&text(&kept)), Ok(kept));
        assert_eq!(parse(&text(&WindowSettings::default())), Ok(WindowSettings::default()));
    }

    #[test]
    fn invalid_files_are_reported_and_unknown_keys_are_ignored() {
        for text in ["size = [1]", "size = [10, 10]", "layers = 3", "panels = \"yes\"", "{{{", "plots = [1]"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("later = 1\nlayers = [\"unknown\", \"skin\"]").map(|kept| kept.layers), Ok(Layers::default()));
    }
}
