use super::anchor::Contact;
use super::group::{Group, PositionStage};
use super::memory::ContactMemory;
use super::proximity::{Pair, Proximity};
use super::system::{Block, RowTerm, Rows, Source, touched};
use crate::body::{Bodies, BodyId, BodyKind};
use crate::math::Vec3;

/// Points that a step leaves inside, pushed out one by one.
///
/// An aggregate keeps out the mean of its contacts, weighted by their pressure. Where friction lets go or an edge comes in, the spread of
/// the pressure may be that of a motion which does not come about, and single points end up inside. BEYOND the paper, in which only the
/// mean is corrected (Talvas 2015, eq. 10): every near contact of the bodies concerned is then a row of its own in a frictionless problem
/// on positions. It changes no velocity. A grasp at rest leaves nothing inside, and costs no more than the look at its contacts.
#[derive(Debug, Default)]
pub(super) struct DeepPoints {
    /// Bodies of the pairs in which something is deep.
    concerned: Vec<BodyId>,
    blocks: Vec<Block>,
    rows: Rows,
    group: Group,
}

/// Depth that is left, beyond that to which the outermost layer gives way, m.
const DEEP: f64 = 3e-5;

/// Contacts nearer than this take part: the push may close them, m.
const NEAR: f64 = 5e-4;

impl DeepPoints {
    /// Pushes out what is deep inside; returns whether anything was. `attachments` are blocks of the step with rows of their own.
    pub fn push_out<'b>(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        memory: &ContactMemory,
        attachments: impl Iterator<Item = &'b Block>,
        step_rows: &Rows,
        stage: &PositionStage<'_>,
    ) -> bool {
        let given = |pair: &Pair, contact: &Contact| {
            contact.layer.depth(memory.find((pair.a, pair.b, contact.feature)).map_or(0.0, |m| m.pressure))
        };
        self.concerned.clear();
        for pair in near.pairs.iter().filter(|pair| pair.aggregate) {
            let deep = |c: &Contact| c.gap_now(bodies, stage.offset) + given(pair, c) < -DEEP;
            if near.contacts[pair.contacts.clone()].iter().any(deep) {
                self.concerned.extend([pair.a, pair.b].into_iter().filter(|&id| moves(bodies, id)));
            }
        }
        if self.concerned.is_empty() {
            return false;
        }
        self.blocks.clear();
        self.rows.clear();
        for (index, pair) in near.pairs.iter().enumerate() {
            if ![pair.a, pair.b].iter().any(|id| self.concerned.contains(id)) {
                continue;
            }
            for i in pair.contacts.clone() {
                let contact = &near.contacts[i];
                if contact.gap_now(bodies, stage.offset) >= NEAR {
                    continue;
                }
                let first = self.rows.len();
                self.rows.push(std::iter::once(RowTerm { contact: i as u32, direction: contact.normal }));
                self.blocks.push(Block {
                    source: Source::Point { pair: index, contact: i },
                    rows: first..first + 1,
                    bodies: touched(bodies, contact),
                    mu: 0.0,
                    gap: contact.gap,
                    given: given(pair, contact) + DEEP,
                    compliance: [0.0; 4],
                    frame: [contact.normal, Vec3::zeros(), Vec3::zeros()],
                    force: [0.0; 4],
                });
            }
        }
        for attachment in attachments {
            let first = self.rows.len();
            attachment.rows.clone().for_each(|row| self.rows.push(step_rows.terms(row).iter().copied()));
            self.blocks.push(Block { rows: first..self.rows.len(), ..attachment.clone() });
        }
        self.group.clear();
        self.group.blocks.extend(0..self.blocks.len());
        self.group.number_rows(&self.blocks, bodies);
        let count = self.group.rows();
        self.group.problem.free.resize(count, 0.0);
        self.group.assemble_operator(bodies, &self.rows, stage.contacts, stage.h);
        let stage = PositionStage { blocks: &self.blocks, rows: &self.rows, ..*stage };
        self.group.correct_positions(bodies, &stage)
    }
}

/// Whether a push moves a body.
fn moves(bodies: &Bodies, id: BodyId) -> bool {
    !matches!(bodies.kind(id), BodyKind::Fixed(_))
}
