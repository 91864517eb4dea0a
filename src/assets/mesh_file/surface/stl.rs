//! STL, as text and binary.

use super::{FilePlace, Flaw, Soup};
use crate::assets::mesh_file::scan::TextScanner;
use crate::math::Vec3;

/// Bytes of a header with its count, and of a triangle.
const STL_HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// The number of triangles that a binary header announces.
fn announced(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..STL_HEADER)?.first_chunk().map(|count| u32::from_le_bytes(*count))?;
    usize::try_from(count).ok()
}

/// Whether these are the bytes of a binary file. Some of them begin with `solid`, so the length decides; where it does not fit, the file is
/// binary if its head is not text.
pub fn is_binary(bytes: &[u8]) -> bool {
    let Some(count) = announced(bytes) else { return false };
    let fits = count.checked_mul(TRIANGLE).and_then(|n| n.checked_add(STL_HEADER)) == Some(bytes.len());
    fits || (bytes[..STL_HEADER].contains(&0) && !bytes.starts_with(b"glTF"))
}

/// Reads a binary file.
pub fn read_binary(bytes: &[u8]) -> Result<Soup, Flaw> {
    let count = announced(bytes).unwrap_or(0);
    let room = bytes.len().saturating_sub(STL_HEADER) / TRIANGLE;
    if count > room {
        let message =
            format!("a binary STL of {count} triangles is announced, but the file ends after {room}: it was cut off");
        return Err(Flaw::new(FilePlace::Byte(80), message));
    }
    let mut soup = Soup::default();
    for (number, triangle) in bytes[STL_HEADER..].chunks_exact(TRIANGLE).take(count).enumerate() {
        let place = FilePlace::Byte(STL_HEADER + number * TRIANGLE);
        let mut corners = [0; 3];
        // After the normal, which the corners imply.
        for (corner, point) in corners.iter_mut().zip(triangle[12..48].chunks_exact(12)) {
            let coordinate = |i: usize| point[4 * i..].first_chunk().map_or(f32::NAN, |x| f32::from_le_bytes(*x));
            let p = Vec3::new(coordinate(0).into(), coordinate(1).into(), coordinate(2).into());
            if !p.iter().all(|x| x.is_finite()) {
                return Err(Flaw::new(place, format!("a corner of triangle {} is not finite", number + 1)));
            }
            *corner = soup.add_vertex(place, p)?;
        }
        soup.add_triangle(place, corners)?;
    }
    Ok(soup)
}

/// Reads a text file, of one or several solids.
pub fn read_text(text: &str) -> Result<Soup, Flaw> {
    let mut scanner = TextScanner::new(text);
    let mut soup = Soup::default();
    while let Some(word) = scanner.token() {
        scanner.rewind(word);
        scanner.keyword("solid")?;
        scanner.rest_of_line();
        loop {
            let word = scanner.word("`facet` or `endsolid`")?;
            if word.text.eq_ignore_ascii_case("endsolid") {
                scanner.rest_of_line();
                break;
            }
            scanner.rewind(word);
            scanner.keyword("facet")?;
            scanner.keyword("normal")?;
            // The corners imply it, and exporters write what they like.
            for axis in ["x", "y", "z"] {
                scanner.word(format_args!("{axis} of the normal"))?;
            }
            scanner.keyword("outer")?;
            scanner.keyword("loop")?;
            let place = FilePlace::Text(word.at);
            let number = soup.triangles.len() + 1;
            let mut corners = [0; 3];
            for corner in &mut corners {
                scanner.keyword("vertex")?;
                *corner = soup.add_vertex(place, scanner.point(format_args!("a vertex of facet {number}"))?)?;
            }
            scanner.keyword("endloop")?;
            scanner.keyword("endfacet")?;
            soup.add_triangle(place, corners)?;
        }
    }
    Ok(soup)
}
