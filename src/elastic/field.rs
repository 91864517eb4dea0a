use super::anchors::{Anchors, Patch};
use super::options::ElasticOptions;
use super::skeleton::{Beam, BeamLoad, split};
use crate::math::Vec3;

/// Displacement of the surface by one contact region (Luo 2007, §V and VI.B).
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Origin of deformation on the undeformed surface, m.
    pub origin: Vec3,
    /// Displacement of the equivalent contact point, m.
    pub displacement: Vec3,
    /// The beam skeleton.
    pub beams: Vec<Beam>,
    /// What the beams carry.
    pub loads: Vec<BeamLoad>,
    /// Displacements of the anchor points where nothing holds them, m.
    pub anchors: Vec<Vec3>,
    /// Force per area that the beams bring to the anchor points, Pa.
    tractions: Vec<Vec3>,
    /// Distance to the nearest anchor point, where the displacement of the contact has faded out.
    reach: f64,
    /// 1 + log n of a region of n points.
    spread: f64,
    /// Contact points of earlier regions, and the support: the rigid tool and the ground hold them.
    held: Vec<Vec3>,
}

/// What a region does to the surface.
#[derive(Clone, Copy)]
pub struct RegionEffect<'a> {
    /// Origin of deformation, m.
    pub origin: Vec3,
    /// Where the surface point is that earlier regions have displaced, m.
    pub displaced_origin: Vec3,
    /// Force of the tool on the object, N.
    pub force: Vec3,
    /// Displacement of the contact point, m.
    pub depth: f64,
    /// How many points press, 1 or more.
    pub points: f64,
    /// Fields of earlier regions.
    pub earlier: &'a [Field],
}

/// What all fields of an object share.
pub struct FieldContext<'a> {
    /// Parameters.
    pub options: &'a ElasticOptions,
    /// Anchor points.
    pub anchors: &'a Anchors,
    /// Cross-sections s of the beams, m².
    pub sections: &'a [f64],
    /// The held point, m.
    pub support: Vec3,
}

impl Field {
    /// Computes the field of a region. Reuses its memory.
    pub fn refresh(&mut self, body: &FieldContext, source: &RegionEffect) {
        let options = body.options;
        let force = source.force.norm();
        let depth = source.depth;
        self.origin = source.origin;
        self.displacement = source.force * (depth / force.max(f64::MIN_POSITIVE));
        self.spread = 1.0 + source.points.ln();
        self.held.clear();
        self.held.push(body.support);
        self.held.extend(source.earlier.iter().map(|field| field.origin));
        let count = body.anchors.points.len();
        self.beams.resize(count, Beam::default());
        self.loads.resize(count, BeamLoad::default());
        self.anchors.resize(count, Vec3::zeros());
        self.tractions.resize(count, Vec3::zeros());
        self.reach = f64::INFINITY;
        for (i, anchor) in body.anchors.points.iter().enumerate() {
            // The skeleton is built on the shape that earlier regions have left.
            let (r, inclusions) = (options.neighbourhood, &options.inclusions);
            let place = anchor + source.earlier.iter().map(|f| f.hold(anchor, r) * f.anchors[i]).sum::<Vec3>();
            self.beams[i] =
                Beam::new(&source.displaced_origin, &place, body.sections[i], r, &options.material, inclusions);
            self.reach = self.reach.min((source.origin - anchor).norm().max(r));
        }
        let end = split(&source.force, &self.beams, options.material.poisson, &mut self.loads);
        // The common end is the contact point, whose displacement along the force is known from eq. 1.
        let along = end.dot(&source.force);
        let scale = if along > 0.0 { depth * force / along } else { 0.0 };
        let at_contact = self.contact_part(options, 0.0, 1.0) * self.displacement;
        for (i, anchor) in body.anchors.points.iter().enumerate() {
            // DEVIATION: eq. 7 gives derivatives of the displacement. The strain of an anchor point is taken to act over the
            // radius of the contact's neighbourhood, so that an anchor point at its border moves with the contact and
            // the displacement falls with the inverse of the distance. In an inhomogeneous beam it is the strain of the homogeneous
            // beam of equal stiffness; with the stress of the end segment the softer side would move less, not more.
            let by_beam = options.neighbourhood * scale * self.loads[i].strain;
            // An anchor point inside the neighbourhood moves with the contact.
            let outside = ((source.origin - anchor).norm() / options.neighbourhood).min(1.0);
            self.anchors[i] = outside * by_beam + (1.0 - outside) * at_contact;
            self.tractions[i] = self.loads[i].traction;
        }
    }

    /// Displacement of a point of the surface, m (Luo 2007, §V.E and V.F): linear from the contact to the nearest anchor point,
    /// interpolated between the anchor points beyond, with the logarithm of the neighbourhood.
    // DEVIATION: §V.E interpolates the angle between displacement and normal, which does not fix a direction in space, and
    // the magnitude. The vectors are interpolated here.
    pub fn at(&self, options: &ElasticOptions, p: &Vec3, patch: &Patch) -> Vec3 {
        let r = (p - self.origin).norm();
        let fade = (1.0 - r / self.reach).max(0.0);
        let contact = self.contact_part(options, r, fade);
        let free = (1.0 - fade) * patch.interpolate(&self.anchors) + contact * self.displacement;
        free * self.hold(p, options.neighbourhood)
    }

    /// Part of the contact's displacement at a distance r from it.
    // DEVIATION: the factor of §V.F, 1 + C_n log((r + C_r) / (r_R + C_r)), is least beside the contact, so that the
    // displacement would rise from there on; for a region it is divided by 1 + log n and jumps at r_R. The same logarithm,
    // scaled to 1 at the contact and 0 at r_R, carries the part C_n log((r_R + C_r) / C_r) of the displacement here, less for
    // regions; the rest is linear.
    fn contact_part(&self, options: &ElasticOptions, r: f64, fade: f64) -> f64 {
        let (radius, length) = (options.neighbourhood, options.local_length);
        let local = options.local_gain * ((radius + length) / length).ln();
        let cusp = if r < radius { options.local_gain * ((radius + length) / (r + length)).ln() } else { 0.0 };
        (1.0 - local) * fade + cusp / self.spread
    }

    /// Holds another point of the surface.
    pub fn hold_at(&mut self, p: &Vec3) {
        self.held.push(*p);
    }

    /// Zero at points that are held, one away from them (Luo 2007, §VI.B).
    fn hold(&self, p: &Vec3, radius: f64) -> f64 {
        self.held.iter().map(|held| ((p - held).norm() / radius).min(1.0)).product()
    }

    /// Force per area at a point of the surface, Pa (Luo 2007, §VI.A).
    pub fn traction(&self, patch: &Patch) -> Vec3 {
        patch.interpolate(&self.tractions)
    }
}
