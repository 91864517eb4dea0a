mod glove;
mod hand_size;
mod listen;
mod people;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::listen::Ear;
use self::people::People;
use super::{Talk, start_average};
use crate::assets::{DeviceKind, DeviceProfile, Problems};
use crate::math::{OutOfRange, Range};
use crate::runtime::open_profile;

/// Arguments of `devices calibrate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Device profile: a file or the name of a shipped profile; `@PORT` overrides its port
    #[arg(value_name = "PROFILE[@PORT]")]
    profile: String,
    /// Name of the user
    #[arg(long, value_name = "NAME", value_parser = user)]
    user: String,
    /// Output file [default: named after user and device, in the folder `devices` (or `hands`) if it exists]
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Use all poses even if the glove has a sensor per joint, to measure the crosstalk between all fingers
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Use only flat hand, fist, thumb in and spread; skips the crosstalk between the four fingers
    #[arg(long)]
    quick: bool,
    /// Count down before each pose instead of waiting for Enter
    #[arg(long)]
    yes: bool,
    /// Length of the countdown, in seconds
    #[arg(long, value_name = "S", default_value_t = 3.0, value_parser = countdown)]
    countdown: f64,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

fn user(text: &str) -> Result<String, String> {
    let is_fine = text.chars().any(char::is_alphanumeric) && !text.chars().any(char::is_control) && text.len() <= 64;
    if is_fine {
        Ok(text.into())
    } else {
        Err("expected a name of at most 64 bytes with at least one letter or digit".into())
    }
}

fn countdown(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.0, 60.0, "s").parse(text)
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let profile = open_profile(&arguments.profile)?;
    match &profile.kind {
        DeviceKind::OpenXr => {
            let target = |side: &str| OutputFile::new(arguments, "hands", side);
            hand_size::run(&profile, &arguments.user, target, &mut listen(&profile)?, talk)
        }
        DeviceKind::Wire(_) if !profile.sensors.is_empty() => {
            let stem = profile.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let target = OutputFile::new(arguments, "devices", &stem)?;
            target.not_over(&profile.file)?;
            let people = People::new(arguments.yes, arguments.countdown, talk);
            glove::run(arguments, &profile, &target, &mut listen(&profile)?, people, talk)
        }
        kind => {
            bail!("{}: a device of kind `{}` has no bend sensors to calibrate", profile.file.display(), kind.name())
        }
    }
}

fn listen(profile: &DeviceProfile) -> anyhow::Result<Ear> {
    Ok(Ear::new(start_average(profile)?.0))
}

/// The output file, written completely or not at all.
struct OutputFile {
    file: PathBuf,
    force: bool,
}

impl OutputFile {
    /// The requested file, or one named after user and device in `folder` if that exists. Fails if the file exists.
    fn new(arguments: &Arguments, folder: &str, device: &str) -> anyhow::Result<Self> {
        let words = arguments.user.to_lowercase();
        let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let user = words.join("-");
        // Recalibrating one's own profile keeps the user name.
        let device = device.strip_prefix(&format!("{user}-")).unwrap_or(device);
        let name = format!("{user}-{device}.toml");
        let own = if Path::new(folder).is_dir() { Path::new(folder).join(&name) } else { name.into() };
        let target = Self { file: arguments.out.clone().unwrap_or(own), force: arguments.force };
        target.is_free()?;
        Ok(target)
    }

    fn is_free(&self) -> anyhow::Result<()> {
        if !self.force && self.file.exists() {
            bail!("{} already exists; choose another --out or overwrite it with --force", self.file.display());
        }
        Ok(())
    }

    /// Refuses to overwrite the profile that the new one extends.
    fn not_over(&self, base: &Path) -> anyhow::Result<()> {
        if self.file.exists() && self.file.canonicalize().ok() == base.canonicalize().ok() {
            let file = self.file.display();
            bail!("{file} is the profile being calibrated, and the new one extends it; choose another --out");
        }
        Ok(())
    }

    /// Path of another file as written in this file.
    fn naming(&self, other: &Path) -> String {
        let Ok(other_path) = other.canonicalize() else { return other.to_string_lossy().into_owned() };
        let folder = self.file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_beside = folder.canonicalize().is_ok_and(|folder| other_path.parent() == Some(&folder));
        let name = other_path.file_name().filter(|_| is_beside);
        name.map_or(other_path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
    }

    /// Writes a temporary file, validates it, and renames it into place.
    fn write(&self, text: &str, check: impl Fn(&Path) -> Result<(), Problems>) -> anyhow::Result<()> {
        self.is_free()?;
        let draft = self.file.with_extension(format!("{}.new", std::process::id()));
        crate::cli::write_file(&draft, text.as_bytes())?;
        let put = || -> anyhow::Result<()> {
            check(&draft)?;
            std::fs::rename(&draft, &self.file).with_context(|| format!("cannot write {}", self.file.display()))
        };
        put().inspect_err(|_| drop(std::fs::remove_file(&draft)))
    }
}
