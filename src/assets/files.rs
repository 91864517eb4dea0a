use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bounded::read_bounded;
use super::builtin::{carried, is_carried};
use super::limits;
use super::problem::{Problem, Problems, line_column};

/// The contents of files by their paths: from the disk and the files that the program carries, or from a set that was kept. Contents that were
/// read are remembered, so a second read returns the same bytes, and a run can be repeated from its inputs.
///
/// Clones share what was read.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The fixed set of files; `None` for those of the disk.
    kept: Option<Arc<BTreeMap<String, Vec<u8>>>>,
    /// The only visible folders of the disk, with links resolved; `None` for all.
    folders: Option<Arc<Vec<PathBuf>>>,
    read: Arc<Mutex<Read>>,
}

/// The kind of a file, which decides how large it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A scene, hand or device profile.
    Description,
    /// A script.
    Script,
    /// A mesh.
    Mesh,
}

impl TextKind {
    /// Size limit in bytes.
    pub fn most(self) -> u64 {
        match self {
            Self::Description => limits::DESCRIPTION_BYTES,
            Self::Script => limits::SCRIPT_BYTES,
            Self::Mesh => limits::MESH_BYTES,
        }
    }
}

/// The cache.
#[derive(Debug, Default)]
struct Read {
    contents: BTreeMap<String, Arc<[u8]>>,
    /// Keys in the order of reading, and the paths that were given.
    order: Vec<(String, PathBuf)>,
    bytes: u64,
}

impl Files {
    /// A fixed set of files by path; the disk is not visible.
    pub fn kept<T: Into<Vec<u8>>>(files: BTreeMap<String, T>) -> Self {
        let files = files.into_iter().map(|(path, contents)| (path, contents.into())).collect();
        Self { kept: Some(Arc::new(files)), ..Self::default() }
    }

    /// Whether only a fixed set of files is visible.
    pub fn are_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The files that a script may read: those in its folder and below it, in the folders `scenes` and `hands` next to
    /// it, and the embedded ones. Links must not lead out of these folders. The cache is shared.
    pub fn of_script(&self, script: &Path) -> Self {
        let own = script.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut folders = Vec::new();
        if let Ok(own) = own.canonicalize() {
            let beside = own.parent().into_iter().flat_map(|above| ["scenes", "hands"].map(|kind| above.join(kind)));
            // A link would lead elsewhere.
            folders.extend(beside.filter(|folder| folder.canonicalize().is_ok_and(|real| real == *folder)));
            folders.push(own);
        }
        Self { folders: Some(Arc::new(folders)), ..self.clone() }
    }

    /// The text of a file, which must be UTF-8.
    pub fn read_text(&self, file: &Path, kind: TextKind) -> Result<String, Problems> {
        let bytes = self.read_bytes(file, kind)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.into()),
            Err(error) => {
                let sound = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let (line, column) = line_column(&sound, sound.len());
                let message = "not UTF-8 text".into();
                Err(Problems(vec![Problem { file: file.into(), line, column, key: String::new(), message }]))
            }
        }
    }

    /// The bytes of a file.
    pub fn read_bytes(&self, file: &Path, kind: TextKind) -> Result<Arc<[u8]>, Problems> {
        let path = Self::key(file);
        if let Some(contents) = self.read().contents.get(&path) {
            return Ok(contents.clone());
        }
        let contents: Arc<[u8]> = match &self.kept {
            Some(kept) => kept
                .get(&path)
                .ok_or_else(|| Problems::with_file(file, "cannot be read: it is not among the recorded files"))?
                .as_slice()
                .into(),
            None => self.read_from_disk(file, kind)?.into(),
        };
        let mut read = self.read();
        read.bytes += contents.len() as u64;
        if read.bytes > limits::ALL_BYTES {
            let most = limits::ALL_BYTES;
            return Err(Problems::with_file(
                file,
                format!("cannot be read: all files of a run together exceed the limit of {most} bytes"),
            ));
        }
        read.order.push((path.clone(), file.into()));
        read.contents.insert(path, contents.clone());
        Ok(contents)
    }

    fn read_from_disk(&self, file: &Path, kind: TextKind) -> Result<Vec<u8>, Problems> {
        if let Some(text) = carried(file) {
            return Ok(text.into());
        }
        let place = self.place(file).map_err(|why| Problems::with_file(file, format!("cannot be read: {why}")))?;
        read_bounded(&place, kind.most()).map_err(|fault| Problems::with_file(file, fault.to_string()))
    }

    /// The path on the disk, with links resolved if only some folders are visible, or why it is not visible.
    fn place(&self, file: &Path) -> Result<PathBuf, &'static str> {
        const OUTSIDE: &str = "it lies outside of the script's folder";
        let Some(folders) = &self.folders else { return Ok(file.into()) };
        // A missing file is judged by its name, so that a script cannot probe for files outside.
        let place = file.canonicalize().or_else(|_| std::path::absolute(file).map(|path| without_dots(&path)));
        place.ok().filter(|place| folders.iter().any(|folder| place.starts_with(folder))).ok_or(OUTSIDE)
    }

    /// Whether there is such a file.
    pub fn is_there(&self, file: &Path) -> bool {
        self.why_absent(file).is_none()
    }

    /// Why a file cannot be used, if so: missing, not regular, or not visible.
    pub fn why_absent(&self, file: &Path) -> Option<String> {
        let shown = file.display();
        let is_there = match &self.kept {
            Some(kept) => kept.contains_key(&Self::key(file)),
            None if is_carried(file) => carried(file).is_some(),
            None => match self.place(file) {
                Ok(place) if place.is_file() => true,
                Ok(place) if place.exists() => return Some(format!("{shown} is not a regular file")),
                Ok(_) => false,
                Err(why) => return Some(format!("{shown} cannot be used: {why}")),
            },
        };
        (!is_there).then(|| format!("there is no file {shown}"))
    }

    /// Path and contents of the files that were read, in that order, without the first few.
    pub fn read_after(&self, few: usize) -> Vec<(String, Vec<u8>)> {
        let read = self.read();
        read.order.iter().skip(few).map(|(key, _)| (key.clone(), read.contents[key].to_vec())).collect()
    }

    /// Paths of the files read, in order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.read().order.iter().map(|(_, path)| path.clone()).collect()
    }

    /// A path as text, with the same separators on every system. Bytes that are not UTF-8 are written as U+FFFD and two hexadecimal
    /// digits: as U+FFFD alone, two files would share a key, and one would be read for the other.
    pub fn key(file: &Path) -> String {
        let mut key = String::new();
        for chunk in file.as_os_str().as_encoded_bytes().utf8_chunks() {
            key += chunk.valid();
            for byte in chunk.invalid() {
                // Writing to a string does not fail.
                let _ = write!(key, "\u{fffd}{byte:02x}");
            }
        }
        if cfg!(windows) { key.replace('\\', "/") } else { key }
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An absolute path with `.` and `..` resolved lexically.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: TextKind = TextKind::Description;

    #[test]
    fn files_are_cached_and_unchanged() {
        let folder = std::env::temp_dir().join(format!("fingerpad-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (one, two) = (folder.join("one.txt"), folder.join("two.txt"));
        std::fs::write(&one, "first").expect("a file");
        std::fs::write(&two, "other").expect("a file");
        let files = Files::default();
        assert_eq!(files.read_text(&one, ANY).as_deref(), Ok("first"));
        std::fs::write(&one, "second").expect("a file");
        assert_eq!(files.read_text(&one, ANY).as_deref(), Ok("first"), "a run sees one state of its files");
        assert_eq!(Files::default().read_text(&one, ANY).as_deref(), Ok("second"));
        assert_eq!(files.clone().read_text(&two, ANY).as_deref(), Ok("other"));
        let read = files.read_after(0);
        assert_eq!(read.iter().map(|(path, _)| Path::new(path)).collect::<Vec<_>>(), [&one, &two]);
        assert_eq!(files.read_after(1).len(), 1);
        assert!(files.is_there(&one) && !files.is_there(&folder), "a folder is no file");

        let kept = Files::kept(read.into_iter().collect());
        std::fs::remove_dir_all(&folder).expect("a folder");
        assert_eq!(kept.read_text(&one, ANY).as_deref(), Ok("first"));
        assert!(kept.is_there(&two) && !kept.is_there(Path::new("Cargo.toml")) && kept.are_kept());
        let problem = kept.read_text(Path::new("Cargo.toml"), ANY).expect_err("a problem");
        assert!(problem.to_string().contains("not among the recorded files"), "{problem}");
        let carried = Path::new("fingerpad:/hands/right.toml");
        assert!(kept.read_text(carried, ANY).is_err(), "not what is carried now either");
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_where_it_is() {
        let file = std::env::temp_dir().join(format!("fingerpad-utf8-{}", std::process::id()));
        std::fs::write(&file, b"one\ntw\xff").expect("a file");
        let problem = Files::default().read_text(&file, ANY).expect_err("a problem").0.remove(0);
        assert_eq!((problem.line, problem.column, problem.message.as_str()), (2, 3, "not UTF-8 text"));
        std::fs::remove_file(&file).expect("a file");
    }

    /// Names that differ in bytes that are not UTF-8 shared an entry of the cache, so that one file was read for the other.
    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_stay_apart() {
        use std::os::unix::ffi::OsStrExt;
        let folder = std::env::temp_dir().join(format!("fingerpad-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let [one, two] = [b"a\xfe", b"a\xff"].map(|name| folder.join(std::ffi::OsStr::from_bytes(name)));
        std::fs::write(&one, "one").expect("a file");
        std::fs::write(&two, "two").expect("a file");
        let files = Files::default();
        assert_eq!(files.read_text(&one, ANY).as_deref(), Ok("one"));
        assert_eq!(files.read_text(&two, ANY).as_deref(), Ok("two"));
        assert_eq!(files.paths(), [one, two], "outputs are compared with these");
        // The key of a key is itself: a replay finds the file by it.
        let key = Files::key(Path::new(std::ffi::OsStr::from_bytes(b"a\xff/b")));
        assert_eq!((key.as_str(), Files::key(Path::new(&key))), ("a\u{fffd}ff/b", key.clone()));
        std::fs::remove_dir_all(&folder).expect("a folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_script_reads_only_its_folder() {
        let root = std::env::temp_dir().join(format!("fingerpad-seen-{}", std::process::id()));
        let folder = root.join("scripts");
        for name in ["scripts/deep", "scenes", "secret"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        for name in ["scripts/own.toml", "scripts/deep/own.toml", "scenes/near.toml", "secret/far.toml"] {
            std::fs::write(root.join(name), "").expect("a file");
        }
        std::os::unix::fs::symlink(root.join("secret/far.toml"), folder.join("link.toml")).expect("a link");
        std::os::unix::fs::symlink(root.join("secret"), root.join("hands")).expect("a link");
        let files = Files::default().of_script(&folder.join("a.rhai"));
        for seen in ["own.toml", "deep/own.toml", "../scenes/near.toml"] {
            assert_eq!(files.read_text(&folder.join(seen), ANY).as_deref(), Ok(""), "{seen}");
        }
        for unseen in ["link.toml", "../secret/far.toml", "../hands/far.toml", "../secret/none.toml", "/etc/passwd"] {
            let file = folder.join(unseen);
            let why = files.why_absent(&file).expect("it is out of sight");
            assert!(why.ends_with("outside of the script's folder"), "{why}");
            assert!(files.read_text(&file, ANY).is_err(), "{unseen}");
        }
        assert!(files.why_absent(&folder.join("none.toml")).expect("absent").starts_with("there is no file"));
        assert!(files.is_there(Path::new("fingerpad:/hands/left.toml")), "what is carried is seen");
        std::fs::remove_dir_all(&root).expect("a folder");
    }
}
