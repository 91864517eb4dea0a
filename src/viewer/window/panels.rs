use kiss3d::egui::{
    Align, Align2, Area, CollapsingHeader, Color32, Context, CornerRadius, FontId, Frame, Grid, Id, Layout as Flow,
    Margin, Order, Rect, RichText, ScrollArea, Sense, Slider, Stroke, StrokeKind, TextureId, Ui, pos2, vec2,
};

use super::kept::WindowSettings;
use super::keys::{UserAction, sections};
use super::layout::{Wanted, WindowLayout};
use super::link::{Card, Command, Parameter, Report};
use super::plots::WindowPlot;
use super::show::Drawn;
use super::tree;
use crate::body::BodyId;
use crate::viewer::palette::scale;
use crate::viewer::{Layers, Legend};

pub const GOOD_COLOUR: Color32 = Color32::from_rgb(20, 120, 60);
pub const BAD_COLOUR: Color32 = Color32::from_rgb(176, 28, 28);
const DARK_COLOUR: Color32 = Color32::from_rgb(90, 10, 10);
const FORCE_COLOUR: Color32 = Color32::from_rgb(190, 70, 40);
pub const TIME: Color32 = Color32::from_rgb(40, 95, 160);
/// Opaque background of all panels.
const PANEL_COLOUR: Color32 = Color32::from_rgb(250, 250, 252);
const LINE_COLOUR: Color32 = Color32::from_rgb(205, 208, 214);

/// The panels around the scene.
#[derive(Default)]
pub struct Panels {
    /// Whether the list of keys is shown.
    pub help: bool,
    /// Shown until the next message.
    pub note: Option<String>,
    /// The selected body.
    pub selected: Option<BodyId>,
    /// The closed result card.
    put_away: Option<Card>,
    /// The parameter that is being dragged, and its value.
    dragged: Option<(String, f64)>,
    /// Rectangles of sliders and buttons, in points, by what they change.
    pub places: Vec<(String, Rect)>,
    /// Filter of the column names.
    filter: String,
    is_dressed: bool,
}

/// Requests of the panels.
#[derive(Default)]
pub struct Wishes {
    /// Actions that keys have too.
    pub acts: Vec<UserAction>,
    /// Commands for the simulation.
    pub commands: Vec<Command>,
    /// Changed settings of the window.
    pub kept: Option<WindowSettings>,
}

impl Panels {
    /// Input of the layout.
    pub fn wanted(&self, report: &Report, kept: &WindowSettings) -> Wanted {
        let error_lines = report.error.as_ref().map_or(0, |error| error.lines().count());
        Wanted { panels: kept.panels, tree: kept.shows_tree(kept.size.0), error_lines }
    }

    /// Draws them.
    pub fn show(
        &mut self,
        context: &Context,
        layout: &WindowLayout,
        scene: Option<TextureId>,
        report: &Report,
        kept: &WindowSettings,
        drawn: &Drawn,
    ) -> Wishes {
        if !self.is_dressed {
            self.is_dressed = true;
            // Dark text on light panels, as on paper.
            context.set_visuals(kiss3d::egui::Visuals::light());
        }
        let mut wishes = Wishes::default();
        self.places.clear();
        if let Some(scene) = scene {
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            context.layer_painter(kiss3d::egui::LayerId::background()).image(
                scene,
                layout.scene,
                whole,
                Color32::WHITE,
            );
        }
        if let Some(stage) = &report.stage {
            legend(context, layout.scene, &stage.legend(&kept.layers));
        }
        if let Some(at) = layout.top {
            sheet(context, "top", at, PANEL_COLOUR, |ui| self.top(ui, report, drawn, &mut wishes));
        }
        if let Some(at) = layout.left {
            sheet(context, "left", at, PANEL_COLOUR, |ui| tree::show(ui, report, &mut self.selected));
        }
        if let Some(at) = layout.right {
            sheet(context, "right", at, PANEL_COLOUR, |ui| {
                ScrollArea::vertical()
                    .auto_shrink(false)
                    .show(ui, |ui| self.right(ui, report, kept, drawn, &mut wishes));
            });
        }
        if let Some(at) = layout.bottom {
            sheet(context, "bottom", at, PANEL_COLOUR, |ui| time_bar(ui, report, &mut self.places, &mut wishes));
        }
        if let (Some(at), Some(error)) = (layout.error, &report.error) {
            let ground = Color32::from_rgb(255, 236, 234);
            sheet(context, "error", at, ground, |ui| {
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| error_lines(ui, error));
            });
        }
        if self.help {
            self.keys(context);
        }
        wishes
    }

    fn top(&self, ui: &mut Ui, report: &Report, drawn: &Drawn, wishes: &mut Wishes) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(&*report.name).strong().size(16.0));
            if let Some(phase) = &report.phase {
                ui.label(RichText::new(format!("phase: {phase}")).color(TIME));
            }
            ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                if ui.small_button("keys (?)").clicked() {
                    wishes.acts.push(UserAction::Help);
                }
                if ui.small_button("scene (O)").clicked() {
                    wishes.acts.push(UserAction::Tree);
                }
                speeds(ui, report, drawn);
            });
        });
        let hint = match (&self.note, report.messages.last(), report.taken) {
            (Some(note), _, _) => note.clone(),
            (None, _, Some(hand)) => {
                let name = report.hands.get(hand).map_or("", String::as_str);
                format!("You drive the {name} hand: drag or arrow keys move it, hold G to grasp, H releases it")
            }
            (None, Some(message), None) => message.clone(),
            (None, None, None) if !report.hands.is_empty() => "H takes over the hand, Ctrl + drag pulls objects".into(),
            _ => "Ctrl + drag pulls objects, drag rotates the view".into(),
        };
        ui.add(kiss3d::egui::Label::new(RichText::new(hint).size(12.5)).truncate());
    }

    fn right(&mut self, ui: &mut Ui, report: &Report, kept: &WindowSettings, drawn: &Drawn, wishes: &mut Wishes) {
        self.card(ui, report, wishes);
        devices(ui, report);
        numbers(ui, report);
        let dt = report.history.windows(2).last().map(|two| 1e3 * (two[1].time - two[0].time));
        let pressing: Vec<f64> = report.history.iter().map(|sample| sample.pressing).collect();
        let steps: Vec<f64> = report.history.iter().map(|sample| 1e3 * sample.step).collect();
        let width = ui.available_width();
        WindowPlot { label: "normal force", unit: "N", digits: 1, colour: FORCE_COLOUR, mark: None }
            .show(ui, width, &pressing);
        WindowPlot { label: "step time", unit: "ms", digits: 2, colour: TIME, mark: dt }.show(ui, width, &steps);
        let mut changed = kept.clone();
        self.plots(ui, report, &mut changed);
        ui.add_space(2.0);
        laws(ui, report, wishes);
        CollapsingHeader::new("Layers").default_open(true).show(ui, |ui| layer_boxes(ui, &kept.layers, wishes));
        CollapsingHeader::new("Parameters").default_open(true).show(ui, |ui| self.sliders(ui, report, wishes));
        CollapsingHeader::new("Drawing").default_open(false).show(ui, |ui| drawing(ui, report, drawn, &mut changed));
        if changed != *kept {
            wishes.kept = Some(changed);
        }
    }

    /// Plots of any column of the tables that `run --trace` writes.
    fn plots(&mut self, ui: &mut Ui, report: &Report, kept: &mut WindowSettings) {
        let width = ui.available_width();
        for trace in &report.traces {
            ui.horizontal(|ui| {
                ui.label(RichText::new(&trace.name).size(11.0));
                ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                    if ui.small_button("remove").clicked() {
                        kept.plots.retain(|name| *name != trace.name);
                    }
                });
            });
            WindowPlot { label: "", unit: &trace.unit, digits: 4, colour: GOOD_COLOUR, mark: None }.show_any(
                ui,
                width,
                &trace.values,
            );
        }
        CollapsingHeader::new("Add a plot").default_open(false).show(ui, |ui| {
            ui.add(
                kiss3d::egui::TextEdit::singleline(&mut self.filter)
                    .hint_text("part of a name, such as cube.y")
                    .desired_width(width - 40.0),
            );
            let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
            let fits = |name: &&String| words.iter().all(|word| name.to_lowercase().contains(word.as_str()));
            let new = |name: &&String| !kept.plots.contains(name);
            let chosen = report
                .columns
                .iter()
                .filter(fits)
                .filter(new)
                .take(12)
                .find(|name| ui.small_button(name.as_str()).clicked());
            kept.plots.extend(chosen.cloned());
        });
    }

    fn sliders(&mut self, ui: &mut Ui, report: &Report, wishes: &mut Wishes) {
        ui.spacing_mut().slider_width = (ui.available_width() - 180.0).clamp(50.0, 110.0);
        Grid::new("parameters").num_columns(2).spacing([6.0, 3.0]).show(ui, |ui| {
            for parameter in report.parameters.iter() {
                let label = RichText::new(&parameter.label).size(12.0);
                let label = ui.label(label);
                if parameter.restarts {
                    label.on_hover_text("restarts the scene");
                }
                wishes.commands.extend(self.slider(ui, parameter));
                ui.end_row();
            }
        });
    }

    /// A change that needs a restart waits until the slider is released.
    fn slider(&mut self, ui: &mut Ui, parameter: &Parameter) -> Option<Command> {
        let own = self.dragged.as_ref().filter(|(key, _)| *key == parameter.key);
        let mut value = own.map_or(parameter.value, |(_, value)| *value);
        let [low, high] = parameter.range;
        let slider = Slider::new(&mut value, low.min(parameter.value)..=high.max(parameter.value))
            .logarithmic(parameter.logarithmic)
            .custom_formatter(|value, _| short(value));
        let response = ui.add(slider);
        self.places.push((parameter.key.clone(), response.rect));
        let typed = response.lost_focus() && !response.dragged();
        if response.dragged() {
            self.dragged = Some((parameter.key.clone(), value));
        }
        let ended = response.drag_stopped() || (response.changed() && !response.dragged()) || typed;
        if ended {
            self.dragged = None;
        }
        let wanted = if parameter.restarts { ended } else { response.changed() };
        (wanted && value != parameter.value).then(|| Command::Set(parameter.setting(value)))
    }

    /// The result, beside the scene.
    fn card(&mut self, ui: &mut Ui, report: &Report, wishes: &mut Wishes) {
        let Some(card) = report.card.as_ref().filter(|card| self.put_away.as_ref() != Some(card)) else {
            if report.card.is_none() {
                self.put_away = None;
            }
            return;
        };
        let (word, colour) = match card.success {
            Some(true) => ("succeeded", GOOD_COLOUR),
            Some(false) => ("failed", BAD_COLOUR),
            None => ("ended", TIME),
        };
        let frame = Frame::NONE.fill(Color32::WHITE).stroke(Stroke::new(1.5, colour)).inner_margin(Margin::same(7));
        frame.corner_radius(5.0).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new(format!("{} {word}", card.title)).strong().size(17.0).color(colour));
            ui.label(RichText::new(&card.reason).size(13.0));
            Grid::new("card lines").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
                for (name, value) in &card.lines {
                    ui.label(RichText::new(name).size(12.0));
                    ui.label(RichText::new(value).monospace().size(12.0));
                    ui.end_row();
                }
            });
            ui.horizontal_wrapped(|ui| {
                if ui.button("Restart (R)").clicked() {
                    wishes.acts.push(UserAction::Restart);
                }
                if ui.button("Next (N)").clicked() {
                    wishes.acts.push(UserAction::Next(1));
                }
                if ui.button("Dismiss").clicked() {
                    self.put_away = Some(card.clone());
                }
            });
        });
        ui.add_space(4.0);
    }

    fn keys(&mut self, context: &Context) {
        let screen = context.content_rect();
        let at = screen.shrink2(vec2((0.5 * (screen.width() - 980.0)).max(12.0), 12.0));
        let rows = |ui: &mut Ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new("Keys and mouse").strong().size(19.0));
                ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                    self.help &= !ui.button("close (Esc)").clicked();
                });
            });
            ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                for section in sections() {
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
        };
        over(context, "keys", at, PANEL_COLOUR, rows);
    }
}

/// Frame rate and speed of the simulation.
fn speeds(ui: &mut Ui, report: &Report, drawn: &Drawn) {
    let rate = if drawn.period > 0.0 { 1.0 / drawn.period } else { 0.0 };
    let (speed, colour) = match (report.over, report.paused) {
        (true, _) => ("ended".into(), TIME),
        (_, true) => ("paused".into(), TIME),
        _ if report.reached < 0.9 * report.speed => {
            (format!("simulation at {:.0} % of real time (slow)", 100.0 * report.reached), BAD_COLOUR)
        }
        _ if report.speed == 1.0 => ("simulation in real time".into(), GOOD_COLOUR),
        _ => (format!("simulation at {} × real time", short(report.speed)), GOOD_COLOUR),
    };
    ui.label(RichText::new(speed).size(12.5).color(colour));
    ui.label(RichText::new(format!("{rate:.0} frames/s")).size(12.5));
}

fn numbers(ui: &mut Ui, report: &Report) {
    let (times, statistics) = (&report.times, &report.statistics);
    let counts = [
        ("contacts", statistics.contacts.to_string()),
        ("constraints", statistics.constraints.to_string()),
        ("iterations", statistics.iterations.to_string()),
        ("residual", format!("{:.0e}", statistics.residual)),
        ("groups", statistics.groups.to_string()),
        ("not converged", statistics.unconverged.to_string()),
        ("penetration", format!("{:.2} mm", 1e3 * statistics.penetration)),
        ("steps", report.steps.to_string()),
    ];
    // The stages that the method has.
    let mut stages = times.named().filter(|(_, seconds)| *seconds > 0.0).chain([("step", times.total)]);
    let small = |ui: &mut Ui, text: &str| ui.label(RichText::new(text).size(11.5));
    let number = |ui: &mut Ui, text: String| ui.label(RichText::new(text).monospace().size(11.5));
    Grid::new("numbers").num_columns(4).spacing([6.0, 1.0]).show(ui, |ui| {
        for (name, count) in counts {
            let stage = stages.next();
            small(ui, stage.map_or("", |(stage, _)| stage));
            number(ui, stage.map_or(String::new(), |(_, seconds)| format!("{:.2} ms", 1e3 * seconds)));
            small(ui, name);
            number(ui, count);
            ui.end_row();
        }
    });
}

/// Devices and their states.
fn devices(ui: &mut Ui, report: &Report) {
    for device in &report.devices {
        let colour = if device.is_good { GOOD_COLOUR } else { BAD_COLOUR };
        ui.label(
            RichText::new(format!("{}: {}, {:.0} samples/s", device.name, device.state, device.rate))
                .color(colour)
                .size(12.5),
        );
    }
}

/// Cost of drawing, and its settings.
fn drawing(ui: &mut Ui, report: &Report, drawn: &Drawn, kept: &mut WindowSettings) {
    let adapter = if drawn.in_software { "software" } else { "graphics card" };
    ui.label(RichText::new(format!("{adapter}, {:.0} % of the resolution", 100.0 * drawn.scale)).size(12.0));
    ui.checkbox(&mut kept.adapts, RichText::new("lower resolution when frames are slow").size(12.0));
    Grid::new("parts").num_columns(2).spacing([8.0, 1.0]).show(ui, |ui| {
        for (name, seconds) in &drawn.parts {
            ui.label(RichText::new(*name).size(11.5));
            ui.label(RichText::new(format!("{:.1} ms", 1e3 * seconds)).monospace().size(11.5));
            ui.end_row();
        }
    });
    let mut cost = format!("reports: {:.1} % of the step time", 100.0 * report.cost.reports);
    if let Some(ratio) = report.cost.drawing {
        cost += &format!("; a step takes {ratio:.2} times as long while a frame is drawn");
    }
    ui.label(RichText::new(cost).size(11.5));
    if ui.button("Reset the window settings").clicked() {
        *kept = WindowSettings { size: kept.size, ..WindowSettings::default() };
    }
}

fn laws(ui: &mut Ui, report: &Report, wishes: &mut Wishes) {
    ui.horizontal(|ui| {
        for (number, name) in report.laws.iter().enumerate() {
            let hint = ["method (M)", "friction (F)", "pressure (L)"][number];
            if ui.button(RichText::new(*name).size(12.0)).on_hover_text(hint).clicked() {
                wishes.acts.push(UserAction::Law(number));
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
                wishes.acts.push(UserAction::Layer(number));
            }
            if number % 2 == 1 {
                ui.end_row();
            }
        }
    });
}

/// Legend in the lower left corner of the scene.
fn legend(context: &Context, scene: Rect, legend: &Legend) {
    if legend.keys.is_empty() && legend.full_pressure.is_none() {
        return;
    }
    let at = scene.left_bottom() + vec2(8.0, -8.0);
    let area = Area::new(Id::new("legend")).order(Order::Middle).interactable(false);
    area.pivot(Align2::LEFT_BOTTOM).fixed_pos(at).show(context, |ui| {
        let frame = Frame::NONE.fill(PANEL_COLOUR).stroke(Stroke::new(1.0, LINE_COLOUR)).inner_margin(Margin::same(6));
        frame.corner_radius(4.0).show(ui, |ui| {
            if let Some(full) = legend.full_pressure {
                pressure_scale(ui, full);
            }
            for (colour, text) in &legend.keys {
                ui.horizontal(|ui| {
                    let (response, painter) = ui.allocate_painter(vec2(11.0, 11.0), Sense::hover());
                    painter.rect_filled(response.rect, 2.0, screen_colour(*colour));
                    ui.label(RichText::new(text).size(11.5));
                });
            }
        });
    });
}

/// The colours of pressure from none to the end of the scale.
fn pressure_scale(ui: &mut Ui, full: f64) {
    const WIDTH: f32 = 150.0;
    ui.label(RichText::new("pressure on the skin, kPa").size(11.5));
    let (response, painter) = ui.allocate_painter(vec2(WIDTH + 16.0, 26.0), Sense::hover());
    let bar = Rect::from_min_size(response.rect.min + vec2(6.0, 0.0), vec2(WIDTH, 11.0));
    for column in 0..WIDTH as usize {
        let left = bar.left() + column as f32;
        let cell = Rect::from_min_size(pos2(left, bar.top()), vec2(1.5, bar.height()));
        painter.rect_filled(cell, 0.0, screen_colour(scale(column as f32 / (WIDTH - 1.0))));
    }
    painter.rect_stroke(bar, CornerRadius::ZERO, Stroke::new(1.0, Color32::DARK_GRAY), StrokeKind::Outside);
    for step in 0..=4u8 {
        let part = f64::from(step) / 4.0;
        let at = pos2(bar.left() + WIDTH * part as f32, bar.bottom() + 2.0);
        let text = short_number(1e-3 * full * part);
        painter.text(at, Align2::CENTER_TOP, text, FontId::proportional(10.5), Color32::BLACK);
    }
}

fn screen_colour(colour: [f32; 3]) -> Color32 {
    let [r, g, b] = colour.map(|c| (255.0 * c.clamp(0.0, 1.0)) as u8);
    Color32::from_rgb(r, g, b)
}

fn short_number(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn time_bar(ui: &mut Ui, report: &Report, places: &mut Vec<(String, Rect)>, wishes: &mut Wishes) {
    ui.horizontal(|ui| {
        let (label, hint) = if report.over {
            ("⟲", "restart (Space)")
        } else if report.paused {
            ("▶", "continue (Space)")
        } else {
            ("⏸", "pause (Space)")
        };
        if ui.button(label).on_hover_text(hint).clicked() {
            wishes.acts.push(UserAction::Pause);
        }
        if ui.button("⏭").on_hover_text("one step (.)").clicked() {
            wishes.acts.push(UserAction::Step);
        }
        let Some(seconds) = report.seconds.filter(|seconds| *seconds > 0.0) else {
            ui.label(RichText::new(format!("{:.2} s", report.frame.time)).monospace());
            return;
        };
        let mut time = report.frame.time.min(seconds);
        ui.spacing_mut().slider_width = (ui.available_width() - 130.0).max(40.0);
        let bar = ui.add(Slider::new(&mut time, 0.0..=seconds).show_value(false).trailing_fill(true));
        places.push(("time".into(), bar.rect));
        // egui sliders ignore a click that starts and ends within one frame.
        let clicked = ui.input(|input| input.pointer.interact_pos().filter(|_| input.pointer.primary_clicked()));
        let clicked = clicked.filter(|at| bar.rect.contains(*at) && !bar.changed() && !bar.drag_stopped());
        if let Some(at) = clicked {
            let ends = bar.rect.x_range().shrink(bar.rect.height() / 2.5);
            time = seconds * f64::from(((at.x - ends.min) / ends.span()).clamp(0.0, 1.0));
        }
        if bar.changed() || clicked.is_some() {
            wishes.commands.push(Command::Seek(time));
        }
        ui.label(RichText::new(format!("{:.2} / {seconds:.2} s", report.frame.time)).monospace());
    });
}

fn error_lines(ui: &mut Ui, error: &str) {
    ui.label(RichText::new("Stopped by an error; continues when the file is corrected").strong().color(BAD_COLOUR));
    let lines: Vec<&str> = error.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        match (caret(line), lines.get(number + 1).and_then(|next| caret(next))) {
            // The caret is shown as a highlight in the line above it, independent of the font.
            (Some(_), _) if number > 0 => {}
            (_, Some(column)) => marked(ui, line, column),
            _ => drop(ui.label(RichText::new(*line).color(DARK_COLOUR))),
        }
    }
}

/// The column of a caret on its own line.
fn caret(line: &str) -> Option<usize> {
    let column = line.chars().position(|c| c == '^')?;
    let rest = line.trim().trim_start_matches('|').trim();
    (rest == "^").then_some(column)
}

/// A line with one highlighted character.
fn marked(ui: &mut Ui, line: &str, column: usize) {
    let part = |skip: usize, take: usize| line.chars().skip(skip).take(take).collect::<String>();
    let place = Some(part(column, 1)).filter(|place| !place.is_empty()).unwrap_or_else(|| "^".into());
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.label(RichText::new(part(0, column)).color(DARK_COLOUR));
        ui.label(RichText::new(place).color(Color32::WHITE).background_color(BAD_COLOUR).underline());
        ui.label(RichText::new(part(column + 1, usize::MAX)).color(DARK_COLOUR));
    });
}

/// An opaque panel at a position; overflow is clipped.
fn sheet(context: &Context, name: &'static str, at: Rect, ground: Color32, content: impl FnOnce(&mut Ui)) {
    place(context, name, at, ground, Order::Middle, content);
}

/// The same, over the other panels.
fn over(context: &Context, name: &'static str, at: Rect, ground: Color32, content: impl FnOnce(&mut Ui)) {
    place(context, name, at, ground, Order::Foreground, content);
}

fn place(
    context: &Context,
    name: &'static str,
    at: Rect,
    ground: Color32,
    order: Order,
    content: impl FnOnce(&mut Ui),
) {
    let area = Area::new(Id::new(name)).order(order).fixed_pos(at.min).constrain(false).movable(false);
    area.sense(Sense::click_and_drag()).show(context, |ui| {
        ui.set_clip_rect(at);
        ui.painter().rect(at, CornerRadius::ZERO, ground, Stroke::new(1.0, LINE_COLOUR), StrokeKind::Inside);
        let inside = at.shrink2(vec2(8.0, 4.0));
        let mut inner = ui.new_child(kiss3d::egui::UiBuilder::new().max_rect(inside));
        inner.set_clip_rect(at.shrink(1.0));
        content(&mut inner);
        ui.allocate_rect(at, Sense::hover());
    });
}

/// A number with at most four digits.
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
    fn a_caret_line_is_detected() {
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
