//! Rank 7: recordings. A recording holds every input of a run and the hash of the state after every step, so that the run can be repeated bit for
//! bit and checked. The results of a run can be written as a table. `docs/recording.md` describes the file; `docs/raw_bytes.md` that of the bytes of a device.
//!
//! `examples/headless_batch.rs` writes a table. A [`Session`](crate#from-world-to-haptics) of the module `runtime` records and replays.
//!
//! ```
//! use fingerpad::assets::load_builtin_scene;
//! use fingerpad::record::{Columns, CsvWriter};
//!
//! let mut scene = load_builtin_scene("rest", &[]).expect("a shipped scene")?;
//! let file = std::env::temp_dir().join(format!("fingerpad-doc-{}.csv", std::process::id()));
//! let mut columns = Columns::of(&scene);
//! let mut table = CsvWriter::create(&file, columns.list())?;
//! for step in 1..=3 {
//!     scene.feed();
//!     scene.world.step();
//!     table.add(columns.row(&scene, step, 1, 0.0))?;
//! }
//! table.finish()?;
//! assert_eq!(std::fs::read_to_string(&file)?.lines().count(), 4, "the names, then a line for each step");
//! # std::fs::remove_file(&file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod csv;
mod error;
mod frame;
mod header;
mod input;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod raw;
mod recorder;
mod recording;
mod table;

#[cfg(test)]
mod tests;

pub use self::csv::CsvWriter;
pub use self::parquet::ParquetWriter;
pub use error::{RecordError, WriteError};
pub use header::{Header, RunSource};
pub use input::{Eye, Input};
pub use raw::{RAW_EXTENSION, RAW_FORMAT, RawEvent, RawHeader, RawRecord, RawRecorder, RawRecording};
pub use recorder::Recorder;
pub use recording::{Ending, RecordedStep, Recording};
pub use table::{Column, ColumnKind, Columns, without_noise};

/// File extension of recordings.
pub const EXTENSION: &str = "fpr";
/// Format version.
pub const FORMAT: u16 = 2;
