use coax_explain::report::{Capture, Copy, Direction};
use coax_wire::time::{Span, Time};

use super::{super::explained::CopyAdvice, *};

const HOSTILE: &str =
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\u{2028}<!--";

fn hostile() -> Explained {
    let copy = Copy {
        connection: 0,
        name: Some(HOSTILE.to_owned()),
        share: Some(HOSTILE.into()),
        direction: Direction::ToClient,
        bytes: 1,
        moved: 1,
        start: Time(0),
        wall: Span(1),
        frames: (1, 2),
        seen: (true, true),
        file_size: None,
        holes: (0, 0),
        requests: Vec::new(),
        account: coax_explain::Account::default(),
        breakdown: coax_explain::report::Breakdown::default(),
    };
    Explained {
        name: HOSTILE.into(),
        advice: vec![CopyAdvice::default()],
        remarks: Vec::new(),
        file_changes: None,
        capture: Capture {
            copies: vec![copy],
            ..Capture::default()
        },
    }
}

#[test]
fn nothing_in_a_name_becomes_markup() {
    let page = page(&[hostile()]);
    let plain = super::page(&[]);
    for mark in ["<script", "</script", "<img", "<!--"] {
        assert_eq!(
            page.matches(mark).count(),
            plain.matches(mark).count(),
            "{mark}"
        );
    }
}

#[test]
fn the_object_in_the_page_is_the_one_that_was_put_there() {
    let value = json!({ "name": HOSTILE });
    let text = embedded(&value);
    assert!(!text.contains(['<', '>', '&', '\u{2028}']));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
}

#[test]
fn every_mark_is_filled_once_and_in_order() {
    let page = page(&[]);
    for mark in ["/*STYLE*/", "/*SCRIPT*/", "<!--TEXT-->", "\"REPORT\""] {
        assert_eq!(PAGE.matches(mark).count(), 1);
        assert!(!page.contains(mark));
    }
    assert!(page.ends_with("</html>\n"));
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    for part in [PAGE, STYLE].iter().chain(&SCRIPTS) {
        for word in [
            "https:",
            "url(http",
            "@import",
            "fetch(",
            "XMLHttp",
            "innerHTML",
            "src=",
        ] {
            assert!(!part.contains(word), "{word}");
        }
    }
}

#[test]
fn a_page_takes_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write(&path, &[hostile()]).unwrap();
    write(&path, &[hostile()]).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let taken = write(folder.path(), &[]).unwrap_err();
    let output = format!("{taken:#}");
    assert!(
        output.contains("cannot be written: Is a directory"),
        "{output}"
    );
    assert!(write(&folder.path().join("missing/report.html"), &[]).is_err());
}

#[test]
fn the_legend_of_a_capture_without_tcp_does_not_name_tcp() {
    let words = |explained: Explained| {
        let value = object(&[explained]);
        let causes = value.get("causes").and_then(Value::as_array).unwrap();
        let words = causes
            .iter()
            .filter_map(|cause| cause.get("words")?.as_str());
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/captures/dos-win98-netbeui.pcap"
    );
    let bytes = std::fs::read(path).unwrap();
    let netbeui = Explained {
        capture: coax_explain::explain(bytes.as_slice()).unwrap(),
        ..hostile()
    };
    assert!(!netbeui.capture.copies.is_empty());
    let of_tcp = words(hostile());
    let of_netbeui = words(netbeui);
    assert!(of_tcp.iter().any(|words| words.contains("(RTO)")));
    for words in &of_netbeui {
        for term in ["RTO", "ACK", "slow start", "congestion window"] {
            assert!(!words.contains(term), "{words}");
        }
    }
    assert!(of_netbeui.contains(&"waiting for the sender's timer after a loss".to_owned()));
}
