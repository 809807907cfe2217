//! Schedules: in which order fragments take their turns.
//!
//! The canonical one runs each warp until it waits. It finds every race of a launch that
//! synchronises by barriers of the block alone, whatever the order, since races are found by
//! happens-before. What depends on the order (atomics, flags, mbarriers, `activemask`) is explored
//! on others, each drawn from a seed and replayed by its token.

use std::fmt;
use std::str::FromStr;

use fastrand::Rng;
use rustc_hash::FxHashMap;

/// How turns are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Each warp in turn, one visible step at a time.
    RoundRobin,
    /// The warp that ran last as long as it can, then the oldest.
    Greedy,
    /// One warp only when no other can run.
    Starved,
    /// A warp drawn at random until it waits.
    RunToBlock,
    /// Each warp until it waits, the last first.
    Reversed,
    /// By priorities that change at a few random steps (probabilistic concurrency testing).
    Priorities,
    /// A warp drawn at random at each visible step.
    Random,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::RoundRobin, "rr"),
    (Kind::Greedy, "greedy"),
    (Kind::Starved, "starved"),
    (Kind::RunToBlock, "block"),
    (Kind::Reversed, "reversed"),
    (Kind::Priorities, "pct"),
    (Kind::Random, "random"),
];

/// One schedule of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// How turns are given.
    pub kind: Kind,
    /// Whether lanes run apart from the start.
    pub split: bool,
    /// What it is drawn from.
    pub seed: u64,
}

impl Schedule {
    /// The schedule of a number, of those that a seed gives: every kind, converged and split, in
    /// turn.
    pub fn drawn(seed: u64, number: u32) -> Self {
        let kinds = KINDS.len() as u32;
        let (kind, _) = KINDS[(number % kinds) as usize];
        let split = number / kinds % 2 == 1;
        let mut rng = Rng::with_seed(seed ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { kind, split, seed: rng.u64(..) >> 32 }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = KINDS.iter().find(|(kind, _)| *kind == self.kind).unwrap_or(&KINDS[0]);
        let lanes = if self.split { "split" } else { "whole" };
        write!(f, "{name}.{lanes}.{:x}", self.seed)
    }
}

/// A token that names no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no schedule: a token reads like `7:pct.split.1f`")]
pub struct NotSchedule(String);

impl FromStr for Schedule {
    type Err = NotSchedule;

    fn from_str(text: &str) -> Result<Self, NotSchedule> {
        let not = || NotSchedule(text.to_owned());
        let mut parts = text.split('.');
        let (name, lanes, seed) =
            (parts.next(), parts.next(), parts.next().filter(|seed| seed.len() <= 16));
        let kind = KINDS.iter().find(|(_, own)| Some(*own) == name).ok_or_else(not)?.0;
        let split = match lanes {
            Some("split") => true,
            Some("whole") => false,
            _ => return Err(not()),
        };
        let seed = u64::from_str_radix(seed.ok_or_else(not)?, 16).map_err(|_| not())?;
        if parts.next().is_some() {
            return Err(not());
        }
        Ok(Self { kind, split, seed })
    }
}

/// A schedule of a numbered launch, as findings name it: `7:pct.split.1f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The launch.
    pub launch: u64,
    /// Its schedule.
    pub schedule: Schedule,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.launch, self.schedule)
    }
}

impl FromStr for Token {
    type Err = NotSchedule;

    fn from_str(text: &str) -> Result<Self, NotSchedule> {
        let not = || NotSchedule(text.to_owned());
        let (launch, schedule) = text.split_once(':').ok_or_else(not)?;
        let launch = launch.parse().map_err(|_| not())?;
        Ok(Self { launch, schedule: schedule.parse().map_err(|_| not())? })
    }
}

/// A fragment that can run: its warp, its first lane, its place in the warp's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) index: usize,
}

impl Candidate {
    fn thread(self) -> u32 {
        32 * self.warp + self.lane
    }
}

/// Times that priorities change in one block.
const CHANGES: usize = 3;

/// Gives turns among the fragments of one block.
#[derive(Debug)]
pub(crate) struct Chooser {
    kind: Kind,
    rng: Rng,
    last: u32,
    starved: u32,
    priorities: FxHashMap<u32, u64>,
    changes: Vec<u64>,
    steps: u64,
}

impl Chooser {
    pub(crate) fn new(schedule: Schedule, block: u32, warps: u32) -> Self {
        let mut rng = Rng::with_seed(schedule.seed ^ u64::from(block) << 32);
        let starved = rng.u32(..warps.max(1));
        // Half of the change points come early, where most programs set up what they share.
        let changes = (0..CHANGES)
            .map(|number| if number % 2 == 0 { rng.u64(..64) } else { rng.u64(..4096) })
            .collect();
        let priorities = FxHashMap::default();
        Self { kind: schedule.kind, rng, last: 0, starved, priorities, changes, steps: 0 }
    }

    /// Whether whoever has the turn keeps it until it waits.
    pub(crate) fn until_waiting(&self) -> bool {
        matches!(self.kind, Kind::RunToBlock | Kind::Reversed | Kind::Greedy)
    }

    /// Turns that the block gets before other blocks get theirs.
    pub(crate) fn turns(&mut self) -> u32 {
        match self.kind {
            Kind::RoundRobin => 1,
            Kind::Random => self.rng.u32(1..=4),
            Kind::Priorities => self.rng.u32(1..=32),
            Kind::Greedy | Kind::Starved | Kind::RunToBlock | Kind::Reversed => 16,
        }
    }

    /// Who runs next, of at least one candidate.
    pub(crate) fn choose(&mut self, candidates: &[Candidate]) -> Candidate {
        self.steps += 1;
        let first = candidates[0];
        let chosen = match self.kind {
            Kind::RoundRobin => {
                let later = candidates.iter().filter(|c| c.thread() > self.last);
                *later.min_by_key(|c| c.thread()).unwrap_or(&first)
            }
            Kind::Greedy => {
                let same = candidates.iter().find(|c| c.thread() == self.last);
                *same.or(candidates.iter().min_by_key(|c| c.thread())).unwrap_or(&first)
            }
            Kind::Starved => {
                let others = candidates.iter().filter(|c| c.warp != self.starved);
                let others: Vec<_> = others.collect();
                if others.is_empty() { first } else { *others[self.rng.usize(..others.len())] }
            }
            Kind::RunToBlock | Kind::Random => candidates[self.rng.usize(..candidates.len())],
            Kind::Reversed => *candidates.iter().max_by_key(|c| c.thread()).unwrap_or(&first),
            Kind::Priorities => self.by_priority(candidates),
        };
        self.last = chosen.thread();
        chosen
    }

    fn by_priority(&mut self, candidates: &[Candidate]) -> Candidate {
        let mut best = (0, candidates[0]);
        for candidate in candidates {
            let rng = &mut self.rng;
            let priority = self.priorities.entry(candidate.thread());
            let priority = *priority.or_insert_with(|| (1 << 32) + u64::from(rng.u32(..)));
            if priority >= best.0 {
                best = (priority, *candidate);
            }
        }
        if self.changes.contains(&self.steps) {
            self.priorities.insert(best.1.thread(), (1 << 31) - self.steps.min(1 << 30));
        }
        best.1
    }

    /// Whether a wait that may say "not yet" without reason does so now.
    pub(crate) fn spurious(&mut self) -> bool {
        self.rng.u8(..) < 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Kind, Schedule, Token};

    #[test]
    fn a_token_names_the_schedule_it_came_from() {
        for number in 0..40 {
            let schedule = Schedule::drawn(7, number);
            let token = Token { launch: 3, schedule };
            assert_eq!(token.to_string().parse(), Ok(token));
        }
        for wrong in
            ["", "pct.split.1", "1:pct", "1:pct.half.1", "x:pct.split.1", "1:pct.split.1.2"]
        {
            assert!(wrong.parse::<Token>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn fourteen_schedules_have_each_kind_converged_and_split() {
        let drawn: BTreeSet<String> = (0..14)
            .map(|number| Schedule::drawn(0, number))
            .map(|schedule| format!("{:?} {}", schedule.kind, schedule.split))
            .collect();
        assert_eq!(drawn.len(), 14);
        assert!(drawn.contains(&format!("{:?} true", Kind::Priorities)));
    }
}
