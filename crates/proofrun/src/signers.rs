//! The list of keys as a text that commands change: lines are added and windows closed, and nothing
//! is ever removed.
//!
//! **Invariant: what is written reads back without a finding**, by the same strict reader that
//! believes signatures.

use camino::Utf8Path;
use jiff::Timestamp;
use proofrun_core::finding::Place;
use proofrun_core::trust::{AllowedSigners, Grant, Namespace, Principal, signer_line};
use proofrun_core::{Finding, Rule};
use proofrun_runner::course::SIGNERS_FILE;
use proofrun_runner::system::files;
use proofrun_runner::system::transaction::Transaction;

use crate::cli::Root;
use crate::error::Error;
use crate::loaded::JOURNAL_FOLDER;

/// The largest list that is read, in bytes.
const LIST_BYTES_MAX: u64 = 1024 * 1024;

/// What a new list begins with.
const HEAD: &str = "# Who may sign what in this course. A strict subset of OpenSSH's format.\n";

/// The list.
#[derive(Debug)]
pub struct Signers {
    original: String,
    text: String,
    parsed: AllowedSigners,
}

impl Signers {
    /// That of a course; one that isn't there yet is empty.
    ///
    /// # Errors
    /// When it can't be read, or holds anything that isn't strict.
    pub fn read(root: &Root) -> Result<Self, Error> {
        let bytes = match files::read_capped(root.path().join(SIGNERS_FILE), LIST_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => HEAD.as_bytes().to_vec(),
            Err(error) => return Err(error.into()),
        };
        let original = String::from_utf8_lossy(&bytes).into_owned();
        let parsed = parse(&bytes, "the list of keys is not strict")?;
        Ok(Self { text: original.clone(), original, parsed })
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it grants.
    pub fn parsed(&self) -> &AllowedSigners {
        &self.parsed
    }

    /// Whether it differs from what was read.
    pub fn is_changed(&self) -> bool {
        self.text != self.original
    }

    /// The grants on lines that were not there.
    pub fn added(&self) -> impl Iterator<Item = &Grant> {
        let were = u32::try_from(self.original.lines().count()).unwrap_or(u32::MAX);
        self.parsed.grants().filter(move |grant| grant.line() > were)
    }

    /// All grants, in the order of the lines.
    pub fn grants(&self) -> Vec<&Grant> {
        let mut grants: Vec<&Grant> = self.parsed.grants().collect();
        grants.sort_by_key(|grant| grant.line());
        grants
    }

    /// Adds lines; those that stand there already are left out.
    ///
    /// # Errors
    /// When a line is not strict, its key is listed already, or its principal has another key for
    /// the same purpose at the same time.
    pub fn add(&mut self, lines: &[String]) -> Result<(), Error> {
        let mut text = self.text.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for line in lines.iter().map(|line| line.trim_end_matches(['\n', ' '])) {
            if !text.lines().any(|there| there == line) {
                text.push_str(line);
                text.push('\n');
            }
        }
        let what = "no key was added";
        let parsed = parse(text.as_bytes(), what)?;
        if let Some((a, b)) = overlapping(&parsed) {
            let fact = format!(
                "`{}` would have two keys for one purpose at one time, the other on line {}",
                b.signer().principal(),
                a.line()
            );
            let next = "close the old key's window first: `keys close NAME --at TIME`";
            let place = Place::line(SIGNERS_FILE, b.line());
            let findings = vec![Finding::error(Rule::TrustRoot, place, fact, next)];
            return Err(Error::Refused { what: what.into(), findings });
        }
        (self.text, self.parsed) = (text, parsed);
        Ok(())
    }

    /// Ends the windows of a principal's keys that are open longer; how many.
    ///
    /// # Errors
    /// When he has no key that is open longer.
    pub fn close(&mut self, principal: &Principal, at: Timestamp) -> Result<usize, Error> {
        let open = |grant: &&Grant| {
            grant.signer().principal() == principal
                && grant.valid_before().is_none_or(|before| before > at)
                && grant.valid_after().is_none_or(|after| after < at)
        };
        let closing: Vec<Grant> = self.parsed.grants().filter(open).cloned().collect();
        if closing.is_empty() {
            let text = format!("`{principal}` has no key that is open at {at}; see `keys list`");
            return Err(Error::Usage(text));
        }
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for grant in &closing {
            let namespaces: Vec<Namespace> = grant.namespaces().iter().copied().collect();
            let window = (grant.valid_after(), Some(at));
            let line = signer_line(principal, &namespaces, window, grant.public_key());
            let line = line.map_err(|errors| {
                let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
                Error::Usage(all.join("; "))
            })?;
            if let Some(old) = lines.get_mut(grant.line() as usize - 1) {
                // The fourth blank, if there is one, begins the comment; a line without a finding
                // has single blanks.
                let comment = old.splitn(5, ' ').nth(4).map(str::to_owned);
                *old = comment.map_or(line.clone(), |comment| format!("{line} {comment}"));
            }
        }
        let text = lines.join("\n") + "\n";
        let parsed = parse(text.as_bytes(), "no window was closed")?;
        (self.text, self.parsed) = (text, parsed);
        Ok(closing.len())
    }

    /// Writes the list, through the same journal as everything that reviews write.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, root: &Root) -> Result<(), Error> {
        let mut change = Transaction::new(root.state().join(JOURNAL_FOLDER))?;
        change.write(root.path().join(SIGNERS_FILE), self.text.as_str());
        Ok(change.commit()?)
    }
}

fn parse(bytes: &[u8], what: &str) -> Result<AllowedSigners, Error> {
    let (parsed, findings) = AllowedSigners::parse(Utf8Path::new(SIGNERS_FILE), bytes);
    if findings.is_empty() {
        return Ok(parsed);
    }
    Err(Error::Refused { what: what.to_owned(), findings })
}

/// Two keys of one principal that may sign the same thing at the same time, in the order of their
/// lines.
fn overlapping(parsed: &AllowedSigners) -> Option<(&Grant, &Grant)> {
    let mut grants: Vec<&Grant> = parsed.grants().collect();
    grants.sort_by_key(|grant| (grant.signer().principal().clone(), grant.line()));
    let same = |a: &Grant, b: &Grant| a.signer().principal() == b.signer().principal();
    let meets = |a: &Grant, b: &Grant| {
        let starts_before_end = |a: &Grant, b: &Grant| match (a.valid_after(), b.valid_before()) {
            (Some(start), Some(end)) => start < end,
            _ => true,
        };
        !a.namespaces().is_disjoint(b.namespaces())
            && starts_before_end(a, b)
            && starts_before_end(b, a)
    };
    grants.iter().enumerate().find_map(|(at, a)| {
        let of_same = grants[at + 1..].iter().take_while(|b| same(a, b));
        of_same.into_iter().find(|b| meets(a, b)).map(|b| (*a, *b))
    })
}

/// A grant in words, `now` deciding whether its window is open.
pub fn describe(grant: &Grant, now: Timestamp) -> String {
    let namespaces: Vec<&str> = grant.namespaces().iter().map(|it| it.as_str()).collect();
    let state = match (grant.valid_after(), grant.valid_before()) {
        (_, Some(before)) if now > before => format!("EXPIRED since {before}"),
        (Some(after), _) if now < after => format!("not before {after}"),
        (_, Some(before)) => format!("until {before}"),
        (_, None) => "without an end".to_owned(),
    };
    let from = grant.valid_after().map_or_else(String::new, |after| format!("from {after}, "));
    let from = if state.starts_with("not") { String::new() } else { from };
    format!(
        "{}  {}  {from}{state}  {}",
        grant.signer().principal(),
        namespaces.join(","),
        grant.signer().fingerprint()
    )
}
