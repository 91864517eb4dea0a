use std::collections::BTreeMap;

use super::*;

/// A value of Thrift's compact protocol, as much of it as Parquet's metadata need.
#[derive(Clone, Debug)]
enum Value {
    Int(i64),
    Text(String),
    List(Vec<Value>),
    Struct(BTreeMap<u8, Value>),
}

impl Value {
    fn at(&self, field: u8) -> &Value {
        let Value::Struct(fields) = self else { panic!("{self:?} is no struct") };
        fields.get(&field).unwrap_or_else(|| panic!("no field {field} in {self:?}"))
    }

    fn int(&self) -> i64 {
        let Value::Int(value) = self else { panic!("{self:?} is no number") };
        *value
    }

    fn text(&self) -> &str {
        let Value::Text(text) = self else { panic!("{self:?} is no text") };
        text
    }

    fn list(&self) -> &[Value] {
        let Value::List(list) = self else { panic!("{self:?} is no list") };
        list
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("a byte");
        self.0 = rest;
        *first
    }

    fn count(&mut self) -> u64 {
        let mut count = 0;
        for shift in (0..).step_by(7) {
            let byte = self.byte();
            count |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        count
    }

    fn value(&mut self, kind: u8) -> Value {
        match kind {
            5 | 6 => {
                let zigzag = self.count();
                Value::Int((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
            }
            8 => {
                let length = self.count() as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Value::Text(String::from_utf8(text.to_vec()).expect("UTF-8"))
            }
            9 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.count() } else { u64::from(head >> 4) };
                Value::List((0..length).map(|_| self.value(head & 15)).collect())
            }
            12 => {
                let (mut fields, mut last) = (BTreeMap::new(), 0);
                loop {
                    let head = self.byte();
                    if head == 0 {
                        return Value::Struct(fields);
                    }
                    assert!(head >> 4 > 0, "fields are close together");
                    last += head >> 4;
                    let value = self.value(head & 15);
                    fields.insert(last, value);
                }
            }
            other => panic!("type {other}"),
        }
    }
}

/// Names, kinds, units and numbers of a file, a list of numbers a column.
fn read(bytes: &[u8]) -> (Vec<Column>, Vec<Vec<f64>>, usize) {
    assert!(bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC));
    let length_at = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[length_at..length_at + 4].try_into().expect("four bytes")) as usize;
    let metadata = Reader(&bytes[length_at - length..length_at]).value(12);
    let (schema, units) = (metadata.at(2).list(), metadata.at(5).list());
    assert_eq!(schema[0].at(5).int() as usize, schema.len() - 1);
    let mut columns = Vec::new();
    for (element, unit) in schema[1..].iter().zip(units) {
        let (name, kind) = (element.at(4).text(), if element.at(1).int() == 5 { Kind::Real } else { Kind::Whole });
        assert_eq!((element.at(3).int(), unit.at(1).text()), (0, format!("unit:{name}").as_str()));
        columns.push(Column { name: name.into(), unit: if unit.at(2).text() == "m" { "m" } else { "" }, kind });
    }
    let mut numbers = vec![Vec::new(); columns.len()];
    for group in metadata.at(4).list() {
        let mut bytes_of_group = 0;
        for (place, chunk) in group.at(1).list().iter().enumerate() {
            let chunk = chunk.at(3);
            assert_eq!(chunk.at(3).list()[0].text(), columns[place].name);
            bytes_of_group += chunk.at(7).int();
            let start = chunk.at(9).int() as usize;
            let mut page = Reader(&bytes[start..start + chunk.at(7).int() as usize]);
            let header = page.value(12);
            assert_eq!((header.at(1).int(), header.at(2).int()), (0, page.0.len() as i64));
            assert_eq!(header.at(5).at(1).int(), group.at(3).int());
            for eight in page.0.chunks_exact(8) {
                let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
                numbers[place].push(match columns[place].kind {
                    Kind::Real => f64::from_bits(word),
                    Kind::Whole => word as i64 as f64,
                });
            }
        }
        assert_eq!(bytes_of_group, group.at(2).int());
    }
    assert!(numbers.iter().all(|column| column.len() == metadata.at(3).int() as usize));
    (columns, numbers, metadata.at(4).list().len())
}

#[test]
fn numbers_come_back_from_several_row_groups() {
    let column = |name: &str, unit, kind| Column { name: name.into(), unit, kind };
    let mut columns = vec![column("ball.x", "m", Kind::Real), column("count", "", Kind::Whole)];
    // More than fourteen, where lists are written in another way.
    columns.extend((0..20).map(|i| column(&format!("größe {i}"), "", Kind::Real)));
    let row = |i: usize| {
        let mut row = vec![0.1 * i as f64, i as f64 - 5.0];
        row.extend((0..20).map(|j| if j == 3 { f64::NAN } else { (i * j) as f64 }));
        row
    };
    for (rows, groups) in [(0, 0), (1, 1), (GROUP, 1), (2 * GROUP + 7, 3)] {
        let file = std::env::temp_dir().join(format!("fingerpad-{}-{rows}.parquet", std::process::id()));
        let mut writer = ParquetWriter::create(&file, &columns).expect("a table");
        (0..rows).for_each(|i| writer.add(&row(i)).expect("a row"));
        writer.finish().expect("an end");
        let bytes = std::fs::read(&file).expect("a file");
        std::fs::remove_file(&file).expect("a file");
        let (found, numbers, found_groups) = read(&bytes);
        assert_eq!((found, found_groups), (columns.clone(), groups));
        for i in 0..rows {
            for (x, column) in row(i).iter().zip(&numbers) {
                assert!(x.to_bits() == column[i].to_bits() || x.is_nan() && column[i].is_nan());
            }
        }
    }
}
