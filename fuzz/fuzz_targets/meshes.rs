//! The first byte chooses the format.
#![no_main]

#[path = "../readers.rs"]
mod readers;

const FORMATS: [&str; 7] = ["obj", "stl", "ply", "glb", "gltf", "vtk", "msh"];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [choice, bytes @ ..] = data else { return };
    readers::read(readers::Reader::Mesh(FORMATS[usize::from(*choice) % FORMATS.len()]), bytes);
});
