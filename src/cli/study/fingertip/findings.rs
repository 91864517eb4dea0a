//! All measurements, and what is known of measured fingertips.

use super::experiments::{self, Extent, Indentation, PressureProfile, Relaxed, Sheared, Twisted, power};

/// All measurements.
pub struct Findings {
    pub indentation: Indentation,
    pub profiles: Vec<PressureProfile>,
    pub relaxation: Vec<Relaxed>,
    pub shear: Vec<Sheared>,
    pub torsion: Vec<Twisted>,
    /// Twist at full slip of slow and fast torsion, °.
    pub rates: [Option<f64>; 2],
    /// Tangential force, N, and torque, N·mm, at full slip.
    pub limit: Vec<[f64; 2]>,
    /// Normal force, N, and coefficient.
    pub load: Vec<[f64; 2]>,
}

/// A measured shape or range, and whether the pad meets it.
pub struct MeasuredTarget {
    pub quantity: &'static str,
    pub measured: &'static str,
    pub here: String,
    pub met: bool,
}

impl Findings {
    /// Runs every protocol.
    pub fn measure(extent: &Extent, mut tell: impl FnMut(&'static str)) -> anyhow::Result<Self> {
        tell("indentation");
        let indentation = experiments::indentation(extent)?;
        tell("pressure");
        let profiles = experiments::profiles(extent)?;
        tell("relaxation");
        let relaxation = experiments::relaxation(extent)?;
        tell("shear");
        let shear = experiments::shear(extent)?;
        tell("torsion");
        let (torsion, rates) = (experiments::torsion(extent)?, experiments::rates(extent)?);
        tell("torque and tangential force");
        let limit = experiments::limit_curve(extent)?;
        tell("friction against load");
        let load = experiments::load(extent)?;
        Ok(Self { indentation, profiles, relaxation, shear, torsion, rates, limit, load })
    }

    /// The table of what is met. The conditions are in `docs/fingertip.md`.
    pub fn targets(&self) -> Vec<MeasuredTarget> {
        let mut targets = self.of_pressing();
        targets.extend(self.of_relaxation());
        targets.extend(self.of_shear());
        targets.extend(self.of_torsion());
        targets.extend(self.of_friction());
        targets
    }

    fn of_pressing(&self) -> Vec<MeasuredTarget> {
        let i = &self.indentation;
        let depth = |force: f64| i.curve.iter().find(|c| c[1] >= force).map_or(f64::NAN, |c| c[0]);
        let at = |force: f64| i.stiffness.iter().find(|s| s[0] >= force).map_or(f64::NAN, |s| s[1]);
        let growth = at(2.0) / at(0.25);
        let modulus = |m: f64| (0.07..=0.2).contains(&m);
        let lost = i.curve.iter().filter(|c| c[1] <= 2.0).map(|c| c[3]).fold(0.0, f64::min);
        let volume = i.volume_force.map_or("never".into(), |n| format!("{n:.1} N"));
        let exponents: Vec<f64> = self.profiles.iter().map(|p| p.exponent).collect();
        let mean = exponents.iter().sum::<f64>() / exponents.len() as f64;
        vec![
            MeasuredTarget {
                quantity: "force against indentation",
                measured: "exponential: soft to 1 N, then stiffening fast",
                here: format!("{:.2} / {:.2} mm at 1 / 2 N, stiffness x{growth:.1}", depth(1.0), depth(2.0)),
                // An exponential has a stiffness linear in force: eight times at 2 N what it has at 0.25 N, if it starts from none.
                met: (3.0..=8.0).contains(&growth),
            },
            MeasuredTarget {
                quantity: "effective modulus, 0.5 to 10 N",
                measured: "0.07 to 0.2 MPa",
                here: format!("{:.3} to {:.3} MPa", i.modulus[0], i.modulus[1]),
                met: i.modulus.into_iter().all(modulus),
            },
            MeasuredTarget {
                quantity: "contact area against force",
                measured: "N^0.52; radius N^0 to N^(1/3)",
                here: format!("N^{:.2}", i.area_exponent),
                met: (0.42..=0.62).contains(&i.area_exponent),
            },
            MeasuredTarget {
                quantity: "pressure (1 - r²)^m",
                measured: "m = 1, not 1/2 as of Hertz",
                here: format!("m = {mean:.2} in the mean"),
                met: (0.75..=1.25).contains(&mean),
            },
            MeasuredTarget {
                quantity: "volume under indentation",
                measured: "changes by 5 % at most",
                here: format!("{lost:.1} % at 2 N; 5 % at {volume}"),
                met: lost > -5.0,
            },
        ]
    }

    fn of_relaxation(&self) -> [MeasuredTarget; 2] {
        // After 0.05 s the fast branch and the viscous damping of 5 ms are over; what falls then is slow.
        let slow = |with: bool| {
            let own = self.relaxation.iter().filter(move |r| r.with == with).flat_map(|r| &r.curve);
            let early = own.clone().find(|c| c[0] >= 0.05).map_or(f64::NAN, |c| c[1]);
            own.last().map_or(f64::NAN, |c| c[1] / early)
        };
        let [without, relaxed] = [false, true].map(slow);
        [
            MeasuredTarget {
                quantity: "relaxation, by default",
                measured: "4 ms, 70 ms, 1.4 s, and a rest",
                here: format!("falls to {:.0} % after 0.05 s", 100.0 * without),
                met: without < 0.9,
            },
            MeasuredTarget {
                quantity: "relaxation, `relaxation = true`",
                measured: "4 ms, 70 ms, 1.4 s, and a rest",
                here: format!("falls to {:.0} % after 0.05 s", 100.0 * relaxed),
                met: relaxed < 0.9,
            },
        ]
    }

    fn of_shear(&self) -> [MeasuredTarget; 2] {
        let stiffness = power(&self.shear.iter().map(|s| [s.normal, s.stiffness]).collect::<Vec<_>>());
        let shrunk = self.shear.iter().map(|s| s.shrunk).sum::<f64>() / self.shear.len() as f64;
        [
            MeasuredTarget {
                quantity: "tangential stiffness",
                measured: "linear in the normal force",
                here: format!("N^{stiffness:.2}"),
                met: (0.8..=1.2).contains(&stiffness),
            },
            MeasuredTarget {
                quantity: "area under shear",
                measured: "shrinks as the tangential force rises",
                here: format!("{:.0} % of that before", 100.0 * shrunk),
                met: shrunk < 0.95,
            },
        ]
    }

    fn of_torsion(&self) -> Vec<MeasuredTarget> {
        let joint: Vec<&Twisted> = self.torsion.iter().filter(|t| t.patches).collect();
        let grows = |of: &dyn Fn(&Twisted) -> f64| joint.windows(2).all(|w| of(w[1]) > of(w[0]));
        let torque = power(&joint.iter().map(|t| [t.normal, t.torque]).collect::<Vec<_>>());
        let rim = |patches: bool| {
            let all: Vec<f64> = self.torsion.iter().filter(|t| t.patches == patches).filter_map(|t| t.rim).collect();
            (all.iter().sum::<f64>() / all.len().max(1) as f64, all.len())
        };
        let text = |(mean, count): (f64, usize)| {
            if count > 0 { format!("slip at {mean:.2} of the radius of stick") } else { "slips at once".into() }
        };
        let angles: Vec<String> =
            joint.iter().map(|t| t.full_slip.map_or("-".into(), |angle| format!("{angle:.0}"))).collect();
        let [slow, fast] = self.rates.map(|angle| angle.unwrap_or(f64::NAN));
        vec![
            MeasuredTarget {
                quantity: "torsion: torque at full slip",
                measured: "grows with the normal force",
                here: format!("N^{torque:.2}"),
                met: grows(&|t| t.torque),
            },
            MeasuredTarget {
                quantity: "torsion: twist at full slip",
                measured: "grows with the normal force",
                here: format!("{}°", angles.join(", ")),
                met: grows(&|t| t.full_slip.unwrap_or(f64::NAN)),
            },
            MeasuredTarget {
                quantity: "torsion: slip, one friction patch",
                measured: "starts at the rim",
                here: text(rim(true)),
                met: rim(true).1 > 0 && rim(true).0 > 1.1,
            },
            MeasuredTarget {
                quantity: "torsion: slip, `patches = false`",
                measured: "starts at the rim",
                here: text(rim(false)),
                met: rim(false).1 > 0 && rim(false).0 > 1.1,
            },
            MeasuredTarget {
                quantity: "torsion: speed",
                measured: "5 to 100 °/s: the same twist at full slip",
                here: format!("{slow:.1} and {fast:.1}°"),
                met: (slow / fast - 1.0).abs() < 0.15,
            },
        ]
    }

    fn of_friction(&self) -> [MeasuredTarget; 2] {
        let falls = power(&self.load);
        [
            MeasuredTarget {
                quantity: "torque with tangential force",
                measured: "a convex limit curve",
                here: format!(
                    "{} points, {}",
                    self.limit.len(),
                    if is_convex(&self.limit) { "convex" } else { "not convex" }
                ),
                met: is_convex(&self.limit),
            },
            MeasuredTarget {
                quantity: "friction against load, aluminium",
                measured: "N^-0.21 (Seo 2009)",
                here: format!("N^{falls:.3}"),
                met: (falls + 0.21).abs() < 0.02,
            },
        ]
    }
}

/// Whether points on a limit curve, from pure sliding to pure spin, bend one way, up to 2 % of the largest torque.
fn is_convex(points: &[[f64; 2]]) -> bool {
    let most = [0, 1].map(|k| points.iter().map(|p| p[k]).fold(0.0, f64::max));
    points.windows(3).all(|w| {
        let [a, b, c] = [0, 1, 2].map(|i| [w[i][0] / most[0], w[i][1] / most[1]]);
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) > -0.02
    })
}
