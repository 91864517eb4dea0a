//! Legacy VTK unstructured grids, ASCII. Numbers may be spread over lines in any way, so this reads words.

use std::ops::Range;

use super::scan::{Number, ScanError, TextScanner, Token};
use super::{Tet, UncheckedMesh};
use crate::math::Vec3;

const SECTIONS: [&str; 7] = ["POINTS", "CELLS", "CELL_TYPES", "METADATA", "FIELD", "POINT_DATA", "CELL_DATA"];

/// Cells as ranges of one list of point indices, with their positions in the file.
#[derive(Default)]
struct Cells {
    ranges: Vec<(usize, Range<usize>)>,
    points: Vec<Number>,
}

/// Reads a text that begins with `# vtk DataFile Version`.
pub fn read(text: &str) -> Result<UncheckedMesh, ScanError<'_>> {
    let mut file = TextScanner::new(text);
    header(&mut file)?;
    let (mut points, mut cells, mut types) = (None, None, None);
    while let Some(word) = file.token() {
        match section(word) {
            Some(name @ "POINTS") if points.is_none() => {
                file.section = name;
                points = Some(read_points(&mut file)?);
            }
            Some(name @ "CELLS") if cells.is_none() => {
                file.section = name;
                cells = Some((word.at, read_cells(&mut file)?));
            }
            Some(name @ "CELL_TYPES") if types.is_none() => {
                file.section = name;
                let count = file.number("the number of types")?;
                types = Some((count, numbers(&mut file, count, "type")?));
            }
            Some("METADATA") => {
                file.rest_of_line();
                while file.rest_of_line().is_some_and(|line| !line.trim_ascii().is_empty()) {}
            }
            Some("FIELD") => skip_field(&mut file),
            // Values on points and cells come last and are ignored.
            Some("POINT_DATA" | "CELL_DATA") => break,
            _ => {
                let message = format!("expected another section after the values announced, found {word}");
                return Err(file.fault(word.at, message));
            }
        }
    }
    let lacks = |section| ScanError { at: file.at(), section, message: "the grid ends without this section".into() };
    let points = points.ok_or_else(|| lacks("POINTS"))?;
    let (heading, cells) = cells.ok_or_else(|| lacks("CELLS"))?;
    let (count, types) = types.ok_or_else(|| lacks("CELL_TYPES"))?;
    if types.len() != cells.ranges.len() {
        let message = format!("found {} types, expected one for each of {} cells", types.len(), cells.ranges.len());
        return Err(ScanError { at: count.at, section: "CELL_TYPES", message });
    }
    tetrahedra(points, &cells, &types, heading)
}

fn section(word: Token) -> Option<&'static str> {
    SECTIONS.into_iter().find(|name| name.eq_ignore_ascii_case(word.text))
}

/// The version, a title which may be blank, `ASCII` and the kind of data.
fn header<'a>(file: &mut TextScanner<'a>) -> Result<(), ScanError<'a>> {
    file.rest_of_line();
    file.rest_of_line();
    let mode = file.word("`ASCII`")?;
    if mode.text.eq_ignore_ascii_case("BINARY") {
        let message = "found a binary VTK file, expected `ASCII`: save it again with the file type set to ASCII";
        return Err(file.fault(mode.at, message));
    }
    file.rewind(mode);
    file.keyword("ASCII")?;
    file.keyword("DATASET")?;
    file.section = "DATASET";
    file.keyword("UNSTRUCTURED_GRID")
}

/// `FIELD` data of the whole grid: arrays of anything, each with metadata, up to a line that begins a section.
fn skip_field(file: &mut TextScanner) {
    while let Some(word) = file.line().token() {
        if section(word).is_some_and(|name| name != "METADATA") {
            file.rewind(word);
            return;
        }
    }
}

/// As many numbers as announced. No memory is reserved, since the count may be invalid.
fn numbers<'a>(file: &mut TextScanner<'a>, count: Number, what: &str) -> Result<Vec<Number>, ScanError<'a>> {
    (0..count.value).map(|i| file.number(format_args!("{what} {i} ({} announced)", count.value))).collect()
}

fn read_points<'a>(file: &mut TextScanner<'a>) -> Result<Vec<Vec3>, ScanError<'a>> {
    let count = file.number("the number of points")?.value;
    let kind = file.word("the type of the coordinates, such as `double`")?;
    if !kind.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let message = format!("expected the type of the coordinates, such as `double`, found {kind}");
        return Err(file.fault(kind.at, message));
    }
    (0..count).map(|i| file.point(format_args!("point {i} ({count} announced)"))).collect()
}

/// Both layouts: up to 5.0 the number of points before each cell, from 5.1 two arrays.
fn read_cells<'a>(file: &mut TextScanner<'a>) -> Result<Cells, ScanError<'a>> {
    let count = file.number("the number of cells, or of offsets")?;
    let size = file.number("the number of values")?;
    match file.token() {
        Some(word) if word.text.eq_ignore_ascii_case("OFFSETS") => return read_offset_cells(file, count, size),
        Some(word) => file.rewind(word),
        None => {}
    }
    let mut cells = Cells::default();
    for cell in 0..count.value {
        let length = file.number(format_args!("the number of points of cell {cell} ({} announced)", count.value))?;
        let start = cells.points.len();
        for _ in 0..length.value {
            cells.points.push(file.number(format_args!("a point of cell {cell}"))?);
        }
        cells.ranges.push((length.at, start..cells.points.len()));
    }
    let given = cells.points.len() + cells.ranges.len();
    if size.index() != given {
        let message = format!("found {given} values in the cells, expected the {} announced here", size.value);
        return Err(file.fault(size.at, message));
    }
    Ok(cells)
}

fn read_offset_cells<'a>(file: &mut TextScanner<'a>, count: Number, size: Number) -> Result<Cells, ScanError<'a>> {
    file.word("the type of the offsets")?;
    let offsets = numbers(file, count, "offset")?;
    file.keyword("CONNECTIVITY")?;
    file.word("the type of the point numbers")?;
    let points = numbers(file, size, "point number")?;
    let wrong = |offset: &Number| {
        let message = format!("found offset {}, expected them to rise from 0 to {}", offset.value, points.len());
        file.fault(offset.at, message)
    };
    if let Some(first) = offsets.first().filter(|first| first.value != 0) {
        return Err(wrong(first));
    }
    let mut ranges = Vec::with_capacity(offsets.len());
    for (start, end) in offsets.iter().zip(offsets.iter().skip(1)) {
        let range = start.index()..end.index();
        let cell = points.get(range.clone()).ok_or_else(|| wrong(end))?;
        ranges.push((cell.first().map_or(end.at, |point| point.at), range));
    }
    if let Some(last) = offsets.last().filter(|last| last.index() != points.len()) {
        return Err(wrong(last));
    }
    Ok(Cells { ranges, points })
}

fn tetrahedra<'a>(
    points: Vec<Vec3>,
    cells: &Cells,
    types: &[Number],
    heading: usize,
) -> Result<UncheckedMesh, ScanError<'a>> {
    let fault = |at, message| ScanError { at, section: "CELLS", message };
    let (mut tets, mut skipped) = (Vec::new(), 0);
    for (cell, ((at, range), kind)) in cells.ranges.iter().zip(types).enumerate() {
        match kind.value {
            10 => {}
            // Voxels, hexahedra, wedges and pyramids are solids too: skipping them would leave holes.
            11..=14 => {
                let message = super::other_solid("cell", cell as u64, kind.value, "10");
                return Err(ScanError { at: kind.at, section: "CELL_TYPES", message });
            }
            24 | 64 | 71 | 78 => {
                let message = super::higher_order("cell", cell as u64, kind.value, "10");
                return Err(ScanError { at: kind.at, section: "CELL_TYPES", message });
            }
            _ => {
                skipped += 1;
                continue;
            }
        }
        let corners = cells.points.get(range.clone()).unwrap_or_default();
        let corners: [Number; 4] = corners
            .try_into()
            .map_err(|_| fault(*at, format!("cell {cell} is a tetrahedron of {} points, expected 4", corners.len())))?;
        if let Some(missing) = corners.iter().find(|corner| corner.index() >= points.len()) {
            let message = format!(
                "cell {cell} names point {}, but `POINTS` has {}, numbered from 0",
                missing.value,
                points.len()
            );
            return Err(fault(missing.at, message));
        }
        tets.push(Tet { number: cell as u64, at: *at, nodes: corners.map(Number::index) });
    }
    Ok(UncheckedMesh { section: "CELLS", element: "cell", heading, nodes: points, tets, skipped })
}
