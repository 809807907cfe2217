//! What changed since the last reviewed record of the same lesson.

use std::collections::BTreeMap;

use proofrun_core::Digest;
use proofrun_core::record::Examined;
use proofrun_core::record::model::SourceRecord;
use proofrun_core::review::Standing;
use proofrun_core::state::AssessedRecord;

use super::Subject;

/// The newest other record of the lesson whose acceptance stands: of the same pair, else of any.
pub fn last_reviewed<'a>(subject: &Subject<'a>) -> Option<&'a AssessedRecord> {
    let accepted = |record: &&AssessedRecord| {
        matches!(record.standing, Standing::Accepted(_))
            && record.examined.digest != subject.digest()
    };
    // The records of a pair come newest first.
    let same = subject.evidence.records.iter().find(accepted);
    let all = subject.lesson.assessment.evidence.values().flat_map(|it| &it.records);
    same.or_else(|| all.filter(accepted).max_by_key(|it| it.examined.record.recorded_at))
}

/// A row each for what differs, and one for what doesn't.
pub fn changes(old: &Examined, new: &Examined) -> Vec<String> {
    let (was, is) = (&old.record, &new.record);
    let option = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let device = |examined: &Examined| examined.record.device.facts.name.clone();
    let uuid = |examined: &Examined| format!("card {}", examined.record.device.uuid_sha256.short());
    let pairs = [
        ("device", device(old), device(new)),
        ("card", uuid(old), uuid(new)),
        ("driver", was.device.facts.driver.clone(), is.device.facts.driver.clone()),
        ("nvcc", was.toolkit.nvcc.clone(), is.toolkit.nvcc.clone()),
        ("CCCL", option(&was.toolkit.cccl), option(&is.toolkit.cccl)),
        ("host compiler", option(&was.toolkit.host_compiler), option(&is.toolkit.host_compiler)),
        ("runner", was.runner.executable.short(), is.runner.executable.short()),
        ("recorder", was.recorder.clone(), is.recorder.clone()),
    ];
    let (mut rows, mut same) = (Vec::new(), Vec::new());
    for (name, was, is) in pairs {
        if was == is {
            same.push(name);
        } else {
            rows.push(format!("{name}: {was} -> {is}"));
        }
    }
    match sources(old, new) {
        Sources::Same => same.push("sources"),
        Sources::TextOnly(paths) => rows.push(format!("comments only: {}", paths.join(", "))),
        Sources::Code(paths) => rows.push(format!("CODE: {}", paths.join(", "))),
    }
    for (name, fact) in [("build command", build as fn(&_, &_) -> _), ("PTX", ptx)] {
        match fact(old, new) {
            None => same.push(name),
            Some(row) => rows.push(row),
        }
    }
    rows.push(format!("the same: {}", same.join(", ")));
    rows
}

enum Sources {
    Same,
    TextOnly(Vec<String>),
    Code(Vec<String>),
}

fn sources(old: &Examined, new: &Examined) -> Sources {
    let of = |examined: &Examined| -> BTreeMap<String, SourceRecord> {
        let programs = examined.record.program.iter();
        let rows = programs.flat_map(|program| program.build.source.clone());
        rows.map(|row| (row.path.clone(), row)).collect()
    };
    let (was, is) = (of(old), of(new));
    let mut code: Vec<String> = Vec::new();
    let mut text = Vec::new();
    for path in was.keys().chain(is.keys().filter(|path| !was.contains_key(*path))) {
        match (was.get(path), is.get(path)) {
            (Some(a), Some(b)) if a.code != b.code => code.push(path.clone()),
            (Some(a), Some(b)) if a.text != b.text => text.push(path.clone()),
            (Some(_), Some(_)) => {}
            _ => code.push(path.clone()),
        }
    }
    match (code.is_empty(), text.is_empty()) {
        (false, _) => Sources::Code(code),
        (true, false) => Sources::TextOnly(text),
        (true, true) => Sources::Same,
    }
}

fn build(old: &Examined, new: &Examined) -> Option<String> {
    let argv = |examined: &Examined| -> Vec<String> {
        examined.record.program.iter().map(|it| it.build.argv.join(" ")).collect()
    };
    let (was, is) = (argv(old), argv(new));
    (was != is).then(|| format!("build command: {} -> {}", was.join("; "), is.join("; ")))
}

fn ptx(old: &Examined, new: &Examined) -> Option<String> {
    let digests = |examined: &Examined| -> Vec<Digest> {
        examined.record.program.iter().map(|it| Digest::of(examined.file(&it.build.ptx))).collect()
    };
    let (was, is) = (digests(old), digests(new));
    let short = |all: &[Digest]| all.iter().map(Digest::short).collect::<Vec<_>>().join(" ");
    (was != is).then(|| format!("PTX: {} -> {}", short(&was), short(&is)))
}
