//! `compare`: a reader's own output against the lesson, and his figures beside the recorded ones.

mod figures;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use proofrun_core::escape::escape;
use proofrun_core::lesson::{Lesson, Program};
use proofrun_core::state::Pair;
use proofrun_core::template::{Fact, MAX_OUTPUT_BYTES, Mismatch, Reader, Reason};
use proofrun_core::{Capability, Finding, Place, Rule};

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, LoadedLesson, Selection};
use crate::words::{count, wrapped};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();

/// Compares your own program's output, piped in, with a lesson's.
///
/// `./barrier_pipeline | cargo xtask compare day-75` checks every exact line, and sets your figures
/// beside the recorded ones, card by card. Facts of your card are read from your output; what
/// follows from a fact that the output doesn't tell is named, and not checked. Your figures need
/// not equal anyone's.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// The lesson, by name, folder or `day-N`.
    #[arg(value_name = "LESSON")]
    lesson: String,
    /// Only beside the record of this device model and build, such as `h200/sm_80`.
    #[arg(long, value_name = "MODEL/VARIANT")]
    on: Option<String>,
    /// The program, in a lesson of several.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
}

impl Compare {
    /// Runs the command.
    ///
    /// # Errors
    /// When the lesson can't be read, nothing is piped in, or `--on` names no recorded pair.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded =
            Loaded::read(root, &Selection::named(std::slice::from_ref(&self.lesson)), context)?;
        let Some(loaded) = loaded.lessons.first() else { return Ok(Exit::Holds) };
        let Some(lesson) = loaded.assessment.lesson() else {
            let findings = loaded.assessment.findings.clone();
            return Err(Error::Refused { what: "the manifest can't be read".into(), findings });
        };
        let program = self.program(lesson)?;
        let on = self.pair(loaded)?;
        if context.interactive {
            let name = context.name;
            context.note(format!(
                "reading your program's output from the terminal; `{} | {name} compare {}` pipes \
                 it\n",
                program.run.join(" "),
                lesson.name
            ));
        }
        let bytes = context.read_input(MAX_OUTPUT_BYTES)?;
        if bytes.is_empty() {
            return Err(Error::Usage(format!(
                "nothing on standard input; pipe your program's output: `{} | {} compare {}`",
                program.run.join(" "),
                context.name,
                lesson.name
            )));
        }
        let bytes = without_returns(bytes, context);
        if let Some(told) = below(lesson, program, &bytes) {
            context.say(told);
            return Ok(Exit::Found(Rule::NothingSelected.class()));
        }
        let read = program.template.read_beside(&bytes, &figures::cards(&loaded.assessment));
        if !read.resembles {
            return Err(stranger(lesson, program, &bytes, context));
        }
        context.say(lines(lesson, &read));
        context.say(figures::table(&loaded.assessment, program, &read, on.as_ref()));
        let mismatch = Exit::Found(Rule::OutputMismatch.class());
        Ok(if read.holds() { Exit::Holds } else { mismatch })
    }

    fn program<'a>(&self, lesson: &'a Lesson) -> Result<&'a Program, Error> {
        let Some(name) = &self.program else { return Ok(lesson.primary()) };
        lesson.program(name).ok_or_else(|| {
            let names: Vec<_> = lesson.programs.iter().map(|p| format!("`{}`", p.name)).collect();
            Error::Usage(format!("no program `{name}` in this lesson; it has {}", names.join(", ")))
        })
    }

    /// The pair that `--on` names.
    fn pair(&self, lesson: &LoadedLesson) -> Result<Option<Pair>, Error> {
        let Some(named) = &self.on else { return Ok(None) };
        let recorded = || figures::recorded(&lesson.assessment);
        if let Some((pair, _)) = recorded().find(|(pair, _)| pair.to_string() == *named) {
            return Ok(Some(pair.clone()));
        }
        let pairs: Vec<_> = recorded().map(|(pair, _)| format!("`{pair}`")).collect();
        let hint = match pairs.is_empty() {
            true => "; the lesson has no valid record yet".to_owned(),
            false => format!("; there are {}", pairs.join(", ")),
        };
        Err(Error::Usage(format!("no valid record on `{named}`{hint}")))
    }
}

/// What to say of an output that is the program's declared refusal of an older card.
fn below(lesson: &Lesson, program: &Program, bytes: &[u8]) -> Option<String> {
    let below = lesson.needs.below.as_ref().filter(|_| program.name == lesson.primary().name)?;
    let read = below.stdout.read(bytes);
    let card: Capability = read.fact(Fact::Cc)?.parse().ok()?;
    let needs = lesson.needs.compute_capability;
    (read.holds() && card < needs).then(|| {
        format!(
            "gated: this lesson needs compute capability {needs}, and your card is {card};\n\
                 the program says so as declared, and there is nothing to compare\n"
        )
    })
}

/// The card and the exact lines.
fn lines(lesson: &Lesson, read: &Reader) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}, your output\n", escape(&lesson.name, false));
    let facts = read.facts.iter().map(|(fact, said)| format!("{} {said}", fact.name()));
    let facts = facts.collect::<Vec<_>>().join(", ");
    if !facts.is_empty() {
        text.push_str(&wrapped("  card   ", 9, &escape(&facts, false)));
    }
    let exact = read.mismatches.iter().filter(|mismatch| mismatch.reason != Reason::Bounds);
    let exact: Vec<&Mismatch> = exact.collect();
    if exact.is_empty() {
        let _ = writeln!(text, "  lines  {GREEN}{}{GREEN:#}", held(read));
    } else {
        let differ = count(exact.len(), "difference");
        let _ = writeln!(text, "  lines  {RED}{differ}{RED:#}");
    }
    if !read.from_card.is_empty() {
        let facts: Vec<_> = read.from_card.iter().map(|fact| fact.name()).collect();
        let said = format!("the {} is that of the recorded card of this name", facts.join(" and "));
        text.push_str(&wrapped("         ", 9, &said));
    }
    for unchecked in &read.unchecked {
        let facts: Vec<_> = unchecked.facts.iter().map(|fact| fact.name()).collect();
        let facts = facts.join(" and ");
        let what = &unchecked.what;
        let said = format!("not checked: {what}, since your output doesn't tell the {facts}");
        text.push_str(&wrapped("         ", 9, &escape(&said, false)));
    }
    for mismatch in &exact {
        text.push_str(&difference(mismatch));
    }
    if !exact.is_empty() {
        let next = "compare your program's source with the lesson's, and pipe its output unchanged";
        text.push_str(&wrapped("  next: ", 8, next));
    }
    text
}

/// How many lines hold, and how many of them only as far as they could be checked.
fn held(read: &Reader) -> String {
    let whole = (read.lines - read.partly.min(read.lines)) as usize;
    let hold = |lines: usize| match lines {
        1 => "1 line holds".to_owned(),
        lines => format!("{lines} lines hold"),
    };
    match (whole, read.partly) {
        (0, partly) => format!("{} in part", hold(partly as usize)),
        (1, 0) => hold(1),
        (whole, 0) => format!("all {}", hold(whole)),
        (whole, partly) => format!("{}, {partly} in part", hold(whole)),
    }
}

/// A difference as a reader needs it: he can change neither template nor program.
fn difference(mismatch: &Mismatch) -> String {
    let Mismatch { line, expected, found, detail, .. } = mismatch;
    let said = |text: &str| escape(text, false);
    format!(
        "  {RED}line {line}{RED:#}: expected {}, found {}\n      because {}\n",
        said(expected),
        said(found),
        said(detail)
    )
}

/// Of an output on which no line of the template fits.
fn stranger(lesson: &Lesson, program: &Program, bytes: &[u8], context: &Context) -> Error {
    let why = match std::str::from_utf8(bytes) {
        Ok(_) => "no line of it is one of the lesson's",
        Err(_) => "it is not UTF-8 text",
    };
    let fact = format!("this isn't `{}`'s output: {why}", program.name);
    let (run, name) = (program.run.join(" "), context.name);
    let next = format!("pipe what the program prints: `{run} | {name} compare {}`", lesson.name);
    let place = Place::file("(your output)");
    let findings = vec![Finding::error(Rule::OutputMismatch, place, fact, next)];
    Error::Refused { what: "nothing was compared".into(), findings }
}

/// The output with lines that end as on any system with LF, and a word about it.
fn without_returns(bytes: Vec<u8>, context: &Context) -> Vec<u8> {
    let is_return = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    if !(0..bytes.len()).any(is_return) {
        return bytes;
    }
    context.note("your output's lines end with CRLF; they are read as if with LF\n");
    (0..bytes.len()).filter(|at| !is_return(*at)).map(|at| bytes[at]).collect()
}
