//! The writer of a program that was built without Parquet.

use std::io;
use std::path::Path;

use super::error::WriteError;
use super::table::Column;

/// Cannot be made without the feature `parquet`.
pub enum ParquetWriter {}

impl ParquetWriter {
    /// An error that names the feature.
    pub fn create(file: &Path, _: &[Column]) -> Result<Self, WriteError> {
        let message = "built without the Cargo feature `parquet`; write CSV, or build with `--features parquet`";
        Err(WriteError::of(file)(io::Error::new(io::ErrorKind::Unsupported, message)))
    }

    /// Never called.
    pub fn add(&mut self, _: &[f64]) -> Result<(), WriteError> {
        match *self {}
    }

    /// Never called.
    pub fn finish(self) -> Result<(), WriteError> {
        match self {}
    }
}
