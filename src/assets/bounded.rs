use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// An I/O error.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// It may be endless or block.
    #[error("cannot be read: this is a {0}, expected a regular file")]
    NotRegular(&'static str),
    /// Too large.
    #[error("cannot be read: it exceeds the limit of {most} bytes for such a file")]
    TooLarge {
        /// The limit.
        most: u64,
    },
}

impl From<io::Error> for FileFault {
    /// Not as its source, which reports of chains of errors would print a second time.
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// The bytes of a regular file up to a size limit.
pub fn read_bounded(file: &Path, most: u64) -> Result<Vec<u8>, FileFault> {
    // Opening a pipe blocks, so the kind is checked first.
    check(file.metadata()?.file_type())?;
    let opened = File::open(file)?;
    let data = opened.metadata()?;
    check(data.file_type())?;
    if data.len() > most {
        return Err(FileFault::TooLarge { most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0));
    // The file may grow in the meantime.
    opened.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(FileFault::TooLarge { most }) } else { Ok(bytes) }
}

fn check(kind: FileType) -> Result<(), FileFault> {
    if kind.is_file() {
        return Ok(());
    }
    Err(FileFault::NotRegular(if kind.is_dir() { "folder" } else { "device or a pipe" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let file = std::env::temp_dir().join(format!("fingerpad-bounded-{}", std::process::id()));
        std::fs::write(&file, "12345").expect("a file");
        assert_eq!(read_bounded(&file, 5).expect("it fits"), b"12345");
        assert!(matches!(read_bounded(&file, 4), Err(FileFault::TooLarge { most: 4 })));
        std::fs::remove_file(&file).expect("a file");
        assert!(matches!(read_bounded(&file, 4), Err(FileFault::Unreadable(_))));
        assert!(matches!(read_bounded(&std::env::temp_dir(), 4), Err(FileFault::NotRegular("folder"))));
        if cfg!(unix) {
            assert!(matches!(read_bounded(Path::new("/dev/zero"), 4), Err(FileFault::NotRegular(_))));
        }
    }
}
