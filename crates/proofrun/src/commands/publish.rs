//! `publish`: what was reviewed, onto the page.

use proofrun_core::Severity;
use proofrun_core::assess::{Plan, plan_publish};
use proofrun_core::escape::escape;
use proofrun_core::finding::Findings;
use proofrun_core::state::Shown;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, LoadedLesson, Selection};
use crate::publishing::{
    errors, errors_after, not_as_written, not_reviewed, plan_error, standing, tell, write,
};
use crate::report::terminal::finding_block;
use crate::verify::state;

/// Renders reviewed records into pages, headers and snapshots.
///
/// A lesson is published when the evidence of its primary device and build is Reviewed; every other
/// lesson is refused by name. Nothing overrides that. The files of a lesson are written together or
/// not at all.
#[derive(Debug, clap::Args)]
pub struct Publish {
    /// Lessons to publish, by name, folder or `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// Write nothing, and fail where anything that is reviewed is not published, byte for byte.
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Write nothing, and show what would change.
    #[arg(long)]
    dry_run: bool,
}

impl Publish {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read or written.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&self.lessons), context)?;
        let mut findings: Findings = loaded.findings.clone();
        for lesson in &loaded.lessons {
            context.go_on()?;
            let found = if self.check {
                check(context, lesson)?
            } else {
                self.publish(root, context, &loaded, lesson)?
            };
            for finding in found.iter().filter(|it| it.severity == Severity::Error) {
                context.note(finding_block(finding));
            }
            findings.extend(found);
        }
        Ok(Exit::of(&findings))
    }

    /// Publishes one lesson, or says why not.
    fn publish(
        &self,
        root: &Root,
        context: &Context,
        loaded: &Loaded,
        lesson: &LoadedLesson,
    ) -> Result<Findings, Error> {
        let name = escape(lesson.files.name(), false);
        let plan = match plan(lesson)? {
            Ok(plan) => plan,
            Err(findings) => {
                context.say(format!("{name}: refused\n"));
                return Ok(findings);
            }
        };
        let left = errors_after(loaded, lesson, &plan);
        if !left.is_empty() {
            context.say(format!("{name}: refused, since the lesson would not pass `verify`\n"));
            return Ok(left);
        }
        if plan.is_empty() {
            context.say(format!("{name}: published already\n"));
            return Ok(left);
        }
        let verb = if self.dry_run { "would be published" } else { "published" };
        if !self.dry_run {
            let written = plan.clone();
            write(root, lesson, written)?;
        }
        context.say(format!("{name}: {verb}\n"));
        tell(context, lesson, &plan, self.dry_run);
        Ok(left)
    }
}

/// The plan, or why there is none.
fn plan(lesson: &LoadedLesson) -> Result<Result<Plan, Findings>, Error> {
    let Some(text) = &lesson.assessment.text else { return Ok(Err(errors(&lesson.assessment))) };
    let primary = lesson.assessment.primary.as_ref();
    if let Some(refusal) = not_reviewed(lesson, text, primary) {
        // What is tampered with is the graver reason, and decides the exit code.
        let mut findings = errors(&lesson.assessment);
        findings.retain(|finding| finding.rule.class() == proofrun_core::Class::Tampered);
        findings.push(refusal);
        return Ok(Err(findings));
    }
    let shown = lesson.assessment.primary_evidence().map(|evidence| &evidence.shown);
    let (Some(Shown::Current(reviewed)), Some(standing)) = (shown, standing(lesson)) else {
        return Ok(Err(errors(&lesson.assessment)));
    };
    plan_publish(reviewed, standing).map(Ok).map_err(|error| plan_error(lesson, error))
}

/// Whether the lesson stands as `publish` would leave it. An honest page of a lesson that isn't
/// reviewed does.
fn check(context: &Context, lesson: &LoadedLesson) -> Result<Findings, Error> {
    let told = state(lesson).unwrap_or_else(|| "can't be resolved".to_owned());
    let line = format!("{}: {told}", lesson.files.name());
    context.say(format!("{}\n", escape(&line, false)));
    let mut findings = errors(&lesson.assessment);
    if let Ok(plan) = plan(lesson)? {
        for path in plan.keys() {
            let place = lesson.files.folder.join(path);
            if !findings.iter().any(|finding| finding.place.path == place) {
                findings.push(not_as_written(lesson, path));
            }
        }
    }
    Ok(findings)
}
