use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::assets::{FileKind, builtin_device_file, builtin_devices};
use crate::protocol::{Checksum, Format, GloveMode, Sensor};
use crate::tracking::{Finger, Side};

fn files(texts: &[(&str, &str)]) -> Files {
    Files::kept(texts.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect::<BTreeMap<_, _>>())
}

fn read(text: &str) -> Result<DeviceProfile, Problems> {
    files(&[("glove.toml", text)]).load_device(Path::new("glove.toml"))
}

fn problems(text: &str) -> Vec<String> {
    read(text).expect_err("problems").0.iter().map(ToString::to_string).collect()
}

#[test]
fn every_shipped_profile_is_valid_and_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("devices");
    let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let toml = entries.filter(|file| file.extension().is_some_and(|e| e == "toml"));
    let mut there: Vec<_> = toml.map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    there.sort();
    assert_eq!(builtin_devices().collect::<Vec<_>>(), there);
    for name in there {
        let file = builtin_device_file(&name).expect("it is carried");
        let profile = load_device(&file).unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(profile.kind.name(), name);
        assert_ne!(profile.gives(), Parts::default(), "{name}");
        assert_eq!(Files::default().file_kind(&file), Ok(FileKind::Device), "{name}");
    }
    assert_eq!(builtin_device_file("nothing"), None);
}

#[test]
fn the_shipped_glove_is_the_glove_of_the_paper() {
    let profile = load_device(&builtin_device_file("5dt-5").expect("it is carried")).expect("a sound one");
    let format =
        Format::DataGlove5 { side: Side::Right, checksum: Checksum::Xor, mode: GloveMode::Stream, mark: false };
    assert_eq!(profile.kind, DeviceKind::Wire(format));
    assert_eq!((profile.port.clone(), profile.baud), (Port::Auto, Some(19200)));
    assert_eq!(profile.sensors.len(), 5);
    assert!(profile.sensors.iter().all(|map| map.drives.len() == 4));
    assert_eq!(profile.gives(), Parts { fingers: true, position: false, orientation: false });
    assert_eq!(profile.filter, Some(FilterSettings::default()));
    assert_eq!(profile.haptics, None);
}

#[test]
fn a_user_profile_contains_only_differences() {
    let own = "base = \"fingerpad:/devices/5dt-5.toml\"\nuser = \"ada\"\nhand = \"left\"\nusb = \"0403:6001\"\nfilter = false\n\
               [sensor.index]\nflat = 0.31\nfist = 0.62\n[sensor.index.crosstalk]\nthumb = 0.05\n";
    let file = std::env::temp_dir().join(format!("fingerpad-ada-{}.toml", std::process::id()));
    std::fs::write(&file, own).expect("a file");
    let profile = load_device(&file).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(Files::default().file_kind(&file), Ok(FileKind::Device));
    std::fs::remove_file(&file).expect("the file");
    assert_eq!((profile.user.as_deref(), profile.side, profile.filter), (Some("ada"), Some(Side::Left), None));
    assert!(matches!(profile.kind, DeviceKind::Wire(Format::DataGlove5 { side: Side::Left, .. })));
    let index = profile.sensors.iter().find(|map| map.sensor == Sensor::Curl(Finger::Index)).expect("a sensor");
    assert_eq!((index.flat, index.fist, index.drives.len()), (0.31, 0.62, 4), "the rest is that of the glove");
    assert_eq!(index.crosstalk, [(Sensor::Curl(Finger::Thumb), 0.05)]);
}

#[test]
fn usb_ids_and_ports_exclude_each_other() {
    let message = problems("kind = \"bno055\"\nusb = \"0403:6001\"\nport = \"/dev/ttyUSB0\"\n");
    assert!(message[0].contains("glove.toml:2") && message[0].contains("exclude each other"), "{message:?}");
    assert!(problems("kind = \"bno055\"\nusb = \"403:6001\"\n")[0].contains("as in \"0403:6001\""));
}

#[test]
fn errors_are_reported_with_their_line() {
    let text = "kind = \"5dt-6\"\nbaud = \"fast\"\n[sensor.sixth]\nflat = 0\nfist = 1\n[sensor.index]\nflat = 0.5\nfist = 0.5\n\
                index_base_flexion = [0]\nindex_elbow = [0, 1]\n[filter]\nmin_cutof = 1\n";
    let message = problems(text);
    let has = |line: usize, words: &str| {
        let place = format!("glove.toml:{line}:");
        assert!(message.iter().any(|p| p.starts_with(&place) && p.contains(words)), "{line} {words}: {message:#?}");
    };
    has(1, "did you mean `5dt-16`?");
    has(2, "baud");
    has(3, "there is no sensor `sixth`; expected");
    has(8, "calibrate it");
    has(9, "a list of 2 numbers");
    has(10, "unknown key");
    has(12, "did you mean `min_cutoff`?");
    assert!(problems("kind = \"5dt-5\"\n[sensor.index]\nflat = 0\nfist = 1\n")[0].contains("a glove is for one hand"));
    assert!(problems("kind = \"vmc\"\nport = \"here\"\n")[0].contains("127.0.0.1:39539"));
    assert!(problems("kind = \"motion\"\n")[0].contains("file"));
    assert!(problems("kind = \"opengloves\"\n")[0].contains("a glove is for one hand"));
    let cut = "kind = \"openxr\"\n[place]\nuse_fingers = false\nuse_position = false\nuse_orientation = false\n";
    assert!(problems(cut)[0].contains("no part of the device is used"));
}

#[test]
fn unsupported_options_of_a_kind_are_errors() {
    let glove = "kind = \"5dt-5\"\nhand = \"right\"\n";
    let wrist = problems(&format!("{glove}[sensor.wrist]\nflat = 0\nfist = 1\n"));
    let known = "there is no `5dt-5` sensor `wrist`; expected `thumb`, `index`, `middle`, `ring` or `little`";
    assert_eq!(wrist, [format!("glove.toml:3:1: sensor.wrist: {known}")]);
    assert!(problems("kind = \"bno055\"\n[sensor.index]\nflat = 0\nfist = 1\n")[0].contains("and no other"));
    let cases = [
        (glove, "haptics = true", "has no haptic output"),
        (glove, "tracker = \"LHR-1\"", "only `vmc` does"),
        ("kind = \"5dt-16\"\nhand = \"right\"\n", "tilt = true", "does not measure tilt"),
        ("kind = \"openxr\"\n", "baud = 9600", "has no serial port"),
        ("kind = \"openxr\"\n", "port = \"/dev/ttyUSB0\"", "has no port"),
        ("kind = \"openxr\"\n", "usb = \"0403:6001\"", "has no port"),
    ];
    for (kind, line, words) in cases {
        let message = problems(&format!("{kind}{line}\n"));
        assert!(message.len() == 1 && message[0].contains(words), "{line}: {message:?}");
    }
}

#[test]
fn a_missing_motion_is_reported() {
    let file = std::env::temp_dir().join(format!("fingerpad-motion-{}.toml", std::process::id()));
    std::fs::write(&file, "kind = \"motion\"\nfile = \"no-such.rhai\"\n").expect("a file");
    let message = load_device(&file).expect_err("no motion").0[0].to_string();
    std::fs::remove_file(&file).expect("the file");
    assert!(message.contains(":2:8: file: there is no file") && message.contains("no-such.rhai"), "{message}");
}

#[test]
fn a_motion_is_relative_to_its_profile() {
    let files = files(&[("mine/motion.toml", "kind = \"motion\"\nfile = \"ball.rhai\"\nhand = \"right\"\n")]);
    let profile = files.load_device(Path::new("mine/motion.toml")).expect("a profile");
    assert_eq!(profile.kind, DeviceKind::Motion(PathBuf::from("mine/ball.rhai")));
}

#[test]
fn haptics_have_defaults() {
    let haptics = |text: &str| read(&format!("kind = \"openxr\"\n{text}")).expect("a profile").haptics;
    assert_eq!(haptics(""), None);
    assert_eq!(haptics("haptics = true\n"), Some(HapticSettings::default()));
    let pressure = haptics("[haptics]\nfrom = \"pressure\"\nmaximum = 0.5\n").expect("haptics");
    assert_eq!((pressure.source, pressure.full, pressure.maximum), (HapticSource::Pressure, 2e4, 0.5));
}
