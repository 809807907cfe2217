//! A review entry: who says what about which record, and why.
//!
//! **Invariant: an [`Entry`] is complete and has a canonical text; the parts that only some kinds
//! have are in [`Verdict`], so an impossible combination can't exist.**

use std::fmt;

use jiff::Timestamp;

use crate::Digest;
use crate::trust::{NotAPrincipal, Principal};

/// One statement of a reviewer about a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    verdict: Verdict,
    lesson: String,
    reviewer: Principal,
    signed_at: Timestamp,
    reason: String,
}

/// What is said, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// This rendering of this record may be published.
    Accept {
        /// Of the record's `record.toml`.
        record: Digest,
        /// What the reviewer saw.
        rendering: Rendering,
    },
    /// This record must not be published, whoever accepts it.
    Reject {
        /// Of the record's `record.toml`.
        record: Digest,
    },
    /// What was accepted or rejected before no longer holds.
    Revoke {
        /// Of an acceptance or a rejection, or of a record, which revokes every acceptance of it.
        target: Digest,
    },
}

/// What exactly is accepted: a text, and the version of the format that it was rendered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rendering {
    /// The version of the render format.
    pub format: u32,
    /// Of the rendered bytes.
    pub digest: Digest,
}

/// The kinds of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// [`Verdict::Accept`].
    Accept,
    /// [`Verdict::Reject`].
    Reject,
    /// [`Verdict::Revoke`].
    Revoke,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accept, Self::Reject, Self::Revoke];

    /// As it stands in an entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Revoke => "revoke",
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Verdict {
    /// Its kind.
    pub fn kind(&self) -> EntryKind {
        match self {
            Self::Accept { .. } => EntryKind::Accept,
            Self::Reject { .. } => EntryKind::Reject,
            Self::Revoke { .. } => EntryKind::Revoke,
        }
    }
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Longer than any entry can be.
    #[error("the entry has {0} bytes, and at most {max} are read", max = Entry::BYTES_MAX)]
    TooLong(usize),
    /// Not UTF-8.
    #[error("byte {0} is not UTF-8")]
    Encoding(usize),
    /// Not TOML, an unknown key, or a value of another type.
    #[error("not a review entry in TOML: {message}")]
    Toml {
        /// What the parser says.
        message: String,
        /// Where, in bytes.
        offset: usize,
    },
    /// Another version.
    #[error("`schema` is `{0}`, and only 1 is known")]
    Schema(i64),
    /// Another kind.
    #[error("`kind` is `{0}`: one of `accept`, `reject`, `revoke` expected")]
    Kind(String),
    /// A field that this kind needs.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field that this kind can't have.
    #[error("`{1}` has no place in an entry of kind `{0}`")]
    Extra(EntryKind, &'static str),
    /// A digest that is none.
    #[error("`{0}` holds no SHA-256 digest in lower-case hexadecimal")]
    Digest(&'static str),
    /// A name that can't be that of a folder.
    #[error("`lesson` is not the name of a folder")]
    Lesson,
    /// A name that can't stand in the trust root.
    #[error(transparent)]
    Reviewer(#[from] NotAPrincipal),
    /// A time in another form.
    #[error("`signed_at` is not a time from 1970 on in UTC and whole seconds")]
    SignedAt,
    /// No reason.
    #[error("`reason` is blank")]
    NoReason,
    /// An essay.
    #[error("`reason` has {0} characters, at most {max} are read", max = Entry::REASON_CHARS_MAX)]
    LongReason(usize),
    /// Something that would show otherwise than it reads.
    #[error("`reason` holds U+{0:04X}, which is not shown as it reads")]
    Unshowable(u32),
}

impl Entry {
    /// The longest reason, in characters.
    pub const REASON_CHARS_MAX: usize = 2000;
    /// The longest entry, in bytes: the longest reason of the widest characters, and the rest.
    pub const BYTES_MAX: usize = 16 << 10;

    /// An entry of these parts: the lesson's folder name, the reviewer's name in the trust root,
    /// the time of signing as its signer states it, and the reason.
    ///
    /// # Errors
    /// Everything that is wrong with the parts.
    pub fn new(
        verdict: Verdict,
        lesson: &str,
        reviewer: Principal,
        signed_at: Timestamp,
        reason: &str,
    ) -> Result<Self, Vec<EntryError>> {
        let mut errors = Vec::new();
        check_lesson(lesson, &mut errors);
        check_time(signed_at, &mut errors);
        check_reason(reason, &mut errors);
        if errors.is_empty() {
            let (lesson, reason) = (lesson.to_owned(), reason.to_owned());
            Ok(Self { verdict, lesson, reviewer, signed_at, reason })
        } else {
            Err(errors)
        }
    }

    /// What is said, and of what.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The folder name of the lesson that it is about.
    pub fn lesson(&self) -> &str {
        &self.lesson
    }

    /// Who says it.
    pub fn reviewer(&self) -> &Principal {
        &self.reviewer
    }

    /// When it was signed, as the signer states it, in whole seconds.
    pub fn signed_at(&self) -> Timestamp {
        self.signed_at
    }

    /// Why; not blank, and with no control characters but line feeds.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

pub(super) fn check_lesson(lesson: &str, errors: &mut Vec<EntryError>) {
    let fits = |c: char| is_showable(c) && !matches!(c, '\n' | '/' | '\\');
    if lesson.is_empty()
        || lesson.len() > 255
        || matches!(lesson, "." | "..")
        || !lesson.chars().all(fits)
    {
        errors.push(EntryError::Lesson);
    }
}

pub(super) fn check_time(time: Timestamp, errors: &mut Vec<EntryError>) {
    if time.subsec_nanosecond() != 0 || time.as_second() < 0 {
        errors.push(EntryError::SignedAt);
    }
}

pub(super) fn check_reason(reason: &str, errors: &mut Vec<EntryError>) {
    if reason.trim().is_empty() {
        errors.push(EntryError::NoReason);
    }
    let count = reason.chars().count();
    if count > Entry::REASON_CHARS_MAX {
        errors.push(EntryError::LongReason(count));
    }
    if let Some(c) = reason.chars().find(|c| !is_showable(*c)) {
        errors.push(EntryError::Unshowable(c.into()));
    }
}

/// Whether a character shows as what it is: no control character but the line feed, no other line
/// break, and none that turns the direction of writing, with which a text can be made to read
/// otherwise than it is stored.
fn is_showable(c: char) -> bool {
    let breaks_or_turns = matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c == '\n' || !(c.is_control() || breaks_or_turns)
}
