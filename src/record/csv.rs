use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::WriteError;
use super::table::Column;

/// Writes a table as comma-separated values: a line of names, then a line for every row. What is not there is left empty.
#[derive(Debug)]
pub struct CsvWriter {
    file: PathBuf,
    out: BufWriter<File>,
}

impl CsvWriter {
    /// Begins a table.
    pub fn create(file: &Path, columns: &[Column]) -> Result<Self, WriteError> {
        let fault = WriteError::of(file);
        let mut out = BufWriter::new(File::create(file).map_err(&fault)?);
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(out, "{}", names.join(",")).map_err(&fault)?;
        Ok(Self { file: file.into(), out })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) -> Result<(), WriteError> {
        self.write(row).map_err(WriteError::of(&self.file))
    }

    fn write(&mut self, row: &[f64]) -> std::io::Result<()> {
        for (place, x) in row.iter().enumerate() {
            self.out.write_all(if place > 0 { b"," } else { b"" })?;
            if !x.is_nan() {
                write!(self.out, "{x}")?;
            }
        }
        writeln!(self.out)
    }

    /// Makes sure that everything is in the file.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.out.flush().map_err(WriteError::of(&self.file))
    }
}
