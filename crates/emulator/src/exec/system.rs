//! Functions that the device's own system has: `vprintf`, `__assertfail`.

use super::printf::format;
use super::step::Flow;
use super::warp::{Fragment, lanes_of};
use super::{Cx, Stop, presets};
use crate::machine::Fault;
use crate::memory::{Access, LOCAL_BASE, Space, Staging, WINDOW};
use crate::program::Call;

/// The longest text that is read from memory.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A call of a system function.
pub(crate) fn call(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    name: &str,
    call: &Call,
    mask: u32,
) -> Flow {
    match name {
        "vprintf" => vprintf(cx, fragment, call, mask),
        "__assertfail" => assertfail(cx, fragment, call, mask),
        _ => cx.unsupported(fragment, &format!("`{name}` on the device"), mask),
    }
}

fn argument(cx: &Cx<'_, '_>, call: &Call, index: usize, lane: usize) -> u64 {
    let Some(slot) = call.arguments.get(index) else { return 0 };
    let arena = &cx.warp.arenas[cx.arena];
    let at = lane * arena.stride + slot.offset as usize;
    let mut value = [0; 8];
    let bytes = slot.bytes.min(8) as usize;
    value[..bytes].copy_from_slice(&arena.params[at..at + bytes]);
    u64::from_le_bytes(value)
}

/// Reads bytes that a lane points to, without judging them: those of a message.
fn bytes_at(cx: &mut Cx<'_, '_>, number: u32, lane: usize, address: u64, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count);
    let mut staging = Staging::default();
    for at in 0..count as u64 {
        let addresses = [address.wrapping_add(at); 32];
        let access = Access::weak(&addresses, 1 << lane, 1, Space::Generic, number);
        if cx.view().load(&access, &mut staging).faulted != 0 {
            break;
        }
        bytes.push(staging.lane(lane as u32, 1)[0]);
    }
    bytes
}

fn text_at(cx: &mut Cx<'_, '_>, number: u32, lane: usize, address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < TEXT_BYTES_MAX {
        let at = address.wrapping_add(text.len() as u64);
        match bytes_at(cx, number, lane, at, 1).first() {
            Some(byte) if *byte != 0 => text.push(*byte),
            _ => break,
        }
    }
    text
}

/// `vprintf(format, arguments)`: lanes print in order (CUDA programming guide, formatted output).
fn vprintf(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, call: &Call, mask: u32) -> Flow {
    let number = cx.number(fragment);
    for lane in lanes_of(mask) {
        let pattern = argument(cx, call, 0, lane);
        let arguments = argument(cx, call, 1, lane);
        let pattern = text_at(cx, number, lane, pattern);
        let mut next = 0u64;
        let mut out = Vec::new();
        let items = format(&pattern, &mut out, &mut |bytes, text| {
            next = next.next_multiple_of(u64::from(bytes));
            let address = local(arguments).wrapping_add(next);
            next += u64::from(bytes);
            let raw = bytes_at(cx, number, lane, address, usize::from(bytes));
            let mut value = [0; 8];
            value[..raw.len()].copy_from_slice(&raw);
            let value = u64::from_le_bytes(value);
            let string = if text { text_at(cx, number, lane, value) } else { Vec::new() };
            (value, string)
        });
        cx.print(&out);
        if let Some(slot) = call.results.first() {
            let arena = &mut cx.warp.arenas[cx.arena];
            let at = lane * arena.stride + slot.offset as usize;
            arena.params[at..at + 4].copy_from_slice(&items.to_le_bytes());
        }
    }
    Flow::Next
}

/// Pointers to local memory arrive generic or as offsets.
fn local(address: u64) -> u64 {
    if address < WINDOW { LOCAL_BASE + address } else { address }
}

/// `__assertfail(message, file, line, function, character size)`
fn assertfail(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, call: &Call, mask: u32) -> Flow {
    let number = cx.number(fragment);
    for lane in lanes_of(mask) {
        let mut texts = [0, 1, 3].map(|index| {
            let address = argument(cx, call, index, lane);
            String::from_utf8_lossy(&text_at(cx, number, lane, address)).into_owned()
        });
        let line = argument(cx, call, 2, lane) as u32;
        let thread = presets::thread_index(cx.launch.block, 32 * cx.warp.index + lane as u32);
        let [message, file, function] = &mut texts;
        let [bx, by, bz] = cx.block.index;
        let [tx, ty, tz] = thread;
        let told = format!(
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion \
             `{message}` failed.\n"
        );
        cx.sink.asserted.extend_from_slice(told.as_bytes());
    }
    let message = "an assertion of the kernel fails".to_owned();
    cx.sink.api(cx.block, cx.warp.index, number, mask, message);
    Flow::Stop(Stop::Fault(Fault::Assert))
}
