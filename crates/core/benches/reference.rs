//! How near the CPU reference comes to what this machine's fused multiply-add units can do.
//!
//! The peak is measured in the same run: a loop of independent accumulators that touches no memory,
//! on one thread and on all. `cargo bench -p proofrun-core --bench reference`. Figures only; a
//! loaded machine fails nothing.
#![allow(
    clippy::print_stdout,
    unsafe_code,
    reason = "a benchmark prints; the peak loop is compiled for what the machine was asked for"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use proofrun_core::reference::{self, CHAIN_STEPS, Input};

/// Fused multiply-adds an accumulator makes in one call of the peak loop.
const PEAK_STEPS: usize = 1 << 16;
/// Independent chains in the peak loop: ten vectors of the machine's widest lanes.
const PEAK_VECTORS: usize = 10;

fn main() {
    let threads = rayon::current_num_threads();
    println!("lanes: {:?}, threads: {threads}", reference::lanes());
    let (one, all) = (peak(1), peak(threads));
    println!("peak, one thread:  {:8.2} G fused multiply-adds/s", one / 1e9);
    println!("peak, all threads: {:8.2} G fused multiply-adds/s", all / 1e9);
    for n in [1 << 14, 270_337, 4_194_915] {
        let input = Input::Lesson.values(n);
        let mut output = vec![0.0; n];
        let single = best(|| reference::chain_into_on_this_core(&input, black_box(&mut output)));
        let many = best(|| reference::chain_into(&input, black_box(&mut output)));
        let made = best(|| drop(black_box(reference::chain(&input))));
        show("one thread", n, single, one);
        show("all threads", n, many, all);
        show("all, allocated", n, made, all);
    }
    let n = 4_194_915;
    let input = Input::Lesson.values(n);
    let scalar = best(|| {
        let sum: f32 = input[..n / 64].iter().map(|v| reference::chain_of(*v)).sum();
        black_box(sum);
    });
    show("the definition", n / 64, scalar, one);
}

fn show(what: &str, n: usize, took: Duration, peak: f64) {
    let rate = (n * CHAIN_STEPS) as f64 / took.as_secs_f64();
    let ms = took.as_secs_f64() * 1e3;
    println!(
        "{what:14} n = {n:7}: {ms:9.3} ms, {:8.2} G/s, peak / this = {:.2}",
        rate / 1e9,
        peak / rate
    );
}

/// The shortest of runs over at least a fifth of a second.
fn best(mut work: impl FnMut()) -> Duration {
    work();
    let started = Instant::now();
    let mut least = Duration::MAX;
    while started.elapsed() < Duration::from_millis(200) {
        let one = Instant::now();
        work();
        least = least.min(one.elapsed());
    }
    least
}

/// Fused multiply-adds a second on this many threads at once.
fn peak(threads: usize) -> f64 {
    let took = best(|| {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(peak_loop);
            }
            peak_loop();
        });
    });
    (threads * PEAK_STEPS * PEAK_VECTORS * width()) as f64 / took.as_secs_f64()
}

#[cfg(target_arch = "x86_64")]
fn width() -> usize {
    match reference::lanes() {
        reference::Lanes::Avx512 => 16,
        reference::Lanes::Fma => 8,
        reference::Lanes::Plain => 4,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn width() -> usize {
    4
}

fn peak_loop() {
    #[cfg(target_arch = "x86_64")]
    match reference::lanes() {
        // SAFETY: `lanes` names what the machine has.
        reference::Lanes::Avx512 => return unsafe { x86::peak_avx512() },
        // SAFETY: as above.
        reference::Lanes::Fma => return unsafe { x86::peak_fma() },
        reference::Lanes::Plain => {}
    }
    let mut v = [[black_box(1.0_f32); 4]; PEAK_VECTORS];
    for _ in 0..PEAK_STEPS {
        v = v.map(|lanes| lanes.map(|v| v.mul_add(0.999, 0.25)));
    }
    black_box(v);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    use super::{PEAK_STEPS, PEAK_VECTORS};

    macro_rules! peak {
        ($name:ident, $features:literal, $set:ident, $fmadd:ident) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name() {
                let (factor, addend) = ($set(black_box(0.999)), $set(black_box(0.25)));
                let mut v: [_; PEAK_VECTORS] = std::array::from_fn(|at| $set(at as f32));
                for _ in 0..PEAK_STEPS {
                    for vector in &mut v {
                        *vector = $fmadd(*vector, factor, addend);
                    }
                }
                black_box(v);
            }
        };
    }

    peak!(peak_avx512, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps);
    peak!(peak_fma, "avx,fma", _mm256_set1_ps, _mm256_fmadd_ps);
}
