use kiss3d::egui::{Rect, Vec2, pos2};

/// Layout of the window, in points. Nothing overlaps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowLayout {
    /// Name, hints and speeds.
    pub top: Option<Rect>,
    /// Scene tree and inspector.
    pub left: Option<Rect>,
    /// Numbers, plots, layers and parameters.
    pub right: Option<Rect>,
    /// Time.
    pub bottom: Option<Rect>,
    /// Error message.
    pub error: Option<Rect>,
    /// The 3D view.
    pub scene: Rect,
}

/// Input of the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether panels are shown at all.
    pub panels: bool,
    /// Whether the scene tree is shown.
    pub tree: bool,
    /// Lines of the error message; 0 without one.
    pub error_lines: usize,
}

const TOP: f32 = 46.0;
const BOTTOM: f32 = 34.0;
/// Range of the width of side panels.
const RIGHT_WIDTH: [f32; 2] = [256.0, 300.0];
const LEFT_WIDTH: [f32; 2] = [170.0, 250.0];
/// Minimum width of the 3D view with side panels.
const MIN_SCENE_WIDTH: f32 = 220.0;
const ERROR_LINE: f32 = 17.0;

impl WindowLayout {
    /// Lays out a window of some size.
    pub fn of(size: Vec2, wanted: Wanted) -> Self {
        let mut scene = Rect::from_min_size(pos2(0.0, 0.0), size.max(Vec2::splat(1.0)));
        let height = scene.height();
        let mut error_height = 0.0;
        if wanted.error_lines > 0 {
            error_height = (24.0 + ERROR_LINE * wanted.error_lines as f32).min(0.4 * height);
        }
        let (mut top, mut left, mut right, mut bottom) = (None, None, None, None);
        if wanted.panels && height > 3.0 * (TOP + BOTTOM) {
            (top, scene) = cut_top(scene, TOP);
            (bottom, scene) = cut_bottom(scene, BOTTOM);
        }
        if wanted.panels {
            let width = (0.23 * size.x).clamp(RIGHT_WIDTH[0], RIGHT_WIDTH[1]);
            if scene.width() - width >= MIN_SCENE_WIDTH {
                let at = scene.right() - width;
                right = Some(Rect::from_min_max(pos2(at, scene.top()), scene.max));
                scene.max.x = at;
            }
            let width = (0.2 * size.x).clamp(LEFT_WIDTH[0], LEFT_WIDTH[1]);
            if wanted.tree && scene.width() - width >= MIN_SCENE_WIDTH {
                let at = scene.left() + width;
                left = Some(Rect::from_min_max(scene.min, pos2(at, scene.bottom())));
                scene.min.x = at;
            }
        }
        let mut error = None;
        if error_height > 0.0 {
            (error, scene) = cut_bottom(scene, error_height);
        }
        Self { top, left, right, bottom, error, scene }
    }

    /// Whether a point, in points, is in the 3D view.
    pub fn is_scene(&self, at: [f32; 2]) -> bool {
        self.scene.contains(pos2(at[0], at[1]))
    }
}

fn cut_top(from: Rect, height: f32) -> (Option<Rect>, Rect) {
    let at = from.top() + height;
    (Some(Rect::from_min_max(from.min, pos2(from.right(), at))), Rect::from_min_max(pos2(from.left(), at), from.max))
}

fn cut_bottom(from: Rect, height: f32) -> (Option<Rect>, Rect) {
    let at = from.bottom() - height;
    (Some(Rect::from_min_max(pos2(from.left(), at), from.max)), Rect::from_min_max(from.min, pos2(from.right(), at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_everything_is_inside() {
        let sizes =
            [(320.0, 240.0), (640.0, 400.0), (800.0, 500.0), (1280.0, 800.0), (2560.0, 1440.0), (500.0, 1200.0)];
        for (width, height) in sizes {
            for (panels, tree, error_lines) in
                [(true, true, 0), (true, false, 3), (true, true, 40), (false, false, 2), (false, true, 0)]
            {
                let size = Vec2::new(width, height);
                let layout = WindowLayout::of(size, Wanted { panels, tree, error_lines });
                let parts = [layout.top, layout.left, layout.right, layout.bottom, layout.error, Some(layout.scene)];
                let parts: Vec<Rect> = parts.into_iter().flatten().collect();
                let area: f32 = parts.iter().map(|part| part.area()).sum();
                assert!((area - width * height).abs() < 1.0, "{width} × {height}: {layout:?}");
                for (i, a) in parts.iter().enumerate() {
                    assert!(a.is_positive() && a.min.x >= 0.0 && a.max.x <= width && a.max.y <= height);
                    for b in &parts[..i] {
                        assert!(!a.shrink(0.01).intersects(b.shrink(0.01)), "{width} × {height}: {a:?} and {b:?}");
                    }
                }
                assert!(layout.scene.width() >= MIN_SCENE_WIDTH.min(width) && layout.scene.height() >= 0.3 * height);
            }
        }
    }

    #[test]
    fn side_panels_are_there_at_800_by_500() {
        let layout = WindowLayout::of(Vec2::new(800.0, 500.0), Wanted { panels: true, tree: true, error_lines: 0 });
        assert!(layout.left.is_some() && layout.right.is_some());
        assert!(
            layout.is_scene([400.0, 250.0]) && !layout.is_scene([790.0, 250.0]) && !layout.is_scene([400.0, 490.0])
        );
    }
}
