//! Snippet regions: what a page shows of its programs equals the programs.

use std::collections::{BTreeMap, BTreeSet};

use super::marker::RegionKind;
use super::{Page, Region};
use crate::finding::{Finding, Findings, Place, Rule};
use crate::source::{Snippet, differing_line, lf_normalised, quote};

/// What a snippet region holds: the text in a fence that is longer than any run of backticks in it.
pub fn snippet_body(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}cuda\n{text}{line_end}{fence}\n")
}

/// What makes a page's snippet regions equal to the snippets, for [`Page::replace_regions`]: the
/// regions that differ, those of unknown snippets left alone.
pub fn snippet_edits(page: &Page, snippets: &BTreeMap<String, Snippet>) -> Vec<(usize, String)> {
    let edit = |(index, region): (usize, &Region)| {
        let snippet = snippets.get(&region.name).filter(|_| region.kind == RegionKind::Snippet)?;
        let body = snippet_body(&snippet.text);
        (lf_normalised(page.body(region)) != body).then_some((index, body))
    };
    page.regions.iter().enumerate().filter_map(edit).collect()
}

/// Compares a page's snippet regions with the snippets of the lesson's programs: each that is named
/// exists and is shown as it is, and each that exists is shown.
pub fn check_snippets(page: &Page, snippets: &BTreeMap<String, Snippet>) -> Findings {
    let regions = || page.regions.iter().filter(|region| region.kind == RegionKind::Snippet);
    let shown: BTreeSet<&str> = regions().map(|region| region.name.as_str()).collect();
    let compare = |region| compare(page, region, snippets);
    let mut findings: Findings = regions().filter_map(compare).collect();
    for snippet in snippets.values().filter(|snippet| !shown.contains(snippet.name.as_str())) {
        let place = Place::line(&snippet.path, snippet.first_line.saturating_sub(1));
        let fact = format!("snippet `{}` is not shown in `{}`", snippet.name, page.path);
        let next = format!("add `<!-- snippet: {} -->` there, or remove the markers", snippet.name);
        findings.push(Finding::error(Rule::SnippetUnused, place, fact, next));
    }
    findings
}

fn compare(page: &Page, region: &Region, snippets: &BTreeMap<String, Snippet>) -> Option<Finding> {
    let name = &region.name;
    let Some(snippet) = snippets.get(name) else {
        let place = Place::line(&page.path, region.open_line);
        let fact = format!("no program of the lesson has a snippet `{name}`");
        let next = format!("add `// snippet: {name}` to the program, or correct the name");
        return Some(Finding::error(Rule::SnippetMissing, place, fact, next));
    };
    let (body, expect) = (lf_normalised(page.body(region)), snippet_body(&snippet.text));
    let (line, here, there) = differing_line(&body, &expect)?;
    let show = |line: Option<&str>| line.map_or("nothing more".to_owned(), quote);
    let place = Place::line(&page.path, region.open_line.saturating_add(line));
    let fact = match body.trim().is_empty() {
        true => format!("snippet region `{name}` is empty"),
        false => format!("snippet region `{name}` differs from `{}`", snippet.path),
    };
    let cause = format!("here {}, there {}", show(here), show(there));
    let next = "edit the program, then run `cargo xtask sync`";
    Some(Finding::error(Rule::SnippetDiffers, place, fact, next).because(cause))
}

#[cfg(test)]
#[path = "snippets_tests.rs"]
mod tests;
