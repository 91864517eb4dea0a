//! Arbitrary bytes against the decoders: the first byte chooses the format, the second how the rest comes in pieces. The
//! same bytes go to the emulated device and to the host's side, which must stand them as well.

#![no_main]

use fingerpad::protocol::{Checksum, Format, Framing, GloveMode, QuaternionOrder, Reading, UltraSensors};
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

    // What was read can be said, and of six packets in a row some are found, whatever came before.
    if decoder.framing() == Framing::Stream {
        decoder.push(b"\n", &mut readings);
    }
    readings.clear();
    for _ in 0..6 {
        let mut packet = Vec::new();
        encoder.packet(&mut packet);
        decoder.push(&packet, &mut readings);
    }
    assert!(readings.iter().all(Reading::is_sound));
    assert!(decoder.statistics().packets > statistics.packets, "{format:?} is lost after {bytes:?}");
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
        let said = host.heard(piece);
        assert!(said.len() <= 2, "one thing at a time");
        let answer = device.receive(piece);
        assert!(answer.len() <= 160 * piece.len());
        device.sample();
        assert!(device.commands().len() <= 16);
    }
});
