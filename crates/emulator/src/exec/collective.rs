//! Instructions that lanes of a warp run together (PTX ISA 9.7.9.6 to 9.7.13, 9.7.15.2).

use super::warp::lanes_of;
use crate::lanes::{LANES, Lanes, Row};
use crate::program::{Collective, MatchKind, ReduxOp, ShflMode, VoteMode};

/// What lanes bring to a collective.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    values: [u64; LANES],
    select: [u32; LANES],
    clamp: [u32; LANES],
    truths: u32,
}

/// What they take from it.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    values: [u64; LANES],
    truths: u32,
    /// Lanes whose value is undefined: it came from a lane that didn't take part.
    pub(crate) undefined: u32,
}

/// A collective that waits for lanes, or for lanes to take its results.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// Which instruction, roughly: lanes may be at different places.
    pub(crate) kind: &'static str,
    /// Who is named.
    pub(crate) named: u32,
    /// Who came.
    pub(crate) arrived: u32,
    /// Who took the results.
    pub(crate) taken: u32,
    brought: Brought,
    outcome: Option<Taken>,
    op: Collective,
}

impl Pending {
    pub(crate) fn new(op: &Collective, named: u32) -> Self {
        let brought =
            Brought { values: [0; LANES], select: [0; LANES], clamp: [0; LANES], truths: 0 };
        let kind = name(op);
        let op = op.clone();
        Self { kind, named, arrived: 0, taken: 0, brought, outcome: None, op }
    }

    /// Whether results are there.
    pub(crate) fn complete(&self) -> bool {
        self.outcome.is_some()
    }

    /// Adds lanes with what they bring.
    pub(crate) fn bring(&mut self, op: &Collective, lanes: &Lanes, mask: u32) {
        let brought = Brought::of(op, lanes);
        for lane in lanes_of(mask) {
            self.brought.values[lane] = brought.values[lane];
            self.brought.select[lane] = brought.select[lane];
            self.brought.clamp[lane] = brought.clamp[lane];
        }
        self.brought.truths = self.brought.truths & !mask | brought.truths & mask;
        self.arrived |= mask;
    }

    /// Computes, once all came who live.
    pub(crate) fn complete_with(&mut self, mask: u32) {
        self.outcome = Some(run(&self.op, &self.brought, mask));
    }

    /// Gives lanes their results; returns those whose value is undefined.
    pub(crate) fn take(&mut self, op: &Collective, lanes: &mut Lanes, mask: u32) -> u32 {
        self.taken |= mask;
        match &self.outcome {
            Some(outcome) => {
                outcome.write(op, lanes, mask);
                outcome.undefined & mask
            }
            None => 0,
        }
    }
}

/// What it is called in messages.
pub(crate) fn name(op: &Collective) -> &'static str {
    match op {
        Collective::Sync => "bar.warp.sync",
        Collective::Shfl { .. } => "shfl.sync",
        Collective::Vote { .. } => "vote.sync",
        Collective::Match { .. } => "match.sync",
        Collective::Redux { .. } => "redux.sync",
        Collective::Elect { .. } => "elect.sync",
    }
}

impl Brought {
    pub(crate) fn of(op: &Collective, lanes: &Lanes) -> Self {
        let mut brought =
            Self { values: [0; LANES], select: [0; LANES], clamp: [0; LANES], truths: 0 };
        match op {
            Collective::Shfl { a, b, c, .. } => {
                brought.values = lanes.get::<u32>(*a).map(u64::from);
                brought.select = *lanes.get::<u32>(*b);
                brought.clamp = *lanes.get::<u32>(*c);
            }
            Collective::Vote { source: (row, negated), .. } => {
                let truths = lanes.pred(*row);
                brought.truths = if *negated { !truths } else { truths };
            }
            Collective::Match { a, wide: true, .. } => brought.values = *lanes.get::<u64>(*a),
            Collective::Match { a, .. } | Collective::Redux { a, .. } => {
                brought.values = lanes.get::<u32>(*a).map(u64::from);
            }
            Collective::Sync | Collective::Elect { .. } => {}
        }
        brought
    }
}

impl Taken {
    /// Writes the results of these lanes.
    pub(crate) fn write(&self, op: &Collective, lanes: &mut Lanes, mask: u32) {
        let narrow = |lanes: &mut Lanes, row: Row| {
            lanes.set::<u32>(row, &self.values.map(|value| value as u32), mask);
        };
        match op {
            Collective::Sync => {}
            Collective::Shfl { d, p, .. } | Collective::Match { d, p, .. } => {
                narrow(lanes, *d);
                if let Some(p) = p {
                    lanes.set_pred(*p, self.truths, mask);
                }
            }
            Collective::Vote { mode: VoteMode::Ballot, d, .. } | Collective::Redux { d, .. } => {
                narrow(lanes, *d);
            }
            Collective::Vote { d, .. } => lanes.set_pred(*d, self.truths, mask),
            Collective::Elect { d, p } => {
                if let Some(d) = d {
                    narrow(lanes, *d);
                }
                lanes.set_pred(*p, self.truths, mask);
            }
        }
    }
}

/// Computes a collective among the lanes of a mask.
pub(crate) fn run(op: &Collective, brought: &Brought, mask: u32) -> Taken {
    let mut taken = Taken { values: [0; LANES], truths: 0, undefined: 0 };
    match op {
        Collective::Sync => {}
        Collective::Shfl { mode, .. } => {
            for lane in lanes_of(mask) {
                let (from, in_range) =
                    source_lane(*mode, lane as u32, brought.select[lane], brought.clamp[lane]);
                taken.values[lane] = brought.values[from as usize];
                taken.truths |= u32::from(in_range) << lane;
                taken.undefined |= u32::from(mask >> from & 1 == 0) << lane;
            }
        }
        Collective::Vote { mode, .. } => {
            let truths = brought.truths & mask;
            let all = match mode {
                VoteMode::All => truths == mask,
                VoteMode::Any => truths != 0,
                VoteMode::Uni => truths == mask || truths == 0,
                VoteMode::Ballot => false,
            };
            taken.truths = if all { mask } else { 0 };
            taken.values = [u64::from(truths); LANES];
        }
        Collective::Match { kind, .. } => {
            for lane in lanes_of(mask) {
                let equal = lanes_of(mask)
                    .filter(|other| brought.values[*other] == brought.values[lane])
                    .fold(0u32, |all, other| all | 1 << other);
                let all = equal == mask;
                taken.values[lane] = match kind {
                    MatchKind::Any => u64::from(equal),
                    MatchKind::All if all => u64::from(mask),
                    MatchKind::All => 0,
                };
                taken.truths |= u32::from(all) << lane;
            }
        }
        Collective::Redux { op, .. } => {
            let values = lanes_of(mask).map(|lane| brought.values[lane] as u32);
            let value = values.reduce(|a, b| redux(*op, a, b)).unwrap_or(0);
            taken.values = [u64::from(value); LANES];
        }
        Collective::Elect { .. } => {
            // Which lane is elected is up to the device, and the same for one mask (9.7.9.14).
            taken.values = [u64::from(mask.trailing_zeros()); LANES];
            taken.truths = mask & mask.wrapping_neg();
        }
    }
    taken
}

/// The lane that `shfl` reads and whether it lies in range (PTX ISA 9.7.9.6).
fn source_lane(mode: ShflMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let b = b & 0x1f;
    let clamp = c & 0x1f;
    let segment = c >> 8 & 0x1f;
    let max_lane = lane & segment | clamp & !segment;
    let min_lane = lane & segment;
    let (from, in_range) = match mode {
        ShflMode::Up => {
            let from = lane as i32 - b as i32;
            (from, from >= max_lane as i32)
        }
        ShflMode::Down => ((lane + b) as i32, lane + b <= max_lane),
        ShflMode::Bfly => ((lane ^ b) as i32, lane ^ b <= max_lane),
        ShflMode::Idx => {
            let from = min_lane | b & !segment;
            (from as i32, from <= max_lane)
        }
    };
    if in_range { (from as u32 & 0x1f, true) } else { (lane, false) }
}

fn redux(op: ReduxOp, a: u32, b: u32) -> u32 {
    match op {
        ReduxOp::Add => a.wrapping_add(b),
        ReduxOp::MinSigned => (a as i32).min(b as i32) as u32,
        ReduxOp::MaxSigned => (a as i32).max(b as i32) as u32,
        ReduxOp::MinUnsigned => a.min(b),
        ReduxOp::MaxUnsigned => a.max(b),
        ReduxOp::And => a & b,
        ReduxOp::Or => a | b,
        ReduxOp::Xor => a ^ b,
    }
}

#[cfg(test)]
mod tests {
    use super::{ShflMode, source_lane};

    #[test]
    fn shuffles_pick_the_lanes_of_the_isas_pseudocode() {
        // __shfl_down_sync(…, 16), width 32: c = 0x1f.
        assert_eq!(source_lane(ShflMode::Down, 3, 16, 0x1f), (19, true));
        assert_eq!(source_lane(ShflMode::Down, 20, 16, 0x1f), (20, false));
        // __shfl_up_sync(…, 1): c = 0.
        assert_eq!(source_lane(ShflMode::Up, 0, 1, 0), (0, false));
        assert_eq!(source_lane(ShflMode::Up, 5, 1, 0), (4, true));
        // Width 8: the segment mask is 0x18.
        let eight = (32 - 8) << 8;
        assert_eq!(source_lane(ShflMode::Idx, 13, 2, eight | 0x1f), (10, true));
        assert_eq!(source_lane(ShflMode::Up, 8, 1, eight), (8, false));
        assert_eq!(source_lane(ShflMode::Bfly, 9, 1, eight | 0x1f), (8, true));
    }
}
