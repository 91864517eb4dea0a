use std::time::Instant;

use super::StageCost;

/// A stage of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStage {
    /// The runtime's pacing.
    Wait,
    Locate,
    Hands,
    Figure,
    Load,
    /// Until the runtime has an image to draw to.
    Image,
    Encode,
    Menu,
    /// Handing the frame to the runtime.
    Submit,
    Mirror,
}

/// Number of stages, and their names in the order of [`FrameStage`].
const STAGES: usize = 10;
const NAMES: [&str; STAGES] =
    ["wait", "locate", "hands", "figure", "load", "image", "encode", "menu", "submit", "mirror"];
/// What is spent in the runtime. The rest is the work of this program.
const OF_RUNTIME: [FrameStage; 3] = [FrameStage::Wait, FrameStage::Image, FrameStage::Submit];
/// Names of the sum of that rest, and of the time for which the processor worked on it in this thread. A driver that draws in
/// software, and other programs, take the processor from this thread, so the sum may be much larger.
const OWN_STAGES: &str = "own work";
const OWN_CPU: &str = "own CPU";
/// Frames that are kept for the statistics; the newest of a longer session.
const KEPT_FRAMES: usize = 16_384;
/// Weight of a new frame in the recent means.
const RECENT: f64 = 0.05;

/// Times of a frame: its stages, then the processor time of the own work, s.
type Times = [f32; STAGES + 1];

/// Times of the stages. It allocates only when it is made.
pub struct FrameClock {
    last: Option<(Instant, f64)>,
    now: [f64; STAGES + 1],
    kept: Vec<Times>,
    frames: usize,
    recent: [f64; 2],
}

impl FrameClock {
    pub fn new() -> Self {
        let now = [0.0; STAGES + 1];
        Self { last: None, now, kept: Vec::with_capacity(KEPT_FRAMES), frames: 0, recent: [0.0; 2] }
    }

    pub fn start(&mut self) {
        self.last = Some((Instant::now(), processor_time()));
    }

    /// Adds the time since the last call to a stage.
    pub fn lap(&mut self, work: FrameStage) {
        let (now, used) = (Instant::now(), processor_time());
        if let Some((last, before)) = self.last.replace((now, used)) {
            self.now[work as usize] += (now - last).as_secs_f64();
            if !OF_RUNTIME.contains(&work) {
                self.now[STAGES] += used - before;
            }
        }
    }

    /// Ends a frame. The first one compiles shaders, and is left out.
    pub fn frame(&mut self) {
        let now = std::mem::take(&mut self.now).map(|seconds| seconds as f32);
        self.frames += 1;
        if self.frames == 1 {
            return;
        }
        let index = (self.frames - 2) % KEPT_FRAMES;
        match self.kept.get_mut(index) {
            Some(old) => *old = now,
            None => self.kept.push(now),
        }
        let part = if self.frames == 2 { 1.0 } else { RECENT };
        let whole = f64::from(now[..STAGES].iter().sum::<f32>());
        for (mean, new) in self.recent.iter_mut().zip([own(&now), whole]) {
            *mean += part * (new - *mean);
        }
    }

    /// Recent means: own work and whole duration of a frame, s.
    pub fn recent(&self) -> [f64; 2] {
        self.recent
    }

    /// Statistics of every stage, then of the own work and of its processor time.
    pub fn costs(&self) -> Vec<StageCost> {
        let stage = |(i, name): (usize, &&'static str)| cost(name, self.kept.iter().map(|now| f64::from(now[i])));
        let stages = NAMES.iter().enumerate().map(stage);
        let used = self.kept.iter().map(|now| f64::from(now[STAGES]));
        stages.chain([cost(OWN_STAGES, self.kept.iter().map(own)), cost(OWN_CPU, used)]).collect()
    }
}

fn own(now: &Times) -> f64 {
    let of_runtime: f32 = OF_RUNTIME.iter().map(|work| now[*work as usize]).sum();
    f64::from(now[..STAGES].iter().sum::<f32>() - of_runtime)
}

/// Time for which the processor has worked for this thread, s; zero where it is not known.
fn processor_time() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure outlives the call.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } == 0 {
            return time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64;
        }
    }
    0.0
}

fn cost(name: &'static str, times: impl Iterator<Item = f64>) -> StageCost {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get((part * times.len().saturating_sub(1) as f64).round() as usize).copied();
    let of = |part: f64| at(part).unwrap_or(0.0);
    StageCost { name, median: of(0.5), p99: of(0.99), max: of(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_leave_out_the_first_frame_and_the_runtime() {
        let mut clock = FrameClock::new();
        for frame in 0..=100 {
            // 1 to 100 ms; the first frame takes a second.
            let time = if frame == 0 { 1.0 } else { 1e-3 * f64::from(frame) };
            clock.now[FrameStage::Encode as usize] = time;
            clock.now[FrameStage::Wait as usize] = 7.0;
            clock.now[FrameStage::Image as usize] = 8.0;
            clock.now[FrameStage::Submit as usize] = 9.0;
            clock.frame();
        }
        let costs = clock.costs();
        let of = |name: &str| costs.iter().find(|cost| cost.name == name).expect("a stage");
        for name in ["encode", OWN_STAGES] {
            let (cost, near) = (of(name), |a: f64, b: f64| (a - b).abs() < 1e-5);
            assert!(near(cost.max, 0.1) && near(cost.p99, 0.099), "{cost:?}");
            assert!((cost.median - 0.0505).abs() < 1e-3, "{cost:?}");
        }
        assert_eq!((of("wait").median, of("hands").max), (7.0, 0.0));
        assert!((clock.recent()[1] - clock.recent()[0] - 24.0).abs() < 1e-3, "{:?}", clock.recent());
    }

    /// Time asleep is no processor time.
    #[cfg(unix)]
    #[test]
    fn processor_time_leaves_out_waiting() {
        let mut clock = FrameClock::new();
        for _ in 0..2 {
            clock.start();
            std::thread::sleep(std::time::Duration::from_millis(30));
            clock.lap(FrameStage::Encode);
            let start = processor_time();
            while processor_time() - start < 0.005 {}
            clock.lap(FrameStage::Menu);
            clock.frame();
        }
        let costs = clock.costs();
        let of = |name: &str| costs.iter().find(|cost| cost.name == name).expect("a stage").max;
        assert!(of("encode") >= 0.03 && of(OWN_STAGES) >= 0.035, "{costs:?}");
        assert!((0.005..0.02).contains(&of(OWN_CPU)), "{costs:?}");
    }

    #[test]
    fn a_long_session_keeps_its_newest_frames() {
        let mut clock = FrameClock::new();
        let room = clock.kept.capacity();
        for frame in 0..2 * KEPT_FRAMES {
            clock.now[FrameStage::Hands as usize] = frame as f64;
            clock.frame();
        }
        assert_eq!((clock.kept.len(), clock.kept.capacity()), (KEPT_FRAMES, room));
        let hands = clock.costs()[FrameStage::Hands as usize];
        assert_eq!(hands.max, (2 * KEPT_FRAMES - 1) as f64);
    }
}
