//! The page's own files.

use std::fmt::Write as _;

use coax_cause::Cause;

/// The page.
pub(crate) const PAGE: &str = include_str!("../assets/page.html");
/// The page for readers that have not shown the token.
pub(crate) const LOG_IN: &str = include_str!("../assets/login.html");
/// Its icon.
pub(crate) const ICON: &str = include_str!("../assets/icon.svg");
const STYLE: &str = include_str!("../assets/page.css");
const SCRIPTS: [&str; 7] = [
    include_str!("../assets/dom.js"),
    include_str!("../assets/graph.js"),
    include_str!("../assets/waits.js"),
    include_str!("../assets/machines.js"),
    include_str!("../assets/recording.js"),
    include_str!("../assets/server.js"),
    include_str!("../assets/page.js"),
];

/// The style, with the colour of each cause.
pub(crate) fn style() -> String {
    let mut out = String::from(":root {");
    for cause in Cause::ALL {
        let own = cause.description();
        let _ = write!(out, " --{}: {};", own.key, own.colour);
    }
    out.push_str(" }\n");
    for cause in Cause::ALL {
        let key = cause.description().key;
        let _ = writeln!(out, ".cause-{key} {{ background-color: var(--{key}); }}");
    }
    out + STYLE
}

/// The script, with the words of each cause.
pub(crate) fn script() -> String {
    let causes = Cause::ALL.map(|cause| {
        let own = cause.description();
        let words = serde_json::json!({ "label": own.label, "meaning": own.meaning });
        (own.key.to_owned(), words)
    });
    let causes = serde_json::Value::Object(causes.into_iter().collect());
    format!(
        "\"use strict\";\nconst CAUSES = {causes};\n\n{}",
        SCRIPTS.concat()
    )
}
