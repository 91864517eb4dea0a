use std::path::{Path, PathBuf};

/// A symbolic link to a port that appears and disappears. Other files are never overwritten or removed.
pub struct PortSymlink {
    path: PathBuf,
    /// Current target, if the link exists.
    target: Option<PathBuf>,
}

impl PortSymlink {
    /// A link at a free path, or at the path of a dangling link.
    pub fn new(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        match path.read_link() {
            Ok(target) if path.exists() => Err(format!(
                "{shown} is a link to {}, which exists; remove it or choose another path",
                target.display()
            )),
            Err(_) if path.symlink_metadata().is_ok() => {
                Err(format!("{shown} already exists and is not a link; choose another path"))
            }
            // A dangling link is replaced now: the new port may get the name of the old target.
            target => Ok(Self { path: path.into(), target: target.ok() }),
        }
    }

    /// Path of the link.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the target of the link, or removes it.
    pub fn point(&mut self, target: Option<&Path>) -> Result<(), String> {
        let shown = self.path.display().to_string();
        if let Ok(now) = self.path.read_link() {
            let is_ours = self.target.as_ref() == Some(&now);
            if is_ours || !self.path.exists() {
                std::fs::remove_file(&self.path).map_err(|error| format!("{shown} cannot be removed: {error}"))?;
            }
        }
        self.target = target.map(Path::to_path_buf);
        target.map_or(Ok(()), |target| {
            make(target, &self.path).map_err(|error| format!("{shown} cannot be created: {error}"))
        })
    }
}

#[cfg(unix)]
fn make(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn make(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_other_files_are_kept() {
        let folder = std::env::temp_dir().join(format!("fingerpad-link-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (one, two, path) = (folder.join("one"), folder.join("two"), folder.join("link"));
        std::fs::write(&one, "1").expect("a file");
        std::fs::write(&two, "2").expect("a file");
        let mut link = PortSymlink::new(&path).expect("nothing is there");
        link.point(Some(&one)).expect("a link");
        assert_eq!(std::fs::read_to_string(link.path()).expect("a file"), "1");
        assert!(PortSymlink::new(&path).is_err_and(|why| why.contains("which exists")), "the target exists");
        link.point(Some(&two)).expect("a link");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "2");
        link.point(None).expect("no link");
        assert!(path.symlink_metadata().is_err() && two.exists());
        // Files put there in the meantime are kept.
        std::fs::write(&path, "mine").expect("a file");
        assert!(link.point(Some(&one)).is_err());
        link.point(None).expect("nothing to do");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "mine");
        assert!(PortSymlink::new(&path).is_err_and(|why| why.contains("is not a link")));
        // A dangling link is replaced.
        std::fs::remove_file(&path).expect("a file");
        std::os::unix::fs::symlink(folder.join("gone"), &path).expect("a link");
        let mut link = PortSymlink::new(&path).expect("it leads nowhere");
        std::fs::write(folder.join("gone"), "again").expect("a file of that name comes up meanwhile");
        link.point(Some(&one)).expect("a link");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "1");
        std::fs::remove_dir_all(&folder).expect("a folder");
    }
}
