use std::path::Path;

use super::profile::{
    DEFAULT_STALE, DeviceKind, DeviceProfile, FilterSettings, HapticSettings, HapticSource, Parts, PlaceSettings, Port,
    SensorMap, TrackerAnchor,
};
use super::ranges;
use crate::assets::scene_file::read_place;
use crate::assets::table::{Table, unknown};
use crate::math::Pose;
use crate::protocol::{Checksum, Format, GloveMode, Link, QuaternionOrder, Sensor, UltraSensors};
use crate::tracking::{Angle, Side};

/// Kinds without a byte protocol.
const OTHERS: [&str; 4] = ["openxr", "gamepad", "gametrak-joystick", "motion"];

pub fn profile(root: &Table<'_>, file: &Path) -> DeviceProfile {
    root.has("base");
    let side = root.has("hand").then(|| [Side::Right, Side::Left][root.choice("hand", &["right", "left"])]);
    let known = kind(root, side.unwrap_or(Side::Right));
    let sensors = sensors(root, known.as_ref());
    if side.is_none() && matches!(known, Some(DeviceKind::Wire(format)) if Sensor::all().any(|s| format.can_have(s))) {
        root.complain("hand", "missing; a glove is for one hand: `right` or `left`");
    }
    let is_known = known.is_some();
    let kind = known.unwrap_or(DeviceKind::Wire(Format::ALL[0]));
    let profile = DeviceProfile {
        name: root.text_or("name", kind.name()),
        file: file.into(),
        user: root.has("user").then(|| root.text("user")),
        side,
        port: port(root, &kind),
        baud: root.has("baud").then(|| root.count("baud", ranges::BAUD) as u32),
        latency: root.number_or("latency", 0.0, ranges::LATENCY),
        stale: root.number_or("stale", DEFAULT_STALE, ranges::STALE),
        filter: filter(root),
        tilt: root.flag_or("tilt", false),
        tracker: root.has("tracker").then(|| root.text("tracker")),
        sensors,
        place: place(root),
        haptics: haptics(root),
        kind,
    };
    if is_known {
        complain_of_what_it_cannot(root, &profile);
    }
    root.finish();
    profile
}

/// Options that the kind of device does not support are errors.
fn complain_of_what_it_cannot(root: &Table<'_>, profile: &DeviceProfile) {
    let format = if let DeviceKind::Wire(format) = profile.kind { Some(format) } else { None };
    let name = profile.kind.name();
    let complain_of = |key: &str, what: &str| root.complain(key, format!("a device of kind `{name}` {what}"));
    if profile.baud.is_some() && !format.is_some_and(|format| matches!(format.link(), Link::Serial { .. })) {
        complain_of("baud", "has no serial port");
    }
    if profile.tilt && !matches!(format, Some(Format::DataGlove5 { .. } | Format::DataGlove5Wireless { .. })) {
        complain_of("tilt", "does not measure tilt");
    }
    if profile.tracker.is_some() && format != Some(Format::Vmc) {
        complain_of("tracker", "has no trackers; only `vmc` does");
    }
    let can_be_felt = format.map_or(matches!(profile.kind, DeviceKind::OpenXr | DeviceKind::Gamepad), |format| {
        format.force_maximum().is_some()
    });
    if profile.haptics.is_some() && !can_be_felt {
        complain_of("haptics", "has no haptic output");
    }
    if profile.port != Port::Auto && matches!(profile.kind, DeviceKind::OpenXr | DeviceKind::Motion(_)) {
        complain_of(if root.has("usb") { "usb" } else { "port" }, "has no port");
    }
}

/// Kind; `None` if unknown, which has been reported.
fn kind(root: &Table<'_>, side: Side) -> Option<DeviceKind> {
    let known: Vec<&str> = Format::ALL.iter().map(Format::name).chain(OTHERS).collect();
    let name = root.text("kind");
    let checksum = || {
        let all = [Checksum::Xor, Checksum::Sum, Checksum::None];
        all[root.choice_or("checksum", 0, &["xor", "sum", "none"])]
    };
    let maximum = |key: &str, default: u16| root.count_or(key, default.into(), ranges::MAXIMUM) as u16;
    let format = match Format::named(&name) {
        Some(Format::DataGlove5 { .. }) => Format::DataGlove5 {
            side,
            checksum: checksum(),
            mode: [GloveMode::Stream, GloveMode::Report][root.choice_or("mode", 0, &["stream", "report"])],
            mark: root.flag_or("mark", false),
        },
        Some(Format::DataGlove5Wireless { .. }) => Format::DataGlove5Wireless { side, checksum: checksum() },
        Some(Format::DataGlove16 { maximum: usual, .. }) => {
            Format::DataGlove16 { side, maximum: maximum("maximum", usual) }
        }
        Some(Format::UltraUsb { .. }) => Format::UltraUsb {
            sensors: [UltraSensors::Fourteen, UltraSensors::Five][root.choice_or("sensors", 0, &["fourteen", "five"])],
        },
        Some(Format::OpenGlovesLegacy { maximum: usual }) => {
            Format::OpenGlovesLegacy { maximum: maximum("maximum", usual) }
        }
        Some(Format::OpenGlovesAlpha { maximum: usual, force_maximum }) => Format::OpenGlovesAlpha {
            maximum: maximum("maximum", usual),
            force_maximum: maximum("force_maximum", force_maximum),
        },
        Some(Format::WitMotion { .. }) => Format::WitMotion {
            order: [QuaternionOrder::Wxyz, QuaternionOrder::Xyzw][root.choice_or("order", 0, &["wxyz", "xyzw"])],
        },
        Some(Format::Gametrak { .. }) => Format::Gametrak { left_x_at_end: root.flag_or("left_x_at_end", false) },
        Some(format) => format,
        None => match name.as_str() {
            "openxr" => return Some(DeviceKind::OpenXr),
            "gamepad" => return Some(DeviceKind::Gamepad),
            "gametrak-joystick" => return Some(DeviceKind::GametrakJoystick),
            "motion" => return Some(DeviceKind::Motion(root.path("file"))),
            _ => {
                if !name.is_empty() {
                    root.complain("kind", unknown("kind of device", &name, &known));
                }
                return None;
            }
        },
    };
    Some(DeviceKind::Wire(format))
}

fn port(root: &Table<'_>, kind: &DeviceKind) -> Port {
    if root.has("usb") {
        if root.text_or("port", "auto") != "auto" {
            root.complain("usb", "`usb` and a named `port` exclude each other; remove one");
        }
        let text = root.text("usb");
        let number = |hex: &str| (hex.len() == 4).then(|| u16::from_str_radix(hex, 16).ok()).flatten();
        let ids = text.split_once(':').and_then(|(vendor, product)| number(vendor).zip(number(product)));
        let Some((vendor, product)) = ids else {
            root.complain("usb", format!("invalid USB ids `{text}`; expected vendor and product as in \"0403:6001\""));
            return Port::Auto;
        };
        return Port::Usb { vendor, product };
    }
    match root.text_or("port", "auto") {
        auto if auto == "auto" => Port::Auto,
        name => {
            let udp = matches!(kind, DeviceKind::Wire(format) if matches!(format.link(), Link::Udp { .. }));
            if udp && name.parse::<std::net::SocketAddr>().is_err() {
                let wanted = "expected an address to listen at, as in \"127.0.0.1:39539\"";
                root.complain("port", format!("`{name}` is not an address; {wanted}"));
            }
            Port::Named(name)
        }
    }
}

fn filter(root: &Table<'_>) -> Option<FilterSettings> {
    let default = FilterSettings::default();
    if !root.is_table("filter") {
        return root.flag_or("filter", true).then_some(default);
    }
    let table = root.table("filter");
    let settings = FilterSettings {
        min_cutoff: table.number_or("min_cutoff", default.min_cutoff, ranges::CUTOFF),
        beta: table.number_or("beta", default.beta, ranges::BETA),
        derivative_cutoff: table.number_or("derivative_cutoff", default.derivative_cutoff, ranges::CUTOFF),
    };
    table.finish();
    Some(settings)
}

/// Whether a device of a kind can have a sensor; any for an unknown kind.
fn can_have(kind: Option<&DeviceKind>, sensor: Sensor) -> bool {
    match kind {
        Some(DeviceKind::Wire(format)) => format.can_have(sensor),
        Some(DeviceKind::Gamepad) => matches!(sensor, Sensor::Curl(_)),
        Some(DeviceKind::OpenXr | DeviceKind::GametrakJoystick | DeviceKind::Motion(_) | DeviceKind::Custom) => false,
        None => true,
    }
}

fn sensors(root: &Table<'_>, kind: Option<&DeviceKind>) -> Vec<SensorMap> {
    let mut sensors = Vec::new();
    let tables = root.named("sensor");
    for (name, table) in &tables {
        let Some(sensor) = Sensor::named(name).filter(|sensor| can_have(kind, *sensor)) else {
            let known: Vec<String> = Sensor::all().filter(|s| can_have(kind, *s)).map(Sensor::name).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let whose = kind.map_or("sensor".into(), |kind| format!("`{}` sensor", kind.name()));
            table.complain("", unknown(&whose, name, &known));
            continue;
        };
        let (flat, fist) = (table.number("flat", ranges::RAW), table.number("fist", ranges::RAW));
        if flat == fist {
            table.complain("fist", "`flat` and `fist` are equal, so the sensor has no range; calibrate it");
        }
        let drives = Angle::all().filter(|angle| table.has(&angle.name())).map(|angle| {
            let ends: [f64; 2] = table.numbers(&angle.name(), ranges::DEGREES);
            (angle, ends.map(f64::to_radians))
        });
        let drives = drives.collect();
        let mut crosstalk = Vec::new();
        if let Some(others) = table.table_if_any("crosstalk") {
            for other in Sensor::all().filter(|other| *other != sensor && others.has(&other.name())) {
                if !tables.iter().any(|(name, _)| Sensor::named(name) == Some(other)) {
                    others.complain(&other.name(), "the profile has no such sensor");
                }
                crosstalk.push((other, others.number(&other.name(), ranges::CROSSTALK)));
            }
            others.finish();
        }
        table.finish();
        sensors.push(SensorMap { sensor, flat, fist, drives, crosstalk });
    }
    sensors.sort_by_key(|map: &SensorMap| map.sensor.index());
    sensors
}

fn place(root: &Table<'_>) -> PlaceSettings {
    let default = PlaceSettings::default();
    let Some(table) = root.table_if_any("place") else { return default };
    let palm = table.table_if_any("palm").map(|palm| {
        let place = read_place(&palm, &Pose::identity());
        palm.finish();
        place.rotation
    });
    let settings = PlaceSettings {
        anchor: [TrackerAnchor::Start, TrackerAnchor::World][table.choice_or("anchor", 0, &["start", "world"])],
        frame: read_place(&table, &Pose::identity()),
        scale: table.number_or("scale", 1.0, ranges::SCALE),
        palm: palm.unwrap_or(default.palm),
        uses: Parts {
            fingers: table.flag_or("use_fingers", true),
            position: table.flag_or("use_position", true),
            orientation: table.flag_or("use_orientation", true),
        },
    };
    if settings.uses == Parts::default() {
        table.complain("use_fingers", "no part of the device is used; at least one of the three must be true");
    }
    table.finish();
    settings
}

fn haptics(root: &Table<'_>) -> Option<HapticSettings> {
    let default = HapticSettings::default();
    if !root.is_table("haptics") {
        return root.flag_or("haptics", false).then_some(default);
    }
    let table = root.table("haptics");
    let source = [HapticSource::Force, HapticSource::Pressure][table.choice_or("from", 0, &["force", "pressure"])];
    let full = if source == HapticSource::Force { default.full } else { 2e4 };
    let settings = HapticSettings {
        source,
        full: table.number_or("full", full, ranges::FULL),
        slip: table.number_or("slip", default.slip, ranges::SLIP),
        maximum: table.number_or("maximum", default.maximum, ranges::SHARE),
        rate: table.number_or("rate", default.rate, ranges::RATE),
        watchdog: table.number_or("watchdog", default.watchdog, ranges::WATCHDOG),
    };
    table.finish();
    Some(settings)
}
