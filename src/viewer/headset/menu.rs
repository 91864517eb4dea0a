//! The menu in the headset. It is a panel of egui widgets; requests are returned, not carried out.

use kiss3d::egui::{
    Area, Color32, Context, CornerRadius, Id, Order, Rect, RichText, Stroke, StrokeKind, Ui, UiBuilder,
};
use kiss3d::egui::{pos2, vec2};

use super::panel::Mark;
use crate::assets::Setting;
use crate::problem::FrictionModel;
use crate::viewer::Layers;
use crate::viewer::window::{Command, Report};

/// Size of the menu, pixels.
pub const MENU_PIXELS: (u32, u32) = (640, 720);
/// Size of the sign with the phase and the result, pixels.
pub const SIGN: (u32, u32) = (640, 160);

const MENU_GROUND: Color32 = Color32::from_rgb(250, 250, 252);
const MENU_LINE: Color32 = Color32::from_rgb(120, 125, 135);
const MENU_INK: Color32 = Color32::from_rgb(25, 28, 33);
const MENU_GOOD: Color32 = Color32::from_rgb(20, 120, 60);
const MENU_BAD: Color32 = Color32::from_rgb(176, 28, 28);
const CHOSEN: Color32 = Color32::from_rgb(190, 215, 245);
const TEXT: f32 = 21.0;

/// Methods of contact.
const METHOD_NAMES: [&str; 2] = ["aggregate", "point"];

/// A request of the menu.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// For the simulation.
    Send(Command),
    /// Show a layer, or hide it.
    Switch(usize),
    /// Place the scene in front of the user again.
    Recentre,
    /// Close the menu.
    Close,
    /// End the session.
    Quit,
}

/// What was chosen, and where the buttons are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MenuState {
    /// What was chosen.
    pub wishes: Vec<Wish>,
    /// Labels of the buttons, with the pixels of their centres.
    pub places: Vec<(String, [f64; 2])>,
}

impl MenuState {
    /// Adds a button; true if it was clicked.
    fn button(&mut self, ui: &mut Ui, label: &str, is_on: bool) -> bool {
        let button = kiss3d::egui::Button::new(text(label));
        let response = ui.add(if is_on { button.fill(CHOSEN) } else { button });
        let at = response.rect.center();
        self.places.push((label.into(), [f64::from(at.x), f64::from(at.y)]));
        response.clicked()
    }
}

/// Draws the menu with the place that something points at. `cost`: recent own work and duration of a frame, s.
pub fn show(context: &Context, report: &Report, layers: &Layers, cost: [f64; 2], mark: Option<Mark>) -> MenuState {
    let mut shown = MenuState::default();
    let size = vec2(MENU_PIXELS.0 as f32, MENU_PIXELS.1 as f32);
    sheet(context, "menu", Rect::from_min_size(pos2(0.0, 0.0), size), |ui| {
        rows(ui, report, layers, cost, &mut shown);
    });
    if let Some(mark) = mark {
        let painter = context.layer_painter(kiss3d::egui::LayerId::new(Order::Foreground, Id::new("mark")));
        let colour = if mark.is_pressed { MENU_BAD } else { Color32::from_rgb(40, 95, 160) };
        let at = pos2(mark.at[0] as f32, mark.at[1] as f32);
        painter.circle(at, if mark.is_pressed { 7.0 } else { 10.0 }, colour, Stroke::new(2.0, Color32::WHITE));
    }
    shown
}

fn rows(ui: &mut Ui, report: &Report, layers: &Layers, cost: [f64; 2], shown: &mut MenuState) {
    ui.spacing_mut().button_padding = vec2(14.0, 9.0);
    ui.spacing_mut().item_spacing = vec2(9.0, 9.0);
    let name = report.name.rsplit(['/', '\\']).next().unwrap_or_default();
    ui.label(RichText::new(name).size(27.0).strong().color(MENU_INK));
    ui.label(text(&state(report)));
    let [work, whole] = cost.map(|seconds| 1e3 * seconds);
    ui.label(
        RichText::new(format!("a frame takes {whole:.1} ms, {work:.1} ms of it own work")).size(17.0).color(MENU_INK),
    );
    ui.horizontal(|ui| {
        for (label, command) in [
            ("Previous", Command::Next(-1)),
            ("Next scene", Command::Next(1)),
            ("Restart", Command::Restart),
            (if report.paused { "Continue" } else { "Pause" }, Command::Pause),
        ] {
            if shown.button(ui, label, false) {
                shown.wishes.push(Wish::Send(command));
            }
        }
    });
    choice(ui, "Contact", "method", &METHOD_NAMES, report.laws[0], shown);
    let laws = FrictionModel::ALL.map(FrictionModel::name);
    choice(ui, "Friction", "friction", &laws, report.laws[1], shown);
    ui.label(text("Show"));
    ui.horizontal_wrapped(|ui| {
        for (number, (name, switch)) in Layers::SWITCHES.iter().enumerate() {
            let is_shown = *switch(&mut layers.clone());
            if shown.button(ui, &name.replace('-', " "), is_shown) {
                shown.wishes.push(Wish::Switch(number));
            }
        }
    });
    for device in &report.devices {
        let colour = if device.is_good { MENU_GOOD } else { MENU_BAD };
        ui.label(RichText::new(format!("{}: {}", device.name, device.state)).size(17.0).color(colour));
    }
    ui.separator();
    ui.horizontal(|ui| {
        if shown.button(ui, "Recentre", false) {
            shown.wishes.push(Wish::Recentre);
        }
        let is_recording = report.recording.is_some();
        if shown.button(ui, if is_recording { "Stop recording" } else { "Record" }, is_recording) {
            shown.wishes.push(Wish::Send(Command::Record(!is_recording)));
        }
        if shown.button(ui, "Close", false) {
            shown.wishes.push(Wish::Close);
        }
        if shown.button(ui, "Quit", false) {
            shown.wishes.push(Wish::Quit);
        }
    });
    let last = report.error.as_deref().and_then(|error| error.lines().next()).map(|error| (error, MENU_BAD));
    let recording = report.recording.as_deref().map(|file| (file, MENU_INK));
    if let Some((line, colour)) = last.or(recording) {
        ui.label(RichText::new(line).size(17.0).color(colour));
    }
}

/// One of several values of a setting.
fn choice(ui: &mut Ui, label: &str, key: &str, values: &[&str], now: &str, shown: &mut MenuState) {
    ui.horizontal(|ui| {
        ui.label(text(label));
        for value in values {
            if shown.button(ui, value, *value == now) && *value != now {
                shown.wishes.push(Wish::Send(Command::Set(Setting::new(key, *value))));
            }
        }
    });
}

fn text(words: &str) -> RichText {
    RichText::new(words).size(TEXT).color(MENU_INK)
}

/// One line about the run.
fn state(report: &Report) -> String {
    let speed = match (report.over, report.paused) {
        (true, _) => "ended".into(),
        (_, true) => "paused".into(),
        _ => format!("{:.0} % of real time", 100.0 * report.reached),
    };
    let phase = report.phase.as_ref().map_or_else(String::new, |phase| format!(", phase: {phase}"));
    format!("{:.1} s, {speed}{phase}", report.frame.time)
}

/// The sign in the scene: advice, phase, result or error. `None` if there is nothing to say.
pub fn sign(report: &Report, advice: Option<&str>) -> Option<(String, Vec<String>, Option<bool>)> {
    if let Some(advice) = advice {
        return Some(("Calibration".into(), vec![advice.into()], None));
    }
    if let Some(error) = &report.error {
        return Some(("stopped by an error".into(), error.lines().take(3).map(String::from).collect(), Some(false)));
    }
    if let Some(card) = report.card.as_ref().filter(|card| card.success.is_some()) {
        let word = if card.success == Some(true) { "succeeded" } else { "failed" };
        let mut lines = vec![card.reason.clone()];
        lines.extend(card.lines.iter().take(2).map(|(name, value)| format!("{name}: {value}")));
        return Some((format!("{} {word}", card.title), lines, card.success));
    }
    let phase = report.phase.as_ref()?;
    let lines = report.messages.last().cloned().into_iter().collect();
    Some((phase.clone(), lines, None))
}

/// Draws the sign.
pub fn show_sign(context: &Context, (title, lines, success): &(String, Vec<String>, Option<bool>)) {
    let colour = match success {
        Some(true) => MENU_GOOD,
        Some(false) => MENU_BAD,
        None => MENU_INK,
    };
    let size = vec2(SIGN.0 as f32, SIGN.1 as f32);
    sheet(context, "sign", Rect::from_min_size(pos2(0.0, 0.0), size), |ui| {
        ui.label(RichText::new(title).size(34.0).strong().color(colour));
        for line in lines {
            ui.label(RichText::new(line).size(22.0).color(MENU_INK));
        }
    });
}

/// An opaque sheet at a position; overflow is clipped.
fn sheet(context: &Context, name: &'static str, at: Rect, content: impl FnOnce(&mut Ui)) {
    context.set_visuals(kiss3d::egui::Visuals::light());
    let area = Area::new(Id::new(name)).order(Order::Middle).fixed_pos(at.min).constrain(false).movable(false);
    area.show(context, |ui| {
        ui.set_clip_rect(at);
        ui.painter().rect(at, CornerRadius::same(14), MENU_GROUND, Stroke::new(3.0, MENU_LINE), StrokeKind::Inside);
        let mut inner = ui.new_child(UiBuilder::new().max_rect(at.shrink(18.0)));
        inner.set_clip_rect(at.shrink(3.0));
        content(&mut inner);
        ui.allocate_rect(at, kiss3d::egui::Sense::hover());
    });
}

#[cfg(test)]
mod tests {
    use kiss3d::egui::RawInput;

    use super::*;
    use crate::viewer::headset::panel::Pointer;

    /// The menu without a graphics card.
    struct Bench {
        context: Context,
        pointer: Pointer,
        report: Report,
        places: Vec<(String, [f64; 2])>,
    }

    impl Bench {
        fn new() -> Self {
            let report = Report { laws: ["aggregate", "exact", "nonuniform"], ..Report::default() };
            Self { context: Context::default(), pointer: Pointer::default(), report, places: Vec::new() }
        }

        fn frame(&mut self, at: Option<([f64; 2], bool)>) -> Vec<Wish> {
            let mark = at.map(|(at, is_pressed)| Mark { at, is_pressed });
            let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(MENU_PIXELS.0 as f32, MENU_PIXELS.1 as f32));
            let events = self.pointer.follow(mark);
            self.context.begin_pass(RawInput { screen_rect: Some(screen), events, ..RawInput::default() });
            let shown = show(&self.context, &self.report, &Layers::default(), [2e-3, 11e-3], mark);
            self.context.end_pass().textures_delta.clear();
            self.places = shown.places;
            shown.wishes
        }

        /// Presses and releases at a pixel.
        fn click(&mut self, at: [f64; 2]) -> Vec<Wish> {
            self.frame(None);
            let steps = [Some((at, false)), Some((at, false)), Some((at, true)), Some((at, false)), Some((at, false))];
            steps.into_iter().flat_map(|step| self.frame(step)).collect()
        }
    }

    /// Every button is inside the menu, can be clicked, and triggers its action.
    #[test]
    fn every_button_can_be_clicked() {
        let mut bench = Bench::new();
        bench.frame(None);
        bench.frame(None);
        let mut all: Vec<Wish> = Vec::new();
        for (label, at) in bench.places.clone() {
            let inside = at[0] < f64::from(MENU_PIXELS.0) - 20.0 && at[1] < f64::from(MENU_PIXELS.1) - 20.0;
            assert!(inside, "{label} is at {at:?}");
            all.extend(bench.click(at));
        }
        let set = |key: &str, value: &str| Wish::Send(Command::Set(Setting::new(key, value)));
        let mut expected = vec![Wish::Recentre, Wish::Close, Wish::Quit, set("method", "point")];
        let commands = [Command::Next(-1), Command::Next(1), Command::Restart, Command::Pause, Command::Record(true)];
        expected.extend(commands.map(Wish::Send));
        let others = FrictionModel::ALL.map(FrictionModel::name);
        expected.extend(others.iter().filter(|name| **name != "exact").map(|name| set("friction", name)));
        expected.extend((0..Layers::SWITCHES.len()).map(Wish::Switch));
        let missing: Vec<_> = expected.iter().filter(|wish| !all.contains(wish)).collect();
        let others: Vec<_> = all.iter().filter(|wish| !expected.contains(wish)).collect();
        assert!(missing.is_empty() && others.is_empty(), "missing {missing:?}, unexpected {others:?}");
        assert!(bench.click([5.0, 5.0]).is_empty(), "there is no button in the corner");
    }

    #[test]
    fn the_sign_says_phase_result_or_error() {
        let mut report = Report::default();
        assert_eq!(sign(&report, None), None);
        report.phase = Some("lift".into());
        assert_eq!(sign(&report, None).map(|sign| sign.0), Some("lift".into()));
        let card = crate::viewer::window::Card { title: "pick up".into(), success: Some(true), ..Default::default() };
        report.card = Some(card);
        assert_eq!(
            sign(&report, None).map(|(title, _, success)| (title, success)),
            Some(("pick up succeeded".into(), Some(true)))
        );
        report.error = Some("no such file\nat all".into());
        assert_eq!(sign(&report, None).map(|sign| sign.2), Some(Some(false)));
        assert_eq!(sign(&report, Some("lie still")).map(|sign| sign.1), Some(vec!["lie still".into()]));
    }
}
