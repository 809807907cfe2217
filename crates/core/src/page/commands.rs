//! The page shows the program's own commands: what a reader copies is what was built and run.

use camino::Utf8Path;

use super::marker::RegionKind;
use super::{CodeBlock, Page};
use crate::finding::{Finding, Findings, Place, Rule};
use crate::source::{CommandLine, Header, quote};

/// Compares a page with a program's header. The `Build:` and `Run:` commands are lines, in this
/// order and as they are, of one fenced code block outside of record and emulated regions; and no
/// such block shows another build of the program, unless the word `variant` is in the block's info
/// string.
///
/// A command that the header lacks is not asked for: that is a finding of the header's.
pub fn check_commands(header: &Header, page: &Page, program: &Utf8Path) -> Findings {
    let is_record = |block: &&CodeBlock| {
        let region = block.region.and_then(|index| page.regions.get(index));
        region.is_some_and(|region| region.kind != RegionKind::Snippet)
    };
    let blocks: Vec<_> = page.blocks.iter().filter(|block| !is_record(block)).collect();
    let mut findings = check_shown(header, page, program, &blocks);
    for block in blocks.iter().filter(|block| !is_variant(block)) {
        for (line, command) in commands(block) {
            let build = header.build.as_ref();
            let same = build.is_some_and(|build| build.text == command);
            if same || build.is_none() || !builds(&command, program) {
                continue;
            }
            let fact = format!("{} builds `{program}` in another way", quote(&command));
            let cause = "the header's `Build:` line is the build that is recorded";
            let next = "write the header's command, or put `variant` behind the fence's language";
            let place = Place::line(&page.path, line);
            findings.push(Finding::error(Rule::CommandsDiffer, place, fact, next).because(cause));
        }
    }
    findings
}

fn check_shown(
    header: &Header,
    page: &Page,
    program: &Utf8Path,
    blocks: &[&CodeBlock],
) -> Findings {
    let wanted: Vec<&CommandLine> = [&header.build, &header.run].into_iter().flatten().collect();
    let shows_all = |block: &&CodeBlock| {
        let mut lines = block.text.lines();
        wanted.iter().all(|command| lines.any(|line| line == command.text))
    };
    if wanted.is_empty() || blocks.iter().any(shows_all) {
        return Findings::new();
    }
    let mut findings = Findings::new();
    for command in &wanted {
        let shown = |block: &&CodeBlock| block.text.lines().any(|line| line == command.text);
        if !blocks.iter().any(shown) {
            let fact = format!("no code block shows the line {}", quote(&command.text));
            let cause = format!("line {} of `{program}` has it", command.line);
            let next = "copy the line from the program's header into one fenced code block";
            let place = Place::file(&page.path);
            findings.push(Finding::error(Rule::CommandsDiffer, place, fact, next).because(cause));
        }
    }
    if findings.is_empty() {
        let fact = format!("the commands of `{program}` are not shown in order in one code block");
        let next = "put the `Build:` line above the `Run:` line in one fenced code block";
        let place = Place::file(&page.path);
        findings.push(Finding::error(Rule::CommandsDiffer, place, fact, next));
    }
    findings
}

fn is_variant(block: &CodeBlock) -> bool {
    block.info.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "variant")
}

/// The commands of a block with the line each starts on; a backslash at a line's end goes on.
fn commands(block: &CodeBlock) -> Vec<(u32, String)> {
    let mut commands: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (line, number) in block.text.lines().zip(block.first_line..) {
        let (text, continued) = match line.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (line, false),
        };
        match commands.last_mut().filter(|_| goes_on) {
            Some((_, command)) => command.push_str(text),
            None => commands.push((number, text.to_owned())),
        }
        goes_on = continued;
    }
    commands
}

/// Whether a line runs nvcc on this program, a shell's prompt or variables before it aside.
fn builds(command: &str, program: &Utf8Path) -> bool {
    let file_name =
        |word: &str| word.trim_matches(['"', '\'']).rsplit('/').next().map(str::to_owned);
    let mut words = command.split_whitespace().filter_map(file_name);
    words.any(|word| word == "nvcc") && words.any(|word| Some(word.as_str()) == program.file_name())
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
