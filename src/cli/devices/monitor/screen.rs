//! The monitor as a full screen, by `ratatui`. It follows the size of the terminal. Neither raw mode nor the alternate screen is used and the cursor
//! stays visible, so that a program that is killed leaves the terminal as it was.

use std::io::{self, Stdout, Write};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Widget, Wrap};

use super::view::{MonitorView, degrees_about_axes};
use crate::assets::SensorMap;
use crate::cli::terminal;
use crate::devices::{SourceSample, SourceState};
use crate::tracking::{Angle, AngleKind, Finger, Side};

/// Columns of the name of a sensor, of the bar of its bend, and of all in its row but the bar of the raw value.
const NAME_COLUMNS: usize = 18;
const BEND: usize = 12;
const FIXED: usize = NAME_COLUMNS + 1 + 1 + 5 + 3 + BEND + 5;
/// Columns of the bar of a raw value, at least and at most.
const RAW_COLUMNS: (usize, usize) = (8, 64);
/// Columns from which two hands are shown side by side.
const WIDE: u16 = 150;

/// Whether to use colours: yes unless `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourChoice {
    Off,
    On,
}

impl ColourChoice {
    /// By the environment.
    pub fn wanted() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted { Self::On } else { Self::Off }
    }

    fn of(self, colour: Color) -> Style {
        if self == Self::On { Style::new().fg(colour) } else { Style::new() }
    }

    fn dim(self) -> Style {
        if self == Self::On { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// The terminal of stdout.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    colours: ColourChoice,
}

impl Screen {
    /// Starts with an empty screen.
    pub fn begin() -> io::Result<Self> {
        let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        terminal.clear()?;
        Ok(Self { terminal, colours: ColourChoice::wanted() })
    }

    /// Draws a frame, at the present size of the terminal.
    pub fn draw(&mut self, view: &MonitorView<'_>) -> io::Result<()> {
        let colours = self.colours;
        let drawn = self.terminal.draw(|frame| {
            let area = frame.area();
            view.render(area, frame.buffer_mut(), colours);
            // A position keeps the cursor visible.
            frame.set_cursor_position(Position::new(0, area.bottom().saturating_sub(1)));
        });
        drawn.map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The shell continues below the last frame. A failure cannot be reported any more.
        let _ = writeln!(io::stdout());
    }
}

fn span(text: impl AsRef<str>, style: Style) -> Span<'static> {
    Span::styled(terminal::plain(text.as_ref()).into_owned(), style)
}

impl MonitorView<'_> {
    /// Draws everything into an area: the device, its hands, a line of help.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, colours: ColourChoice) {
        let head = self.head(colours);
        // Long lines of the head are wrapped: an error must be read to its end.
        let inside = usize::from(area.width.saturating_sub(2)).max(1);
        let rows: usize = head.iter().map(|line| line.width().div_ceil(inside).max(1)).sum();
        let parts = [Constraint::Length(rows as u16 + 2), Constraint::Fill(1), Constraint::Length(1)];
        let [top, middle, bottom] = Layout::vertical(parts).areas(area);
        let title = Line::from(vec![span(&self.profile.name, BOLD), span(self.user(), Style::new())]);
        Paragraph::new(head).wrap(Wrap { trim: true }).block(Block::bordered().title(title)).render(top, buffer);
        let mut help = String::from("Ctrl-C ends");
        let hidden = self.render_hands(middle, buffer, colours);
        if hidden > 0 {
            help += &format!("   {hidden} lines are hidden: the terminal is too low");
        }
        Line::from(span(help, colours.dim())).render(bottom, buffer);
    }

    fn user(&self) -> String {
        self.profile.user.as_ref().map_or(String::new(), |user| format!(" of {user}"))
    }

    /// Port, state, errors and hint.
    fn head(&self, colours: ColourChoice) -> Vec<Line<'static>> {
        let state = match self.state {
            SourceState::Streaming => Color::Green,
            SourceState::Lost(_) => Color::Red,
            _ => Color::Yellow,
        };
        let port = &self.statistics.port;
        let opened = self.statistics.opened;
        let opened = if opened > 1 { format!(", opened {opened} times") } else { String::new() };
        let mut lines = Vec::new();
        if !port.is_empty() {
            lines.push(Line::from(span(format!("{port}{opened}"), colours.dim())));
        }
        let state = span(self.state.to_string(), colours.of(state));
        lines.push(Line::from(vec![state, span(format!("   {}", self.pace()), Style::new())]));
        let decode = &self.statistics.decode;
        let is_clean = decode.bad_checksums == 0 && decode.resynchronisations == 0;
        if decode.bytes > 0 {
            let style = if is_clean { colours.dim() } else { colours.of(Color::Yellow) };
            lines.push(Line::from(span(self.errors(), style)));
        }
        lines.extend(self.statistics.hint.iter().map(|hint| Line::from(span(hint, colours.of(Color::Yellow)))));
        lines
    }

    /// Draws the connected hands, side by side if there is room; returns the number of lines that did not fit.
    fn render_hands(&self, area: Rect, buffer: &mut Buffer, colours: ColourChoice) -> usize {
        let hands: Vec<_> = [Side::Left, Side::Right]
            .into_iter()
            .zip(self.newest)
            .filter_map(|(side, sample)| Some((side, sample.as_ref()?)))
            .collect();
        let beside = hands.len() == 2 && area.width >= WIDE;
        let width = if beside { area.width / 2 } else { area.width };
        let lines: Vec<_> =
            hands.iter().map(|(_, sample)| self.hand(sample, width.saturating_sub(2).into(), colours)).collect();
        let areas = if beside {
            Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).split(area)
        } else {
            Layout::vertical(lines.iter().map(|lines| Constraint::Length(lines.len() as u16 + 2))).split(area)
        };
        let mut hidden = 0;
        for (((side, _), lines), area) in hands.iter().zip(lines).zip(areas.iter()) {
            hidden += lines.len().saturating_sub(area.height.saturating_sub(2).into());
            let title = span(format!("{} hand", side.name()), BOLD);
            Paragraph::new(lines).block(Block::bordered().title(title)).render(*area, buffer);
        }
        hidden
    }

    fn hand(&self, sample: &SourceSample, width: usize, colours: ColourChoice) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> =
            self.place(sample).into_iter().map(|text| Line::from(span(text, Style::new()))).collect();
        let raw = width.saturating_sub(FIXED).clamp(RAW_COLUMNS.0, RAW_COLUMNS.1);
        if !sample.flex.is_empty() {
            let head =
                format!("{:<NAME_COLUMNS$} {:<raw$} {:>5}   {:<BEND$}", "sensor", "raw (0 flat, 1 fist)", "", "bend");
            lines.push(Line::from(span(head, colours.dim())));
        }
        for (sensor, value) in sample.flex.iter() {
            let map = self.profile.sensors.iter().find(|map| map.sensor == sensor);
            let mut spans = vec![
                span(format!("{:<NAME_COLUMNS$} ", sensor.name()), Style::new()),
                span(raw_bar(value, map, raw), colours.of(Color::Cyan)),
                span(format!(" {value:5.3}   "), Style::new()),
            ];
            match sample.bends.get(sensor) {
                Some(bend) => {
                    spans.push(span(bar(bend, BEND), colours.of(Color::Green)));
                    spans.push(span(format!(" {bend:4.2}"), Style::new()));
                }
                None => spans.push(span("not in the profile", colours.of(Color::Yellow))),
            }
            lines.push(Line::from(spans));
        }
        if sample.has_angles() {
            let head = format!("{:<10} {:>8} {:>8} {:>8} {:>8}", "joints", "base", "side", "middle", "tip");
            lines.push(Line::from(span(head, colours.dim())));
            for finger in Finger::ALL {
                let degrees = |kind: AngleKind| match sample.angles[Angle { finger, kind }.index()] {
                    Some(angle) => format!("{:>7.1}°", angle.to_degrees()),
                    None => format!("{:>8}", "–"),
                };
                let text = format!("{:<10} {}", finger.name(), AngleKind::ALL.map(degrees).join(" "));
                lines.push(Line::from(span(text, Style::new())));
            }
        }
        lines
    }

    /// Position, orientation, size and buttons, a line each.
    fn place(&self, sample: &SourceSample) -> Vec<String> {
        let position = sample.position.map(|p| format!("position {:7.3} {:7.3} {:7.3} m", p.x, p.y, p.z));
        let turned = sample.orientation.map(|turn| {
            let [x, y, z] = degrees_about_axes(turn);
            format!("turned   {x:7.1} {y:7.1} {z:7.1}° about x, y, z")
        });
        let length = sample.hand_length.map(|length| format!("length   {:7.0} mm", 1e3 * length));
        let buttons = (!self.buttons.is_empty()).then(|| format!("buttons  {}", self.buttons.join(" ")));
        [position, turned, length, buttons].into_iter().flatten().collect()
    }
}

/// A bar from 0 to 1.
fn bar(value: f64, width: usize) -> String {
    let filled = (value.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("{}{}", "█".repeat(filled), "·".repeat(width - filled))
}

/// A bar with marks at the values of the flat hand and of the fist.
fn raw_bar(raw: f64, map: Option<&SensorMap>, width: usize) -> String {
    let mut cells: Vec<char> = bar(raw, width).chars().collect();
    if let Some(map) = map {
        let cell = |value: f64| ((value.clamp(0.0, 1.0) * width as f64) as usize).min(width - 1);
        cells[cell(map.fist)] = '1';
        cells[cell(map.flat)] = '0';
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::assets::{builtin_device_file, load_device};
    use crate::cli::devices::monitor::meter::Meter;
    use crate::devices::SourceStatistics;
    use crate::math::{Quat, Vec3};
    use crate::protocol::{DecodeStatistics, FlexReading, Sensor};

    #[test]
    fn bars_show_values_and_marks() {
        assert_eq!(bar(0.5, 4), "██··");
        assert_eq!(bar(-1.0, 4), "····");
        assert_eq!(bar(7.0, 4), "████");
        let file = builtin_device_file("5dt-5").expect("a profile");
        let map = &load_device(&file).expect("a sound one").sensors[0];
        let bar = raw_bar(0.5, Some(map), 32);
        assert_eq!(bar, "██████0█████████·········1······");
        // A sensor whose value falls with the bend.
        let falling = SensorMap { flat: 1.0, fist: 0.0, ..map.clone() };
        assert!(raw_bar(0.5, Some(&falling), 32).starts_with('1') && raw_bar(0.5, Some(&falling), 32).ends_with('0'));
    }

    /// What a terminal of a size shows.
    fn drawn(view: &MonitorView<'_>, columns: u16, rows: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        view.render(buffer.area, &mut buffer, ColourChoice::On);
        let row = |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol().to_string()).collect::<String>();
        (0..rows).map(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn everything_is_on_the_screen() {
        let mut profile = load_device(&builtin_device_file("5dt-5").expect("a profile")).expect("a sound one");
        profile.user = Some("ada".into());
        let index = Sensor::Curl(Finger::Index);
        let mut sample = SourceSample::new(1.98, Side::Right);
        sample.flex = FlexReading::of([(index, 0.5)]);
        sample.bends = FlexReading::of([(index, 0.25)]);
        sample.angles[Angle { finger: Finger::Index, kind: AngleKind::BaseFlexion }.index()] = Some(0.5);
        sample.position = Some(Vec3::new(0.1, 1.2, -0.3));
        sample.orientation = Some(Quat::identity());
        let mut meter = Meter::default();
        (0..100).for_each(|i| meter.take(Side::Right, 0.99 + 0.01 * f64::from(i)));
        let decode =
            DecodeStatistics { bytes: 900, packets: 99, bad_checksums: 1, skipped_bytes: 9, resynchronisations: 1 };
        let hint = Some("the speed is wrong".to_string());
        let view = MonitorView {
            profile: &profile,
            now: 2.0,
            state: SourceState::Streaming,
            states: [SourceState::Connected, SourceState::Streaming],
            statistics: SourceStatistics { decode, hint, opened: 2, port: "/dev/ttyUSB0".into() },
            meter: &meter,
            newest: &[None, Some(sample)],
            buttons: &["grab".into()],
        };
        let text = drawn(&view, 100, 30);
        for words in [
            "5DT Data Glove 5 of ada",
            "/dev/ttyUSB0, opened 2 times",
            "streaming   100.0 Hz   jitter 0.0 ms   age 20 ms",
            "packets 99   bad checksums 1   skipped bytes 9   resynchronised 1",
            "the speed is wrong",
            "right hand",
            "position   0.100   1.200  -0.300 m",
            "turned       0.0     0.0     0.0°",
            "buttons  grab",
            "0.500   ███········· 0.25",
            "index         28.6°        –",
            "Ctrl-C ends",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        // The bars follow the width; what does not fit is counted.
        assert!(drawn(&view, 60, 30).matches('█').count() < text.matches('█').count());
        assert!(drawn(&view, 60, 12).contains("lines are hidden"), "{}", drawn(&view, 60, 12));
        (0..20).for_each(|size| drop(drawn(&view, size, size)));
        let colours = |colours| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 30));
            view.render(buffer.area, &mut buffer, colours);
            buffer.content.iter().any(|cell| cell.fg == Color::Green)
        };
        assert!(colours(ColourChoice::On) && !colours(ColourChoice::Off));
        let json = view.as_json();
        assert_eq!((&json["hands"]["right"]["raw"]["index"], &json["hands"]["left"]), (&json!(0.5), &Value::Null));
        assert!(view.as_line().contains("index 0.500 0.25") && !view.as_line().contains('\n'));
    }
}
