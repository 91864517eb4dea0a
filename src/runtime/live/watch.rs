use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Poll interval of files.
pub const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Input files of a session.
pub struct FileWatch {
    files: Vec<(PathBuf, Option<SystemTime>)>,
    looked: Instant,
}

impl FileWatch {
    /// Watches files from their current state.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_time = |file: PathBuf| {
            let time = changed_at(&file);
            (file, time)
        };
        Self { files: files.into_iter().map(with_time).collect(), looked: Instant::now() }
    }

    /// Whether one was changed since; polls at a limited rate.
    pub fn is_changed(&mut self) -> bool {
        if self.looked.elapsed() < LOOK_EVERY {
            return false;
        }
        self.looked = Instant::now();
        // A missing file is being written.
        self.files.iter().any(|(file, then)| changed_at(file).is_some_and(|now| Some(now) != *then))
    }
}

fn changed_at(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|data| data.modified()).ok()
}
