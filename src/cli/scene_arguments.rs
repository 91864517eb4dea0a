use anyhow::bail;

use crate::assets::Setting;

/// Overrides of a scene file, shared by all commands that simulate a scene.
#[derive(clap::Args)]
pub struct SceneArguments {
    /// Contact method of the skin
    #[arg(long, value_parser = ["aggregate", "point"])]
    method: Option<String>,
    /// Set a parameter, such as `dt=0.005`, `friction=paper` or `body.cube.mass=0.2`; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<Setting>,
}

impl SceneArguments {
    /// Given settings alone.
    pub fn of(settings: Vec<Setting>) -> Self {
        Self { method: None, settings }
    }

    /// All overrides as settings, and `more` from options of the command. A key with two values is an error: which one counts would
    /// depend on the order of the options.
    pub fn settings(&self, more: impl IntoIterator<Item = Setting>) -> anyhow::Result<Vec<Setting>> {
        let method = self.method.iter().map(|method| Setting::new("method", method));
        let all: Vec<Setting> = self.settings.iter().cloned().chain(method).chain(more).collect();
        for (i, later) in all.iter().enumerate() {
            if let Some(first) = all[..i].iter().find(|first| first.key == later.key && first.value != later.value) {
                bail!(
                    "`{}` is set twice on the command line, to `{}` and to `{}`",
                    later.key,
                    first.value,
                    later.value
                );
            }
        }
        Ok(all)
    }
}
