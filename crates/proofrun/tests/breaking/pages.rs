//! What a published lesson says, broken line by line: page, header, program, snapshot.

use camino::Utf8PathBuf;
use proofrun_core::Class;

use crate::fixture::{Changes, Expect, Fixture, ONE, TWO, Table, change};
use crate::ops::{ByteOp, LineOp};

const DRIFT: Expect = Expect::Fails(Class::Drift);

/// What a line of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Title,
    Prose,
    Holds,
    Fence,
    Build,
    Run,
    Marker,
    Body,
}

/// What each line of the page is, told by a reader of its own that knows no more than the fixture
/// needs.
pub fn parts(page: &str) -> Vec<Part> {
    let (mut in_region, mut in_fence) = (false, false);
    let part = |line: &str| {
        if line.starts_with("<!-- end ") {
            in_region = false;
            return Part::Marker;
        }
        if in_region {
            return Part::Body;
        }
        if line.starts_with("```") {
            in_fence = !in_fence;
            return Part::Fence;
        }
        match line {
            _ if line.starts_with("<!-- holds:") => Part::Holds,
            _ if line.starts_with("<!-- ") => {
                in_region = true;
                Part::Marker
            }
            _ if in_fence && line.starts_with("nvcc") => Part::Build,
            _ if in_fence => Part::Run,
            _ if line.starts_with("# ") => Part::Title,
            _ => Part::Prose,
        }
    };
    page.lines().map(part).collect()
}

fn of_page(part: Part, next: Option<Part>, op: LineOp) -> Expect {
    match (part, op) {
        // The marker moves up, and its region holds a line more.
        (Part::Prose, LineOp::Reorder) if next == Some(Part::Marker) => DRIFT,
        (Part::Marker | Part::Body, _) => DRIFT,
        (Part::Title, LineOp::Drop | LineOp::Empty) => DRIFT,
        (Part::Title, _) => Expect::Harmless("a title may be any"),
        (Part::Prose, _) => Expect::Harmless("prose is the author's"),
        (Part::Holds, LineOp::Truncate) => DRIFT,
        (Part::Holds, LineOp::Flip) => {
            Expect::Harmless("a comment that is no assertion asserts nothing; it is warned of")
        }
        (Part::Holds, _) => Expect::Harmless("an author may claim less, twice, or a line later"),
        (Part::Fence, LineOp::Flip) => Expect::Harmless("the word behind a fence only colours it"),
        (Part::Fence, LineOp::Duplicate) if next == Some(Part::Build) => {
            Expect::Harmless("a fence with a word inside of a block is literal text")
        }
        (Part::Fence, LineOp::Reorder) if next == Some(Part::Prose) => {
            Expect::Harmless("the block ends with a blank line")
        }
        (Part::Run, LineOp::Duplicate) => Expect::Harmless("a program may be run twice"),
        (Part::Build, LineOp::Duplicate) => Expect::Harmless("the same build twice is that build"),
        (Part::Fence | Part::Build | Part::Run, _) => DRIFT,
    }
}

#[test]
fn every_line_of_a_published_page() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let path = Utf8PathBuf::from(format!("lessons/{ONE}/README.md"));
    let page = String::from_utf8(fixture.files[&path].clone()).unwrap();
    let parts = parts(&page);
    for (at, part) in parts.iter().copied().enumerate() {
        let next = parts.get(at + 1).copied();
        for op in LineOp::ALL {
            let Some(changed) = op.apply(&page, at) else { continue };
            table.row(
                &format!("line {} {part:?} {op:?}", at + 1),
                &change(&path, changed),
                of_page(part, next, op),
            );
        }
    }
    table.end(150);
}

/// What breaking a line of the program's header comes to.
fn of_header(line: &str, next: &str, op: LineOp) -> Expect {
    let is_status = |line: &str| line.starts_with("// Status:");
    let is_command = |line: &str| line.starts_with("// Build:") || line.starts_with("// Run:");
    match op {
        LineOp::Reorder if is_status(next) => DRIFT,
        LineOp::Reorder if is_command(line) => {
            Expect::Harmless("the commands stand in either order")
        }
        _ if is_status(line) || line.starts_with("//   ") || is_command(line) => DRIFT,
        // The comment block ends there, before the status.
        LineOp::Empty => DRIFT,
        LineOp::Truncate if line == "//" => DRIFT,
        _ => Expect::Harmless("free text, without a command or a status in it"),
    }
}

#[test]
fn every_line_of_a_published_header() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let path = Utf8PathBuf::from(format!("lessons/{ONE}/scale.cu"));
    let source = String::from_utf8(fixture.files[&path].clone()).unwrap();
    let header: Vec<&str> = source.lines().take_while(|line| line.starts_with("//")).collect();
    for (at, line) in header.iter().enumerate() {
        for op in LineOp::ALL {
            let Some(changed) = op.apply(&source, at) else { continue };
            let next = header.get(at + 1).copied().unwrap_or_default();
            let what = format!("header line {} {op:?}", at + 1);
            table.row(&what, &change(&path, changed), of_header(line, next, op));
        }
    }
    table.end(35);
}

#[test]
fn every_line_of_code() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    for name in ["scale.cu", "piece.cuh"] {
        let path = Utf8PathBuf::from(format!("lessons/{ONE}/{name}"));
        let source = String::from_utf8(fixture.files[&path].clone()).unwrap();
        let start = source.lines().take_while(|line| line.starts_with("//")).count();
        let mut in_snippet = false;
        for (at, line) in source.lines().enumerate().skip(start) {
            in_snippet |= line.starts_with("// snippet");
            // A truncated line may be an unclosed string, and two swapped ones the same code: those
            // have no one answer.
            for op in [LineOp::Flip, LineOp::Drop, LineOp::Duplicate] {
                let Some(changed) = op.apply(&source, at) else { continue };
                let expect = match line {
                    "" if in_snippet => DRIFT,
                    "" => Expect::Harmless("white space is no code"),
                    _ if in_snippet => DRIFT,
                    _ => Expect::Stales,
                };
                table.row(&format!("{name}:{} {op:?}", at + 1), &change(&path, changed), expect);
            }
            in_snippet &= !line.starts_with("// end snippet");
        }
    }
    table.end(20);
}

#[test]
fn every_text_file_as_a_whole() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let own = fixture.below(&format!("lessons/{ONE}"));
    let texts = own.iter().filter(|(path, _)| path.iter().count() == 3);
    for (path, bytes) in texts {
        table.row(&format!("{path} dropped"), &Changes::from([(path.clone(), None)]), DRIFT);
        let other = &fixture.files[&Utf8PathBuf::from(path.as_str().replace(ONE, TWO))];
        table.row(&format!("{path} swapped"), &change(path, other.clone()), DRIFT);
        if path.extension() != Some("cuh") {
            for op in [ByteOp::Empty, ByteOp::Duplicate, ByteOp::Reorder] {
                let changed = op.apply(bytes).unwrap();
                table.row(&format!("{path} {op:?}"), &change(path, changed), DRIFT);
            }
        }
        for (what, bytes) in hostile(bytes) {
            table.row(&format!("{path} {what}"), &change(path, bytes), DRIFT);
        }
    }
    table.end(35);
}

/// A text as tools and merges leave it.
fn hostile(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let conflict = b"<<<<<<< ours\n=======\n>>>>>>> theirs\n";
    vec![
        ("with a byte order mark", [b"\xef\xbb\xbf", bytes].concat()),
        ("that is not UTF-8", [bytes, b"// \xff\n"].concat()),
        ("with a conflict", [bytes, conflict].concat()),
        ("with an override of the writing direction", [bytes, "// \u{202e}\n".as_bytes()].concat()),
        ("of 2 MB", [bytes, &b"// x\n".repeat(400_000)].concat()),
        ("of 20 MB", [bytes, &b"// x\n".repeat(4_000_000)].concat()),
    ]
}

#[test]
fn every_snapshot() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let snapshots = fixture.below(&format!("lessons/{ONE}/snapshots"));
    assert_eq!(snapshots.len(), 1);
    for (path, bytes) in snapshots {
        for op in ByteOp::ALL {
            let changed = op.apply(&bytes).unwrap();
            table.row(&format!("{path} {op:?}"), &change(&path, changed), DRIFT);
        }
        let gone = Changes::from([(path.clone(), None)]);
        table.row("snapshot dropped", &gone, DRIFT);
        let other = &fixture.files[&Utf8PathBuf::from(path.as_str().replace(ONE, TWO))];
        table.row("snapshot swapped", &change(&path, other.clone()), DRIFT);
        let folder = path.parent().unwrap();
        let names = ["t4-sm_75.snap", "h200-sm_90.snap", "deeper/h200-sm_75.snap", "x.snap.new"];
        for to in names.map(|name| folder.join(name)) {
            let copied = change(&to, bytes.clone());
            table.row(&format!("snapshot copied to {to}"), &copied, DRIFT);
            let mut moved = copied;
            moved.extend(gone.clone());
            table.row(&format!("snapshot moved to {to}"), &moved, DRIFT);
        }
        let to = Utf8PathBuf::from(path.as_str().replace(ONE, TWO));
        table.row("snapshot over that of the other lesson", &change(to, bytes), DRIFT);
    }
    table.end(20);
}
