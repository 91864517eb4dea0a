use crate::viewer::Layers;

/// Persistent settings of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSettings {
    /// Width and height of the window in pixels.
    pub size: (u32, u32),
    /// Visible layers.
    pub layers: Layers,
    /// Whether panels are shown.
    pub panels: bool,
    /// Whether the scene tree is shown; `None`: if the window is wide enough.
    pub tree: Option<bool>,
    /// Names of the plotted columns.
    pub plots: Vec<String>,
    /// Whether the 3D view is drawn at a lower resolution when frames are slow.
    pub adapts: bool,
}

impl Default for WindowSettings {
    fn default() -> Self {
        // Without pressure, which makes held objects transparent.
        let layers = Layers { normal_forces: true, friction_forces: true, ..Layers::default() };
        Self { size: (1280, 800), layers, panels: true, tree: None, plots: Vec::new(), adapts: true }
    }
}

impl WindowSettings {
    /// Minimum width for the scene tree by default, px.
    const WIDE: u32 = 1000;

    /// Whether the scene tree is shown in a window of some width, px.
    pub fn shows_tree(&self, width: u32) -> bool {
        self.tree.unwrap_or(width >= Self::WIDE)
    }
}
