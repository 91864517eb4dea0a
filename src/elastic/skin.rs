use std::ops::Range;

use super::anchors::{Anchors, Patch};
use super::error::ElasticError;
use super::field::{Field, FieldContext, RegionEffect};
use super::options::ElasticOptions;
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// The surface of an elastic object: its shape follows from the forces of some regions (Luo 2007, §V and VI.B).
#[derive(Clone, Debug)]
pub struct Skin {
    /// What it was built from.
    pub options: ElasticOptions,
    /// Anchor points.
    pub anchors: Anchors,
    /// Cross-sections s of the beams, m².
    sections: Vec<f64>,
    support: Vec3,
    /// One per region, plus spare ones.
    pub fields: Vec<Field>,
    /// Vertices of the undeformed surface.
    pub rest: Vec<Vec3>,
    patches: Vec<Patch>,
    /// The deformed surface.
    pub surface: SurfaceMesh,
    /// Its outward unit normals.
    pub normals: Vec<Vec3>,
}

impl Skin {
    /// The undeformed surface of an object.
    pub fn new(options: ElasticOptions) -> Result<Self, ElasticError> {
        options.check()?;
        let surface = options.shape.mesh(options.triangles)?;
        let anchors = Anchors::new(&options.shape);
        let radius = options.neighbourhood;
        let has_anchor = |v: &Vec3| anchors.points.iter().any(|a| (a - v).norm() > radius);
        if !surface.vertices.iter().all(has_anchor) {
            return Err(ElasticError::NoAnchorInReach { neighbourhood: radius });
        }
        // Luo 2007, eq. 18 and 19.
        let areas = anchors.voronoi_areas(&surface);
        let total: f64 = areas.iter().sum();
        let sections = areas.iter().map(|area| area / total * (options.section * total)).collect();
        let patches = surface.vertices.iter().map(|v| anchors.patch(&options.shape, v)).collect();
        Ok(Self {
            support: options.support.unwrap_or_else(|| options.shape.bottom()),
            fields: Vec::new(),
            rest: surface.vertices.clone(),
            normals: surface.vertex_normals(),
            patches,
            surface,
            sections,
            anchors,
            options,
        })
    }

    /// Computes the field of region `index` from its force on the object; those before it are known. Returns the displacement
    /// of the equivalent contact point, m.
    pub fn spread(&mut self, index: usize, origin: &Vec3, force: &Vec3, points: f64) -> f64 {
        let displaced_origin = origin + self.displacement(index, origin);
        let depth = self.options.law.displacement(force.norm());
        let source = RegionEffect { origin: *origin, displaced_origin, force: *force, depth, points, earlier: &[] };
        self.refresh(index, &source, true);
        self.fields[index].displacement.norm()
    }

    /// The same with a given displacement of the contact point, on the undeformed shape.
    pub fn spread_by(&mut self, index: usize, origin: &Vec3, force: &Vec3, depth: f64, points: f64) {
        let source =
            RegionEffect { origin: *origin, displaced_origin: *origin, force: *force, depth, points, earlier: &[] };
        self.refresh(index, &source, false);
    }

    fn refresh(&mut self, index: usize, source: &RegionEffect, follows: bool) {
        if self.fields.len() == index {
            self.fields.push(Field::default());
        }
        let (earlier, rest) = self.fields.split_at_mut(index);
        let Self { options, anchors, sections, support, .. } = self;
        let body = FieldContext { options, anchors, sections, support: *support };
        rest[0].refresh(&body, &RegionEffect { earlier: if follows { earlier } else { &[] }, ..*source });
    }

    /// Displacement of a point of the undeformed surface by the first regions, m.
    pub fn displacement(&self, regions: usize, p: &Vec3) -> Vec3 {
        let patch = self.anchors.patch(&self.options.shape, p);
        self.fields[..regions].iter().map(|field| field.at(&self.options, p, &patch)).sum()
    }

    /// Appends where the anchor points are, displaced by the first regions, and then the contact points of those regions.
    pub fn append_marks(&self, regions: usize, marks: &mut Vec<Vec3>) {
        marks.extend(self.anchors.points.iter().map(|p| p + self.displacement(regions, p)));
        marks.extend(self.fields[..regions].iter().map(|field| field.origin + field.displacement));
    }

    /// Force per area of some regions at a point of the surface, Pa (Luo 2007, §VI.A).
    pub fn traction(&self, regions: Range<usize>, p: &Vec3) -> Vec3 {
        let patch = self.anchors.patch(&self.options.shape, p);
        self.fields[regions].iter().map(|field| field.traction(&patch)).sum()
    }

    /// Moves the vertices to where the fields of the first regions displace them.
    pub fn displace(&mut self, regions: usize) {
        let fields = &self.fields[..regions];
        for ((vertex, rest), patch) in self.surface.vertices.iter_mut().zip(&self.rest).zip(&self.patches) {
            *vertex = *rest;
            for field in fields {
                *vertex += field.at(&self.options, rest, patch);
            }
        }
    }

    /// Recomputes the normals of the deformed surface.
    pub fn update_normals(&mut self) {
        self.normals.fill(Vec3::zeros());
        for (t, corners) in self.surface.triangles.iter().enumerate() {
            let area = self.surface.area_vector(t);
            for &v in corners {
                self.normals[v as usize] += area;
            }
        }
        self.normals.iter_mut().for_each(|n| *n = n.try_normalize(0.0).unwrap_or_else(Vec3::y));
    }
}
