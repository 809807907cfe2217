//! The status paragraph in a program's header, in its three forms of three lines.

use camino::Utf8Path;

use crate::record::Examined;
use crate::record::model::ProgramRecord;
use crate::state::{Pair, Shown};

/// How users call the harness. The first stands in the texts that digests are taken of, so it can
/// never change.
const CALLED: [&str; 2] = ["cargo xtask", "proofrun"];

/// The paragraph in the header of a program, for what the primary pair shows.
///
/// No line ends in a backslash or a trigraph, and none holds a control character: names and reasons
/// from outside are cut down to plain words first.
pub fn status_lines(primary: &Pair, shown: &Shown, program: &str) -> [String; 3] {
    match shown {
        Shown::Blank => blank_lines(CALLED[0]),
        Shown::Current(reviewed) => {
            let review = reviewed.acceptance();
            let itself = if review.self_review { " (the recorder)" } else { "" };
            let by = format!("{}{itself}", review.by);
            let day = review.at.strftime("%Y-%m-%d").to_string();
            verified_lines(primary, reviewed.examined(), program, &by, &day)
        }
        Shown::Withdrawn(withdrawal) => [
            "// Status: WITHDRAWN".into(),
            format!(
                "//   record {} of {primary}, since {}",
                withdrawal.record.short(),
                withdrawal.since.strftime("%Y-%m-%d")
            ),
            format!("//   by {}: {}", withdrawal.by, plain(&withdrawal.reason)),
        ],
    }
}

/// The blank paragraph, for a reader who calls the harness by this name: `cargo xtask` in this
/// repository, `proofrun` elsewhere.
pub fn blank_lines(called: &str) -> [String; 3] {
    [
        "// Status: UNVERIFIED".into(),
        "//   no reviewed record of this code exists, so the page shows no output".into(),
        format!("//   `{called} status` says what is missing"),
    ]
}

/// Whether a paragraph is the blank one, whichever way the harness is called in its course.
pub fn is_blank(lines: &[String; 3]) -> bool {
    CALLED.iter().any(|called| *lines == blank_lines(called))
}

/// The paragraph of a reviewed record; a reviewer who hasn't signed yet sees it with words in place
/// of his name and the day.
pub fn verified_lines(
    primary: &Pair,
    examined: &Examined,
    program: &str,
    by: &str,
    day: &str,
) -> [String; 3] {
    let record = &examined.record;
    let code = record.program(program).map_or_else(String::new, code_digest);
    let recorded = record.recorded_at.strftime("%Y-%m-%d");
    let digest = examined.digest.short();
    [
        "// Status: VERIFIED".into(),
        format!("//   code {code} by record {digest} of {primary}, {recorded}"),
        format!("//   reviewed by {by} on {day}"),
    ]
}

/// The digest of the program's own source; what it includes has its own in the record.
fn code_digest(program: &ProgramRecord) -> String {
    let own = |path: &str| Utf8Path::new(path).file_stem() == Some(program.name.as_str());
    let mut sources = program.build.source.iter();
    let own = sources.find(|source| own(&source.path) && source.path.ends_with(".cu"));
    own.map_or_else(String::new, |source| source.code.short())
}

/// At most 70 characters of a reason, of letters, digits and harmless punctuation only.
fn plain(reason: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || " ,.;:()-_'/+=%".contains(c);
    let kept: String = reason.chars().map(|c| if harmless(c) { c } else { ' ' }).collect();
    let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(70).collect()
}
