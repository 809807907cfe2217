//! The report as one JSON document.

use proofrun_core::escape::is_hostile;

use super::Report;

/// The document, with a final newline.
///
/// # Errors
/// When the report can't be written as JSON; no value of it should be such.
pub fn json(report: &Report) -> serde_json::Result<String> {
    let mut text = shown(&serde_json::to_string_pretty(report)?);
    text.push('\n');
    Ok(text)
}

/// The same document with every character that could move a cursor or hide text written as JSON's
/// own escape: a document may be printed to a terminal, too. Outside of its strings there is none
/// but the line feed.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hostile(c) {
            let units = c
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>();
            shown.push_str(&units);
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_reads_back() {
        let hostile = "a\u{9b}b\u{202e}c\u{e0001}d\u{7f}é\n\u{1b}";
        let text = shown(&serde_json::to_string_pretty(&[hostile]).unwrap());
        assert!(!text.chars().any(|c| c != '\n' && is_hostile(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [hostile]);
    }
}
