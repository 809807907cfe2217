//! `sync`: pages show their programs' snippets, programs hold the course's common pieces, and both
//! are blank where nothing may be shown.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{PAGE_FILE, Unfounded, is_tampering, unfounded};
use proofrun_core::escape::escape;
use proofrun_core::finding::Findings;
use proofrun_core::page::{Page, check_snippets, snippet_edits};
use proofrun_core::publication::blank_lines;
use proofrun_core::source::{
    Header, Snippet, code_digest, copies, merge_snippets, replace_copies, replace_status, snippets,
};
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::system::transaction::Transaction;
use similar::TextDiff;

use crate::attention::records;
use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{JOURNAL_FOLDER, Loaded, LoadedLesson, Selection};
use crate::report::terminal::finding_block;
use crate::words::count;

/// Writes snippets into pages, common pieces into programs, and the blank text where it belongs.
///
/// A page's `snippet` regions get what the program holds between its markers; a program's marked
/// copies get what `lessons/common/` holds. Where nothing may be shown of a lesson, its `record`
/// regions and status paragraphs get the blank text back; what a reviewed record or a withdrawal
/// says is never touched. A copy that changes a program's code makes its records stale: `--dry-run`
/// names them first.
#[derive(Debug, clap::Args)]
pub struct Sync {
    /// Lessons to write, by name, folder or `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// Write nothing: show what would change, and which records that would stale.
    #[arg(long)]
    dry_run: bool,
}

/// A file and what it shall hold.
#[derive(Debug)]
struct Change {
    /// Relative to the course's root.
    path: Utf8PathBuf,
    old: String,
    new: String,
    /// What gets its blank text back, in words.
    blanks: Vec<String>,
    /// Records of today that this makes stale, in words.
    stales: Vec<String>,
    is_page: bool,
}

impl Sync {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read, or a file can't be written.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&self.lessons), context)?;
        let (mut changes, mut findings) = (Vec::new(), Findings::new());
        let sound = !loaded.findings.iter().any(is_tampering);
        for lesson in &loaded.lessons {
            let unfounded =
                if sound { unfounded(&lesson.assessment) } else { Unfounded::default() };
            let task = Task { lesson, common: &loaded.course.common, unfounded };
            changes.extend(task.changes(context.name, &mut findings));
        }
        if !self.dry_run && !changes.is_empty() {
            context.go_on()?;
            let mut transaction = Transaction::new(root.state().join(JOURNAL_FOLDER))?;
            for change in &changes {
                transaction.write(root.path().join(&change.path), change.new.as_bytes());
            }
            transaction.commit()?;
        }
        for finding in &findings {
            context.note(finding_block(finding));
        }
        context.say(told(&changes, self.dry_run));
        Ok(Exit::of(&findings))
    }
}

/// A lesson, and what its files should hold.
struct Task<'a> {
    lesson: &'a LoadedLesson,
    common: &'a BTreeMap<String, String>,
    unfounded: Unfounded,
}

impl Task<'_> {
    /// What the lesson's files should hold and don't. Faulty markers are left alone, with a
    /// finding: what they mean is unknown.
    fn changes(&self, called: &str, findings: &mut Findings) -> Vec<Change> {
        let (mut changes, mut all_snippets) = (Vec::new(), Vec::new());
        let mut sound = true;
        for (path, old) in self.lesson.files.sources() {
            let full = self.lesson.files.folder.join(&path);
            let (found, faults) = copies(&full, &old);
            let mut new = match faults.is_empty() {
                true => replace_copies(&old, &found, self.common),
                false => old.clone(),
            };
            findings.extend(faults);
            let blanked = self.blanked(&path, &new, called);
            let blanks = blanked.iter().map(|_| "the status paragraph".to_owned()).collect();
            new = blanked.unwrap_or(new);
            let (found, faults) = snippets(&full, &new);
            sound &= faults.is_empty();
            findings.extend(faults);
            all_snippets.push(found);
            if new != old {
                let stales = staled(self.lesson, &full, &old, &new);
                changes.push(Change { path: full, old, new, blanks, stales, is_page: false });
            }
        }
        let (all_snippets, faults) = merge_snippets(all_snippets);
        sound &= faults.is_empty();
        findings.extend(faults);
        changes.extend(self.page(&all_snippets, sound, findings));
        changes
    }

    /// A program with the blank paragraph, where its own says what nothing supports.
    fn blanked(&self, path: &Utf8Path, text: &str, called: &str) -> Option<String> {
        self.unfounded.programs.iter().find(|program| *program == path)?;
        let (header, _) = Header::parse(path, text);
        replace_status(text, &header.status?, &blank_lines(called)).ok()
    }

    /// The page with its snippets, where those of all programs could be read, and its blank text.
    fn page(
        &self,
        all_snippets: &BTreeMap<String, Snippet>,
        sound: bool,
        findings: &mut Findings,
    ) -> Option<Change> {
        let files = &self.lesson.files;
        let old = std::str::from_utf8(files.get(PAGE_FILE)?).ok()?;
        let path = files.folder.join(PAGE_FILE);
        let (page, faults) = Page::parse(&path, old);
        if !faults.is_empty() {
            findings.extend(faults);
            return None;
        }
        let mut edits = self.unfounded.regions.clone();
        let named =
            |(index, _): &(usize, String)| format!("region `{}`", page.regions[*index].name);
        let blanks = edits.iter().map(named).collect();
        if sound {
            edits.extend(snippet_edits(&page, all_snippets));
            let unfilled = check_snippets(&page, all_snippets).into_iter();
            findings.extend(unfilled.filter(|finding| finding.rule == Rule::SnippetMissing));
        }
        match page.replace_regions(&edits) {
            Ok(new) if new == old => None,
            Ok(new) => {
                let (old, stales) = (old.to_owned(), Vec::new());
                Some(Change { path, old, new, blanks, stales, is_page: true })
            }
            Err(error) => {
                let fact = "a snippet can't be written into the page";
                let next = "change the snippet so that it holds no marker of a page";
                let finding = Finding::error(Rule::SnippetDiffers, Place::file(&path), fact, next);
                findings.push(finding.because(error));
                None
            }
        }
    }
}

/// The records of today's inputs whose code a change of this file changes.
fn staled(lesson: &LoadedLesson, path: &Utf8Path, old: &str, new: &str) -> Vec<String> {
    if code_digest(old) == code_digest(new) {
        return Vec::new();
    }
    let of_today = records(&lesson.assessment).filter(|record| record.is_of_today());
    let binding = of_today.filter(|record| {
        let programs = record.examined.record.program.iter();
        let mut sources = programs.flat_map(|program| &program.build.source);
        sources.any(|source| source.path == path.as_str())
    });
    let named = binding.map(|record| {
        let facts = &record.examined.record;
        let digest = record.examined.digest.short();
        format!("record {digest} of {}/{}", facts.model(), facts.variant)
    });
    named.collect::<BTreeSet<_>>().into_iter().collect()
}

fn told(changes: &[Change], dry_run: bool) -> String {
    if changes.is_empty() {
        return "no snippet, copy or blank to write\n".to_owned();
    }
    let mut text = String::new();
    for change in changes {
        if dry_run {
            text.push_str(&diff(change));
        } else {
            text.push_str(&format!("wrote  {}\n", escape(change.path.as_str(), false)));
        }
        for part in &change.blanks {
            let verb = if dry_run { "would put" } else { "put" };
            text.push_str(&format!("  {verb} the blank text back into {}\n", escape(part, false)));
        }
        text.push_str(&consequence(change, dry_run));
    }
    let files = count(changes.len(), "file");
    text + &if dry_run { format!("{files} to write\n") } else { format!("{files} written\n") }
}

/// The change as a unified diff, with nothing in it that moves a cursor.
fn diff(change: &Change) -> String {
    let (before, after) = (format!("a/{}", change.path), format!("b/{}", change.path));
    let diff = TextDiff::from_lines(&change.old, &change.new);
    escape(&diff.unified_diff().header(&before, &after).to_string(), true)
}

fn consequence(change: &Change, dry_run: bool) -> String {
    let verb = if dry_run { "would stale" } else { "stales" };
    if !change.stales.is_empty() {
        let stales = change.stales.iter().map(|record| format!("  {verb} {record}\n"));
        return stales.collect();
    }
    if change.is_page {
        return String::new();
    }
    let what = match code_digest(&change.old) == code_digest(&change.new) {
        true => "only comments and white space change",
        false => "the code changes, and no record is of today's code",
    };
    format!("  {verb} nothing: {what}\n")
}
