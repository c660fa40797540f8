#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use super::*;
use proptest::prelude::*;

#[track_caller]
fn nt(pattern: &str, yes: &[&str], no: &[&str]) {
    check(&Pattern::nt(pattern), pattern, yes, no);
}

#[track_caller]
fn dos(pattern: &str, yes: &[&str], no: &[&str]) {
    check(&Pattern::dos(pattern), pattern, yes, no);
}

#[track_caller]
fn check(compiled: &Pattern, pattern: &str, yes: &[&str], no: &[&str]) {
    for name in yes {
        assert!(compiled.matches(name), "{pattern} must match {name}");
    }
    for name in no {
        assert!(!compiled.matches(name), "{pattern} must not match {name}");
    }
}

#[test]
fn star_and_question_mark_have_their_plain_meaning_on_nt() {
    nt("*", &["a", "a.b", ".", ".."], &[""]);
    nt("*.*", &["a", "a.b", "README"], &[""]);
    nt(
        "*.txt",
        &["a.txt", "A.TXT", ".txt", "a.b.txt"],
        &["a.txt2", "txt"],
    );
    nt("a?c", &["abc", "a.c"], &["ac", "abbc"]);
    nt("??", &["ab"], &["a", "abc"]);
    nt("a**b", &["ab", "axxb"], &["a", "axbx"]);
}

#[test]
fn dos_star_matches_up_to_the_last_period() {
    nt("<", &["abc", "abc.", "a.b.c."], &["a.b"]);
    nt("<.txt", &["a.txt", "a.b.txt", ".txt"], &["a.txt.bak"]);
    nt("<b", &["ab", "a.b", "b"], &["a.b.c", "a.bb"]);
    nt("a<", &["a", "abc", "ab."], &["ab.c"]);
}

#[test]
fn dos_question_mark_matches_nothing_before_a_period() {
    nt(">>>", &["a", "ab", "abc"], &["abcd", "a.b", "."]);
    nt(">>>.txt", &["a.txt", "abc.txt"], &["abcd.txt"]);
    nt("a>>", &["a", "ab", "abc"], &["b"]);
}

#[test]
fn dos_dot_matches_nothing_at_the_end() {
    nt("a\"b", &["a.b"], &["ab", "a"]);
    nt("a\"", &["a", "a."], &["ab", "a.b"]);
    nt("<\"*", &["a", "a.b", "a.b.c", "a."], &[]);
}

#[test]
fn old_dialects_patterns_keep_their_dos_meaning() {
    assert_eq!(translate_dos("*.*"), "<\"*");
    assert_eq!(translate_dos("????????.???"), ">>>>>>>>\">>>");
    assert_eq!(translate_dos("a*.t?t"), "a<.t>t");
    assert_eq!(translate_dos("*."), "<\"");
    dos("*.*", &["README", "A.B", "A.B.C"], &[]);
    dos("*.", &["README"], &["A.B"]);
    dos(
        "????????.???",
        &["README", "A.B", "ABCDEFGH.TXT"],
        &["ABCDEFGHI", "A.B.C", "A.TEXT"],
    );
    dos(
        "A??.TXT",
        &["A.TXT", "AB.TXT", "ABC.TXT"],
        &["ABCD.TXT", "B.TXT"],
    );
    dos("*.C", &["A.C", "a.c"], &["A.CPP", "C"]);
    dos("FOO.", &["FOO"], &["FOO.X"]);
}

#[test]
fn case_is_ignored_beyond_ascii() {
    nt("ÄÖ*.ß", &["äö.ß", "ÄÖx.ß"], &["ao.ß", "äö.SS"]);
}

#[test]
fn a_pathological_pattern_takes_no_exponential_time() {
    let pattern = Pattern::nt(&"<a*?".repeat(60));
    let name = "a".repeat(255);
    assert!(!pattern.matches(&(name.clone() + ".b.")[..200].replace('a', "b")));
    assert!(pattern.matches(&name));
    let trap = Pattern::nt(&("*a".repeat(120) + "b"));
    assert!(!trap.matches(&name));
}

#[test]
fn a_pattern_longer_than_any_name_matches_nothing() {
    assert!(Pattern::nt(&">".repeat(MAX_STEPS)).matches("a"));
    assert!(!Pattern::nt(&">".repeat(MAX_STEPS + 1)).matches("a"));
}

#[test]
fn fcb_patterns_match_padded_fields() {
    let find = |pattern: &str, name: &str| FcbPattern::new(pattern).matches(name);
    assert!(
        find("????????.???", "README") && find("????????.???", "A.B") && find("????????.???", "..")
    );
    assert!(find("*.*", "README") && find("*.", "README") && !find("*.", "A.B"));
    assert!(find("*", "A.B") && find("A*", "AB.C") && !find("A", "A.B"));
    assert!(
        find("README  .   ", "README") && find("a??.t?t", "AB.TXT") && !find("A??.T?T", "ABCD.TXT")
    );
    assert!(!find("????????.???", "LONGERNAME.TXT") && !find("????????.???", "A.TEXT"));
    assert!(find("A.C", "a.c") && !find("A.C", "A.CC") && !find("A.CC", "A.C"));
}

#[test]
fn rename_patterns_take_characters_from_the_source() {
    for (pattern, source, want) in [
        ("*.B", "X.A", "X.B"),
        ("*.*", "X.A", "X.A"),
        ("????????.B", "LETTER.TXT", "LETTER.B"),
        ("B*.*", "LETTER.TXT", "BETTER.TXT"),
        ("?X?.???", "ABCD.T", "AXC.T"),
        ("NEW.TXT", "OLD.DOC", "NEW.TXT"),
        ("*", "A.B.C", "A.B.C"),
        ("*.", "A.B", "A"),
        ("*.bak", "A long name.text", "A long name.bak"),
        ("*.BAK", "README", "README.BAK"),
        ("<\"BAK", "A.B", "A.BAK"),
        (">>.*", "ABC.D", "AB.D"),
    ] {
        assert_eq!(
            expand_destination(pattern, source),
            want,
            "{pattern} of {source}"
        );
    }
}

/// The rules of the specification, by plain backtracking.
fn reference(pattern: &[char], name: &[char], last_dot: Option<usize>, at: usize) -> bool {
    let Some((&p, rest)) = pattern.split_first() else {
        return at == name.len();
    };
    let here = name.get(at).copied();
    let skip = || reference(rest, name, last_dot, at);
    let take = || at < name.len() && reference(rest, name, last_dot, at + 1);
    let stay = || at < name.len() && reference(pattern, name, last_dot, at + 1);
    match p {
        '*' => skip() || stay(),
        '<' if Some(at) == last_dot => skip() || take(),
        '<' => skip() || stay(),
        '?' => take(),
        '>' if here.is_none() || here == Some('.') => skip(),
        '>' => take(),
        '"' if here.is_none() => skip(),
        '"' => here == Some('.') && take(),
        c => here.is_some_and(|h| h.eq_ignore_ascii_case(&c)) && take(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn matching_agrees_with_plain_backtracking(pattern in "[ab.*?<>\"]{0,7}", name in "[abB.]{1,8}") {
        let chars: Vec<char> = name.chars().collect();
        let last_dot = chars.iter().rposition(|c| *c == '.');
        let steps: Vec<char> = pattern.chars().collect();
        let want = pattern == "*.*" || reference(&steps, &chars, last_dot, 0);
        prop_assert_eq!(Pattern::nt(&pattern).matches(&name), want);
    }

    #[test]
    fn fcb_and_translated_patterns_agree_on_short_names(
        base in "[AB?]{1,4}", star in any::<bool>(), extension in "[AB?]{1,2}", name in "[AB]{1,4}(\\.[AB]{1,3})?"
    ) {
        let pattern = alloc::format!("{base}{}.{extension}", if star { "*" } else { "" });
        prop_assert_eq!(FcbPattern::new(&pattern).matches(&name), Pattern::dos(&pattern).matches(&name), "{} {}", pattern, name);
    }

    #[test]
    fn a_name_matches_itself_and_star_keeps_it_in_renames(name in "[a-zä.]{1,12}") {
        prop_assert!(Pattern::nt(&name).matches(&name));
        let kept = expand_destination("*", &name);
        prop_assert_eq!(kept.trim_end_matches('.'), name.trim_end_matches('.'));
    }
}
