//! Checks output files: none may be an input, and no two may be the same.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// Extensions of input files; a run may read more of them later.
const SOURCES: [&str; 10] = ["toml", "rhai", "obj", "stl", "ply", "glb", "gltf", "msh", "vtk", "fpraw"];

/// Refuses outputs, each with its option name, that would overwrite an input or each other.
pub fn check(outputs: &[(&str, &Path)], inputs: &[PathBuf]) -> anyhow::Result<()> {
    for (place, (option, file)) in outputs.iter().enumerate() {
        let Some(own) = Identity::of(file) else { continue };
        let shown = file.display();
        check_inputs(option, file, inputs)?;
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if file.exists() && SOURCES.contains(&ending) {
            bail!("{option} {shown}: this file already exists, and .{ending} files are inputs; choose another");
        }
        let shared = outputs[..place].iter().find(|(_, other)| Identity::of(other).as_ref() == Some(&own));
        if let Some((other, _)) = shared {
            bail!("{option} {shown}: {other} writes to the same file; choose another");
        }
    }
    Ok(())
}

/// Refuses an output that would overwrite an input.
pub fn check_inputs(option: &str, file: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    let own = Identity::of(file);
    if own.is_some() && inputs.iter().any(|input| Identity::of(input) == own) {
        bail!("{option} {}: this file is an input of the same command; choose another", file.display());
    }
    Ok(())
}

/// Identity of a file.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Device and inode of an existing file; several paths may have the same.
    #[cfg(unix)]
    Node(u64, u64),
    /// Resolved path.
    Path(PathBuf),
}

impl Identity {
    /// `None` for special files such as `/dev/null` and pipes, which are not overwritten.
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
