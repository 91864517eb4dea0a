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
    /// All overrides as settings. Dedicated flags come last and win; `more` are those of the command.
    pub fn settings(&self, more: impl IntoIterator<Item = Setting>) -> Vec<Setting> {
        let method = self.method.iter().map(|method| Setting::new("method", method));
        self.settings.iter().cloned().chain(method).chain(more).collect()
    }
}
