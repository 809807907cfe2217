//! What lies at an address, in words.

use super::allocation::{Allocation, SymbolSpace};
use super::describe::{SharedVariable, grouped};
use super::device::window;
use super::findings::{Raw, What};
use super::host::Memory;
use crate::machine::MemoryKind;

/// How far from an allocation an address is still told as past it.
const NEAR: u64 = 1 << 20;

/// What a finding's address is in, or next to.
pub fn object(raw: &Raw, memory: &Memory, shared: &[SharedVariable]) -> Option<String> {
    match window(raw.address) {
        Some((0, offset)) => Some(in_shared(raw, offset, shared)),
        Some(_) => Some(format!("local memory at offset {}", raw.address % super::WINDOW)),
        None => in_memory(raw, memory),
    }
}

fn in_shared(raw: &Raw, offset: u64, shared: &[SharedVariable]) -> String {
    let holds = |v: &&SharedVariable| {
        u64::from(v.offset) <= offset && offset < u64::from(v.offset) + u64::from(v.bytes)
    };
    let Some(variable) = shared.iter().find(holds) else {
        return match shared.iter().rev().find(|v| u64::from(v.offset) <= offset) {
            Some(v) => {
                let past = offset - u64::from(v.offset) - u64::from(v.bytes);
                format!("{} bytes past the end of {}", grouped(past), shared_name(v))
            }
            None => format!("shared memory at offset {}", grouped(offset)),
        };
    };
    let inside = offset - u64::from(variable.offset);
    if variable.bytes == variable.element_bytes && inside == 0 {
        return shared_name(variable);
    }
    element(inside, u64::from(variable.element_bytes), raw.bytes, &shared_name(variable))
}

fn shared_name(v: &SharedVariable) -> String {
    if v.bytes == v.element_bytes {
        return format!("the shared variable `{}`", v.name);
    }
    format!("the {} shared array `{}`", sized(u64::from(v.bytes)), v.name)
}

fn element(inside: u64, element_bytes: u64, access: u64, name: &str) -> String {
    let unit = if element_bytes > 1 { element_bytes } else { access.max(1) };
    if inside.is_multiple_of(unit) {
        format!("element {} of {name}", grouped(inside / unit))
    } else {
        format!("byte {} of {name}", grouped(inside))
    }
}

fn in_memory(raw: &Raw, memory: &Memory) -> Option<String> {
    let table = memory.table();
    let at = table.partition_point(|a| a.base <= raw.address);
    let before = at.checked_sub(1).map(|at| &table[at]);
    if let Some(a) = before.filter(|a| raw.address < a.end() || raw.address == a.base) {
        let whole = matches!(raw.what, What::BadFree | What::DoubleFree | What::Leak);
        if whole && raw.address == a.base {
            return Some(name(a));
        }
        let bytes = a.symbol.as_ref().map_or(1, |s| u64::from(s.element_bytes));
        if a.symbol.is_some() && a.bytes == bytes && raw.address == a.base {
            return Some(name(a));
        }
        let unit = if raw.pc.is_some() { raw.bytes } else { 1 };
        return Some(element(raw.address - a.base, bytes, unit, &name(a)));
    }
    let past = before.map(|a| (raw.address - a.end(), a, "past the end of"));
    let ahead = table.get(at).map(|a| (a.base - raw.address, a, "before"));
    let nearest = [past, ahead].into_iter().flatten().min_by_key(|(apart, ..)| *apart)?;
    let (apart, a, side) = nearest;
    if apart > NEAR {
        return Some(format!("address {:#x}, near no allocation", raw.address));
    }
    Some(match (apart, side) {
        (0, _) => format!("right past the end of {}", name(a)),
        _ => format!("{} bytes {side} {}", grouped(apart), name(a)),
    })
}

fn name(a: &Allocation) -> String {
    if let Some(symbol) = &a.symbol {
        let space = match symbol.space {
            SymbolSpace::Global => "device",
            SymbolSpace::Const => "constant",
            SymbolSpace::Managed => "managed",
        };
        if a.bytes == u64::from(symbol.element_bytes) {
            return format!("the {space} variable `{}`", symbol.name);
        }
        return format!("the {} {space} array `{}`", sized(a.bytes), symbol.name);
    }
    let call = match a.kind {
        MemoryKind::Device => "cudaMalloc",
        MemoryKind::Managed => "cudaMallocManaged",
        MemoryKind::Host if a.number == 0 => return format!("{} of host memory", sized(a.bytes)),
        MemoryKind::Host => "cudaHostAlloc",
    };
    let number = a.number;
    let freed = if a.is_freed() { "freed " } else { "" };
    format!("the {freed}{} allocation #{number} (the {} {call})", sized(a.bytes), nth(number))
}

/// A size as an attribute: `8 KiB`, `1,000-byte`.
fn sized(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", grouped(bytes / unit));
        }
    }
    format!("{}-byte", grouped(bytes))
}

fn nth(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}
