use super::{StageTimes, Statistics, Status, World};
use crate::body::{Bodies, Body, BodyId};
use crate::math::{Saved, StateFault, StateReader, StateWriter};

/// First bytes of a state, and the version of what follows. Any change of what is saved changes the version.
const STATE_MAGIC: [u8; 8] = *b"FPSTATE\n";
const STATE_FORMAT: u32 = 1;

/// The state of a [`World`] between two steps, made by [`World::save_state`].
///
/// As bytes it has a header with a version, and a checksum. The checksum detects damage; it does not authenticate the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldState {
    content: Vec<u8>,
}

/// Why a state cannot be read, or does not belong to a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    /// No header.
    #[error("these bytes are not the state of a world")]
    NotAState,
    /// An unsupported version.
    #[error("the state has format {0}; this version of the library reads format {STATE_FORMAT}")]
    OtherFormat(u32),
    /// The bytes are cut off or changed.
    #[error("the state is damaged: {0}")]
    Damaged(&'static str),
    /// The world has another time step, so the time would differ.
    #[error("the state has a time step of {saved} s, the world has one of {here} s")]
    TimeStep {
        /// s.
        saved: f64,
        /// s.
        here: f64,
    },
    /// The world has other bodies.
    #[error("the state is that of another world: {0}")]
    OtherWorld(String),
    /// A part of the state does not fit the world.
    #[error("{what}: {fault}")]
    Content {
        /// The body or part.
        what: String,
        /// What does not fit.
        fault: StateFault,
    },
}

impl WorldState {
    /// The state with its header and checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = StateWriter::default();
        STATE_MAGIC.save(&mut to);
        STATE_FORMAT.save(&mut to);
        self.content.len().save(&mut to);
        StateWriter::hash(&self.content).save(&mut to);
        let mut bytes = to.into_bytes();
        bytes.extend_from_slice(&self.content);
        bytes
    }

    /// Reads what [`WorldState::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let Some((magic, rest)) = bytes.split_first_chunk::<8>() else { return Err(StateError::NotAState) };
        if *magic != STATE_MAGIC {
            return Err(StateError::NotAState);
        }
        let mut from = StateReader::new(rest);
        let cut = |_| StateError::Damaged("the header is cut off");
        let format: u32 = from.get().map_err(cut)?;
        if format != STATE_FORMAT {
            return Err(StateError::OtherFormat(format));
        }
        let (length, checksum): (usize, u64) = from.get().map_err(cut)?;
        let content = from.rest();
        if content.len() != length {
            return Err(StateError::Damaged("it has another length than its header says"));
        }
        if StateWriter::hash(content) != checksum {
            return Err(StateError::Damaged("its checksum is wrong"));
        }
        Ok(Self { content: content.to_vec() })
    }
}

impl Saved for Status {
    fn save(&self, to: &mut StateWriter) {
        match self {
            Status::Done => 0u8.save(to),
            Status::NotFinite => 1u8.save(to),
            Status::TooFast(body) => (2u8, *body).save(to),
        }
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        *self = match from.get::<u8>()? {
            0 => Status::Done,
            1 => Status::NotFinite,
            2 => Status::TooFast(from.get()?),
            _ => return Err(StateFault::Value("status")),
        };
        Ok(())
    }
}

/// What identifies a body of the model.
#[derive(Debug, Default, PartialEq)]
struct Outline {
    id: BodyId,
    name: String,
    kind: String,
    /// Hash of its sizes, mass and material, and of the pose of what never moves.
    model: u64,
}

impl Outline {
    fn of(bodies: &Bodies, id: BodyId, body: &dyn Body) -> Self {
        let mut model = StateWriter::default();
        let parts = body.part_count();
        (parts, body.collider_count(), body.mass()).save(&mut model);
        body.material().0.save(&mut model);
        (0..parts).for_each(|part| body.part(part).dofs().save(&mut model));
        if parts == 0 {
            body.pose().save(&mut model);
        }
        let model = StateWriter::hash(&model.into_bytes());
        Self { id, name: bodies.name(id).into(), kind: body.kind().into(), model }
    }

    /// `the ball `b`` in messages.
    fn title(&self) -> String {
        if self.name.is_empty() {
            format!("a {} body", self.kind)
        } else {
            format!("the {} `{}`", self.kind, self.name)
        }
    }
}

impl Saved for Outline {
    fn save(&self, to: &mut StateWriter) {
        (self.id, self.model).save(to);
        to.text(&self.name);
        to.text(&self.kind);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        (self.id, self.model) = from.get()?;
        (self.name, self.kind) = (from.text()?, from.text()?);
        Ok(())
    }
}

/// The state is what a step starts from and what is not fixed when the world is built.
///
/// - *Model*: shapes, meshes, masses, materials, attachments and [`World::parameters`]. It is not saved.
/// - *State*: positions, velocities, tracked hands, motors, linearisations of soft bodies with the step they are from, forces and shear
///   displacements of contacts, and the number of steps.
/// - *Workspace*: what a step computes before it reads it, such as contacts, rows and distances. It is not saved: after
///   [`World::restore`] there are no contacts, touches and statistics until the next step.
impl World {
    /// The state between two steps.
    pub fn save_state(&self) -> WorldState {
        let mut to = StateWriter::default();
        (self.parameters.dt, self.steps, self.state_hash()).save(&mut to);
        let outlines: Vec<Outline> = self.bodies.iter().map(|(id, body)| Outline::of(&self.bodies, id, body)).collect();
        to.list(outlines.iter());
        self.world_model().save(&mut to);
        (self.stopped, self.grant, self.cut_short).save(&mut to);
        self.bodies.iter().for_each(|(_, body)| body.save(&mut to));
        self.attachments.iter().for_each(|attachment| attachment.save(&mut to));
        self.proximity.save(&mut to);
        self.system.save(&mut to);
        WorldState { content: to.into_bytes() }
    }

    /// Replaces the state by one of a world with the same model, such as the same scene loaded again. Later steps are those of the world that was
    /// saved, to the bit. After an error the world is unchanged.
    ///
    /// ```
    /// use fingerpad::body::{RigidBody, RigidShape};
    /// use fingerpad::math::Pose;
    /// use fingerpad::sim::{Parameters, World, WorldState};
    ///
    /// let build = || {
    ///     let mut world = World::new(Parameters::default());
    ///     world.add_named("ball", RigidBody::new(&RigidShape::Ball(0.05), 1000.0, Pose::identity())?);
    ///     Ok::<World, fingerpad::body::ShapeFault>(world)
    /// };
    /// let mut world = build()?;
    /// world.step();
    /// let bytes = world.save_state().to_bytes();
    /// let mut other = build()?;
    /// other.restore(&WorldState::from_bytes(&bytes)?)?;
    /// assert_eq!(world.step(), other.step());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&mut self, state: &WorldState) -> Result<(), StateError> {
        let mut next = self.clone();
        next.read(&mut StateReader::new(&state.content))?;
        *self = next;
        Ok(())
    }

    fn read(&mut self, from: &mut StateReader<'_>) -> Result<(), StateError> {
        let in_part = |what: &str| {
            let what = what.to_string();
            move |fault| StateError::Content { what, fault }
        };
        let (dt, steps, hash): (f64, u64, u64) = from.get().map_err(in_part("the header"))?;
        let mut outlines = Vec::new();
        from.list(&mut outlines).map_err(in_part("the list of bodies"))?;
        let model = from.get::<u64>().map_err(in_part("the model"))?;
        self.check_model(&outlines, model)?;
        if dt.to_bits() != self.parameters.dt.to_bits() {
            return Err(StateError::TimeStep { saved: dt, here: self.parameters.dt });
        }
        self.steps = steps;
        (self.stopped, self.grant, self.cut_short) = from.get().map_err(in_part("the world"))?;
        for (outline, (_, body)) in outlines.iter().zip(self.bodies.iter_mut()) {
            body.restore(from).map_err(in_part(&outline.title()))?;
        }
        self.attachments.iter_mut().try_for_each(|own| own.restore(from)).map_err(in_part("the attachments"))?;
        self.proximity.restore(from).map_err(in_part("the contacts"))?;
        self.system.restore(from).map_err(in_part("the contact forces"))?;
        from.end().map_err(in_part("the state"))?;
        (self.statistics, self.times, self.unlisted) = (Statistics::default(), StageTimes::default(), 0.0);
        if self.state_hash() == hash {
            Ok(())
        } else {
            Err(StateError::Damaged("it does not have the hash it was saved with"))
        }
    }

    /// Hash of materials and attachments, and of the order in which the ids of removed bodies are used again.
    fn world_model(&self) -> u64 {
        let mut model = StateWriter::default();
        self.materials.save_model(&mut model);
        model.list(self.bodies.free_slots().iter());
        self.attachments.len().save(&mut model);
        self.attachments.iter().for_each(|attachment| attachment.save_model(&mut model));
        StateWriter::hash(&model.into_bytes())
    }

    fn check_model(&self, outlines: &[Outline], model: u64) -> Result<(), StateError> {
        let other = |what: String| Err(StateError::OtherWorld(what));
        if outlines.len() != self.bodies.count() {
            return other(format!("it has {} bodies, this one has {}", outlines.len(), self.bodies.count()));
        }
        for (saved, (id, body)) in outlines.iter().zip(self.bodies.iter()) {
            let here = Outline::of(&self.bodies, id, body);
            if (&saved.kind, &saved.name) != (&here.kind, &here.name) {
                return other(format!("it has {}, this one has {}", saved.title(), here.title()));
            }
            if *saved != here {
                return other(format!("{} has another size, mass, material, pose or id", here.title()));
            }
        }
        if model == self.world_model() {
            Ok(())
        } else {
            other("it has other materials or attachments, or other bodies were removed".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::body::{RigidBody, RigidShape};
    use crate::contact::{AttachmentEnd, Joint};
    use crate::math::{Pose, Vec3};
    use crate::sim::Parameters;

    fn pendulum() -> World {
        let mut world = World::new(Parameters::default());
        let ball = RigidBody::new(&RigidShape::Ball(0.02), 1000.0, Pose::translation(0.1, 0.0, 0.0));
        let ball = world.add_named("ball", ball.expect("a ball"));
        let ends = [AttachmentEnd::new(ball), AttachmentEnd::WORLD];
        let joint = crate::contact::Attachment::new(&world.bodies, ends, &Vec3::zeros(), Joint::Hinge(Vec3::z()));
        world.attachments.push(joint.expect("a hinge"));
        world.step();
        world
    }

    proptest! {
        /// Content that was changed together with its checksum does not make reading panic, and what is refused leaves the world as it was.
        #[test]
        fn changed_content_is_refused_or_restored(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
            let mut world = pendulum();
            let before = world.save_state();
            let mut content = before.content.clone();
            let at = at.index(content.len());
            content[at] = byte;
            if cut {
                content.truncate(at);
            }
            if world.restore(&WorldState { content }).is_err() {
                prop_assert_eq!(world.save_state(), before);
            }
        }
    }

    #[test]
    fn a_state_with_other_attachments_or_materials_is_refused() {
        let (mut world, state) = (pendulum(), pendulum().save_state());
        assert_eq!(world.restore(&state), Ok(()));
        world.materials.set("ice", crate::contact::Friction::of(0.01));
        assert!(matches!(world.restore(&state), Err(StateError::OtherWorld(_))));
        let mut free = pendulum();
        free.attachments.clear();
        assert!(matches!(free.restore(&state), Err(StateError::OtherWorld(_))));
    }
}
