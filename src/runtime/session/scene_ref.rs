use std::ops::{Deref, DerefMut};

use crate::assets::Scene;
#[cfg(feature = "script")]
use crate::script::SceneGuard;

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
