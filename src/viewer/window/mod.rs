//! The window: it shows the reports of a simulation in another thread, and sends commands to it. Neither waits for the
//! other.
//!
//! Mouse and keyboard input is interpreted without kiss3d, in `keys`, `controls`, `orbit` and `puppet`, so that it can
//! be tested without a display.
//!
//! ```no_run
//! use std::path::Path;
//! use fingerpad::runtime::Session;
//! use fingerpad::runtime::live::{LiveOptions, start};
//! use fingerpad::viewer::window::{WindowOptions, WindowSettings, show};
//!
//! let (link, thread) = start(Session::load(Path::new("play"), &[])?, LiveOptions::default())?;
//! let options = WindowOptions {
//!     title: "play".into(),
//!     kept: WindowSettings::default(),
//!     zoom: 1.0,
//!     frames: None,
//!     save: &mut |picture| Ok(format!("a picture of {} × {} pixels", picture.size.0, picture.size.1)),
//!     keep: &mut |_| {},
//!     log: None,
//! };
//! show(&link, options)?;
//! thread.join().expect("no panic");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(super) mod canvas;
mod controls;
mod events;
pub(super) mod eye;
mod kept;
mod keys;
mod layout;
mod link;
mod orbit;
mod panels;
pub(super) mod plain;
mod plots;
mod puppet;
mod quality;
pub(super) mod scene_view;
mod show;
mod tree;

pub use controls::{Controls, Modifiers, PointerButton, WindowInput};
pub use kept::WindowSettings;
pub use keys::{Arrow, Key, UserAction, manual};
pub use link::{
    BodyInfo, BodyMotion, Card, Command, HandDevice, Parameter, PlotSample, Pull, Report, Trace, WindowCost, WindowLink,
};
pub use orbit::Orbit;
pub use puppet::{DrivenHand, Feeling, Steer};
pub use show::{Drawn, FrameLog, Shown, WindowError, WindowOptions, probe, show};
