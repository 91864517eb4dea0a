//! Self-contained HTML pages for the reports of the benchmark and of the demo.

mod html;

pub use self::html::Page;
use crate::assets::Scene;

/// A page with the common style.
pub fn document(title: &str, body: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::default();
    page.element("html", &[("lang", "en")], |page| {
        page.element("head", &[], |page| {
            page.empty("meta", &[("charset", "utf-8")]);
            page.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            // Prevents a request for a favicon.
            page.empty("link", &[("rel", "icon"), ("href", "data:,")]);
            page.words("title", &[], title);
            page.element("style", &[], |page| page.insert(include_str!("page/style.css")));
        });
        page.element("body", &[], body);
    });
    page.finish()
}

/// Data to draw a scene.
#[cfg(feature = "viewer")]
pub type Shot = crate::viewer::Figure;

/// Empty: this build cannot draw.
#[cfg(not(feature = "viewer"))]
pub struct Shot;

/// The current state of a scene.
#[cfg(feature = "viewer")]
pub fn shot(scene: &Scene) -> Shot {
    use crate::cli::render::{From, PictureLayer, scene_figure};
    let from = if scene.world.bodies.hand_ids().is_empty() { From::Oblique } else { From::Side };
    let mut figure = scene_figure(scene, &[PictureLayer::Skin, PictureLayer::Forces], from);
    figure.size = (640, 480);
    figure
}

#[cfg(not(feature = "viewer"))]
pub fn shot(_scene: &Scene) -> Shot {
    Shot
}

/// The pictures as PNG files, or the reason why there are none.
#[cfg(feature = "viewer")]
pub fn draw(shots: &[Shot]) -> Result<Vec<Vec<u8>>, String> {
    let drawn = crate::viewer::draw_all(shots).map_err(|error| error.to_string())?;
    drawn.iter().map(|picture| picture.png_bytes().map_err(|error| error.to_string())).collect()
}

#[cfg(not(feature = "viewer"))]
pub fn draw(_shots: &[Shot]) -> Result<Vec<Vec<u8>>, String> {
    Err("this build does not have the Cargo feature `viewer`".into())
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A picture as a data URI.
pub fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// Base64 (RFC 4648, §4).
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_are_reproduced() {
        let known = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in known {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
        assert!(data_uri(b"foo").starts_with("data:image/png;base64,Zm9v"));
    }
}
