use std::fmt::Write;
use std::path::Path;

use rhai::{Array, Dynamic, Map};

use super::arguments::found;
use crate::math::Vec3;
use crate::script::load::find;
use crate::script::state::Origin;
use crate::script::track::{Fault, fault};

/// A map as a TOML inline table, so that script set-ups are checked like scene files.
pub fn table(map: &Map, origin: &Origin, kind: &str) -> Result<String, Fault> {
    let mut out = String::new();
    write_map(&mut out, map, origin, kind)?;
    Ok(out)
}

/// A map as the text of a scene file.
pub fn document(map: &Map, origin: &Origin) -> Result<String, Fault> {
    let mut out = String::new();
    for (key, value) in map {
        let _ = write!(out, "{} = ", quoted(key));
        write_value(&mut out, key, value, origin, key)?;
        out.push('\n');
    }
    Ok(out)
}

fn write_map(out: &mut String, map: &Map, origin: &Origin, kind: &str) -> Result<(), Fault> {
    out.push('{');
    for (place, (key, value)) in map.iter().enumerate() {
        let _ = write!(out, "{} {} = ", if place > 0 { "," } else { "" }, quoted(key));
        write_value(out, key, value, origin, kind)?;
    }
    out.push_str(" }");
    Ok(())
}

fn write_value(out: &mut String, key: &str, value: &Dynamic, origin: &Origin, kind: &str) -> Result<(), Fault> {
    let float =
        |x: f64| if x.is_finite() { Ok(format!("{x:?}")) } else { Err(fault(format!("`{key}`: {x} is not a number"))) };
    if let Some(map) = value.read_lock::<Map>() {
        return write_map(out, &map, origin, kind);
    }
    if let Some(array) = value.read_lock::<Array>() {
        out.push('[');
        for (place, one) in array.iter().enumerate() {
            out.push_str(if place > 0 { ", " } else { "" });
            write_value(out, key, one, origin, kind)?;
        }
        out.push(']');
        return Ok(());
    }
    let text = if let Some(v) = value.clone().try_cast::<Vec3>() {
        format!("[{}, {}, {}]", float(v.x)?, float(v.y)?, float(v.z)?)
    } else if let Ok(flag) = value.as_bool() {
        flag.to_string()
    } else if let Ok(whole) = value.as_int() {
        whole.to_string()
    } else if let Ok(x) = value.as_float() {
        float(x)?
    } else if let Ok(text) = value.clone().into_string() {
        if key == "file" { quoted(&file(&text, origin, kind)?) } else { quoted(&text) }
    } else {
        let what = "expected a number, a string, true or false, an array or a map";
        return Err(fault(format!("`{key}`: {what}, found {}", found(value))));
    };
    out.push_str(&text);
    Ok(())
}

/// Hands are looked up like scenes; meshes must be in the script's folder or below.
fn file(name: &str, origin: &Origin, kind: &str) -> Result<String, Fault> {
    if kind == "hand" {
        let found = find(origin, "hands", name).map_err(fault)?;
        // Files are relative to the script.
        let folder = origin.file.parent().map(Path::to_path_buf).unwrap_or_default();
        return Ok(found.strip_prefix(folder).unwrap_or(&found).to_string_lossy().into_owned());
    }
    let inside = !name.starts_with('/') && name.split(['/', '\\']).all(|part| part != "..") && !name.contains(':');
    if inside { Ok(name.into()) } else { Err(fault(format!("`{name}`: files must lie in the script's folder"))) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
