//! Gmsh 2.2 and 4.1, ASCII. Sections `$X` … `$EndX`; within them, every node and every element is a line.

use std::collections::HashMap;

use super::scan::{Number, ScanError, TextScanner, Token};
use super::{Tet, UncheckedMesh};
use crate::math::Vec3;

const ELEMENTS: &str = "$Elements";

#[derive(Clone, Copy)]
enum Version {
    V22,
    V41,
}

/// Data read so far. Elements keep their node tags until the end, since nodes may follow them.
#[derive(Default)]
struct Contents {
    nodes: Vec<Vec3>,
    by_tag: HashMap<u64, usize>,
    tets: Vec<(Number, [Number; 4])>,
    skipped: usize,
}

/// Reads a text that has a `$MeshFormat`.
pub fn read(text: &str) -> Result<UncheckedMesh, ScanError<'_>> {
    let mut file = TextScanner::new(text);
    let mut contents = Contents::default();
    let (mut version, mut elements) = (None, None);
    while let Some(heading) = file.line().token() {
        // Text between sections is a comment.
        if !heading.text.starts_with('$') {
            continue;
        }
        file.section = heading.text;
        match (heading.text, version) {
            ("$MeshFormat", _) => version = Some(read_format(&mut file)?),
            ("$Nodes", Some(Version::V22)) => contents.nodes_22(&mut file)?,
            ("$Nodes", Some(Version::V41)) => contents.nodes_41(&mut file)?,
            (ELEMENTS, Some(Version::V22)) => contents.elements_22(&mut file)?,
            (ELEMENTS, Some(Version::V41)) => contents.elements_41(&mut file)?,
            ("$Nodes" | ELEMENTS, None) => return Err(file.fault(heading.at, "expected `$MeshFormat` to come first")),
            (text, _) if text.starts_with("$End") => {
                return Err(file.fault(heading.at, "found an end, expected a section to begin"));
            }
            _ => {
                skip(&mut file, heading)?;
                continue;
            }
        }
        if heading.text == ELEMENTS {
            elements = Some(heading.at);
        }
        file.line().keyword(&end_of(heading))?;
    }
    file.section = ELEMENTS;
    let heading = elements.ok_or_else(|| file.fault(file.at(), "the file ends without this section"))?;
    contents.resolve(&file, heading)
}

fn end_of(heading: Token) -> String {
    heading.text.replacen('$', "$End", 1)
}

/// Skips a section.
fn skip<'a>(file: &mut TextScanner<'a>, heading: Token<'a>) -> Result<(), ScanError<'a>> {
    let end = end_of(heading);
    while file.line().word(format_args!("`{end}`"))?.text != end {}
    Ok(())
}

/// `version file-type data-size`.
fn read_format<'a>(file: &mut TextScanner<'a>) -> Result<Version, ScanError<'a>> {
    let mut line = file.line();
    let word = line.word("the version of the format")?;
    let version = match word.text {
        "2.2" => Version::V22,
        "4.1" => Version::V41,
        _ => {
            let message = format!(
                "found Gmsh format {word}, expected 2.2 or 4.1: re-export with `gmsh -format msh41` or `-format msh22`"
            );
            return Err(file.fault(word.at, message));
        }
    };
    let kind = line.number("the file type, 0 for ASCII")?;
    if kind.value != 0 {
        let message = "found a binary file, expected file type 0 (ASCII): re-export with `gmsh -format msh41 \
                       -setnumber Mesh.Binary 0`";
        return Err(file.fault(kind.at, message));
    }
    line.number("the size of a number in bytes")?;
    line.finish()?;
    Ok(version)
}

impl Contents {
    fn nodes_22<'a>(&mut self, file: &mut TextScanner<'a>) -> Result<(), ScanError<'a>> {
        let count = alone(&mut file.line(), "the number of nodes")?.value;
        for i in 1..=count {
            let mut line = file.line();
            let tag = line.number(format_args!("the tag of node {i} of {count}"))?;
            let point = line.point(format_args!("node {}", tag.value))?;
            line.finish()?;
            self.add_node(file, tag, point)?;
        }
        Ok(())
    }

    /// Blocks of tags followed by as many lines of coordinates.
    fn nodes_41<'a>(&mut self, file: &mut TextScanner<'a>) -> Result<(), ScanError<'a>> {
        let before = self.nodes.len();
        let [blocks, total] = section_header(file, "nodes")?;
        for block in 1..=blocks.value {
            let mut line = file.line();
            line.number(format_args!("the dimension of block {block} of {}", blocks.value))?;
            line.word("the tag of an entity")?;
            let parametric = line.number("0, or 1 for parametric nodes")?.value != 0;
            let count = alone(&mut line, "the number of nodes in the block")?.value;
            let mut tags = Vec::new();
            for i in 1..=count {
                let what = format_args!("the tag of node {i} of {count} in block {block}");
                tags.push(alone(&mut file.line(), what)?);
            }
            for tag in tags {
                let mut line = file.line();
                let point = line.point(format_args!("node {}", tag.value))?;
                // Parametric coordinates follow.
                if !parametric {
                    line.finish()?;
                }
                self.add_node(file, tag, point)?;
            }
        }
        same_total(file, total, self.nodes.len() - before)
    }

    fn add_node<'a>(&mut self, file: &TextScanner<'a>, tag: Number, point: Vec3) -> Result<(), ScanError<'a>> {
        if self.by_tag.insert(tag.value, self.nodes.len()).is_some() {
            return Err(file.fault(tag.at, format!("node {} is given twice, expected every tag once", tag.value)));
        }
        self.nodes.push(point);
        Ok(())
    }

    /// Lines `tag type number-of-tags tags… nodes…`.
    fn elements_22<'a>(&mut self, file: &mut TextScanner<'a>) -> Result<(), ScanError<'a>> {
        let count = alone(&mut file.line(), "the number of elements")?.value;
        for i in 1..=count {
            let mut line = file.line();
            let tag = line.number(format_args!("the tag of element {i} of {count}"))?;
            let kind = line.number(format_args!("the type of element {}", tag.value))?;
            let tags = line.number(format_args!("the number of tags of element {}", tag.value))?.value;
            for i in 1..=tags {
                line.word(format_args!("tag {i} of {tags} of element {}", tag.value))?;
            }
            self.add_element(&mut line, tag, kind)?;
        }
        Ok(())
    }

    /// Blocks of one type, lines `tag nodes…`.
    fn elements_41<'a>(&mut self, file: &mut TextScanner<'a>) -> Result<(), ScanError<'a>> {
        let [blocks, total] = section_header(file, "elements")?;
        let mut given = 0;
        for block in 1..=blocks.value {
            let mut line = file.line();
            line.number(format_args!("the dimension of block {block} of {}", blocks.value))?;
            line.word("the tag of an entity")?;
            let kind = line.number("the type of the elements")?;
            let count = alone(&mut line, "the number of elements in the block")?.value;
            for i in 1..=count {
                let mut line = file.line();
                let tag = line.number(format_args!("the tag of element {i} of {count} in block {block}"))?;
                self.add_element(&mut line, tag, kind)?;
                given += 1;
            }
        }
        same_total(file, total, given)
    }

    /// The node tags of an element: the rest of its line.
    fn add_element<'a>(&mut self, line: &mut TextScanner<'a>, tag: Number, kind: Number) -> Result<(), ScanError<'a>> {
        match kind.value {
            4 => {
                let mut nodes = [tag; 4];
                for (i, node) in nodes.iter_mut().enumerate() {
                    *node = line.number(format_args!("node {} of 4 of element {}", i + 1, tag.value))?;
                }
                line.finish()?;
                self.tets.push((tag, nodes));
            }
            // Hexahedra, prisms and pyramids are solids too: skipping them would leave holes.
            5..=7 => return Err(line.fault(kind.at, super::other_solid("element", tag.value, kind.value, "4"))),
            11 | 29..=31 => return Err(line.fault(kind.at, super::higher_order("element", tag.value, kind.value, "4"))),
            _ => self.skipped += 1,
        }
        Ok(())
    }

    fn resolve<'a>(self, file: &TextScanner<'a>, heading: usize) -> Result<UncheckedMesh, ScanError<'a>> {
        let mut tets = Vec::with_capacity(self.tets.len());
        for (tag, tags) in self.tets {
            let mut nodes = [0; 4];
            for (node, wanted) in nodes.iter_mut().zip(tags) {
                *node = *self.by_tag.get(&wanted.value).ok_or_else(|| {
                    let message =
                        format!("element {} refers to node {}, which is not in `$Nodes`", tag.value, wanted.value);
                    file.fault(wanted.at, message)
                })?;
            }
            tets.push(Tet { number: tag.value, at: tag.at, nodes });
        }
        Ok(UncheckedMesh {
            section: ELEMENTS,
            element: "element",
            heading,
            nodes: self.nodes,
            tets,
            skipped: self.skipped,
        })
    }
}

/// The last number of a line.
fn alone<'a>(line: &mut TextScanner<'a>, what: impl std::fmt::Display) -> Result<Number, ScanError<'a>> {
    let number = line.number(what)?;
    line.finish()?;
    Ok(number)
}

/// `blocks total smallest-tag largest-tag` of a 4.1 section: the blocks and the total.
fn section_header<'a>(file: &mut TextScanner<'a>, things: &str) -> Result<[Number; 2], ScanError<'a>> {
    let mut line = file.line();
    let blocks = line.number("the number of blocks")?;
    let total = line.number(format_args!("the number of {things}"))?;
    line.number("the smallest tag")?;
    alone(&mut line, "the largest tag")?;
    Ok([blocks, total])
}

fn same_total<'a>(file: &TextScanner<'a>, announced: Number, given: usize) -> Result<(), ScanError<'a>> {
    if announced.index() == given {
        return Ok(());
    }
    let message =
        format!("found {given} in the blocks of this section, expected the {} announced here", announced.value);
    Err(file.fault(announced.at, message))
}
