//! The report as one JSON document.

use super::Report;

/// The document, with a final newline.
///
/// # Errors
/// When the report can't be written as JSON; no value of it should be such.
pub fn json(report: &Report) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
