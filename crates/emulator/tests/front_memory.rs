//! How much memory the front end takes at most, as its input grows: hostile input is repeated, and
//! an allocator that counts tells.

#![allow(unsafe_code, reason = "an allocator that counts is one that implements GlobalAlloc")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proofrun_emulator::fatbin::images;
use proofrun_emulator::ptx::parse;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is done by the system's allocator; numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most bytes that were allocated at once during this, beside those before it.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed) - before
}

/// Pieces of a module, and of a kernel's body, that are short for what they make.
const MODULE: [&str; 8] = [
    ".func a() {}",
    ".func a(.reg .b32 a) { .reg .v4 .b32 %r<262143>; x %r9.x; }",
    ".global .b8 a[] = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0};",
    ".global .b8 a[2][1] = {{},{1}};",
    ".global .v8 .b8 a[1][1][1];",
    ".file 65535 \"a\"",
    ".section .debug_str { a: .b8 1,1,1,1,1,1,1,1 }",
    "a: .callprototype _;",
];
const BODY: [&str; 9] = [
    "x;",
    "a;a;a;a;",
    "{}",
    "{ .reg .b32 a<9>; x a1, a2, a3; l: }",
    ".loc 1 1 1, inlined_at 1 1 1 x;",
    "x {_,_,_,_,_,_,_,_},[1,1,1,1],_|_;",
    "mov.b.c.d.e.f.g.h %tid.x, a+1, 1;",
    "{ .param .b8 a; x [a], a, a, a; }",
    "{ .reg .v4 .b8 v; x v, v, v, v, v; }",
];

/// Bytes that a byte of PTX may take, tokens included.
const PER_BYTE: usize = 128;

/// Bytes that any input may take.
const BASE: usize = 32 << 20;

/// One test, since the count is the process's.
#[test]
fn memory_grows_no_faster_than_input() {
    let wrapped = BODY.map(|piece| (".version 9.0 .entry k() {", piece, "}"));
    let plain = MODULE.map(|piece| (".version 9.0 ", piece, ""));
    for (before, piece, after) in plain.into_iter().chain(wrapped) {
        let text = format!("{before}{}{after}", piece.repeat((1 << 20) / piece.len()));
        let most = peak(|| assert!(parse(&text).is_ok(), "{piece}"));
        let allowed = BASE + text.len() * PER_BYTE;
        assert!(most <= allowed, "{piece}: {most} bytes, {allowed} allowed");
    }
    let mut bomb = include_bytes!("fatbin/samples/lz4.fatbin").to_vec();
    for raw in [1u64 << 20, 200 << 20, 1 << 30, u64::MAX] {
        bomb[16 + 56..16 + 64].copy_from_slice(&raw.to_le_bytes());
        let most = peak(|| drop(images(&bomb).map(|images| images[0].bytes())));
        assert!(most <= 4 << 20, "{raw} declared: {most} bytes");
    }
}
