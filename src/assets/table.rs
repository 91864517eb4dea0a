//! Reading checked values out of TOML with every problem noted where it stands.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use toml::de::{DeTable, DeValue};

use super::problem::{Problem, Problems, line_column};
use crate::hand::ranges::Range;
use crate::math::Vec3;

/// A file that was read: its name and text, to say where things stand.
#[derive(Debug)]
struct Source {
    file: PathBuf,
    text: String,
}

/// A value and where it came from.
#[derive(Clone, Debug)]
struct Entry {
    value: Value,
    source: Rc<Source>,
    /// Where the value begins, and where its key does (the same for what has none).
    offset: usize,
    key_offset: usize,
}

#[derive(Clone, Debug)]
enum Value {
    Number(f64),
    Text(String),
    Bool,
    List(Vec<Entry>),
    Table(BTreeMap<String, Entry>),
    Other(&'static str),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Bool => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// A document: the tree of a file, or of several laid over each other.
#[derive(Debug)]
pub(super) struct Document {
    root: Entry,
    problems: RefCell<Vec<Problem>>,
}

impl Document {
    /// Parses a file's text. Syntax errors are all reported; nothing else is looked at then.
    pub fn parse(file: &Path, text: &str) -> Result<Self, Problems> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problem = |e: &toml::de::Error| {
                let (line, column) = line_column(text, e.span().map_or(0, |s| s.start));
                let message = format!("not valid TOML: {}", e.message().replace('\n', ", "));
                Problem { file: file.into(), line, column, key: String::new(), message }
            };
            return Err(Problems(errors.iter().map(problem).collect()));
        }
        let source = Rc::new(Source { file: file.into(), text: text.into() });
        let root = Entry { value: tree(table.get_ref(), &source), source, offset: 0, key_offset: 0 };
        Ok(Self { root, problems: RefCell::default() })
    }

    /// Lays this document over another: tables are merged, everything else is replaced.
    pub fn over(mut self, base: Document) -> Self {
        fn lay(over: Entry, base: Entry) -> Entry {
            let value = match (over.value, base.value) {
                (Value::Table(entries), Value::Table(mut table)) => {
                    for (key, entry) in entries {
                        let merged = match table.remove(&key) {
                            Some(old) => lay(entry, old),
                            None => entry,
                        };
                        table.insert(key, merged);
                    }
                    Value::Table(table)
                }
                (value, _) => value,
            };
            Entry { value, ..over }
        }
        self.root = lay(self.root, base.root);
        self
    }

    /// The top table.
    pub fn root(&self) -> Table<'_> {
        Table::new(self, &self.root, String::new())
    }

    /// Every problem noted while reading, in the order of the lines.
    pub fn into_problems(self) -> Problems {
        let mut problems = self.problems.into_inner();
        problems.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        Problems(problems)
    }
}

fn tree(table: &DeTable<'_>, source: &Rc<Source>) -> Value {
    fn convert(value: &DeValue<'_>, source: &Rc<Source>) -> Value {
        match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(n) => match i64::from_str_radix(&n.as_str().replace('_', ""), n.radix()) {
                Ok(n) => Value::Number(n as f64),
                Err(_) => Value::Other("an integer too large"),
            },
            DeValue::Float(x) => match x.as_str().replace('_', "").parse() {
                Ok(x) => Value::Number(x),
                Err(_) => Value::Other("not a number"),
            },
            DeValue::Boolean(_) => Value::Bool,
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(list) => {
                let entry = |v: &toml::Spanned<DeValue<'_>>| Entry {
                    value: convert(v.get_ref(), source),
                    source: source.clone(),
                    offset: v.span().start,
                    key_offset: v.span().start,
                };
                Value::List(list.iter().map(entry).collect())
            }
            DeValue::Table(table) => tree(table, source),
        }
    }
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let (name, (offset, key_offset)): (&std::borrow::Cow<'_, str>, _) =
            (key.get_ref(), (value.span().start, key.span().start));
        let value = convert(value.get_ref(), source);
        (name.to_string(), Entry { value, source: source.clone(), offset, key_offset })
    };
    Value::Table(table.iter().map(entry).collect())
}

/// A table being read. Every key that is asked for is ticked off; [`Table::finish`] reports the rest.
pub(super) struct Table<'a> {
    document: &'a Document,
    /// The table, or what stands nearest to where it should be.
    at: &'a Entry,
    /// `None` if it is missing or something else: noted once, and its keys are not asked for again.
    entries: Option<&'a BTreeMap<String, Entry>>,
    path: String,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Table<'a> {
    fn new(document: &'a Document, at: &'a Entry, path: String) -> Self {
        let entries = match &at.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        };
        Self { document, at, entries, path, asked: RefCell::default() }
    }

    fn get(&self, key: &str) -> Option<&'a Entry> {
        self.asked.borrow_mut().insert(key.into());
        self.entries?.get(key)
    }

    fn key_path(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    fn note(&self, source: &Source, offset: usize, key: String, message: String) {
        let (line, column) = line_column(&source.text, offset);
        self.document.problems.borrow_mut().push(Problem { file: source.file.clone(), line, column, key, message });
    }

    fn note_value(&self, at: &Entry, key: String, message: String) {
        self.note(&at.source, at.offset, key, message);
    }

    /// Notes a problem with a key of this table, or with the table if it has no such key.
    pub fn complain(&self, key: &str, message: impl Into<String>) {
        let at = self.entries.and_then(|e| e.get(key)).unwrap_or(self.at);
        self.note_value(at, self.key_path(key), message.into());
    }

    fn missing(&self, key: &str, expected: &str) {
        if self.entries.is_some() {
            self.note_value(self.at, self.key_path(key), format!("missing; expected {expected}"));
        }
    }

    /// The keys of this table.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.entries.into_iter().flat_map(|e| e.keys().map(String::as_str))
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
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
                self.missing(key, &expected(range));
                range.min
            }
        }
    }

    /// A number in a range, or the default where there is none.
    pub fn number_or(&self, key: &str, default: f64, range: Range) -> f64 {
        self.get(key).map_or(default, |entry| self.checked(entry, self.key_path(key), range))
    }

    fn checked(&self, entry: &Entry, key: String, range: Range) -> f64 {
        match entry.value {
            Value::Number(x) if range.contains(x) => return x,
            Value::Number(x) => {
                self.note_value(entry, key, format!("{x} is out of range; expected {}", expected(range)))
            }
            ref other => self.note_value(entry, key, format!("expected {}, found {}", expected(range), other.kind())),
        }
        range.min
    }

    /// A list of `N` numbers in a range.
    pub fn numbers<const N: usize>(&self, key: &str, range: Range) -> [f64; N] {
        let wanted = format!("a list of {N} numbers, each {}", expected(range));
        match self.get(key) {
            Some(entry) => self.checked_list(entry, &self.key_path(key), &wanted, range),
            None => {
                self.missing(key, &wanted);
                [range.min; N]
            }
        }
    }

    /// A list of `N` numbers, or the default where there is none.
    pub fn numbers_or<const N: usize>(&self, key: &str, default: [f64; N], range: Range) -> [f64; N] {
        if self.has(key) { self.numbers(key, range) } else { default }
    }

    fn checked_list<const N: usize>(&self, entry: &Entry, key: &str, wanted: &str, range: Range) -> [f64; N] {
        match &entry.value {
            Value::List(list) if list.len() == N => {
                std::array::from_fn(|i| self.checked(&list[i], format!("{key}[{i}]"), range))
            }
            Value::List(list) => {
                self.note_value(entry, key.into(), format!("expected {wanted}; found {} of them", list.len()));
                [range.min; N]
            }
            other => {
                self.note_value(entry, key.into(), format!("expected {wanted}; found {}", other.kind()));
                [range.min; N]
            }
        }
    }

    /// A list of `M` lists of `N` numbers.
    pub fn rows<const M: usize, const N: usize>(&self, key: &str, range: Range) -> [[f64; N]; M] {
        let row = format!("a list of {N} numbers, each {}", expected(range));
        let wanted = format!("{M} lists of {N} numbers");
        let path = self.key_path(key);
        match self.get(key) {
            Some(Entry { value: Value::List(list), .. }) if list.len() == M => {
                std::array::from_fn(|i| self.checked_list(&list[i], &format!("{path}[{i}]"), &row, range))
            }
            Some(entry) => {
                self.note_value(entry, path, format!("expected {wanted}, found {}", entry.value.kind()));
                [[range.min; N]; M]
            }
            None => {
                self.missing(key, &wanted);
                [[range.min; N]; M]
            }
        }
    }

    /// A vector.
    pub fn vector(&self, key: &str, range: Range) -> Vec3 {
        Vec3::from(self.numbers::<3>(key, range))
    }

    /// A string.
    pub fn text(&self, key: &str) -> String {
        match self.get(key) {
            Some(Entry { value: Value::Text(text), .. }) => text.clone(),
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

    /// A file named by a string, relative to the file in which it is named.
    pub fn path(&self, key: &str) -> PathBuf {
        let from = self.get(key).unwrap_or(self.at).source.file.parent();
        from.unwrap_or(Path::new("")).join(self.text(key))
    }

    /// One of several words; its place among them.
    pub fn choice(&self, key: &str, words: &[&str]) -> usize {
        if !self.has(key) {
            self.missing(key, &listed(words));
            return 0;
        }
        let text = self.text(key);
        words.iter().position(|&w| w == text).unwrap_or_else(|| {
            if !text.is_empty() {
                self.complain(key, format!("`{text}` is not known; expected {}", listed(words)));
            }
            0
        })
    }

    /// Reports keys that nobody asked for, with the nearest that somebody did.
    pub fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, entry) in self.entries.into_iter().flatten() {
            if asked.contains(key) {
                continue;
            }
            let known: Vec<&str> = asked.iter().map(String::as_str).collect();
            let message = match nearest(key, &known) {
                Some(near) => format!("unknown key; did you mean `{near}`?"),
                None => format!("unknown key; expected {}", listed(&known)),
            };
            self.note(&entry.source, entry.key_offset, self.key_path(key), message);
        }
    }
}

fn expected(range: Range) -> String {
    let unit = if range.unit.is_empty() { String::new() } else { format!(" {}", range.unit) };
    format!("a number from {} to {}{unit}", shortest(range.min), shortest(range.max))
}

fn shortest(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e5) {
        format!("{x:e}")
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

/// `a, b or c`, each in backticks.
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".into(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The known word that a misspelt one most likely means.
pub(super) fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let near = |k: &&&str| strsim::normalized_damerau_levenshtein(word, k);
    let best = known.iter().max_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(&best) >= 0.6).then_some(best)
}
