//! Rank 7: recordings. Everything that a run came from is kept, with the hash of the state after every step, so that it can be repeated bit
//! for bit and checked; and what it did can be written as a table. `docs/recording.md` describes the file; `docs/raw_bytes.md` that of the bytes of a device.

mod bytes;
mod csv;
mod error;
mod frame;
mod header;
mod input;
mod parquet;
mod raw;
mod recorder;
mod recording;
mod table;
mod thrift;

#[cfg(test)]
mod tests;

pub use csv::CsvWriter;
pub use error::{RecordError, WriteError};
pub use header::{Header, Source};
pub use input::Input;
pub use parquet::ParquetWriter;
pub use raw::{RAW_EXTENSION, RAW_FORMAT, RawError, RawEvent, RawHeader, RawRecord, RawRecorder, RawRecording};
pub use recorder::Recorder;
pub use recording::{Ending, RecordedStep, Recording};
pub use table::{Column, Columns, Kind, without_noise};

/// How the names of recordings end.
pub const EXTENSION: &str = "fpr";
/// The format that this program writes and reads.
pub const FORMAT: u16 = 2;
