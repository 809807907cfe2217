//! Day 75: two kernels on one schedule, one block-wide barrier against four split ones.

use super::{Harness, KernelSpec, Param, Precondition, Reference};

const TILE: usize = 1024;

/// Both take `(const float* __restrict__, float* __restrict__, size_t)`, blocks of 256, static
/// shared memory only.
const fn pipeline(name: &'static str) -> KernelSpec {
    KernelSpec {
        name,
        params: &[Param::Input, Param::Output, Param::Count],
        block: 256,
        dynamic_shared_bytes: 0,
        precondition: Precondition::GridAtMostTiles { tile: TILE },
    }
}

pub(super) const HARNESS: Harness = Harness {
    name: "barrier-pipeline",
    kernels: &[pipeline("pipelineSyncthreads"), pipeline("pipelineSplitBarrier")],
    // Less than a warp, around one tile, around two, an odd number of tiles, one element more than
    // 264 tiles (so that on 132 multiprocessors one block of the lesson's grid goes round twice),
    // and the lesson's own.
    sizes: &[1, 31, 1023, 1024, 1025, 2048, 4097, 270_337, 4_194_915],
    reference: Reference::Chain,
};
