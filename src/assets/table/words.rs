use crate::hand::ranges::Range;

/// What a number in a range is called in a message.
pub fn expected(range: Range) -> String {
    let unit = if range.unit.is_empty() { String::new() } else { format!(" {}", range.unit) };
    format!("a number from {} to {}{unit}", shortest(range.min), shortest(range.max))
}

/// A number as it is written, or with an exponent if that would take a line.
pub fn short(x: f64) -> String {
    if x != 0.0 && !(1e-9..1e15).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

fn shortest(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e5) {
        format!("{x:e}")
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

/// `a, b or c`, each in backticks.
pub fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".into(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The known word that a misspelt one most likely means.
pub fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let near = |k: &&&str| strsim::normalized_damerau_levenshtein(word, k);
    let best = known.iter().max_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(&best) >= 0.6).then_some(best)
}

/// That there is no such thing of a kind, with the one that was most likely meant, or all there are.
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("there is no {kind} `{word}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("there is no {kind} `{word}`, and no other"),
        None => format!("there is no {kind} `{word}`; expected {}", listed(known)),
    }
}
