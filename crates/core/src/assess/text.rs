//! A lesson's own files: manifest, programs, page; their digests, snippets, copies and commands.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::{Finding, Findings, Place, Rule, Severity};
use crate::lesson::{Lesson, LessonSource, Program, RawLesson, resolve};
use crate::page::{Page, Region, RegionKind, check_commands, check_snippets, measured_numbers};
use crate::publication::status_lines;
use crate::record::model::SourceRecord;
use crate::record::stale::Sources;
use crate::source::{
    Header, Include, check_copies, check_lexing, check_text, code_digest, conflict_markers, copies,
    includes, lex, merge_snippets, replace_status, snippets, text_digest,
};
use crate::state::{Pair, Shown};

use super::course::Course;
use super::files::{LessonFiles, MANIFEST_FILE, PAGE_FILE, Stranger};

/// How many files a program may include, so that a cycle or a monster ends.
const INCLUDES_MAX: usize = 256;

/// A lesson as it is written.
#[derive(Debug, Clone)]
pub struct LessonText {
    /// Resolved.
    pub lesson: Lesson,
    /// Its page; empty where there is none.
    pub page: Page,
    /// The digests of each program's source and of what it includes.
    pub sources: Sources,
}

impl LessonText {
    /// The page's path from the course's root.
    pub fn page_path(&self) -> &Utf8Path {
        &self.page.path
    }

    /// The body of a region as it stands.
    pub fn region_body(&self, region: &Region) -> &str {
        self.page.body(region)
    }

    /// The program that a region is of: the one it names, or the primary one.
    pub fn region_program(&self, region: &Region) -> Option<&Program> {
        match &region.program {
            None => Some(self.lesson.primary()),
            Some(name) => self.lesson.program(name),
        }
    }

    /// The pair that a region is of: the one it names, or the primary one.
    pub fn region_pair(&self, region: &Region, primary: Option<&Pair>) -> Option<Pair> {
        let named = region.target.as_ref();
        named.map(|target| Pair::new(&*target.model, &*target.variant)).or(primary.cloned())
    }

    /// The pairs that the page names.
    pub fn pairs_on_page(&self) -> BTreeSet<Pair> {
        let regions = self.page.regions.iter().filter_map(|region| region.target.as_ref());
        let holds = self.page.holds.iter().filter_map(|holds| holds.target.as_ref());
        regions.chain(holds).map(|target| Pair::new(&*target.model, &*target.variant)).collect()
    }
}

/// Reads a lesson's text.
///
/// # Errors
/// Everything found, when the manifest can't be resolved.
pub fn read(files: &LessonFiles, course: &Course) -> Result<(LessonText, Findings), Findings> {
    let mut reader = Reader { files, course, findings: Vec::new(), lexed: BTreeSet::new() };
    reader.strangers();
    let programs = reader.programs();
    let page = reader.page();
    let Some((lesson, page)) = reader.lesson(page, &programs) else {
        return Err(reader.findings);
    };
    let mut all_snippets = Vec::new();
    let mut sources = Sources::new();
    for program in &lesson.programs {
        let path = files.folder.join(&program.source);
        let Some(text) = programs.get(&program.source) else { continue };
        let (found, findings) = snippets(&path, text);
        reader.findings.extend(findings);
        all_snippets.push(found);
        reader.copies(&path, text);
        sources.insert(program.name.clone(), reader.sources_of(program, text));
        if files.get(PAGE_FILE).is_some() {
            let name = Utf8Path::new(&program.source);
            reader.findings.extend(check_commands(&program.header, &page, name));
        }
    }
    let (all_snippets, findings) = merge_snippets(all_snippets);
    reader.findings.extend(findings);
    if files.get(PAGE_FILE).is_some() {
        reader.findings.extend(check_snippets(&page, &all_snippets));
    }
    reader.findings.extend(measured_numbers(&page));
    Ok((LessonText { lesson, page, sources }, reader.findings))
}

struct Reader<'a> {
    files: &'a LessonFiles,
    course: &'a Course,
    findings: Findings,
    /// The files whose lexing was looked at.
    lexed: BTreeSet<Utf8PathBuf>,
}

impl Reader<'_> {
    fn strangers(&mut self) {
        for (path, stranger) in &self.files.strangers {
            let place = Place::file(self.files.folder.join(path));
            let (fact, next) = match stranger {
                Stranger::Link(to) => {
                    (format!("symbolic link to `{to}`"), "put the file itself here")
                }
                Stranger::Special => ("neither file nor folder".to_owned(), "remove it"),
                Stranger::TooLarge(bytes) => {
                    (format!("file of {bytes} bytes"), "keep large data outside the lesson")
                }
            };
            self.findings.push(Finding::error(Rule::Stranger, place, fact, next));
        }
    }

    /// The text of each source in the folder, by path within it.
    fn programs(&mut self) -> BTreeMap<Utf8PathBuf, String> {
        let mut programs = BTreeMap::new();
        for (path, bytes) in &self.files.files {
            let is_source = matches!(path.extension(), Some("cu" | "cuh" | "h" | "hpp"));
            if !is_source || self.files.is_kept(path) {
                continue;
            }
            let full = self.files.folder.join(path);
            if let Some(text) = self.text(&full, bytes)
                && path.extension() == Some("cu")
            {
                self.lexing(&full, &text);
                programs.insert(path.clone(), text);
            }
        }
        programs
    }

    /// What a digest of this file could not bind, once.
    fn lexing(&mut self, path: &Utf8Path, text: &str) {
        if self.lexed.insert(path.to_owned()) {
            self.findings.extend(check_lexing(path, &lex(text)));
        }
    }

    /// A text with its encoding and conflict markers looked at.
    fn text(&mut self, path: &Utf8Path, bytes: &[u8]) -> Option<String> {
        let (text, findings) = check_text(path, bytes);
        self.findings.extend(findings);
        let text = text?;
        self.findings.extend(conflict_markers(path, text));
        Some(text.to_owned())
    }

    fn page(&mut self) -> Page {
        let path = self.files.folder.join(PAGE_FILE);
        let Some(bytes) = self.files.get(PAGE_FILE) else {
            let next = "write it; `new` shows what belongs in it";
            let place = Place::file(&path);
            let fact = "the lesson has no page";
            self.findings.push(match self.files.has_evidence() {
                true => Finding::error(Rule::PageMissing, place, fact, next),
                false => Finding::warning(Rule::PageMissing, place, fact, next),
            });
            return Page::parse(path, "").0;
        };
        let text = self.text(&path, bytes).unwrap_or_default();
        let (page, findings) = Page::parse(path, &text);
        self.findings.extend(findings);
        page
    }

    fn lesson(
        &mut self,
        page: Page,
        programs: &BTreeMap<Utf8PathBuf, String>,
    ) -> Option<(Lesson, Page)> {
        let path = self.files.folder.join(MANIFEST_FILE);
        let bytes = self.files.get(MANIFEST_FILE).unwrap_or_default();
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.findings.extend(conflict_markers(&path, text));
        }
        let (raw, manifest) = match RawLesson::parse(&path, bytes) {
            Ok(read) => read,
            Err(findings) => {
                self.findings.extend(findings);
                return None;
            }
        };
        let title = page.title.as_ref().map(|title| title.text.as_str());
        let source = LessonSource { folder: &self.files.folder, manifest, title, programs };
        match resolve(&raw, source) {
            Ok((lesson, findings)) => {
                self.findings.extend(findings);
                Some((lesson, page))
            }
            Err(findings) => {
                self.findings.extend(findings);
                None
            }
        }
    }

    fn copies(&mut self, path: &Utf8Path, text: &str) {
        let (found, findings) = copies(path, text);
        self.findings.extend(findings);
        self.findings.extend(check_copies(path, &found, &self.course.common));
    }

    /// The digests of all sources that a program's build names, and of each repository file that
    /// they include, sorted by path. The build sees no other file.
    fn sources_of(&mut self, program: &Program, text: &str) -> Vec<SourceRecord> {
        let start = self.files.folder.join(&program.source);
        let mut seen = BTreeSet::from([start.clone()]);
        let mut rows = vec![row(&start, text)];
        let mut queue = vec![(start.clone(), text.to_owned())];
        for named in program.build.sources() {
            let Some(path) = joined(&start, named.as_str()) else { continue };
            if !seen.insert(path.clone()) {
                continue;
            }
            match self.included(&path) {
                Some(text) => {
                    self.lexing(&path, &text);
                    rows.push(row(&path, &text));
                    queue.push((path, text));
                }
                None => self.include_finding(&start, 1, format!("`{named}` is not in the course")),
            }
        }
        while let Some((path, text)) = queue.pop() {
            for include in includes(&text) {
                let Some((target, included)) = self.find(program, &path, &include) else {
                    continue;
                };
                if !seen.insert(target.clone()) || seen.len() > INCLUDES_MAX {
                    continue;
                }
                self.lexing(&target, &included);
                rows.push(row(&target, &included));
                queue.push((target, included));
            }
        }
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        rows
    }

    /// The course's file that an include means, as a compiler looks for it: beside the source where
    /// it is quoted, then in the folders of `-I`. What isn't there is a finding, unless the toolkit
    /// may have it.
    fn find(
        &mut self,
        program: &Program,
        from: &Utf8Path,
        include: &Include,
    ) -> Option<(Utf8PathBuf, String)> {
        let beside = joined(from, &include.path);
        if include.quoted && beside.is_none() {
            let fact = format!("`{}` leads out of the course", include.path);
            self.include_finding(from, include.line, fact);
            return None;
        }
        let source = self.files.folder.join(&program.source);
        let folders = program.build.include_folders().iter();
        let named = folders.filter_map(|folder| {
            let folder = joined(&self.files.folder.join(MANIFEST_FILE), folder.as_str())?;
            joined(&folder.join(source.file_name()?), &include.path)
        });
        let all = beside.filter(|_| include.quoted).into_iter().chain(named);
        let found = all.filter_map(|path| Some((path.clone(), self.included(&path)?))).next();
        // Quotes may also find a header of the toolkit: then the compiler finds it, or says that it
        // can't.
        if found.is_none() && include.quoted && !is_toolkit_header(&include.path) {
            let fact = format!("`{}` is not in the course", include.path);
            self.include_finding(from, include.line, fact);
        }
        found
    }

    fn included(&self, path: &Utf8Path) -> Option<String> {
        let own = path.strip_prefix(&self.files.folder).ok().and_then(|path| self.files.get(path));
        let bytes = own.or_else(|| self.files.included.get(path).map(Vec::as_slice))?;
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn include_finding(&mut self, path: &Utf8Path, line: u32, fact: String) {
        let next = "put the file into the lesson's folder, or use `<…>` for the toolkit's headers";
        let mut finding = Finding::error(Rule::IncludeMissing, Place::line(path, line), fact, next);
        finding.severity = Severity::Error;
        self.findings.push(finding);
    }
}

fn row(path: &Utf8Path, text: &str) -> SourceRecord {
    let written = as_unverified(path, text);
    SourceRecord {
        path: path.to_string(),
        // The text was read, so it is UTF-8 and within the limit; a digest of nothing would differ
        // from any record.
        text: text_digest(written.as_bytes()).unwrap_or_else(|_| crate::Digest::of("")),
        code: code_digest(text),
    }
}

/// The text with its status paragraph in the UNVERIFIED form. That paragraph is the harness's own:
/// publishing must not look like an edit since the record.
fn as_unverified(path: &Utf8Path, text: &str) -> String {
    let (header, _) = Header::parse(path, text);
    let Some(paragraph) = &header.status else { return text.to_owned() };
    let blank = status_lines(&Pair::new("", ""), &Shown::Blank, "");
    // A paragraph that was parsed can be replaced.
    replace_status(text, paragraph, &blank).unwrap_or_else(|_| text.to_owned())
}

/// A path named in a file, from the course's root; `None` where it leads out of the course.
pub fn joined(from: &Utf8Path, named: &str) -> Option<Utf8PathBuf> {
    let mut parts: Vec<&str> = from.parent()?.components().map(|part| part.as_str()).collect();
    if named.starts_with('/') {
        return None;
    }
    for part in named.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/").into())
}

/// Headers that programs commonly include with quotes although the toolkit brings them.
fn is_toolkit_header(path: &str) -> bool {
    path.starts_with("cuda") || path.starts_with("cooperative_groups") || path.starts_with("nv")
}

/// The regions of a page that hold a rendering.
pub fn record_regions(page: &Page) -> impl Iterator<Item = (usize, &Region)> {
    page.regions.iter().enumerate().filter(|(_, region)| region.kind == RegionKind::Record)
}
