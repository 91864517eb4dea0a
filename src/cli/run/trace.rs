use std::path::Path;

use super::haptics_log::HapticsLog;
use crate::record::{Columns, CsvWriter, ParquetWriter};
use crate::runtime::Session;

/// Tables with one row per step. All have the same columns except the haptics table.
pub struct Tables {
    columns: Columns,
    csv: Vec<CsvWriter>,
    parquet: Vec<ParquetWriter>,
    haptics: Option<HapticsLog>,
}

impl Tables {
    /// Starts the tables of a run.
    pub fn create(session: &Session, csv: &[&Path], parquet: &[&Path]) -> anyhow::Result<Self> {
        let columns = Columns::of(&session.scene());
        Ok(Self {
            csv: csv.iter().map(|file| CsvWriter::create(file, columns.list())).collect::<Result<_, _>>()?,
            parquet: parquet
                .iter()
                .map(|file| ParquetWriter::create(file, columns.list()))
                .collect::<Result<_, _>>()?,
            columns,
            haptics: None,
        })
    }

    /// Adds a haptics table.
    pub fn and_haptics(mut self, file: &Path, session: &Session) -> anyhow::Result<Self> {
        self.haptics = Some(HapticsLog::create(file, session)?);
        Ok(self)
    }

    /// Adds the row of the last step.
    pub fn add(&mut self, session: &Session) -> anyhow::Result<()> {
        self.haptics.as_mut().map_or(Ok(()), |haptics| haptics.add(session))?;
        if self.csv.is_empty() && self.parquet.is_empty() {
            return Ok(());
        }
        let (step, trial, scene) = (session.steps(), session.trial(), session.scene());
        let row = self.columns.row(&scene, step, trial, scene.world.times().total);
        self.csv.iter_mut().try_for_each(|table| table.add(row))?;
        Ok(self.parquet.iter_mut().try_for_each(|table| table.add(row))?)
    }

    /// Flushes the files.
    pub fn finish(self) -> anyhow::Result<()> {
        self.haptics.map_or(Ok(()), HapticsLog::finish)?;
        self.csv.into_iter().try_for_each(CsvWriter::finish)?;
        Ok(self.parquet.into_iter().try_for_each(ParquetWriter::finish)?)
    }
}
