//! The command line: global options, and which command is which file.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
pub use crate::root::Root;

/// A CUDA course, and the harness that keeps it honest.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    /// The course's root folder; by default the nearest one, from the current folder upwards, with
    /// `lessons/`, `research/` or `.proofrun/` in it, else the one above a lesson's folder, else
    /// the current one.
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<Utf8PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bundle(commands::bundle::Bundle),
    Compare(commands::compare::Compare),
    Emulate(Box<commands::emulate::Emulate>),
    Explain(commands::explain::Explain),
    Import(commands::import::Import),
    Keys(commands::keys::Keys),
    New(commands::new::New),
    Publish(commands::publish::Publish),
    Review(commands::review::Review),
    Status(commands::status::Status),
    Sync(commands::sync::Sync),
    Toolkit(commands::toolkit::Toolkit),
    Verify(commands::verify::Verify),
    Withdraw(commands::withdraw::Withdraw),
}

/// Runs a command line, without the program's name in front.
pub fn run(arguments: impl IntoIterator<Item = OsString>, context: &Context) -> Exit {
    let named = std::iter::once(OsString::from(context.name)).chain(arguments);
    let cli = match Cli::try_parse_from(named) {
        Ok(cli) => cli,
        Err(error) => return show_usage(&error, context),
    };
    let result =
        Root::find(cli.root, context).and_then(|root| dispatch(cli.command, &root, context));
    result.unwrap_or_else(|error| {
        context.note(error.show());
        error.exit()
    })
}

/// The command line itself: its commands, options and help, for whoever compares a text with it.
pub fn command() -> clap::Command {
    Cli::command()
}

fn dispatch(command: Command, root: &Root, context: &Context) -> Result<Exit, Error> {
    match command {
        Command::Bundle(bundle) => bundle.run(root, context),
        Command::Compare(compare) => compare.run(root, context),
        Command::Emulate(emulate) => emulate.run(root, context),
        Command::Explain(explain) => explain.run(root, context),
        Command::Import(import) => import.run(root, context),
        Command::Keys(keys) => keys.run(root, context),
        Command::New(new) => new.run(root, context),
        Command::Publish(publish) => publish.run(root, context),
        Command::Review(review) => review.run(root, context),
        Command::Status(status) => status.run(root, context),
        Command::Sync(sync) => sync.run(root, context),
        Command::Toolkit(toolkit) => toolkit.run(root, context),
        Command::Verify(verify) => verify.run(root, context),
        Command::Withdraw(withdraw) => withdraw.run(root, context),
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
