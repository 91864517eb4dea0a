//! Which functions the program can reach, by the names in its sources.

use std::collections::{HashMap, HashSet};

/// A function: its file, the type or trait it belongs to, its name, and what its text names.
struct Function {
    file: usize,
    owner: Option<String>,
    name: String,
    uses: Vec<Use>,
    /// All words of its text.
    words: HashSet<String>,
}

/// A function that a text calls or passes on.
enum Use {
    /// `.name(`
    Method(String),
    /// `Type::name`
    Of(String, String),
    /// `name(` or `module::name`
    Free(String),
}

/// Functions that are reached from `main` or `World::step`. Calls are matched by name and, where it is written, by type: a method
/// call reaches the methods of this name of all types.
pub struct Reached {
    functions: HashSet<(usize, String)>,
    words: HashSet<String>,
}

impl Reached {
    /// `files` are paths and program code without tests.
    pub fn from(files: &[(String, String)]) -> Self {
        let mut functions = Vec::new();
        for (index, (_, code)) in files.iter().enumerate() {
            functions.extend(functions_of(index, &without_literals(code)));
        }
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, function) in functions.iter().enumerate() {
            by_name.entry(&function.name).or_default().push(index);
        }
        let is_root = |f: &Function| {
            let file = files[f.file].0.as_str();
            (file.ends_with("src/main.rs") && f.name == "main")
                || (file.ends_with("src/sim/world.rs") && f.owner.as_deref() == Some("World") && f.name == "step")
        };
        let mut open: Vec<usize> = (0..functions.len()).filter(|&i| is_root(&functions[i])).collect();
        // `main` exists with and without the command line.
        assert_eq!(open.len(), 3, "`main` and `World::step`");
        let mut reached: HashSet<usize> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            for used in &functions[at].uses {
                let name = match used {
                    Use::Method(name) | Use::Free(name) | Use::Of(_, name) => name,
                };
                let all = by_name.get(name.as_str()).map_or(&[][..], Vec::as_slice);
                let is_of = |i: usize, kind: &str| functions[i].owner.as_deref() == Some(kind);
                for &i in all {
                    let fits = match used {
                        Use::Method(_) => functions[i].owner.is_some(),
                        Use::Free(_) => functions[i].owner.is_none(),
                        // A name of a generic type or of an alias stands for any type.
                        Use::Of(kind, _) => is_of(i, kind) || !all.iter().any(|&j| is_of(j, kind)),
                    };
                    if fits && reached.insert(i) {
                        open.push(i);
                    }
                }
            }
        }
        let words =
            reached.iter().flat_map(|&i| functions[i].words.iter().chain(&functions[i].owner).cloned()).collect();
        Self { functions: reached.iter().map(|&i| (functions[i].file, functions[i].name.clone())).collect(), words }
    }

    /// Whether a function of a file is reached.
    pub fn function(&self, file: usize, name: &str) -> bool {
        self.functions.contains(&(file, name.to_string()))
    }

    /// Whether a reached function belongs to a type or names it.
    pub fn word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Number of reached functions.
    pub fn count(&self) -> usize {
        self.functions.len()
    }
}

/// Blanks comments, strings and characters, whose braces and quotes would mislead.
fn without_literals(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        out += &rest[..at];
        let tail = &rest[at..];
        if tail.starts_with('/') {
            let is_comment = tail.starts_with("//");
            rest = &tail[if is_comment { tail.find('\n').unwrap_or(tail.len()) } else { 1 }..];
            continue;
        }
        let raw = out.ends_with("r#").then_some("\"#").or(out.ends_with("r").then_some("\""));
        let length = match (tail.starts_with('"'), raw) {
            (true, Some(end)) => tail[1..].find(end).map_or(tail.len(), |n| n + 1 + end.len()),
            (true, None) => closing(tail, '"'),
            // A lifetime has no closing quote.
            (false, _) => match tail.chars().nth(1) {
                Some('\\') => closing(tail, '\''),
                Some(c) if tail[1 + c.len_utf8()..].starts_with('\'') => 2 + c.len_utf8(),
                _ => 1,
            },
        };
        out.push(' ');
        rest = &tail[length..];
    }
    out + rest
}

/// Length of a literal up to its closing quote.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Words and single punctuation marks.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn functions_of(file: usize, code: &str) -> Vec<Function> {
    let tokens = tokens(code);
    let mut functions = Vec::new();
    // Blocks of types and traits: the owner and one past the last token.
    let mut blocks: Vec<(String, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        blocks.retain(|(_, end)| at < *end);
        let starts_item = at == 0 || matches!(tokens[at - 1], "}" | ";" | "]" | ")" | "pub" | "unsafe");
        if matches!(*token, "impl" | "trait") && starts_item {
            let Some(open) = (at..tokens.len()).find(|&i| tokens[i] == "{") else { continue };
            blocks.push((owner(&tokens[at + 1..open]), block_end(&tokens, open)));
        } else if *token == "fn" && tokens.get(at + 1).is_some_and(|name| name.starts_with(char::is_alphabetic)) {
            // Past the parameters and array types of the signature.
            let mut depth = 0;
            let opens = |i: &usize| {
                depth += i32::from(matches!(tokens[*i], "(" | "[")) - i32::from(matches!(tokens[*i], ")" | "]"));
                depth == 0 && matches!(tokens[*i], "{" | ";")
            };
            let Some(open) = (at..tokens.len()).find(opens) else { continue };
            let end = if tokens[open] == "{" { block_end(&tokens, open) } else { open };
            let owner = blocks.last().map(|(owner, _)| owner.clone());
            let text = &tokens[at + 2..end];
            functions.push(Function {
                file,
                name: tokens[at + 1].into(),
                uses: uses(text, owner.as_deref()),
                words: text.iter().filter(|t| t.starts_with(char::is_alphabetic)).map(|t| t.to_string()).collect(),
                owner,
            });
        }
    }
    functions
}

/// One past the brace that closes the one at `open`.
fn block_end(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The type of an `impl`, or the name of a trait: the first word outside of generics, after `for` if there is one.
fn owner(header: &[&str]) -> String {
    let header = header.split(|t| *t == "where").next().unwrap_or_default();
    let after = header.iter().rposition(|t| *t == "for").map_or(0, |at| at + 1);
    let mut depth = 0_i32;
    let mut name = String::new();
    for (at, token) in header.iter().enumerate().skip(after) {
        match *token {
            "<" => depth += 1,
            ">" if header[at - 1] != "-" => depth -= 1,
            ":" if depth == 0 && header.get(at + 1) != Some(&":") && header.get(at - 1) != Some(&":") => break,
            word if depth == 0 && word.starts_with(char::is_alphabetic) && word != "dyn" => name = word.into(),
            _ => {}
        }
    }
    name
}

fn uses(text: &[&str], owner: Option<&str>) -> Vec<Use> {
    let mut uses = Vec::new();
    for (at, token) in text.iter().enumerate() {
        if !token.starts_with(|c: char| c.is_lowercase() || c == '_') {
            continue;
        }
        let before = |n: usize| at.checked_sub(n).map_or("", |i| text[i]);
        let after = |n: usize| text.get(at + n).copied().unwrap_or("");
        let is_path = before(1) == ":" && before(2) == ":";
        // A call, one with explicit types, or the path of a function that is passed on.
        let is_call = after(1) == "(" || (after(1) == ":" && after(3) == "<");
        let is_passed = matches!(before(1), "(" | ",") && matches!(after(1), ")" | ",");
        let name = token.to_string();
        if is_path {
            let kind = if before(3) == "Self" { owner.unwrap_or("Self") } else { before(3) };
            let is_type = kind.starts_with(char::is_uppercase) || kind == ">";
            uses.push(if is_type { Use::Of(kind.into(), name) } else { Use::Free(name) });
        } else if is_call && before(1) == "." {
            uses.push(Use::Method(name));
        } else if is_call || is_passed {
            uses.push(Use::Free(name));
        }
    }
    uses
}

#[test]
fn calls_are_followed_by_name_and_type() {
    let main = "fn main() { let s = \"dead()}\"; World::step(&mut w); x.go(); list.map(passed) }";
    let main = format!("{main} #[cfg(x)] fn main() {{}}");
    let world = "impl World { fn step(&mut self) { Self::inner(); free::<f64>('}'); } fn inner() {} fn dead() {} }
        impl<T: Fn() -> T> Go for Box<T> { fn go(&self) -> Shape { } } fn free(x: [u8; 2]) { Other::new() } fn passed() {}
        impl Other { fn new() {} fn go_on() {} } impl Third { fn new() {} } fn inner() {}";
    let files = [("src/main.rs".into(), main), ("src/sim/world.rs".into(), world.into())];
    let reached = Reached::from(&files);
    for name in ["step", "inner", "free", "go", "passed", "new"] {
        assert!(reached.function(1, name), "{name} is reached");
    }
    assert!(!reached.function(1, "dead") && !reached.function(1, "go_on"));
    assert!(reached.word("Shape") && !reached.word("Third"));
    // `main`, one `inner` and one `new` of two.
    assert_eq!(reached.count(), 7);
}
