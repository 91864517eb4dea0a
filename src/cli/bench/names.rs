/// That there is no such thing, with the one that was most likely meant, and all there are.
pub fn unknown(thing: &str, word: &str, known: &[&str]) -> String {
    let near = |k: &&&str| strsim::normalized_damerau_levenshtein(word, k);
    let best = known.iter().max_by(|a, b| near(a).total_cmp(&near(b))).filter(|best| near(best) >= 0.6);
    let meant = best.map_or(String::new(), |best| format!("did you mean `{best}`? "));
    format!("there is no {thing}; {meant}expected one of {}", known.join(", "))
}
