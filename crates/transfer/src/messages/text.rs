//! Text within the limits of the protocol.

use coax_wire::codepage::CodePage;

/// A text as it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) bytes: Vec<u8>,
    /// Characters at the end that did not fit.
    pub(super) cut: usize,
    /// Characters that the code page lacks.
    pub(super) replaced: usize,
}

/// Encodes as many characters as fit. Lines end with carriage return and line feed, as DOS and Windows show them; zeros,
/// which end texts, are left out.
pub(super) fn fit(text: &str, page: CodePage, room: usize) -> Fitted {
    let mut fitted = Fitted::default();
    let text = text.trim_end().replace("\r\n", "\n");
    let mut characters = text.chars().filter(|c| *c != '\0');
    while let Some(c) = characters.next() {
        let mut piece = Vec::new();
        let known = match c {
            '\n' => {
                piece.extend(b"\r\n");
                true
            }
            c => page.push(c, &mut piece).is_some(),
        };
        if !known {
            piece = vec![b'_'];
        }
        if fitted.bytes.len().saturating_add(piece.len()) > room {
            fitted.cut = characters.count().saturating_add(1);
            break;
        }
        fitted.replaced = fitted.replaced.saturating_add(usize::from(!known));
        fitted.bytes.extend(piece);
    }
    fitted
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn characters_are_cut_whole_and_counted() {
        let page = CodePage::from_number(932).unwrap();
        let fitted = fit("あいう", page, 5);
        assert_eq!((fitted.bytes.len(), fitted.cut), (4, 1));
        let fitted = fit("a\nb\r\nc\n\n", CodePage::cp850(), 100);
        assert_eq!(fitted.bytes, b"a\r\nb\r\nc");
        assert_eq!((fitted.cut, fitted.replaced), (0, 0));
        let fitted = fit("日本 é\0", CodePage::cp850(), 100);
        assert_eq!((fitted.bytes, fitted.replaced), (b"__ \x82".to_vec(), 2));
    }
}
