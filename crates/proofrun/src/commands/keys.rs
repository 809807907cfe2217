//! `keys`: make one, list one, see who may sign what, close a window.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Subcommand;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proofrun_core::escape::escape;
use proofrun_core::trust::{Namespace, Principal, new_key, signer_line};
use proofrun_runner::course::SIGNERS_FILE;
use proofrun_runner::keys::{KeyError, write_new_key};
use proofrun_runner::system::files;
use rand::TryRngCore as _;
use rand::rngs::OsRng;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::recover;
use crate::signers::{Signers, describe};

/// The largest file of lines that is read, in bytes.
const LINES_BYTES_MAX: u64 = 64 * 1024;

/// Makes signing keys, and keeps the list of who may sign what until when.
#[derive(Debug, clap::Args)]
pub struct Keys {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes an ed25519 key outside the course, and prints its line for `research/allowed_signers`.
    New(New),
    /// Adds a line to `research/allowed_signers`.
    Add(Add),
    /// Shows who may sign what, until when.
    List,
    /// Ends the window of a principal's keys; what they signed within it stands.
    Close(Close),
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("purpose").required(true).args(["record", "review"])))]
struct New {
    /// Whose key it is: one exact name, as an e-mail address.
    #[arg(long, value_name = "NAME")]
    principal: String,
    /// It signs records.
    #[arg(long)]
    record: bool,
    /// It signs reviews.
    #[arg(long)]
    review: bool,
    /// For how many days it counts from now; by default without an end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3660))]
    days: Option<u16>,
    /// Where the private half goes; the public half goes beside it, into FILE.pub.
    #[arg(long, value_name = "FILE")]
    out: Utf8PathBuf,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Add {
    /// The line, as `keys new` prints it.
    #[arg(long, value_name = "TEXT")]
    line: Option<String>,
    /// A file that holds the line, not a bare public key.
    #[arg(long, value_name = "FILE")]
    from: Option<Utf8PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Close {
    /// Whose keys.
    #[arg(value_name = "PRINCIPAL")]
    principal: String,
    /// The last moment at which they count: `2026-06-30` (its start, in UTC) or
    /// `2026-06-30T12:00:00Z`.
    #[arg(long, value_name = "TIME")]
    at: String,
}

impl Keys {
    /// Runs the command.
    ///
    /// # Errors
    /// When a key or line is refused, or a file can't be written.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        recover(root, context)?;
        match self.action {
            Action::New(new) => new.run(root, context),
            Action::Add(add) => add.run(root, context),
            Action::List => list(root, context),
            Action::Close(close) => close.run(root, context),
        }
    }
}

impl New {
    fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let principal = principal(&self.principal)?;
        let namespace = if self.record { Namespace::Record } else { Namespace::Review };
        let now = Timestamp::from_second(context.clock.now().as_second())
            .map_err(Error::system("read the clock"))?;
        let end = |days: u16| now.checked_add(SignedDuration::from_hours(24 * i64::from(days)));
        let end = self.days.map(end).transpose().map_err(Error::system("add the days"))?;
        let mut seed = [0; 32];
        OsRng.try_fill_bytes(&mut seed).map_err(Error::system("draw random bytes"))?;
        let key = new_key(principal.as_str(), &seed).map_err(Error::system("make a key"))?;
        let line = signer_line(&principal, &[namespace], (Some(now), end), key.public_key());
        let line = line.map_err(|errors| {
            let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
            Error::Usage(all.join("; "))
        })?;
        let path = context.cwd.join(&self.out);
        write_new_key(&path, root.path(), &key).map_err(|error| match error {
            KeyError::InTree { .. } => {
                Error::Usage(format!("{error}; name a file outside of it with `--out`"))
            }
            error => Error::system("write the key")(error),
        })?;
        context.note(format!(
            "private half in {path}, for its owner alone; public half in {path}.pub\n\
             its line, for `keys add --line`, in a change of its own before what it signs:\n"
        ));
        // The line alone goes to standard output, so that it can be sent into a file.
        context.say(format!("{line}\n"));
        Ok(Exit::Holds)
    }
}

impl Add {
    fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let text = match (&self.line, &self.from) {
            (Some(line), _) => line.clone(),
            (None, Some(file)) => {
                let bytes = files::read_capped(context.cwd.join(file), LINES_BYTES_MAX)?;
                String::from_utf8(bytes).map_err(Error::system("read the line as UTF-8"))?
            }
            (None, None) => return Err(Error::Usage("give `--line` or `--from`".into())),
        };
        let given = Given { from: self.from.as_deref(), text: &text };
        let lines: Vec<String> = given.lines().map(|(_, line)| line.to_owned()).collect();
        if let Some((number, _)) = given.lines().find(|(_, line)| is_bare_key(line)) {
            return Err(Error::Usage(format!(
                "{} is a bare public key, and a signer line is needed, which says whose key it is \
                 and what it signs: the line that `keys new` printed",
                given.place(number)
            )));
        }
        let mut signers = Signers::read(root)?;
        signers.add(&lines).map_err(|error| given.refused(error, &signers))?;
        if !signers.is_changed() {
            let text = format!("`{SIGNERS_FILE}` has every line of it already");
            return Err(Error::Usage(text));
        }
        signers.write(root)?;
        for grant in signers.added() {
            let told = describe(grant, context.clock.now());
            context.say(format!("added: {}\n", escape(&told, false)));
        }
        Ok(Exit::Holds)
    }
}

/// What `keys add` was given.
struct Given<'a> {
    from: Option<&'a Utf8Path>,
    text: &'a str,
}

impl<'a> Given<'a> {
    /// The lines that are no comments, with their numbers from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let numbered = (1..).zip(self.text.lines());
        numbered.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    }

    fn place(&self, number: usize) -> String {
        match self.from {
            Some(file) => format!("line {number} of `{file}`"),
            None => "the given line".to_owned(),
        }
    }

    /// What is wrong with the lines, where they were given: in the list they never stood.
    fn refused(&self, error: Error, signers: &Signers) -> Error {
        let Error::Refused { what, findings } = error else { return error };
        let there: Vec<&str> = signers.text().lines().collect();
        let mut fresh: Vec<(usize, &str)> = Vec::new();
        for (number, line) in self.lines() {
            let line = line.trim_end_matches(' ');
            if !there.contains(&line) && fresh.iter().all(|(_, other)| *other != line) {
                fresh.push((number, line));
            }
        }
        let told = findings.iter().map(|finding| {
            let line = finding.place.line.map_or(0, |line| line as usize);
            let at = line.checked_sub(there.len() + 1).and_then(|at| fresh.get(at));
            let place = at.map_or_else(|| finding.place.to_string(), |(at, _)| self.place(*at));
            let because = finding.cause.as_ref().map_or(String::new(), |it| format!(" ({it})"));
            format!("{place}: {}{because}; {}", finding.fact, finding.next)
        });
        Error::Usage(format!("{what}: {}", told.collect::<Vec<_>>().join("\n  ")))
    }
}

/// Whether a line is what a `.pub` file holds, with no word about who and what for.
fn is_bare_key(line: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"].iter().any(|kind| line.trim_start().starts_with(kind))
}

impl Close {
    fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let principal = principal(&self.principal)?;
        let at = moment(&self.at)?;
        let mut signers = Signers::read(root)?;
        let count = signers.close(&principal, at)?;
        signers.write(root)?;
        context.say(format!(
            "closed {count} of {principal}'s keys at {at}; what they signed until then stands\n"
        ));
        Ok(Exit::Holds)
    }
}

fn list(root: &Root, context: &Context) -> Result<Exit, Error> {
    let signers = Signers::read(root)?;
    let grants = signers.grants();
    if grants.is_empty() {
        context.say(format!("nobody may sign: `{SIGNERS_FILE}` lists no key\n"));
    }
    for grant in grants {
        let told = describe(grant, context.clock.now());
        context.say(format!("{}\n", escape(&told, false)));
    }
    Ok(Exit::Holds)
}

fn principal(name: &str) -> Result<Principal, Error> {
    name.parse().map_err(|error| Error::Usage(format!("{error}")))
}

/// A day's start or a moment, in UTC and whole seconds.
fn moment(text: &str) -> Result<Timestamp, Error> {
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10);
    let time = match day {
        Some(day) => TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok(),
        None => text.parse::<Timestamp>().ok().filter(|time| time.subsec_nanosecond() == 0),
    };
    time.ok_or_else(|| {
        Error::Usage(format!("`{text}` is no time; write `2026-06-30` or `2026-06-30T12:00:00Z`"))
    })
}
