//! Devices: profiles, gloves on pseudo-terminals, calibration, tracking faults. One binary for all, which links once.

mod calibrate;
#[path = "../common/mod.rs"]
mod common;
mod haptics;
mod pty;
mod reference;
#[path = "../common/reference.rs"]
mod tables;
mod task;
mod tracking_faults;
