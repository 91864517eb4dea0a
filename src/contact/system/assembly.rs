use super::super::aggregate::Aggregate;
use super::super::group::Group;
use super::super::parameters::ContactParameters;
use super::super::proximity::Proximity;
use super::{ConstraintBlock, RowTerm, Source, System, root};
use crate::body::Bodies;
use crate::problem::Law;

/// Cells per side of the friction grid; used if an aggregate has more contacts than cells.
const PATCH_CELLS: usize = 6;

impl System {
    /// Bodies in contact, directly or through others, form a group; the static world connects nothing.
    pub(super) fn sort_into_groups(&mut self, bodies: &Bodies) {
        self.parents.clear();
        self.parents.extend(0..bodies.part_count() as u32);
        for block in &self.blocks {
            let mut ids = block.parts.iter().flatten().map(|&part| bodies.part_index(part) as u32);
            let Some(first) = ids.next() else { continue };
            for id in ids {
                let (a, b) = (root(&mut self.parents, first), root(&mut self.parents, id));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.group_count = 0;
        self.group_of.clear();
        self.group_of.resize(bodies.part_count(), u32::MAX);
        for (index, block) in self.blocks.iter().enumerate() {
            let Some(part) = block.parts.iter().flatten().next() else { continue };
            let root = root(&mut self.parents, bodies.part_index(*part) as u32) as usize;
            if self.group_of[root] == u32::MAX {
                self.group_of[root] = self.group_count as u32;
                if self.group_count == self.groups.len() {
                    self.groups.push(Group::default());
                }
                self.groups[self.group_count].clear();
                self.group_count += 1;
            }
            self.groups[self.group_of[root] as usize].blocks.push(index);
        }
    }

    /// Assembles every group's contact problem: the Delassus operator, free velocities, laws and the warm start.
    pub fn assemble(&mut self, bodies: &mut Bodies, proximity: &Proximity, parameters: &ContactParameters, h: f64) {
        let Self { blocks, aggregates, rows, groups, group_count, .. } = self;
        for group in &mut groups[..*group_count] {
            group.number_rows(blocks, bodies);
            group.assemble_operator(bodies, rows, &proximity.contacts, h);
            for k in 0..group.blocks.len() {
                let block = &blocks[group.blocks[k]];
                for row in block.rows.clone() {
                    let velocity = |t: &RowTerm| t.direction.dot(&proximity.contacts[t.contact as usize].free_velocity);
                    group.problem.free.push(rows.terms(row).iter().map(velocity).sum());
                }
                let first = group.problem.free.len() - block.rows.len();
                group.forces.extend_from_slice(&[0.0; 6][..block.rows.len()]);
                let law = law_of(block, aggregates, group, parameters);
                if !matches!(law, Law::Equality(_)) {
                    add_foundation(block, first, group, h);
                }
                group.problem.laws.push(law);
            }
        }
    }
}

/// The law of a block of rows.
fn law_of(block: &ConstraintBlock, aggregates: &[Aggregate], group: &mut Group, parameters: &ContactParameters) -> Law {
    match block.source {
        Source::Attachment(_) => Law::Equality(block.rows.len()),
        Source::Aggregate { aggregate, .. } if block.rows.len() == 4 => {
            let mut patch = group.spare_patches.pop().unwrap_or_default();
            aggregates[aggregate].patch.condense(PATCH_CELLS, &mut patch);
            Law::Aggregate { mu: block.mu, patch, friction: parameters.friction }
        }
        _ => Law::Coulomb { mu: block.mu },
    }
}

/// Adds the elastic foundation to the rows of a contact from `first` on, with its force of the last step.
fn add_foundation(block: &ConstraintBlock, first: usize, group: &mut Group, h: f64) {
    // The foundation deforms by the difference to the force of the last step.
    let n = group.rows();
    for row in 0..block.rows.len() {
        group.problem.free[first + row] -= block.compliance[row] * block.force[row] / h;
        group.problem.delassus[(first + row) * (n + 1)] += block.compliance[row] / h;
    }
    // Open contacts may close their gap.
    group.problem.free[first] += (block.gap + block.compression).max(0.0) / h;
    group.forces[first..first + block.rows.len()].copy_from_slice(&block.force[..block.rows.len()]);
}
