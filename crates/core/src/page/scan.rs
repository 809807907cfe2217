//! Reading a page, line by line.

use camino::Utf8Path;

use super::fence::Fence;
use super::marker::{self, Marker};
use super::prose::without_inline_code;
use super::stack::Stack;
use super::{CodeBlock, Holds, Page, Region, Title};
use crate::finding::{Finding, Findings, Place, Rule};
use crate::source::{TextLine, lines, quote};

pub(super) fn scan(path: &Utf8Path, text: &str) -> (Page, Findings) {
    let page = Page {
        path: path.to_owned(),
        text: text.to_owned(),
        title: None,
        regions: Vec::new(),
        holds: Vec::new(),
        blocks: Vec::new(),
        prose: Vec::new(),
    };
    let mut scan = Scan { page, stack: Stack::new(path), fence: None, comment: None };
    lines(text).for_each(|line| scan.line(&line));
    scan.finish()
}

struct Scan<'a> {
    page: Page,
    stack: Stack<'a>,
    /// The open fence, its line, and the block so far.
    fence: Option<(Fence, u32, String)>,
    /// The line on which the open HTML comment of several lines starts.
    comment: Option<u32>,
}

impl Scan<'_> {
    fn line(&mut self, line: &TextLine<'_>) {
        if let Some((fence, opened, mut text)) = self.fence.take() {
            if fence.closed_by(line.text) {
                return self.block(fence, opened, text);
            }
            text.push_str(fence.content(line.text));
            text.push('\n');
            self.fence = Some((fence, opened, text));
            return;
        }
        if self.comment.is_none() {
            if let Some(fence) = Fence::opens(line.text) {
                self.fence = Some((fence, line.number, String::new()));
                return;
            }
            self.title(line);
        }
        self.comments(line);
        if self.stack.outermost().is_none() {
            self.page.prose.push((line.number, line.start..line.start + line.text.len()));
        }
    }

    fn title(&mut self, line: &TextLine<'_>) {
        let heading = line.text.strip_prefix("# ").map(|rest| rest.trim().trim_end_matches('#'));
        let heading = heading.map(str::trim_end).filter(|heading| !heading.is_empty());
        if let (None, None, Some(text)) = (&self.page.title, self.stack.outermost(), heading) {
            self.page.title = Some(Title { text: text.to_owned(), line: line.number });
        }
    }

    fn block(&mut self, fence: Fence, opened: u32, text: String) {
        let first_line = opened.saturating_add(1);
        let block = CodeBlock { info: fence.info, first_line, text, region: None };
        self.page.blocks.push(block);
    }

    /// The HTML comments of a line outside of fences.
    fn comments(&mut self, line: &TextLine<'_>) {
        // What opens a comment may be inline code; what closes one never is.
        let shown = without_inline_code(line.text);
        let mut at = 0;
        if let Some(opened) = self.comment {
            if let Some(hidden) = line.text.find("<!--").map(|start| &line.text[start..]) {
                self.hidden_marker(hidden, line.number, opened);
            }
            let Some(end) = line.text.find("-->") else { return };
            self.comment = None;
            at = end + "-->".len();
        }
        while let Some(start) = shown[at..].find("<!--").map(|length| at + length) {
            let Some(length) = line.text[start + 4..].find("-->") else {
                self.comment = Some(line.number);
                return;
            };
            at = start + 4 + length + 3;
            let alone = start == 0 && at == line.text.len();
            self.comment_of_a_line(&line.text[start..at], alone, line);
        }
    }

    /// A marker's text inside a comment of several lines.
    fn hidden_marker(&mut self, hidden: &str, line: u32, opened: u32) {
        let end = hidden.find("-->").map_or(hidden.len(), |end| end + 3);
        if marker::parse(&hidden[..end]).is_some() {
            let fact = format!("a marker stands inside of the comment that line {opened} opens");
            self.stack.finding(
                Rule::RegionMarker,
                line,
                fact,
                "close the comment with `-->` first",
            );
        }
    }

    fn comment_of_a_line(&mut self, comment: &str, alone: bool, line: &TextLine<'_>) {
        let Some(found) = marker::parse(comment) else { return };
        let number = line.number;
        let fault = |cause: String| {
            let fact = format!("{} is no marker", quote(comment));
            let next = "correct it; in a fenced code block or inline code it is literal text";
            Finding::error(Rule::RegionMarker, Place::line(&self.page.path, number), fact, next)
                .because(cause)
        };
        match found {
            Marker::Misspelt(near) => {
                let fact = format!("{} looks like a misspelt `{near}` marker", quote(comment));
                let place = Place::line(&self.page.path, number);
                let next = format!("write `{near}`, or another word");
                let finding = Finding::warning(Rule::RegionMarker, place, fact, next);
                self.stack.findings.push(finding);
            }
            Marker::Faulty(cause) => self.stack.findings.push(fault(cause)),
            _ if !alone => {
                let cause = "a marker stands alone on its line, from column 1".to_owned();
                self.stack.findings.push(fault(cause));
            }
            Marker::Start { kind, name, program, target } => {
                self.stack.start((kind, name, program, target), number, line.end);
            }
            Marker::End(kind) => self.stack.end(kind, number, line.start),
            Marker::Holds { left, op, right, target } => {
                if let Some((outer, _)) = self.stack.outermost() {
                    let fact = format!("an assertion stands inside of {outer}");
                    let next = "move it out of the region";
                    return self.stack.finding(Rule::RegionNested, number, fact, next);
                }
                self.page.holds.push(Holds { left, op, right, target, line: number });
            }
        }
    }

    fn finish(mut self) -> (Page, Findings) {
        if let Some((fence, opened, text)) = self.fence.take() {
            let fact = "a fenced code block is never closed".to_owned();
            let next = "close it with a fence at least as long";
            self.stack.finding(Rule::PageFence, opened, fact, next);
            self.block(fence, opened, text);
        }
        if let Some(opened) = self.comment {
            let fact = "a comment is never closed".to_owned();
            self.stack.finding(Rule::RegionMarker, opened, fact, "add `-->`");
        }
        self.stack.finish();
        if self.page.title.is_none() {
            let fact = "the page has no title".to_owned();
            let next = "start it with a line `# Title`";
            self.stack.finding(Rule::PageTitle, 1, fact, next);
        }
        self.page.regions = self.stack.regions;
        assign_regions(&mut self.page.blocks, &self.page.regions);
        let mut findings = self.stack.findings;
        findings.sort_by_key(|finding| finding.place.line);
        (self.page, findings)
    }
}

/// Both lists are in document order.
fn assign_regions(blocks: &mut [CodeBlock], regions: &[Region]) {
    let mut at = 0;
    for block in blocks {
        while regions.get(at).is_some_and(|region| region.close_line < block.first_line) {
            at += 1;
        }
        let holds = regions.get(at).is_some_and(|region| region.open_line < block.first_line);
        block.region = holds.then_some(at);
    }
}
