//! All text that the program prints goes through here; the modules of the commands see these macros in place of the standard ones.
//!
//! The standard macros panic if a write fails. Here the first failure of stdout is kept, what follows is dropped, and the program ends
//! with one sentence and exit code 2, after it has finished its files. Failures of stderr are ignored. A closed pipe ends the program at
//! once and without a message, as it ends others.
//!
//! Names come from files, so control characters are printed as escapes: no file can send commands to the terminal.

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

/// Exit code of a program that wrote to a closed pipe, as shells give it.
const BROKEN_PIPE: i32 = 141;

/// The first failure of stdout.
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

/// Sends text to stderr as it is, control characters included.
pub fn control(text: impl AsRef<str>) {
    let mut err = io::stderr().lock();
    // There is nowhere left to report it.
    let _ = err.write_all(text.as_ref().as_bytes()).and_then(|()| err.flush());
}

/// Sends text to stdout as it is, control characters included.
pub fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(BROKEN_PIPE);
    }
    written
}

/// An error if something could not be printed to stdout.
pub fn check() -> anyhow::Result<()> {
    match &*FAILED.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => bail!("cannot write to stdout: {error}"),
        None => Ok(()),
    }
}

/// The text with control characters, and those that change the direction of writing, as escapes that JSON has too.
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
