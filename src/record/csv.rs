use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::error::WriteError;
use super::table::Column;

/// Writes a table as comma-separated values: a line of names, then a line for every row. A number that is missing is an empty field.
#[derive(Debug)]
pub struct CsvWriter {
    file: PathBuf,
    out: csv::Writer<File>,
    /// A number as text.
    field: String,
}

impl CsvWriter {
    /// Starts a table.
    pub fn create(file: &Path, columns: &[Column]) -> Result<Self, WriteError> {
        let fault = WriteError::of(file);
        let mut out = csv::Writer::from_writer(File::create(file).map_err(&fault)?);
        out.write_record(columns.iter().map(|column| &column.name)).map_err(|error| fault(io_error(error)))?;
        Ok(Self { file: file.into(), out, field: String::new() })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) -> Result<(), WriteError> {
        self.write(row).map_err(|error| WriteError::of(&self.file)(io_error(error)))
    }

    fn write(&mut self, row: &[f64]) -> csv::Result<()> {
        use std::fmt::Write;
        for x in row {
            self.field.clear();
            if !x.is_nan() {
                // Writing to a string does not fail.
                let _ = write!(self.field, "{x}");
            }
            self.out.write_field(&self.field)?;
        }
        self.out.write_record(None::<&[u8]>)
    }

    /// Writes what is buffered to the file.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.out.flush().map_err(WriteError::of(&self.file))
    }
}

/// The error of the system behind one of the crate, without its prefix.
fn io_error(error: csv::Error) -> io::Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other(message),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::ColumnKind;
    use super::*;

    #[test]
    fn names_are_quoted_and_numbers_come_back() {
        let file = std::env::temp_dir().join(format!("fingerpad-{}.csv", std::process::id()));
        let column = |name: &str| Column { name: name.into(), unit: "", kind: ColumnKind::Real };
        let mut table = CsvWriter::create(&file, &[column("ball.x"), column("a, \"b\"")]).expect("a table");
        let rows = [[0.1, f64::NAN], [-0.0, 1e-300], [f64::INFINITY, 3.0]];
        rows.iter().for_each(|row| table.add(row).expect("a row"));
        table.finish().expect("an end");
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(text.starts_with("ball.x,\"a, \"\"b\"\"\"\n0.1,\n-0,"), "{text}");
        let mut read = csv::Reader::from_path(&file).expect("a file");
        assert_eq!(&read.headers().expect("names")[1], "a, \"b\"");
        for (record, row) in read.records().zip(&rows) {
            let record = record.expect("a row of two");
            for (text, x) in record.iter().zip(row) {
                assert!(if x.is_nan() { text.is_empty() } else { text.parse() == Ok(*x) }, "{text} {x}");
            }
        }
        std::fs::remove_file(&file).expect("a file");
        if cfg!(target_os = "linux") {
            let mut full = CsvWriter::create(Path::new("/dev/full"), &[column("x")]).expect("it is buffered");
            full.add(&[1.0]).expect("it is buffered");
            let said = full.finish().expect_err("no space").to_string();
            assert!(said.contains("/dev/full") && said.contains("No space left"), "{said}");
        }
    }
}
