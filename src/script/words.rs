//! Words of messages.

/// The known word that a misspelt one most likely means.
pub fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w String>) -> Option<&'w String> {
    let near = |k: &str| strsim::normalized_damerau_levenshtein(word, k);
    let best = known.max_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(best) >= 0.6).then_some(best)
}

/// `a`, `b` or `c`, each in backticks.
pub fn listed<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let quoted: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".into(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// That there is no such thing of a kind, with the one that was most likely meant, or all there are.
pub fn unknown<'w>(kind: &str, word: &str, known: impl Iterator<Item = &'w String> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("there is no {kind} `{word}`; did you mean `{near}`?"),
        None if known.clone().next().is_none() => format!("there is no {kind} `{word}`, and no other"),
        None => format!("there is no {kind} `{word}`; expected {}", listed(known)),
    }
}
