//! As much of Thrift's compact protocol as the metadata of Parquet needs.

use super::bytes::{put_count, put_text};

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct being written: fields in ascending order of their numbers.
#[derive(Default)]
pub struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(&mut self, number: u8, kind: u8) {
        debug_assert!(number > self.last && number - self.last < 16);
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    /// A number of 32 bits.
    pub fn i32(mut self, number: u8, value: i32) -> Self {
        self.field(number, I32);
        put_count(&mut self.bytes, zigzag(value.into()));
        self
    }

    /// A number of 64 bits.
    pub fn i64(mut self, number: u8, value: i64) -> Self {
        self.field(number, I64);
        put_count(&mut self.bytes, zigzag(value));
        self
    }

    /// A string.
    pub fn text(mut self, number: u8, text: &str) -> Self {
        self.field(number, BINARY);
        put_text(&mut self.bytes, text);
        self
    }

    /// A struct in this one.
    pub fn inner(mut self, number: u8, inner: Struct) -> Self {
        self.field(number, STRUCT);
        self.bytes.extend(inner.finish());
        self
    }

    /// A list of structs.
    pub fn structs(mut self, number: u8, items: impl ExactSizeIterator<Item = Struct>) -> Self {
        self.list(number, STRUCT, items.len());
        items.for_each(|item| self.bytes.extend(item.finish()));
        self
    }

    /// A list of numbers of 32 bits.
    pub fn i32s(mut self, number: u8, items: &[i32]) -> Self {
        self.list(number, I32, items.len());
        items.iter().for_each(|item| put_count(&mut self.bytes, zigzag((*item).into())));
        self
    }

    /// A list of strings.
    pub fn texts(mut self, number: u8, items: &[&str]) -> Self {
        self.list(number, BINARY, items.len());
        items.iter().for_each(|item| put_text(&mut self.bytes, item));
        self
    }

    fn list(&mut self, number: u8, kind: u8, length: usize) {
        self.field(number, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            put_count(&mut self.bytes, length as u64);
        }
    }

    /// Its bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Small numbers of either sign become small ones without.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}
