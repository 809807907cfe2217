//! How fast forms run, beside a bare loop with the same operation over the same rows. It prints,
//! and asserts nothing: `cargo bench -p proofrun-emulator --bench alu`.
#![allow(clippy::print_stdout, reason = "that is what it is for")]
#![allow(unsafe_code, reason = "the bare loops are compiled for the processor's features too")]

use std::hint::black_box;
use std::time::Instant;

use proofrun_emulator::alu::{Rows, select};
use proofrun_emulator::lanes::{ALL, LANES, Lanes, Row, Width};

const CALLS: u32 = 100_000;
const ROUNDS: u32 = 60;

/// Nanoseconds of one call: of the fastest round.
fn fastest(mut round: impl FnMut()) -> f64 {
    let time = |round: &mut dyn FnMut()| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    let best = (0..ROUNDS).map(|_| time(&mut round)).fold(f64::MAX, f64::min);
    best * 1e9 / f64::from(CALLS)
}

/// A form over rows of its own.
fn form(name: &str, widths: &[Width], mask: u32) -> f64 {
    let mut words = name.split('.').map(str::to_owned);
    let opcode = words.next().unwrap_or_default();
    let modifiers: Vec<String> = words.collect();
    let widths: Vec<_> = widths.iter().map(|width| Some(*width)).collect();
    let Ok(Some(found)) = select(&opcode, &modifiers, &widths) else {
        println!("{name}: not implemented");
        return f64::NAN;
    };
    let mut lanes = Lanes::new(64);
    for unit in (8..48).step_by(2) {
        *lanes.get_mut::<f32>(Row(unit)) = std::array::from_fn(|lane| 1.0 + lane as f32 / 64.0);
    }
    let rows = Rows {
        d: Row(48),
        a: Row(8),
        b: Row(16),
        c: Row(24),
        f: Row(32),
        e: Row(40),
        extra: found.extra,
    };
    fastest(|| {
        for _ in 0..CALLS {
            (black_box(found.compute))(&mut lanes, black_box(&rows), black_box(mask));
        }
    })
}

macro_rules! bare {
    ($name:ident, $T:ty, |$a:ident, $b:ident, $c:ident| $body:expr) => {
        fn $name() -> f64 {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
            fn row(d: &mut [$T; LANES], [a, b, c]: [&[$T; LANES]; 3]) {
                for lane in 0..LANES {
                    let ($a, $b, $c) = (a[lane], b[lane], c[lane]);
                    d[lane] = $body;
                }
            }
            let ones = || -> [$T; LANES] { std::array::from_fn(|lane| lane as $T) };
            let (mut d, a, b, c) = (ones(), ones(), ones(), ones());
            fastest(|| {
                for _ in 0..CALLS {
                    // SAFETY: asked for in `main`.
                    #[allow(unused_unsafe, reason = "elsewhere the function is a safe one")]
                    unsafe {
                        row(black_box(&mut d), black_box([&a, &b, &c]));
                    }
                }
            })
        }
    };
}

bare!(bare_fma, f32, |a, b, c| a.mul_add(b, c));
bare!(bare_fma64, f64, |a, b, c| a.mul_add(b, c));
bare!(bare_add, u32, |a, b, _c| a.wrapping_add(b));
bare!(bare_mad, u32, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
bare!(bare_add64, u64, |a, b, _c| a.wrapping_add(b));

fn show(name: &str, mask: u32, measured: f64, bare: Option<f64>) {
    let some = if mask == ALL { "all lanes" } else { "some lanes" };
    let rate = 1e3 / measured;
    let ratio = bare.map_or(String::new(), |bare| format!("  {:4.2} bare loops", measured / bare));
    println!("{name:24} {some:10} {measured:7.2} ns {rate:8.1} M warp-instructions/s{ratio}");
}

fn main() {
    use Width::{B16, B32, B64, Pred};
    #[cfg(target_arch = "x86_64")]
    if !(std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")) {
        println!("no AVX2 and FMA: the bare loops can't run");
        return;
    }
    let three = [B32; 4];
    let compared: [(&str, &[Width], Option<f64>); 7] = [
        ("fma.rn.f32", &three, Some(bare_fma())),
        ("fma.rn.ftz.f32", &three, Some(bare_fma())),
        ("fma.rn.f64", &[B64; 4], Some(bare_fma64())),
        ("add.s32", &[B32; 3], Some(bare_add())),
        ("mad.lo.s32", &three, Some(bare_mad())),
        ("add.s64", &[B64; 3], Some(bare_add64())),
        ("mul.wide.s32", &[B64, B32, B32], None),
    ];
    let others: [(&str, &[Width]); 27] = [
        ("add.f32", &[B32; 3]),
        ("mul.f32", &[B32; 3]),
        ("div.rn.f32", &[B32; 3]),
        ("add.f64", &[B64; 3]),
        ("mul.hi.u32", &[B32; 3]),
        ("mul.lo.s64", &[B64; 3]),
        ("setp.lt.s32", &[Pred, B32, B32]),
        ("setp.lt.f32", &[Pred, B32, B32]),
        ("selp.b32", &[B32, B32, B32, Pred]),
        ("and.b32", &[B32; 3]),
        ("and.pred", &[Pred; 3]),
        ("shl.b32", &[B32; 3]),
        ("shl.b64", &[B64, B64, B32]),
        ("shf.l.wrap.b32", &three),
        ("lop3.b32", &[B32; 5]),
        ("prmt.b32", &three),
        ("mov.b32", &[B32; 2]),
        ("cvt.rn.f32.s32", &[B32; 2]),
        ("cvt.rzi.s32.f32", &[B32; 2]),
        ("cvt.s64.s32", &[B64, B32]),
        ("cvt.u16.u32", &[B16, B32]),
        ("cvt.rn.f16.f32", &[B16, B32]),
        ("min.f32", &[B32; 3]),
        ("div.s32", &[B32; 3]),
        ("ex2.approx.ftz.f32", &[B32; 2]),
        ("fma.rn.f16x2", &three),
        ("fma.rz.f32", &three),
    ];
    for (name, widths, bare) in compared {
        show(name, ALL, form(name, widths, ALL), bare);
    }
    for (name, widths) in others {
        show(name, ALL, form(name, widths, ALL), None);
    }
    for name in ["fma.rn.f32", "add.s32"] {
        let widths: &[Width] = if name == "add.s32" { &[B32; 3] } else { &three };
        show(name, 0x0f0f_3355, form(name, widths, 0x0f0f_3355), None);
    }
}
