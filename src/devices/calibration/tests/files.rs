//! The files that are written.

use std::path::Path;

use super::*;
use crate::assets::{builtin_device_file, load_device};
use crate::devices::glove::GloveMap;

/// From the poses to the file and back to bends, for every glove we ship a profile of.
#[test]
fn every_shipped_glove_can_be_calibrated_and_its_file_read() {
    let gloves = ["5dt-5", "5dt-5w", "5dt-16", "5dt-ultra", "5dt-ultra-wireless", "opengloves", "opengloves-legacy"];
    for name in gloves {
        let base = builtin_device_file(name).expect("a shipped profile").to_string_lossy().into_owned();
        let device = load_device(Path::new(&base)).unwrap_or_else(|p| panic!("{p}"));
        let sensors: Vec<Sensor> = device.sensors.iter().map(|map| map.sensor).collect();
        let mut user = User::new(sensors.clone(), 0.002, 42);
        let found = user.calibrate(PoseStep::full(&sensors)).unwrap_or_else(|r| panic!("{name}: {r:?}"));
        let text = UserProfile { base: &base, device: &device.name, user: "ada", port: None, sensors: &found }.text();
        let file = std::env::temp_dir().join(format!("fingerpad-calibrated-{name}-{}.toml", std::process::id()));
        std::fs::write(&file, &text).expect("a file");
        let read = load_device(&file);
        std::fs::remove_file(&file).expect("the file");
        let read = read.unwrap_or_else(|p| panic!("{p}\n{text}"));
        assert_eq!((read.user.as_deref(), read.sensors.len()), (Some("ada"), sensors.len()));
        let map = GloveMap::new(&read.sensors);
        user.noise = 0.0;
        for _ in 0..40 {
            let bends: Vec<f64> =
                sensors.iter().map(|s| if SensorPart::must_move(*s) { user.random.unit() } else { 0.0 }).collect();
            let raw = user.reading(&bends);
            let bent = map.bends(&raw);
            for one in &found {
                let place = sensors.iter().position(|s| *s == one.sensor).expect("a sensor");
                let error = bent.get(one.sensor).expect("a bend") - bends[place];
                assert!(error.abs() < 0.02, "{name}, {}: {error}\n{text}", one.sensor.name());
            }
        }
        // What is spread is so to its own side, and a hand with its fingers closed has them straight ahead.
        for map in read.sensors.iter().filter(|map| matches!(map.sensor, Sensor::Splay(f) if f != Finger::Middle)) {
            let side = map.drives[0].1[1];
            let to_the_thumb = matches!(map.sensor, Sensor::Splay(Finger::Thumb | Finger::Index));
            assert_eq!(side > 0.0, to_the_thumb, "{}", map.sensor.name());
        }
    }
}

#[test]
fn a_profile_reads_well_and_is_toml() {
    let mut user = User::new(curls(), 0.004, 11);
    let found = user.calibrate(PoseStep::full(&curls())).expect("a good hand");
    let profile = UserProfile {
        base: "5dt-5.toml",
        device: "5DT Data Glove 5",
        user: "Ada \"A\" \\ Lovelace\n",
        port: Some("/dev/ttyUSB0"),
        sensors: &found,
    };
    let text = profile.text();
    let table = toml::de::DeTable::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).into_inner();
    assert_eq!(table["base"].get_ref().as_str(), Some("5dt-5.toml"));
    assert_eq!(table["user"].get_ref().as_str(), Some(profile.user));
    let number = |value: &toml::de::DeValue<'_>| {
        value.as_float().and_then(|f| f.as_str().parse::<f64>().ok()).unwrap_or_else(|| panic!("no number in\n{text}"))
    };
    for one in &found {
        let sensor = table["sensor"].get_ref()[one.sensor.name().as_str()].get_ref();
        assert!((number(sensor["flat"].get_ref()) - one.flat).abs() <= 0.51e-4, "{text}");
        assert!((number(sensor["fist"].get_ref()) - one.fist).abs() <= 0.51e-4, "{text}");
        for (other, part) in &one.crosstalk {
            let written = number(sensor["crosstalk"].get_ref()[other.name().as_str()].get_ref());
            assert!((written - part).abs() <= 0.51e-3, "{text}");
        }
    }
    assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    let hand = hand_file("right.toml", "Ada", 0.17349);
    assert!(hand.contains("base = \"right.toml\"\nname = \"Ada\"\nhand_length = 0.1735\n"), "{hand}");
}
