//! The known name that was probably meant.

/// The known name most like `word`, if one letter or at most a third of its letters would have to change
/// (Damerau-Levenshtein).
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let like = known.iter().map(|name| (distance(name), *name));
    like.filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .filter(|_| word.chars().count() > 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// There is no such name: what was probably meant, and all there are.
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    format!("there is no {kind} '{word}'; {}", choices(word, known))
}

/// What was probably meant by a name that does not exist, and all that do.
pub fn choices(word: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match nearest(word, known) {
        Some(name) => format!("did you mean '{name}'? There are {all}"),
        None => format!("there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_gets_the_name_that_was_meant_and_another_word_gets_none() {
        let known = ["windows-95", "windows-98", "wfw-3.11", "os2-warp"];
        assert_eq!(nearest("wfw-311", &known), Some("wfw-3.11"));
        assert_eq!(nearest("Windows98", &known), Some("windows-98"));
        assert_eq!(nearest("dos", &known), None);
        assert_eq!(nearest("", &known), None);
        assert_eq!(
            unknown("profile", "os2wrap", &["os2-warp", "modern"]),
            "there is no profile 'os2wrap'; did you mean 'os2-warp'? There are os2-warp, modern"
        );
        assert_eq!(
            unknown("profile", "q", &["modern"]),
            "there is no profile 'q'; there are modern"
        );
    }
}
