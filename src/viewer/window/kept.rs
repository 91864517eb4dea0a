use crate::viewer::Layers;

/// What a window keeps between runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Width and height of the window in pixels.
    pub size: (u32, u32),
    /// Layers that are shown.
    pub layers: Layers,
    /// Whether panels are shown.
    pub panels: bool,
    /// Whether the scene tree is shown; none: if the window is wide enough.
    pub tree: Option<bool>,
    /// Columns that are plotted, by their names.
    pub plots: Vec<String>,
    /// Whether the 3D view is drawn with fewer pixels when frames take long.
    pub adapts: bool,
}

impl Default for Kept {
    fn default() -> Self {
        // Without pressure: to see it, what is held is drawn transparent.
        let layers = Layers { normal_forces: true, friction_forces: true, ..Layers::default() };
        Self { size: (1280, 800), layers, panels: true, tree: None, plots: Vec::new(), adapts: true }
    }
}

impl Kept {
    /// Narrower windows begin without the scene tree, px.
    const WIDE: u32 = 1000;

    /// Whether the scene tree is shown in a window of some width, px.
    pub fn shows_tree(&self, width: u32) -> bool {
        self.tree.unwrap_or(width >= Self::WIDE)
    }
}
