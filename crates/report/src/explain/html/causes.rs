//! What the page needs of the table of causes: colours as CSS variables, textures as a table of the script.

use coax_explain::Cause;

/// The CSS variable of each cause's colour.
pub(super) fn style() -> String {
    let colours = Cause::ALL.map(|cause| {
        let own = cause.description();
        format!(" --{}: {};", own.key, own.colour)
    });
    format!(":root {{{} }}\n", colours.concat())
}

/// The script's table of textures.
pub(super) fn script() -> String {
    let textures = Cause::ALL.map(|cause| {
        let own = cause.description();
        format!("\"{}\": \"{}\", ", own.key, own.texture.name())
    });
    format!("const TEXTURES = {{ {}}};\n\n", textures.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_colour_and_a_texture_that_the_script_draws() {
        let strokes = include_str!("causes.js");
        let (style, script) = (style(), script());
        for cause in Cause::ALL {
            let own = cause.description();
            let colour = format!(" --{}: {};", own.key, own.colour);
            assert_eq!(style.matches(&colour).count(), 1, "{colour}");
            let texture = own.texture.name();
            let row = format!("\"{}\": \"{texture}\"", own.key);
            assert_eq!(script.matches(&row).count(), 1, "{row}");
            let drawn = texture == "plain" || strokes.contains(&format!("{texture}: \"M"));
            assert!(drawn, "{texture}");
        }
    }
}
