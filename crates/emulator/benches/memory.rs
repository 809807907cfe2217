//! What a checked access of a warp costs, in nanoseconds, and against a plain copy of the bytes. An
//! argument selects cases by a part of their names.

#![allow(clippy::print_stdout, reason = "the figures are the output")]

use std::hint::black_box;
use std::time::Instant;

use proofrun_emulator::machine::MemoryKind;
use proofrun_emulator::memory::{
    Access, Findings, Local, Memory, Order, Shared, Space, Staging, View,
};
use proofrun_emulator::race::{Grid, Scope, WarpClocks};

const BYTES: u64 = 1 << 20;
const ROUNDS: u64 = 60;

/// Times that a case is measured: the least counts.
const REPEATS: usize = 8;

/// One kind of access: its name, the address of a lane at a step, and how it is made.
struct Case {
    name: &'static str,
    address: fn(step: u64, lane: u64) -> u64,
    width: u8,
    shared: bool,
    mask: u32,
    act: Act,
}

#[derive(Clone, Copy, PartialEq)]
enum Act {
    Load,
    Store,
    LoadStore,
    Add,
}

const CASES: &[Case] = &[
    case("load, side by side", |s, l| s * 128 + l * 4, 4, Act::Load),
    case("store, side by side", |s, l| s * 128 + l * 4, 4, Act::Store),
    case("load and store, side by side (two accesses)", |s, l| s * 128 + l * 4, 4, Act::LoadStore),
    case("load, side by side, one off", |s, l| s * 128 + 4 + l * 4, 4, Act::Load),
    case("load of 8 bytes, side by side", |s, l| s * 256 + l * 8, 8, Act::Load),
    case("load of 16 bytes, side by side", |s, l| s * 512 + l * 16, 16, Act::Load),
    case("load of 1 byte, side by side", |s, l| s * 32 + l, 1, Act::Load),
    case("load, all at one address", |s, _| s * 4, 4, Act::Load),
    case("load, two rows of 16", |s, l| s * 64 + l / 16 * 4096 + l % 16 * 4, 4, Act::Load),
    case("load, 128 bytes apart", |s, l| s % 32 * 4 + s / 32 * 4096 + l * 128, 4, Act::Load),
    case("store, 128 bytes apart", |s, l| s % 32 * 4 + s / 32 * 4096 + l * 128, 4, Act::Store),
    case("atomic add, all at one address", |s, _| s / 64 * 4, 4, Act::Add),
    case("atomic add, scattered", |s, l| (s * 7 + l * 13) % 1024 * 4, 4, Act::Add),
];

const fn case(name: &'static str, address: fn(u64, u64) -> u64, width: u8, act: Act) -> Case {
    Case { name, address, width, shared: false, mask: u32::MAX, act }
}

fn main() {
    let plain = copies();
    println!("{:>8.1} ns  a copy of 128 bytes", plain);
    for case in CASES {
        report(case, plain);
        report(&Case { shared: true, ..*case }, plain);
    }
    report(&Case { name: "load, side by side, 20 lanes", mask: 0xf_ffff, ..CASES[0] }, plain);
    report(&Case { name: "load, every other lane", mask: 0x5555_5555, ..CASES[0] }, plain);
}

fn report(case: &Case, plain: f64) {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    if only.is_some_and(|only| !case.name.contains(&only)) {
        return;
    }
    let ns = measure(case);
    let space = if case.shared { "shared" } else { "global" };
    println!("{ns:>8.1} ns  {:>6.1}x  {space}: {}", ns / plain, case.name);
}

fn copies() -> f64 {
    (0..REPEATS).map(|_| copies_once()).fold(f64::INFINITY, f64::min)
}

fn copies_once() -> f64 {
    let from = vec![1u8; BYTES as usize];
    let mut to = [0u8; 128];
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for at in (0..BYTES as usize).step_by(128) {
            to.copy_from_slice(&from[at..at + 128]);
            black_box(&mut to);
        }
    }
    start.elapsed().as_nanos() as f64 / (ROUNDS * BYTES / 128) as f64
}

fn measure(case: &Case) -> f64 {
    (0..REPEATS).map(|_| measure_once(case)).fold(f64::INFINITY, f64::min)
}

fn measure_once(case: &Case) -> f64 {
    let bytes = if case.shared { 32 << 10 } else { BYTES };
    let Some(mut memory) = Memory::new(1 << 30) else { return f64::NAN };
    let Some(base) = memory.allocate(BYTES, MemoryKind::Device) else { return f64::NAN };
    if memory.fill(base, 0, BYTES).is_err() {
        return f64::NAN;
    }
    let grid = Grid { threads: 256, cluster_blocks: 1, isolated: true };
    let device = memory.begin_launch(grid, false);
    let mut shared = Shared::new(bytes as u32);
    let mut local = Local::new(0);
    shared.write(0, &vec![0; bytes as usize]);
    let mut clocks = WarpClocks::new(grid, 0, 0);
    let mut findings = Findings::new();
    let mut hint = 0;
    let mut staging = Staging::default();
    // Addresses are made before: what makes them is not part of an access.
    let steps: Vec<[u64; 32]> = (0..512)
        .map(|step| {
            std::array::from_fn(|lane| {
                let offset = (case.address)(step, lane as u64) % bytes;
                let offset = offset & !(u64::from(case.width) - 1);
                if case.shared { offset } else { base + offset }
            })
        })
        .collect();
    let mut made = 0;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for addresses in &steps {
            let mut view = View {
                device: &device,
                shared: &mut shared,
                local: &mut local,
                clocks: &mut clocks,
                hint: &mut hint,
                findings: &mut findings,
            };
            let space = if case.shared { Space::Shared } else { Space::Global };
            let mut access = Access::weak(addresses, case.mask, case.width, space, 1);
            if matches!(case.act, Act::Load | Act::LoadStore) {
                black_box(view.load(&access, &mut staging));
                made += 1;
            }
            if matches!(case.act, Act::Store | Act::LoadStore) {
                black_box(view.store(&access, &mut staging, 0));
                made += 1;
            }
            if case.act == Act::Add {
                access.order = Order::Relaxed(Scope::Gpu);
                black_box(view.rmw(&access, 0, false, &mut add, &mut staging));
                made += 1;
            }
        }
    }
    let ns = start.elapsed().as_nanos() as f64 / f64::from(made);
    assert!(findings.is_empty() || case.name.contains("scattered"), "{}", case.name);
    ns
}

fn add(_: u32, value: &mut [u8]) -> bool {
    let mut word = [0; 4];
    word.copy_from_slice(value);
    value.copy_from_slice(&(u32::from_le_bytes(word) + 1).to_le_bytes());
    true
}
