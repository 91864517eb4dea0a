//! Self-contained HTML pages for the reports of the benchmark and of the demo.

mod data_uri;
mod html;
mod pictures;

pub use self::data_uri::data_uri;
pub use self::html::Page;
pub use self::pictures::{Shot, draw, shot};

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
