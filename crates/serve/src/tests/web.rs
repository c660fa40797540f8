use super::*;

fn settings(address: &str, token: Option<&Path>) -> Settings {
    let mut settings = Settings::default();
    settings.global.web = Some(address.parse().unwrap());
    settings.global.web_token_file = token.map(Into::into);
    settings
}

#[test]
fn the_page_is_off_unless_an_address_is_set() {
    assert!(open(&Settings::default(), false).unwrap().is_none());
}

#[test]
fn loopback_needs_no_token_and_any_other_address_makes_a_new_one_each_time() {
    let here = open(&settings("127.0.0.1:0", None), false)
        .unwrap()
        .unwrap();
    assert_eq!((here.token, here.is_generated), (None, false));
    let everywhere = || open(&settings("0.0.0.0:0", None), false).unwrap().unwrap();
    let (one, other) = (everywhere().token.unwrap(), everywhere().token.unwrap());
    assert_eq!(one.text().len(), 32);
    assert_ne!(one, other);
}

#[test]
fn a_token_file_counts_at_loopback_too_and_a_weak_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let with = |text: &str| {
        std::fs::write(&path, text).unwrap();
        open(&settings("127.0.0.1:0", Some(&path)), false)
    };
    let good = with("0123456789abcdef\n").unwrap().unwrap();
    assert_eq!(good.token.unwrap().text(), "0123456789abcdef");
    assert!(!good.is_generated);
    let long = "x".repeat(TOKEN_MAX + 1);
    for wrong in [
        "",
        "short",
        "two words of a token",
        "line one 012345\nand two",
        &long,
    ] {
        let why = with(wrong).unwrap_err();
        assert!(
            why.contains("needs one line") && why.contains("token file"),
            "{why}"
        );
    }
    std::fs::remove_file(&path).unwrap();
    let why = open(&settings("127.0.0.1:0", Some(&path)), false).unwrap_err();
    assert!(
        why.contains("cannot read") && why.contains("write a token"),
        "{why}"
    );
}

#[test]
fn an_address_in_use_is_named_with_its_holder_unless_that_server_is_replaced() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let why = open(&settings(&address, None), false).unwrap_err();
    assert!(
        why.contains(&address) && why.contains("holds this port"),
        "{why}"
    );
    let later = open(&settings(&address, None), true).unwrap().unwrap();
    assert!(later.listener.is_none());
    let why = open(&settings("192.0.2.1:8139", None), true).unwrap_err();
    assert!(why.contains("no such address"), "{why}");
}
