//! What the runtime pretends: the file that says so, and what has been made of it so far.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openxr::sys;

/// Names the file that says how things are at the moment; it is read again at every call that depends on it. Its lines:
///
/// - `left` or `right`, then seven numbers for each of the 26 joints: x, y, z, and the quaternion x, y, z, w. A hand that
///   has no line is out of sight.
/// - `unknown`, `left` or `right`, and numbers of joints that are not valid.
/// - `without`, and `service`, `headset`, `hands`, `vibration` or an extension.
/// - `end`, and `session`, `session_pending`, `instance`, `instance_pending`, `exiting`, or `pause`, which ends the session's
///   running for as long as the line stands.
const SCRIPT: &str = "FINGERPAD_XR_SCRIPT";
/// Names the file to which everything made, destroyed and vibrated is added, a line each.
const LOG: &str = "FINGERPAD_XR_LOG";

pub type Joints = [[f32; 7]; sys::HAND_JOINT_COUNT_EXT];

/// The file as it is now.
#[derive(Default)]
pub struct Script {
    /// Left and right.
    pub hands: [Option<Joints>; 2],
    pub unknown: [Vec<usize>; 2],
    without: Vec<String>,
    end: Option<String>,
}

impl Script {
    pub fn now() -> Self {
        let file = std::env::var_os(SCRIPT).expect("FINGERPAD_XR_SCRIPT names a file");
        let text = std::fs::read_to_string(&file).expect("the script can be read");
        let mut script = Self::default();
        for line in text.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                ["unknown", hand, joints @ ..] => {
                    script.unknown[side(hand)] = joints.iter().map(|j| j.parse().expect("a joint")).collect();
                }
                ["without", what] => script.without.push((*what).into()),
                ["end", how] => script.end = Some((*how).into()),
                [] => {}
                [hand, numbers @ ..] => {
                    let mut joints = [[0.0; 7]; sys::HAND_JOINT_COUNT_EXT];
                    assert_eq!(numbers.len(), joints.as_flattened().len(), "numbers of a hand");
                    for (place, number) in joints.as_flattened_mut().iter_mut().zip(numbers) {
                        *place = number.parse().expect("a number");
                    }
                    script.hands[side(hand)] = Some(joints);
                }
            }
        }
        script
    }

    pub fn has(&self, what: &str) -> bool {
        !self.without.iter().any(|missing| missing == what)
    }

    pub fn ends(&self, how: &str) -> bool {
        self.end.as_deref() == Some(how)
    }
}

fn side(name: &str) -> usize {
    ["left", "right"].iter().position(|side| *side == name).unwrap_or_else(|| panic!("no line begins with {name}"))
}

/// What an application was told last of its session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Idle,
    Ready,
    Running,
    Stopping,
    Ending,
}

pub enum Event {
    Session(sys::SessionState),
    InstanceLossPending,
}

/// What there is. One application with one session is all that there can be.
pub struct Stage {
    pub phase: Phase,
    pub events: VecDeque<Event>,
    /// Strings that have become paths; a path is a place among them, from one.
    pub paths: Vec<String>,
    /// Sides of the trackers by handle.
    pub trackers: Vec<(u64, usize)>,
    pub is_attached: bool,
    handles: u64,
}

pub fn stage() -> MutexGuard<'static, Stage> {
    static STAGE: Mutex<Stage> = Mutex::new(Stage {
        phase: Phase::Idle,
        events: VecDeque::new(),
        paths: Vec::new(),
        trackers: Vec::new(),
        is_attached: false,
        handles: 0,
    });
    STAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    pub fn create<H: sys::Handle>(&mut self, what: &str) -> H {
        self.handles += 1;
        log(&format!("create {what} {}", self.handles));
        H::from_raw(self.handles)
    }

    pub fn destroy<H: sys::Handle>(&mut self, what: &str, handle: H) -> sys::Result {
        log(&format!("destroy {what} {}", handle.into_raw()));
        sys::Result::SUCCESS
    }

    /// Brings the events up to the script.
    pub fn follow(&mut self, script: &Script) {
        let session = Event::Session;
        let (event, phase) = match self.phase {
            Phase::Ending => return,
            _ if script.ends("session_pending") => (session(sys::SessionState::LOSS_PENDING), Phase::Ending),
            _ if script.ends("exiting") => (session(sys::SessionState::EXITING), Phase::Ending),
            _ if script.ends("instance_pending") => (Event::InstanceLossPending, Phase::Ending),
            Phase::Running if script.ends("pause") => (session(sys::SessionState::STOPPING), Phase::Stopping),
            Phase::Idle if !script.ends("pause") => (session(sys::SessionState::READY), Phase::Ready),
            _ => return,
        };
        self.events.push_back(event);
        self.phase = phase;
    }
}

pub fn log(line: &str) {
    let file = std::env::var_os(LOG).expect("FINGERPAD_XR_LOG names a file");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    writeln!(file.expect("the log can be written"), "{line}").expect("the log can be written");
}
