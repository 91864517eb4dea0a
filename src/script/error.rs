use std::fmt;
use std::sync::PoisonError;

use rhai::{Dynamic, EvalAltResult, ParseError, ParseErrorType, Position};

use super::api;
use super::limits::DISABLED;
use super::load::LoadRefusal;
use super::modules::Sources;
use crate::text::{did_you_mean, nearest};

/// A script error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Name of the script, as it was given.
    pub script: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The error, one sentence without a full stop.
    pub message: String,
    /// The source line.
    pub source_line: String,
}

impl ScriptError {
    /// An error at a position of a text.
    pub(super) fn at(name: &str, text: &str, position: Position, message: String) -> Self {
        // An error without a position concerns the whole script.
        let line = position.line().unwrap_or(1).max(1);
        let column = position.position().unwrap_or(1);
        let source_line = text.lines().nth(line - 1).unwrap_or_default().into();
        Self { script: name.into(), line, column, message, source_line }
    }

    /// An error without a position.
    pub(super) fn whole(name: &str, message: impl Into<String>) -> Self {
        Self { script: name.into(), line: 0, column: 0, message: message.into(), source_line: String::new() }
    }

    /// A parser error.
    pub(super) fn parsing(name: &str, text: &str, ParseError(kind, position): ParseError) -> Self {
        Self::at(name, text, position, parse_message(&kind))
    }

    /// A run-time error: the innermost one, in its file. `names` are those of hands and bodies.
    pub(super) fn running(main: &str, sources: &Sources, names: &[String], error: &EvalAltResult) -> Self {
        let (mut name, mut position, mut inner) = (main, Position::NONE, error);
        loop {
            // The innermost position is best, but host calls have none.
            if !inner.position().is_none() {
                position = inner.position();
            }
            let (source, next) = match inner {
                EvalAltResult::ErrorInFunctionCall(_, source, next, _) => (source, next),
                EvalAltResult::ErrorInModule(source, next, _) => (source, next),
                other => return Self::message(name, sources, position, message(other, names)),
            };
            if !source.is_empty() {
                name = source;
            }
            inner = next;
        }
    }

    fn message(name: &str, sources: &Sources, position: Position, message: String) -> Self {
        if position.is_none() {
            return Self::whole(name, message);
        }
        let sources = sources.lock().unwrap_or_else(PoisonError::into_inner);
        let text = sources.get(name).map(String::as_str).unwrap_or_default();
        Self::at(name, text, position, message)
    }
}

fn parse_message(kind: &ParseErrorType) -> String {
    let message = kind.to_string();
    match DISABLED.iter().find(|keyword| message.contains(&format!("'{keyword}'"))) {
        Some(keyword) => format!("`{keyword}` is not allowed in scripts"),
        None => message,
    }
}

/// The message without the position.
pub(super) fn message(error: &EvalAltResult, names: &[String]) -> String {
    match error {
        EvalAltResult::ErrorParsing(kind, _) => parse_message(kind),
        EvalAltResult::ErrorFunctionNotFound(signature, _) => no_function(signature),
        EvalAltResult::ErrorVariableNotFound(name, _) => no_variable(name, names),
        EvalAltResult::ErrorDotExpr(message, _) => no_property(message),
        EvalAltResult::ErrorDataRace(..) => {
            "a variable is modified while it is in use, by the same call or by a waiting track".into()
        }
        EvalAltResult::ErrorMismatchDataType(expected, found, _) => {
            format!("expected {}, found {}", plain(expected), plain(found))
        }
        EvalAltResult::ErrorTerminated(why, _) => why.to_string(),
        EvalAltResult::ErrorStackOverflow(_) => {
            "function calls are nested too deeply; check for endless recursion".into()
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => format!("{what} too large; check for an endless loop"),
        EvalAltResult::ErrorRuntime(value, _) => thrown(value),
        EvalAltResult::ErrorArithmetic(what, _) => what.clone(),
        other => {
            let whole = other.to_string();
            // The position is reported separately.
            whole.split(" (line ").next().unwrap_or_default().trim().to_string()
        }
    }
}

fn thrown(value: &Dynamic) -> String {
    let refusal = value.read_lock::<LoadRefusal>().map(|refusal| refusal.whole.clone());
    let text = refusal.unwrap_or_else(|| value.to_string());
    if text.is_empty() { "the script threw an error without a message".into() } else { text }
}

/// Type names as in scripts.
fn plain(types: &str) -> String {
    types.replace("i64", "int").replace("f64", "float").replace("&str", "string")
}

/// Message for an unknown variable, with a similar hand or body.
pub(super) fn no_variable(name: &str, names: &[String]) -> String {
    let hint = match nearest(name, names.iter()) {
        Some(near) => did_you_mean(near),
        None if names.is_empty() => "; no scene has been set up".into(),
        None => String::new(),
    };
    format!("there is no variable, hand or body `{name}`{hint}")
}

/// That a value has no such property, from what the language says about it.
fn no_property(message: &str) -> String {
    let quoted: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
    let [property, kind, ..] = quoted.as_slice() else { return message.into() };
    let kind = plain(kind);
    let what = if message.starts_with("No writable") { "has no writable" } else { "has no" };
    let hint = match kind.as_str() {
        "()" => return format!("`{property}` of `()`: the expression before the point has no value"),
        "Vec3" => "; expected `x`, `y` or `z`".into(),
        _ if api::functions().contains_key(*property) => format!("; `{property}()` is a call"),
        _ => String::new(),
    };
    format!("a value of type {kind} {what} property `{property}`{hint}")
}

/// Message for an unknown function, with a similar name or the expected arguments.
pub(super) fn no_function(signature: &str) -> String {
    let (name, given) = signature.split_once(" (").unwrap_or((signature, ""));
    let given = plain(given.trim_end_matches(')'));
    if name.starts_with("anon$") {
        return format!("the closure is called with ({given}), but has a different number of parameters");
    }
    if name.contains("::") {
        return format!("there is no function `{name}` that takes ({given})");
    }
    if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return format!("`{name}` is not defined for ({given})");
    }
    let functions = api::functions();
    match functions.get(name) {
        Some(signatures) if !signatures.is_empty() => {
            let expected: Vec<String> = signatures.iter().map(|s| format!("`{s}`")).collect();
            format!("`{name}` does not take ({given}); expected {}", expected.join(" or "))
        }
        Some(_) => format!("`{name}` does not take ({given})"),
        None => match nearest(name, functions.keys()) {
            Some(near) => format!("there is no function `{name}`{}", did_you_mean(near)),
            None => format!("there is no function `{name}`"),
        },
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, line, column, message, source_line } = self;
        if *line == 0 {
            return write!(f, "{script}: {message}");
        }
        writeln!(f, "{script}:{line}:{column}: {message}")?;
        writeln!(f, "{line:>5} | {source_line}")?;
        // Tabs are kept, so that the caret is below its character.
        let before = source_line.chars().chain(std::iter::repeat(' ')).take(column.saturating_sub(1));
        let indent: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        write!(f, "      | {indent}^")
    }
}

impl std::error::Error for ScriptError {}
