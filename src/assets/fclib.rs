//! Contact problems as FCLIB files: the collection of frictional contact problems of the Siconos project, in HDF5.
//!
//! A local problem has `W`, `q` and `mu`; rows are normal, tangent, tangent, and `u = W r + q`. A global one has `M`, `H`, `f`, `w` and `mu`, and
//! `W = Hᵀ M⁻¹ H`, `q = Hᵀ M⁻¹ f + w`. A matrix is a group `m, n, nz, p, i, x`: with `nz ≥ 0` triplets of that number (`i` rows, `p` columns), with −1
//! compressed columns, with −2 compressed rows.

use std::path::Path;

use hdf5_pure::{File, FileBuilder};
use nalgebra::{DMatrix, DVector};

use super::bounded::read_bounded;
use super::limits::PROBLEM_BYTES;
use super::problem::Problems;
use crate::problem::{ContactProblem, Law};

/// Most rows or columns of a matrix that is read: it is kept dense.
const MAX_SIZE: usize = 20_000;

/// Reads the problem of a file, and checks it.
pub fn read_fclib(file: &Path) -> Result<ContactProblem, Problems> {
    let wrong = |message: String| Problems::with_file(file, message);
    let bytes = read_bounded(file, PROBLEM_BYTES).map_err(|fault| wrong(fault.to_string()))?;
    let opened = File::from_bytes(bytes).map_err(|e| wrong(format!("not an HDF5 file: {e}")))?;
    let (w, q, mu) = read(&opened).map_err(wrong)?;
    if q.len() != 3 * mu.len() || w.shape() != (q.len(), q.len()) {
        let (rows, columns) = w.shape();
        let message =
            format!("{} coefficients of friction, {} velocities and W of {rows} × {columns}", mu.len(), q.len());
        return Err(wrong(format!("sizes do not agree: {message}")));
    }
    let problem = ContactProblem {
        // Row by row; nalgebra keeps columns.
        delassus: w.transpose().as_slice().to_vec(),
        free: q.as_slice().to_vec(),
        laws: mu.iter().map(|mu| Law::Coulomb { mu: *mu }).collect(),
    };
    problem.check().map_err(|fault| wrong(fault.to_string()))?;
    Ok(problem)
}

type Local = (DMatrix<f64>, DVector<f64>, Vec<f64>);

fn read(file: &File) -> Result<Local, String> {
    let groups = file.root().groups().map_err(|e| e.to_string())?;
    let has = |name: &str| groups.iter().any(|group| group == name);
    let kind = ["fclib_local", "fclib_global"].into_iter().find(|kind| has(kind));
    let kind = kind.ok_or("expected a group `fclib_local` or `fclib_global`")?;
    let dimension = whole(file, &format!("{kind}/spacedim"))?;
    if dimension != 3 {
        return Err(format!("{kind}/spacedim: expected 3, found {dimension}"));
    }
    let mu = numbers(file, &format!("{kind}/vectors/mu"))?;
    if kind == "fclib_local" {
        let q = numbers(file, "fclib_local/vectors/q")?;
        return Ok((matrix(file, "fclib_local/W")?, q.into(), mu));
    }
    let (m, h) = (matrix(file, "fclib_global/M")?, matrix(file, "fclib_global/H")?);
    let [f, w] = ["f", "w"].map(|name| numbers(file, &format!("fclib_global/vectors/{name}")));
    let (f, w): (DVector<f64>, DVector<f64>) = (f?.into(), w?.into());
    if !m.is_square() || h.nrows() != m.nrows() || f.len() != m.nrows() || w.len() != h.ncols() {
        return Err("the sizes of M, H, f and w do not agree".into());
    }
    let factor = m.lu();
    let singular = "fclib_global/M: expected a regular matrix";
    let through = factor.solve(&h).ok_or(singular)?;
    let free = h.tr_mul(&factor.solve(&f).ok_or(singular)?) + w;
    Ok((h.tr_mul(&through), free, mu))
}

fn numbers(file: &File, path: &str) -> Result<Vec<f64>, String> {
    file.dataset(path).and_then(|set| set.read_f64()).map_err(|e| format!("{path}: {e}"))
}

fn wholes(file: &File, path: &str) -> Result<Vec<i64>, String> {
    file.dataset(path).and_then(|set| set.read::<i64>()).map_err(|e| format!("{path}: {e}"))
}

fn whole(file: &File, path: &str) -> Result<i64, String> {
    wholes(file, path)?.first().copied().ok_or_else(|| format!("{path}: expected a number"))
}

fn matrix(file: &File, path: &str) -> Result<DMatrix<f64>, String> {
    let size = |name: &str| {
        let size = whole(file, &format!("{path}/{name}"))?;
        let fits = usize::try_from(size).ok().filter(|size| *size <= MAX_SIZE);
        fits.ok_or_else(|| format!("{path}/{name}: expected a size up to {MAX_SIZE}, found {size}"))
    };
    let (rows, columns, count) = (size("m")?, size("n")?, whole(file, &format!("{path}/nz"))?);
    let [p, i] = ["p", "i"].map(|name| wholes(file, &format!("{path}/{name}")));
    let (p, i, x) = (p?, i?, numbers(file, &format!("{path}/x"))?);
    let mut matrix = DMatrix::zeros(rows, columns);
    let mut add = |row: i64, column: i64, at: usize| -> Option<()> {
        let (row, column) = (usize::try_from(row).ok()?, usize::try_from(column).ok()?);
        *matrix.get_mut((row, column))? += *x.get(at)?;
        Some(())
    };
    let wrong = || format!("{path}: an index leads out of the matrix");
    match count {
        0.. => {
            for at in 0..count as usize {
                let (row, column) = i.get(at).zip(p.get(at)).ok_or_else(wrong)?;
                add(*row, *column, at).ok_or_else(wrong)?;
            }
        }
        -1 | -2 => {
            let lines = if count == -1 { columns } else { rows };
            for line in 0..lines {
                let (from, to) = p.get(line).zip(p.get(line + 1)).ok_or_else(wrong)?;
                for at in *from..*to {
                    let at = usize::try_from(at).ok().filter(|at| *at < i.len()).ok_or_else(wrong)?;
                    let (row, column) = if count == -1 { (i[at], line as i64) } else { (line as i64, i[at]) };
                    add(row, column, at).ok_or_else(wrong)?;
                }
            }
        }
        other => return Err(format!("{path}/nz: expected −2, −1 or a count, found {other}")),
    }
    Ok(matrix)
}

/// Writes a problem of point contacts as a local one, with `W` in compressed rows.
pub fn write_fclib(file: &Path, problem: &ContactProblem) -> Result<(), Problems> {
    let wrong = |message: String| Problems::with_file(file, message);
    let mu: Option<Vec<f64>> =
        problem.laws.iter().map(|law| if let Law::Coulomb { mu } = law { Some(*mu) } else { None }).collect();
    let mu = mu.ok_or_else(|| {
        wrong(
            "FCLIB files have point contacts alone, and the problem has other laws; simulate with `--method point`"
                .into(),
        )
    })?;
    let n = problem.rows();
    let (mut starts, mut columns, mut entries) = (vec![0i32], Vec::new(), Vec::new());
    for row in 0..n {
        for column in (0..n).filter(|column| problem.w(row, *column) != 0.0) {
            columns.push(column as i32);
            entries.push(problem.w(row, column));
        }
        starts.push(columns.len() as i32);
    }
    let mut builder = FileBuilder::new();
    let mut local = builder.create_group("fclib_local");
    local.create_dataset("spacedim").with_data(&[3i32]).with_shape(&[1]);
    let mut matrix = local.create_group("W");
    for (name, value) in [("m", n as i32), ("n", n as i32), ("nz", -2), ("nzmax", entries.len() as i32)] {
        matrix.create_dataset(name).with_data(&[value]).with_shape(&[1]);
    }
    matrix.create_dataset("p").with_data(&starts).with_shape(&[starts.len() as u64]);
    matrix.create_dataset("i").with_data(&columns).with_shape(&[columns.len() as u64]);
    matrix.create_dataset("x").with_data(&entries).with_shape(&[entries.len() as u64]);
    local.add_group(matrix.finish());
    let mut vectors = local.create_group("vectors");
    vectors.create_dataset("q").with_data(&problem.free).with_shape(&[n as u64]);
    vectors.create_dataset("mu").with_data(&mu).with_shape(&[mu.len() as u64]);
    local.add_group(vectors.finish());
    builder.add_group(local.finish());
    let bytes = builder.finish().map_err(|e| wrong(format!("cannot be written: {e}")))?;
    std::fs::write(file, bytes).map_err(|e| wrong(format!("cannot be written: {e}")))
}
