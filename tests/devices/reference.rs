//! `docs/devices.md` matches the reader of profiles: every key, its range and its default.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fingerpad::assets::{DeviceProfile, Files, Problem, builtin_devices};
use fingerpad::devices::gamepads::PadButton;

use crate::tables::{Row, rows};

fn parse(text: &str) -> Result<DeviceProfile, Vec<Problem>> {
    let files = BTreeMap::from([("device.toml".to_string(), text.to_string())]);
    Files::kept(files).load_device(Path::new("device.toml")).map_err(|problems| problems.0)
}

fn text() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/devices.md")).expect("the reference")
}

fn reference() -> Vec<Row> {
    rows("docs/devices.md", 40)
}

/// A valid profile of a kind up to the section that keys are added to, which is its last.
fn base(section: &str, kind: &str) -> String {
    let file = if kind == "motion" { "file = \"pinch.toml\"\n" } else { "" };
    let top = format!("kind = \"{kind}\"\nhand = \"right\"\n{file}");
    match section {
        "Top level" => top,
        "`[filter]`" => top + "[filter]\n",
        "`[sensor.NAME]`" => top + "[sensor.index]\nflat = 0.25\nfist = 0.75\n",
        "`[place]`" => top + "[place]\n",
        "`[haptics]`" => top + "[haptics]\n",
        other => panic!("no profile for the section {other}"),
    }
}

/// A kind that supports all general keys of a section.
fn usual(section: &str) -> &'static str {
    if section == "`[haptics]`" { "opengloves" } else { "5dt-5" }
}

fn base_of(row: &Row) -> String {
    base(&row.section, row.kinds.first().map_or(usual(&row.section), String::as_str))
}

fn with(row: &Row, value: &str) -> String {
    let own = format!("{} =", row.key);
    let base = base_of(row);
    let kept: String = base.lines().filter(|l| !l.starts_with(&own)).map(|l| format!("{l}\n")).collect();
    format!("{kept}{own} {value}\n")
}

#[test]
fn ranges_and_words_are_as_documented() {
    let mut checked = 0;
    for row in reference() {
        let (value, says) = if let Some((count, range)) = row.expects.split_once(" × ") {
            let count = count.parse().expect("a number");
            (format!("[{}]", vec!["1e300"; count].join(", ")), format!("a number from {range}"))
        } else if row.expects.contains(" to ") {
            ("1e300".into(), format!("number from {}", row.expects))
        } else if row.expects.starts_with('`') {
            ("\"zzzz\"".into(), format!("expected {}", row.expects))
        } else if row.expects == "true or false" {
            ("3".into(), "expected true or false, found a number".into())
        } else {
            continue;
        };
        let problems = parse(&with(&row, &value)).expect_err("a value that is none");
        let found = problems.iter().any(|p| p.key.contains(&row.key) && p.message.ends_with(&says));
        assert!(found, "{} of {}: `{says}` is not in {problems:?}", row.key, row.section);
        checked += 1;
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn defaults_are_as_documented() {
    let mut checked = 0;
    for row in reference() {
        let Some(value) = row.default.strip_prefix('`').and_then(|d| d.strip_suffix('`')) else { continue };
        let load = |text: &str| format!("{:?}", parse(text).unwrap_or_else(|p| panic!("{}: {p:?}", row.key)));
        let left_out = load(&base_of(&row));
        assert!(left_out == load(&with(&row, value)), "{} of {}: {value}", row.key, row.section);
        checked += 1;
    }
    assert!(checked > 25, "{checked}");
}

#[test]
fn every_key_is_documented_and_every_documented_key_is_known() {
    let rows = reference();
    let all: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.kinds.iter().map(String::as_str)).chain(["openxr"]).collect();
    let sections: BTreeSet<&str> = rows.iter().map(|row| row.section.as_str()).collect();
    for section in sections {
        let mut known = BTreeSet::new();
        let kinds = if section == "Top level" { &all } else { &BTreeSet::from([usual(section)]) };
        for kind in kinds {
            let problems = parse(&(base(section, kind) + "zzzz_zzzz = 1\n")).expect_err("an unknown key");
            assert_eq!(problems.len(), 1, "{section}, {kind}: {problems:?}");
            known.extend(problems[0].message.split('`').skip(1).step_by(2).map(String::from));
        }
        // The angles are documented together.
        known.retain(|key| !key.ends_with("_flexion") && !key.ends_with("_abduction"));
        let documented = rows.iter().filter(|row| row.section == section).map(|row| row.key.clone()).collect();
        assert_eq!(known, documented, "{section}");
    }
}

#[test]
fn every_kind_and_every_button_is_documented() {
    let text = text();
    let kinds = text.split("## Kinds").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    for kind in builtin_devices().chain(["motion"]) {
        assert!(kinds.contains(&format!("`{kind}`")), "{kind}");
    }
    let pads = text.split("## Gamepads").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    for button in PadButton::ALL {
        assert!(pads.contains(&format!("`{}`", button.name())), "{button:?}");
    }
}
