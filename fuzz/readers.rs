//! What every reader of files and packets must do with arbitrary bytes: return a value or an error, in bounded time and memory. Used by the fuzz
//! targets beside this file, and by `tests/program/readers.rs` with damaged copies of the shipped files.

use std::collections::BTreeMap;
use std::path::Path;

use fingerpad::assets::Files;
use fingerpad::problem::ContactProblem;
use fingerpad::protocol::{BridgePose, BridgeWrench, HaplyState, for_each_message, haply_command};
use fingerpad::record::{RawRecording, Recording};

/// A reader, by the kind of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Scene,
    Hand,
    Profile,
    /// A mesh with the extension of its format.
    Mesh(&'static str),
    Recording,
    RawRecording,
    Problem,
    Script,
    /// Datagrams and messages that are not read by a decoder of `Format`.
    Packet,
}

/// Reads bytes. They are the only file that exists: paths in them lead nowhere.
pub fn read(reader: Reader, bytes: &[u8]) {
    let name = match reader {
        Reader::Mesh(extension) => format!("input.{extension}"),
        _ => "input.toml".into(),
    };
    let (path, text) = (Path::new(&name), String::from_utf8_lossy(bytes));
    let files = Files::kept(BTreeMap::from([(name.clone(), bytes.to_vec())]));
    match reader {
        Reader::Scene => {
            if let Ok(mut scene) = files.load_scene(path, &[]) {
                scene.world.step();
            }
        }
        Reader::Hand => {
            let _ = files.load_hand(path);
        }
        Reader::Profile => {
            let _ = files.load_device(path);
        }
        Reader::Mesh("vtk" | "msh") => {
            let _ = files.load_tet_mesh(path, 1.0);
        }
        Reader::Mesh(_) => {
            let _ = files.load_surface_mesh(path, 1.0);
        }
        Reader::Recording => {
            let _ = Recording::parse(path, bytes);
        }
        Reader::RawRecording => {
            let _ = RawRecording::parse(path, bytes);
        }
        Reader::Problem => {
            if let Ok(problem) = ContactProblem::from_text(&text) {
                assert_eq!(
                    ContactProblem::from_text(&problem.to_text()).as_ref().map(|p| p.rows()),
                    Ok(problem.rows())
                );
            }
        }
        Reader::Script => {
            let _ = fingerpad::script::check("input.rhai", &text);
        }
        Reader::Packet => {
            let _ = BridgePose::decode(bytes);
            let _ = BridgeWrench::decode(bytes);
            let _ = HaplyState::decode(&text);
            let _ = haply_command(&text);
            let _ = for_each_message(bytes, |_| {});
        }
    }
}
