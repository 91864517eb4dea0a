use nalgebra::Matrix6;

use super::anchors::Anchors;
use super::contacts::{Detector, ElasticContact};
use super::error::ElasticError;
use super::field::Field;
use super::friction::StickSlide;
use super::options::ElasticOptions;
use super::regions::{Carry, Region, RegionForce, Tracker};
use super::skin::Skin;
use super::tool::Tool;
use crate::math::{Mat3, Pose, Vec3};
use crate::mesh::SurfaceMesh;

/// An elastic object and the rigid tool that touches it (Luo 2007, fig. 1).
///
/// A step detects contact, computes forces and deforms the surface; [`ElasticObject::update`] does all three. A loop that needs the
/// force more often than the shape calls [`ElasticObject::detect`] and [`ElasticObject::resolve`] at its rate and
/// [`ElasticObject::reshape`] at that of the pictures. A steady step allocates nothing, and equal calls have equal results.
#[derive(Clone, Debug)]
pub struct ElasticObject {
    skin: Skin,
    tool: Tool,
    pose: Pose,
    /// Mean area of a point of the tool.
    point_area: f64,
    detector: Detector,
    pub(super) tracker: Tracker,
    pub(super) status: ContactStatus,
    /// The tool in the object's frame, in this step and the last.
    pub(super) tool_pose: Pose,
    pub(super) last_tool_pose: Pose,
}

/// Contact state of tool and object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactStatus {
    /// The tool has not been placed yet.
    Unplaced,
    /// They do not touch.
    Free,
    /// They touch.
    Touching,
    /// The tool was inside the object when it was placed. There is no force until it has left.
    StartedInside,
    /// The pose of the tool is not finite. There is no force.
    BadPose,
}

/// Result of a step.
#[derive(Clone, Copy, Debug)]
pub struct ElasticResponse<'a> {
    /// Force on the tool in the world's frame, N.
    pub force: Vec3,
    /// Torque on the tool about the origin of its frame, in the world's frame, N m.
    pub torque: Vec3,
    /// Contact regions in the order of their creation, in the object's frame.
    pub regions: &'a [Region],
    /// Contact state.
    pub status: ContactStatus,
}

impl ElasticObject {
    /// An object at the world's origin, for one tool.
    pub fn new(options: ElasticOptions, tool: Tool) -> Result<Self, ElasticError> {
        let skin = Skin::new(options)?;
        let point_area = tool.points.iter().map(|p| p.area).sum::<f64>() / tool.points.len() as f64;
        Ok(Self {
            detector: Detector::new(&tool, skin.options.link)?,
            tracker: Tracker::new(tool.points.len()),
            point_area,
            skin,
            pose: Pose::identity(),
            status: ContactStatus::Unplaced,
            tool_pose: Pose::identity(),
            last_tool_pose: Pose::identity(),
            tool,
        })
    }

    /// The same object at some pose in the world.
    pub fn at(self, pose: Pose) -> Self {
        Self { pose, ..self }
    }

    /// One step: the tool is at a pose in the world, `dt` seconds after the last step.
    pub fn update(&mut self, tool_pose: &Pose, dt: f64) -> ElasticResponse<'_> {
        self.detect(tool_pose);
        self.resolve(dt);
        self.reshape();
        self.response()
    }

    /// Finds the points of the tool below the surface and clusters them.
    pub fn detect(&mut self, tool_pose: &Pose) {
        let is_finite = tool_pose.to_homogeneous().iter().all(|x| x.is_finite());
        if !is_finite {
            self.tracker.clear();
            self.status = ContactStatus::BadPose;
            return;
        }
        let local = self.pose.inv_mul(tool_pose);
        let was_placed = matches!(self.status, ContactStatus::Free | ContactStatus::Touching);
        self.last_tool_pose = if was_placed { self.tool_pose } else { local };
        self.tool_pose = local;
        self.detector.detect(&self.skin.options.shape, &self.tool, &local);
        self.status = match (self.detector.contacts.is_empty(), was_placed) {
            (true, _) => ContactStatus::Free,
            (false, true) => ContactStatus::Touching,
            (false, false) => ContactStatus::StartedInside,
        };
    }

    /// Computes the force of every region from what was detected.
    pub fn resolve(&mut self, dt: f64) {
        if !matches!(self.status, ContactStatus::Free | ContactStatus::Touching) {
            self.tracker.clear();
            return;
        }
        self.tracker.follow(&self.detector);
        let decay = if dt > 0.0 { (-dt / self.skin.options.settling).exp() } else { 1.0 };
        let mut pressing = 0;
        for i in 0..self.tracker.regions.len() {
            if self.normal_of(i, pressing) {
                self.friction_of(i, decay);
                self.spread(i, pressing);
                pressing += 1;
            } else {
                self.tracker.regions[i].normal_force = 0.0;
            }
        }
        self.tracker.end_idle();
        self.couple();
        self.carry();
        self.tracker.label(&self.detector);
    }

    /// Normal force of a region. Returns whether it presses.
    // DEVIATION: §IV.C computes the force of a region along the direction of deformation and splits it into a normal and
    // a tangential part. The parts of the displacement are used here, as §IV.B does for a point, so that a region that
    // shrinks to a point has the force of a point.
    fn normal_of(&mut self, i: usize, pressing: usize) -> bool {
        let (skin, options) = (&self.skin, &self.skin.options);
        let limit = options.shape.depth_limit();
        let origin = self.tool_pose.translation.vector;
        let centre = (self.tool_pose * nalgebra::Point3::from(self.tool.centre)).coords;
        let region = &mut self.tracker.regions[i];
        let contacts = &self.detector.contacts[self.detector.clusters[region.cluster].clone()];
        let points = &self.tool.points;
        // Depth below the shape deformed by earlier regions (Luo 2007, §VI.A).
        let depth = |contact: &ElasticContact| {
            let mut depth = contact.probe.depth;
            if pressing > 0 {
                depth += contact.probe.normal.dot(&skin.displacement(pressing, &contact.probe.foot));
            }
            depth.min(limit)
        };
        let pressed = RegionForce::of(contacts, options, |c| points[c.point as usize].area, &origin, &centre, depth);
        region.normal_force = pressed.force.norm();
        if region.normal_force <= 0.0 {
            return false;
        }
        region.normal = pressed.force / region.normal_force;
        region.force = pressed.force;
        region.stiffness = pressed.stiffness;
        region.torque = pressed.torque;
        region.origin = pressed.origin;
        region.place = pressed.place;
        region.depth = pressed.depth;
        region.area = pressed.area;
        region.contacts = contacts.len();
        region.points = (pressed.area / self.point_area).max(1.0);
        region.extent = contacts.iter().map(|c| (c.probe.foot - pressed.origin).norm()).fold(0.0, f64::max);
        true
    }

    /// Friction of a region.
    // DEVIATION: the paper has no compliant motion while there are several regions. Each sticks or slides by itself here,
    // so that friction is bounded however the tool moves.
    fn friction_of(&mut self, i: usize, decay: f64) {
        let inheritance = self.tracker.inheritance(self.tracker.regions[i].cluster);
        let (law, friction) = (&self.skin.options.law, &self.skin.options.friction);
        let region = &mut self.tracker.regions[i];
        if inheritance.is_event && !region.stick.sliding {
            region.stick = StickSlide::stuck_with(law, &inheritance.friction);
        }
        // How far the tool has moved where it touches.
        let before = self.last_tool_pose * self.tool_pose.inverse_transform_point(&region.place.into());
        let motion = if region.is_new { Vec3::zeros() } else { region.place - before.coords };
        let (force, condition) = region.stick.advance(law, friction, &region.normal, region.normal_force, &motion);
        region.friction = force;
        region.condition = condition;
        region.sliding = region.stick.sliding;
        region.force += force;
        region.torque += (region.place - self.tool_pose.translation.vector).cross(&force);
        region.carry.force *= decay;
        region.carry.torque *= decay;
    }

    /// The equivalent contact point and the displacement of the surface.
    fn spread(&mut self, i: usize, pressing: usize) {
        let region = &mut self.tracker.regions[i];
        region.displacement = self.skin.spread(pressing, &region.origin, &-region.force, region.points);
    }

    /// Adds the effect of later regions on earlier ones (Luo 2007, §VI.A).
    fn couple(&mut self) {
        let count = self.tracker.regions.len();
        for i in 0..count {
            let region = &mut self.tracker.regions[i];
            let mut force = region.area * self.skin.traction(i + 1..count, &region.origin);
            // The object does not pull at the tool.
            let pull = (-force.dot(&region.normal) - region.normal_force).max(0.0);
            force += pull * region.normal;
            region.force += force;
            region.torque += (region.place - self.tool_pose.translation.vector).cross(&force);
        }
    }

    /// Keeps the force of regions that merge or split from jumping.
    // DEVIATION: in the paper every region has the whole mass of the tool, so the force halves when two regions merge. The
    // difference is carried over and decays.
    fn carry(&mut self) {
        for i in 0..self.tracker.regions.len() {
            let inheritance = self.tracker.inheritance(self.tracker.regions[i].cluster);
            let region = &mut self.tracker.regions[i];
            if inheritance.is_event {
                region.carry = Carry {
                    force: inheritance.force - region.force,
                    torque: inheritance.torque - region.torque,
                    normal_force: region.normal_force,
                };
            }
            if region.carry.normal_force > 0.0 {
                let part = (region.normal_force / region.carry.normal_force).min(1.0);
                region.force += part * region.carry.force;
                region.torque += part * region.carry.torque;
            }
        }
    }

    /// Deforms the surface (Luo 2007, §V.E, V.F and VI.B): the fields of all regions, and what the tool pushes away.
    pub fn reshape(&mut self) {
        let regions = &self.tracker.regions;
        self.skin.displace(regions.len());
        let Skin { options, surface, rest, .. } = &mut self.skin;
        let limit = options.shape.depth_limit();
        for region in regions {
            let reach = region.extent + options.link;
            let direction = self.tool_pose.inverse_transform_vector(&-region.normal);
            for (vertex, rest) in surface.vertices.iter_mut().zip(rest.iter()) {
                if (rest - region.origin).norm_squared() < reach * reach {
                    let from = self.tool_pose.inverse_transform_point(&(*vertex).into()).coords;
                    let ahead = self.tool.last_inside(&from, &direction).unwrap_or(0.0);
                    if ahead > 0.0 {
                        *vertex -= ahead.min(limit) * region.normal;
                    }
                }
            }
        }
        self.skin.update_normals();
    }

    /// Result of the last step.
    pub fn response(&self) -> ElasticResponse<'_> {
        let regions = &self.tracker.regions;
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        for region in regions {
            force += region.force;
            torque += region.torque;
        }
        let rotation = self.pose.rotation;
        ElasticResponse { force: rotation * force, torque: rotation * torque, regions, status: self.status }
    }

    /// Tangent stiffness of the contact for a small motion of the tool: rows and columns are displacement in the world, m, and rotation about the
    /// origin of the tool, rad.
    ///
    /// A region at r from the origin moves by `J u = d + θ × r` and answers with `−k J u`, with the tangents of eq. 1 along its normal and along
    /// and across its tangential displacement. The sum of `Jᵀ k J` is positive semidefinite if the law does not soften.
    pub fn stiffness(&self) -> Matrix6<f64> {
        let mut sum = Matrix6::zeros();
        let turn = self.pose.rotation.to_rotation_matrix();
        for region in &self.tracker.regions {
            let normal = turn * region.normal;
            let [along, across] = region.stick.stiffness(&self.skin.options.law);
            let shear = (turn * region.stick.shear).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
            let k = (region.stiffness - across) * normal * normal.transpose()
                + (along - across) * shear * shear.transpose()
                + across * Mat3::identity();
            let arm = (turn * (region.place - self.tool_pose.translation.vector)).cross_matrix();
            let turned = k * arm;
            add_block(&mut sum, 0, 0, &k);
            add_block(&mut sum, 0, 3, &-turned);
            add_block(&mut sum, 3, 0, &-turned.transpose());
            add_block(&mut sum, 3, 3, &(arm.transpose() * turned));
        }
        sum
    }

    /// Takes over the contact of another object with the same options and tool, so that [`ElasticObject::reshape`] gives the shape of that
    /// contact: what [`ElasticResponse::regions`] was there.
    pub fn take_over(&mut self, tool_pose: &Pose, status: ContactStatus, regions: &[Region]) {
        self.tool_pose = self.pose.inv_mul(tool_pose);
        self.last_tool_pose = self.tool_pose;
        self.status = status;
        self.tracker.take_over(regions);
        self.spread_own_forces();
    }

    /// Computes the field of every region. It is that of the own force, without the effect of later regions.
    pub(super) fn spread_own_forces(&mut self) {
        for (i, region) in self.tracker.regions.iter_mut().enumerate() {
            let own = region.normal_force * region.normal + region.friction;
            region.displacement = self.skin.spread(i, &region.origin, &-own, region.points);
        }
    }

    /// Removes the tool: the next pose places it again.
    pub fn reset(&mut self) {
        self.tracker.clear();
        self.status = ContactStatus::Unplaced;
    }

    /// The options it was built from.
    pub fn options(&self) -> &ElasticOptions {
        &self.skin.options
    }

    /// The tool.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Pose of the object in the world.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The anchor points.
    pub fn anchors(&self) -> &Anchors {
        &self.skin.anchors
    }

    /// The deformed surface in the object's frame.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.skin.surface
    }

    /// Outward unit normals of the deformed surface.
    pub fn normals(&self) -> &[Vec3] {
        &self.skin.normals
    }

    /// Vertices of the undeformed surface.
    pub fn rest(&self) -> &[Vec3] {
        &self.skin.rest
    }

    /// The beam skeletons of the regions, in their order.
    pub fn fields(&self) -> &[Field] {
        &self.skin.fields[..self.tracker.regions.len()]
    }

    /// Appends the ends of the beams, for pictures: the anchor points, displaced, and then the contact point of each region, m.
    pub fn append_marks(&self, marks: &mut Vec<Vec3>) {
        self.skin.append_marks(self.tracker.regions.len(), marks);
    }

    /// Displacement of a point of the undeformed surface by all regions, without what the tool pushes away, m.
    pub fn displacement(&self, p: &Vec3) -> Vec3 {
        self.skin.displacement(self.tracker.regions.len(), p)
    }
}

fn add_block(matrix: &mut Matrix6<f64>, row: usize, column: usize, block: &Mat3) {
    let mut part = matrix.fixed_view_mut::<3, 3>(row, column);
    part += block;
}
