//! Lists, and tables in lists or by name.

use super::{Table, TableEntry, Value};
use crate::math::Range;
use crate::math::Vec3;

impl<'a> Table<'a> {
    /// A list of `N` numbers in a range.
    pub fn numbers<const N: usize>(&self, key: &str, range: Range) -> [f64; N] {
        let wanted = format!("a list of {N} numbers, each {}", range);
        match self.get(key) {
            Some(entry) => self.checked_list(entry, &self.key_path(key), &wanted, range),
            None => {
                self.missing(key, &wanted);
                [range.min; N]
            }
        }
    }

    /// A list of `N` numbers, or the default if missing.
    pub fn numbers_or<const N: usize>(&self, key: &str, default: [f64; N], range: Range) -> [f64; N] {
        if self.has(key) { self.numbers(key, range) } else { default }
    }

    /// A list of `N` integers in a range.
    pub fn counts<const N: usize>(&self, key: &str, range: Range) -> [usize; N] {
        self.numbers::<N>(key, range).map(|number| {
            if number.fract() != 0.0 {
                self.complain(key, format!("{number} is not a whole number"));
            }
            number as usize
        })
    }

    fn checked_list<const N: usize>(&self, entry: &TableEntry, key: &str, wanted: &str, range: Range) -> [f64; N] {
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
        let row = format!("a list of {N} numbers, each {}", range);
        let wanted = format!("{M} lists of {N} numbers");
        let path = self.key_path(key);
        match self.get(key) {
            Some(TableEntry { value: Value::List(list), .. }) if list.len() == M => {
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

    /// A list of any number of points.
    pub fn points(&self, key: &str, range: Range) -> Vec<Vec3> {
        let row = format!("a list of 3 numbers, each {}", range);
        let path = self.key_path(key);
        let point = |(i, entry): (usize, &TableEntry)| {
            Vec3::from(self.checked_list::<3>(entry, &format!("{path}[{i}]"), &row, range))
        };
        self.list(key, "a list of points").iter().enumerate().map(point).collect()
    }

    /// A list of `N` strings.
    pub fn texts<const N: usize>(&self, key: &str) -> [String; N] {
        let wanted = format!("a list of {N} strings");
        let list = self.list(key, &wanted);
        let texts: Vec<_> = list.iter().filter_map(|entry| entry.value.as_text()).map(String::from).collect();
        let found = list.len();
        texts.try_into().unwrap_or_else(|_| {
            self.complain(key, format!("expected {wanted}, found {found} values"));
            std::array::from_fn(|_| String::new())
        })
    }

    /// The tables of a list; empty if missing.
    pub fn tables(&self, key: &str) -> Vec<Table<'a>> {
        if !self.has(key) {
            return Vec::new();
        }
        let path = self.key_path(key);
        let table = |(i, entry): (usize, &'a TableEntry)| {
            let path = format!("{path}[{i}]");
            if !matches!(entry.value, Value::Table(_)) {
                self.note_value(entry, path.clone(), format!("expected a table, found {}", entry.value.kind()));
            }
            Table::new(self.document, entry, path)
        };
        self.list(key, "a list of tables").iter().enumerate().map(table).collect()
    }

    /// The tables under a table of names, in the order of the file; empty if missing.
    pub fn named(&self, key: &str) -> Vec<(&'a str, Table<'a>)> {
        let Some(names) = self.table_if_any(key) else { return Vec::new() };
        let mut entries: Vec<_> = names.entries.into_iter().flatten().collect();
        entries.sort_by_key(|(_, entry)| entry.key_offset);
        entries.into_iter().map(|(name, _)| (name.as_str(), names.table(name))).collect()
    }

    fn list(&self, key: &str, wanted: &str) -> &'a [TableEntry] {
        match self.get(key) {
            Some(TableEntry { value: Value::List(list), .. }) => list,
            Some(entry) => {
                let found = entry.value.kind();
                self.note_value(entry, self.key_path(key), format!("expected {wanted}, found {found}"));
                &[]
            }
            None => {
                self.missing(key, wanted);
                &[]
            }
        }
    }
}
