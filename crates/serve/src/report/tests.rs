use super::*;

#[test]
fn a_client_without_native_names_gets_no_empty_parentheses() {
    let line = |user: Option<&str>, how, native: &str| {
        let (user, native) = (user.map(Into::into), native.into());
        Line::LoggedOn {
            client: 3,
            user,
            how,
            tried: None,
            native,
        }
        .to_string()
    };
    assert_eq!(line(Some("anna"), "LM", ""), "[3] anna logged on (LM)");
    assert_eq!(
        line(Some("anna"), "LM", "DOS"),
        "[3] anna logged on (LM; DOS)"
    );
    let guest = "[3] guest (anonymous) logged on";
    assert_eq!(line(None, "anonymous", ""), guest);
    assert_eq!(line(None, "anonymous", "DOS"), format!("{guest} (DOS)"));
}

#[test]
fn a_guest_s_lines_show_the_name_it_sent_and_why_it_became_a_guest() {
    let line = |how, tried: Option<&str>| {
        let client = ClientLine {
            log_on: Some("nobody".into()),
            how: Some(how),
            guest_because: Some(guest_because(how, tried)),
            ..ClientLine::default()
        };
        let logged_on = Line::LoggedOn {
            client: 1,
            user: None,
            how,
            tried: tried.map(Into::into),
            native: "Windows 4.0".into(),
        };
        (client.to_string(), logged_on.to_string())
    };
    for (how, tried, because) in [
        ("unknown user", Some("joe"), "guest (unknown user \"joe\")"),
        (
            "wrong password",
            Some("joe"),
            "guest (wrong password for \"joe\")",
        ),
        ("anonymous", None, "guest (anonymous)"),
    ] {
        let (client, logged_on) = line(how, tried);
        assert!(client.contains(because), "{client}");
        assert!(logged_on.contains(because), "{logged_on}");
    }
}
