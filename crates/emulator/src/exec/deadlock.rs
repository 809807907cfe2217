//! What is said of a deadlock: who waits where, and for whom.

use super::blocks::{Block, Resident};
use super::mbarriers;
use super::sink::{At, shared_name, thread_ranges};
use super::warp::{Fragment, State};
use crate::finding::{Kind, Severity};
use crate::program::Op;

/// Places that are named at most.
const PLACES: usize = 6;

/// Reports that nobody can go on, for the first block that is stuck.
pub(crate) fn report(resident: &mut Resident<'_, '_>) {
    let launch = resident.launch;
    let Some(block) = resident.blocks.iter().find(|block| block.state.live > 0) else { return };
    let mut at: Vec<At> = Vec::new();
    for warp in &block.warps {
        for fragment in &warp.fragments {
            let function = fragment.frames.last().map_or(0, |frame| frame.function);
            let number = launch.bases[function] + fragment.pc;
            let what = doing(resident, fragment);
            let number = place_of_wait(resident, function, fragment, number);
            match at.iter_mut().find(|at| at.number == number && at.what == what) {
                Some(known) => known.threads.push((warp.index, fragment.mask)),
                None => at.push(At {
                    number,
                    block: block.state.index,
                    threads: vec![(warp.index, fragment.mask)],
                    what,
                }),
            }
        }
    }
    at.truncate(PLACES);
    let notes = notes(resident, block);
    let waiting = resident.blocks.len();
    let message = match waiting {
        1 => "no thread of the block can go on".to_owned(),
        n => format!("no thread of {n} blocks can go on"),
    };
    resident.sink.add(Kind::Deadlock, Severity::Error, message, at, notes);
}

fn doing(resident: &Resident<'_, '_>, fragment: &Fragment) -> String {
    match fragment.state {
        State::AtBarrier { id, .. } => format!("waits at barrier {id}"),
        State::Collective => "waits for lanes that its mask names".to_owned(),
        State::Napping(_) if fragment.waits.stuck => "repeats a loop that nothing ends".to_owned(),
        State::Napping(_) | State::Ready => {
            let function = fragment.frames.last().map_or(0, |frame| frame.function);
            let code = &resident.launch.program.functions[function].code;
            let before = fragment.pc.saturating_sub(1) as usize;
            match code.get(before).map(|instr| &instr.op) {
                Some(Op::Mbarrier(_)) => "waits for a phase of an mbarrier".to_owned(),
                Some(Op::Sleep(_)) => "sleeps and looks again".to_owned(),
                _ => "waits for memory to change".to_owned(),
            }
        }
    }
}

/// A sleeper stands behind the instruction that it waits at.
fn place_of_wait(
    resident: &Resident<'_, '_>,
    function: usize,
    fragment: &Fragment,
    number: u32,
) -> u32 {
    let code = &resident.launch.program.functions[function].code;
    let napping = matches!(fragment.state, State::Napping(_)) && !fragment.waits.stuck;
    let waits = |pc: u32| {
        let instr = code.get(pc as usize).map(|instr| &instr.op);
        matches!(
            instr,
            Some(Op::Mbarrier(_) | Op::Load(_) | Op::Atomic(_) | Op::Sleep(_) | Op::Clock(..))
        )
    };
    if napping && fragment.pc > 0 && waits(fragment.pc - 1) { number - 1 } else { number }
}

fn notes(resident: &Resident<'_, '_>, block: &Block) -> Vec<String> {
    let mut notes = Vec::new();
    for (id, slot) in block.state.bars.slots.iter().enumerate() {
        let arrived: Vec<(u32, u32)> = by_warp(&slot.arrived);
        if arrived.is_empty() {
            continue;
        }
        let missing: Vec<(u32, u32)> = block
            .warps
            .iter()
            .map(|warp| (warp.index, warp.live() & !slot.arrived[warp.index as usize]))
            .filter(|(_, lanes)| *lanes != 0)
            .collect();
        notes.push(format!(
            "barrier {id}, phase {}: threads {} arrived; threads {} did not",
            slot.generation,
            thread_ranges(&arrived),
            thread_ranges(&missing)
        ));
    }
    for (offset, state) in &block.state.mbarriers.all {
        notes.push(mbarrier_note(resident, *offset, state));
    }
    notes
}

fn by_warp(lanes: &[u32]) -> Vec<(u32, u32)> {
    let all = lanes.iter().enumerate().filter(|(_, lanes)| **lanes != 0);
    all.map(|(warp, lanes)| (warp as u32, *lanes)).collect()
}

fn mbarrier_note(resident: &Resident<'_, '_>, offset: u32, state: &mbarriers::State) -> String {
    let name = shared_name(resident.launch, offset);
    let mut arrived = state.arrived.clone();
    arrived.sort_unstable();
    let who = match arrived.is_empty() {
        true => "nobody arrived in it".to_owned(),
        false => format!("threads {} arrived in it", thread_ranges(&arrived)),
    };
    let bytes = match state.bytes {
        0 => String::new(),
        bytes => format!(" and {bytes} bytes"),
    };
    format!(
        "mbarrier {name}: phase {} awaits {} of {} arrivals{bytes}; {who}",
        state.phase, state.pending, state.expected
    )
}
