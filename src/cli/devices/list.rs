use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Talk;
use crate::assets::{DeviceKind, DeviceProfile, Files, Port, Problems, TextKind, builtin_device_file, builtin_devices};
use crate::devices::{ListedDevice, ListedKind};
use crate::protocol::Link;

/// Folder of the user's profiles.
const OWN: &str = "devices";

/// Arguments of `devices list`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How well a profile matches a connected device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The profile names the port or the USB ids.
    Named,
    /// The USB ids are unique, or there is only one device of the kind.
    Sure,
    /// Such adapters are common with such devices.
    Likely,
    /// The device could be connected to such a port.
    Possible,
}

impl Fit {
    fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Sure => "sure",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let found = crate::devices::list();
    let (profiles, broken) = profiles();
    for problem in broken.0 {
        talk.say(format_args!("warning: {problem}"));
    }
    if arguments.json {
        let list: Vec<_> = found.iter().map(|one| as_json(one, &profiles)).collect();
        println!("{}", json!({ "devices": list }));
        return Ok(());
    }
    for one in &found {
        match &one.problem {
            Some(problem) => println!("{:<12} –  {problem}", one.kind.to_string()),
            None => println!("{:<12} {}  {}", one.kind.to_string(), one.name, one.detail),
        }
        let words = in_words(&fitting(one, &profiles));
        if !words.is_empty() {
            println!("{:<12} {words}", "");
        }
    }
    Ok(())
}

/// The shipped profiles and those in the folder `devices`, by their `--device` name, and the errors of the latter.
fn profiles() -> (Vec<(String, DeviceProfile)>, Problems) {
    const DESCRIPTION: TextKind = TextKind::Description;
    let files = Files::default();
    let shipped = builtin_devices().filter_map(|name| Some((name.to_string(), builtin_device_file(name)?)));
    let entries = std::fs::read_dir(OWN).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut own: Vec<PathBuf> = entries.filter(|file| file.extension().is_some_and(|e| e == "toml")).collect();
    own.sort();
    let is_shipped = |file: &Path| {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let carried = builtin_device_file(&name).and_then(|carried| files.read_text(&carried, DESCRIPTION).ok());
        carried.is_some() && carried == files.read_text(file, DESCRIPTION).ok()
    };
    let own = own.into_iter().filter(|file| !is_shipped(file)).map(|file| (file.to_string_lossy().into_owned(), file));
    let (mut profiles, mut broken) = (Vec::new(), Problems::default());
    for (name, file) in shipped.chain(own) {
        match files.load_device(&file) {
            Ok(profile) => profiles.push((name, profile)),
            Err(Problems(problems)) => broken.0.extend(problems),
        }
    }
    (profiles, broken)
}

/// The matching profiles, best first; possible matches only if there is nothing better.
fn fitting<'a>(
    found: &ListedDevice,
    profiles: &'a [(String, DeviceProfile)],
) -> Vec<(&'a str, &'a DeviceProfile, Fit)> {
    if found.problem.is_some() {
        return Vec::new();
    }
    let fits = |(name, profile): &'a (String, DeviceProfile)| Some((name.as_str(), profile, fit(found, profile)?));
    let mut all: Vec<_> = profiles.iter().filter_map(fits).collect();
    all.sort_by_key(|(_, _, fit)| *fit);
    if all.iter().any(|(_, _, fit)| *fit <= Fit::Sure) {
        all.retain(|(_, _, fit)| *fit <= Fit::Sure);
    }
    all
}

fn fit(found: &ListedDevice, profile: &DeviceProfile) -> Option<Fit> {
    let link = match &profile.kind {
        DeviceKind::OpenXr => return (found.kind == ListedKind::OpenXr).then_some(Fit::Sure),
        // A GameTrak is also listed as a joystick.
        DeviceKind::GametrakJoystick => {
            let is_one = found.kind == ListedKind::Gamepad && found.usb == Some((0x14B7, 0x0982));
            return is_one.then_some(Fit::Sure);
        }
        DeviceKind::Gamepad => return (found.kind == ListedKind::Gamepad).then_some(Fit::Likely),
        DeviceKind::Motion(_) | DeviceKind::Custom => return None,
        DeviceKind::Wire(format) => format.link(),
    };
    match (found.kind, link) {
        (ListedKind::SerialPort, Link::Serial { .. }) => match &profile.port {
            Port::Named(name) => (*name == found.name).then_some(Fit::Named),
            Port::Usb { vendor, product } => (found.usb == Some((*vendor, *product))).then_some(Fit::Named),
            Port::Auto if is_usual(found.usb, profile.kind.name()) => Some(Fit::Likely),
            Port::Auto => Some(Fit::Possible),
        },
        (ListedKind::Usb, Link::Usb { vendor, product }) => {
            let (v, p) = found.usb?;
            let is_it = v == vendor && product.is_none_or(|product| product == p);
            match &profile.port {
                Port::Named(name) => (*name == found.name).then_some(Fit::Named),
                Port::Usb { vendor, product } => ((v, p) == (*vendor, *product)).then_some(Fit::Named),
                Port::Auto => is_it.then_some(Fit::Sure),
            }
        }
        _ => None,
    }
}

/// Whether devices of this kind are commonly connected with adapters of this vendor. Boards for self-built gloves have
/// chips of Espressif, Arduino, Silicon Labs and WCH; cables to serial ports have chips of FTDI and Prolific.
fn is_usual(usb: Option<(u16, u16)>, kind: &str) -> bool {
    match usb.map(|(vendor, _)| vendor) {
        Some(0x303A | 0x2341 | 0x2A03 | 0x10C4 | 0x1A86) => kind.starts_with("opengloves"),
        Some(0x0403 | 0x067B) => kind.starts_with("5dt"),
        _ => false,
    }
}

/// `fits: 5dt-5, devices/ada.toml (ada)` and the like.
fn in_words(fitting: &[(&str, &DeviceProfile, Fit)]) -> String {
    let name = |(name, profile, _): &(&str, &DeviceProfile, Fit)| match &profile.user {
        Some(user) => format!("{name} ({user})"),
        None => (*name).to_string(),
    };
    let some = |wanted: &dyn Fn(Fit) -> bool, words: &str| {
        let names: Vec<_> = fitting.iter().filter(|(_, _, fit)| wanted(*fit)).map(name).collect();
        (!names.is_empty()).then(|| format!("{words}: {}", names.join(", ")))
    };
    let parts = [
        some(&|fit| fit <= Fit::Sure, "fits"),
        some(&|fit| fit == Fit::Likely, "likely"),
        some(&|fit| fit == Fit::Possible, "possible"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn as_json(found: &ListedDevice, profiles: &[(String, DeviceProfile)]) -> Value {
    let profile = |(name, profile, fit): &(&str, &DeviceProfile, Fit)| json!({ "profile": name, "name": profile.name, "user": profile.user, "fit": fit.name() });
    json!({
        "kind": found.kind.to_string(), "name": found.name, "detail": found.detail, "problem": found.problem,
        "usb": found.usb.map(|(vendor, product)| format!("{vendor:04x}:{product:04x}")),
        "profiles": fitting(found, profiles).iter().map(profile).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: ListedKind, name: &str, usb: Option<(u16, u16)>) -> ListedDevice {
        ListedDevice { kind, name: name.into(), detail: String::new(), usb, problem: None }
    }

    fn names(found: &ListedDevice, profiles: &[(String, DeviceProfile)]) -> String {
        in_words(&fitting(found, profiles))
    }

    #[test]
    fn profiles_are_found_by_port_ids_and_kind() {
        let (mut all, broken) = profiles();
        assert_eq!(broken, Problems::default());
        let cable = found(ListedKind::SerialPort, "/dev/ttyUSB0", Some((0x0403, 0x6001)));
        assert!(
            names(&cable, &all).starts_with("likely: 5dt-16, 5dt-5, 5dt-5w, 5dt-ultra-wireless; possible: bno055, ")
        );
        let board = found(ListedKind::SerialPort, "/dev/ttyUSB1", Some((0x10C4, 0xEA60)));
        assert!(names(&board, &all).starts_with("likely: opengloves, opengloves-legacy; "), "{}", names(&board, &all));
        assert!(names(&found(ListedKind::SerialPort, "/dev/ttyS0", None), &all).starts_with("possible: 5dt-16, "));
        assert_eq!(names(&found(ListedKind::Usb, "/dev/hidraw3", Some((0x14B7, 0x0982))), &all), "fits: gametrak");
        assert_eq!(names(&found(ListedKind::Usb, "/dev/hidraw3", Some((0x5D70, 0x0010))), &all), "fits: 5dt-ultra");
        assert_eq!(names(&found(ListedKind::OpenXr, "runtime", None), &all), "fits: openxr");
        assert_eq!(names(&found(ListedKind::Gamepad, "pad", Some((1, 2))), &all), "likely: gamepad");
        assert_eq!(
            names(&found(ListedKind::Gamepad, "joystick", Some((0x14B7, 0x0982))), &all),
            "fits: gametrak-joystick"
        );
        let problem = ListedDevice { problem: Some("it is broken".into()), ..cable.clone() };
        assert_eq!(names(&problem, &all), "");
        // A profile that names the port or the ids wins.
        let mut own = all.iter().find(|(name, _)| name == "5dt-5").expect("the glove").1.clone();
        own.user = Some("ada".into());
        own.port = Port::Named("/dev/ttyUSB0".into());
        all.push(("devices/ada.toml".into(), own.clone()));
        assert_eq!(names(&cable, &all), "fits: devices/ada.toml (ada)");
        assert!(!names(&board, &all).contains("ada"));
        own.port = Port::Usb { vendor: 0x10C4, product: 0xEA60 };
        all.push(("devices/eve.toml".into(), own));
        assert_eq!(names(&board, &all), "fits: devices/eve.toml (ada)");
    }
}
