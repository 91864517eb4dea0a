//! Rank 0: words of messages. Suggestions for misspelt names are made here and nowhere else.

/// Similarity from which on a known word is suggested, as a part of its length.
const SIMILAR: f64 = 0.6;

/// The known word most similar to a misspelt one, if any is similar enough.
pub(crate) fn nearest<'w, W: AsRef<str> + ?Sized + 'w>(
    word: &str,
    known: impl IntoIterator<Item = &'w W>,
) -> Option<&'w str> {
    let similarity = |k: &str| strsim::normalized_damerau_levenshtein(word, k);
    let best = known.into_iter().map(AsRef::as_ref).max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(best) >= SIMILAR).then_some(best)
}

/// The end of a message that suggests a known word.
pub(crate) fn did_you_mean(near: &str) -> String {
    format!("; did you mean `{near}`?")
}

/// [`did_you_mean`] for the known word most similar to a misspelt one; empty if there is none.
pub(crate) fn suggestion<'w, W: AsRef<str> + ?Sized + 'w>(
    word: &str,
    known: impl IntoIterator<Item = &'w W>,
) -> String {
    nearest(word, known).map_or(String::new(), did_you_mean)
}

/// `a`, `b` or `c`, each in backticks.
pub(crate) fn listed<'w, W: AsRef<str> + ?Sized + 'w>(words: impl IntoIterator<Item = &'w W>) -> String {
    let quoted: Vec<_> = words.into_iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.as_slice() {
        [] => "nothing".into(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// A message for an unknown name of some kind: the most similar known name, or all known names.
pub(crate) fn unknown<'w, W: AsRef<str> + ?Sized + 'w>(
    kind: &str,
    word: &str,
    known: impl IntoIterator<Item = &'w W> + Clone,
) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("there is no {kind} `{word}`{}", did_you_mean(near)),
        None if known.clone().into_iter().next().is_none() => format!("there is no {kind} `{word}`, and no other"),
        None => format!("there is no {kind} `{word}`; expected {}", listed(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_name_is_suggested_and_otherwise_all_are_listed() {
        let known = ["fist", "open", "pinch"];
        assert_eq!(nearest("pinhc", known), Some("pinch"));
        assert_eq!(suggestion("pinhc", known), "; did you mean `pinch`?");
        assert_eq!(unknown("pose", "fits", known), "there is no pose `fits`; did you mean `fist`?");
        assert_eq!(unknown("pose", "salute", known), "there is no pose `salute`; expected `fist`, `open` or `pinch`");
        assert_eq!(unknown("pose", "salute", &[] as &[&str]), "there is no pose `salute`, and no other");
        assert_eq!(nearest("salute", known), None);
    }
}
