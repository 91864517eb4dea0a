//! The window: it shows what a simulation in another thread reports, and sends commands to it. Neither waits for the other.
//!
//! What mouse and keyboard mean is decided without kiss3d, in `keys`, `controls`, `orbit` and `puppet`, so that it can be tested without a
//! display.

mod canvas;
mod controls;
mod events;
mod eye;
mod keys;
mod link;
mod orbit;
mod panels;
mod plots;
mod puppet;
mod show;

pub use controls::{Button, Controls, Input, Modifiers};
pub use keys::{Act, Key, manual};
pub use link::{Card, Command, Cost, Latest, Link, Parameter, Report, Sample};
pub use orbit::Orbit;
pub use puppet::{Feeling, Puppet, Steer};
pub use show::{Options, Shown, WindowError, probe, show};
