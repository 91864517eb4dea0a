//! Files that a command writes: none of them is one that it reads, and no two are the same.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// Endings of files that the program reads; a run may read more of them later than at its start.
const SOURCES: [&str; 5] = ["toml", "rhai", "obj", "msh", "vtk"];

/// Refuses outputs, each with the option that names it, that would overwrite an input or each other.
pub fn check(outputs: &[(&str, &Path)], inputs: &[PathBuf]) -> anyhow::Result<()> {
    for (place, (option, file)) in outputs.iter().enumerate() {
        let Some(own) = Identity::of(file) else { continue };
        let shown = file.display();
        if inputs.iter().any(|input| Identity::of(input).as_ref() == Some(&own)) {
            bail!("{option} {shown}: this file is read by the same command; name another");
        }
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if file.exists() && SOURCES.contains(&ending) {
            bail!("{option} {shown}: this file is there already, and .{ending} files are inputs; name another");
        }
        let shared = outputs[..place].iter().find(|(_, other)| Identity::of(other).as_ref() == Some(&own));
        if let Some((other, _)) = shared {
            bail!("{option} {shown}: {other} writes to the same file; name another");
        }
    }
    Ok(())
}

/// What tells files apart.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Of one that is there: device and number. Two names may have one.
    #[cfg(unix)]
    Node(u64, u64),
    /// Where it is, or will be, with links resolved.
    Path(PathBuf),
}

impl Identity {
    /// Nothing for what is no regular file, as `/dev/null` and pipes: nothing in it is overwritten.
    fn of(file: &Path) -> Option<Self> {
        match file.metadata() {
            Ok(data) if !data.is_file() => None,
            #[cfg(unix)]
            Ok(data) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::Node(data.dev(), data.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => file.canonicalize().ok().map(Self::Path),
            Err(_) => {
                let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Some(Self::Path(folder.canonicalize().ok()?.join(file.file_name()?)))
            }
        }
    }
}
