use std::io::IsTerminal;

use super::meter::Meter;
use crate::assets::{DeviceProfile, SensorMap};
use crate::cli::terminal;
use crate::devices::{SourceSample, SourceState, SourceStatistics};
use crate::math::Quat;
use crate::tracking::{Angle, AngleKind, Finger, Side};

/// Characters of the bar of raw values and of that of bends.
const RAW: usize = 32;
const BEND: usize = 12;
/// Rows and columns of a terminal that does not say.
const SIZE: [usize; 2] = [24, 80];

/// Whether there are colours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// As the terminal of stdout and `NO_COLOR` want it.
    pub fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && std::io::stdout().is_terminal() { Self::Coloured } else { Self::Plain }
    }

    fn paint(self, code: &str, text: &str) -> String {
        let text = terminal::plain(text);
        if self == Self::Coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }
}

const GOOD: &str = "32";
const WARN: &str = "33";
const BAD: &str = "31";
const BRIGHT: &str = "1";
const DIM: &str = "2";

/// Everything there is to show.
pub struct View<'a> {
    pub profile: &'a DeviceProfile,
    pub style: Style,
    /// s since the start.
    pub now: f64,
    pub state: SourceState,
    pub states: [SourceState; 2],
    pub statistics: SourceStatistics,
    pub meter: &'a Meter,
    pub newest: &'a [Option<SourceSample>; 2],
    pub buttons: &'a [String],
}

/// The terminal, drawn again and again in the same place. Nothing is changed in it that would outlast the program.
pub struct Screen {
    rows: usize,
    columns: usize,
}

impl Screen {
    /// Begins with an empty one.
    pub fn open() -> Self {
        let [rows, columns] = size().unwrap_or(SIZE);
        // A failure shows again when the first frame is drawn.
        let _ = terminal::put("\x1b[2J");
        Self { rows, columns }
    }

    pub fn draw(&mut self, view: &View<'_>) -> std::io::Result<()> {
        let mut lines = view.lines(self.columns);
        lines.extend([String::new(), view.style.paint(DIM, "Ctrl-C ends")]);
        let room = self.rows.saturating_sub(1).max(4);
        if lines.len() > room {
            let left = lines.len() + 1 - room;
            lines.truncate(room - 1);
            lines.push(view.style.paint(DIM, &format!("… {left} more lines; the terminal is too low")));
        }
        // Lines that are too long end at the edge and do not go on below, while the frame is written.
        let mut frame = String::from("\x1b[H\x1b[?7l");
        for line in lines {
            frame.push_str(&line);
            frame.push_str("\x1b[K\r\n");
        }
        frame.push_str("\x1b[J\x1b[?7h");
        terminal::put(&frame)
    }
}

/// The rows and columns of the terminal, as the system's `stty` says.
fn size() -> Option<[usize; 2]> {
    let output = std::process::Command::new("stty").arg("size").stdin(std::process::Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (rows, columns) = text.trim().split_once(' ')?;
    let size = [rows.parse().ok()?, columns.parse().ok()?];
    size.iter().all(|count| *count > 0).then_some(size)
}

/// An orientation as degrees about x, y and z, to a tenth. Zero has no sign for people.
pub fn degrees_about_axes(turn: Quat) -> [f64; 3] {
    let (roll, pitch, yaw) = turn.euler_angles();
    [roll, pitch, yaw].map(|angle| (10.0 * angle.to_degrees()).round() / 10.0 + 0.0)
}

/// A sentence in lines that are no longer than that, as far as its words allow.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= columns) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.into()),
        }
    }
    lines
}

impl View<'_> {
    /// How old the newest sample is, s.
    pub(super) fn age(&self) -> Option<f64> {
        self.meter.last().map(|last| (self.now - last).max(0.0))
    }

    fn state_code(&self) -> &'static str {
        match self.state {
            SourceState::Streaming => GOOD,
            SourceState::Lost(_) => BAD,
            _ => WARN,
        }
    }

    /// Rate, jitter and age in words.
    pub(super) fn pace(&self) -> String {
        let pace = self
            .meter
            .pace(self.now)
            .map_or("no rate".into(), |pace| format!("{:.1} Hz   jitter {:.1} ms", pace.rate, 1e3 * pace.jitter));
        let age = match self.age() {
            None => "no sample yet".into(),
            Some(age) if age < 1.0 => format!("age {:.0} ms", 1e3 * age),
            Some(age) => format!("age {age:.1} s"),
        };
        format!("{pace}   {age}")
    }

    pub(super) fn errors(&self) -> String {
        let decode = &self.statistics.decode;
        let (bad, skipped, lost) = (decode.bad_checksums, decode.skipped_bytes, decode.resynchronisations);
        format!("packets {}   bad checksums {bad}   skipped bytes {skipped}   lost track {lost}", decode.packets)
    }

    /// The whole screen, so wide: what is wrong is read to its end, while bars may be cut off.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let paint = |code: &str, text: &str| self.style.paint(code, text);
        let user = self.profile.user.as_ref().map_or(String::new(), |user| format!(" of {user}"));
        let port = &self.statistics.port;
        let port = if port.is_empty() { String::new() } else { format!("   {port}") };
        let opened = if self.statistics.opened > 1 {
            format!(", opened {} times", self.statistics.opened)
        } else {
            String::new()
        };
        let mut lines = vec![
            format!(
                "{}{}{}",
                paint(BRIGHT, &self.profile.name),
                terminal::plain(&user),
                paint(DIM, &format!("{port}{opened}"))
            ),
            format!("{}   {}", paint(self.state_code(), &self.state.to_string()), self.pace()),
        ];
        let errors = self.errors();
        let decode = &self.statistics.decode;
        let clean = decode.bad_checksums == 0 && decode.resynchronisations == 0;
        if decode.bytes > 0 {
            lines.push(paint(if clean { DIM } else { WARN }, &errors));
        }
        let hint = self.statistics.hint.iter().flat_map(|hint| wrapped(hint, columns));
        lines.extend(hint.map(|line| paint(WARN, &line)));
        for (side, sample) in [Side::Left, Side::Right].into_iter().zip(self.newest) {
            lines.extend(sample.iter().flat_map(|sample| self.hand(side, sample)));
        }
        lines
    }

    fn hand(&self, side: Side, sample: &SourceSample) -> Vec<String> {
        let paint = |code: &str, text: &str| self.style.paint(code, text);
        let mut lines = vec![String::new()];
        let mut about = format!("{} hand", side.name());
        if let Some(p) = sample.position {
            about += &format!("   position {:7.3} {:7.3} {:7.3} m", p.x, p.y, p.z);
        }
        if let Some(turn) = sample.orientation {
            let [x, y, z] = degrees_about_axes(turn);
            about += &format!("   turned {x:6.1} {y:6.1} {z:6.1}° about x y z");
        }
        if let Some(length) = sample.hand_length {
            about += &format!("   {:.0} mm long", 1e3 * length);
        }
        if !self.buttons.is_empty() {
            about += &format!("   buttons {}", self.buttons.join(" "));
        }
        lines.push(paint(BRIGHT, &about));
        if !sample.flex.is_empty() {
            let head = format!(
                "{:<18} {:<w$} {:>5}   {:<b$}",
                "sensor",
                "raw (0 flat, 1 fist)",
                "",
                "bend",
                w = RAW,
                b = BEND
            );
            lines.push(paint(DIM, &head));
        }
        for (sensor, raw) in sample.flex.iter() {
            let map = self.profile.sensors.iter().find(|map| map.sensor == sensor);
            let bend = sample.bends.get(sensor);
            let bend =
                bend.map_or_else(|| "not in the profile".into(), |bend| format!("{} {bend:4.2}", bar(bend, BEND)));
            lines.push(format!("{:<18} {} {raw:5.3}   {bend}", sensor.name(), raw_bar(raw, map)));
        }
        if sample.has_angles() {
            lines.push(paint(
                DIM,
                &format!("{:<10} {:>8} {:>8} {:>8} {:>8}", "joints", "base", "side", "middle", "tip"),
            ));
            for finger in Finger::ALL {
                let degrees = |kind: AngleKind| match sample.angles[Angle { finger, kind }.index()] {
                    Some(angle) => format!("{:>7.1}°", angle.to_degrees()),
                    None => format!("{:>8}", "–"),
                };
                lines.push(format!("{:<10} {}", finger.name(), AngleKind::ALL.map(degrees).join(" ")));
            }
        }
        lines
    }
}

/// A bar from 0 to 1.
fn bar(value: f64, width: usize) -> String {
    let filled = (value.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("{}{}", "█".repeat(filled), "·".repeat(width - filled))
}

/// A bar with marks where the flat hand and the fist are.
fn raw_bar(raw: f64, map: Option<&SensorMap>) -> String {
    let mut cells: Vec<char> = bar(raw, RAW).chars().collect();
    if let Some(map) = map {
        let cell = |value: f64| ((value.clamp(0.0, 1.0) * RAW as f64) as usize).min(RAW - 1);
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
    use crate::math::Vec3;
    use crate::protocol::{DecodeStatistics, FlexReading, Sensor};

    #[test]
    fn bars_show_values_and_marks() {
        assert_eq!(bar(0.5, 4), "██··");
        assert_eq!(bar(-1.0, 4), "····");
        assert_eq!(bar(7.0, 4), "████");
        let file = builtin_device_file("5dt-5").expect("a profile");
        let map = &load_device(&file).expect("a sound one").sensors[0];
        let bar = raw_bar(0.5, Some(map));
        assert_eq!(bar, "██████0█████████·········1······");
        // A sensor that falls.
        let falling = SensorMap { flat: 1.0, fist: 0.0, ..map.clone() };
        assert!(raw_bar(0.5, Some(&falling)).starts_with('1') && raw_bar(0.5, Some(&falling)).ends_with('0'));
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
        let view = View {
            profile: &profile,
            style: Style::Plain,
            now: 2.0,
            state: SourceState::Streaming,
            states: [SourceState::Connected, SourceState::Streaming],
            statistics: SourceStatistics { decode, hint, opened: 2, port: "/dev/ttyUSB0".into() },
            meter: &meter,
            newest: &[None, Some(sample)],
            buttons: &["grab".into()],
        };
        let text = view.lines(80).join("\n");
        for words in [
            "5DT Data Glove 5 of ada   /dev/ttyUSB0, opened 2 times",
            "streaming   100.0 Hz   jitter 0.0 ms   age 20 ms",
            "packets 99   bad checksums 1   skipped bytes 9   lost track 1",
            "the speed is wrong",
            "right hand   position   0.100   1.200  -0.300 m   turned    0.0    0.0    0.0°",
            "buttons grab",
            "0.500   ███········· 0.25",
            "index         28.6°        –",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert!(!text.contains('\x1b'), "no colours where none are wanted");
        let coloured = View { style: Style::Coloured, ..view };
        assert!(coloured.lines(80).join("").contains("\x1b[32mstreaming"));
        let json = coloured.as_json();
        assert_eq!((&json["hands"]["right"]["raw"]["index"], &json["hands"]["left"]), (&json!(0.5), &Value::Null));
        assert!(coloured.as_line().contains("index 0.500 0.25") && !coloured.as_line().contains('\n'));
    }
}
