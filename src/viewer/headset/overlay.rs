use kiss3d::egui::RawInput;

use super::menu::{self, Wish};
use super::panel::{Mark, PalmGaze, Panel, Pointer, Poke, Ray, looks_at};
use super::quad::Quad;
use super::session::GraphicsSession;
use super::{HAND_JOINTS, HeadsetError, OpenMenu, Placement, TrackedInput};
use crate::math::{Pose, Vec3};
use crate::tracking::{Finger, Side};
use crate::viewer::window::Report;
use crate::viewer::{HandFrame, Layers, Stage};

/// Width of the menu and of the sign, m.
const MENU_WIDTH: f64 = 0.36;
const SIGN_WIDTH: f64 = 0.34;
/// The sign is above and behind the hands of the scene, m.
const SIGN_AT: [f64; 2] = [0.26, -0.42];
/// Distances of thumb and index finger that start and end a pinch, m.
const PINCH: [f64; 2] = [0.015, 0.025];
/// Mean flexion of open fingers at base and middle joint, rad.
const OPEN_FLEXION: f64 = 0.5;
/// Joints of XR_EXT_hand_tracking.
const PALM_JOINT: usize = 0;
const THUMB_TIP: usize = 5;
const INDEX_TIP: usize = 10;

/// The menu and the sign over the scene.
pub struct Overlay {
    menu: Quad,
    sign: Quad,
    /// Where the menu is; `None` while it is closed.
    panel: Option<Panel>,
    /// Labels of its buttons, with their pixels.
    places: Vec<(String, [f64; 2])>,
    pointer: Pointer,
    pokes: [Poke; 2],
    pinches: [bool; 2],
    gazes: [PalmGaze; 2],
    /// Text of the sign.
    says: Option<(String, Vec<String>, Option<bool>)>,
}

/// The state of a frame, all in the world.
pub struct Seeing<'f> {
    pub time: f64,
    pub head: Pose,
    pub report: &'f Report,
    pub stage: &'f Stage,
    pub layers: &'f Layers,
    pub inputs: &'f [Option<TrackedInput>; 2],
    /// Rays of the controllers, left and right.
    pub aims: [Option<Ray>; 2],
    /// Whether the button of the menu was pressed.
    pub button: bool,
    /// Recent own work and duration of a frame, s.
    pub cost: [f64; 2],
    /// What the user should do.
    pub advice: Option<&'f str>,
}

impl Overlay {
    /// Needs kiss3d's context on this thread.
    pub fn new(session: &GraphicsSession) -> Result<Self, HeadsetError> {
        Ok(Self {
            menu: Quad::new(session, menu::MENU_PIXELS)?,
            sign: Quad::new(session, menu::SIGN)?,
            panel: None,
            places: Vec::new(),
            pointer: Pointer::default(),
            pokes: Default::default(),
            pinches: [false; 2],
            gazes: Default::default(),
            says: None,
        })
    }

    /// Opens and closes the menu, draws it, and returns what was chosen.
    pub fn follow(&mut self, session: &GraphicsSession, seeing: &Seeing<'_>) -> Result<Vec<Wish>, HeadsetError> {
        let says = menu::sign(seeing.report, seeing.advice);
        if says != self.says {
            if let Some(says) = &says {
                self.sign.draw(&session.graphics, RawInput::default(), |context| menu::show_sign(context, says))?;
            }
            self.says = says;
        }
        if seeing.button || self.is_asked_by_palm(seeing) {
            self.panel = match self.panel {
                Some(_) => None,
                None => Some(Panel::before(&seeing.head, MENU_WIDTH, menu::MENU_PIXELS)),
            };
        }
        let Some(panel) = self.panel else {
            self.pointer = Pointer::default();
            return Ok(Vec::new());
        };
        let mark = self.mark(&panel, seeing);
        let input = RawInput { time: Some(seeing.time), events: self.pointer.follow(mark), ..RawInput::default() };
        let shown =
            |context: &kiss3d::egui::Context| menu::show(context, seeing.report, seeing.layers, seeing.cost, mark);
        let menu::MenuState { wishes, places } = self.menu.draw(&session.graphics, input, shown)?;
        self.places = places;
        if wishes.contains(&Wish::Close) {
            self.panel = None;
        }
        Ok(wishes)
    }

    /// The open menu: where it is in the world, and the labels of its buttons with their pixels.
    pub fn open_menu(&self) -> Option<OpenMenu<'_>> {
        self.panel.as_ref().map(|panel| OpenMenu { panel, buttons: &self.places })
    }

    /// The layers of the frame.
    pub fn layers<'a>(
        &'a self,
        space: &'a openxr::Space,
        placement: &Placement,
        anchor: &Vec3,
        head: &Pose,
    ) -> Vec<openxr::CompositionLayerQuad<'a, openxr::Vulkan>> {
        let room = placement.world_from_room.inverse();
        let placed = |panel: Panel| Panel { pose: room * panel.pose, ..panel };
        let mut layers = Vec::new();
        if self.says.is_some() {
            let centre = anchor + Vec3::new(0.0, SIGN_AT[0], SIGN_AT[1]);
            let panel = Panel::facing(centre, head.translation.vector, SIGN_WIDTH, menu::SIGN);
            layers.extend(self.sign.layer(space, &placed(panel)));
        }
        layers.extend(self.panel.and_then(|panel| self.menu.layer(space, &placed(panel))));
        layers
    }

    /// Whether the user has looked at an open palm for a while.
    fn is_asked_by_palm(&mut self, seeing: &Seeing<'_>) -> bool {
        let mut asked = false;
        for (number, hand) in seeing.report.frame.hands.iter().enumerate() {
            let Some(side) = seeing.stage.side(number) else { continue };
            let is_tracked = seeing.inputs[side as usize].as_ref().is_some_and(|input| input.joints.is_some());
            let looks = is_tracked && is_open(hand) && looks_at(&seeing.head, &hand.tracked_palm);
            asked |= self.gazes[side as usize].follow(looks, seeing.time);
        }
        asked
    }

    /// What points at the panel: a finger before a ray.
    fn mark(&mut self, panel: &Panel, seeing: &Seeing<'_>) -> Option<Mark> {
        let mut poked = None;
        for (number, hand) in seeing.report.frame.hands.iter().enumerate() {
            let Some(side) = seeing.stage.side(number) else { continue };
            let tip = seeing.stage.fingertip(number, hand, Finger::Index);
            poked = poked.or(self.pokes[side as usize].follow(panel, tip.as_ref()));
        }
        poked.or_else(|| {
            let rays = [Side::Right, Side::Left].map(|side| self.ray(side, seeing));
            let hit = |ray: &Ray| panel.hit(ray).map(|at| Mark { at, is_pressed: ray.is_pressed });
            rays.iter().flatten().find_map(hit)
        })
    }

    /// The ray of a controller, or of a hand without one: out of the palm, pressed by a pinch.
    fn ray(&mut self, side: Side, seeing: &Seeing<'_>) -> Option<Ray> {
        if let Some(ray) = seeing.aims[side as usize] {
            return Some(ray);
        }
        let tracked = seeing.inputs[side as usize].as_ref()?.joints.as_ref()?;
        let place = |joint: usize| tracked.joints.get(joint).filter(|_| joint < HAND_JOINTS)?.0;
        let gap = (place(THUMB_TIP)? - place(INDEX_TIP)?).norm();
        let pinched = &mut self.pinches[side as usize];
        *pinched = gap < PINCH[usize::from(*pinched)];
        let direction = tracked.joints[PALM_JOINT].1? * -Vec3::z();
        Some(Ray { origin: place(PALM_JOINT)?, direction, is_pressed: *pinched })
    }
}

/// Whether the fingers but the thumb are stretched.
fn is_open(hand: &HandFrame) -> bool {
    let fingers = hand.tracked_angles.chunks_exact(4).skip(1);
    fingers.clone().map(|angles| angles[0] + angles[2]).sum::<f64>() < 2.0 * OPEN_FLEXION * fingers.len() as f64
}
