//! The host against the emulated device.

use super::*;

/// A connection between a host and a device.
struct Connection {
    host: Box<dyn Host>,
    device: Box<dyn Emulated>,
    decoder: Box<dyn Decoder>,
    decoded: Vec<Reading>,
    /// Everything the host sent.
    sent: Vec<Vec<u8>>,
}

impl Connection {
    fn new(format: &Format, message: &[Reading]) -> Self {
        let mut device = format.emulated();
        message.iter().for_each(|reading| device.set(reading));
        Self { host: format.host(), device, decoder: format.decoder(), decoded: Vec::new(), sent: Vec::new() }
    }

    /// Exchanges data until neither side sends any more.
    fn carry(&mut self, mut writes: Vec<Vec<u8>>) {
        while !writes.is_empty() {
            let write = writes.remove(0);
            let answer = self.device.receive(&write);
            self.sent.push(write);
            writes.extend(self.bring(&answer));
            if self.sent.len() > 10_000 {
                panic!("the exchange does not end");
            }
        }
    }

    fn bring(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        if bytes.is_empty() {
            return Vec::new();
        }
        self.decoder.push(bytes, &mut self.decoded);
        self.host.receive(bytes)
    }

    fn sample(&mut self) -> bool {
        let bytes = self.device.sample();
        let writes = self.bring(&bytes);
        self.carry(writes);
        !bytes.is_empty()
    }
}

/// Devices that respond immediately would be polled endlessly. This one answers only some requests, like a slow line.
struct Patient {
    device: Box<dyn Emulated>,
    questions: usize,
}

impl Emulated for Patient {
    fn set(&mut self, reading: &Reading) {
        self.device.set(reading);
    }
    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.questions = self.questions.saturating_sub(1);
        if self.questions == 0 { Vec::new() } else { self.device.receive(bytes) }
    }
    fn sample(&mut self) -> Vec<u8> {
        self.device.sample()
    }
}

#[test]
fn every_device_streams_after_its_handshake() {
    let numbers: Vec<f64> = (0..NUMBERS).map(|i| (i % 7) as f64 / 7.0).collect();
    for format in variants() {
        let message = readings(&format, &numbers);
        let mut line = Connection::new(&format, &message);
        line.device = Box::new(Patient { device: line.device, questions: 400 });
        let writes = line.host.start();
        line.carry(writes);
        for _ in 0..400 {
            line.sample();
        }
        assert!(line.decoder.statistics().packets >= 300, "{format:?}: {:?}", line.decoder.statistics());
        assert_eq!(line.decoder.hint(), None, "{format:?}");
        let (decoded, expected) = (steady(&line.decoded), steady(&message));
        for (decoded, expected) in decoded[decoded.len() - expected.len()..].iter().zip(&expected) {
            assert!(is_close(&format, decoded, expected), "{format:?}: {decoded:?} and not {expected:?}");
        }
    }
}

#[test]
fn a_wired_glove_is_reset_identified_and_started() {
    let mut line = Connection::new(&Format::ALL[0], &[]);
    assert!(!line.sample(), "not started");
    let writes = line.host.start();
    line.carry(writes);
    assert_eq!(line.sent, [b"A", b"G", b"D"]);
    assert!(
        matches!(&line.decoded[..], [Reading::Info(info)] if info.model == "5DT DataGlove 5" && info.side == Some(Side::Right))
    );
    assert!(line.sample());
    let writes = line.host.stop();
    line.carry(writes);
    assert!(!line.sample(), "a reset stops the stream");
}

#[test]
fn a_silent_wired_glove_is_retried_and_then_started() {
    let mut host = Format::ALL[0].host();
    assert_eq!(host.start(), [b"A"]);
    let later: Vec<_> = (0..3).map(|_| host.silence().concat()).collect();
    assert_eq!(later, [b"A", b"A", b"D"]);
    assert_eq!(host.silence(), [b"A"], "starts over");
}

#[test]
fn an_emulated_wired_glove_follows_the_manual() {
    let mut glove = Format::ALL[0].emulated();
    assert_eq!(glove.receive(b"A"), [0x55]);
    assert!(glove.receive(b"B").is_empty());
    assert_eq!(glove.receive(b"A"), *b"A", "an echo, not a reset");
    assert_eq!(glove.receive(b"G").len(), 32);
    assert_eq!(glove.receive(b"C").len(), 9);
    assert_eq!(glove.receive(b"xyG").len(), 27, "every further byte is a request");
    assert!(glove.sample().is_empty());
    assert_eq!(glove.receive(b"A"), [0x55]);
    assert!(glove.receive(b"D").is_empty());
    assert!(glove.receive(b"CG").is_empty(), "it streams until it is reset");
    assert_eq!(glove.sample().len(), 9);
    assert_eq!(glove.receive(b"A"), [0x55]);
    assert!(glove.sample().is_empty());
}

#[test]
fn an_open_glove_responds_stops_and_takes_forces() {
    let format = Format::OpenGlovesAlpha { maximum: 4095, force_maximum: 1000 };
    let info = DeviceInfo { model: "type 3".into(), firmware: "42".into(), side: Some(Side::Left) };
    let mut line = Connection::new(&format, &[Reading::Info(info.clone())]);
    assert!(line.sample(), "it streams by default");
    let writes = line.host.start();
    line.carry(writes);
    assert_eq!(line.decoded.last(), Some(&Reading::Info(info)));
    let force = HostLine::Force(ForceFeedback([1.0, 0.0, 0.5, 0.0, 0.0]));
    line.carry(vec![force.to_bytes(1000)]);
    assert_eq!(line.device.commands(), [HostLine::Start, HostLine::Query, force]);
    assert_eq!(line.device.commands(), []);
    let writes = line.host.stop();
    line.carry(writes);
    assert!(!line.sample());
    let writes = line.host.silence();
    line.carry(writes);
    assert!(line.sample());
}

#[test]
fn a_busy_sensor_is_polled_again() {
    let mut host = Format::Bno055.host();
    let (mode, ask) = (vec![vec![0xAA, 0, 0x3D, 1, 0x0C]], vec![vec![0xAA, 1, 0x20, 8]]);
    assert_eq!(host.start(), mode);
    assert_eq!(host.receive(&[0xEE, 7]), mode, "busy: retry");
    assert_eq!(host.receive(&[0xEE]), Vec::<Vec<u8>>::new(), "half an answer");
    assert_eq!(host.receive(&[1]), ask);
    assert_eq!(host.receive(&[0xEE, 7]), ask);
    assert_eq!(host.receive(&[0xBB, 8, 0, 0x40, 0, 0, 0, 0, 0]), Vec::<Vec<u8>>::new());
    assert_eq!(host.receive(&[0]), ask);
    assert_eq!(host.silence(), ask);

    let mut sensor = Format::Bno055.emulated();
    assert_eq!(sensor.receive(&[0xAA, 1, 0, 1]), [0xBB, 1, 0xA0], "its chip number");
    assert_eq!(sensor.receive(&[0xAA, 1, 0x20, 8]), [0xBB, 8, 0, 0, 0, 0, 0, 0, 0, 0], "asleep");
    assert_eq!(sensor.receive(&mode[0]), [0xEE, 1]);
    assert_eq!(sensor.receive(&ask[0]), [0xBB, 8, 0, 0x40, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sensor.receive(&[0x12]), [0xEE, 6]);
    assert_eq!(sensor.receive(&[0xAA, 1, 0x20, 0]), [0xEE, 9]);
    assert_eq!(sensor.receive(&[0xAA, 1, 0x20, 200]), [0xEE, 8]);
    let answers: Vec<_> = (0..32).map(|_| sensor.receive(&ask[0])).collect();
    assert_eq!(answers.iter().filter(|answer| **answer == [0xEE, 7]).count(), 2);
}
