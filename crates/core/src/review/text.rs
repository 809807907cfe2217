//! The text of an entry: reading it, and its one canonical form.
//!
//! **Invariant: the canonical form is written here and by no library, since stored entries are
//! compared with it byte for byte and must still be equal to it after any update.**

use jiff::Timestamp;
use serde::Deserialize;

use super::entry::{check_lesson, check_reason, check_time};
use super::{Entry, EntryError, EntryKind, Rendering, Verdict};
use crate::Digest;
use crate::trust::Principal;

/// The fields as they stand there; all optional, so that everything missing can be named.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawEntry {
    schema: Option<i64>,
    kind: Option<String>,
    lesson: Option<String>,
    record: Option<String>,
    target: Option<String>,
    reviewer: Option<String>,
    signed_at: Option<String>,
    reason: Option<String>,
    rendering: Option<RawRendering>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRendering {
    format: u32,
    digest: String,
}

impl Entry {
    /// Its canonical text.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("schema = 1\n");
        let mut field = |name: &str, value: &str| {
            text.push_str(&format!("{name} = {}\n", quoted(value)));
        };
        field("kind", self.verdict().kind().as_str());
        field("lesson", self.lesson());
        match self.verdict() {
            Verdict::Accept { record, .. } | Verdict::Reject { record } => {
                field("record", &record.to_string());
            }
            Verdict::Revoke { target } => field("target", &target.to_string()),
        }
        field("reviewer", self.reviewer().as_str());
        field("signed_at", &spell(self.signed_at()));
        field("reason", self.reason());
        if let Verdict::Accept { rendering, .. } = self.verdict() {
            let Rendering { format, digest } = rendering;
            text.push_str(&format!("\n[rendering]\nformat = {format}\ndigest = \"{digest}\"\n"));
        }
        text
    }

    /// The entry in these bytes, canonical or not.
    ///
    /// # Errors
    /// Everything that is wrong with it; what the TOML parser refuses comes alone.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<EntryError>> {
        if bytes.len() > Self::BYTES_MAX {
            return Err(vec![EntryError::TooLong(bytes.len())]);
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| vec![EntryError::Encoding(error.valid_up_to())])?;
        let raw: RawEntry = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            vec![EntryError::Toml { message: error.message().to_owned(), offset }]
        })?;
        raw.resolve()
    }
}

impl RawEntry {
    fn resolve(self) -> Result<Entry, Vec<EntryError>> {
        let mut errors = Vec::new();
        if let Some(schema) = needed("schema", self.schema, &mut errors)
            && schema != 1
        {
            errors.push(EntryError::Schema(schema));
        }
        let kind = needed("kind", self.kind.clone(), &mut errors).and_then(|text| {
            let kind = EntryKind::ALL.into_iter().find(|kind| kind.as_str() == text);
            if kind.is_none() {
                errors.push(EntryError::Kind(text.chars().take(80).collect()));
            }
            kind
        });
        let lesson = needed("lesson", self.lesson.clone(), &mut errors);
        let reviewer = needed("reviewer", self.reviewer.clone(), &mut errors)
            .and_then(|text| accept(text.parse::<Principal>().map_err(Into::into), &mut errors));
        let signed_at = needed("signed_at", self.signed_at.clone(), &mut errors)
            .and_then(|text| accept(parse_time(&text), &mut errors));
        let reason = needed("reason", self.reason.clone(), &mut errors);
        if let Some(lesson) = &lesson {
            check_lesson(lesson, &mut errors);
        }
        if let Some(reason) = &reason {
            check_reason(reason, &mut errors);
        }
        let verdict = kind.and_then(|kind| self.verdict(kind, &mut errors));
        match (verdict, lesson, reviewer, signed_at, reason) {
            (Some(verdict), Some(lesson), Some(reviewer), Some(at), Some(reason))
                if errors.is_empty() =>
            {
                Entry::new(verdict, &lesson, reviewer, at, &reason)
            }
            _ => Err(errors),
        }
    }

    fn verdict(&self, kind: EntryKind, errors: &mut Vec<EntryError>) -> Option<Verdict> {
        let revokes = kind == EntryKind::Revoke;
        let mut refuse = |field, given: bool, has_place: bool| {
            if given && !has_place {
                errors.push(EntryError::Extra(kind, field));
            }
        };
        refuse("record", self.record.is_some(), !revokes);
        refuse("target", self.target.is_some(), revokes);
        refuse("rendering", self.rendering.is_some(), kind == EntryKind::Accept);
        let mut digest = |field, text: Option<&String>| {
            let text = needed(field, text, errors)?;
            accept(text.parse().map_err(|_| EntryError::Digest(field)), errors)
        };
        match kind {
            EntryKind::Revoke => digest("target", self.target.as_ref())
                .map(|target: Digest| Verdict::Revoke { target }),
            EntryKind::Reject => {
                digest("record", self.record.as_ref()).map(|record| Verdict::Reject { record })
            }
            EntryKind::Accept => {
                let record = digest("record", self.record.as_ref());
                let rendering = self.rendering.as_ref();
                let seen = digest("rendering", rendering.map(|rendering| &rendering.digest));
                let (record, rendering, digest) = (record?, rendering?, seen?);
                let rendering = Rendering { format: rendering.format, digest };
                Some(Verdict::Accept { record, rendering })
            }
        }
    }
}

fn needed<T>(field: &'static str, value: Option<T>, errors: &mut Vec<EntryError>) -> Option<T> {
    if value.is_none() {
        errors.push(EntryError::Missing(field));
    }
    value
}

fn accept<T>(value: Result<T, EntryError>, errors: &mut Vec<EntryError>) -> Option<T> {
    value.map_err(|error| errors.push(error)).ok()
}

/// A time in the one form in which it is written.
fn parse_time(text: &str) -> Result<Timestamp, EntryError> {
    let time: Timestamp = text.parse().map_err(|_| EntryError::SignedAt)?;
    let mut errors = Vec::new();
    check_time(time, &mut errors);
    if errors.is_empty() && spell(time) == text { Ok(time) } else { Err(EntryError::SignedAt) }
}

fn spell(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A TOML basic string. An entry's texts hold no control character but the line feed.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
