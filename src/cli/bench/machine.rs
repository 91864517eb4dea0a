use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Machine, date and build of the measurement.
pub fn machine() -> Value {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "processor": processor(),
        "threads": threads,
        "version": env!("CARGO_PKG_VERSION"),
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "date": date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)),
    })
}

/// Processor model as reported by the system, if available.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// Gregorian date from days since 1970-01-01.
fn date(days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut rest) = (1970, days);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        let known = [
            (0, "1970-01-01"),
            (364, "1970-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_453, "2025-12-31"),
        ];
        for (days, text) in known {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn the_machine_is_described() {
        let machine = machine();
        assert_eq!(machine["version"], env!("CARGO_PKG_VERSION"));
        assert!(machine["threads"].as_u64().is_some_and(|n| n > 0) && machine["build"].is_string());
    }
}
