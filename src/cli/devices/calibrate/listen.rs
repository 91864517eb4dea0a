use std::time::{Duration, Instant};

use anyhow::bail;

use crate::devices::{SourceHandle, SourceSample, SourceState};

/// Time limit for the first sample.
const FIRST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit between samples.
const SILENCE: Duration = Duration::from_secs(2);

/// The samples of a device.
pub struct Ear {
    handle: SourceHandle,
}

/// The device stopped sending; the reason as text.
#[derive(Debug)]
pub struct Silence(pub String);

impl Ear {
    pub fn new(handle: SourceHandle) -> Self {
        Self { handle }
    }

    /// Waits for the first sample.
    pub fn wait(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.handle.state() != SourceState::Streaming {
            if start.elapsed() > FIRST_SAMPLE_TIMEOUT {
                bail!("{}", self.handle.complaint());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Discards pending samples.
    pub fn forget(&self) {
        self.handle.samples().try_iter().for_each(drop);
    }

    /// The next sample.
    pub fn next(&self) -> Result<SourceSample, Silence> {
        self.handle.samples().recv_timeout(SILENCE).map_err(|_| Silence(self.handle.complaint()))
    }

    /// The samples of the next `seconds`.
    pub fn for_seconds(&self, seconds: f64) -> Result<Vec<SourceSample>, Silence> {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let mut samples = Vec::new();
        while Instant::now() < end {
            samples.push(self.next()?);
        }
        Ok(samples)
    }
}
