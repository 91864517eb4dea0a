use super::description::HandDescription;
use super::dynamics::{Reduced, RigidInertia, total_mass};
use super::meshing::SegmentMesh;
use super::shape::SegmentShape;
use super::skeleton::Skeleton;
use super::visual::VisualSkin;
use crate::math::{Mat3, Pose, Vec3, from_glam, to_glam};
use crate::mesh::{MeshFault, ShellGrid, SurfaceMesh, shell};
use crate::tracking::{ANGLES, SEGMENTS, Segment, Side};

/// A hand ready to be simulated: constant, shared by everything that moves it.
#[derive(Clone, Debug)]
pub struct HandModel {
    /// What it was made from.
    pub description: HandDescription,
    /// Joints.
    pub skeleton: Skeleton,
    /// Mass and inertia of the segments.
    pub inertias: [RigidInertia; SEGMENTS],
    /// Tissue and collision skin of the segments.
    pub meshes: Vec<SegmentMesh>,
    /// The skin that is drawn.
    pub visual: VisualSkin,
    /// Least and greatest value of each angle, rad.
    pub limits: [[f64; 2]; ANGLES],
    /// Damping of the coupling, per coordinate.
    pub coupling_damping: Reduced,
    /// Damping of the limits, per coordinate, while they act.
    pub limit_damping: Reduced,
}

/// Why a description does not make a hand.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HandFault {
    /// Directions or axes that span no frame.
    #[error("{finger}: `direction` and `dorsal` must not be parallel, and no axis may be zero")]
    Frame {
        /// Which finger.
        finger: &'static str,
    },
    /// A mesh that cannot be simulated.
    #[error("{segment}: {fault}")]
    Mesh {
        /// Which segment.
        segment: String,
        /// What is wrong with it.
        fault: MeshFault,
    },
    /// A mesh that does not touch its bone.
    #[error("{segment}: no node of the mesh lies inside the bone, so nothing would hold it")]
    NothingHeld {
        /// Which segment.
        segment: String,
    },
    /// A mesh that is all bone.
    #[error("{segment}: every node of the mesh lies inside the bone, so nothing could move")]
    AllHeld {
        /// Which segment.
        segment: String,
    },
}

impl HandModel {
    /// Makes the meshes, masses and springs of a described hand.
    pub fn new(description: HandDescription) -> Result<Self, HandFault> {
        let skeleton = Skeleton::new(&description).map_err(|f| HandFault::Frame { finger: f.name() })?;
        let shapes: Vec<_> = Segment::all().map(|s| SegmentShape::of(&description, s)).collect();
        let meshes = Segment::all()
            .map(|s| SegmentMesh::new(&description, s, &shapes[s.index()]))
            .collect::<Result<Vec<_>, _>>()?;
        let inertias = std::array::from_fn(|i| inertia(&description, &shapes[i]));
        let visual = VisualSkin::new(&description, &shapes, &meshes);
        let limits = description.limits();
        let mut model = Self {
            description,
            skeleton,
            inertias,
            meshes,
            visual,
            limits,
            coupling_damping: Reduced::zeros(),
            limit_damping: Reduced::zeros(),
        };
        model.set_damping();
        Ok(model)
    }

    /// Damping of each coordinate for the damping ratio: `d = 2 ζ √(k m)`, with the inertia `m` that the coordinate has in
    /// the open hand. Limits are damped critically.
    fn set_damping(&mut self) {
        let open = self.description.pose("open").copied().unwrap_or([0.0; ANGLES]);
        let mass = self.mass_matrix(&self.skeleton.kinematics(&Pose::identity(), &open));
        let c = self.description.coupling;
        for i in 0..6 + ANGLES {
            let k = match i {
                0..3 => c.palm,
                3..6 => c.palm_rotation,
                _ => c.joints[(i - 6) % 4],
            };
            self.coupling_damping[i] = 2.0 * c.damping_ratio * (k * mass[(i, i)]).sqrt();
            self.limit_damping[i] = 2.0 * (c.limit * mass[(i, i)]).sqrt();
        }
    }

    /// The same hand with other parameters that need no new mesh.
    pub fn with_coupling(mut self, coupling: super::Coupling) -> Self {
        self.description.coupling = coupling;
        self.set_damping();
        self
    }

    /// Total mass, kg.
    pub fn mass(&self) -> f64 {
        total_mass(&self.inertias)
    }
}

/// Mass properties of a segment: tissue within the skin, with bone in place of tissue within the bone.
fn inertia(hand: &HandDescription, shape: &SegmentShape) -> RigidInertia {
    let grid = ShellGrid { around: 24, along: 16, layers: 1 };
    let (mesh, inner) = shell(grid, |d, s, t| shape.point(d, s, t));
    let part = |bone: bool| {
        let on = |n: &u32| ((*n as usize) < inner) == bone;
        let faces: Vec<_> = mesh
            .boundary_faces()
            .into_iter()
            .filter(|f| f.iter().all(&on))
            .map(|[a, b, c]| if bone { [a, c, b] } else { [a, b, c] })
            .collect();
        SurfaceMesh::from_faces(&mesh.nodes, &faces).0
    };
    let properties = |surface: &SurfaceMesh, density: f64| {
        let vertices: Vec<_> = surface.vertices.iter().map(to_glam).collect();
        parry3d::mass_properties::MassProperties::from_trimesh(density, &vertices, &surface.triangles)
    };
    let tissue = properties(&part(false), hand.tissue.density);
    let bone = properties(&part(true), (hand.bone_density - hand.tissue.density).abs());
    let whole = if hand.bone_density >= hand.tissue.density { tissue + bone } else { tissue - bone };
    let m = whole.reconstruct_inertia_matrix();
    let mut centre = from_glam(whole.local_com);
    let (x, y, z) = (from_glam(m.x_axis), from_glam(m.y_axis), from_glam(m.z_axis));
    let mut inertia = Mat3::from_columns(&[x, y, z]);
    if hand.side == Side::Left {
        let m = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0));
        centre = m * centre;
        inertia = m * inertia * m;
    }
    RigidInertia { mass: whole.mass(), centre, inertia: 0.5 * (inertia + inertia.transpose()) }
}
