//! Known faults of streams, and their hints.

use super::*;

const FIVE: Format = Format::ALL[0];

fn five(checksum: Checksum) -> Format {
    Format::DataGlove5 { side: Side::Right, checksum, mode: GloveMode::Stream, mark: false }
}

fn flex(out: &[Reading]) -> Vec<FlexReading> {
    out.iter().filter_map(|r| if let Reading::Flex(flex) = r { Some(*flex) } else { None }).collect()
}

/// A still, level hand: the header byte occurs three times in each packet, always at the same offsets, and with XOR the
/// checksum is correct at all of them. Only correct readings may be returned, from any start position in the stream.
#[test]
fn a_level_glove_is_decoded_wherever_the_stream_is_joined() {
    for checksum in [Checksum::Xor, Checksum::Sum, Checksum::None] {
        for mark in [false, true] {
            for still in [
                [0x10, 0x20, 0x30, 0x40, 0x50],
                [0; 5],
                [0x80, 0x21, 0x30, 0x40, 0x50],
                [0x55; 5],
                [0x42, 0x52, 0, 0, 1],
            ] {
                // Without a checksum a finger at the header byte can pass for the start of the first packet.
                if checksum == Checksum::None && still[0] == 0x80 {
                    continue;
                }
                let format = Format::DataGlove5 { side: Side::Right, checksum, mode: GloveMode::Stream, mark };
                let curls =
                    Finger::ALL.into_iter().zip(still).map(|(f, raw)| (Sensor::Curl(f), f64::from(raw) / 255.0));
                let truth = FlexReading::of(curls);
                let mut encoder = format.encoder();
                let mut stream = Vec::new();
                encoder.set(&Reading::Flex(truth));
                (0..20).for_each(|_| encoder.packet(&mut stream));
                for joined in 0..10 {
                    let mut decoder = format.decoder();
                    let mut out = Vec::new();
                    decoder.push(&stream[joined..], &mut out);
                    let decoded = flex(&out);
                    assert!(decoded.len() >= 18, "{format:?} joined at {joined}: {}", decoded.len());
                    assert!(
                        decoded.iter().all(|decoded| *decoded == truth),
                        "{format:?} joined at {joined}: {decoded:?}"
                    );
                }
            }
        }
    }
}

/// If fingers are also at the header byte, a still stream joined mid-packet is ambiguous until the hand moves.
#[test]
fn motion_resolves_the_ambiguity_of_a_still_hand() {
    for checksum in [Checksum::Xor, Checksum::None] {
        let format = five(checksum);
        let curls = |raw: [u8; 5]| {
            FlexReading::of(Finger::ALL.map(Sensor::Curl).into_iter().zip(raw.map(|v| f64::from(v) / 255.0)))
        };
        let mut encoder = format.encoder();
        let mut stream = Vec::new();
        (0..10).for_each(|_| encoder.encode(&[Reading::Flex(curls([0x80, 0x80, 0x80, 0x80, 0x7F]))], &mut stream));
        let moving: Vec<_> = (0..6).map(|i| curls([0x70 - i, 0x60 + i, 0x50, 0x40 + 3 * i, 0x30])).collect();
        moving.iter().for_each(|flex| encoder.encode(&[Reading::Flex(*flex)], &mut stream));
        for joined in 0..9 {
            let mut out = Vec::new();
            format.decoder().push(&stream[joined..], &mut out);
            let decoded = flex(&out);
            assert_eq!(decoded[decoded.len() - 4..], moving[2..], "{checksum:?} joined at {joined}");
        }
    }
}

#[test]
fn a_corrupt_packet_costs_one_packet() {
    let numbers: Vec<Vec<f64>> =
        (0..8).map(|i| (0..NUMBERS).map(|j| ((7 * i + 3 * j) % 11) as f64 / 11.0).collect()).collect();
    let mut packets = packets(&FIVE, &numbers);
    packets[4][3] ^= 0x04;
    let mut decoder = FIVE.decoder();
    let mut out = Vec::new();
    decoder.push(&packets.concat(), &mut out);
    let expected =
        DecodeStatistics { bytes: 72, packets: 7, bad_checksums: 1, skipped_bytes: 9, resynchronisations: 1 };
    assert_eq!(decoder.statistics(), expected);
    assert_eq!(flex(&out).len(), 7);
}

/// The hint after a stream.
fn hint(format: &Format, stream: &[u8]) -> String {
    let mut decoder = format.decoder();
    let mut out = Vec::new();
    match decoder.framing() {
        Framing::Stream => decoder.push(stream, &mut out),
        Framing::Packets => (0..50).for_each(|_| decoder.push(stream, &mut out)),
    }
    decoder.hint().unwrap_or_default()
}

fn stream(format: &Format) -> Vec<u8> {
    let numbers = |i: usize| (0..NUMBERS).map(|j| ((5 * i + 3 * j) % 13) as f64 / 12.0).collect();
    packets(format, &(0..60).map(numbers).collect::<Vec<_>>()).concat()
}

#[test]
fn wrong_settings_are_reported() {
    assert!(hint(&five(Checksum::Xor), &stream(&five(Checksum::Sum))).contains("set the checksum to sum"));
    assert!(hint(&five(Checksum::Sum), &stream(&five(Checksum::Xor))).contains("set the checksum to xor"));
    let corrupt: Vec<u8> = stream(&FIVE).chunks(9).flat_map(|p| [&p[..8], &[p[8] ^ 0x91]].concat()).collect();
    assert!(hint(&FIVE, &corrupt).contains("has a correct checksum"), "{}", hint(&FIVE, &corrupt));

    let left = Format::DataGlove5Wireless { side: Side::Left, checksum: Checksum::Xor };
    let right = Format::DataGlove5Wireless { side: Side::Right, checksum: Checksum::Xor };
    assert_eq!(hint(&right, &stream(&left)), "the glove reports the left hand, the profile says right");
    assert_eq!(hint(&left, &stream(&left)), "");

    let small = Format::OpenGlovesAlpha { maximum: 1023, force_maximum: 1000 };
    let large = Format::OpenGlovesAlpha { maximum: 4095, force_maximum: 1000 };
    assert!(hint(&small, &stream(&large)).contains("set it to 4095"));
    assert_eq!(hint(&large, &stream(&small)), "");
    let sixteen = |maximum| Format::DataGlove16 { side: Side::Right, maximum };
    assert!(hint(&sixteen(1023), &stream(&sixteen(4095))).contains("up to 4095"));

    let accelerations: Vec<u8> = [0x55, 0x51, 0, 0, 0, 0, 0, 0, 0, 0, 0xA6].repeat(60);
    assert!(hint(&Format::named("witmotion").expect("a format"), &accelerations).contains("quaternion output"));
    assert!(hint(&Format::XImu3, &b"I,1,0.0,0.0,0.0\r\n".repeat(60)).contains("AHRS"));
    assert!(hint(&Format::Bno055, &[0xBB, 8, 0, 0, 0, 0, 0, 0, 0, 0].repeat(3)).contains("fusion mode"));
    assert!(hint(&Format::Bno055, &[0xEE, 3].repeat(3)).contains("0x03"));
    let blinks = message("/VMC/Ext/Blend/Apply", &[]);
    let mut decoder = Format::Vmc.decoder();
    (0..100).for_each(|_| decoder.push(&blinks, &mut Vec::new()));
    assert!(decoder.hint().is_some_and(|hint| hint.contains("model")));
}

/// A wrong baud rate or device produces a hint with the expected setting.
#[test]
fn invalid_data_gives_a_hint_and_valid_data_does_not() {
    let nonsense: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x7E).collect();
    for format in variants() {
        let message = hint(&format, &nonsense);
        match format.link() {
            Link::Serial { .. } => assert!(message.contains("baud"), "{format:?}: {message}"),
            _ => assert!(message.contains("none is valid"), "{format:?}: {message}"),
        }
        let mut decoder = format.decoder();
        let numbers = vec![vec![0.25; NUMBERS]; 40];
        let decoded = decode(&mut *decoder, &packets(&format, &numbers));
        assert_eq!(decoder.hint(), None, "{format:?}");
        assert!(!decoded.is_empty());
    }
}

/// A line without a terminator is discarded.
#[test]
fn an_endless_line_is_dropped() {
    for format in [Format::XImu3, Format::named("opengloves").expect("a format")] {
        let mut decoder = format.decoder();
        let mut out = Vec::new();
        for _ in 0..1000 {
            decoder.push(&[b'A'; 100], &mut out);
            assert!(decoder.buffered() < 700);
        }
        decoder.push(b"\n", &mut out);
        assert_eq!(out, []);
        assert!(decoder.statistics().skipped_bytes >= 100_000);
    }
}
