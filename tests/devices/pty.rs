//! From an emulated device through a real pseudo-terminal to the samples of a hand: no loss, tolerance of faults, and
//! diagnostics. One minute each with `FINGERPAD_LONG=1`, otherwise a few seconds.
#![cfg(all(target_os = "linux", feature = "serial"))]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fingerpad::assets::{DeviceKind, DeviceProfile, Port, builtin_device_file, builtin_hand_model, load_device};
use fingerpad::devices::emulator::{EmulatedMotion, Emulator, EmulatorEvent, EmulatorSettings, Faults, PathCallback};
use fingerpad::devices::{Hands, SourceHandle, SourceSample, SourceState, start};
use fingerpad::protocol::{FlexReading, Format, Reading, Sensor};
use fingerpad::record::{RawEvent, RawRecording};
use fingerpad::tracking::Finger;

/// Timeout for things that are immediate on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Values of a digit of the counter: the number of values of the coarsest sensor.
const BASE: u32 = 256;
const DIGITS: [Finger; 3] = [Finger::Index, Finger::Middle, Finger::Ring];

/// Three fingers count the samples.
fn counting() -> Box<dyn EmulatedMotion> {
    let mut count = 0_u32;
    Box::new(move |_: f64, out: &mut Vec<Reading>| {
        let digit = |place: usize| f64::from(count / BASE.pow(place as u32) % BASE) / f64::from(BASE - 1);
        let digits = DIGITS.into_iter().enumerate().map(|(place, finger)| (Sensor::Curl(finger), digit(place)));
        out.push(Reading::Flex(FlexReading::of(digits)));
        count += 1;
    })
}

fn counted(sample: &SourceSample) -> u32 {
    let digit = |finger| {
        let value = sample.flex.get(Sensor::Curl(finger)).expect("a value of each finger");
        (value * f64::from(BASE - 1)).round() as u32
    };
    DIGITS.into_iter().rev().fold(0, |count, finger| BASE * count + digit(finger))
}

fn profile(name: &str, place: &Path) -> DeviceProfile {
    let file = builtin_device_file(name).expect("a shipped profile");
    let profile = load_device(&file).unwrap_or_else(|problems| panic!("{problems}"));
    DeviceProfile { port: Port::Named(place.to_str().expect("UTF-8").into()), ..profile }
}

fn format(name: &str) -> Format {
    match profile(name, Path::new("")).kind {
        DeviceKind::Wire(format) => format,
        other => panic!("{other:?}"),
    }
}

fn source(profile: &DeviceProfile) -> SourceHandle {
    static HANDS: LazyLock<Hands> = LazyLock::new(|| {
        let skeleton = builtin_hand_model().unwrap_or_else(|problems| panic!("{problems}")).skeleton;
        Hands { left: skeleton.clone(), right: skeleton }
    });
    start(profile, &HANDS, Instant::now()).expect("a source")
}

/// A persistent link to the pseudo-terminal of an emulated device.
struct Link(PathBuf);

impl Link {
    fn new() -> Self {
        static LINKS: AtomicU32 = AtomicU32::new(0);
        let number = LINKS.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("fingerpad-pty-{}-{number}", std::process::id())))
    }

    fn placed(&self) -> PathCallback {
        let path = self.0.clone();
        Box::new(move |place| {
            let _ = std::fs::remove_file(&path);
            place.map_or(Ok(()), |place| std::os::unix::fs::symlink(place, &path))
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn emulate(name: &str, faults: &[&str], link: &Link) -> Emulator {
    let faults = Faults::parse(faults.iter().copied()).expect("faults");
    let settings = EmulatorSettings { faults, trace: true, ..EmulatorSettings::new(format(name)) };
    Emulator::start(settings, counting(), Some(link.placed())).expect("an emulator")
}

fn next(source: &SourceHandle) -> SourceSample {
    let sample = source.samples().recv_timeout(PATIENCE);
    sample.unwrap_or_else(|error| panic!("{error}: {}, {:?}", source.state(), source.statistics()))
}

fn wait_for(emulator: &Emulator, what: &str, is_it: impl Fn(&EmulatorEvent) -> bool) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if emulator.events().recv_timeout(PATIENCE).is_ok_and(|event| is_it(&event)) {
            return;
        }
    }
    panic!("{what} did not happen");
}

fn seconds() -> f64 {
    if std::env::var_os("FINGERPAD_LONG").is_some_and(|value| value == "1") { 60.0 } else { 6.0 }
}

/// Received samples and their times.
type Came = Vec<(u32, Instant)>;

fn collect(source: &SourceHandle, samples: usize) -> Came {
    (0..samples).map(|_| (counted(&next(source)), Instant::now())).collect()
}

/// Samples are queued for about a second: a test that was not scheduled for longer has missed some.
const STANDSTILL: Duration = Duration::from_millis(500);

fn is_complete(came: &Came) -> bool {
    came.windows(2).all(|two| two[1].0 == two[0].0 + 1)
}

/// Prints the latency of the samples.
fn tell(name: &str, came: &Came, emulator: &Emulator) {
    // The last sample can arrive before its packet is reported.
    let mut sent = Vec::new();
    while sent.len() < came.len() {
        if let EmulatorEvent::Sent { packet, at } =
            emulator.events().recv_timeout(PATIENCE).expect("every sample was sent")
        {
            sent.push((packet, at));
        }
    }
    assert!(sent.windows(2).all(|two| two[1].0 == two[0].0 + 1));
    let mut latencies: Vec<f64> = came
        .iter()
        .zip(&sent)
        .map(|((_, came), (_, sent))| came.saturating_duration_since(*sent).as_secs_f64())
        .collect();
    latencies.sort_by(f64::total_cmp);
    let at = |part: f64| 1e3 * latencies[((latencies.len() - 1) as f64 * part).round() as usize];
    let took = came[came.len() - 1].1 - came[0].1;
    println!(
        "{name}: {} samples in {:.2} s ({:.1}/s), none lost; last byte to sample: median {:.3} ms, p99 {:.3} ms, most {:.3} ms",
        came.len(),
        took.as_secs_f64(),
        (came.len() - 1) as f64 / took.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

#[test]
fn two_gloves_at_once_lose_nothing_at_their_true_speeds() {
    std::thread::scope(|scope| {
        for (name, rate) in [("5dt-5", 200.0), ("opengloves", 90.0)] {
            scope.spawn(move || {
                let attempts = (0..5).any(|_| loses_nothing(name, (rate * seconds()) as usize));
                assert!(attempts, "{name}: this machine stands still every time");
            });
        }
    });
}

/// Whether a glove was received without loss; unknown if the test itself was not scheduled.
fn loses_nothing(name: &str, samples: usize) -> bool {
    let link = Link::new();
    let emulator = emulate(name, &[], &link);
    let source = source(&profile(name, &link.0));
    let came = collect(&source, samples);
    if !is_complete(&came) {
        let pause = came.windows(2).map(|two| two[1].1 - two[0].1).max().unwrap_or_default();
        assert!(pause > STANDSTILL, "{name}: lost, doubled or out of order");
        println!("{name}: the test stood still for {pause:?}; again");
        return false;
    }
    tell(name, &came, &emulator);
    let statistics = source.statistics();
    assert_eq!((statistics.opened, statistics.hint, statistics.decode.bad_checksums), (1, None, 0), "{name}");
    assert_eq!(source.state(), SourceState::Streaming, "{name}");
    true
}

#[test]
fn an_unplugged_glove_reconnects() {
    for name in ["5dt-5", "opengloves"] {
        let link = Link::new();
        let emulator = emulate(name, &["unplug=1:0.5"], &link);
        let source = source(&profile(name, &link.0));
        let mut counts = vec![counted(&next(&source))];
        while source.statistics().opened < 2 {
            counts.push(counted(&next(&source)));
        }
        counts.extend((0..100).map(|_| counted(&next(&source))));
        assert!(counts.is_sorted(), "{name}: nothing old comes again");
        assert!(counts[counts.len() - 50..].windows(2).all(|two| two[1] == two[0] + 1), "{name}: {counts:?}");
        assert_eq!(source.state(), SourceState::Streaming, "{name}");
        let events: Vec<EmulatorEvent> = emulator
            .events()
            .try_iter()
            .filter(|event| !matches!(event, EmulatorEvent::Sent { .. } | EmulatorEvent::Received(_)))
            .collect();
        let is_told = matches!(
            events[..],
            [
                EmulatorEvent::Plugged(_),
                EmulatorEvent::HostCame,
                EmulatorEvent::Streaming,
                EmulatorEvent::Unplugged,
                EmulatorEvent::Plugged(_),
                EmulatorEvent::HostCame,
                ..
            ]
        );
        assert!(is_told, "{name}: {events:?}");
    }
}

#[test]
fn after_a_burst_of_garbage_two_packets_are_lost_at_most() {
    for name in ["5dt-5", "opengloves"] {
        let link = Link::new();
        let emulator = emulate(name, &["garbage=0.5:100", "seed=5"], &link);
        let source = source(&profile(name, &link.0));
        let (mut bursts, mut last, mut at) = (0, counted(&next(&source)), Instant::now());
        while bursts < 6 {
            let count = counted(&next(&source));
            if count.wrapping_sub(last) <= 3 || at.elapsed() > STANDSTILL {
                last = count;
            }
            at = Instant::now();
            // A burst can contain a valid packet that was not sent.
            assert!(count == last || !(1..1000).contains(&count.wrapping_sub(last)), "{name}: {count} after {last}");
            bursts += emulator.events().try_iter().filter(|event| matches!(event, EmulatorEvent::Garbage(_))).count();
        }
        let decode = source.statistics().decode;
        assert!(decode.skipped_bytes >= 300, "{name}: {decode:?}");
        assert_eq!(source.statistics().opened, 1, "{name}");
    }
}

#[test]
fn noise_and_lost_bytes_do_no_more_than_lose_packets() {
    let link = Link::new();
    let emulator = emulate("5dt-5", &["noise=0.005", "drop=0.005", "seed=3"], &link);
    let source = source(&profile("5dt-5", &link.0));
    let counts: Vec<u32> = (0..400).map(|_| counted(&next(&source))).collect();
    let steps = counts.windows(2).filter(|two| two[1].wrapping_sub(two[0]) == 1).count();
    // One packet in eleven is hit, and each costs at most two more.
    assert!(steps > 200, "{steps} of 400 follow on each other");
    let decode = source.statistics().decode;
    assert!(decode.bad_checksums > 0 && decode.resynchronisations > 0, "{decode:?}");
    drop(emulator);
}

#[test]
fn a_silent_glove_is_stale_and_resumes() {
    let link = Link::new();
    let emulator = emulate("opengloves", &["stall=every:2:1.5"], &link);
    let source = source(&profile("opengloves", &link.0));
    next(&source);
    let start = Instant::now();
    while source.state() != SourceState::Stale {
        assert!(start.elapsed() < PATIENCE, "{}", source.state());
        std::thread::sleep(Duration::from_millis(5));
    }
    source.samples().try_iter().for_each(drop);
    next(&source);
    let stalls = emulator.events().try_iter().filter(|event| *event == EmulatorEvent::Stalled).count();
    assert!(stalls >= 1 && source.statistics().opened == 1, "{stalls} stalls");
}

/// A host with a wrong baud rate is told the right one.
#[test]
fn a_wrong_baud_rate_is_diagnosed() {
    for (name, wrong, right) in
        [("5dt-5", 9600, "19200 baud"), ("5dt-5w", 19200, "9600 baud"), ("opengloves", 57600, "115200 baud")]
    {
        let link = Link::new();
        let emulator = emulate(name, &[], &link);
        let source = source(&DeviceProfile { baud: Some(wrong), ..profile(name, &link.0) });
        wait_for(&emulator, "another speed", |event| matches!(event, EmulatorEvent::OtherSpeed { .. }));
        let start = Instant::now();
        let hint = loop {
            if let Some(hint) = source.statistics().hint {
                break hint;
            }
            assert!(start.elapsed() < PATIENCE, "{name}: {}, {:?}", source.state(), source.statistics());
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(hint.contains(right) && hint.ends_with(&format!("the profile sets {wrong}")), "{name}: {hint}");
        assert!(source.samples().try_iter().count() < 3, "{name}: nonsense is no sample");
        println!("{name} at {wrong} baud: {hint}");
    }
}

/// A program that is terminated at the end of the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As a user would: one program emulates the glove, another records its bytes, a third plays them back.
#[test]
fn an_emulated_device_is_recorded_and_played() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let program = env!("CARGO_BIN_EXE_fingerpad");
    let link = Link::new();
    let recording = link.0.with_extension("fpraw");
    let mut emulate = Command::new(program);
    emulate.args(["devices", "emulate", "5dt-5", "--motion", "fist", "--quiet", "--link"]).arg(&link.0);
    let mut glove = Running(emulate.stdout(Stdio::piped()).spawn().expect("a program"));
    let mut first = String::new();
    BufReader::new(glove.0.stdout.take().expect("stdout")).read_line(&mut first).expect("a line");
    assert_eq!(first.trim_end(), link.0.to_str().expect("UTF-8"));

    let device = format!("5dt-5@{}", link.0.display());
    let mut record = Command::new(program);
    record.args(["devices", "record", &device, "--seconds", "5", "--quiet", "--out"]).arg(&recording);
    assert!(record.status().expect("a program").success());
    let bytes = std::fs::read(&recording).expect("a recording");
    let read = RawRecording::parse(&recording, &bytes).expect("a sound recording");
    assert_eq!((read.header.baud, read.records[0].event), (19200, RawEvent::Opened));
    let (mut decoder, mut readings) = (format("5dt-5").decoder(), Vec::new());
    for record in read.records.iter().filter(|record| record.event == RawEvent::Received) {
        decoder.push(&record.bytes, &mut readings);
    }
    let packets = decoder.statistics().packets;
    assert!(packets > 50 && decoder.statistics().bad_checksums == 0, "{:?}", decoder.statistics());

    let mut play = Command::new(program);
    play.args(["run", "ball", "--seconds", "0.3", "--json", "--quiet", "--device"]).arg(&recording);
    let played = play.output().expect("a program");
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let message: serde_json::Value = serde_json::from_slice(&played.stdout).expect("JSON");
    let device = &message["devices"][0];
    assert_eq!(device["port"], recording.to_str().expect("UTF-8"));
    assert!(device["samples"].as_u64().is_some_and(|samples| samples > 0), "{message}");
    std::fs::remove_file(&recording).expect("the recording");
}

#[test]
fn unsupported_emulations_are_reported() {
    let program = env!("CARGO_BIN_EXE_fingerpad");
    for (arguments, why) in [
        (&["gametrak"][..], "only serial ports and UDP can be emulated"),
        (&["openxr"], "only gloves and trackers on serial ports or UDP can"),
        (&["5dt-5", "--fault", "noise=7"], "a probability from 0 to 1"),
        (&["5dt-5", "--motion", "ball", "--hand", "left"], "there is no left hand in it"),
        (&["5dt-5", "--link", "Cargo.toml"], "Cargo.toml already exists and is not a link"),
        (&["5dt-6"], "expected the profile of a device"),
    ] {
        let mut emulate = std::process::Command::new(program);
        let message =
            emulate.args(["devices", "emulate", "--seconds", "0"]).args(arguments).output().expect("a program");
        let error = String::from_utf8_lossy(&message.stderr);
        assert!(message.status.code() == Some(2) && error.contains(why), "{arguments:?}: {error}");
    }
}
