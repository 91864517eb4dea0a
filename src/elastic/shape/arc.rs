/// A point or a direction in the half plane: radius and height.
pub(super) type Plane = [f64; 2];

pub(super) fn sub(a: Plane, b: Plane) -> Plane {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn cross(a: Plane, b: Plane) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub(super) fn dot(a: Plane, b: Plane) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(super) fn unit(a: Plane) -> Plane {
    let length = dot(a, a).sqrt();
    [a[0] / length, a[1] / length]
}

pub(super) fn mix(a: Plane, b: Plane, s: f64) -> Plane {
    [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]
}

/// A smooth convex piece of a profile, with normals at its points; straight beyond its ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProfileArc {
    points: Vec<Plane>,
    normals: Vec<Plane>,
    /// Whether it meets the axis in a tip.
    has_tip: bool,
}

impl ProfileArc {
    /// The arc through some points. Where it meets the axis smoothly, at its start or its end, its normal is the axis.
    pub fn new(vertices: &[Plane], poles: [bool; 2], has_tip: bool) -> Self {
        let points = refined(vertices);
        let outward = |k: usize| {
            let e = sub(points[k + 1], points[k]);
            unit([e[1], -e[0]])
        };
        let last = points.len() - 1;
        let normal = |k: usize| match k {
            0 if poles[0] => [0.0, -1.0],
            0 => outward(0),
            k if k == last && poles[1] => [0.0, 1.0],
            k if k == last => outward(last - 1),
            k => {
                let (a, b) = (outward(k - 1), outward(k));
                unit([a[0] + b[0], a[1] + b[1]])
            }
        };
        let normals = (0..=last).map(normal).collect();
        Self { points, normals, has_tip }
    }

    /// Distance from the arc along its normals, positive outside, and its gradient. A tip is rounded within a band.
    pub fn distance(&self, radius: f64, height: f64, band: f64) -> (f64, Plane) {
        let (rounded, slope) = if self.has_tip && radius < band {
            (0.5 * (radius * radius / band + band), radius / band)
        } else {
            (radius, 1.0)
        };
        let q = [rounded, height];
        let ahead = |k: usize| cross(self.normals[k], sub(q, self.points[k])) >= 0.0;
        let (mut low, mut high) = (0, self.points.len() - 1);
        let (foot, normal) = if !ahead(low) {
            (self.points[low], self.normals[low])
        } else if ahead(high) {
            (self.points[high], self.normals[high])
        } else {
            while high - low > 1 {
                let middle = (low + high) / 2;
                if ahead(middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let [a, b] = [low, high].map(|k| (self.points[k], self.normals[k]));
            let s = foot([a.0, b.0], [a.1, b.1], q);
            (mix(a.0, b.0, s), unit(mix(a.1, b.1, s)))
        };
        (dot(normal, sub(q, foot)), [slope * normal[0], normal[1]])
    }
}

/// Splits edges that are much longer than their neighbours, so that normals turn only near the ends of a straight part.
fn refined(vertices: &[Plane]) -> Vec<Plane> {
    let length = |k: usize| {
        let e = sub(vertices[k + 1], vertices[k]);
        dot(e, e).sqrt()
    };
    let edges = vertices.len() - 1;
    let mut points = vec![vertices[0]];
    for k in 0..edges {
        let own = length(k);
        if k > 0 && own > 2.0 * length(k - 1) {
            points.push(mix(vertices[k], vertices[k + 1], length(k - 1) / own));
        }
        if k + 1 < edges && own > 2.0 * length(k + 1) {
            points.push(mix(vertices[k], vertices[k + 1], 1.0 - length(k + 1) / own));
        }
        points.push(vertices[k + 1]);
    }
    points
}

/// Where along a piece between two points the interpolated normal leads to a point between the normals of its ends.
pub(super) fn foot([a, b]: [Plane; 2], [n, to]: [Plane; 2], q: Plane) -> f64 {
    // cross(q − a − s e, n + s m) = 0, a quadratic equation in s with one root from 0 to 1.
    let (e, m, r) = (sub(b, a), sub(to, n), sub(q, a));
    let (c2, c1, c0) = (-cross(e, m), cross(r, m) - cross(e, n), cross(r, n));
    let root = (c1 * c1 - 4.0 * c2 * c0).max(0.0).sqrt();
    let s = -2.0 * c0 / (c1 + root.copysign(c1));
    if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 }
}
