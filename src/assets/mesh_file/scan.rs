//! Words and lines of a text with their positions.

use std::fmt::{self, Display};

use crate::math::Vec3;

/// An error at a byte offset. Line, column and file name are added when it leaves the reader.
#[derive(Debug)]
pub struct ScanError<'a> {
    pub at: usize,
    pub section: &'a str,
    pub message: String,
}

/// A run of characters without white space.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl Display for Token<'_> {
    /// Quoted and truncated: an unexpected file may contain very long words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 40;
        match self.text.char_indices().nth(SHOWN).and_then(|(end, _)| self.text.get(..end)) {
            Some(start) => write!(f, "`{start}…`"),
            None => write!(f, "`{}`", self.text),
        }
    }
}

/// A count, a tag or an index.
#[derive(Clone, Copy)]
pub struct Number {
    pub value: u64,
    pub at: usize,
}

impl Number {
    /// As an index; saturates if too large for this machine.
    pub fn index(self) -> usize {
        usize::try_from(self.value).unwrap_or(usize::MAX)
    }
}

/// Reads a text, or one line of it, word by word.
pub struct TextScanner<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// The section that faults are attributed to.
    pub section: &'a str,
}

impl<'a> TextScanner<'a> {
    /// A scanner at the start of a text.
    pub fn new(text: &'a str) -> Self {
        let start = text.trim_start_matches('\u{feff}').trim_ascii_start();
        Self { text, at: text.len() - start.len(), end: text.len(), section: "" }
    }

    /// The offset after the last word.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The offset of the next word, or of the end of the text.
    pub fn next_at(&self) -> usize {
        self.end - self.rest().trim_ascii_start().len()
    }

    /// Continues at an offset.
    pub fn seek(&mut self, at: usize) {
        self.at = at.min(self.end);
    }

    /// Moves back to an earlier word.
    pub fn rewind(&mut self, word: Token<'a>) {
        self.at = word.at;
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    /// The next word, if there is one.
    pub fn token(&mut self) -> Option<Token<'a>> {
        let rest = self.rest().trim_ascii_start();
        let text = rest.split(|c: char| c.is_ascii_whitespace()).next().filter(|word| !word.is_empty())?;
        let at = self.end - rest.len();
        self.at = at + text.len();
        Some(Token { text, at })
    }

    /// A scanner of the next non-blank line; empty at the end of the text.
    pub fn line(&mut self) -> Self {
        let rest = self.rest().trim_ascii_start();
        let line = rest.split('\n').next().unwrap_or_default().trim_ascii_end();
        if !line.is_empty() {
            self.at = self.end - rest.len();
        }
        let start = self.at;
        self.at += line.len();
        Self { at: start, end: self.at, ..*self }
    }

    /// The rest of this line, possibly empty; `None` at the end of the text.
    pub fn rest_of_line(&mut self) -> Option<&'a str> {
        let line = self.rest().split_inclusive('\n').next()?;
        self.at += line.len();
        Some(line)
    }

    /// An error in the current section.
    pub fn fault(&self, at: usize, message: impl Into<String>) -> ScanError<'a> {
        ScanError { at, section: self.section, message: message.into() }
    }

    fn unexpected(&self, what: impl Display, found: Token) -> ScanError<'a> {
        self.fault(found.at, format!("expected {what}, found {found}"))
    }

    /// The next word, which is required.
    pub fn word(&mut self, what: impl Display) -> Result<Token<'a>, ScanError<'a>> {
        self.token().ok_or_else(|| {
            let after = self.text.get(self.end..).unwrap_or_default();
            let ends = if after.trim_ascii().is_empty() { "file" } else { "line" };
            self.fault(self.at, format!("the {ends} ends, expected {what}"))
        })
    }

    /// A particular word, ignoring case.
    pub fn keyword(&mut self, keyword: &str) -> Result<(), ScanError<'a>> {
        let word = self.word(format_args!("`{keyword}`"))?;
        let same = word.text.eq_ignore_ascii_case(keyword);
        if same { Ok(()) } else { Err(self.unexpected(format_args!("`{keyword}`"), word)) }
    }

    /// A non-negative integer.
    pub fn number(&mut self, what: impl Display) -> Result<Number, ScanError<'a>> {
        let word = self.word(&what)?;
        let value = word.text.parse().map_err(|_| self.unexpected(what, word))?;
        Ok(Number { value, at: word.at })
    }

    /// Three coordinates.
    pub fn point(&mut self, whose: impl Display) -> Result<Vec3, ScanError<'a>> {
        let mut point = Vec3::zeros();
        for (axis, value) in ["x", "y", "z"].iter().zip(point.iter_mut()) {
            let what = format_args!("a finite {axis} of {whose}");
            let word = self.word(what)?;
            *value = real(word.text).filter(|v| v.is_finite()).ok_or_else(|| self.unexpected(what, word))?;
        }
        Ok(point)
    }

    /// Fails if anything is left.
    pub fn finish(&mut self) -> Result<(), ScanError<'a>> {
        self.token().map_or(Ok(()), |word| Err(self.unexpected("the end of the line", word)))
    }
}

/// A real number, also with a Fortran exponent: `1.0D-3`.
fn real(text: &str) -> Option<f64> {
    text.parse().or_else(|_| text.replace(['d', 'D'], "e").parse()).ok()
}
