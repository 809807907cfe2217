//! The status paragraph in a program's header, in its three forms of three lines.

use camino::Utf8Path;

use crate::record::Examined;
use crate::record::model::ProgramRecord;
use crate::source::StatusWord;
use crate::state::{Pair, Shown};

/// The paragraph for what the primary pair shows.
///
/// No line ends in a backslash or a trigraph, and none holds a control character: names and reasons
/// from outside are cut down to plain words first.
pub fn status_lines(primary: &Pair, shown: &Shown) -> [String; 3] {
    match shown {
        Shown::Blank => [
            "// Status: UNVERIFIED".into(),
            "//   no reviewed record of this code exists, so the page shows no output".into(),
            "//   `cargo xtask status` says what is missing".into(),
        ],
        Shown::Current(reviewed) => {
            let review = reviewed.acceptance();
            let itself = if review.self_review { " (the recorder)" } else { "" };
            let by = format!("{}{itself}", review.by);
            let day = review.at.strftime("%Y-%m-%d").to_string();
            verified_lines(primary, reviewed.examined(), &by, &day)
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

/// The paragraph of a reviewed record; a reviewer who hasn't signed yet sees it with words in place
/// of his name and the day.
pub fn verified_lines(primary: &Pair, examined: &Examined, by: &str, day: &str) -> [String; 3] {
    let record = &examined.record;
    let code = record.program.first().map_or_else(String::new, code_digest);
    let recorded = record.recorded_at.strftime("%Y-%m-%d");
    let digest = examined.digest.short();
    [
        "// Status: VERIFIED".into(),
        format!("//   code {code} by record {digest} of {primary}, {recorded}"),
        format!("//   reviewed by {by} on {day}"),
    ]
}

/// The word of the paragraph for what is shown.
pub fn status_word(shown: &Shown) -> StatusWord {
    match shown {
        Shown::Blank => StatusWord::Unverified,
        Shown::Current(_) => StatusWord::Verified,
        Shown::Withdrawn(_) => StatusWord::Withdrawn,
    }
}

fn code_digest(program: &ProgramRecord) -> String {
    // The rows are sorted by path, and a file that is included may come first.
    let own = |path: &str| {
        let path = Utf8Path::new(path);
        path.extension() == Some("cu") && path.file_stem() == Some(program.name.as_str())
    };
    let sources = &program.build.source;
    let found = sources.iter().find(|source| own(&source.path)).or(sources.first());
    found.map_or_else(String::new, |source| source.code.short())
}

/// At most 70 characters of a reason, of letters, digits and harmless punctuation only.
fn plain(reason: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || " ,.;:()-_'/+=%".contains(c);
    let kept: String = reason.chars().map(|c| if harmless(c) { c } else { ' ' }).collect();
    let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(70).collect()
}
