//! The program as users start it: commands, scripts, recordings, hostile inputs. One binary for all, which links once.

mod abuse;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod findings;
mod hostile;
mod outputs;
mod record;
mod report;
mod robustness;
mod run;
mod scripts;
mod studies;
