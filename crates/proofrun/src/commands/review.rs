//! `review`: what awaits a review, and verdicts on it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::escape::escape;
use proofrun_core::finding::Place;
use proofrun_core::{Class, Digest, Finding, Rule};
use proofrun_runner::course::FILE_BYTES_MAX;
use proofrun_runner::system::files;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, Selection};
use crate::review::arrivals::{self, Arrivals};
use crate::review::odd::odd;
use crate::review::screen::screen;
use crate::review::sign::{Decision, Reviewer, Written, sign};
use crate::review::{awaiting, export};
use crate::signers::{Signers, describe};
use crate::words::count;

/// Shows what awaits a review, and signs verdicts on it.
///
/// On a terminal it asks for each record: accept, reject or skip, and why. Elsewhere it prints the
/// screens and exits with 21 where any record awaits a review. Verdicts from scripts name the
/// digest in full.
#[derive(Debug, clap::Args)]
pub struct Review {
    /// Lessons to look at, by name, folder or `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    #[command(flatten)]
    verdict: Verdict,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Your private key: an ed25519 key without a passphrase, listed for reviews.
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    /// Your principal, as `research/allowed_signers` lists it.
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// With `--import`: add the key lines that came along to `research/allowed_signers`.
    #[arg(long, requires = "import")]
    add_signer: bool,
}

/// At most one of these.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Verdict {
    /// Accept the record of this digest as it renders now.
    #[arg(long, value_name = "DIGEST", requires_all = ["reason", "key", "reviewer"])]
    accept: Option<String>,
    /// Reject the record of this digest.
    #[arg(long, value_name = "DIGEST", requires_all = ["reason", "key", "reviewer"])]
    reject: Option<String>,
    /// Revoke an entry, or every acceptance of a record, by its digest.
    #[arg(long, value_name = "DIGEST", requires_all = ["reason", "key", "reviewer"])]
    revoke: Option<String>,
    /// Write a small course with all that awaits a review into a new folder, for a reviewer
    /// elsewhere.
    #[arg(long, value_name = "DIR")]
    export: Option<Utf8PathBuf>,
    /// Take in the signed reviews of a folder that came back.
    #[arg(long, value_name = "DIR")]
    import: Option<Utf8PathBuf>,
}

impl Review {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read or a verdict is refused.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let selection = Selection::named(&self.lessons);
        let loaded = Loaded::read(root, &selection, context)?;
        if let Some(decision) = self.decision()? {
            let (Some(reason), Some(key), Some(name)) = (&self.reason, &self.key, &self.reviewer)
            else {
                let text = "a verdict needs `--reason`, `--key` and `--reviewer`";
                return Err(Error::Usage(text.into()));
            };
            let key = context.cwd.join(key);
            let reviewer = Reviewer { name, key: &key, reason };
            told(&sign(root, context, &loaded, decision, reviewer)?, decision, context);
            return Ok(Exit::Holds);
        }
        if let Some(folder) = &self.verdict.export {
            return export_to(root, context, &loaded, &context.cwd.join(folder));
        }
        if let Some(folder) = &self.verdict.import {
            return self.import_from(root, context, &loaded, &context.cwd.join(folder));
        }
        if context.interactive {
            return self.ask(root, context, &selection);
        }
        show(context, &loaded)
    }

    fn decision(&self) -> Result<Option<Decision>, Error> {
        let verdict = &self.verdict;
        let given = [
            (&verdict.accept, Decision::Accept as fn(Digest) -> Decision),
            (&verdict.reject, Decision::Reject),
            (&verdict.revoke, Decision::Revoke),
        ];
        let given = given.into_iter().find_map(|(text, make)| Some((text.as_ref()?, make)));
        given.map(|(text, make)| Ok(make(whole_digest(text)?))).transpose()
    }

    /// Screen by screen, with the course read anew before each: what was signed a moment ago
    /// counts.
    fn ask(&self, root: &Root, context: &Context, selection: &Selection) -> Result<Exit, Error> {
        let first = Loaded::read(root, selection, context)?;
        let digests: Vec<Digest> = awaiting(&first).iter().map(|it| it.digest()).collect();
        for (index, digest) in digests.iter().enumerate() {
            let loaded = Loaded::read(root, selection, context)?;
            let subjects = awaiting(&loaded);
            let Some(subject) = subjects.iter().find(|it| it.digest() == *digest) else { continue };
            context.say(screen(subject, &loaded, (index + 1, digests.len()), context.width));
            let question = match odd(subject, &loaded).len() {
                0 => "accept, reject or skip? ".to_owned(),
                1 => "1 odd thing above. accept, reject or skip? ".to_owned(),
                count => format!("{count} odd things above. accept, reject or skip? "),
            };
            while !self.ask_one(root, context, &loaded, *digest, &question)? {}
        }
        let left = awaiting(&Loaded::read(root, selection, context)?).len();
        tell_left(context, left);
        Ok(exit_for(left))
    }

    /// Asks about one record; `false` to ask again.
    fn ask_one(
        &self,
        root: &Root,
        context: &Context,
        loaded: &Loaded,
        digest: Digest,
        question: &str,
    ) -> Result<bool, Error> {
        let make = match context.ask(question)?.as_deref().map(str::trim) {
            None | Some("skip") => return Ok(true),
            Some("accept") => Decision::Accept,
            Some("reject") => Decision::Reject,
            Some(_) => {
                context.say("write one of the three words\n");
                return Ok(false);
            }
        };
        let Some(reason) = context.ask("why? ")?.filter(|it| !it.trim().is_empty()) else {
            context.say("a verdict has a reason; nothing was signed\n");
            return Ok(false);
        };
        let name = or_ask(context, self.reviewer.as_deref(), "your principal? ")?;
        let key = or_ask(context, self.key.as_ref().map(|key| key.as_str()), "your key's file? ")?;
        let (Some(name), Some(key)) = (name, key) else { return Ok(true) };
        let key = context.cwd.join(key);
        let reviewer = Reviewer { name: &name, key: &key, reason: reason.trim() };
        match sign(root, context, loaded, make(digest), reviewer) {
            Ok(written) => {
                told(&written, make(digest), context);
                Ok(true)
            }
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => {
                context.note(error.show());
                Ok(false)
            }
        }
    }

    fn import_from(
        &self,
        root: &Root,
        context: &Context,
        loaded: &Loaded,
        folder: &Utf8Path,
    ) -> Result<Exit, Error> {
        let found = Arrivals::read(folder)?;
        if found.entries.is_empty() && found.lines.is_empty() {
            let fact = format!("no signed entry below `{folder}`");
            let next = "name the folder that came back: an entry has its signature beside it";
            let finding = Finding::error(Rule::NothingSelected, Place::file("."), fact, next);
            let what = "nothing to import".to_owned();
            return Err(Error::Refused { what, findings: vec![finding] });
        }
        let mut with_lines = Signers::read(root)?;
        with_lines.add(&found.lines)?;
        arrivals::check_lines(&with_lines)?;
        let now = context.clock.now();
        for grant in with_lines.added() {
            let told = escape(&describe(grant, now), false);
            let verb = if self.add_signer { "adds" } else { "came along, not added" };
            context.say(format!("{verb}: {told}\n"));
        }
        let lines_wait = with_lines.is_changed() && !self.add_signer;
        let signers = if self.add_signer { with_lines } else { Signers::read(root)? };
        let checked = arrivals::check(loaded, &found, &signers).inspect_err(|_| {
            if lines_wait {
                context.note("the key line above was not used: read it, then say `--add-signer`\n");
            }
        })?;
        let count = count(checked.told.len(), "review");
        for path in &checked.told {
            context.say(format!("took in {}\n", escape(path, false)));
        }
        arrivals::write(root, checked)?;
        context.say(format!("{count} taken in; commit, then `publish`\n"));
        Ok(Exit::Holds)
    }
}

/// A digest in full: a prefix could be made to fit another record.
fn whole_digest(text: &str) -> Result<Digest, Error> {
    text.parse().map_err(|_| {
        Error::Usage(format!(
            "`{text}` is no whole digest; give all 64 digits, as `review` shows them"
        ))
    })
}

fn or_ask(context: &Context, given: Option<&str>, question: &str) -> Result<Option<String>, Error> {
    match given {
        Some(given) => Ok(Some(given.to_owned())),
        None => Ok(context.ask(question)?.map(|answer| answer.trim().to_owned())),
    }
}

fn show(context: &Context, loaded: &Loaded) -> Result<Exit, Error> {
    let subjects = awaiting(loaded);
    for (index, subject) in subjects.iter().enumerate() {
        context.say(screen(subject, loaded, (index + 1, subjects.len()), context.width));
    }
    tell_left(context, subjects.len());
    Ok(exit_for(subjects.len()))
}

fn tell_left(context: &Context, left: usize) {
    context.say(match left {
        0 => "no record awaits a review\n".to_owned(),
        1 => "1 record awaits a review\n".to_owned(),
        _ => format!("{left} records await a review\n"),
    });
}

fn exit_for(left: usize) -> Exit {
    if left == 0 { Exit::Holds } else { Exit::Found(Class::Unreviewed) }
}

fn told(written: &Written, decision: Decision, context: &Context) {
    let (verb, next) = match decision {
        Decision::Accept(_) => ("accepted", "publish"),
        Decision::Reject(_) | Decision::Revoke(_) => ("taken back", "withdraw"),
    };
    let verb = if matches!(decision, Decision::Reject(_)) { "rejected" } else { verb };
    let lesson = escape(&written.lesson, false);
    let path = escape(written.path.as_str(), false);
    context.say(format!(
        "{verb}, by entry {}\n  {}\n  next: commit it; `{} {next} {lesson}` where the page has to \
         change\n",
        written.entry, path, context.name
    ));
}

fn export_to(
    root: &Root,
    context: &Context,
    loaded: &Loaded,
    folder: &Utf8Path,
) -> Result<Exit, Error> {
    let subjects = awaiting(loaded);
    if subjects.is_empty() {
        tell_left(context, 0);
        return Ok(Exit::Holds);
    }
    // Lessons are found below the root by their manifests: a second copy there would be a second
    // lesson.
    if folder.starts_with(root.path()) || folder.exists() {
        let text = format!("`{folder}` is there or lies in the course; name a new folder outside");
        return Err(Error::Usage(text));
    }
    let mut trust = BTreeMap::new();
    for name in export::TRUST_FILES {
        match files::read_capped(root.path().join(name), FILE_BYTES_MAX) {
            Ok(bytes) => trust.insert(Utf8PathBuf::from(name), bytes).map_or((), drop),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let exported = export::files(loaded, &subjects, &trust);
    files::write_dir_atomic::<Error>(folder, |temporary| {
        for (path, bytes) in &exported {
            let path = temporary.join(path);
            path.parent().map_or(Ok(()), files::create_dir)?;
            files::write_new(&path, bytes)?;
        }
        Ok(())
    })?;
    let count = count(subjects.len(), "record");
    context.say(format!("{count} to review in {folder}; HOW-TO.md there says how\n"));
    Ok(Exit::Holds)
}
