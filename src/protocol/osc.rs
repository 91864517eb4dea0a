//! Open Sound Control 1.0: messages of an address and arguments, alone or in bundles. Numbers are big-endian, and every part is padded to four
//! bytes. The argument types are those that programs send in practice.
//!
//! Own code and not the crate `rosc`: version 0.11.4 recurses without a limit, so a datagram of 20 kB of nested bundles overflows the stack; it also
//! copies every message to the heap.

use thiserror::Error;

/// Maximum nesting of bundles.
const MAX_NESTING: usize = 8;
/// Maximum number of arguments.
const ARGUMENTS: usize = 64;
const BUNDLE: &[u8] = b"#bundle\0";
/// The time tag "immediately".
const NOW: u64 = 1;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<'a> {
    /// Address pattern, such as `/VMC/Ext/Bone/Pos`.
    pub address: &'a str,
    /// Arguments.
    pub arguments: Vec<Argument<'a>>,
}

/// An argument of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Argument<'a> {
    Int(i32),
    Float(f32),
    Text(&'a str),
    Blob(&'a [u8]),
    Long(i64),
    Double(f64),
    Time(u64),
    Bool(bool),
    Nil,
    Impulse,
}

/// Decoding error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OscError {
    /// Truncated packet.
    #[error("the packet is truncated")]
    Short,
    /// Neither a message nor a bundle.
    #[error("the packet begins neither with an address nor as a bundle")]
    Foreign,
    /// Invalid string.
    #[error("a string is not UTF-8 or not padded to four bytes")]
    Text,
    /// Unknown argument type.
    #[error("an argument has an unknown type")]
    Type,
    /// Exceeds the limits.
    #[error("too many arguments, or bundles too deep")]
    TooMuch,
}

/// Calls a function for every message of a packet, up to the first invalid one.
pub fn for_each_message<'a>(packet: &'a [u8], mut f: impl FnMut(&Message<'a>)) -> Result<(), OscError> {
    walk(packet, MAX_NESTING, &mut f)
}

fn walk<'a>(packet: &'a [u8], depth: usize, f: &mut impl FnMut(&Message<'a>)) -> Result<(), OscError> {
    let Some(mut rest) = packet.strip_prefix(BUNDLE) else {
        f(&parse_message(packet)?);
        return Ok(());
    };
    take(&mut rest, 8)?;
    while !rest.is_empty() {
        let length = u32::from_be_bytes(take_array(&mut rest)?);
        let element = take(&mut rest, usize::try_from(length).map_err(|_| OscError::Short)?)?;
        walk(element, depth.checked_sub(1).ok_or(OscError::TooMuch)?, f)?;
    }
    Ok(())
}

fn parse_message(mut rest: &[u8]) -> Result<Message<'_>, OscError> {
    if rest.first() != Some(&b'/') {
        return Err(OscError::Foreign);
    }
    let address = take_text(&mut rest)?;
    let types = take_text(&mut rest)?.strip_prefix(',').ok_or(OscError::Type)?;
    if types.len() > ARGUMENTS {
        return Err(OscError::TooMuch);
    }
    let mut arguments = Vec::with_capacity(types.len());
    for kind in types.bytes() {
        arguments.push(match kind {
            b'i' => Argument::Int(i32::from_be_bytes(take_array(&mut rest)?)),
            b'f' => Argument::Float(f32::from_be_bytes(take_array(&mut rest)?)),
            b's' | b'S' => Argument::Text(take_text(&mut rest)?),
            b'b' => Argument::Blob(take_blob(&mut rest)?),
            b'h' => Argument::Long(i64::from_be_bytes(take_array(&mut rest)?)),
            b'd' => Argument::Double(f64::from_be_bytes(take_array(&mut rest)?)),
            b't' => Argument::Time(u64::from_be_bytes(take_array(&mut rest)?)),
            b'T' | b'F' => Argument::Bool(kind == b'T'),
            b'N' => Argument::Nil,
            b'I' => Argument::Impulse,
            _ => return Err(OscError::Type),
        });
    }
    Ok(Message { address, arguments })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], OscError> {
    let (taken, after) = rest.split_at_checked(length).ok_or(OscError::Short)?;
    *rest = after;
    Ok(taken)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], OscError> {
    let (taken, after) = rest.split_first_chunk().ok_or(OscError::Short)?;
    *rest = after;
    Ok(*taken)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, OscError> {
    let end = rest.iter().position(|byte| *byte == 0).ok_or(OscError::Short)?;
    let filled = take(rest, (end / 4 + 1) * 4)?;
    let (text, filling) = filled.split_at(end);
    if filling.iter().any(|byte| *byte != 0) {
        return Err(OscError::Text);
    }
    std::str::from_utf8(text).map_err(|_| OscError::Text)
}

fn take_blob<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], OscError> {
    let length = usize::try_from(u32::from_be_bytes(take_array(rest)?)).map_err(|_| OscError::Short)?;
    let blob = take(rest, length)?;
    take(rest, length.wrapping_neg() % 4)?;
    Ok(blob)
}

/// Encodes one message. A string ends at its first zero byte.
pub fn message(address: &str, arguments: &[Argument<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, address);
    let types = arguments.iter().map(|argument| match argument {
        Argument::Int(_) => 'i',
        Argument::Float(_) => 'f',
        Argument::Text(_) => 's',
        Argument::Blob(_) => 'b',
        Argument::Long(_) => 'h',
        Argument::Double(_) => 'd',
        Argument::Time(_) => 't',
        Argument::Bool(true) => 'T',
        Argument::Bool(false) => 'F',
        Argument::Nil => 'N',
        Argument::Impulse => 'I',
    });
    put_text(&mut out, &std::iter::once(',').chain(types).collect::<String>());
    for argument in arguments {
        match *argument {
            Argument::Int(value) => out.extend(value.to_be_bytes()),
            Argument::Float(value) => out.extend(value.to_be_bytes()),
            Argument::Text(text) => put_text(&mut out, text),
            Argument::Blob(blob) => {
                out.extend((blob.len() as u32).to_be_bytes());
                out.extend(blob);
                out.resize(out.len().next_multiple_of(4), 0);
            }
            Argument::Long(value) => out.extend(value.to_be_bytes()),
            Argument::Double(value) => out.extend(value.to_be_bytes()),
            Argument::Time(value) => out.extend(value.to_be_bytes()),
            Argument::Bool(_) | Argument::Nil | Argument::Impulse => {}
        }
    }
    out
}

/// Encodes several packets as a bundle to be processed at once.
pub fn bundle<'a>(packets: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = BUNDLE.to_vec();
    out.extend(NOW.to_be_bytes());
    for packet in packets {
        out.extend((packet.len() as u32).to_be_bytes());
        out.extend(packet);
    }
    out
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().take_while(|byte| *byte != 0));
    out.resize((out.len() + 1).next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(packet: &[u8]) -> Result<Vec<Message<'_>>, OscError> {
        let mut messages = Vec::new();
        for_each_message(packet, |message| messages.push(message.clone()))?;
        Ok(messages)
    }

    /// The example of the specification.
    #[test]
    fn a_message_has_the_specified_layout() {
        let bytes = message("/oscillator/4/frequency", &[Argument::Float(440.0)]);
        assert_eq!(bytes, *b"/oscillator/4/frequency\0,f\0\0\x43\xdc\0\0");
        let foo = [Argument::Int(1000), Argument::Int(-1), Argument::Text("hello"), Argument::Float(1.234)];
        let bytes = message("/foo", &foo);
        assert_eq!(bytes[..20], *b"/foo\0\0\0\0,iisf\0\0\0\0\0\x03\xe8");
        assert_eq!(messages(&bytes), Ok(vec![Message { address: "/foo", arguments: foo.into() }]));
    }

    #[test]
    fn invalid_packets_report_their_error() {
        assert_eq!(messages(b""), Err(OscError::Foreign));
        assert_eq!(messages(b"foo\0,\0\0\0"), Err(OscError::Foreign));
        assert_eq!(messages(b"/foo"), Err(OscError::Short));
        assert_eq!(messages(b"/fo\0,x\0\0"), Err(OscError::Type));
        assert_eq!(messages(b"/fo\0,i\0\0\0\0"), Err(OscError::Short));
        assert_eq!(messages(b"/f\0x,\0\0\0"), Err(OscError::Text));
        assert_eq!(messages(b"/\xff\0\0,\0\0\0"), Err(OscError::Text));
        assert_eq!(messages(b"#bundle\0"), Err(OscError::Short));
        let deep = (0..20).fold(message("/a", &[]), |inner, _| bundle([inner.as_slice()]));
        assert_eq!(messages(&deep), Err(OscError::TooMuch));
        let long = message("/a", &[Argument::Nil; 65]);
        assert_eq!(messages(&long), Err(OscError::TooMuch));
    }

    fn argument() -> impl Strategy<Value = (u8, i64, f64, String, Vec<u8>)> {
        (0u8..11, any::<i64>(), -1e9..1e9, "[a-zäπ ]{0,12}", prop::collection::vec(any::<u8>(), 0..12))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_built_is_parsed(raw in prop::collection::vec(argument(), 0..8), address in "/[a-z/]{0,20}") {
            let arguments: Vec<Argument<'_>> = raw.iter().map(|(kind, int, float, text, blob)| match kind {
                0 => Argument::Int(*int as i32),
                1 => Argument::Float(*float as f32),
                2 => Argument::Text(text),
                3 => Argument::Blob(blob),
                4 => Argument::Long(*int),
                5 => Argument::Double(*float),
                6 => Argument::Time(*int as u64),
                7 => Argument::Bool(true),
                8 => Argument::Bool(false),
                9 => Argument::Nil,
                _ => Argument::Impulse,
            }).collect();
            let bytes = message(&address, &arguments);
            prop_assert_eq!(bytes.len() % 4, 0);
            let expected = Message { address: &address, arguments };
            let nested = bundle([bytes.as_slice(), &bundle([bytes.as_slice()])]);
            prop_assert_eq!(messages(&nested), Ok(vec![expected.clone(), expected]));
        }

        #[test]
        fn noise_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), start in 0usize..3) {
            let start: &[u8] = [b"".as_slice(), b"#bundle\0", b"/a\0\0,"][start];
            let _ = messages(&[start, &bytes].concat());
        }
    }
}
