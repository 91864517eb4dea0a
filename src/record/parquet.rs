//! Apache Parquet by the crate `parquet`: flat required columns of doubles and 64-bit integers, compressed with Snappy.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as PhysicalType};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::error::WriteError;
use super::table::{Column, ColumnKind};

/// Rows per row group, kept in memory.
const GROUP: usize = 4096;

/// Writes a table as a Parquet file; its metadata contain the unit of every column.
///
/// The file can be read once it is finished: its index is at the end. A run that is interrupted by a signal finishes it; after `kill -9` the table is
/// written again from the recording.
pub struct ParquetWriter {
    file: PathBuf,
    out: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Column>,
    /// The rows of the current group.
    rows: Vec<f64>,
}

impl ParquetWriter {
    /// Starts a table.
    pub fn create(file: &Path, columns: &[Column]) -> Result<Self, WriteError> {
        let out = BufWriter::new(File::create(file).map_err(WriteError::of(file))?);
        let started =
            schema(columns).and_then(|schema| SerializedFileWriter::new(out, schema, Arc::new(properties(columns))));
        let out = started.map_err(|error| WriteError::of(file)(io_error(error)))?;
        Ok(Self { file: file.into(), out, columns: columns.to_vec(), rows: Vec::new() })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) -> Result<(), WriteError> {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.extend(row);
        if self.rows.len() >= GROUP * self.columns.len() { self.write_group() } else { Ok(()) }
    }

    /// Writes the remaining rows and the metadata.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.write_group()?;
        // Closing flushes the buffer below.
        self.out.finish().map(drop).map_err(|error| WriteError::of(&self.file)(io_error(error)))
    }

    fn write_group(&mut self) -> Result<(), WriteError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.put_group().map_err(|error| WriteError::of(&self.file)(io_error(error)))?;
        self.rows.clear();
        Ok(())
    }

    fn put_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.out.next_row_group()?;
        for (place, column) in self.columns.iter().enumerate() {
            let numbers = self.rows.iter().skip(place).step_by(self.columns.len());
            let Some(mut out) = group.next_column()? else { break };
            match column.kind {
                ColumnKind::Real => {
                    let numbers: Vec<f64> = numbers.copied().collect();
                    out.typed::<DoubleType>().write_batch(&numbers, None, None)?;
                }
                ColumnKind::Whole => {
                    let numbers: Vec<i64> = numbers.map(|x| *x as i64).collect();
                    out.typed::<Int64Type>().write_batch(&numbers, None, None)?;
                }
            }
            out.close()?;
        }
        group.close().map(drop)
    }
}

fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let field = |column: &Column| {
        let kind = match column.kind {
            ColumnKind::Real => PhysicalType::DOUBLE,
            ColumnKind::Whole => PhysicalType::INT64,
        };
        Type::primitive_type_builder(&column.name, kind).with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("run").with_fields(fields).build().map(Arc::new)
}

fn properties(columns: &[Column]) -> WriterProperties {
    let unit = |column: &Column| KeyValue::new(format!("unit:{}", column.name), column.unit.to_string());
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("fingerpad version ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata(Some(columns.iter().map(unit).collect()))
        .build()
}

/// The error of the system behind one of the crate, without its prefix.
fn io_error(error: ParquetError) -> io::Error {
    let system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match system.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    #[test]
    fn numbers_come_back_from_several_row_groups() {
        let column = |name: &str, unit, kind| Column { name: name.into(), unit, kind };
        let mut columns = vec![column("ball.x", "m", ColumnKind::Real), column("count", "", ColumnKind::Whole)];
        columns.extend((0..20).map(|i| column(&format!("größe {i}"), "", ColumnKind::Real)));
        let row = |i: usize| {
            let mut row = vec![0.1 * i as f64, i as f64 - 5.0];
            row.extend((0..20).map(|j| if j == 3 { f64::NAN } else { (i * j) as f64 }));
            row
        };
        for (rows, groups) in [(0, 0), (1, 1), (GROUP, 1), (2 * GROUP + 7, 3)] {
            let file = std::env::temp_dir().join(format!("fingerpad-{}-{rows}.parquet", std::process::id()));
            let mut writer = ParquetWriter::create(&file, &columns).expect("a table");
            (0..rows).for_each(|i| writer.add(&row(i)).expect("a row"));
            writer.finish().expect("an end");
            let reader = SerializedFileReader::new(File::open(&file).expect("a file")).expect("a table");
            std::fs::remove_file(&file).expect("a file");
            assert_eq!(reader.num_row_groups(), groups);
            let about = reader.metadata().file_metadata().key_value_metadata().expect("units");
            assert_eq!((about[0].key.as_str(), about[0].value.as_deref()), ("unit:ball.x", Some("m")));
            let mut count = 0;
            for (i, found) in reader.get_row_iter(None).expect("rows").enumerate() {
                count += 1;
                for ((x, column), (name, field)) in
                    row(i).iter().zip(&columns).zip(found.expect("a row").get_column_iter())
                {
                    assert_eq!(*name, column.name);
                    match field {
                        Field::Double(y) => assert!(x == y || x.is_nan() && y.is_nan(), "{x} {y}"),
                        Field::Long(y) => assert_eq!(*x, *y as f64),
                        other => panic!("{other:?}"),
                    }
                }
            }
            assert_eq!(count, rows);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_plainly() {
        let columns = [Column { name: "x".into(), unit: "", kind: ColumnKind::Real }];
        let mut full = ParquetWriter::create(Path::new("/dev/full"), &columns).expect("it is buffered");
        full.add(&[1.0]).expect("it is buffered");
        let said = full.finish().expect_err("no space").to_string();
        assert!(said.contains("/dev/full") && said.contains("No space left"), "{said}");
    }
}
