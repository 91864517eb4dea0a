use super::ranges;
use crate::assets::table::Table;
use crate::body::{Refactor, RefactorPolicy};
use crate::contact::{ContactParameters, Method, Pressure};
use crate::problem::FrictionModel;
use crate::sim::Parameters;
use crate::solver::SolverParameters;

const CONTACT_METHODS: [Method; 2] = [Method::Aggregate, Method::Point];
const PRESSURE_LAWS: [(Pressure, &str); 3] =
    [(Pressure::NonUniform, "nonuniform"), (Pressure::Depth, "depth"), (Pressure::Uniform, "uniform")];
const REFACTORS: [(Refactor, &str); 3] =
    [(Refactor::Always, "always"), (Refactor::Drift, "drift"), (Refactor::Never, "never")];

/// Reads the parameters of a world: some top-level keys, `[contact]` and `[solver]`.
pub fn read_parameters(root: &Table<'_>) -> Parameters {
    let default = Parameters::default();
    let (solver, deadline) = read_solver(root);
    Parameters {
        dt: root.number_or("dt", default.dt, ranges::DT),
        gravity: root.numbers_or("gravity", default.gravity.into(), ranges::GRAVITY).into(),
        refactor: RefactorPolicy {
            when: word_or(root, "refactor", default.refactor.when, &REFACTORS),
            drift: root.number_or("drift", default.refactor.drift, ranges::DRIFT),
        },
        contact: read_contact(root),
        solver,
        deadline,
    }
}

fn read_contact(root: &Table<'_>) -> ContactParameters {
    let default = ContactParameters::default();
    let Some(table) = root.table_if_any("contact") else { return default };
    let contact = ContactParameters {
        method: word_or(&table, "method", default.method, &CONTACT_METHODS.map(|m| (m, m.name()))),
        friction: word_or(&table, "friction", default.friction, &FrictionModel::ALL.map(|f| (f, f.name()))),
        pressure: word_or(&table, "pressure", default.pressure, &PRESSURE_LAWS),
        patches: table.flag_or("patches", default.patches),
        split: table.flag_or("split", default.split),
        split_angle: table
            .number_if_any("split_angle", ranges::SPLIT_ANGLE)
            .map_or(default.split_angle, f64::to_radians),
        alarm: table.number_or("alarm", default.alarm, ranges::ALARM),
        offset: table.number_or("offset", default.offset, ranges::OFFSET),
        layer: table.number_or("layer", default.layer, ranges::LAYER),
        ..default
    };
    table.finish();
    contact
}

/// The solver's parameters, and its time limit, s.
fn read_solver(root: &Table<'_>) -> (SolverParameters, Option<f64>) {
    let default = SolverParameters::default();
    let Some(table) = root.table_if_any("solver") else { return (default, None) };
    let solver = SolverParameters {
        tolerance: table.number_or("tolerance", default.tolerance, ranges::TOLERANCE),
        iterations: table.count_or("iterations", default.iterations, ranges::ITERATIONS),
        ..default
    };
    let deadline = table.number_if_any("deadline_ms", ranges::DEADLINE).map(|ms| 1e-3 * ms);
    table.finish();
    (solver, deadline)
}

fn word_or<T: Copy + PartialEq>(table: &Table<'_>, key: &str, default: T, words: &[(T, &str)]) -> T {
    let names: Vec<&str> = words.iter().map(|(_, name)| *name).collect();
    let place = words.iter().position(|(value, _)| *value == default).unwrap_or(0);
    words[table.choice_or(key, place, &names)].0
}
