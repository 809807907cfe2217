//! CPU references, bit for bit what the device computes.
//!
//! **Invariant: whatever lanes and cores are used, each element equals [`chain_of`], which is the
//! definition.** A fused multiply-add is correctly rounded wherever it runs, so the device's chain
//! and this one agree in every bit; `a * b + c` rounds twice and does not. The check of a run
//! compares what a kernel wrote with what is computed here.

mod input;
mod lanes;

use rayon::prelude::*;

pub use input::{Input, SplitMix64};
pub use lanes::{Lanes, lanes};

/// Dependent fused multiply-adds on each element.
pub const CHAIN_STEPS: usize = 64;
/// The factor of each step.
pub const CHAIN_FACTOR: f32 = 0.999;
/// The addend of each step.
pub const CHAIN_ADDEND: f32 = 0.25;

/// Elements that one task computes: 16 KiB in and 16 KiB out stay in a core's first caches.
const TASK_ELEMENTS: usize = 4096;

/// The definition: 64 dependent fused multiply-adds on one element.
pub fn chain_of(value: f32) -> f32 {
    (0..CHAIN_STEPS).fold(value, |v, _| v.mul_add(CHAIN_FACTOR, CHAIN_ADDEND))
}

/// [`chain_of`] of every element, on all cores.
pub fn chain(input: &[f32]) -> Vec<f32> {
    let mut output = vec![0.0; input.len()];
    chain_into(input, &mut output);
    output
}

/// [`chain_of`] of every element into `output`, on all cores.
///
/// # Panics
/// If the lengths differ.
pub fn chain_into(input: &[f32], output: &mut [f32]) {
    assert_eq!(input.len(), output.len(), "an output for each input");
    let lanes = lanes();
    output
        .par_chunks_mut(TASK_ELEMENTS)
        .zip(input.par_chunks(TASK_ELEMENTS))
        .for_each(|(output, input)| lanes.chain(input, output));
}

/// [`chain_of`] of every element into `output`, on this core.
///
/// # Panics
/// If the lengths differ.
pub fn chain_into_on_this_core(input: &[f32], output: &mut [f32]) {
    assert_eq!(input.len(), output.len(), "an output for each input");
    lanes().chain(input, output);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the standard: fused means that the product and the sum are rounded once. The product of
    /// two f32 is exact in f64 (48 bits of 53); adding 0.25 there rounds once to f64, and once more
    /// to f32. Where the f64 sum is exact, that is one rounding, computed without any fused
    /// instruction.
    fn step_by_f64(v: f32) -> Option<f32> {
        let product = f64::from(v) * f64::from(CHAIN_FACTOR);
        let sum = product + f64::from(CHAIN_ADDEND);
        let exact = (sum - f64::from(CHAIN_ADDEND)) == product && (sum - product) == 0.25;
        exact.then_some(sum as f32)
    }

    #[test]
    fn a_step_rounds_once() {
        let mut compared = 0;
        for value in Input::Lesson.values(97) {
            if let Some(expect) = step_by_f64(value) {
                let got = value.mul_add(CHAIN_FACTOR, CHAIN_ADDEND);
                assert_eq!(got.to_bits(), expect.to_bits(), "{value}");
                compared += 1;
            }
        }
        assert!(compared > 50, "{compared}");
    }

    #[test]
    fn unfused_arithmetic_is_another_chain() {
        let unfused = |v: f32| (0..CHAIN_STEPS).fold(v, |v, _| v * CHAIN_FACTOR + CHAIN_ADDEND);
        let values = Input::Lesson.values(97);
        let differ = values.iter().filter(|v| unfused(**v).to_bits() != chain_of(**v).to_bits());
        assert!(differ.count() > 20);
    }

    #[test]
    fn the_chain_stays_near_its_closed_form() {
        // v * f^64 + 0.25 * (1 - f^64) / (1 - f), in f64 with the f32 constants.
        let factor = f64::from(CHAIN_FACTOR);
        let power = factor.powi(64);
        for value in Input::Lesson.values(97) {
            let expect = f64::from(value) * power + 0.25 * (1.0 - power) / (1.0 - factor);
            let got = f64::from(chain_of(value));
            assert!((got - expect).abs() <= 1e-5 * expect, "{value}: {got} {expect}");
        }
    }

    #[test]
    fn all_cores_and_lanes_agree_with_the_definition_in_every_bit() {
        let inputs = [Input::Lesson, Input::Finite { seed: 1 }, Input::Special { seed: 2 }];
        for len in [0, 1, 7, 31, 255, 256, 257, 4095, 4096, 4097, 20_011] {
            for input in inputs {
                let values = input.values(len);
                let expect: Vec<u32> = values.iter().map(|v| chain_of(*v).to_bits()).collect();
                let got: Vec<u32> = chain(&values).iter().map(|v| v.to_bits()).collect();
                assert_eq!(got, expect, "{input:?} {len}");
            }
        }
    }
}
