//! Sessions from scene files, scripts and recordings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::replay::Replay;
use super::{Play, Session};
use crate::assets::{FileKind, Files, Setting, builtin_file, builtin_scenes, nearest_builtin};
#[cfg(feature = "script")]
use crate::math::Range;
use crate::record::{EXTENSION, Header, Recording, RunSource};
use crate::runtime::Error;
#[cfg(feature = "script")]
use crate::script::{ScriptOptions, ScriptRun};
use crate::text::did_you_mean;
use crate::tracking::Driven;

impl Session {
    /// Loads a scene file (.toml), a script (.rhai), a recording (.fpr), or a shipped scene or script by name. The setting
    /// `seconds` is the duration of a scene and the time limit of each trial of a script.
    pub fn load(file: &Path, settings: &[Setting]) -> Result<Self, Error> {
        Self::load_with_devices(file, settings, Driven::default())
    }

    /// Loads like [`Session::load`], for hands of which devices move some parts. Motions of the scene and of the script are
    /// ignored for these parts; their samples come from [`Session::attach_devices`] or [`Session::feed`].
    pub fn load_with_devices(file: &Path, settings: &[Setting], device: Driven) -> Result<Self, Error> {
        let path = shipped_path(file);
        let source = match path.extension().and_then(|e| e.to_str()) {
            Some("toml") => RunSource::Scene,
            Some("rhai") => RunSource::Script,
            Some(EXTENSION) if device.any() || !settings.is_empty() => {
                return Err(Error::FixedRecording { file: file.into() });
            }
            Some(EXTENSION) => return Self::load_recording(file),
            _ => return Err(unknown(file)),
        };
        if let (Some(near), None) = (near_missing(&path), path.parent().filter(|folder| *folder != Path::new(""))) {
            let message = format!("there is no such file, and no shipped one of that name{}", did_you_mean(&near));
            return Err(Error::Unknown { name: file.display().to_string(), message });
        }
        let header = Header::of(source, &Files::key(&path), settings, device);
        Self::build(file, &path, Files::default(), header)
    }

    /// Loads a recording from a file with any extension.
    pub fn load_recording(file: &Path) -> Result<Self, Error> {
        let recording = Arc::new(Recording::read(file)?);
        let (header, files) = (recording.header.clone(), Files::kept(recording.files.clone()));
        let path = PathBuf::from(&header.file);
        let built = Self::build(file, &path, files, header);
        // Problems of the kept files do not name the recording.
        let mut session = built.map_err(|error| Error::Unplayable { file: file.into(), reason: Box::new(error) })?;
        let start = session.scene().world.state_hash();
        session.replay = Some(Replay::new(recording, start));
        Ok(session)
    }

    fn build(file: &Path, path: &Path, files: Files, header: Header) -> Result<Self, Error> {
        let play = match header.source {
            RunSource::Scene => {
                let other = match files.file_kind(path)? {
                    FileKind::Scene => None,
                    FileKind::Hand => Some("this describes a hand, or nothing; expected a scene"),
                    FileKind::Device => {
                        Some("this describes a device; expected a scene, with the device after `--device`")
                    }
                };
                if let Some(message) = other {
                    return Err(Error::NotAScene { file: path.into(), message });
                }
                Play::Scene(Box::new(files.load_scene(path, &header.settings)?))
            }
            RunSource::Script => load_script(&files, path, &header)?,
        };
        Ok(Self { file: file.into(), header, files, ..Self::of(play) })
    }
}

/// The path of a file, or of the shipped scene or script of that name if there is no such file.
pub fn shipped_path(file: &Path) -> PathBuf {
    let shipped = || file.to_str().and_then(builtin_file);
    if file.is_file() { file.into() } else { shipped().unwrap_or_else(|| file.into()) }
}

/// The shipped name closest to that of a missing file.
fn near_missing(file: &Path) -> Option<String> {
    if Files::default().is_there(file) { None } else { file.to_str().and_then(nearest_builtin) }
}

fn unknown(file: &Path) -> Error {
    let near = file.to_str().and_then(nearest_builtin).map(|near| did_you_mean(&near));
    let message = format!(
        "expected a scene file (.toml), a script (.rhai), a recording (.{EXTENSION}) or the name of a shipped scene ({}) or script{}",
        builtin_scenes().collect::<Vec<_>>().join(", "),
        near.unwrap_or_default()
    );
    Error::Unknown { name: file.display().to_string(), message }
}

/// Accepted duration of a script, s; the same as of a scene.
#[cfg(feature = "script")]
const SCRIPT_SECONDS: Range = Range::new(1e-3, 3600.0, "s");

#[cfg(feature = "script")]
fn load_script(files: &Files, file: &Path, header: &Header) -> Result<Play, Error> {
    let (seconds, settings): (Vec<_>, Vec<_>) = header.settings.iter().cloned().partition(|s| s.key == "seconds");
    let parse = |setting: &Setting| {
        SCRIPT_SECONDS.parse(&setting.value).map_err(|error| Error::Seconds { value: setting.value.clone(), error })
    };
    let seconds: Option<f64> = seconds.last().map(parse).transpose()?;
    let options = ScriptOptions { settings, seconds, device: header.device };
    Ok(Play::Script(Box::new(ScriptRun::load_from(files, file, &options)?)))
}

#[cfg(not(feature = "script"))]
fn load_script(_files: &Files, _file: &Path, _header: &Header) -> Result<Play, Error> {
    Err(Error::NoScripts)
}
