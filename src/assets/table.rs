//! Reads checked values from TOML and reports every problem with its position.

mod bases;
mod document;
mod lists;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) use self::document::{Document, TableEntry, Value};
use super::builtin::is_carried;
use crate::math::Range;
use crate::math::Vec3;
pub(super) use crate::text::{did_you_mean, listed, nearest, unknown};

/// A number as usual, or with an exponent if that is shorter.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-9..1e15).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

/// A table being read. Every requested key is marked; [`Table::finish`] reports the rest.
pub(super) struct Table<'a> {
    document: &'a Document,
    /// The table, or the closest existing position.
    at: &'a TableEntry,
    /// `None` if it is missing or not a table: reported once, and its keys are not reported again.
    entries: Option<&'a BTreeMap<String, TableEntry>>,
    path: String,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Table<'a> {
    fn new(document: &'a Document, at: &'a TableEntry, path: String) -> Self {
        let entries = match &at.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        };
        Self { document, at, entries, path, asked: RefCell::default() }
    }

    fn get(&self, key: &str) -> Option<&'a TableEntry> {
        self.asked.borrow_mut().insert(key.into());
        self.entries?.get(key)
    }

    fn key_path(&self, key: &str) -> String {
        match (self.path.as_str(), key) {
            ("", key) => key.into(),
            (path, "") => path.into(),
            (path, key) => format!("{path}.{key}"),
        }
    }

    /// Reports an invalid value; the reader continues with a default.
    fn note_value(&self, at: &TableEntry, key: String, message: String) {
        self.document.note_wrong(&key);
        self.document.note(&at.source, at.offset, key, message);
    }

    /// Whether the value at a key, or one in it, has been reported as invalid.
    pub fn is_wrong(&self, key: &str) -> bool {
        self.document.is_wrong(&self.key_path(key))
    }

    /// Reports a problem of a key of this table, or of the table if it has no such key. Values that are already invalid
    /// are not reported again.
    pub fn complain(&self, key: &str, message: impl Into<String>) {
        if key.is_empty() || !self.is_wrong(key) {
            let at = self.entries.and_then(|e| e.get(key)).unwrap_or(self.at);
            self.document.note(&at.source, at.offset, self.key_path(key), message.into());
        }
    }

    fn missing(&self, key: &str, expected: &str) {
        if self.entries.is_some() {
            self.note_value(self.at, self.key_path(key), format!("missing; expected {expected}"));
        }
    }

    /// The keys of this table in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.entries.into_iter().flat_map(|e| e.keys().map(String::as_str))
    }

    /// Whether the key exists.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether there is a table at the key.
    pub fn is_table(&self, key: &str) -> bool {
        self.get(key).is_some_and(|entry| matches!(entry.value, Value::Table(_)))
    }

    /// A table under this one.
    pub fn table(&self, key: &str) -> Table<'a> {
        let path = self.key_path(key);
        let Some(entry) = self.get(key) else {
            self.missing(key, "a table");
            return Table { entries: None, ..Table::new(self.document, self.at, path) };
        };
        if !matches!(entry.value, Value::Table(_)) {
            self.note_value(entry, path.clone(), format!("expected a table, found {}", entry.value.kind()));
        }
        Table::new(self.document, entry, path)
    }

    /// A table under this one, if it is there.
    pub fn table_if_any(&self, key: &str) -> Option<Table<'a>> {
        self.has(key).then(|| self.table(key))
    }

    /// A number in a range.
    pub fn number(&self, key: &str, range: Range) -> f64 {
        match self.get(key) {
            Some(entry) => self.checked(entry, self.key_path(key), range),
            None => {
                self.missing(key, &range.to_string());
                range.min
            }
        }
    }

    /// A number in a range, or the default if missing.
    pub fn number_or(&self, key: &str, default: f64, range: Range) -> f64 {
        self.get(key).map_or(default, |entry| self.checked(entry, self.key_path(key), range))
    }

    /// A number in a range, if it is there.
    pub fn number_if_any(&self, key: &str, range: Range) -> Option<f64> {
        self.has(key).then(|| self.number(key, range))
    }

    fn checked(&self, entry: &TableEntry, key: String, range: Range) -> f64 {
        match entry.value {
            Value::Number(x) if range.contains(x) => return x,
            Value::Number(x) => {
                self.note_value(entry, key, format!("{} is out of range; expected {}", short(x), range))
            }
            ref other => self.note_value(entry, key, format!("expected {}, found {}", range, other.kind())),
        }
        range.min
    }

    /// A vector.
    pub fn vector(&self, key: &str, range: Range) -> Vec3 {
        Vec3::from(self.numbers::<3>(key, range))
    }

    /// A string.
    pub fn text(&self, key: &str) -> String {
        match self.get(key) {
            Some(entry @ TableEntry { value: Value::Text(text), .. }) => {
                if text.contains(char::is_control) {
                    let message = format!("expected a string without control characters, found {text:?}");
                    self.note_value(entry, self.key_path(key), message);
                }
                text.clone()
            }
            Some(entry) => {
                self.note_value(entry, self.key_path(key), format!("expected a string, found {}", entry.value.kind()));
                String::new()
            }
            None => {
                self.missing(key, "a string");
                String::new()
            }
        }
    }

    /// A string, or the default if missing.
    pub fn text_or(&self, key: &str, default: &str) -> String {
        if self.has(key) { self.text(key) } else { default.into() }
    }

    /// True or false, or the default if missing.
    pub fn flag_or(&self, key: &str, default: bool) -> bool {
        match self.get(key) {
            Some(TableEntry { value: Value::Bool(flag), .. }) => *flag,
            Some(entry) => {
                let found = entry.value.kind();
                self.note_value(entry, self.key_path(key), format!("expected true or false, found {found}"));
                default
            }
            None => default,
        }
    }

    /// An integer in a range, or the default if missing.
    pub fn count_or(&self, key: &str, default: usize, range: Range) -> usize {
        if self.has(key) { self.count(key, range) } else { default }
    }

    /// An integer in a range.
    pub fn count(&self, key: &str, range: Range) -> usize {
        let number = self.number(key, range);
        if number.fract() != 0.0 {
            self.complain(key, format!("{number} is not a whole number"));
        }
        number as usize
    }

    /// A path relative to the file that contains it; embedded files have full names.
    pub fn path(&self, key: &str) -> PathBuf {
        let from = self.get(key).unwrap_or(self.at).source.file.parent();
        let name = self.text(key);
        if is_carried(Path::new(&name)) { name.into() } else { from.unwrap_or(Path::new("")).join(name) }
    }

    /// The index of one of several words.
    pub fn choice(&self, key: &str, words: &[&str]) -> usize {
        if !self.has(key) {
            self.missing(key, &listed(words));
            return 0;
        }
        let text = self.text(key);
        words.iter().position(|&w| w == text).unwrap_or_else(|| {
            self.complain(key, format!("`{text}` is not known; expected {}", listed(words)));
            0
        })
    }

    /// The index of one of several words, or the default if missing.
    pub fn choice_or(&self, key: &str, default: usize, words: &[&str]) -> usize {
        if self.has(key) { self.choice(key, words) } else { default }
    }

    /// Reports unknown keys, with the closest known one.
    pub fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, entry) in self.entries.into_iter().flatten() {
            if asked.contains(key) {
                continue;
            }
            let known: Vec<&str> = asked.iter().map(String::as_str).collect();
            let message = match nearest(key, &known) {
                Some(near) => format!("unknown key{}", did_you_mean(near)),
                None => format!("unknown key; expected {}", listed(&known)),
            };
            self.document.note(&entry.source, entry.key_offset, self.key_path(key), message);
        }
    }
}
