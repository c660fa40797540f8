//! Checks that pages and plots use the names and colours of the table of causes.

use coax_explain::Cause;

#[test]
fn the_page_and_the_plots_use_the_keys_and_colours_of_the_table_of_causes() {
    let page = include_str!("html/page.css");
    let script = include_str!("html/causes.js");
    let plots = include_str!("../plot/colour.rs");
    for cause in Cause::ALL {
        let own = cause.description();
        let (key, colour) = (own.key, own.colour);
        assert!(page.contains(&format!("--{key}: {colour};")), "{key}");
        assert!(script.contains(&format!("\"{key}\":")), "{key}");
        let rect = format!(".coax-plot rect.{key}{{fill:{colour}}}");
        assert!(plots.contains(&rect), "{key}");
    }
}
