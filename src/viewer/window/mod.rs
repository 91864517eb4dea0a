//! The window: it shows the reports of a simulation in another thread, and sends commands to it. Neither waits for the
//! other.
//!
//! Mouse and keyboard input is interpreted without kiss3d, in `keys`, `controls`, `orbit` and `puppet`, so that it can
//! be tested without a display.

mod canvas;
mod controls;
mod events;
mod eye;
mod kept;
mod keys;
mod layout;
mod link;
mod orbit;
mod panels;
mod plain;
mod plots;
mod puppet;
mod quality;
mod scene_view;
mod show;
mod tree;

pub use controls::{Button, Controls, Input, Modifiers};
pub use kept::Kept;
pub use keys::{Act, Arrow, Key, manual};
pub use link::{BodyInfo, Card, Command, Cost, DeviceInfo, Link, Motion, Parameter, Pull, Report, Sample, Trace};
pub use orbit::Orbit;
pub use puppet::{DrivenHand, Feeling, Steer};
pub use show::{Drawn, FrameLog, Options, Shown, WindowError, probe, show};
