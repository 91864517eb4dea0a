use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::builtin::carried;
use super::problem::Problems;

/// Where texts come from, by the paths of their files: the disk and what the program carries, or a set that was kept. It remembers what was
/// read: whoever asks twice gets the same text, and a run can be repeated from what it was made from.
///
/// A clone shares its memory.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The only files there are; without it those of the disk.
    kept: Option<Arc<BTreeMap<String, String>>>,
    read: Arc<Mutex<Read>>,
}

/// What was read.
#[derive(Debug, Default)]
struct Read {
    texts: BTreeMap<String, String>,
    /// Paths in the order in which they were read.
    order: Vec<String>,
}

impl Files {
    /// A set of files by their paths, and no others: nothing of the disk is seen.
    pub fn kept(files: BTreeMap<String, String>) -> Self {
        Self { kept: Some(Arc::new(files)), read: Arc::default() }
    }

    /// Whether only a set of kept files is seen.
    pub fn are_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The text of a file. Bytes that are not UTF-8 become replacement characters, so that the parser can say what it met.
    pub fn read_text(&self, file: &Path) -> Result<String, Problems> {
        let path = Self::key(file);
        if let Some(text) = self.read().texts.get(&path) {
            return Ok(text.clone());
        }
        let text = match &self.kept {
            Some(kept) => kept
                .get(&path)
                .cloned()
                .ok_or_else(|| Problems::with_file(file, "cannot be read: it is not among the files that were kept"))?,
            None => read_from_disk(file)?,
        };
        let mut read = self.read();
        read.order.push(path.clone());
        read.texts.insert(path, text.clone());
        Ok(text)
    }

    /// Whether there is such a file.
    pub fn is_there(&self, file: &Path) -> bool {
        match &self.kept {
            Some(kept) => kept.contains_key(&Self::key(file)),
            None => carried(file).is_some() || file.is_file(),
        }
    }

    /// Path and text of what was read, in that order, without the first few.
    pub fn read_after(&self, few: usize) -> Vec<(String, String)> {
        let read = self.read();
        read.order.iter().skip(few).map(|path| (path.clone(), read.texts[path].clone())).collect()
    }

    /// Paths of what was read, in that order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.read().order.iter().map(PathBuf::from).collect()
    }

    /// A path as it is kept: with the same separators on every system.
    pub fn key(file: &Path) -> String {
        let text = file.to_string_lossy();
        if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_from_disk(file: &Path) -> Result<String, Problems> {
    if let Some(text) = carried(file) {
        return Ok(text.into());
    }
    let bytes = std::fs::read(file).map_err(|e| Problems::with_file(file, format!("cannot be read: {e}")))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_remembered_and_stays_the_same() {
        let folder = std::env::temp_dir().join(format!("fingerpad-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (one, two) = (folder.join("one.txt"), folder.join("two.txt"));
        std::fs::write(&one, "first").expect("a file");
        std::fs::write(&two, b"bad \xff byte").expect("a file");
        let files = Files::default();
        assert_eq!(files.read_text(&one).as_deref(), Ok("first"));
        std::fs::write(&one, "second").expect("a file");
        assert_eq!(files.read_text(&one).as_deref(), Ok("first"), "a run sees one state of its files");
        assert_eq!(Files::default().read_text(&one).as_deref(), Ok("second"));
        assert_eq!(files.clone().read_text(&two).as_deref(), Ok("bad \u{fffd} byte"));
        let read = files.read_after(0);
        assert_eq!(read.iter().map(|(path, _)| Path::new(path)).collect::<Vec<_>>(), [&one, &two]);
        assert_eq!(files.read_after(1).len(), 1);
        assert!(files.is_there(&one) && !files.is_there(&folder), "a folder is no file");

        let kept = Files::kept(read.into_iter().collect());
        std::fs::remove_dir_all(&folder).expect("a folder");
        assert_eq!(kept.read_text(&one).as_deref(), Ok("first"));
        assert!(kept.is_there(&two) && !kept.is_there(Path::new("Cargo.toml")) && kept.are_kept());
        let problem = kept.read_text(Path::new("Cargo.toml")).expect_err("a problem");
        assert!(problem.to_string().contains("not among the files that were kept"), "{problem}");
        assert!(kept.read_text(Path::new("fingerpad:/hands/right.toml")).is_err(), "not what is carried now either");
    }
}
