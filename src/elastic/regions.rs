use super::contacts::{Detector, ElasticContact};
use super::friction::{Condition, StickSlide};
use super::options::ElasticOptions;
use crate::math::Vec3;

/// A contact region, in the object's frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Region {
    /// Regions are numbered in the order of their creation, from 1.
    pub id: u64,
    /// Force on the tool, N.
    pub force: Vec3,
    /// Torque on the tool about its origin, N m.
    pub torque: Vec3,
    /// Normal force, N, and its direction out of the object.
    pub normal_force: f64,
    /// Direction of the normal force.
    pub normal: Vec3,
    /// Tangent stiffness along the normal, N/m, with the shares of the points as they are.
    pub stiffness: f64,
    /// Friction on the tool, N.
    pub friction: Vec3,
    /// How it sticks or slides.
    pub condition: Condition,
    /// Whether the tool slides on the object here.
    pub sliding: bool,
    /// Origin of deformation: middle of the region on the undeformed surface, m.
    pub origin: Vec3,
    /// Displacement of the equivalent contact point, m.
    pub displacement: f64,
    /// Greatest depth of a point of the tool, m.
    pub depth: f64,
    /// Points of the tool below the surface.
    pub contacts: usize,
    /// Area that presses, m².
    pub area: f64,
    /// How many evenly spread points press, 1 or more.
    pub points: f64,
    /// Greatest distance of a contact from the origin, m.
    pub extent: f64,
    /// Middle of the region on the tool, m.
    pub place: Vec3,
    pub(super) stick: StickSlide,
    pub(super) carry: Carry,
    pub(super) cluster: usize,
    /// Whether it was made in this step, and has not moved yet.
    pub(super) is_new: bool,
}

/// What is left of a force after regions merged or split. It decays with time and ends with the region.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry {
    pub force: Vec3,
    pub torque: Vec3,
    /// Normal force when it was set.
    pub normal_force: f64,
}

/// State that a region inherits from its predecessors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inheritance {
    /// Whether regions merged or split.
    pub is_event: bool,
    pub force: Vec3,
    pub torque: Vec3,
    pub friction: Vec3,
}

/// Follows regions from step to step (Luo 2007, §III and appendix I).
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// Regions in the order of their creation.
    pub regions: Vec<Region>,
    /// Position of the last step's region of each point of the tool.
    pub(super) labels: Vec<u32>,
    previous: Vec<Region>,
    /// Depth that region r shares with cluster c, at `r * clusters + c`.
    tally: Vec<f64>,
    clusters: usize,
    pub(super) created: u64,
}

pub(super) const NO_REGION: u32 = u32::MAX;

impl Tracker {
    /// A tracker for a number of tool points.
    pub fn new(points: usize) -> Self {
        Self { labels: vec![NO_REGION; points], ..Self::default() }
    }

    /// Forgets all regions.
    pub fn clear(&mut self) {
        self.regions.clear();
        self.labels.fill(NO_REGION);
    }

    /// Replaces all regions by those of another tracker of the same tool.
    pub fn take_over(&mut self, regions: &[Region]) {
        self.regions.clear();
        self.regions.extend_from_slice(regions);
        self.labels.fill(NO_REGION);
    }

    /// Matches the clusters of this step with the regions of the last. A region that split continues in the cluster with most
    /// of its contact; regions that merged go on as the oldest; other clusters are new regions.
    pub fn follow(&mut self, detector: &Detector) {
        std::mem::swap(&mut self.regions, &mut self.previous);
        self.regions.clear();
        let (old, new) = (self.previous.len(), detector.clusters.len());
        self.tally.clear();
        self.tally.resize(old * new, 0.0);
        for (c, range) in detector.clusters.iter().enumerate() {
            for contact in &detector.contacts[range.clone()] {
                let label = self.labels[contact.point as usize];
                if label != NO_REGION {
                    self.tally[label as usize * new + c] += contact.probe.depth;
                }
            }
        }
        for r in 0..old {
            if let Some(c) =
                self.successor(r, new).filter(|&c| (0..r).all(|earlier| self.successor(earlier, new) != Some(c)))
            {
                self.regions.push(Region { cluster: c, is_new: false, ..self.previous[r] });
            }
        }
        for c in 0..new {
            if self.regions.iter().all(|region| region.cluster != c) {
                self.regions.push(Region { cluster: c, is_new: true, ..Region::default() });
            }
        }
        self.clusters = new;
    }

    /// State that the region of a cluster inherits. The force of a region that split goes to the parts that press.
    pub fn inheritance(&self, cluster: usize) -> Inheritance {
        let mut inheritance = Inheritance::default();
        let mut owners = 0;
        for (r, before) in self.previous.iter().enumerate() {
            let row = &self.tally[r * self.clusters..(r + 1) * self.clusters];
            if row[cluster] == 0.0 {
                continue;
            }
            let pressing = |&c: &usize| self.regions.iter().any(|region| region.cluster == c);
            let share = row[cluster] / (0..self.clusters).filter(pressing).map(|c| row[c]).sum::<f64>();
            owners += 1;
            inheritance.is_event |= row.iter().filter(|&&depth| depth > 0.0).count() > 1;
            inheritance.force += share * before.force;
            inheritance.torque += share * before.torque;
            inheritance.friction += share * before.friction;
        }
        inheritance.is_event |= owners > 1;
        inheritance
    }

    /// The cluster with most of a region's contact.
    fn successor(&self, region: usize, clusters: usize) -> Option<usize> {
        let row = &self.tally[region * clusters..(region + 1) * clusters];
        let most = row.iter().copied().fold(0.0, f64::max);
        if most > 0.0 { row.iter().position(|&depth| depth == most) } else { None }
    }

    /// Ends the regions that do not press and numbers the new ones.
    pub fn end_idle(&mut self) {
        self.regions.retain(|region| region.normal_force > 0.0);
        for region in self.regions.iter_mut().filter(|region| region.id == 0) {
            self.created += 1;
            region.id = self.created;
        }
    }

    /// Labels the points of the regions for the next step.
    pub fn label(&mut self, detector: &Detector) {
        self.labels.fill(NO_REGION);
        for (r, region) in self.regions.iter().enumerate() {
            for contact in &detector.contacts[detector.clusters[region.cluster].clone()] {
                self.labels[contact.point as usize] = r as u32;
            }
        }
    }
}

/// How a region presses: the sum over its contacts (Luo 2007, §IV.C and appendix III).
#[derive(Clone, Copy, Debug, Default)]
pub struct RegionForce {
    /// Normal force on the tool, N.
    pub force: Vec3,
    /// Its torque about the tool's origin, N m.
    pub torque: Vec3,
    /// Middle of the region on the undeformed surface, m.
    pub origin: Vec3,
    /// Middle of the region on the tool, m.
    pub place: Vec3,
    pub area: f64,
    pub depth: f64,
    /// Tangent stiffness with constant shares, N/m.
    pub stiffness: f64,
}

impl RegionForce {
    /// Sums up contacts, whose depths below the shape that earlier regions have left are `depth(contact)`.
    pub fn of(
        contacts: &[ElasticContact],
        options: &ElasticOptions,
        areas: impl Fn(&ElasticContact) -> f64,
        tool_origin: &Vec3,
        tool_centre: &Vec3,
        depth: impl Fn(&ElasticContact) -> f64,
    ) -> Self {
        let mut press = Self::default();
        let mut shares = 0.0;
        for contact in contacts {
            let d = depth(contact);
            if d <= 0.0 || contact.facing <= 0.0 {
                continue;
            }
            // DEVIATION: with the paper's shares a point takes its full share of the mass as soon as it touches, and the
            // force jumps. Its share grows with its depth. Vertices are weighted by area, which for evenly spread
            // vertices is the paper's sum.
            let entry = d * d / (d * d + options.entry_depth * options.entry_depth);
            let area = areas(contact) * contact.facing * entry;
            // DEVIATION: the text of appendix III has the share of mass inversely proportional to the distance r from
            // the centre of mass, its formula proportional. The text is followed; r_th is added, as r may be zero.
            let arm = contact.place - tool_centre;
            let r = (arm - contact.probe.normal * arm.dot(&contact.probe.normal)).norm();
            let share = area / (r + options.link);
            let force = share * options.law.force(d) * contact.probe.normal;
            shares += share;
            press.stiffness += share * options.law.slope(d);
            press.force += force;
            press.torque += (contact.place - tool_origin).cross(&force);
            press.origin += area * contact.probe.foot;
            press.place += area * contact.place;
            press.area += area;
            press.depth = press.depth.max(d);
        }
        if shares > 0.0 {
            press.force /= shares;
            press.torque /= shares;
            press.stiffness /= shares;
            press.origin /= press.area;
            press.place /= press.area;
        }
        press
    }
}
