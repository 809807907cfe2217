//! Findings of memory in words: numbers of instructions become places, offsets become names.

use super::blocks::block_index;
use super::sink::{demangled, place_in_words, variable_name};
use super::{Launch, Sink};
use crate::finding::Finding;
use crate::memory::{Memory, Names, PlaceOf, Raw, SharedVariable, What, describe};
use crate::program::Op;

/// What memory's findings need to know of a launch.
struct Known<'k, 'l> {
    launch: &'k Launch<'l>,
    shared: Vec<SharedVariable>,
}

impl Names for Known<'_, '_> {
    fn place(&self, pc: u32) -> PlaceOf {
        let at = place_in_words(self.launch, pc, String::new(), None, String::new());
        PlaceOf { file: at.file, line: at.line, column: at.column, inlined: at.inlined }
    }

    fn kernel(&self) -> Option<String> {
        Some(demangled(&self.launch.program.functions[self.launch.kernel].name))
    }

    fn block(&self, block: u32) -> [u32; 3] {
        block_index(self.launch.grid, block)
    }

    fn shared(&self) -> &[SharedVariable] {
        &self.shared
    }

    fn launch(&self) -> Option<u64> {
        Some(self.launch.index)
    }

    fn schedule(&self) -> Option<String> {
        None
    }
}

fn shared_variables(launch: &Launch<'_>) -> Vec<SharedVariable> {
    let variables = launch.program.shared.iter().zip(&launch.layout.offsets);
    variables
        .filter_map(|(variable, offset)| {
            Some(SharedVariable {
                name: variable_name(&variable.name),
                offset: (*offset)?,
                bytes: if variable.dynamic { launch.dynamic_bytes } else { variable.bytes },
                element_bytes: variable.element_bytes,
            })
        })
        .collect()
}

/// Whether one side of a finding reads a flag: its value decides a branch.
fn by_flag(launch: &Launch<'_>, raw: &Raw) -> bool {
    let numbers = raw.pc.into_iter().chain(raw.other.map(|other| other.pc));
    numbers.into_iter().any(|number| {
        let (function, pc) = launch.locate(number);
        let instr = launch.program.functions[function].code.get(pc as usize);
        matches!(instr.map(|instr| &instr.op), Some(Op::Load(load)) if load.decides)
    })
}

/// All that a launch found, in words.
pub(crate) fn in_words(launch: &Launch<'_>, memory: &Memory, sink: Sink) -> Vec<Finding> {
    let mut all = sink.own_findings(launch);
    let known = Known { launch, shared: shared_variables(launch) };
    let mut raw = sink.memory.into_list();
    raw.retain(|raw| raw.what != What::Unsynchronised || !by_flag(launch, raw));
    all.extend(raw.iter().map(|raw| describe(raw, memory, &known)));
    all
}

/// Nothing runs.
struct Nobody;

impl Names for Nobody {
    fn place(&self, _: u32) -> PlaceOf {
        PlaceOf::default()
    }

    fn kernel(&self) -> Option<String> {
        None
    }

    fn block(&self, _: u32) -> [u32; 3] {
        [0; 3]
    }

    fn shared(&self) -> &[SharedVariable] {
        &[]
    }

    fn launch(&self) -> Option<u64> {
        None
    }

    fn schedule(&self) -> Option<String> {
        None
    }
}

/// What calls of the host found, in words.
pub(crate) fn host_in_words(memory: &mut Memory) -> Vec<Finding> {
    let raw = memory.take_findings().into_list();
    raw.iter().map(|raw| describe(raw, memory, &Nobody)).collect()
}
