use crate::assets::Setting;

/// How a scene differs from its file: shared by all commands that run one.
#[derive(clap::Args)]
pub struct SceneArguments {
    /// How the contacts of the skin become constraints.
    #[arg(long, value_parser = ["aggregate", "point"])]
    method: Option<String>,
    /// Set a parameter, as `dt=0.005`, `friction=paper` or `body.cube.mass=0.2`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<Setting>,
}

impl SceneArguments {
    /// All as settings. Flags that are settings under another name come last, `more` of them from the command itself: they win.
    pub fn settings(&self, more: impl IntoIterator<Item = Setting>) -> Vec<Setting> {
        let method = self.method.iter().map(|method| Setting::new("method", method));
        self.settings.iter().cloned().chain(method).chain(more).collect()
    }
}
