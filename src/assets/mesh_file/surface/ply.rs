//! PLY (Stanford polygons): ASCII and binary of both byte orders. Of the elements `vertex` and `face` are used, others are skipped.

use super::{FilePlace, Flaw, Soup};
use crate::assets::mesh_file::scan::TextScanner;
use crate::math::Vec3;

/// Types of numbers, by their two names each.
const SCALARS: [(&str, &str, Scalar); 8] = [
    ("char", "int8", Scalar::I8),
    ("uchar", "uint8", Scalar::U8),
    ("short", "int16", Scalar::I16),
    ("ushort", "uint16", Scalar::U16),
    ("int", "int32", Scalar::I32),
    ("uint", "uint32", Scalar::U32),
    ("float", "float32", Scalar::F32),
    ("double", "float64", Scalar::F64),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

struct Property {
    name: String,
    /// The type of the length of a list.
    length: Option<Scalar>,
    kind: Scalar,
}

struct PlyElement {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Soup, Flaw> {
    let (format, elements, start) = header(bytes)?;
    if let Some(strips) = elements.iter().find(|element| element.name == "tristrips" && element.count > 0) {
        let message = format!("found {} triangle strips, expected faces: save the mesh with faces", strips.count);
        return Err(Flaw::new(FilePlace::Whole, message));
    }
    let mut data = match format.as_str() {
        "ascii" => Data::Text(text_after(bytes, start)?),
        "binary_little_endian" => Data::Binary { bytes, at: start, big: false },
        _ => Data::Binary { bytes, at: start, big: true },
    };
    let mut soup = Soup::default();
    for element in &elements {
        read_element(element, &mut data, &mut soup)?;
    }
    Ok(soup)
}

fn text_after(bytes: &[u8], start: usize) -> Result<TextScanner<'_>, Flaw> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Flaw::new(FilePlace::Byte(error.valid_up_to()), "not text, though the format is `ascii`"))?;
    let mut scanner = TextScanner::new(text);
    scanner.seek(start);
    Ok(scanner)
}

/// Format, elements, and where the data begin.
fn header(bytes: &[u8]) -> Result<(String, Vec<PlyElement>, usize), Flaw> {
    let (mut at, mut format, mut elements) = (0, None, Vec::<PlyElement>::new());
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(length) = rest.iter().position(|b| *b == b'\n') else {
            return Err(Flaw::new(FilePlace::Text(at), "the header ends without `end_header`"));
        };
        let here = FilePlace::Text(at);
        let line = String::from_utf8_lossy(&rest[..length]).into_owned();
        at += length + 1;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [] | ["ply"] | ["comment" | "obj_info", ..] => {}
            ["format", kind @ ("ascii" | "binary_little_endian" | "binary_big_endian"), "1.0"] => {
                format = Some(kind.to_string())
            }
            ["element", name, count] => {
                let count = count.parse().map_err(|_| Flaw::new(here, "expected the number of the elements"))?;
                elements.push(PlyElement { name: name.into(), count, properties: Vec::new() });
            }
            ["property", "list", length, kind, name] => add_property(&mut elements, here, Some(length), kind, name)?,
            ["property", kind, name] => add_property(&mut elements, here, None, kind, name)?,
            ["end_header"] => break,
            _ => return Err(Flaw::new(here, "expected a line of a PLY 1.0 header: `format`, `element` or `property`")),
        }
    }
    match format {
        Some(format) => Ok((format, elements, at)),
        None => Err(Flaw::new(FilePlace::Text(0), "the header has no `format`")),
    }
}

fn add_property(
    elements: &mut [PlyElement],
    here: FilePlace,
    length: Option<&str>,
    kind: &str,
    name: &str,
) -> Result<(), Flaw> {
    let scalar = |name: &str| {
        let known = SCALARS.iter().find(|(old, new, _)| [*old, *new].contains(&name)).map(|(_, _, scalar)| *scalar);
        known.ok_or_else(|| Flaw::new(here, "expected a type such as `float` or `int32`"))
    };
    let Some(element) = elements.last_mut() else {
        return Err(Flaw::new(here, "found a property, expected an element before it"));
    };
    let length = length.map(scalar).transpose()?;
    element.properties.push(Property { name: name.into(), length, kind: scalar(kind)? });
    Ok(())
}

fn read_element(element: &PlyElement, data: &mut Data<'_>, soup: &mut Soup) -> Result<(), Flaw> {
    if element.properties.is_empty() {
        return Ok(());
    }
    let is_vertex = element.name == "vertex";
    let axis = |property: &Property| ["x", "y", "z"].iter().position(|axis| is_vertex && property.name == *axis);
    let lacks =
        |axis: &&&str| !element.properties.iter().any(|property| property.name == ***axis && property.length.is_none());
    if let Some(axis) = ["x", "y", "z"].iter().find(lacks).filter(|_| is_vertex) {
        return Err(Flaw::new(FilePlace::Whole, format!("the vertices have no property `{axis}`")));
    }
    let is_corners = |property: &Property| {
        element.name == "face"
            && property.length.is_some()
            && ["vertex_indices", "vertex_index"].contains(&property.name.as_str())
    };
    let mut corners = Vec::new();
    for number in 0..element.count {
        let here = data.place();
        let mut point = Vec3::zeros();
        for property in &element.properties {
            let count = match property.length {
                Some(kind) => data.index(kind, element, number)?,
                None => 1,
            };
            if is_corners(property) {
                corners.clear();
                for _ in 0..count {
                    corners.push(data.index(property.kind, element, number)?);
                }
                continue;
            }
            for _ in 0..count {
                let value = data.value(property.kind, element, number)?;
                if let (Some(axis), None) = (axis(property), property.length) {
                    point[axis] = value;
                }
            }
        }
        if is_vertex {
            if !point.iter().all(|x| x.is_finite()) {
                return Err(Flaw::new(here, format!("vertex {number} is not finite")));
            }
            soup.add_vertex(here, point)?;
        } else if element.name == "face" {
            if let Some(missing) = corners.iter().find(|&&corner| corner >= soup.vertices.len() as u64) {
                let message = format!(
                    "face {number} names vertex {missing}, but there are {}, numbered from 0",
                    soup.vertices.len()
                );
                return Err(Flaw::new(here, message));
            }
            let corners: Vec<u32> = corners.iter().map(|corner| *corner as u32).collect();
            soup.add_polygon(here, &corners)?;
        }
    }
    Ok(())
}

/// The numbers after the header.
enum Data<'a> {
    Text(TextScanner<'a>),
    Binary { bytes: &'a [u8], at: usize, big: bool },
}

impl Data<'_> {
    fn place(&self) -> FilePlace {
        match self {
            Self::Text(scanner) => FilePlace::Text(scanner.next_at()),
            Self::Binary { at, .. } => FilePlace::Byte(*at),
        }
    }

    fn value(&mut self, kind: Scalar, element: &PlyElement, number: u64) -> Result<f64, Flaw> {
        let here = self.place();
        let what = || format!("a number of {} {number} ({} announced)", element.name, element.count);
        match self {
            Self::Text(scanner) => {
                let word = scanner.word(format_args!("{}", what()))?;
                word.text.parse().map_err(|_| Flaw::new(here, format!("expected {}, found {word}", what())))
            }
            Self::Binary { bytes, at, big } => {
                let rest = &bytes[*at..];
                let (value, size) = number_of(kind, *big, rest)
                    .ok_or_else(|| Flaw::new(here, format!("the file ends, expected {}", what())))?;
                *at += size;
                Ok(value)
            }
        }
    }

    /// A length or an index.
    fn index(&mut self, kind: Scalar, element: &PlyElement, number: u64) -> Result<u64, Flaw> {
        let here = self.place();
        let value = self.value(kind, element, number)?;
        if value >= 0.0 && value.fract() == 0.0 && value <= f64::from(u32::MAX) {
            return Ok(value as u64);
        }
        Err(Flaw::new(here, format!("found {value} in {} {number}, expected a whole number from 0", element.name)))
    }
}

/// The first number of some bytes, and its size.
fn number_of(kind: Scalar, big: bool, bytes: &[u8]) -> Option<(f64, usize)> {
    macro_rules! read {
        ($type:ty) => {{
            let own = *bytes.first_chunk()?;
            let value = if big { <$type>::from_be_bytes(own) } else { <$type>::from_le_bytes(own) };
            (f64::from(value), size_of::<$type>())
        }};
    }
    Some(match kind {
        Scalar::I8 => read!(i8),
        Scalar::U8 => read!(u8),
        Scalar::I16 => read!(i16),
        Scalar::U16 => read!(u16),
        Scalar::I32 => read!(i32),
        Scalar::U32 => read!(u32),
        Scalar::F32 => read!(f32),
        Scalar::F64 => read!(f64),
    })
}
