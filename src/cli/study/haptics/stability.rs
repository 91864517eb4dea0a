use crate::haptics::{EmulatedHand, GuardOptions, HandDynamics, HapticLoop, HapticOptions, ToolState, VirtualCoupling};
use crate::math::{Pose, Vec3};

/// Rates of the loop, Hz.
const RATES: [f64; 7] = [25.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0];

/// The largest stable stiffness at a rate, N/m.
pub struct Limit {
    pub rate: f64,
    /// The bound of passivity, `2 (b − B) / T` (Colgate and Schenkel 1997).
    pub bound: f64,
    /// A hand that is let go 5 mm away comes to rest.
    pub found: f64,
    /// The same with a device that answers a period late.
    pub late: f64,
    /// The same with the passivity controller.
    pub controlled: f64,
}

/// Stable stiffness over the rate of the loop.
///
/// A mass `m` with damping `b` on a spring `k` whose force is held for `T` is stable if `k T/2 < b`, for small `T`: held forces are late by `T/2`. With another `T` of delay it
/// is stable if `3/2 k T < b`. Passivity is stronger than stability with one given hand, and no weaker for a mass alone.
pub fn limits() -> Vec<Limit> {
    RATES
        .iter()
        .map(|&rate| {
            let bound = 2.0 * hand(0).damping * rate;
            let largest = |delay: usize, controller: bool| {
                let (mut low, mut high) = (1.0f64, 100.0 * bound.max(1000.0));
                if comes_to_rest(rate, high, delay, controller) {
                    return high;
                }
                while high / low > 1.02 {
                    let middle = (low * high).sqrt();
                    if comes_to_rest(rate, middle, delay, controller) { low = middle } else { high = middle }
                }
                low
            };
            Limit { rate, bound, found: largest(0, false), late: largest(1, false), controlled: largest(1, true) }
        })
        .collect()
}

/// A hand that does not hold back: a mass with a damper.
fn hand(delay: usize) -> HandDynamics {
    HandDynamics { stiffness: 0.0, angular_stiffness: 0.0, delay, ..HandDynamics::default() }
}

/// Whether a device that is let go beside a fixed tool swings less and less.
fn comes_to_rest(rate: f64, stiffness: f64, delay: usize, controller: bool) -> bool {
    let period = 1.0 / rate;
    let default = HapticOptions::default();
    let options = HapticOptions {
        period,
        coupling: VirtualCoupling {
            stiffness,
            damping: 0.0,
            angular_stiffness: 0.0,
            angular_damping: 0.0,
            force_limit: 1e6,
            torque_limit: 1.0,
        },
        // The samples are as far apart as the periods, and the force is not faded in.
        guard: GuardOptions { silence: 3.0 * period, recovery: 0.0, speed: 1e6, ..GuardOptions::default() },
        passivity: default.passivity.filter(|_| controller),
        ..default
    };
    let still = Pose::identity();
    let tool = ToolState { pose: still, velocity: [Vec3::zeros(); 2] };
    let mut control = HapticLoop::new(options);
    let mut device = EmulatedHand::new(hand(delay), Pose::translation(5e-3, 0.0, 0.0));
    let steps = (3.0 * rate) as usize;
    let mut swing = [0.0f64; 2];
    for i in 0..steps {
        let output = control.step(Some(&device.sample()), &tool, i as f64 * period);
        device.step(&output.device, &still, period);
        let far = device.sample().pose.translation.vector.norm();
        if !far.is_finite() || far > 0.05 {
            return false;
        }
        // The first and the last third.
        match 3 * i / steps {
            0 => swing[0] = swing[0].max(far),
            2 => swing[1] = swing[1].max(far),
            _ => {}
        }
    }
    swing[1] < 0.9 * swing[0]
}
