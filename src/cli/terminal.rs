//! All printed text goes through this module; the modules of the commands use these macros instead of the standard
//! ones.
//!
//! The standard macros panic if a write fails. Here the first error of stdout is kept, later output is dropped, and the
//! program exits with code 2 and one message after its files are complete. Errors of stderr are ignored. A broken pipe
//! exits with 141 at once, without a message.
//!
//! Names come from files, so control characters are escaped: no file can send commands to the terminal.

use std::borrow::Cow;
use std::fmt::{Arguments, Write as _};
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;

macro_rules! print {
    ($($text:tt)*) => { $crate::cli::terminal::out(format_args!($($text)*)) };
}

macro_rules! println {
    () => { $crate::cli::terminal::out(format_args!("\n")) };
    ($($text:tt)*) => { $crate::cli::terminal::out(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::cli::terminal::err(format_args!($($text)*)) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::terminal::err(format_args!("{}\n", format_args!($($text)*))) };
}

/// Exit code on a broken pipe (128 + SIGPIPE).
const BROKEN_PIPE: i32 = 141;

/// The first error of stdout.
static FAILED: Mutex<Option<String>> = Mutex::new(None);

/// Prints to stdout.
pub fn out(text: Arguments<'_>) {
    let mut failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    if failed.is_none() {
        *failed = put(&plain(&text.to_string())).err().map(|error| error.to_string());
    }
}

/// Prints to stderr.
pub fn err(text: Arguments<'_>) {
    control(plain(&text.to_string()));
}

/// Writes text to stderr without escaping control characters.
pub fn control(text: impl AsRef<str>) {
    let mut err = io::stderr().lock();
    // The error cannot be reported anywhere.
    let _ = err.write_all(text.as_ref().as_bytes()).and_then(|()| err.flush());
}

/// Writes text to stdout without escaping control characters.
pub fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(BROKEN_PIPE);
    }
    written
}

/// Fails if a write to stdout failed.
pub fn check() -> anyhow::Result<()> {
    match &*FAILED.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => bail!("cannot write to stdout: {error}"),
        None => Ok(()),
    }
}

/// Escapes control characters and bidirectional formatting characters as in JSON.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) {
            // Writing to a string does not fail.
            let _ = write!(plain, "\\u{:04x}", u32::from(c));
        } else {
            plain.push(c);
        }
    }
    plain.into()
}

fn is_control(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_escapes() {
        assert_eq!(plain("a\u{1b}[31mb\u{7f}\u{9b}\u{202e}\r"), r"a\u001b[31mb\u007f\u009b\u202e\u000d");
        assert!(matches!(plain("line\n\tGrüße °"), Cow::Borrowed(_)));
        let json = serde_json::json!({ "name": "\u{9b}2J" }).to_string();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&plain(&json)).expect("JSON")["name"], "\u{9b}2J");
    }
}
