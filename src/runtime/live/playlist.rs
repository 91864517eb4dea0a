use std::path::{Path, PathBuf};

use crate::assets::builtin_scenes;

/// A list of scenes to show.
pub struct Playlist {
    entries: Vec<PathBuf>,
    at: usize,
}

impl Playlist {
    /// The embedded scenes, or the files of the same kind in a folder.
    pub fn around(file: &Path) -> Self {
        let mut entries: Vec<PathBuf> = match file.extension() {
            None => builtin_scenes().map(PathBuf::from).collect(),
            Some(kind) => {
                let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
                let is_definition = |path: &Path| path.to_string_lossy().ends_with(".d.rhai");
                found.filter(|path| path.extension() == Some(kind) && !is_definition(path)).collect()
            }
        };
        entries.sort();
        let same = |entry: &PathBuf| entry == file || entry.file_name() == file.file_name();
        let at = entries.iter().position(same).unwrap_or_else(|| {
            entries.insert(0, file.into());
            0
        });
        Self { entries, at }
    }

    /// Moves forward or back, cyclically.
    pub fn turn(&mut self, by: i32) -> &Path {
        let count = self.entries.len() as i64;
        self.at = (self.at as i64 + i64::from(by)).rem_euclid(count) as usize;
        &self.entries[self.at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_playlist_cycles_through_scenes_or_a_folder() {
        let mut list = Playlist::around(Path::new("ball"));
        assert_eq!(list.turn(1), Path::new("ball_tips"));
        let count = list.entries.len() as i32;
        assert_eq!(list.turn(count - 1), Path::new("ball"));
        let last = list.entries[list.entries.len() - 1].clone();
        assert_eq!(list.turn(-1), last);
        assert_eq!(list.turn(1), Path::new("ball"));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
        let mut list = Playlist::around(&folder.join("ball.rhai"));
        assert_eq!(list.turn(1), folder.join("ball_tips.rhai"));
        assert!((0..list.entries.len()).all(|_| !list.turn(1).to_string_lossy().ends_with(".d.rhai")));
        let mut alone = Playlist::around(Path::new("/nowhere/at/all.toml"));
        assert_eq!(alone.turn(3), Path::new("/nowhere/at/all.toml"));
    }
}
