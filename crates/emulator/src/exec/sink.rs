//! What the engine itself finds, and what kernels print, on one thread of execution.

use std::collections::BTreeMap;

use super::{BlockState, Launch};
use crate::finding::{self, Kind, Severity};
use crate::memory::{Findings, Staging};
use crate::program::{Place, PlaceFrame};

/// One thread's findings and prints.
#[derive(Default)]
pub(crate) struct Sink {
    /// Of memory.
    pub(crate) memory: Findings,
    /// Of everything else, by kind, place and message.
    own: BTreeMap<(Kind, Vec<u32>, String), Noted>,
    /// What blocks printed, in the order that they ran on this thread.
    pub(crate) printed: Vec<(u32, Vec<u8>)>,
    /// What `assert` says on standard error.
    pub(crate) asserted: Vec<u8>,
    /// Warp-instructions.
    pub(crate) steps: u64,
    /// On the way between registers and memory.
    pub(crate) staging: Staging,
}

#[derive(Debug, Clone)]
struct Noted {
    severity: Severity,
    at: Vec<At>,
    notes: Vec<String>,
    count: u64,
}

/// A place in a finding of the engine.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) number: u32,
    pub(crate) block: [u32; 3],
    pub(crate) threads: Vec<(u32, u32)>,
    pub(crate) what: String,
}

impl At {
    pub(crate) fn new(block: &BlockState, warp: u32, number: u32, lanes: u32, what: &str) -> Self {
        Self { number, block: block.index, threads: vec![(warp, lanes)], what: what.to_owned() }
    }
}

impl Sink {
    /// Adds a finding, folded into an equal one if there is any.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        severity: Severity,
        message: String,
        at: Vec<At>,
        notes: Vec<String>,
    ) {
        let numbers = at.iter().map(|at| at.number).collect();
        let fresh = Noted { severity, at, notes, count: 0 };
        let noted = self.own.entry((kind, numbers, message)).or_insert(fresh);
        noted.count += 1;
    }

    /// A barrier used against its rules.
    pub(crate) fn barrier(
        &mut self,
        block: &BlockState,
        warp: u32,
        number: u32,
        lanes: u32,
        message: String,
    ) {
        let at = At::new(block, warp, number, lanes, "here");
        self.add(Kind::Barrier, Severity::Error, message, vec![at], Vec::new());
    }

    /// The same, where two instructions meet.
    pub(crate) fn barrier_at_two(
        &mut self,
        block: &BlockState,
        warp: u32,
        numbers: (u32, u32),
        lanes: u32,
        message: String,
    ) {
        let here = At::new(block, warp, numbers.0, lanes, "arrives here");
        let there = At {
            number: numbers.1,
            block: block.index,
            threads: Vec::new(),
            what: "others arrived here".to_owned(),
        };
        self.add(Kind::Barrier, Severity::Error, message, vec![here, there], Vec::new());
    }

    /// A call or instruction that can't be done as asked.
    pub(crate) fn api(
        &mut self,
        block: &BlockState,
        warp: u32,
        number: u32,
        lanes: u32,
        message: String,
    ) {
        let at = At::new(block, warp, number, lanes, "here");
        self.add(Kind::Api, Severity::Error, message, vec![at], Vec::new());
    }

    /// Adds those of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.memory.merge(other.memory);
        for (key, noted) in other.own {
            match self.own.get_mut(&key) {
                Some(known) => {
                    let count = known.count + noted.count;
                    let earlier = noted.at.first().map(|at| (at.block, at.threads.clone()))
                        < known.at.first().map(|at| (at.block, at.threads.clone()));
                    if earlier {
                        *known = noted;
                    }
                    known.count = count;
                }
                None => drop(self.own.insert(key, noted)),
            }
        }
        self.printed.extend(other.printed);
        self.asserted.extend(other.asserted);
        self.steps += other.steps;
    }

    /// The engine's findings in words.
    pub(crate) fn own_findings(&self, launch: &Launch<'_>) -> Vec<finding::Finding> {
        let kernel = demangled(&launch.program.functions[launch.kernel].name);
        let in_words =
            |((kind, _, message), noted): (&(Kind, Vec<u32>, String), &Noted)| finding::Finding {
                kind: *kind,
                severity: noted.severity,
                kernel: Some(kernel.clone()),
                message: message.clone(),
                at: noted.at.iter().map(|at| at.in_words(launch)).collect(),
                object: None,
                notes: noted.notes.clone(),
                next: None,
                launch: Some(launch.index),
                schedule: launch.token(),
                count: noted.count,
            };
        self.own.iter().map(in_words).collect()
    }
}

impl At {
    fn in_words(&self, launch: &Launch<'_>) -> finding::At {
        place_in_words(
            launch,
            self.number,
            self.what.clone(),
            Some(self.block),
            thread_ranges(&self.threads),
        )
    }
}

/// Whether a file belongs to the toolkit, so that a reader looks for the place that used it.
fn of_toolkit(file: &str) -> bool {
    ["/include/cccl/", "/include/crt/", "/include/cooperative_groups", "/include/cuda"]
        .iter()
        .any(|part| file.contains(part))
        || file.contains("/include/sm_")
        || file.contains("/include/device_")
        || file.contains("/include/math_")
}

/// The place in the reader's own code that an instruction comes from.
pub(crate) fn own_frame(place: &Place) -> Option<&PlaceFrame> {
    let own = place.frames.iter().find(|frame| !of_toolkit(&frame.file));
    own.or_else(|| place.frames.first())
}

/// An instruction as a place of a finding.
pub(crate) fn place_in_words(
    launch: &Launch<'_>,
    number: u32,
    what: String,
    block: Option<[u32; 3]>,
    threads: String,
) -> finding::At {
    let (function, pc) = launch.locate(number);
    let code = &launch.program.functions[function];
    let place = code.code.get(pc as usize).map(|instr| &code.places[instr.place as usize]);
    let inner = place.and_then(|place| place.frames.first());
    let own = place.and_then(own_frame);
    let inlined = match (inner, own) {
        (Some(inner), Some(own)) if inner != own => {
            let place = place.map(|place| place.frames.as_slice()).unwrap_or_default();
            let until = place.iter().take_while(|frame| *frame != own);
            until.map(|frame| format!("{}:{}", frame.file, frame.line)).collect()
        }
        _ => Vec::new(),
    };
    finding::At {
        file: own.map(|frame| frame.file.to_string()).unwrap_or_default(),
        line: own.map_or(0, |frame| frame.line),
        column: own.map_or(0, |frame| frame.column),
        what,
        block,
        threads,
        inlined,
    }
}

/// Threads in linear order as ranges: `0..32, 64`; a range's end is not in it.
pub(crate) fn thread_ranges(threads: &[(u32, u32)]) -> String {
    let mut all: Vec<u32> = threads
        .iter()
        .flat_map(|(warp, lanes)| {
            super::warp::lanes_of(*lanes).map(move |lane| 32 * warp + lane as u32)
        })
        .collect();
    all.sort_unstable();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for thread in all {
        match ranges.last_mut() {
            Some((_, end)) if *end == thread => *end += 1,
            _ => ranges.push((thread, thread + 1)),
        }
    }
    let show = |(start, end): &(u32, u32)| {
        if start + 1 == *end { start.to_string() } else { format!("{start}..{end}") }
    };
    ranges.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// A place in shared memory by the variable's name.
pub(crate) fn shared_name(launch: &Launch<'_>, offset: u32) -> String {
    for (index, variable) in launch.program.shared.iter().enumerate() {
        let Some(at) = launch.layout.offsets[index] else { continue };
        let bytes = if variable.dynamic { launch.dynamic_bytes } else { variable.bytes };
        if (at..at.saturating_add(bytes)).contains(&offset) {
            let name = variable_name(&variable.name);
            let element = (offset - at) / variable.element_bytes.max(1);
            return match variable.bytes / variable.element_bytes.max(1) {
                0 | 1 => format!("`{name}`"),
                _ if variable.element_bytes == 1 => format!("byte {element} of `{name}`"),
                _ => format!("element {element} of `{name}`"),
            };
        }
    }
    format!("byte {offset} of shared memory")
}

/// A name as the source has it: `pipeline(float*)::buffer` is `buffer`.
pub(crate) fn variable_name(mangled: &str) -> String {
    let whole = demangled(mangled);
    match whole.rsplit_once("::") {
        Some((_, last)) if !last.is_empty() => last.to_owned(),
        _ => whole,
    }
}

/// A mangled name as C++ has it, or as it is.
pub(crate) fn demangled(name: &str) -> String {
    cpp_demangle::Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle(&cpp_demangle::DemangleOptions::new()).ok())
        .unwrap_or_else(|| name.to_owned())
}
