//! Arbitrary bytes against the decoders: the first byte chooses the format, the second how the rest comes in pieces. The
//! same bytes go to the emulated device and to the host's side, which must stand them as well.

#![no_main]

use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::protocol::{
    Checksum, Decoder, FlexReading, Format, Framing, GloveMode, HumanBone, QuaternionOrder, Reading, Sensor, UltraSensors,
};
use fingerpad::tracking::Side;
use libfuzzer_sys::fuzz_target;

/// More than any decoder may hold.
const BOUND: usize = 1024;

/// Every format, and those whose options change how bytes are read.
fn format(choice: u8) -> Format {
    let side = Side::Left;
    let others = [
        Format::DataGlove5 { side, checksum: Checksum::None, mode: GloveMode::Report, mark: true },
        Format::DataGlove5 { side, checksum: Checksum::Sum, mode: GloveMode::Stream, mark: true },
        Format::DataGlove5Wireless { side, checksum: Checksum::None },
        Format::DataGlove16 { side, maximum: 0 },
        Format::UltraUsb { sensors: UltraSensors::Five },
        Format::OpenGlovesLegacy { maximum: 0 },
        Format::OpenGlovesAlpha { maximum: 1023, force_maximum: 0 },
        Format::WitMotion { order: QuaternionOrder::Xyzw },
        Format::Gametrak { left_x_at_end: true },
    ];
    let index = usize::from(choice) % (Format::ALL.len() + others.len());
    *Format::ALL.get(index).unwrap_or_else(|| &others[index - Format::ALL.len()])
}

/// Packets in a row whose values all differ, and with no byte that could pass for the beginning of another. No format promises
/// more: where packets carry the header's byte within them and the device is still, the wire itself leaves open where they begin.
fn clear(format: Format) -> [Vec<u8>; 6] {
    let mut encoder = format.encoder();
    std::array::from_fn(|i| {
        let step = i as f64;
        let bend = |sensor: usize| 0.03 + 0.011 * (sensor as f64 + 2.0 * step);
        let turn = Quat::from_euler_angles(0.14 + 0.05 * step, 0.07, 0.2);
        let place = Vec3::new(0.1 + 0.01 * step, 0.4, 0.2);
        let mut packet = Vec::new();
        let said = [
            Reading::Flex(FlexReading::of(Sensor::all().enumerate().map(|(sensor, name)| (name, bend(sensor))))),
            Reading::Tilt { pitch: -0.4 + 0.04 * step, roll: -0.8 },
            Reading::Orientation(turn),
            Reading::Position { side: Side::Right, position: place },
            Reading::Bone { bone: HumanBone::ROOT, pose: Pose::from_parts(place.into(), turn) },
        ];
        encoder.encode(&said, &mut packet);
        packet
    })
}

/// What comes with every packet: buttons are told when they change, information now and then.
fn steady(readings: Vec<Reading>) -> Vec<Reading> {
    readings.into_iter().filter(|r| !matches!(r, Reading::Button { .. } | Reading::Info(_))).collect()
}

/// Of packets that follow whatever came before, two at most are lost, and the others are read as they are.
fn is_found_again(format: Format, decoder: &mut dyn Decoder, bytes: &[u8]) {
    let packets = clear(format);
    let is_stream = decoder.framing() == Framing::Stream;
    let is_text = packets[0].ends_with(b"\n");
    let (mut told, mut truth) = (Vec::new(), Vec::new());
    let mut fresh = format.decoder();
    fresh.push(if is_stream { b"\n" } else { b"" }, &mut truth);
    for packet in &packets {
        assert!(!is_stream || is_text || !packet[1..].contains(&packet[0]), "{format:?}: {packet:x?}");
        decoder.push(packet, &mut told);
        fresh.push(packet, &mut truth);
    }
    let (told, truth) = (steady(told), steady(truth));
    assert!(!truth.is_empty() && truth.len() % packets.len() == 0, "{format:?}: {truth:?}");
    let expected = &truth[2 * truth.len() / packets.len()..];
    assert!(told.ends_with(expected), "{format:?} is lost after {bytes:?}: {told:?}");
}

fuzz_target!(|data: &[u8]| {
    let [choice, piece, bytes @ ..] = data else { return };
    let format = format(*choice);
    let mut decoder = format.decoder();
    let mut encoder = format.encoder();
    let mut readings: Vec<Reading> = Vec::new();

    for piece in bytes.chunks(usize::from(*piece) + 1) {
        let before = readings.len();
        decoder.push(piece, &mut readings);
        for reading in &readings[before..] {
            assert!(reading.is_sound(), "{reading:?}");
            encoder.set(reading);
        }
        assert!(decoder.buffered() < BOUND, "{} bytes held", decoder.buffered());
    }
    let statistics = decoder.statistics();
    assert_eq!(statistics.bytes, bytes.len() as u64);
    assert!(statistics.skipped_bytes + decoder.buffered() as u64 <= statistics.bytes, "{statistics:?}");
    assert!(decoder.hint().is_none_or(|hint| !hint.is_empty() && !hint.ends_with('.')));

    is_found_again(format, &mut *decoder, bytes);

    // What was read can be said, and even a device that says nothing but that, over and over, is heard in the end.
    let statistics = decoder.statistics();
    readings.clear();
    for _ in 0..6 {
        let mut packet = Vec::new();
        encoder.packet(&mut packet);
        decoder.push(&packet, &mut readings);
    }
    assert!(readings.iter().all(Reading::is_sound));
    assert!(decoder.statistics().packets > statistics.packets, "{format:?} hears nothing after {bytes:?}");
    let mut again = format.decoder();
    decoder.reset();
    let mut packet = b"\n".to_vec();
    if decoder.framing() == Framing::Packets {
        packet.clear();
    }
    encoder.packet(&mut packet);
    let (mut fresh, mut reset) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        again.push(&packet, &mut fresh);
        decoder.push(&packet, &mut reset);
    }
    assert_eq!(fresh, reset, "a decoder that was reset is as good as new");

    let (mut host, mut device) = (format.host(), format.emulated());
    host.start();
    for piece in bytes.chunks(usize::from(*piece) + 1) {
        let said = host.receive(piece);
        assert!(said.len() <= 2, "one command at a time");
        let answer = device.receive(piece);
        assert!(answer.len() <= 160 * piece.len());
        device.sample();
        assert!(device.commands().len() <= 16);
    }
});
