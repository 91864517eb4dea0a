use std::collections::VecDeque;

use crate::cli::player::Player;
use crate::record::Columns;
use crate::viewer::window::Trace;

/// Values that are kept of a column.
const HISTORY: usize = 400;

/// The columns that are plotted, of those that `run --trace` writes.
#[derive(Default)]
pub struct Traces {
    names: Vec<String>,
    columns: Option<Columns>,
    /// Name, unit, place among the columns, and the last values.
    plotted: Vec<(String, String, usize, VecDeque<f64>)>,
}

impl Traces {
    /// The names of all columns of what is played.
    pub fn columns(&self, player: &Player) -> Vec<String> {
        Columns::of(&player.scene()).list().iter().map(|column| column.name.clone()).collect()
    }

    /// Plots these columns from now on; names that are not columns are kept for other scenes.
    pub fn plot(&mut self, names: Vec<String>, player: &Player) {
        self.names = names;
        let columns = Columns::of(&player.scene());
        let mut old = std::mem::take(&mut self.plotted);
        for name in &self.names {
            if let Some(at) = columns.list().iter().position(|column| column.name == *name) {
                let known = old.iter_mut().find(|known| known.0 == *name).map(|known| std::mem::take(&mut known.3));
                self.plotted.push((name.clone(), columns.list()[at].unit.into(), at, known.unwrap_or_default()));
            }
        }
        self.columns = (!self.plotted.is_empty()).then_some(columns);
    }

    /// From the start again, maybe of something else.
    pub fn begin(&mut self, player: &Player) {
        self.plotted.clear();
        self.plot(self.names.clone(), player);
    }

    /// Takes the last step in.
    pub fn add(&mut self, player: &Player) {
        let Some(columns) = &mut self.columns else { return };
        let scene = player.scene();
        let row = columns.row(&scene, player.steps(), player.trial(), scene.world.times().total);
        for (_, _, at, values) in &mut self.plotted {
            if values.len() >= HISTORY {
                values.pop_front();
            }
            values.push_back(row.get(*at).copied().unwrap_or(f64::NAN));
        }
    }

    /// What there is to plot.
    pub fn fill(&self, traces: &mut Vec<Trace>) {
        traces.resize_with(self.plotted.len(), Trace::default);
        for (trace, (name, unit, _, values)) in traces.iter_mut().zip(&self.plotted) {
            trace.name.clone_from(name);
            trace.unit.clone_from(unit);
            trace.values.clear();
            trace.values.extend(values);
        }
    }
}
