//! Special registers (PTX ISA 10).

/// A special register that keeps its value while a warp runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid`, by dimension.
    Tid(u8),
    /// `%ntid`
    NTid(u8),
    /// `%ctaid`
    CtaId(u8),
    /// `%nctaid`
    NCtaId(u8),
    /// `%laneid`
    LaneId,
    /// `%warpid`
    WarpId,
    /// `%nwarpid`
    NWarpId,
    /// `%smid`
    SmId,
    /// `%nsmid`
    NSmId,
    /// `%gridid`
    GridId,
    /// `%lanemask_eq`
    LaneMaskEq,
    /// `%lanemask_le`
    LaneMaskLe,
    /// `%lanemask_lt`
    LaneMaskLt,
    /// `%lanemask_ge`
    LaneMaskGe,
    /// `%lanemask_gt`
    LaneMaskGt,
    /// `%dynamic_smem_size`
    DynamicSharedBytes,
    /// `%total_smem_size`
    TotalSharedBytes,
    /// `%envreg1` and `%envreg2`, the two halves of the grid workspace's address.
    EnvReg(u8),
    /// `%clusterid`, `%cluster_ctaid`: 0, since clusters have one block here.
    Zero,
    /// `%nclusterid`'s unused dimensions, `%cluster_nctaid`: 1.
    One,
    /// `%is_explicit_cluster`: false.
    False,
}

/// A special register that tells time, read anew each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `%clock`
    Cycles32,
    /// `%clock_hi`
    CyclesHigh,
    /// `%clock64`
    Cycles64,
    /// `%globaltimer`
    Nanoseconds,
    /// `%globaltimer_lo`
    NanosecondsLow,
    /// `%globaltimer_hi`
    NanosecondsHigh,
}

fn dimension(name: &str) -> Option<(&str, u8)> {
    let (base, axis) = name.rsplit_once('.')?;
    let axis = match axis {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        _ => return None,
    };
    Some((base, axis))
}

impl Special {
    /// By its name with `%`.
    pub fn by_name(name: &str) -> Option<Self> {
        if let Some((base, axis)) = dimension(name) {
            return Some(match base {
                "%tid" => Self::Tid(axis),
                "%ntid" => Self::NTid(axis),
                "%ctaid" => Self::CtaId(axis),
                "%nctaid" => Self::NCtaId(axis),
                "%clusterid" => Self::CtaId(axis),
                "%nclusterid" => Self::NCtaId(axis),
                "%cluster_ctaid" => Self::Zero,
                "%cluster_nctaid" => Self::One,
                _ => return None,
            });
        }
        Some(match name {
            "%laneid" => Self::LaneId,
            "%warpid" => Self::WarpId,
            "%nwarpid" => Self::NWarpId,
            "%smid" => Self::SmId,
            "%nsmid" => Self::NSmId,
            "%gridid" => Self::GridId,
            "%lanemask_eq" => Self::LaneMaskEq,
            "%lanemask_le" => Self::LaneMaskLe,
            "%lanemask_lt" => Self::LaneMaskLt,
            "%lanemask_ge" => Self::LaneMaskGe,
            "%lanemask_gt" => Self::LaneMaskGt,
            "%dynamic_smem_size" => Self::DynamicSharedBytes,
            "%total_smem_size" | "%aggr_smem_size" => Self::TotalSharedBytes,
            "%envreg1" => Self::EnvReg(1),
            "%envreg2" => Self::EnvReg(2),
            "%cluster_ctarank" => Self::Zero,
            "%cluster_nctarank" => Self::One,
            "%is_explicit_cluster" => Self::False,
            _ => return None,
        })
    }
}

impl Clock {
    /// By its name with `%`.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "%clock" => Self::Cycles32,
            "%clock_hi" => Self::CyclesHigh,
            "%clock64" => Self::Cycles64,
            "%globaltimer" => Self::Nanoseconds,
            "%globaltimer_lo" => Self::NanosecondsLow,
            "%globaltimer_hi" => Self::NanosecondsHigh,
            _ => return None,
        })
    }
}
