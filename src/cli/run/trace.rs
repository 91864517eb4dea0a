use std::path::Path;

use super::haptics_log::HapticsLog;
use crate::cli::player::Player;
use crate::record::{Columns, CsvWriter, ParquetWriter};

/// Tables with a line for every step, all with the same columns but for that of what the hands feel.
pub struct Tables {
    columns: Columns,
    csv: Vec<CsvWriter>,
    parquet: Vec<ParquetWriter>,
    haptics: Option<HapticsLog>,
}

impl Tables {
    /// Begins the tables of what is played, in some files.
    pub fn create(player: &Player, csv: &[&Path], parquet: &[&Path]) -> anyhow::Result<Self> {
        let columns = Columns::of(&player.scene());
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

    /// And one of what the hands feel.
    pub fn and_haptics(mut self, file: &Path, player: &Player) -> anyhow::Result<Self> {
        self.haptics = Some(HapticsLog::create(file, player)?);
        Ok(self)
    }

    /// Adds the line of the last step.
    pub fn add(&mut self, player: &Player) -> anyhow::Result<()> {
        self.haptics.as_mut().map_or(Ok(()), |haptics| haptics.add(player))?;
        if self.csv.is_empty() && self.parquet.is_empty() {
            return Ok(());
        }
        let (step, trial, scene) = (player.steps(), player.trial(), player.scene());
        let row = self.columns.row(&scene, step, trial, scene.world.times().total);
        self.csv.iter_mut().try_for_each(|table| table.add(row))?;
        Ok(self.parquet.iter_mut().try_for_each(|table| table.add(row))?)
    }

    /// Makes sure that everything is in the files.
    pub fn finish(self) -> anyhow::Result<()> {
        self.haptics.map_or(Ok(()), HapticsLog::finish)?;
        self.csv.into_iter().try_for_each(CsvWriter::finish)?;
        Ok(self.parquet.into_iter().try_for_each(ParquetWriter::finish)?)
    }
}
