//! Apache Parquet, as plain as it can be: flat required columns of doubles and 64-bit integers, uncompressed, one page a column and row group.
//! A library would do more, and take longer to build than the rest of this module takes to read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::WriteError;
use super::table::{Column, Kind};
use super::thrift::Struct;

const MAGIC: &[u8; 4] = b"PAR1";
/// Rows that are kept in memory and written together.
const GROUP: usize = 4096;
/// Numbers that the format gives to what is used here.
const TYPE_I64: i32 = 2;
const TYPE_DOUBLE: i32 = 5;
const REQUIRED: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;

/// Writes a table as a Parquet file, whose metadata name the unit of every column.
#[derive(Debug)]
pub struct ParquetWriter {
    file: PathBuf,
    out: BufWriter<File>,
    columns: Vec<Column>,
    /// The rows of the group that is being gathered, one after the other.
    rows: Vec<f64>,
    written: u64,
    groups: Vec<Group>,
}

/// A row group that was written.
#[derive(Debug)]
struct Group {
    rows: usize,
    /// Where the page of each column begins, and its bytes.
    pages: Vec<(u64, u64)>,
}

impl ParquetWriter {
    /// Begins a table.
    pub fn create(file: &Path, columns: &[Column]) -> Result<Self, WriteError> {
        let fault = WriteError::of(file);
        let mut out = BufWriter::new(File::create(file).map_err(&fault)?);
        out.write_all(MAGIC).map_err(&fault)?;
        let (columns, written) = (columns.to_vec(), MAGIC.len() as u64);
        Ok(Self { file: file.into(), out, columns, rows: Vec::new(), written, groups: Vec::new() })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) -> Result<(), WriteError> {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.extend(row);
        if self.rows.len() >= GROUP * self.columns.len() { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left and the metadata.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.write_group()?;
        let metadata = self.metadata();
        let length = (metadata.len() as u32).to_le_bytes();
        self.write(&metadata)?;
        self.write(&length)?;
        self.write(MAGIC)?;
        self.out.flush().map_err(WriteError::of(&self.file))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes).map_err(WriteError::of(&self.file))
    }

    fn write_group(&mut self) -> Result<(), WriteError> {
        let count = self.rows.len() / self.columns.len();
        if count == 0 {
            return Ok(());
        }
        let mut pages = Vec::with_capacity(self.columns.len());
        for place in 0..self.columns.len() {
            let kind = self.columns[place].kind;
            let numbers = self.rows.iter().skip(place).step_by(self.columns.len());
            let data: Vec<u8> = match kind {
                Kind::Real => numbers.flat_map(|x| x.to_le_bytes()).collect(),
                Kind::Whole => numbers.flat_map(|x| (*x as i64).to_le_bytes()).collect(),
            };
            let start = self.written;
            self.write(&page_header(count, data.len()))?;
            self.write(&data)?;
            pages.push((start, self.written - start));
        }
        self.groups.push(Group { rows: count, pages });
        self.rows.clear();
        Ok(())
    }

    fn metadata(&self) -> Vec<u8> {
        let root = Struct::default().text(4, "run").i32(5, self.columns.len() as i32);
        let column =
            |column: &Column| Struct::default().i32(1, physical(column.kind)).i32(3, REQUIRED).text(4, &column.name);
        let schema: Vec<Struct> = std::iter::once(root).chain(self.columns.iter().map(column)).collect();
        let unit = |column: &Column| Struct::default().text(1, &format!("unit:{}", column.name)).text(2, column.unit);
        let rows: usize = self.groups.iter().map(|group| group.rows).sum();
        Struct::default()
            .i32(1, 1)
            .structs(2, schema.into_iter())
            .i64(3, rows as i64)
            .structs(4, self.groups.iter().map(|group| self.group_metadata(group)))
            .structs(5, self.columns.iter().map(unit))
            .text(6, concat!("fingerpad version ", env!("CARGO_PKG_VERSION")))
            .finish()
    }

    fn group_metadata(&self, group: &Group) -> Struct {
        let bytes: u64 = group.pages.iter().map(|(_, bytes)| bytes).sum();
        let chunk = |(column, &(start, bytes)): (&Column, &(u64, u64))| {
            let metadata = Struct::default()
                .i32(1, physical(column.kind))
                .i32s(2, &[PLAIN, RLE])
                .texts(3, &[&column.name])
                .i32(4, UNCOMPRESSED)
                .i64(5, group.rows as i64)
                .i64(6, bytes as i64)
                .i64(7, bytes as i64)
                .i64(9, start as i64);
            Struct::default().i64(2, start as i64).inner(3, metadata)
        };
        Struct::default()
            .structs(1, self.columns.iter().zip(&group.pages).map(chunk))
            .i64(2, bytes as i64)
            .i64(3, group.rows as i64)
    }
}

fn physical(kind: Kind) -> i32 {
    match kind {
        Kind::Real => TYPE_DOUBLE,
        Kind::Whole => TYPE_I64,
    }
}

fn page_header(values: usize, bytes: usize) -> Vec<u8> {
    let data = Struct::default().i32(1, values as i32).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    Struct::default().i32(1, DATA_PAGE).i32(2, bytes as i32).i32(3, bytes as i32).inner(5, data).finish()
}

#[cfg(test)]
mod tests;
