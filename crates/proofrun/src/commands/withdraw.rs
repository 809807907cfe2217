//! `withdraw`: what was taken back, off the page.

use proofrun_core::assess::{Plan, PlanError, plan_withdraw};
use proofrun_core::escape::escape;
use proofrun_core::finding::Place;
use proofrun_core::state::EvidenceState;
use proofrun_core::{Finding, Rule};

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, LoadedLesson, Selection};
use crate::publishing::{errors, errors_after, plan_error, standing, tell, write};

/// Replaces what a page shows of a revoked or rejected record by a line that says since when, by
/// whom and why.
///
/// The reason is the one that the revocation was signed with. Header and regions say the same, and
/// the snapshot goes.
#[derive(Debug, clap::Args)]
pub struct Withdraw {
    /// Lessons, by name, folder or `day-N`.
    #[arg(value_name = "LESSON", required = true)]
    lessons: Vec<String>,
    /// Write nothing, and show what would change.
    #[arg(long)]
    dry_run: bool,
}

impl Withdraw {
    /// Runs the command.
    ///
    /// # Errors
    /// When nothing that stands on a page was taken back, or a file can't be written.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&self.lessons), context)?;
        let mut plans = Vec::new();
        let mut refused = Vec::new();
        for lesson in &loaded.lessons {
            match plan(lesson)? {
                Ok(plan) => {
                    // What else is wrong with the lesson doesn't keep a withdrawn figure on its
                    // page.
                    let had = errors(&lesson.assessment);
                    let mut made = errors_after(&loaded, lesson, &plan);
                    // Lines move with the regions above them, so a fault is told by rule, file and
                    // fact.
                    let key = |it: &Finding| (it.rule, it.place.path.clone(), it.fact.clone());
                    made.retain(|finding| !had.iter().any(|it| key(it) == key(finding)));
                    if made.is_empty() {
                        plans.push((lesson, plan));
                    }
                    refused.extend(made);
                }
                Err(finding) => refused.push(finding),
            }
        }
        if !refused.is_empty() {
            let what = "nothing was withdrawn".to_owned();
            return Err(Error::Refused { what, findings: refused });
        }
        for (lesson, plan) in plans {
            context.go_on()?;
            let name = escape(lesson.files.name(), false);
            if plan.is_empty() {
                context.say(format!("{name}: withdrawn already\n"));
                continue;
            }
            if !self.dry_run {
                write(root, lesson, plan.clone())?;
            }
            let verb = if self.dry_run { "would be withdrawn" } else { "withdrawn" };
            context.say(format!("{name}: {verb}\n"));
            tell(context, lesson, &plan, self.dry_run);
        }
        Ok(Exit::Holds)
    }
}

/// The plan, or why there is none.
fn plan(lesson: &LoadedLesson) -> Result<Result<Plan, Finding>, Error> {
    let refuse = |fact: String, next: &str| {
        let place = Place::file(&lesson.files.folder);
        Ok(Err(Finding::error(Rule::NothingSelected, place, fact, next)))
    };
    let name = lesson.files.name();
    let revoke = "revoke first: `review --revoke DIGEST --reason …`";
    let Some(standing) = standing(lesson) else {
        return refuse(format!("`{name}` has no record that could have been shown"), revoke);
    };
    match plan_withdraw(standing) {
        Ok(plan) => Ok(Ok(plan)),
        Err(PlanError::NothingWithdrawn) => {
            let of_primary = lesson.assessment.primary_evidence();
            let reviewed =
                of_primary.is_some_and(|evidence| evidence.state == EvidenceState::Reviewed);
            let next = if reviewed {
                "revoke first, with `review --revoke DIGEST`; or `publish` what is reviewed"
            } else {
                revoke
            };
            refuse(format!("nothing of `{name}` that a page could show was taken back"), next)
        }
        Err(PlanError::NothingShown) => {
            let fact = format!("the page of `{name}` shows nothing that was taken back");
            refuse(fact, "nothing: it is honest as it is")
        }
        Err(error) => Err(plan_error(lesson, error)),
    }
}
