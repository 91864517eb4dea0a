//! The program as users start it: commands, scripts, recordings, hostile inputs. One binary for all, which links once.

mod abuse;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod elastic;
mod findings;
mod grasps;
mod haptic_devices;
mod hostile;
mod outputs;
#[cfg(feature = "script")]
mod readers;
mod record;
mod report;
mod robustness;
mod run;
mod scripts;
mod soak;
mod studies;
mod tools;
