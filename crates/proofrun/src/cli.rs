//! The command line: global options, and which command is which file.

use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Parser, Subcommand};

use crate::commands;
use crate::context::{Context, STATE_FOLDER, TARGET_FOLDER};
use crate::error::Error;
use crate::exit::Exit;

/// A CUDA course, and the harness that keeps it honest.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    /// The course's root folder; by default the nearest one above with `lessons/` or `research/` in it.
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<Utf8PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(commands::verify::Verify),
    Bundle(commands::bundle::Bundle),
    Import(commands::import::Import),
    Review(commands::review::Review),
    Publish(commands::publish::Publish),
    Withdraw(commands::withdraw::Withdraw),
    Keys(commands::keys::Keys),
}

/// Where a course lies.
#[derive(Debug, Clone)]
pub struct Root {
    path: Utf8PathBuf,
}

impl Root {
    /// The folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// State that must not be lost.
    pub fn state(&self) -> Utf8PathBuf {
        self.path.join(STATE_FOLDER)
    }

    /// What can be made again.
    pub fn target(&self) -> Utf8PathBuf {
        self.path.join(TARGET_FOLDER)
    }
}

/// Runs a command line, without the program's name in front.
pub fn run(arguments: impl IntoIterator<Item = OsString>, context: &Context) -> Exit {
    let named = std::iter::once(OsString::from(context.name)).chain(arguments);
    let cli = match Cli::try_parse_from(named) {
        Ok(cli) => cli,
        Err(error) => return show_usage(&error, context),
    };
    let result = root(cli.root, context).and_then(|root| dispatch(cli.command, &root, context));
    result.unwrap_or_else(|error| {
        context.note(error.show());
        error.exit()
    })
}

fn dispatch(command: Command, root: &Root, context: &Context) -> Result<Exit, Error> {
    match command {
        Command::Verify(verify) => verify.run(root, context),
        Command::Bundle(bundle) => bundle.run(root, context),
        Command::Import(import) => import.run(root, context),
        Command::Review(review) => review.run(root, context),
        Command::Publish(publish) => publish.run(root, context),
        Command::Withdraw(withdraw) => withdraw.run(root, context),
        Command::Keys(keys) => keys.run(root, context),
    }
}

/// Help and versions are asked for; everything else of clap's is a usage error.
fn show_usage(error: &clap::Error, context: &Context) -> Exit {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        context.note(text);
        Exit::Usage
    } else {
        context.say(text);
        Exit::Holds
    }
}

fn root(given: Option<Utf8PathBuf>, context: &Context) -> Result<Root, Error> {
    if let Some(given) = given {
        let path = context.cwd.join(given);
        return if path.is_dir() {
            Ok(Root { path })
        } else {
            Err(Error::Usage(format!("`{path}` is no folder; name the course's root")))
        };
    }
    let marks = ["lessons", "research"];
    let above = context.cwd.ancestors();
    let marked =
        above.into_iter().find(|folder| marks.iter().any(|mark| folder.join(mark).is_dir()));
    Ok(Root { path: marked.unwrap_or(&context.cwd).to_owned() })
}
