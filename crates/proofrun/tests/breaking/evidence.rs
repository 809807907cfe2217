//! Bytes of evidence and reviews, broken without a new signature: Tampered, whatever was broken and
//! however.

use camino::Utf8PathBuf;
use proofrun_core::Class;

use crate::fixture::{Changes, Expect, Fixture, ONE, TWO, Table, change};
use crate::ops::{ByteOp, Op, broken, pattern, ways};

const TAMPERED: Expect = Expect::Fails(Class::Tampered);

/// The file of the other lesson that has the same part: its record's file of this name, its
/// review's entry or signature.
fn counterpart(fixture: &Fixture, path: &Utf8PathBuf) -> Vec<u8> {
    let (name, extension) = (path.file_name(), path.extension());
    let kept = path.iter().nth(2).unwrap();
    let others = fixture.below(&format!("lessons/{TWO}/{kept}"));
    let same = others.iter().find(|(other, _)| match kept {
        "evidence" => other.file_name() == name,
        _ => other.extension() == extension,
    });
    same.unwrap().1.clone()
}

/// Every kept file of the lesson: records' files with their signatures, reviews with theirs.
fn kept(fixture: &Fixture) -> Vec<(Utf8PathBuf, Vec<u8>)> {
    let folders = ["evidence", "reviews"].map(|kept| format!("lessons/{ONE}/{kept}"));
    folders.iter().flat_map(|folder| fixture.below(folder)).collect()
}

#[test]
fn no_byte_of_any_kept_file_changes_unseen() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    for (path, bytes) in kept(&fixture) {
        for op in ByteOp::ALL {
            if let Some(changed) = op.apply(&bytes) {
                table.row(&format!("{path} {op:?}"), &change(&path, changed), TAMPERED);
            }
        }
        table.row(&format!("{path} dropped"), &Changes::from([(path.clone(), None)]), TAMPERED);
        let other = counterpart(&fixture, &path);
        table.row(&format!("{path} swapped"), &change(&path, other), TAMPERED);
    }
    table.end(150);
}

#[test]
fn no_kept_file_counts_under_another_path() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    for (path, bytes) in kept(&fixture) {
        let folder = path.parent().unwrap();
        let name = path.file_name().unwrap();
        let elsewhere = [
            folder.join(format!("copy-{name}")),
            folder.join("deeper").join(name),
            folder.parent().unwrap().join(name),
            Utf8PathBuf::from(path.as_str().replace(ONE, TWO)),
        ];
        for to in elsewhere {
            // A copy of a record's file in the lesson's own folder, or of a review there, is no
            // kept file any more.
            if to.parent().unwrap().as_str() == format!("lessons/{ONE}") {
                continue;
            }
            let copied = change(&to, bytes.clone());
            table.row(&format!("{path} copied to {to}"), &copied, TAMPERED);
            let mut moved = copied;
            moved.insert(path.clone(), None);
            table.row(&format!("{path} moved to {to}"), &moved, TAMPERED);
        }
    }
    table.end(100);
}

#[test]
fn no_whole_record_or_review_counts_elsewhere() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let folder = fixture.record_folder(ONE);
    let moves = [
        (folder.as_str().to_owned(), folder.as_str().replace(ONE, TWO)),
        (folder.as_str().to_owned(), format!("{folder}-again")),
        (folder.as_str().to_owned(), folder.as_str().replace("h200", "h100")),
        (format!("lessons/{ONE}/reviews"), format!("lessons/{TWO}/reviews")),
        (format!("lessons/{ONE}/reviews"), format!("lessons/{ONE}/reviews/more")),
        (format!("lessons/{ONE}/evidence"), format!("lessons/{ONE}/evidence/more")),
    ];
    for (from, to) in moves {
        let files = fixture.below(&from);
        let target = |path: &Utf8PathBuf| Utf8PathBuf::from(path.as_str().replacen(&from, &to, 1));
        let copied: Changes =
            files.iter().map(|(path, bytes)| (target(path), Some(bytes.clone()))).collect();
        let mut moved = copied.clone();
        moved.extend(files.keys().map(|path| (path.clone(), None)));
        table.row(&format!("{from} copied to {to}"), &copied, TAMPERED);
        table.row(&format!("{from} moved to {to}"), &moved, TAMPERED);
        let dropped = files.keys().map(|path| (path.clone(), None)).collect();
        if !from.ends_with("reviews") {
            table.row(&format!("{from} dropped"), &dropped, TAMPERED);
        }
    }
    // Without its review the page shows what nobody reviewed.
    let reviews = fixture.below(&format!("lessons/{ONE}/reviews"));
    let dropped = reviews.into_keys().map(|path| (path, None)).collect();
    table.row("all reviews dropped", &dropped, Expect::Fails(Class::Drift));
    table.end(15);
}

#[test]
fn no_field_of_a_record_or_review_changes_without_its_signature() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    for (path, bytes) in
        kept(&fixture).into_iter().filter(|(path, _)| path.extension() == Some("toml"))
    {
        let read = |bytes: &[u8]| toml::from_str(std::str::from_utf8(bytes).unwrap()).unwrap();
        let (tree, other) = (read(&bytes), read(&counterpart(&fixture, &path)));
        for way in ways(&tree) {
            for op in Op::ALL {
                let Some(changed) = broken(&tree, &way, op, &other) else { continue };
                let text = toml::to_string(&changed).unwrap_or_default();
                let what = format!("{} {op:?}", pattern(&way));
                table.row(&what, &change(&path, text), TAMPERED);
            }
        }
    }
    table.end(400);
}
