use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use toml::de::{DeTable, DeValue};

use super::Table;
use crate::assets::problem::{Problem, Problems, line_column};

/// Origin of values for messages: a file's name and text, or only a name.
#[derive(Debug)]
pub struct DocumentSource {
    pub file: PathBuf,
    pub text: Option<String>,
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub struct TableEntry {
    pub value: Value,
    pub source: Rc<DocumentSource>,
    /// Offsets of the value and of its key (the same if it has none).
    pub offset: usize,
    pub key_offset: usize,
}

impl TableEntry {
    /// A value without a file; the name is used in messages. Text that is not TOML is taken as a string, so that words
    /// need no quotes on a command line.
    pub fn loose(name: &str, value: &str) -> Self {
        let text = format!("value = {value}");
        let (table, errors) = DeTable::parse_recoverable(&text);
        let source = Rc::new(DocumentSource { file: name.into(), text: None });
        let value = match tree(table.get_ref(), &source) {
            Value::Table(mut entries) if errors.is_empty() && entries.len() == 1 => {
                entries.remove("value").map_or(Value::Text(value.into()), |entry| entry.value)
            }
            _ => Value::Text(value.into()),
        };
        Self { value, source, offset: 0, key_offset: 0 }
    }
}

/// A value of TOML.
#[derive(Clone, Debug)]
pub enum Value {
    Number(f64),
    Text(String),
    Bool(bool),
    List(Vec<TableEntry>),
    Table(BTreeMap<String, TableEntry>),
    Other(&'static str),
}

impl Value {
    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// A document: the tree of a file, or of several merged files.
#[derive(Debug)]
pub struct Document {
    root: TableEntry,
    problems: RefCell<Vec<Problem>>,
    /// Paths of invalid values.
    wrong: RefCell<BTreeSet<String>>,
}

impl Document {
    /// Parses a file's text. All syntax errors are reported; nothing else is checked then.
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
        let source = Rc::new(DocumentSource { file: file.into(), text: Some(text.into()) });
        let root = TableEntry { value: tree(table.get_ref(), &source), source, offset: 0, key_offset: 0 };
        Ok(Self { root, problems: RefCell::default(), wrong: RefCell::default() })
    }

    /// Merges this document over another: tables are merged, other values replaced.
    pub fn over(mut self, base: Document) -> Self {
        fn lay(over: TableEntry, base: TableEntry) -> TableEntry {
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
            TableEntry { value, ..over }
        }
        self.root = lay(self.root, base.root);
        self
    }

    /// Sets a value at a path and creates the tables on the way. If a value that is not a table is in the way, nothing
    /// happens: the reader of the table reports it.
    pub fn set(&mut self, path: &[&str], entry: TableEntry) {
        let Some((last, above)) = path.split_last() else { return };
        let mut at = &mut self.root;
        for key in above {
            let Value::Table(entries) = &mut at.value else { return };
            let table = || TableEntry { value: Value::Table(BTreeMap::new()), ..entry.clone() };
            at = entries.entry((*key).into()).or_insert_with(table);
        }
        if let Value::Table(entries) = &mut at.value {
            entries.insert((*last).into(), entry);
        }
    }

    /// Removes a value.
    pub fn remove(&mut self, path: &[&str]) {
        let Some((last, above)) = path.split_last() else { return };
        let mut at = &mut self.root;
        for key in above {
            let Value::Table(entries) = &mut at.value else { return };
            let Some(next) = entries.get_mut(*key) else { return };
            at = next;
        }
        if let Value::Table(entries) = &mut at.value {
            entries.remove(*last);
        }
    }

    /// Reports a problem at a position.
    pub fn note(&self, source: &DocumentSource, offset: usize, key: String, message: String) {
        let (line, column) = source.text.as_ref().map_or((0, 0), |text| line_column(text, offset));
        self.problems.borrow_mut().push(Problem { file: source.file.clone(), line, column, key, message });
    }

    /// Marks the value at a path as invalid.
    pub fn note_wrong(&self, path: &str) {
        self.wrong.borrow_mut().insert(path.into());
    }

    /// Whether the value at a path or one in it is marked as invalid.
    pub fn is_wrong(&self, path: &str) -> bool {
        let wrong = self.wrong.borrow();
        let below = |other: &String| other[path.len()..].starts_with(['.', '[']);
        wrong.contains(path) || wrong.range(path.to_string()..).take_while(|p| p.starts_with(path)).any(below)
    }

    /// The top table.
    pub fn root(&self) -> Table<'_> {
        Table::new(self, &self.root, String::new())
    }

    /// All reported problems without duplicates, in the order of the lines.
    pub fn into_problems(self) -> Problems {
        let mut problems = self.problems.into_inner();
        let place = |p: &Problem| (p.file.clone(), p.line, p.column, p.key.clone());
        problems.sort_by_key(place);
        problems.dedup();
        Problems(problems)
    }
}

fn tree(table: &DeTable<'_>, source: &Rc<DocumentSource>) -> Value {
    fn convert(value: &DeValue<'_>, source: &Rc<DocumentSource>) -> Value {
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
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(list) => {
                let entry = |v: &toml::Spanned<DeValue<'_>>| TableEntry {
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
        (name.to_string(), TableEntry { value, source: source.clone(), offset, key_offset })
    };
    Value::Table(table.iter().map(entry).collect())
}
