//! The chain in wide lanes: which instructions this machine has, chosen at run time.
//!
//! A build for plain x86-64 has no fused multiply-add, and `f32::mul_add` is then a library call,
//! some thirty times slower. So the machine is asked, and the loops below are compiled for what it
//! may have. Each step depends on the one before, with a latency of about four cycles at two a
//! cycle: eight vectors at least must be under way in a core. Twelve (AVX-512: 16, of 32 registers)
//! leave room for the two constants.
#![allow(
    unsafe_code,
    reason = "functions for instructions that the build does not assume are called after the \
              machine was asked for them; their vector loads and stores take pointers, made from \
              slices of checked length"
)]

use super::{CHAIN_ADDEND, CHAIN_FACTOR, CHAIN_STEPS, chain_of};

/// Which lanes the chain runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// 16 lanes a vector (x86-64 with AVX-512F).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 8 lanes a vector (x86-64 with AVX and FMA).
    #[cfg(target_arch = "x86_64")]
    Fma,
    /// What the compiler makes of plain code: on aarch64 fused and in vectors, elsewhere a library
    /// call.
    Plain,
}

/// The widest lanes of this machine.
pub fn lanes() -> Lanes {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
            return Lanes::Avx512;
        }
        if is_x86_feature_detected!("avx") && is_x86_feature_detected!("fma") {
            return Lanes::Fma;
        }
    }
    Lanes::Plain
}

impl Lanes {
    /// The chain of each element; lengths are equal.
    pub(super) fn chain(self, input: &[f32], output: &mut [f32]) {
        debug_assert_eq!(input.len(), output.len());
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") =>
            {
                // SAFETY: the machine has the instructions, asked on the line above.
                unsafe { avx512(input, output) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Fma if is_x86_feature_detected!("avx") && is_x86_feature_detected!("fma") => {
                // SAFETY: the machine has the instructions, asked on the line above.
                unsafe { fma(input, output) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Fma => plain(input, output),
            Self::Plain => plain(input, output),
        }
    }
}

/// Element by element, in blocks that a compiler for a machine with a fused instruction turns into
/// vectors.
fn plain(input: &[f32], output: &mut [f32]) {
    const BLOCK: usize = 32;
    let (input, input_rest) = input.as_chunks::<BLOCK>();
    let (output, output_rest) = output.as_chunks_mut::<BLOCK>();
    for (input, output) in input.iter().zip(output) {
        let mut block = *input;
        for _ in 0..CHAIN_STEPS {
            block = block.map(|v| v.mul_add(CHAIN_FACTOR, CHAIN_ADDEND));
        }
        *output = block;
    }
    tail(input_rest, output_rest);
}

fn tail(input: &[f32], output: &mut [f32]) {
    for (input, output) in input.iter().zip(output) {
        *output = chain_of(*input);
    }
}

macro_rules! wide {
    ($name:ident, $features:literal, $vectors:literal, $lanes:literal,
     $load:ident, $store:ident, $set:ident, $fmadd:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $name(input: &[f32], output: &mut [f32]) {
            use std::arch::x86_64::{$fmadd, $load, $set, $store};
            const BLOCK: usize = $vectors * $lanes;
            let factor = $set(CHAIN_FACTOR);
            let addend = $set(CHAIN_ADDEND);
            let (input, input_rest) = input.as_chunks::<BLOCK>();
            let (output, output_rest) = output.as_chunks_mut::<BLOCK>();
            for (input, output) in input.iter().zip(output) {
                // SAFETY: each load reads `$lanes` elements at an offset at most `BLOCK - $lanes`.
                let mut v: [_; $vectors] =
                    std::array::from_fn(|at| unsafe { $load(input.as_ptr().add(at * $lanes)) });
                for _ in 0..CHAIN_STEPS {
                    for vector in &mut v {
                        *vector = $fmadd(*vector, factor, addend);
                    }
                }
                for (at, vector) in v.into_iter().enumerate() {
                    // SAFETY: as for the loads.
                    unsafe { $store(output.as_mut_ptr().add(at * $lanes), vector) };
                }
            }
            // `mul_add` is one instruction here as well.
            for (input, output) in input_rest.iter().zip(output_rest) {
                let mut v = *input;
                for _ in 0..CHAIN_STEPS {
                    v = v.mul_add(CHAIN_FACTOR, CHAIN_ADDEND);
                }
                *output = v;
            }
        }
    };
}

wide!(
    avx512,
    "avx512f,fma",
    16,
    16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps
);
wide!(fma, "avx,fma", 12, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps);

#[cfg(test)]
mod tests {
    use super::super::Input;
    use super::*;

    #[test]
    fn each_kind_of_lane_agrees_with_the_definition() {
        let kinds = [
            #[cfg(target_arch = "x86_64")]
            Lanes::Avx512,
            #[cfg(target_arch = "x86_64")]
            Lanes::Fma,
            Lanes::Plain,
        ];
        for len in [1, 95, 96, 97, 255, 256, 300, 1000] {
            let values = Input::Special { seed: len as u64 }.values(len);
            let expect: Vec<u32> = values.iter().map(|v| chain_of(*v).to_bits()).collect();
            for kind in kinds {
                let mut got = vec![f32::NAN; len];
                kind.chain(&values, &mut got);
                let got: Vec<u32> = got.iter().map(|v| v.to_bits()).collect();
                assert_eq!(got, expect, "{kind:?} {len}");
            }
        }
    }
}
