//! Properties that hold for every format.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Buffer limit of all decoders: the longest line.
const BOUND: usize = 700;
/// Packets that may be lost after noise.
const LOST: usize = 2;

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(variants())
}

/// Numbers for some packets; in half of the cases the device is still and repeats itself.
fn numbers(count: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    (prop::collection::vec(any::<u64>(), count), any::<bool>()).prop_map(|(seeds, is_still)| {
        seeds.iter().map(|seed| scatter(if is_still { seeds[0] } else { *seed })).collect()
    })
}

/// Numbers in 0..=1 from a seed, including the ends. Cheaper than generating each with proptest.
fn scatter(seed: u64) -> Vec<f64> {
    let number = |i: u64| {
        let mixed = (seed ^ i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94D0_49BB_1331_11EB) >> 40;
        (mixed as f64 / (1u64 << 24) as f64 * 1.25 - 0.125).clamp(0.0, 1.0)
    };
    (0..NUMBERS as u64).map(number).collect()
}

/// Numbers of consecutive packets without any byte that starts a packet of a format.
fn plain_number(packet: usize, number: usize) -> f64 {
    // The sixth and seventh tilt the five-finger glove: a level one sends the header byte.
    if matches!(number, 5 | 6) { 0.7 } else { 0.03 + 0.011 * (number % 20 + 2 * packet) as f64 }
}

fn noise(most: usize) -> impl Strategy<Value = Vec<u8>> {
    // Header bytes, digits and keys are more frequent than other bytes.
    let telling = prop::sample::select(b"\x80\x55\x3c\x44\x49\xbb\x08\xee\x01\x59\x40BRAFHZQ,&()0123456789\n".to_vec());
    prop::collection::vec(prop_oneof![any::<u8>(), telling], 0..most)
}

/// Splits bytes into chunks.
fn pieces<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded(format in format(), numbers in numbers(4)) {
        let decoded = decode(&mut *format.decoder(), &packets(&format, &numbers));
        let expected: Vec<_> = numbers.iter().flat_map(|n| steady(&readings(&format, n))).collect();
        let values = steady(&decoded);
        prop_assert_eq!(values.len(), expected.len(), "{:?}", decoded);
        for (value, expected) in values.iter().zip(&expected) {
            prop_assert!(is_close(&format, value, expected), "{:?} became {:?}", expected, value);
        }
        // Buttons end in the state that was set.
        let pressed = |readings: &[Reading]| {
            let mut down = Vec::new();
            for reading in readings {
                if let Reading::Button { button, pressed } = reading {
                    down.retain(|other| other != button);
                    if *pressed { down.push(*button); }
                }
            }
            down.sort_by_key(Button::to_string);
            down
        };
        let encoded: Vec<_> = numbers.iter().flat_map(|n| readings(&format, n)).collect();
        prop_assert_eq!(pressed(&decoded), pressed(&encoded));
    }

    #[test]
    fn pieces_do_not_matter(
        format in format(), numbers in numbers(5), cuts in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let mut whole = format.decoder();
        if whole.framing() == Framing::Packets { return Ok(()); }
        let stream = [b"\n".as_slice(), &packets(&format, &numbers).concat()].concat();
        let (mut at_once, mut in_pieces) = (Vec::new(), Vec::new());
        whole.push(&stream, &mut at_once);
        let mut decoder = format.decoder();
        pieces(&stream, &cuts).into_iter().for_each(|piece| decoder.push(piece, &mut in_pieces));
        prop_assert_eq!(&at_once, &in_pieces);
        prop_assert_eq!(whole.statistics(), decoder.statistics());
        prop_assert_eq!(decoder.statistics().packets, 5);
    }

    #[test]
    fn noise_does_no_harm(
        format in format(), noise in noise(600), cuts in prop::collection::vec(any::<Index>(), 0..6), numbers in numbers(3),
    ) {
        let mut decoder = format.decoder();
        let mut out = Vec::new();
        for piece in pieces(&noise, &cuts) {
            decoder.push(piece, &mut out);
            prop_assert!(decoder.buffered() <= BOUND);
        }
        prop_assert!(out.iter().all(Reading::is_sound), "{:?}", out);
        let statistics = decoder.statistics();
        prop_assert_eq!(statistics.bytes, noise.len() as u64);
        prop_assert!(statistics.skipped_bytes + decoder.buffered() as u64 <= statistics.bytes);
        // A reset restores the initial state.
        decoder.reset();
        prop_assert_eq!(decoder.statistics(), DecodeStatistics::default());
        prop_assert_eq!(decoder.hint(), None);
        let packets = packets(&format, &numbers);
        prop_assert_eq!(decode(&mut *decoder, &packets), decode(&mut *format.decoder(), &packets));
    }

    #[test]
    fn packets_are_found_again_after_noise(
        format in format(), before in numbers(3), cut in any::<Index>(), noise in noise(120), after in numbers(7),
    ) {
        let mut decoder = format.decoder();
        let mut out = decode(&mut *decoder, &packets(&format, &before)[..2]);
        // A truncated packet and noise.
        let broken = &packets(&format, &before)[2];
        let is_summed = !matches!(format, Format::DataGlove5 { checksum: Checksum::None, .. });
        // Without a checksum a header in the noise cannot be recognised as false.
        let noise: Vec<u8> = noise.into_iter().filter(|byte| is_summed || *byte != 0x80).collect();
        let rubbish = [&broken[..cut.index(broken.len())], &noise].concat();
        decoder.push(&rubbish, &mut out);
        out.clear();
        packets(&format, &after).iter().for_each(|packet| decoder.push(packet, &mut out));
        let expected: Vec<_> = after[LOST..].iter().flat_map(|n| steady(&readings(&format, n))).collect();
        let decoded = steady(&out);
        prop_assert!(decoded.len() >= expected.len(), "only {} of {}: {:?}", decoded.len(), expected.len(), rubbish);
        for (decoded, expected) in decoded[decoded.len() - expected.len()..].iter().zip(&expected) {
            prop_assert!(is_close(&format, decoded, expected), "{:?} became {:?} after {:?}", expected, decoded, rubbish);
        }
    }

    /// Holds for any noise, because the packets that follow contain no header byte. Otherwise noise can be constructed
    /// that continues into them like packets, and formats without a checksum, or with one that repeats at every offset
    /// of a still device, cannot detect it.
    #[test]
    fn two_packets_at_most_are_lost_if_their_beginnings_are_plain(
        format in format(), before in numbers(3), cut in any::<Index>(), noise in noise(120),
    ) {
        let mut decoder = format.decoder();
        let mut out = decode(&mut *decoder, &packets(&format, &before)[..2]);
        let broken = &packets(&format, &before)[2];
        decoder.push(&broken[..cut.index(broken.len())], &mut out);
        decoder.push(&noise, &mut out);
        out.clear();
        let after: Vec<Vec<f64>> =
            (0..7).map(|i| (0..NUMBERS).map(|j| plain_number(i, j)).collect()).collect();
        let plain = packets(&format, &after);
        let is_binary = decoder.framing() == Framing::Stream && !plain[0].ends_with(b"\n");
        prop_assert!(!is_binary || plain.iter().all(|packet| !packet[1..].contains(&packet[0])), "{:x?}", plain);
        plain.iter().for_each(|packet| decoder.push(packet, &mut out));
        let mut fresh = format.decoder();
        let truth = steady(&decode(&mut *fresh, &plain));
        let decoded = steady(&out);
        prop_assert!(decoded.ends_with(&truth[LOST * truth.len() / plain.len()..]), "{:?} after {:?}", decoded, noise);
    }

    #[test]
    fn encoders_stand_nonsense(format in format(), value in prop::sample::select(vec![f64::NAN, f64::INFINITY, -1e300, 5.0])) {
        let mut encoder = format.encoder();
        let place = Vec3::new(value, value, value);
        let message = [
            Reading::Flex(FlexReading::of(Sensor::all().map(|sensor| (sensor, value)))),
            Reading::Tilt { pitch: value, roll: value },
            Reading::Joystick { x: value, y: value },
            Reading::Trigger(value),
            Reading::Position { side: Side::Left, position: place },
            Reading::Button { button: Button::Numbered(200), pressed: true },
            Reading::Bone { bone: HumanBone::ROOT, pose: Pose::from_parts(place.into(), Quat::identity()) },
            Reading::Info(DeviceInfo { model: "\n".into(), firmware: "-1".into(), side: None }),
        ];
        let mut decoder = format.decoder();
        let mut out = Vec::new();
        for _ in 0..4 {
            let mut packet = Vec::new();
            encoder.encode(&message, &mut packet);
            decoder.push(&packet, &mut out);
        }
        prop_assert!(out.iter().all(Reading::is_sound), "{:?}", out);
        prop_assert!(decoder.statistics().packets >= 3);
    }

    #[test]
    fn hosts_and_devices_stand_noise(format in format(), noise in noise(300), cuts in prop::collection::vec(any::<Index>(), 0..6)) {
        let (mut host, mut device) = (format.host(), format.emulated());
        host.start();
        for piece in pieces(&noise, &cuts) {
            prop_assert!(host.receive(piece).len() <= 1, "one command at a time");
            prop_assert!(device.receive(piece).len() <= 160 * piece.len());
            device.sample();
        }
        host.silence();
        host.stop();
    }
}
