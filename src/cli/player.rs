use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

#[cfg(feature = "script")]
use anyhow::Context;
use anyhow::bail;

use crate::assets::{FileKind, Scene, Setting, builtin_scenes, file_kind, load_builtin_scene, load_scene};
#[cfg(feature = "script")]
use crate::script::{RunState, SceneGuard, ScriptOptions, ScriptRun, TaskOutcome};
use crate::sim::Status;

/// Something that is played step by step: a scene with the motions in its file, or a script.
pub struct Player {
    file: PathBuf,
    settings: Vec<Setting>,
    play: Play,
    steps: u64,
}

enum Play {
    Scene(Box<Scene>),
    #[cfg(feature = "script")]
    Script(Box<ScriptRun>),
}

impl Player {
    /// Reads a scene file (.toml), a script (.rhai), or a shipped scene by its name. A setting `seconds` is the length of a scene, and
    /// the most that a trial of a script may take.
    pub fn load(file: &Path, settings: &[Setting]) -> anyhow::Result<Self> {
        let play = match file.extension().and_then(|e| e.to_str()) {
            Some("toml") => {
                if file_kind(file)? == FileKind::Hand {
                    bail!("{}: this describes a hand, or nothing; expected a scene", file.display());
                }
                Play::Scene(Box::new(load_scene(file, settings)?))
            }
            Some("rhai") => Self::load_script(file, settings)?,
            _ => match file.to_str().and_then(|name| load_builtin_scene(name, settings)) {
                Some(scene) => Play::Scene(Box::new(scene?)),
                None => bail!(
                    "{}: expected a scene file (.toml), a script (.rhai) or the name of a shipped scene ({})",
                    file.display(),
                    builtin_scenes().collect::<Vec<_>>().join(", ")
                ),
            },
        };
        Ok(Self { file: file.into(), settings: settings.to_vec(), play, steps: 0 })
    }

    #[cfg(feature = "script")]
    fn load_script(file: &Path, settings: &[Setting]) -> anyhow::Result<Play> {
        let (seconds, settings): (Vec<_>, Vec<_>) = settings.iter().cloned().partition(|s| s.key == "seconds");
        let seconds = seconds.last().map(|s| s.value.parse().context("`seconds` is a number")).transpose()?;
        let options = ScriptOptions { settings, seconds, device: false };
        Ok(Play::Script(Box::new(ScriptRun::load(file, &options)?)))
    }

    #[cfg(not(feature = "script"))]
    fn load_script(_file: &Path, _settings: &[Setting]) -> anyhow::Result<Play> {
        bail!("scripts need the feature `script`, and this program was built without it")
    }

    /// From the start again, from the files as they are now; it is as it was if they are broken.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        *self = Self::load(&self.file, &self.settings)?;
        Ok(())
    }

    /// One step, with the motion that the hands are told before it and what the script does after it.
    pub fn step(&mut self) -> anyhow::Result<()> {
        self.steps += 1;
        match &mut self.play {
            Play::Scene(scene) => {
                scene.feed();
                if scene.world.step().status == Status::NotFinite {
                    let (time, step) = (scene.world.time(), self.steps);
                    bail!("the state stopped being finite at {time:.4} s, in step {step}");
                }
            }
            #[cfg(feature = "script")]
            Play::Script(run) => {
                if run.step() == RunState::Broken {
                    let error = run.error().context("a broken script says what is wrong")?;
                    return Err(error.clone().into());
                }
            }
        }
        Ok(())
    }

    /// Whether there is nothing more to play: the scene has reached its length, the script its end.
    pub fn is_over(&self) -> bool {
        match &self.play {
            Play::Scene(scene) => scene.world.time() >= scene.seconds - 1e-9 * scene.world.parameters.dt,
            #[cfg(feature = "script")]
            Play::Script(run) => run.outcome().is_some() || run.error().is_some(),
        }
    }

    /// The scene between two steps.
    pub fn scene(&self) -> SceneRef<'_> {
        match &self.play {
            Play::Scene(scene) => SceneRef::Own(scene),
            #[cfg(feature = "script")]
            Play::Script(run) => SceneRef::Scripted(run.scene()),
        }
    }

    /// The scene between two steps, to be changed.
    pub fn scene_mut(&mut self) -> SceneMut<'_> {
        match &mut self.play {
            Play::Scene(scene) => SceneMut::Own(scene),
            #[cfg(feature = "script")]
            Play::Script(run) => SceneMut::Scripted(run.scene()),
        }
    }

    /// Steps made, in all trials.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The file that is played.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the script has printed since it was last asked.
    pub fn take_messages(&mut self) -> Vec<String> {
        match &mut self.play {
            Play::Scene(_) => Vec::new(),
            #[cfg(feature = "script")]
            Play::Script(run) => run.take_messages(),
        }
    }

    /// The script, if one is played.
    #[cfg(feature = "script")]
    pub fn script(&self) -> Option<&ScriptRun> {
        match &self.play {
            Play::Scene(_) => None,
            Play::Script(run) => Some(run),
        }
    }

    /// How the task ended, if there is one and it has.
    #[cfg(feature = "script")]
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        self.script().and_then(ScriptRun::outcome)
    }
}

/// A look at the scene of a player.
pub enum SceneRef<'p> {
    /// Of a scene file.
    Own(&'p Scene),
    /// Of a script.
    #[cfg(feature = "script")]
    Scripted(SceneGuard<'p>),
}

impl Deref for SceneRef<'_> {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        match self {
            Self::Own(scene) => scene,
            #[cfg(feature = "script")]
            Self::Scripted(guard) => guard,
        }
    }
}

/// The scene of a player, to be changed.
pub enum SceneMut<'p> {
    /// Of a scene file.
    Own(&'p mut Scene),
    /// Of a script.
    #[cfg(feature = "script")]
    Scripted(SceneGuard<'p>),
}

impl Deref for SceneMut<'_> {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        match self {
            Self::Own(scene) => scene,
            #[cfg(feature = "script")]
            Self::Scripted(guard) => guard,
        }
    }
}

impl DerefMut for SceneMut<'_> {
    fn deref_mut(&mut self) -> &mut Scene {
        match self {
            Self::Own(scene) => scene,
            #[cfg(feature = "script")]
            Self::Scripted(guard) => guard,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{RigidBody, RigidShape};
    use crate::math::{Pose, Vec3};

    fn of(scene: Scene) -> Player {
        Player { file: "own".into(), settings: Vec::new(), play: Play::Scene(Box::new(scene)), steps: 0 }
    }

    #[test]
    fn a_state_that_is_not_finite_ends_the_play() {
        let mut body = RigidBody::new(&RigidShape::Ball(0.1), 1000.0, Pose::identity()).expect("a body");
        body.set_velocity(Vec3::repeat(f64::INFINITY), Vec3::zeros());
        let mut scene = Scene { seconds: 1.0, ..Scene::default() };
        scene.world.bodies.rigid.push(body);
        let error = of(scene).step().expect_err("an end");
        assert_eq!(error.to_string(), "the state stopped being finite at 0.0100 s, in step 1");
    }

    #[test]
    fn a_scene_ends_with_the_step_that_reaches_its_length() {
        for (seconds, steps) in [(0.03, 3), (0.031, 4), (0.3, 30)] {
            let mut player = of(Scene { seconds, ..Scene::default() });
            while !player.is_over() {
                player.step().expect("a step");
            }
            assert_eq!(player.steps(), steps, "{seconds} s");
        }
    }
}
