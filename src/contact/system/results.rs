use super::super::aggregate::Aggregate;
use super::super::memory::{ContactMemory, Remembered, RememberedContact};
use super::super::proximity::Proximity;
use super::{ConstraintBlock, Source, System};
use crate::body::ColliderId;
use crate::math::Vec3;

impl System {
    /// Copies the solved forces to the blocks, and stores them for the next step. A contact slides if it moves faster
    /// than `slow`, m/s.
    pub fn remember(&mut self, proximity: &Proximity, slow: f64) {
        let Self { blocks, groups, group_count, memory, contact_memory, aggregates, members, .. } = self;
        memory.clear();
        contact_memory.clear();
        for group in &groups[..*group_count] {
            for (place, &index) in group.blocks.iter().enumerate() {
                let block = &mut blocks[index];
                let Some(key) = key_of(block, proximity) else { continue };
                let first = group.starts[place];
                let rows = block.rows.len();
                block.force = [0.0; 4];
                block.force[..rows].copy_from_slice(&group.forces[first..first + rows]);
                block.compression = compression(block, proximity, aggregates, members);
                let [n, t, s, torque] = block.force;
                let velocity = |row: usize| group.problem.velocity(first + row, &group.forces);
                let sliding = n > 0.0 && f64::hypot(velocity(1), velocity(2)) > slow;
                let force = n * block.frame[0] + t * block.frame[1] + s * block.frame[2];
                memory.keep(key, Remembered { force, pressing: n, torque, sliding });
                match block.source {
                    Source::Point { .. } => {
                        let friction = t * block.frame[1] + s * block.frame[2];
                        contact_memory.keep(key, closed(n, friction, None));
                    }
                    Source::Aggregate { pair, aggregate, part } => {
                        let (members, aggregate) = (&members[aggregate], &aggregates[aggregate]);
                        remember_members(block, (pair, part), members, aggregate, proximity, contact_memory);
                    }
                    Source::Attachment(_) => {}
                }
            }
        }
        memory.sort();
        contact_memory.sort();
    }
}

/// Key of a contact or of a part of a pair in the memory; attachments are not remembered.
fn key_of(block: &ConstraintBlock, proximity: &Proximity) -> Option<(ColliderId, ColliderId, u64)> {
    let key = |pair: usize, feature: u64| (proximity.pairs[pair].a, proximity.pairs[pair].b, feature);
    match block.source {
        Source::Point { pair, contact } => Some(key(pair, proximity.contacts[contact].feature)),
        Source::Aggregate { pair, part, .. } => Some(key(pair, u64::from(part))),
        Source::Attachment(_) => None,
    }
}

/// Compression of the elastic foundation under the normal force of a block, m.
fn compression(block: &ConstraintBlock, proximity: &Proximity, all: &[Aggregate], members: &[Vec<u32>]) -> f64 {
    let pressed = block.force[0];
    match block.source {
        Source::Aggregate { aggregate, .. } => {
            let shares = members[aggregate].iter().zip(&all[aggregate].patch.points);
            let depth = |i: u32, share: f64| proximity.contacts[i as usize].layer.depth(share * pressed);
            shares.map(|(&i, p)| p.share * depth(i, p.share)).sum()
        }
        Source::Point { contact, .. } => proximity.contacts[contact].layer.depth(pressed),
        Source::Attachment(_) => 0.0,
    }
}

/// Distributes the force of an aggregate over its contacts.
fn remember_members(
    block: &ConstraintBlock,
    (pair, part): (usize, u32),
    members: &[u32],
    aggregate: &Aggregate,
    proximity: &Proximity,
    memory: &mut ContactMemory,
) {
    let [n, t, s, torque] = block.force;
    for (&contact, rows) in members.iter().zip(&aggregate.rows) {
        let feature = proximity.contacts[contact as usize].feature;
        let key = (proximity.pairs[pair].a, proximity.pairs[pair].b, feature);
        let friction = t * rows[1] + s * rows[2] + torque * rows[3];
        memory.keep(key, closed(n * rows[0].norm(), friction, Some(part)));
    }
}

fn closed(pressure: f64, friction: Vec3, part: Option<u32>) -> RememberedContact {
    RememberedContact { pressure, bound: pressure, friction, part, shear: Vec3::zeros() }
}
