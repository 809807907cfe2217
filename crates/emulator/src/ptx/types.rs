//! The fundamental types (PTX ISA 5.2) and state spaces (5.1) by name.

use super::ast::StateSpace;

/// Bits of a type by its name without dot; 1 for predicates, 64 for opaque handles (PTX ISA 5.3).
pub fn bits(kind: &str) -> Option<u32> {
    Some(match kind {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 32,
        "b64" | "u64" | "s64" | "f64" | "f32x2" | "texref" | "samplerref" | "surfref" => 64,
        "b128" | "u128" | "s128" => 128,
        _ => return None,
    })
}

/// Components of a vector suffix.
pub fn lanes(dot: &str) -> Option<u32> {
    match dot {
        ".v2" => Some(2),
        ".v4" => Some(4),
        ".v8" => Some(8),
        _ => None,
    }
}

/// The state space of a directive that declares variables.
pub fn space(dot: &str) -> Option<StateSpace> {
    Some(match dot {
        // `.tex` is the deprecated way to declare a texture in global memory (PTX ISA 5.1.9).
        ".global" | ".tex" => StateSpace::Global,
        ".const" => StateSpace::Const,
        ".shared" => StateSpace::Shared,
        ".local" => StateSpace::Local,
        ".param" => StateSpace::Param,
        _ => return None,
    })
}

/// Special registers that have components (PTX ISA 10).
const VECTORS: [&str; 8] = [
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
];

/// Special registers that are one number (PTX ISA 10), without those that carry an index.
const SCALARS: [&str; 27] = [
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
];

/// Whether a name, dimension included, is a special register.
pub fn is_special(name: &str) -> bool {
    let (base, dimension) = name.split_once('.').map_or((name, None), |(b, d)| (b, Some(d)));
    match dimension {
        Some("x" | "y" | "z" | "w") => VECTORS.contains(&base),
        Some(_) => false,
        None => {
            SCALARS.contains(&base)
                || VECTORS.contains(&base)
                || ["%envreg", "%pm", "%reserved_smem_offset_"].iter().any(|p| indexed(base, p))
        }
    }
}

/// Whether a name is a prefix and a small number, and perhaps `_64`: `%envreg3`, `%pm1_64`.
fn indexed(name: &str, prefix: &str) -> bool {
    let index = name.strip_prefix(prefix).map(|rest| rest.strip_suffix("_64").unwrap_or(rest));
    index.is_some_and(|index| {
        (1..=2).contains(&index.len()) && index.bytes().all(|byte| byte.is_ascii_digit())
    })
}
