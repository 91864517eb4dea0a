//! Damaged copies of the shipped files, and of small files of the other kinds, in every reader: an error or a value, no panic, no hang.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;

use fingerpad::problem::{ContactProblem, Law};
use fingerpad::record::{RawEvent, RawHeader, RawRecorder};
use fingerpad::runtime::Session;

#[path = "../../fuzz/readers.rs"]
mod targets;

use targets::{Reader, read};

/// Longest time of one read in the dev build, on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Texts that are put in: limits of numbers, brackets, quotes, separators, an escape.
const TOKENS: [&str; 16] = [
    "1e300",
    "-1",
    "nan",
    "inf",
    "0",
    "18446744073709551616",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "=",
    "\u{1b}[31m",
    "base = \"input.toml\"\n",
    "é",
];

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static str),
    /// Replaces a number.
    Number(Index, &'static str),
    CutOff(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (place(), 1..40usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (place(), 1..200usize).prop_map(|(at, count)| Change::Repeat(at, count)),
        (place(), prop::sample::select(&TOKENS[..])).prop_map(|(at, text)| Change::Insert(at, text)),
        (place(), prop::sample::select(&TOKENS[..6])).prop_map(|(at, text)| Change::Number(at, text)),
        place().prop_map(Change::CutOff),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let length = bytes.len() + 1;
    match change {
        Change::Set(at, byte) => bytes.iter_mut().skip(at.index(length)).take(1).for_each(|b| *b = *byte),
        Change::Remove(at, count) => {
            let at = at.index(length);
            bytes.drain(at..(at + count).min(length - 1).max(at));
        }
        Change::Repeat(at, count) => {
            let at = at.index(length);
            let part = bytes[at..(at + count).min(length - 1).max(at)].to_vec();
            bytes.splice(at..at, part);
        }
        Change::Insert(at, text) => drop(bytes.splice(at.index(length)..at.index(length), text.bytes())),
        Change::Number(at, text) => {
            let is_digit = |b: &u8| b.is_ascii_digit() || *b == b'.';
            let from = at.index(length);
            let Some(start) = bytes[from..].iter().position(is_digit).map(|i| from + i) else { return };
            let end = start + bytes[start..].iter().take_while(|b| is_digit(b)).count();
            bytes.splice(start..end, text.bytes());
        }
        Change::CutOff(at) => bytes.truncate(at.index(length)),
    }
}

/// The files of a folder with an extension.
fn shipped(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    let files: Vec<_> = paths.iter().map(|path| std::fs::read(path).expect("a file")).collect();
    assert!(!files.is_empty());
    files
}

/// Reads each of some files undamaged, then damaged copies of them.
fn torment(reader: Reader, corpus: &[Vec<u8>], cases: u32) {
    corpus.iter().for_each(|bytes| read(reader, bytes));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let damage = (any::<Index>(), prop::collection::vec(change(), 1..5));
    proptest!(config, |((which, changes) in damage)| {
        let mut bytes = which.get(corpus).clone();
        changes.iter().for_each(|change| apply(&mut bytes, change));
        let start = Instant::now();
        read(reader, &bytes);
        prop_assert!(start.elapsed() < SOON, "{:?}", String::from_utf8_lossy(&bytes));
    });
}

#[test]
fn damaged_scenes() {
    let mut scenes = shipped("scenes", "toml");
    // Hands are files of their own, which are not there: those scenes end with that error.
    scenes.retain(|scene| !String::from_utf8_lossy(scene).contains("[hand."));
    torment(Reader::Scene, &scenes, 300);
}

#[test]
fn damaged_hands() {
    torment(Reader::Hand, &shipped("hands", "toml"), 300);
}

#[test]
fn damaged_profiles() {
    torment(Reader::Profile, &shipped("devices", "toml"), 300);
}

#[test]
fn damaged_scripts() {
    torment(Reader::Script, &shipped("scripts", "rhai"), 300);
}

#[test]
fn damaged_meshes() {
    torment(Reader::Mesh("obj"), &shipped("scenes", "obj"), 60);
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n".to_vec();
    torment(Reader::Mesh("obj"), &[obj], 200);
    let ply = b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n\
                property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
        .to_vec();
    torment(Reader::Mesh("ply"), &[ply], 200);
    let mut stl = vec![0u8; 80];
    stl.extend(4u32.to_le_bytes());
    let corners: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for face in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        stl.extend([0u8; 12]);
        face.iter().for_each(|&i: &usize| corners[i].iter().for_each(|x| stl.extend(x.to_le_bytes())));
        stl.extend([0u8; 2]);
    }
    torment(Reader::Mesh("stl"), &[stl], 200);
    let msh = b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n\
                1 4 2 0 1 1 2 3 4\n$EndElements\n"
        .to_vec();
    torment(Reader::Mesh("msh"), &[msh], 200);
    let vtk = b"# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n\
                4 0 1 2 3\nCELL_TYPES 1\n10\n"
        .to_vec();
    torment(Reader::Mesh("vtk"), &[vtk], 200);
    let gltf = br#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],"bufferViews":[{"buffer":0,"byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}]}"#
        .to_vec();
    torment(Reader::Mesh("gltf"), &[gltf], 200);
}

#[test]
fn damaged_recordings() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers.fpr");
    let mut session = Session::load(Path::new("rest"), &[]).expect("a scene");
    session.record(&file).expect("a recording");
    (0..20).for_each(|_| session.step().expect("a step"));
    session.finish_recording().expect("its end");
    torment(Reader::Recording, &[std::fs::read(&file).expect("the recording")], 500);
    let header = RawHeader { program: "x".into(), profile: "x.toml".into(), files: Vec::new(), baud: 9600, began: 1 };
    let mut raw = RawRecorder::new(Vec::new(), &header).expect("a header");
    for (i, event) in [RawEvent::Opened, RawEvent::Received, RawEvent::Sent, RawEvent::Lost].into_iter().enumerate() {
        raw.add(Duration::from_millis(i as u64), event, b"bytes").expect("an event");
    }
    torment(Reader::RawRecording, &[raw.into_inner()], 500);
}

#[test]
fn damaged_problems() {
    let problem = ContactProblem {
        delassus: vec![2.0, 0.1, 0.0, 0.1, 1.5, 0.0, 0.0, 0.0, 1.5],
        free: vec![-1.0, 0.2, 0.0],
        laws: vec![Law::Coulomb { mu: 0.5 }],
    };
    torment(Reader::Problem, &[problem.to_text().into_bytes()], 500);
}

#[test]
fn damaged_packets() {
    let pose = b"FPHB\x01\x00\x00\x00".repeat(10);
    let osc = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\0\x10/a\0\0,fs\0\0\0\0\0x\0\0\0".to_vec();
    let haply = br#"{"inverse3":[{"device_id":"1","state":{"cursor_position":{"x":0.1,"y":0.2,"z":0.3}}}]}"#.to_vec();
    torment(Reader::Packet, &[pose, osc, haply], 500);
}
