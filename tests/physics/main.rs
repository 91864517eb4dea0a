//! The physics: bodies, contact, solver, hand. One binary for all, which links once.

mod beam;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod elastic;
mod fem;
mod grasp;
mod hand;
mod proximity;
mod rigid;
mod soft;
mod solver;
mod step_length;
mod thread;
mod visual_skin;
