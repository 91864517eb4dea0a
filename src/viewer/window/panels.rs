use kiss3d::egui::{
    Align2, Area, CollapsingHeader, Color32, Context, Frame, Grid, Id, Margin, RichText, ScrollArea, Slider, Stroke, Ui,
};

use super::keys::{Act, sections};
use super::link::{Card, Command, Parameter, Report};
use super::plots::Plot;
use crate::viewer::Layers;

const GOOD: Color32 = Color32::from_rgb(20, 120, 60);
const BAD: Color32 = Color32::from_rgb(176, 28, 28);
const DARK: Color32 = Color32::from_rgb(90, 10, 10);
const FORCE: Color32 = Color32::from_rgb(190, 70, 40);
const TIME: Color32 = Color32::from_rgb(40, 95, 160);
/// Width of what is in the panel at the right, and of the part of the window that the panel takes.
const WIDTH: f32 = 262.0;
pub const SIDE: f32 = WIDTH + 44.0;

/// What is written over the scene.
#[derive(Default)]
pub struct Panels {
    /// Whether the panels are hidden.
    pub hidden: bool,
    /// Whether the list of keys is shown.
    pub help: bool,
    /// Said once, until another thing is said.
    pub note: Option<String>,
    /// The end that was seen and put away.
    put_away: Option<Card>,
    /// The parameter that is being dragged, and its value.
    dragged: Option<(String, f64)>,
    is_dressed: bool,
}

/// What the panels want.
#[derive(Default)]
pub struct Wishes {
    /// Things that keys could do too.
    pub acts: Vec<Act>,
    /// Things for the simulation.
    pub commands: Vec<Command>,
}

impl Panels {
    /// Draws them.
    pub fn show(&mut self, context: &Context, report: &Report, layers: &Layers) -> Wishes {
        if !self.is_dressed {
            self.is_dressed = true;
            dress(context);
        }
        let mut wishes = Wishes::default();
        if !self.hidden {
            self.title(context, report);
            // The list of keys needs the room.
            if !self.help {
                self.side(context, report, layers, &mut wishes);
            }
            time_bar(context, report, &mut wishes);
        }
        if let Some(error) = &report.error {
            error_panel(context, error);
        }
        self.card(context, report, &mut wishes);
        if self.help {
            self.keys(context);
        }
        wishes
    }

    fn title(&self, context: &Context, report: &Report) {
        panel(context, "title", Align2::LEFT_TOP, [12.0, 12.0], |ui| {
            ui.set_max_width(520.0);
            ui.label(RichText::new(&*report.name).strong().size(17.0));
            if let Some(phase) = &report.phase {
                ui.label(RichText::new(format!("phase: {phase}")).color(TIME).size(14.0));
            }
            for message in report.messages.iter() {
                ui.label(message);
            }
            let hint = match report.taken {
                Some(hand) => {
                    let name = report.hands.get(hand).map_or("", String::as_str);
                    format!("You drive the {name} hand: drag to move it, hold G to grasp, H to let it go")
                }
                None if !report.hands.is_empty() => "H takes the hand over, ? lists the keys".into(),
                None => "? lists the keys".into(),
            };
            ui.label(RichText::new(hint).weak());
            if let Some(note) = &self.note {
                ui.label(RichText::new(note).color(GOOD));
            }
        });
    }

    fn side(&mut self, context: &Context, report: &Report, layers: &Layers, wishes: &mut Wishes) {
        let height = context.content_rect().height() - 90.0;
        panel(context, "side", Align2::RIGHT_TOP, [-12.0, 12.0], |ui| {
            ui.set_max_width(WIDTH);
            numbers(ui, report);
            let dt = report.history.windows(2).last().map(|two| 1e3 * (two[1].time - two[0].time));
            let pressing: Vec<f64> = report.history.iter().map(|sample| sample.pressing).collect();
            let steps: Vec<f64> = report.history.iter().map(|sample| 1e3 * sample.step).collect();
            Plot { label: "normal force", unit: "N", digits: 1, colour: FORCE, mark: None }.show(ui, WIDTH, &pressing);
            Plot { label: "step", unit: "ms", digits: 2, colour: TIME, mark: dt }.show(ui, WIDTH, &steps);
            ui.add_space(2.0);
            laws(ui, report, wishes);
            // What is above stays in sight.
            let height = (height - 306.0).max(80.0);
            ScrollArea::vertical().max_height(height).min_scrolled_height(height).show(ui, |ui| {
                CollapsingHeader::new("Layers").default_open(true).show(ui, |ui| layer_boxes(ui, layers, wishes));
                CollapsingHeader::new("Parameters").default_open(true).show(ui, |ui| self.sliders(ui, report, wishes));
            });
        });
    }

    fn sliders(&mut self, ui: &mut Ui, report: &Report, wishes: &mut Wishes) {
        ui.spacing_mut().slider_width = 92.0;
        Grid::new("parameters").num_columns(2).spacing([6.0, 3.0]).show(ui, |ui| {
            for parameter in report.parameters.iter() {
                let label = RichText::new(&parameter.label).size(12.0);
                let label = ui.label(label);
                if parameter.restarts {
                    label.on_hover_text("starts again");
                }
                wishes.commands.extend(self.slider(ui, parameter));
                ui.end_row();
            }
        });
    }

    /// A change that takes a new start waits until the slider is let go.
    fn slider(&mut self, ui: &mut Ui, parameter: &Parameter) -> Option<Command> {
        let own = self.dragged.as_ref().filter(|(key, _)| *key == parameter.key);
        let mut value = own.map_or(parameter.value, |(_, value)| *value);
        let [low, high] = parameter.range;
        let slider = Slider::new(&mut value, low.min(parameter.value)..=high.max(parameter.value))
            .logarithmic(parameter.logarithmic)
            .custom_formatter(|value, _| short(value));
        let response = ui.add(slider);
        let typed = response.lost_focus() && !response.dragged();
        if response.dragged() {
            self.dragged = Some((parameter.key.clone(), value));
        }
        let let_go = response.drag_stopped() || (response.changed() && !response.dragged()) || typed;
        if let_go {
            self.dragged = None;
        }
        let wanted = if parameter.restarts { let_go } else { response.changed() };
        (wanted && value != parameter.value).then(|| Command::Set(parameter.setting(value)))
    }

    fn card(&mut self, context: &Context, report: &Report, wishes: &mut Wishes) {
        let Some(card) = report.card.as_ref().filter(|card| self.put_away.as_ref() != Some(card)) else {
            if report.card.is_none() {
                self.put_away = None;
            }
            return;
        };
        let mut close = false;
        panel(context, "card", Align2::CENTER_CENTER, [-100.0, 0.0], |ui| {
            ui.set_width(330.0);
            let (word, colour) = match card.success {
                Some(true) => ("succeeded", GOOD),
                Some(false) => ("failed", BAD),
                None => ("ended", TIME),
            };
            ui.label(RichText::new(format!("{} {word}", card.title)).strong().size(21.0).color(colour));
            ui.label(RichText::new(&card.reason).size(15.0));
            ui.add_space(6.0);
            Grid::new("card lines").num_columns(2).spacing([24.0, 3.0]).show(ui, |ui| {
                for (name, value) in &card.lines {
                    ui.label(name);
                    ui.label(RichText::new(value).monospace());
                    ui.end_row();
                }
            });
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                if ui.button("Again (R)").clicked() {
                    wishes.acts.push(Act::Restart);
                }
                close = ui.button("Look at it").clicked();
                if ui.button("Next (N)").clicked() {
                    wishes.acts.push(Act::Next(1));
                }
                if ui.button("Close (Q)").clicked() {
                    wishes.acts.push(Act::Quit);
                }
            });
        });
        if close {
            self.put_away = Some(card.clone());
        }
    }

    fn keys(&mut self, context: &Context) {
        panel(context, "keys", Align2::CENTER_CENTER, [0.0, 0.0], |ui| {
            ui.label(RichText::new("Keys").strong().size(19.0));
            let sections = sections();
            let half = 3;
            ui.horizontal_top(|ui| {
                for column in [&sections[..half], &sections[half..]] {
                    ui.vertical(|ui| {
                        for section in column {
                            ui.add_space(4.0);
                            ui.label(RichText::new(section.title).strong().color(TIME));
                            Grid::new(section.title).num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
                                for (keys, says) in &section.rows {
                                    ui.label(RichText::new(keys).strong());
                                    ui.label(says);
                                    ui.end_row();
                                }
                            });
                        }
                    });
                    ui.add_space(14.0);
                }
            });
        });
    }
}

fn numbers(ui: &mut Ui, report: &Report) {
    let (times, statistics) = (&report.times, &report.statistics);
    let state = match (report.over, report.paused) {
        (true, _) => "at its end".to_string(),
        (_, true) => "standing still".to_string(),
        _ => format!("{:.2} × real time", report.reached),
    };
    ui.horizontal(|ui| {
        ui.label(RichText::new(format!("{:.2} s", report.frame.time)).strong().monospace().size(16.0));
        ui.label(RichText::new(state).size(13.0));
        if report.speed != 1.0 {
            ui.label(RichText::new(format!("wanted {} ×", short(report.speed))).weak());
        }
    });
    let rows = [
        ("free motion", times.free, "contacts", statistics.contacts.to_string()),
        ("proximity", times.proximity, "constraints", statistics.constraints.to_string()),
        ("assembly", times.assembly, "iterations", statistics.iterations.to_string()),
        ("solve", times.solve, "groups", statistics.groups.to_string()),
        ("correction", times.correction, "deepest", format!("{:.2} mm", 1e3 * statistics.penetration)),
        ("step", times.total, "steps", report.steps.to_string()),
    ];
    Grid::new("numbers").num_columns(4).spacing([8.0, 1.0]).show(ui, |ui| {
        for (stage, seconds, name, count) in rows {
            ui.label(RichText::new(stage).size(12.0));
            ui.label(RichText::new(format!("{:6.2} ms", 1e3 * seconds)).monospace().size(12.0));
            ui.label(RichText::new(name).size(12.0));
            ui.label(RichText::new(count).monospace().size(12.0));
            ui.end_row();
        }
    });
    let mut cost = format!("window {:.1} % of a step", 100.0 * report.cost.reports);
    if let Some(drawing) = report.cost.drawing {
        cost += &format!(", while it draws × {drawing:.2}");
    }
    let hint = "time of the reports for the window over that of the steps; steps while a frame is drawn over those while none is";
    ui.label(RichText::new(cost).weak().size(12.0)).on_hover_text(hint);
}

fn laws(ui: &mut Ui, report: &Report, wishes: &mut Wishes) {
    ui.horizontal(|ui| {
        for (number, name) in report.laws.iter().enumerate() {
            let hint = ["method (M)", "friction (F)", "pressure (L)"][number];
            if ui.button(RichText::new(*name).size(12.0)).on_hover_text(hint).clicked() {
                wishes.acts.push(Act::Law(number));
            }
        }
    });
}

fn layer_boxes(ui: &mut Ui, layers: &Layers, wishes: &mut Wishes) {
    let mut copy = *layers;
    Grid::new("layers").num_columns(2).spacing([10.0, 1.0]).show(ui, |ui| {
        for (number, (name, switch)) in Layers::SWITCHES.iter().enumerate() {
            let label = RichText::new(name.replace('-', " ")).size(12.0);
            if ui.checkbox(switch(&mut copy), label).clicked() {
                wishes.acts.push(Act::Layer(number));
            }
            if number % 2 == 1 {
                ui.end_row();
            }
        }
    });
}

fn time_bar(context: &Context, report: &Report, wishes: &mut Wishes) {
    panel(context, "time", Align2::CENTER_BOTTOM, [0.0, -12.0], |ui| {
        ui.horizontal(|ui| {
            let label = if report.over {
                "⟲"
            } else if report.paused {
                "▶"
            } else {
                "⏸"
            };
            if ui.button(label).clicked() {
                wishes.acts.push(Act::Pause);
            }
            if ui.button("⏭").on_hover_text("one step (.)").clicked() {
                wishes.acts.push(Act::Step);
            }
            let Some(seconds) = report.seconds.filter(|seconds| *seconds > 0.0) else {
                ui.label(RichText::new(format!("{:.2} s", report.frame.time)).monospace());
                return;
            };
            let mut time = report.frame.time.min(seconds);
            ui.spacing_mut().slider_width = 520.0;
            let bar = ui.add(Slider::new(&mut time, 0.0..=seconds).show_value(false).trailing_fill(true));
            if bar.changed() {
                wishes.commands.push(Command::Seek(time));
            }
            ui.label(RichText::new(format!("{:.2} / {seconds:.2} s", report.frame.time)).monospace());
        });
    });
}

fn error_panel(context: &Context, error: &str) {
    let frame = Frame::NONE.fill(Color32::from_rgb(255, 236, 234)).stroke(Stroke::new(2.0, BAD));
    sheet(context, "error", Align2::CENTER_BOTTOM, [-60.0, -64.0], frame, |ui| {
        ui.set_max_width(820.0);
        ui.label(RichText::new("Something is wrong; it stands still until that is mended").strong().color(BAD));
        let lines: Vec<&str> = error.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            match (caret(line), lines.get(number + 1).and_then(|next| caret(next))) {
                // The caret stands in the line above it, whatever the font.
                (Some(_), _) if number > 0 => {}
                (_, Some(column)) => marked(ui, line, column),
                _ => drop(ui.label(RichText::new(*line).color(DARK))),
            }
        }
    });
}

/// The column of a caret in a line that holds nothing else.
fn caret(line: &str) -> Option<usize> {
    let column = line.chars().position(|c| c == '^')?;
    let rest = line.trim().trim_start_matches('|').trim();
    (rest == "^").then_some(column)
}

/// A line with one character that stands out.
fn marked(ui: &mut Ui, line: &str, column: usize) {
    let part = |skip: usize, take: usize| line.chars().skip(skip).take(take).collect::<String>();
    let place = Some(part(column, 1)).filter(|place| !place.is_empty()).unwrap_or_else(|| "^".into());
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.label(RichText::new(part(0, column)).color(DARK));
        ui.label(RichText::new(place).color(Color32::WHITE).background_color(BAD).underline());
        ui.label(RichText::new(part(column + 1, usize::MAX)).color(DARK));
    });
}

/// A light sheet that is as large as what is on it.
fn panel(context: &Context, name: &'static str, at: Align2, offset: [f32; 2], content: impl FnOnce(&mut Ui)) {
    let fill = Color32::from_rgba_unmultiplied(250, 250, 252, 238);
    sheet(context, name, at, offset, Frame::NONE.fill(fill), content);
}

fn sheet(
    context: &Context,
    name: &'static str,
    at: Align2,
    offset: [f32; 2],
    frame: Frame,
    content: impl FnOnce(&mut Ui),
) {
    let frame = frame.inner_margin(Margin::same(10)).corner_radius(6.0);
    Area::new(Id::new(name)).anchor(at, offset).show(context, |ui| frame.show(ui, content));
}

/// Dark text on light panels, as on paper.
fn dress(context: &Context) {
    context.set_visuals(kiss3d::egui::Visuals::light());
}

/// A number in four figures at most.
fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.1e}")
    } else if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_caret_is_found_where_it_stands_alone() {
        assert_eq!(super::caret("      | ^"), Some(8));
        assert_eq!(super::caret("      |     ^"), Some(12));
        assert_eq!(super::caret("    3 | a ^ b"), None);
        assert_eq!(super::caret("no caret"), None);
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (0.06, "0.060"), (9.81, "9.81"), (50_000.0, "50000"), (1e-9, "1.0e-9"), (1e6, "1.0e6")];
        for (value, text) in cases {
            assert_eq!(super::short(value), text);
        }
    }
}
