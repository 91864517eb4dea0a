use std::collections::VecDeque;

use crate::record::Columns;
use crate::runtime::Session;
use crate::viewer::window::Trace;

/// Number of stored values per column.
const HISTORY: usize = 400;

/// The plotted columns, a subset of those of `run --trace`.
#[derive(Default)]
pub struct Traces {
    names: Vec<String>,
    columns: Option<Columns>,
    /// Name, unit, column index, and the last values.
    plotted: Vec<(String, String, usize, VecDeque<f64>)>,
}

impl Traces {
    /// The names of all columns.
    pub fn columns(&self, session: &Session) -> Vec<String> {
        Columns::of(&session.scene()).list().iter().map(|column| column.name.clone()).collect()
    }

    /// Plots these columns from now on; unknown names are kept for other scenes.
    pub fn plot(&mut self, names: Vec<String>, session: &Session) {
        self.names = names;
        let columns = Columns::of(&session.scene());
        let mut old = std::mem::take(&mut self.plotted);
        for name in &self.names {
            if let Some(at) = columns.list().iter().position(|column| column.name == *name) {
                let known = old.iter_mut().find(|known| known.0 == *name).map(|known| std::mem::take(&mut known.3));
                self.plotted.push((name.clone(), columns.list()[at].unit.into(), at, known.unwrap_or_default()));
            }
        }
        self.columns = (!self.plotted.is_empty()).then_some(columns);
    }

    /// Restarts, possibly with another session.
    pub fn begin(&mut self, session: &Session) {
        self.plotted.clear();
        self.plot(self.names.clone(), session);
    }

    /// Adds the last step.
    pub fn add(&mut self, session: &Session) {
        let Some(columns) = &mut self.columns else { return };
        let scene = session.scene();
        let row = columns.row(&scene, session.steps(), session.trial(), scene.world.times().total);
        for (_, _, at, values) in &mut self.plotted {
            if values.len() >= HISTORY {
                values.pop_front();
            }
            values.push_back(row.get(*at).copied().unwrap_or(f64::NAN));
        }
    }

    /// The plotted data.
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
