//! The physics: bodies, contact, solver, hand. One binary for all, which links once.

mod beam;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod drives;
mod elastic;
mod elastic_body;
mod fem;
mod grasp;
mod hand;
mod haptic_beams;
mod haptic_hand;
mod proximity;
mod quasi_rigid;
mod rigid;
mod saved;
mod self_contact;
mod soft;
mod solver;
mod step_length;
mod thread;
mod two_rate;
mod visual_skin;
