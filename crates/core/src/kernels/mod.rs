//! Launch descriptions of the kernels that a Rust harness drives: names, parameters, grids,
//! preconditions.
//!
//! **Invariant: a harness is data.** It names kernels, sizes, grids, inputs and the reference; the
//! runner's check does what it says on whatever device stands behind it. A manifest selects one by
//! name.

mod barrier_pipeline;
mod entry;

pub use entry::{NoEntry, choose_entry, entries_of_ptx, entry_name};

use crate::checks::{self, CheckCase, NotEqual};
use crate::reference::{self, Input, SplitMix64};

/// One kernel, and what a launch of it must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSpec {
    /// The function's name in the source.
    pub name: &'static str,
    /// Its parameters, in order.
    pub params: &'static [Param],
    /// Threads of a block.
    pub block: u32,
    /// Dynamic shared memory, in bytes.
    pub dynamic_shared_bytes: u32,
    /// What holds between the grid and the number of elements.
    pub precondition: Precondition,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// `const float*`: the input's elements.
    Input,
    /// `float*`: as many elements of output.
    Output,
    /// `size_t`: the number of elements.
    Count,
}

/// What holds between the grid and the number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// No more blocks than tiles of so many elements, and at least one of each.
    GridAtMostTiles {
        /// Elements of a tile.
        tile: usize,
    },
}

impl Precondition {
    /// The most blocks for so many elements.
    pub fn grid_max(self, n: usize) -> u32 {
        match self {
            Self::GridAtMostTiles { tile } => u32::try_from(n.div_ceil(tile)).unwrap_or(u32::MAX),
        }
    }
}

/// What the output must equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// [`reference::chain`], in every bit.
    Chain,
}

impl Reference {
    /// The output wanted for this input.
    pub fn of(self, input: &[f32]) -> Vec<f32> {
        match self {
            Self::Chain => reference::chain(input),
        }
    }

    /// Compares an output with the wanted one. Where the input can hold NaN, any written NaN will
    /// do for a NaN.
    ///
    /// # Errors
    /// What differs.
    pub fn compare(self, got: &[f32], want: &[f32], input: Input) -> Result<(), NotEqual> {
        match self {
            Self::Chain if input.may_hold_nan() => checks::bit_exact_any_nan(got, want),
            Self::Chain => checks::bit_exact(got, want),
        }
    }
}

/// A family of kernels that do the same work, and how to check them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harness {
    /// The name by which a manifest selects it.
    pub name: &'static str,
    /// The kernels. Each is compared with the reference, and each after the first with the first,
    /// in any bit.
    pub kernels: &'static [KernelSpec],
    /// Numbers of elements; the last one is the lesson's own.
    pub sizes: &'static [usize],
    /// What the output must equal.
    pub reference: Reference,
}

/// Every harness there is.
pub const HARNESSES: &[Harness] = &[barrier_pipeline::HARNESS];

/// The harness of this name.
pub fn harness(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

impl Harness {
    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&'static KernelSpec> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// All cases on a device of so many multiprocessors: sizes × inputs × grids × kernels, nested
    /// in this order, so that a reference serves all launches of its input, and the first kernel
    /// comes before those compared with it.
    pub fn cases(&self, sm_count: u32, seed: u64) -> Vec<CheckCase> {
        let mut random = SplitMix64::new(seed);
        // Below 2^63: a TOML integer holds them.
        let (finite, special) = (random.word() >> 1, random.word() >> 1);
        let inputs =
            [Input::Lesson, Input::Finite { seed: finite }, Input::Special { seed: special }];
        let mut cases = Vec::new();
        for &n in self.sizes {
            for input in inputs {
                for grid in self.grids(n, sm_count) {
                    cases.extend(self.kernels.iter().map(|kernel| CheckCase {
                        kernel: kernel.name.to_owned(),
                        n,
                        grid,
                        input,
                    }));
                }
            }
        }
        cases
    }

    /// Grids for so many elements: 1, 2 and the lesson's choice, within every kernel's
    /// precondition, each once.
    fn grids(&self, n: usize, sm_count: u32) -> Vec<u32> {
        let max = self.kernels.iter().map(|kernel| kernel.precondition.grid_max(n)).min();
        let max = max.unwrap_or(0);
        let mut grids = vec![1, 2, lesson_grid(sm_count, max)];
        grids.retain(|grid| (1..=max).contains(grid));
        grids.sort_unstable();
        grids.dedup();
        grids
    }
}

/// The lesson's choice: two blocks a multiprocessor, and no more than tiles.
fn lesson_grid(sm_count: u32, tiles: u32) -> u32 {
    sm_count.saturating_mul(2).min(tiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (n, grids) by hand from the lesson: tiles of 1,024, grid at most tiles, an H200 has 132
    /// multiprocessors.
    const BY_HAND: [(usize, &[u32]); 9] = [
        (1, &[1]),
        (31, &[1]),
        (1023, &[1]),
        (1024, &[1]),
        (1025, &[1, 2]),
        (2048, &[1, 2]),
        (4097, &[1, 2, 5]),
        (270_337, &[1, 2, 264]),
        (4_194_915, &[1, 2, 264]),
    ];

    #[test]
    fn every_harness_has_a_name_of_its_own_kernels_and_cases() {
        for one in HARNESSES {
            assert_eq!(harness(one.name), Some(one));
            assert!(!one.kernels.is_empty() && !one.cases(1, 0).is_empty());
            for kernel in one.kernels {
                assert_eq!(one.kernel(kernel.name), Some(kernel));
                assert!(kernel.params.contains(&Param::Output));
            }
        }
        assert_eq!(harness("barrier"), None);
    }

    #[test]
    fn the_cases_are_sizes_times_inputs_times_grids_times_kernels() {
        let cases = harness("barrier-pipeline").unwrap().cases(132, 1);
        let launches: usize = BY_HAND.iter().map(|(_, grids)| grids.len()).sum();
        assert_eq!(cases.len(), launches * 3 * 2);
        for (n, grids) in BY_HAND {
            let mut found: Vec<u32> = cases.iter().filter(|c| c.n == n).map(|c| c.grid).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, grids, "{n}");
        }
        for pair in cases.chunks(2) {
            assert_eq!(pair[0].kernel, "pipelineSyncthreads");
            assert_eq!(pair[1].kernel, "pipelineSplitBarrier");
            assert_eq!((pair[0].n, pair[0].grid), (pair[1].n, pair[1].grid));
        }
    }

    #[test]
    fn a_small_card_gets_a_small_grid_and_none_gets_zero() {
        let one = harness("barrier-pipeline").unwrap();
        assert_eq!(one.grids(4_194_915, 1), [1, 2]);
        assert_eq!(one.grids(4_194_915, 0), [1, 2]);
        assert_eq!(one.grids(4_194_915, u32::MAX), [1, 2, 4097]);
        assert!(one.grids(0, 132).is_empty());
    }

    #[test]
    fn seeds_choose_the_inputs() {
        let one = harness("barrier-pipeline").unwrap();
        assert_eq!(one.cases(132, 5), one.cases(132, 5));
        assert_ne!(one.cases(132, 5), one.cases(132, 6));
    }
}
