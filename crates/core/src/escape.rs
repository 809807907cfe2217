//! Showing bytes from outside: nothing of a program, a record or a review reaches a terminal raw.

/// The text with control characters, bidirectional overrides and other invisible characters
/// escaped, so that it can't move a cursor, set a colour or forge a line. Newlines and tabs are
/// kept where `multiline` says so.
pub fn escape(text: &str, multiline: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let kept = multiline && matches!(c, '\n' | '\t');
        if kept || !is_hostile(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// Bytes that need not be UTF-8: what isn't is shown as `\xNN`.
pub fn escape_bytes(bytes: &[u8], multiline: bool) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&escape(chunk.valid(), multiline));
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Control characters, and those that reorder or hide text (Unicode Technical Report 36, section
/// 2).
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_or_hides_text_is_escaped() {
        let cases = [
            ("plain µ é 漢", "plain µ é 漢"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb", "a\\u{d}b"),
            ("a\u{9b}31mb", "a\\u{9b}31mb"),
            ("\u{202e}txet", "\\u{202e}txet"),
        ];
        for (text, expect) in cases {
            assert_eq!(escape(text, true), expect);
        }
        assert_eq!(escape("a\nb\t", true), "a\nb\t");
        assert_eq!(escape("a\nb\t", false), "a\\u{a}b\\u{9}");
        assert_eq!(escape_bytes(b"ok\xff\x1b", false), "ok\\xff\\u{1b}");
    }
}
