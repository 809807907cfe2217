//! The documents against the code: exit codes, commands, links. Whatever a text names must be
//! there, and where a text is a list, nothing may lack.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args as _;
use clap::error::ErrorKind;
use proofrun::Exit;
use proofrun_core::assess::Assessment;
use proofrun_core::state::{AssessedRecord, EvidenceState, RecordState};
use proofrun_runner::commands::{check, record};
use support::course::LESSON;
use support::markdown::{quoted, read, root, table};
use support::{RecordPlan, Scratch};

/// The documents, by their paths from the root.
fn documents() -> Vec<Utf8PathBuf> {
    let mut found: Vec<Utf8PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(Into::into).into();
    for folder in ["research", "crates/proofrun/src/review"] {
        let entries = root().join(folder).read_dir_utf8().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_owned());
        found.extend(
            names.filter(|name| name.ends_with(".md")).map(|name| Utf8Path::new(folder).join(name)),
        );
    }
    assert!(found.len() > 5, "{found:?}");
    found
}

/// The lesson pages.
fn pages() -> Vec<Utf8PathBuf> {
    let lessons = proofrun_runner::course::lesson_folders(&root()).unwrap();
    lessons.iter().map(|folder| folder.join("README.md")).collect()
}

#[test]
fn the_exit_codes_are_those_of_the_code_in_its_order() {
    let rows = table(&read("README.md"), "| code | meaning |");
    let told: Vec<u8> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(told, Exit::ALL.map(Exit::code));
}

#[test]
fn the_command_table_has_every_command_and_no_other() {
    let rows = table(&read("README.md"), "| command | does |");
    let cells = rows.iter().flat_map(|row| quoted(&row[0]));
    let told: Vec<&str> = cells.filter_map(|command| command.split(' ').next()).collect();
    let command = proofrun::cli::command();
    let there: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), there);
    assert_eq!(told.len(), there.len(), "a command stands there twice");
}

/// How strictly a command in a text is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    /// To be typed.
    Typed,
    /// Named in prose, where not everything that it needs is repeated.
    Named,
}

/// What is wrong with a command line, if it is one of this project's.
fn fault(line: &str, how: As) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
    let (command, rest) = match words.as_slice() {
        ["cargo", "xtask", rest @ ..] | ["proofrun", rest @ ..] => (proofrun::cli::command(), rest),
        [program, rest @ ..] if program.ends_with("lesson-runner") => (runner(), rest),
        rest @ [first, ..] if how == As::Named => {
            let command = proofrun::cli::command();
            command.find_subcommand(first)?;
            (command, rest)
        }
        _ => return None,
    };
    // What a text leaves open, as a value of the right form.
    let open = |word: &&str| {
        match *word {
            "N" | "DAY" => "1",
            "TIME" => "30m",
            word => word,
        }
        .to_owned()
    };
    let arguments = std::iter::once("program".to_owned()).chain(rest.iter().map(open));
    let error = command.try_get_matches_from(arguments).err()?;
    let unfinished = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::InvalidValue
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingSubcommand
    );
    (how == As::Typed || !unfinished).then(|| format!("`{line}`: {error}"))
}

/// The command line of the runner, as far as documents use it.
fn runner() -> clap::Command {
    clap::Command::new("lesson-runner")
        .subcommand(record::Args::augment_args(clap::Command::new("record")))
        .subcommand(check::Args::augment_args(clap::Command::new("check")))
}

/// The commands of a Markdown text: lines of its code blocks, and what it quotes in prose.
fn commands(text: &str) -> Vec<(String, As)> {
    let mut found = Vec::new();
    let (mut in_block, mut prose) = (false, String::new());
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let typed = line.trim_start_matches("$ ").split(" # ").next().unwrap_or_default();
            let typed = typed.split(" > ").next().unwrap_or_default().trim();
            found.push((typed.rsplit(" | ").next().unwrap_or_default().to_owned(), As::Typed));
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let named = quoted(&prose).into_iter().map(|text| text.replace('\n', " "));
    found.extend(named.map(|text| (text, As::Named)));
    found
}

#[test]
fn every_command_in_the_documents_can_be_typed() {
    let mut wrong = String::new();
    let mut count = 0;
    for path in documents() {
        for (line, how) in commands(&read(&path)) {
            count += usize::from(line.starts_with("cargo xtask"));
            wrong.extend(fault(&line, how).map(|fault| format!("{path}: {fault}\n")));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 20, "only {count} commands were found");
}

#[test]
fn every_command_of_the_workflows_can_be_typed() {
    let mut count = 0;
    for path in [".github/workflows/ci.yml", ".ci/run"] {
        for line in read(path).lines() {
            let line = line.trim().trim_start_matches("- run: ").trim_start_matches("run: ");
            count += usize::from(line.contains("xtask") || line.contains("lesson-runner"));
            assert_eq!(fault(line, As::Typed), None, "{path}");
        }
    }
    assert!(count > 5, "only {count} commands were found");
}

#[test]
fn a_command_that_is_not_there_is_found() {
    for wrong in ["cargo xtask verfy", "cargo xtask verify --fast", "./lesson-runner record --all"]
    {
        assert!(fault(wrong, As::Typed).is_some(), "{wrong}");
    }
    assert!(fault("review --accept-all", As::Named).is_some());
    assert!(fault("withdraw", As::Typed).is_none());
    assert!(fault("withdraw", As::Named).is_none());
    let text = "a\n```sh\n$ ./a | cargo xtask compare x  # why\n```\n`b\nc`\n";
    let found = commands(text);
    let expect = [("cargo xtask compare x", As::Typed), ("b c", As::Named)];
    assert_eq!(found, expect.map(|(text, how)| (text.to_owned(), how)));
}

/// The targets within the repository that a Markdown text links to or shows.
fn links(text: &str) -> Vec<&str> {
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let shown = text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let outside =
        |link: &&str| ["http://", "https://", "mailto:", "#"].iter().any(|it| link.starts_with(it));
    let within = linked.chain(shown).filter(|link| !outside(link));
    within.filter_map(|link| link.split('#').next()).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut broken = String::new();
    let mut count = 0;
    for path in documents().into_iter().chain(pages()) {
        for link in links(&read(&path)) {
            count += 1;
            if !root().join(&path).with_file_name(link).exists() {
                broken.push_str(&format!("{path}: {link}\n"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{broken}");
    assert!(count > 10, "only {count} links were found");
}

#[test]
fn links_are_found_where_they_stand() {
    let text = "[a](b/c.md#d), ![x](y.svg) <img src=\"z.svg\"> [o](https://o.example) [h](#h)";
    assert_eq!(links(text), ["b/c.md", "y.svg", "z.svg"]);
}

/// What README's table says of a lesson, as it follows from the lesson's evidence: where it was
/// recorded, and whether that is reviewed.
fn told_of(folder: &Utf8Path) -> (String, &'static str) {
    let (course, findings) = proofrun_runner::course::course_files(&root()).unwrap().into_course();
    assert!(findings.is_empty(), "{findings:?}");
    let files = proofrun_runner::course::read_lesson(&root(), folder).unwrap();
    told(&proofrun_core::assess::assess(&files, &course))
}

fn told(assessment: &Assessment) -> (String, &'static str) {
    let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all_reviewed = true;
    for evidence in assessment.evidence.values() {
        let usable = |it: &&AssessedRecord| it.state == RecordState::Valid && it.is_of_today();
        let Some(record) = evidence.records.iter().find(usable) else { continue };
        let facts = &record.examined.record;
        variants.entry(facts.device.facts.name.clone()).or_default().push(facts.variant.clone());
        all_reviewed &= evidence.state == EvidenceState::Reviewed;
    }
    let of_model = variants.iter().map(|(model, variants)| {
        let variants: Vec<_> = variants.iter().map(|variant| format!("`{variant}`")).collect();
        format!("{model}: {}", variants.join(", "))
    });
    let recorded = of_model.collect::<Vec<_>>().join("; ");
    match (recorded.is_empty(), all_reviewed) {
        (true, _) => ("not yet".to_owned(), "no"),
        (false, true) => (recorded, "reviewed"),
        (false, false) => (recorded, "waits for a reviewer"),
    }
}

#[test]
fn the_table_of_lessons_says_what_their_evidence_says() {
    let rows = table(&read("README.md"), "| lesson | about | recorded | reviewed |");
    let link = |row: &Vec<String>| links(&row[0]).first().map(|link| (*link).to_owned());
    let linked: Vec<String> = rows.iter().filter_map(link).collect();
    assert_eq!(linked, pages(), "every lesson once, in order");
    let folders = proofrun_runner::course::lesson_folders(&root()).unwrap();
    for (row, folder) in rows.iter().zip(folders) {
        let (recorded, reviewed) = told_of(&folder);
        assert_eq!((&*row[2], &*row[3]), (&*recorded, reviewed), "{folder}");
    }
}

#[test]
fn the_words_of_that_table_follow_the_evidence() {
    let course = Scratch::with_lesson();
    let says = || told(&course.assess(LESSON));
    assert_eq!(says(), ("not yet".to_owned(), "no"));
    let record = course.record(LESSON, &RecordPlan::h200());
    assert_eq!(says(), ("NVIDIA H200: `sm_75`".to_owned(), "waits for a reviewer"));
    course.accept(LESSON, record);
    assert_eq!(says(), ("NVIDIA H200: `sm_75`".to_owned(), "reviewed"));
    course.record(LESSON, &RecordPlan::t4());
    let both = "NVIDIA H200: `sm_75`; Tesla T4: `sm_75`";
    assert_eq!(says(), (both.to_owned(), "waits for a reviewer"));
}
