//! Calls, returns, and the end of threads.

use super::step::Flow;
use super::warp::{Arena, Fragment, Frame, State, lanes_of};
use super::{Cx, Stop, copies, sink, system};
use crate::lower::function_of_address;
use crate::machine::Fault;
use crate::program::{Call, Callee, Function, Slot};

/// Frames of a thread: more is taken for a recursion that never ends.
const FRAMES_MAX: usize = 512;

/// A thread's stack on the device, as `cudaLimitStackSize` could set it at most.
const STACK_BYTES_MAX: u32 = 512 << 10;

/// `call`
pub(crate) fn call(
    cx: &mut Cx<'_, '_>,
    function: &Function,
    fragment: &mut Fragment,
    call: &Call,
    mask: u32,
) -> Flow {
    match &call.callee {
        Callee::Function(index) => enter(cx, function, fragment, call, *index, mask),
        Callee::System(name) => {
            let name = name.clone();
            system::call(cx, fragment, &name, call, mask)
        }
        Callee::Pointer(row) => {
            if let Some(fault) = cx.check_poison(fragment, *row, mask) {
                return fault;
            }
            let targets = *cx.lanes().get::<u64>(*row);
            let first = targets[mask.trailing_zeros() as usize];
            let same = lanes_of(mask).filter(|lane| targets[*lane] == first);
            let same = same.fold(0u32, |all, lane| all | 1 << lane);
            match function_of_address(cx.launch.program, first) {
                Some(index) => enter(cx, function, fragment, call, index, same),
                None => {
                    let message = format!("a call through {first:#x}, which is no function");
                    cx.sink.api(cx.block, cx.warp.index, cx.base + fragment.pc, same, message);
                    Flow::Stop(Stop::Fault(Fault::LaunchFailure))
                }
            }
        }
    }
}

/// Enters a function with some lanes. The others stay at the call, which they run again, or wait
/// after it.
fn enter(
    cx: &mut Cx<'_, '_>,
    caller: &Function,
    fragment: &mut Fragment,
    call: &Call,
    callee: usize,
    mask: u32,
) -> Flow {
    let target = &cx.launch.program.functions[callee];
    let below = fragment.frames.last().map_or(0, |frame| frame.local);
    let local = below + caller.local_bytes;
    let deep = fragment.frames.len() >= FRAMES_MAX
        || local.saturating_add(target.local_bytes) > STACK_BYTES_MAX;
    if deep || !target.defined {
        let message = if deep {
            format!("the stack overflows in `{}`", sink::demangled(&target.name))
        } else {
            format!("a call of `{}`, which has no body here", target.name)
        };
        cx.sink.api(cx.block, cx.warp.index, cx.base + fragment.pc, mask, message);
        return Flow::Stop(Stop::Fault(Fault::IllegalAddress));
    }
    let rest = fragment.mask & !mask;
    if rest != 0 {
        split_off_callers(cx, fragment, rest, call, mask);
    }
    let return_to = fragment.pc + 1;
    fragment.mask = mask;
    cx.warp.open_join(fragment, return_to);
    let arena = cx.new_arena(callee, local, mask);
    copy_slots(cx, cx.arena, &call.arguments, arena, &target.params, mask);
    fragment.frames.push(Frame { function: callee, arena, local, call: fragment.pc });
    fragment.pc = 0;
    Flow::Frame
}

/// Lanes of a call through pointers that go elsewhere run the call again, apart; lanes whose guard
/// is false go on after it.
fn split_off_callers(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    rest: u32,
    call: &Call,
    mask: u32,
) {
    let after = fragment.pc + 1;
    fragment.mask = rest | mask;
    cx.warp.open_join(fragment, after);
    let again = matches!(call.callee, Callee::Pointer(_));
    let pc = if again { fragment.pc } else { after };
    let other = Fragment { mask: rest, pc, state: State::Ready, ..fragment.clone() };
    cx.warp.fragments.push(other);
}

/// Copies parameters between two frames, lane by lane.
fn copy_slots(
    cx: &mut Cx<'_, '_>,
    from: usize,
    sources: &[Slot],
    to: usize,
    targets: &[Slot],
    mask: u32,
) {
    for (source, target) in sources.iter().zip(targets) {
        let bytes = source.bytes.min(target.bytes) as usize;
        for lane in lanes_of(mask) {
            let own = &cx.warp.arenas[from];
            let at = lane * own.stride + source.offset as usize;
            let mut buffer = [0u8; 64];
            // Parameters of more than 64 bytes are copied in pieces.
            let mut done = 0;
            while done < bytes {
                let piece = (bytes - done).min(buffer.len());
                let own = &cx.warp.arenas[from].params[at + done..at + done + piece];
                buffer[..piece].copy_from_slice(own);
                let other = &mut cx.warp.arenas[to];
                let into = lane * other.stride + target.offset as usize + done;
                other.params[into..into + piece].copy_from_slice(&buffer[..piece]);
                done += piece;
            }
        }
    }
}

/// `ret`: of a kernel's own frame it ends the thread.
pub(crate) fn leave(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, mask: u32) -> Flow {
    if fragment.frames.len() == 1 {
        return exit(cx, fragment, mask);
    }
    let mut returning = Fragment { mask, ..fragment.clone() };
    let Some(frame) = returning.frames.pop() else { return Flow::Gone };
    let Some(below) = returning.frames.last() else { return Flow::Gone };
    let (caller, arena) = (below.function, below.arena);
    let program = cx.launch.program;
    let code = &program.functions[caller].code[frame.call as usize];
    if let crate::program::Op::Call(call) = &code.op {
        let returns = &program.functions[frame.function].returns;
        copy_slots(cx, frame.arena, returns, arena, &call.results, mask);
    }
    cx.warp.drop_arena(frame.arena, mask);
    returning.pc = frame.call + 1;
    // Joins inside of the function that it leaves have it as their depth: it waits for none of
    // them.
    let depth = fragment.frames.len();
    let joins = &cx.warp.joins;
    let inside: Vec<usize> =
        returning.joins.iter().copied().filter(|join| joins[*join].depth >= depth).collect();
    returning.joins.retain(|join| !inside.contains(join));
    cx.warp.leave_joins(&inside, mask);
    if mask == fragment.mask {
        *fragment = returning;
        return Flow::Frame;
    }
    fragment.mask &= !mask;
    cx.warp.fragments.push(returning);
    Flow::Next
}

/// `exit`: threads end.
pub(crate) fn exit(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, mask: u32) -> Flow {
    if let Some(fault) = copies::finish(cx, fragment, mask) {
        return fault;
    }
    cx.progressed();
    super::bars::check_around(cx, mask);
    cx.warp.exited |= mask;
    cx.block.live -= mask.count_ones();
    cx.block.live_lanes[cx.warp.index as usize] = cx.warp.live();
    for index in 0..fragment.frames.len() {
        cx.warp.drop_arena(fragment.frames[index].arena, mask);
    }
    let joins = std::mem::take(&mut fragment.joins);
    cx.warp.leave_joins(&joins, mask);
    fragment.joins = joins;
    fragment.mask &= !mask;
    super::collective_step::recheck(cx);
    super::bars::recheck(cx);
    if fragment.mask == 0 { Flow::Gone } else { Flow::Next }
}

impl Cx<'_, '_> {
    /// Registers and parameters for a call.
    pub(crate) fn new_arena(&mut self, function: usize, local: u32, mask: u32) -> usize {
        let lanes = self.launch.template(function);
        let code = &self.launch.program.functions[function];
        let arenas = &mut self.warp.arenas;
        let free = arenas.iter().position(|arena| arena.users == 0 && arena.function == function);
        let index = match free {
            Some(index) => {
                let arena = &mut arenas[index];
                arena.lanes.copy_from(lanes);
                arena.poison = None;
                arena.users = mask;
                index
            }
            None => {
                let stride = (code.param_bytes as usize).next_multiple_of(16);
                arenas.push(Arena {
                    lanes: lanes.clone(),
                    stride,
                    params: vec![0; stride * crate::lanes::LANES],
                    poison: None,
                    users: mask,
                    function,
                });
                arenas.len() - 1
            }
        };
        super::presets::fill(
            self.launch,
            self.block,
            self.warp.index,
            function,
            local,
            &mut self.warp.arenas[index].lanes,
        );
        index
    }
}
