use std::sync::{Arc, OnceLock};

use super::description::HandDescription;
use super::dynamics::{Reduced, RigidInertia, total_mass};
use super::meshing::SegmentMesh;
use super::ranges::PALM_LENGTH;
use super::self_contact::SelfContact;
use super::shape::SegmentShape;
use super::skeleton::Skeleton;
use super::visual::VisualSkin;
use crate::math::{Mat3, Pose, Vec3};
use crate::mesh::{MeshFault, ShellGrid, SolidMoments, SurfaceMesh, shell};
use crate::tracking::{ANGLES, SEGMENTS, Segment, Side};

/// A hand ready for simulation: constant and shared.
#[derive(Clone, Debug)]
pub struct HandModel {
    /// The description it was built from.
    pub description: HandDescription,
    /// Joint chain.
    pub skeleton: Skeleton,
    /// Mass and inertia of the segments.
    pub inertias: [RigidInertia; SEGMENTS],
    /// Tissue and collision skin of the segments.
    pub meshes: Vec<SegmentMesh>,
    /// The visual skin, made when it is first drawn.
    visual: Arc<OnceLock<VisualSkin>>,
    /// Which parts of the skin meet each other.
    pub self_contact: SelfContact,
    /// Minimum and maximum of each angle, rad.
    pub limits: [[f64; 2]; ANGLES],
    /// Damping of the coupling per coordinate.
    pub coupling_damping: Reduced,
}

/// Why a description does not give a valid hand.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HandFault {
    /// Directions or axes that do not span a frame.
    #[error(
        "{finger}: `direction` and `dorsal` must not be parallel, no axis may be zero, and the axes of base flexion and base \
         abduction must be at least 30° apart"
    )]
    Frame {
        /// Which finger.
        finger: &'static str,
    },
    /// Knuckles at impossible positions.
    #[error(
        "palm: the knuckle of the middle finger must lie {} m to {} m in front of the wrist (-Z), and the middle between index \
         and little knuckle no farther to a side of it than half the smaller `breadth`",
        PALM_LENGTH.min,
        PALM_LENGTH.max
    )]
    Palm,
    /// A mesh that cannot be simulated.
    #[error("{segment}: {fault}")]
    Mesh {
        /// Which segment.
        segment: String,
        /// The error of the mesh.
        fault: MeshFault,
    },
    /// A mesh that does not touch its bone.
    #[error("{segment}: no node of the mesh lies inside the bone, so the tissue is not attached")]
    NothingHeld {
        /// Which segment.
        segment: String,
    },
    /// A mesh that lies entirely inside the bone.
    #[error("{segment}: every node of the mesh lies inside the bone, so there is no tissue")]
    AllHeld {
        /// Which segment.
        segment: String,
    },
}

impl HandModel {
    /// Builds the meshes, masses and springs of a described hand.
    pub fn new(description: HandDescription) -> Result<Self, HandFault> {
        let skeleton = Skeleton::new(&description).map_err(|f| HandFault::Frame { finger: f.name() })?;
        let palm = &description.palm;
        let lean = (description.knuckles() - palm.wrist.x).abs();
        if !PALM_LENGTH.contains(description.palm_length()) || lean > 0.5 * palm.breadth[0].min(palm.breadth[1]) {
            return Err(HandFault::Palm);
        }
        let shapes: Vec<_> = Segment::all().map(|s| SegmentShape::of(&description, s)).collect();
        let meshes = Segment::all()
            .map(|s| SegmentMesh::new(&description, s, &shapes[s.index()]))
            .collect::<Result<Vec<_>, _>>()?;
        let inertias = std::array::from_fn(|i| inertia(&description, &shapes[i]));
        let self_contact = SelfContact::new(&description, &skeleton, &shapes, &meshes);
        let limits = description.limits();
        let mut model = Self {
            description,
            skeleton,
            inertias,
            meshes,
            visual: Arc::default(),
            self_contact,
            limits,
            coupling_damping: Reduced::zeros(),
        };
        model.set_damping();
        Ok(model)
    }

    /// Damping of each coordinate for the damping ratio: `d = 2 ζ √(k m)`, with the inertia `m` of the coordinate in
    /// the open hand. The rotation of the palm is damped equally about all world axes, with the mean of its inertias.
    fn set_damping(&mut self) {
        let open = self.description.pose("open").copied().unwrap_or([0.0; ANGLES]);
        let mass = self.mass_matrix(&self.skeleton.kinematics(&Pose::identity(), &open));
        let c = self.description.coupling;
        let turning = (mass[(3, 3)] + mass[(4, 4)] + mass[(5, 5)]) / 3.0;
        for i in 0..6 + ANGLES {
            let (k, inertia) = match i {
                0..3 => (c.palm, mass[(i, i)]),
                3..6 => (c.palm_rotation, turning),
                _ => (c.joints[(i - 6) % 4], mass[(i, i)]),
            };
            self.coupling_damping[i] = 2.0 * c.damping_ratio * (k * inertia).sqrt();
        }
    }

    /// The visual skin.
    pub fn visual(&self) -> &VisualSkin {
        self.visual.get_or_init(|| {
            let shapes: Vec<_> = Segment::all().map(|s| SegmentShape::of(&self.description, s)).collect();
            VisualSkin::new(&self.description, &shapes, &self.meshes)
        })
    }

    /// Total mass, kg.
    pub fn mass(&self) -> f64 {
        total_mass(&self.inertias)
    }
}

/// Mass properties of a segment: tissue within the skin, bone within the bone.
fn inertia(hand: &HandDescription, shape: &SegmentShape) -> RigidInertia {
    let grid = ShellGrid { around: 24, along: 16, layers: 1 };
    let tissue = shape.tissue();
    let (mesh, inner) = shell(grid, |d, s, t| tissue.point(d, s, t));
    let boundary = mesh.boundary_faces();
    let part = |bone: bool| {
        let on = |n: &u32| ((*n as usize) < inner) == bone;
        let own = boundary.iter().filter(|f| f.iter().all(&on));
        let faces: Vec<_> = own.map(|&[a, b, c]| if bone { [a, c, b] } else { [a, b, c] }).collect();
        SurfaceMesh::from_faces(&mesh.nodes, &faces).0
    };
    // The bone contributes its density minus that of the tissue it replaces.
    let parts = [(hand.tissue.density, false), (hand.bone_density - hand.tissue.density, true)]
        .map(|(density, bone)| (density, part(bone).solid_moments()));
    let mass: f64 = parts.iter().map(|(density, m)| density * m.volume).sum();
    let moment: Vec3 = parts.iter().map(|(density, m)| density * m.volume * m.centre).sum();
    let mut centre = moment / mass;
    let about_centre = |(density, m): &(f64, SolidMoments)| {
        let arm = m.centre - centre;
        let shift = Mat3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose();
        *density * (m.inertia + m.volume * shift)
    };
    let mut inertia: Mat3 = parts.iter().map(about_centre).sum();
    if hand.side == Side::Left {
        let m = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0));
        centre = m * centre;
        inertia = m * inertia * m;
    }
    RigidInertia { mass, centre, inertia: 0.5 * (inertia + inertia.transpose()) }
}
