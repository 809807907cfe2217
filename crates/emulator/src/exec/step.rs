//! Runs a fragment until it stops: the loop that everything else hangs on.

use super::warp::{Arena, Fragment, State};
use super::{Cx, Stop, access, bars, calls, collective_step, copies, mbarriers, values};
use crate::lanes::Row;
use crate::program::{Branch, Function, Guard, Instr, NOWHERE, Op};

/// What an instruction did to the flow.
pub(crate) enum Flow {
    /// On to the next.
    Next,
    /// On at this one.
    Goto(u32),
    /// On in another frame, where the fragment says.
    Frame,
    /// No further now; the fragment says where it goes on.
    Stop(Stop),
    /// The fragment is no more.
    Gone,
}

/// Runs a fragment for about so many instructions. What is left of it, and why it stopped.
pub(crate) fn run(
    cx: &mut Cx<'_, '_>,
    mut fragment: Fragment,
    budget: u64,
) -> (Option<Fragment>, Stop) {
    let end = cx.block.steps + budget;
    loop {
        let (function_index, arena) = match fragment.frames.last() {
            Some(frame) => (frame.function, frame.arena),
            None => return (None, Stop::Gone),
        };
        let launch = cx.launch;
        let function = &launch.program.functions[function_index];
        cx.arena = arena;
        cx.base = launch.bases[function_index];
        match run_frame(cx, function, &mut fragment, end) {
            Flow::Stop(stop) => return (Some(fragment), stop),
            Flow::Gone => return (None, Stop::Gone),
            Flow::Next | Flow::Goto(_) | Flow::Frame => {}
        }
    }
}

/// Runs a fragment in its innermost frame.
fn run_frame(cx: &mut Cx<'_, '_>, function: &Function, fragment: &mut Fragment, end: u64) -> Flow {
    let code = function.code.as_slice();
    loop {
        let mut instr = &code[fragment.pc as usize];
        if cx.warp.arenas[cx.arena].poison.is_none() {
            let lanes = &mut cx.warp.arenas[cx.arena].lanes;
            let first = fragment.pc;
            while let Op::Compute(compute, rows) = &instr.op {
                let mask = match instr.guard {
                    None => fragment.mask,
                    Some(guard) => guarded(lanes.pred(guard.row), guard, fragment.mask),
                };
                if mask != 0 {
                    compute(lanes, rows, mask);
                }
                fragment.pc += 1;
                instr = &code[fragment.pc as usize];
            }
            cx.block.steps += u64::from(fragment.pc - first);
        }
        cx.block.steps += 1;
        match step(cx, function, fragment, instr) {
            Flow::Next => fragment.pc += 1,
            Flow::Goto(pc) => {
                let back = pc <= fragment.pc;
                fragment.pc = pc;
                if back && cx.block.steps >= end {
                    return Flow::Stop(Stop::Budget);
                }
                if back && cx.watching {
                    cx.watch(fragment);
                    if fragment.waits.stuck {
                        return Flow::Stop(Stop::Waiting);
                    }
                }
            }
            other => return other,
        }
    }
}

#[inline(always)]
fn guarded(pred: u32, guard: Guard, mask: u32) -> u32 {
    mask & if guard.negated { !pred } else { pred }
}

fn step(cx: &mut Cx<'_, '_>, function: &Function, fragment: &mut Fragment, instr: &Instr) -> Flow {
    let mut mask = fragment.mask;
    if let Some(guard) = instr.guard {
        if let Some(fault) = cx.check_poison(fragment, guard.row, mask) {
            return fault;
        }
        mask = guarded(cx.lanes().pred(guard.row), guard, mask);
        if let Op::Branch(branch) = &instr.op {
            return branch_on(cx, fragment, branch, mask);
        }
        if mask == 0 {
            return Flow::Next;
        }
    }
    match &instr.op {
        Op::Compute(compute, rows) => {
            let arena = &mut cx.warp.arenas[cx.arena];
            compute(&mut arena.lanes, rows, mask);
            spread_poison(arena, rows, mask);
            Flow::Next
        }
        Op::Join => {
            // No instruction of the program.
            cx.block.steps -= 1;
            if cx.warp.meet(fragment) { Flow::Next } else { Flow::Gone }
        }
        Op::Branch(branch) => branch_on(cx, fragment, branch, mask),
        Op::Load(load) => access::load(cx, fragment, load, mask),
        Op::Store(store) => access::store(cx, fragment, store, mask),
        Op::Atomic(atomic) => access::atomic(cx, fragment, atomic, mask),
        Op::LoadParam { base, offset, bytes, signed, parts } => {
            values::load_param(cx, *base, *offset, *bytes, *signed, parts, mask)
        }
        Op::StoreParam { offset, bytes, parts } => {
            values::store_param(cx, *offset, *bytes, parts, mask)
        }
        Op::Fence(fence) => access::fence(cx, *fence, mask),
        Op::Bar(bar) => bars::bar(cx, fragment, bar, mask),
        Op::Mbarrier(mbarrier) => mbarriers::mbarrier(cx, fragment, mbarrier, mask),
        Op::AsyncCopy(copy) => copies::copy(cx, fragment, copy, mask),
        Op::Collective(named, collective) => {
            collective_step::collective(cx, fragment, *named, collective, mask)
        }
        Op::ActiveMask(row) => {
            cx.lanes_mut().set::<u32>(*row, &[fragment.mask; 32], mask);
            cx.visible(fragment, Flow::Next)
        }
        Op::Clock(clock, row) => values::clock(cx, fragment, *clock, *row, mask),
        Op::Sleep(row) => values::sleep(cx, fragment, *row, mask),
        Op::Pack { d, part, parts } => values::pack(cx, *d, *part, parts, mask),
        Op::Unpack { a, part, parts } => values::unpack(cx, *a, *part, parts, mask),
        Op::Convert { d, a, space, from_generic, wide } => {
            values::convert(cx, (*d, *a), *space, *from_generic, *wide, mask)
        }
        Op::IsSpace { d, a, space } => values::is_space(cx, *d, *a, *space, mask),
        Op::Call(call) => calls::call(cx, function, fragment, call, mask),
        Op::Return => calls::leave(cx, fragment, mask),
        Op::Exit => calls::exit(cx, fragment, mask),
        Op::Trap => cx.trap(fragment, mask),
        Op::Nothing => Flow::Next,
        Op::Unsupported(what) => cx.unsupported(fragment, what, mask),
    }
}

/// Goes where the lanes of a mask branch and the others don't.
fn branch_on(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, branch: &Branch, taken: u32) -> Flow {
    if let Some(index) = branch.index {
        return branch_indexed(cx, fragment, branch, index, taken);
    }
    let target = branch.targets[0];
    if taken == fragment.mask {
        return Flow::Goto(target);
    }
    if taken == 0 {
        return Flow::Next;
    }
    diverge(cx, fragment, branch.join, taken, target);
    Flow::Next
}

fn branch_indexed(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    branch: &Branch,
    index: Row,
    mask: u32,
) -> Flow {
    if let Some(fault) = cx.check_poison(fragment, index, mask) {
        return fault;
    }
    let indices = *cx.lanes().get::<u32>(index);
    let fall_through = fragment.mask & !mask;
    let mut left = mask;
    let mut groups = Vec::new();
    while left != 0 {
        let wanted = indices[left.trailing_zeros() as usize];
        let group = super::warp::lanes_of(left)
            .filter(|lane| indices[*lane] == wanted)
            .fold(0u32, |all, lane| all | 1 << lane);
        left &= !group;
        let Some(target) = branch.targets.get(wanted as usize) else {
            return cx.bad_branch(fragment, wanted, group);
        };
        groups.push((group, *target));
    }
    let (_, last) = groups[groups.len() - 1];
    if fall_through == 0 {
        groups.pop();
    }
    for (group, target) in groups {
        diverge(cx, fragment, branch.join, group, target);
    }
    if fall_through == 0 { Flow::Goto(last) } else { Flow::Next }
}

/// Parts lanes from a fragment, to go on at `target`, and all to meet at `join`.
pub(crate) fn diverge(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    join: u32,
    lanes: u32,
    target: u32,
) {
    if join != NOWHERE {
        cx.warp.open_join(fragment, join);
        if target == join {
            cx.warp.park(fragment, lanes);
            fragment.mask &= !lanes;
            return;
        }
    }
    fragment.mask &= !lanes;
    let other = Fragment { mask: lanes, pc: target, state: State::Ready, ..fragment.clone() };
    cx.warp.fragments.push(other);
}

/// Results of what is poisoned are poisoned; other results no longer are.
fn spread_poison(arena: &mut Arena, rows: &crate::alu::Rows, mask: u32) {
    let Some(poison) = &mut arena.poison else { return };
    let sources = [rows.a, rows.b, rows.c, rows.f];
    let all = sources.iter().fold(super::Poison::NONE, |all, row| all.with(poison[row.0 as usize]));
    for result in [rows.d, rows.e].into_iter().filter(|row| row.0 != 0) {
        poison[result.0 as usize].set(mask, all);
    }
}
