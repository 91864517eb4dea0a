mod glove;
mod hand_size;
mod listen;
mod people;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::listen::Ear;
use self::people::People;
use super::{Talk, start_device};
use crate::assets::{DeviceKind, DeviceProfile, Problems};
use crate::cli::gear::open_profile;

/// A glove to calibrate, or a hand to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// A profile: a file, or the name of a shipped one; `@PORT` after it wins over the port in it.
    #[arg(value_name = "PROFILE[@PORT]")]
    profile: String,
    /// Whose hand it is.
    #[arg(long, value_name = "NAME", value_parser = user)]
    user: String,
    /// The file to write; a name of user and device if left out, in the folder `devices` (of hands: `hands`) if there is one.
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// All poses, also for a glove with sensors at the joints: they tell the crosstalk between all fingers.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Only flat hand, fist, thumb in and spread: no crosstalk between the four fingers is found.
    #[arg(long)]
    quick: bool,
    /// Do not wait for Enter, but count down before each pose.
    #[arg(long)]
    yes: bool,
    /// Seconds to count down.
    #[arg(long, value_name = "S", default_value_t = 3.0, value_parser = countdown)]
    countdown: f64,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
}

fn user(text: &str) -> Result<String, String> {
    let is_fine = text.chars().any(char::is_alphanumeric) && !text.chars().any(char::is_control) && text.len() <= 64;
    if is_fine {
        Ok(text.into())
    } else {
        Err("expected a name with a letter or digit in it, of at most 64 bytes".into())
    }
}

fn countdown(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=60.0).contains(s)).ok_or_else(|| "expected seconds, from 0 to 60".into())
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let profile = open_profile(&arguments.profile)?;
    match &profile.kind {
        DeviceKind::OpenXr => {
            let target = |side: &str| Target::new(arguments, "hands", side);
            hand_size::run(&profile, &arguments.user, target, &mut listen(&profile)?, talk)
        }
        DeviceKind::Wire(_) if !profile.sensors.is_empty() => {
            let stem = profile.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let target = Target::new(arguments, "devices", &stem)?;
            target.not_over(&profile.file)?;
            let people = People::new(arguments.yes, arguments.countdown, talk);
            glove::run(arguments, &profile, &target, &mut listen(&profile)?, people, talk)
        }
        kind => bail!(
            "{}: a device of kind `{}` has no bend sensors, so there is nothing to calibrate",
            profile.file.display(),
            kind.name()
        ),
    }
}

fn listen(profile: &DeviceProfile) -> anyhow::Result<Ear> {
    Ok(Ear::new(start_device(profile)?.0))
}

/// The file that is written in the end, whole or not at all.
struct Target {
    file: PathBuf,
    force: bool,
}

impl Target {
    /// The file that was asked for, or one named after user and device in a folder if it is there. Refused if it is there already.
    fn new(arguments: &Arguments, folder: &str, device: &str) -> anyhow::Result<Self> {
        let words = arguments.user.to_lowercase();
        let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let user = words.join("-");
        // Whoever calibrates a profile of their own again need not be named twice.
        let device = device.strip_prefix(&format!("{user}-")).unwrap_or(device);
        let name = format!("{user}-{device}.toml");
        let own = if Path::new(folder).is_dir() { Path::new(folder).join(&name) } else { name.into() };
        let target = Self { file: arguments.out.clone().unwrap_or(own), force: arguments.force };
        target.is_free()?;
        Ok(target)
    }

    fn is_free(&self) -> anyhow::Result<()> {
        if !self.force && self.file.exists() {
            bail!("{} is there already; name another --out, or write over it with --force", self.file.display());
        }
        Ok(())
    }

    /// Refuses to write over the profile that the new one is to stand on.
    fn not_over(&self, base: &Path) -> anyhow::Result<()> {
        if self.file.exists() && self.file.canonicalize().ok() == base.canonicalize().ok() {
            let file = self.file.display();
            bail!("{file} is the profile that is calibrated, and the new one stands on it; name another --out");
        }
        Ok(())
    }

    /// How this file names another one.
    fn naming(&self, other: &Path) -> String {
        let Ok(other_path) = other.canonicalize() else { return other.to_string_lossy().into_owned() };
        let folder = self.file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_beside = folder.canonicalize().is_ok_and(|folder| other_path.parent() == Some(&folder));
        let name = other_path.file_name().filter(|_| is_beside);
        name.map_or(other_path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
    }

    /// Writes the file beside its place, reads it as whoever uses it will, and puts it in its place.
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
