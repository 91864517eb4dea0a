use std::ops::Range;

use super::error::{ElasticError, in_range};
use super::shape::{ElasticShape, Probe};
use super::tool::Tool;
use crate::math::{Pose, Vec3};

/// A point of the tool below the undeformed surface.
#[derive(Clone, Copy, Debug)]
pub struct ElasticContact {
    /// Its number among the tool's points.
    pub point: u32,
    /// Where it is, in the object's frame, m.
    pub place: Vec3,
    /// Where the surface is.
    pub probe: Probe,
    /// Cosine of the angle between the tool's normal and the direction into the object; 0 if they point apart.
    pub facing: f64,
}

/// Finds the points of a tool that are below a surface and clusters them (Luo 2007, §II.B and appendix I).
///
/// The tool is rigid, so which of its points are closer than r_th is known beforehand.
#[derive(Clone, Debug)]
pub struct Detector {
    /// Points in contact, cluster by cluster.
    pub contacts: Vec<ElasticContact>,
    /// Contacts of each cluster.
    pub clusters: Vec<Range<usize>>,
    /// Neighbours of point i are `neighbours[starts[i]..starts[i + 1]]`.
    neighbours: Vec<u32>,
    starts: Vec<u32>,
    found: Vec<ElasticContact>,
    /// Position of each point of the tool in `found`.
    slots: Vec<u32>,
    open: Vec<u32>,
}

const NO_CONTACT: u32 = u32::MAX;
/// Most pairs of points of a tool that are closer than the linking distance.
const MAX_LINKS: usize = 20_000_000;

impl Detector {
    /// A detector for a tool, with the linking distance r_th.
    pub fn new(tool: &Tool, link: f64) -> Result<Self, ElasticError> {
        let count = tool.points.len();
        let (mut neighbours, mut starts, mut spacing) = (Vec::new(), vec![0], 0.0f64);
        for (i, a) in tool.points.iter().enumerate() {
            let mut nearest = f64::INFINITY;
            for (j, b) in tool.points.iter().enumerate() {
                let squared = (a.position - b.position).norm_squared();
                if i != j {
                    nearest = nearest.min(squared);
                    if squared < link * link {
                        neighbours.push(j as u32);
                    }
                }
            }
            spacing = spacing.max(nearest.sqrt());
            let linked = neighbours.len();
            let expected = "at most 2e7; use a larger spacing or a smaller linking distance";
            in_range("the number of linked pairs of points", linked as f64, linked <= MAX_LINKS, expected)?;
            starts.push(neighbours.len() as u32);
        }
        if spacing >= link {
            return Err(ElasticError::SparseTool { spacing, link });
        }
        Ok(Self {
            contacts: Vec::with_capacity(count),
            clusters: Vec::with_capacity(16),
            neighbours,
            starts,
            found: Vec::with_capacity(count),
            slots: vec![NO_CONTACT; count],
            open: Vec::with_capacity(count),
        })
    }

    /// Finds the contacts of a tool at a pose in the object's frame.
    pub fn detect(&mut self, shape: &ElasticShape, tool: &Tool, pose: &Pose) {
        self.found.iter().for_each(|contact| self.slots[contact.point as usize] = NO_CONTACT);
        self.found.clear();
        let outer = shape.outer_radius();
        let rotation = pose.rotation.to_rotation_matrix();
        for (i, point) in tool.points.iter().enumerate() {
            let place = rotation * point.position + pose.translation.vector;
            if place.norm_squared() >= outer * outer {
                continue;
            }
            if let Some(probe) = shape.probe(&place) {
                let facing = (-(rotation * point.normal).dot(&probe.normal)).max(0.0);
                self.slots[i] = self.found.len() as u32;
                self.found.push(ElasticContact { point: i as u32, place, probe, facing });
            }
        }
        self.cluster();
    }

    /// Sorts what was found into clusters: points linked by chains of distances below r_th.
    fn cluster(&mut self) {
        self.contacts.clear();
        self.clusters.clear();
        for first in 0..self.found.len() {
            if self.slots[self.found[first].point as usize] == NO_CONTACT {
                continue;
            }
            let start = self.contacts.len();
            self.take(first as u32);
            while let Some(point) = self.open.pop() {
                if self.contacts.len() == self.found.len() {
                    // All belong to a cluster: the rest of the links is known.
                    self.open.clear();
                    break;
                }
                let (from, to) = (self.starts[point as usize] as usize, self.starts[point as usize + 1] as usize);
                for n in from..to {
                    let slot = self.slots[self.neighbours[n] as usize];
                    if slot != NO_CONTACT {
                        self.take(slot);
                    }
                }
            }
            self.clusters.push(start..self.contacts.len());
        }
    }

    /// Moves a found contact to the cluster that grows.
    fn take(&mut self, slot: u32) {
        let contact = self.found[slot as usize];
        self.slots[contact.point as usize] = NO_CONTACT;
        self.open.push(contact.point);
        self.contacts.push(contact);
    }
}
