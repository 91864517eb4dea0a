//! Files: scenes, hands, meshes, contact problems. One binary for all, which links once.

#[path = "../common/mod.rs"]
mod common;
mod descriptions;
mod fclib;
#[path = "../common/reference.rs"]
mod reference;
mod scene_reference;
mod scenes;
