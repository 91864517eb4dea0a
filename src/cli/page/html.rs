use std::fmt::Write;

/// An HTML writer. All elements are closed, and text and attributes are escaped, so the output is also well-formed XML.
#[derive(Default)]
pub struct Page {
    text: String,
}

/// Attribute names and values.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Page {
    /// An element with content.
    pub fn element(&mut self, name: &str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Self)) {
        self.tag(name, attributes);
        self.text.push('>');
        inside(self);
        // Writing to a string does not fail, here and below.
        let _ = write!(self.text, "</{name}>");
        if !matches!(name, "td" | "th" | "span" | "b" | "code") {
            self.text.push('\n');
        }
    }

    /// An element with text content.
    pub fn words(&mut self, name: &str, attributes: Attributes<'_>, words: &str) {
        self.element(name, attributes, |page| page.say(words));
    }

    /// A void element.
    pub fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push_str("/>\n");
    }

    /// Text.
    pub fn say(&mut self, words: &str) {
        self.text.push_str(&escaped(words));
    }

    /// Well-formed markup: a drawing or a style sheet.
    pub fn insert(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        let _ = write!(self.text, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escaped(value));
        }
    }

    /// The document.
    pub fn finish(self) -> String {
        format!("<!DOCTYPE html>\n{}", self.text)
    }
}

fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Characters that HTML forbids, escaped or not.
            letter if letter.is_control() && !letter.is_whitespace() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut page = Page::default();
        page.element("p", &[("title", "\"><script>")], |page| {
            page.say("a < b & \u{1}c");
            page.empty("img", &[("alt", "x")]);
        });
        let text = page.finish();
        assert_eq!(
            text,
            "<!DOCTYPE html>\n<p title=\"&quot;&gt;&lt;script&gt;\">a &lt; b &amp; \u{fffd}c<img alt=\"x\"/>\n</p>\n"
        );
    }
}
