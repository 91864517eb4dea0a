use super::bytes::{ByteReader, put_count, put_text};
use super::error::Damage;
use crate::assets::Setting;
use crate::tracking::Driven;

/// Kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSource {
    /// A scene.
    Scene,
    /// A script.
    Script,
}

impl RunSource {
    const ALL: [RunSource; 2] = [RunSource::Scene, RunSource::Script];

    /// `scene` or `script`.
    pub fn name(self) -> &'static str {
        ["scene", "script"][self as usize]
    }
}

/// Header of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the program that wrote it.
    pub program: String,
    /// System and processor it ran on.
    pub machine: String,
    /// Kind of run.
    pub source: RunSource,
    /// Its file, one of the recorded ones.
    pub file: String,
    /// Settings.
    pub settings: Vec<Setting>,
    /// Parts moved by devices instead of scene or script.
    pub device: Driven,
}

impl Header {
    /// The header of a run by this program on this machine.
    pub fn of(source: RunSource, file: &str, settings: &[Setting], device: Driven) -> Self {
        Self {
            program: env!("CARGO_PKG_VERSION").into(),
            machine: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            source,
            file: file.into(),
            settings: settings.to_vec(),
            device,
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_text(out, &self.program);
        put_text(out, &self.machine);
        out.push(self.source as u8);
        put_text(out, &self.file);
        out.push(bits(&self.device));
        put_count(out, self.settings.len() as u64);
        for setting in &self.settings {
            put_text(out, &setting.key);
            put_text(out, &setting.value);
        }
    }

    pub(super) fn read(scanner: &mut ByteReader<'_>) -> Result<Self, Damage> {
        let program = scanner.text("the version of the program")?;
        let machine = scanner.text("the machine")?;
        let source = match RunSource::ALL.get(scanner.byte("scene or script")? as usize) {
            Some(source) => *source,
            None => return scanner.damage("expected 0 for a scene or 1 for a script before this"),
        };
        let file = scanner.text("the file that was run")?;
        let device = driven(scanner.byte("what devices moved")?);
        let count = scanner.count("the number of settings")?;
        let mut settings = Vec::new();
        for _ in 0..count {
            let key = scanner.text("the key of a setting")?;
            settings.push(Setting { key, value: scanner.text("the value of a setting")? });
        }
        Ok(Self { program, machine, source, file, settings, device })
    }
}

/// One bit for each of left palm, right palm, left fingers, right fingers.
fn bits(device: &Driven) -> u8 {
    let parts = [device.palm, device.fingers].concat();
    parts.iter().enumerate().map(|(i, driven)| u8::from(*driven) << i).sum()
}

fn driven(bits: u8) -> Driven {
    let bit = |i: usize| bits >> i & 1 == 1;
    Driven { palm: [bit(0), bit(1)], fingers: [bit(2), bit(3)] }
}
