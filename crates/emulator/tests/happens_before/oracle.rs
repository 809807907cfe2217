//! The definitions of PTX ISA 8.7 to 8.10, taken literally.

use std::collections::{BTreeMap, BTreeSet};

use proofrun_emulator::memory::Order;
use proofrun_emulator::race::{FenceKind, Grid, Scope};

use crate::program::{Access, Action, Program, Step, Verdict, Warp};

/// Events, by number.
type Set = BTreeSet<usize>;

/// A thread: block and number in the block.
type Thread = (u32, u32);

/// The start of a release pattern: its scope, its thread, and all that is ordered before it.
#[derive(Debug, Clone)]
struct Pattern {
    scope: Scope,
    thread: Thread,
    before: Set,
}

/// One lane's access to one element.
#[derive(Debug, Clone)]
struct Event {
    thread: Thread,
    start: u64,
    size: u64,
    reads: bool,
    writes: bool,
    scope: Option<Scope>,
    volatile: bool,
    read_only: bool,
    sync: bool,
    /// Release patterns that this write ends.
    patterns: Vec<Pattern>,
    /// The writes that precede this read in observation order.
    observed: Set,
}

impl Event {
    fn overlaps(&self, other: &Self) -> bool {
        self.start < other.start + other.size && other.start < self.start + self.size
    }
}

/// A strong read: where, and what it observed.
type Read = (u64, Set);

#[derive(Debug, Clone)]
pub struct Oracle {
    grid: Grid,
    events: Vec<Event>,
    knows: BTreeMap<Thread, Set>,
    /// Who wrote each byte last.
    last: BTreeMap<u64, usize>,
    fences: BTreeMap<Thread, Vec<Pattern>>,
    releases: BTreeMap<Thread, Vec<(u64, Pattern)>>,
    reads: BTreeMap<Thread, Vec<Read>>,
    objects: [Vec<Pattern>; 2],
}

fn threads(warp: Warp, mask: u32) -> impl Iterator<Item = (u32, Thread)> {
    let lanes = (0..32).filter(move |lane| mask >> lane & 1 == 1);
    lanes.map(move |lane| (lane, (warp.block, u32::from(warp.warp) * 32 + lane)))
}

impl Oracle {
    pub fn new(program: &Program) -> Self {
        Self {
            grid: program.grid,
            events: Vec::new(),
            knows: BTreeMap::new(),
            last: BTreeMap::new(),
            fences: BTreeMap::new(),
            releases: BTreeMap::new(),
            reads: BTreeMap::new(),
            objects: Default::default(),
        }
    }

    pub fn step(&mut self, step: &Step) -> Verdict {
        match step {
            Step::Access(access) => return self.access(access),
            Step::Fence(warp, mask, kind, scope) => {
                for (_, thread) in threads(*warp, *mask) {
                    self.fence(thread, *kind, *scope);
                }
            }
            Step::WarpSync(warp, mask) => {
                let together: Vec<_> = threads(*warp, *mask).map(|(_, t)| t).collect();
                self.meet(&together, &together);
            }
            Step::Barrier(block, arrive, wait) => {
                let all = |masks: &[u32; 2]| -> Vec<Thread> {
                    let warps = [0, 1].map(|warp| Warp { block: *block, warp });
                    warps
                        .iter()
                        .zip(masks)
                        .flat_map(|(w, m)| threads(*w, *m))
                        .map(|t| t.1)
                        .collect()
                };
                self.meet(&all(arrive), &all(wait));
            }
            Step::Release(warp, mask, scope, object) => {
                for (_, thread) in threads(*warp, *mask) {
                    let before = self.knowledge(thread);
                    self.objects[*object].push(Pattern { scope: *scope, thread, before });
                }
            }
            Step::Acquire(warp, mask, scope, object) => {
                for (_, thread) in threads(*warp, *mask) {
                    let patterns = self.objects[*object].clone();
                    self.synchronise(thread, *scope, &patterns);
                }
            }
        }
        Verdict::Fine
    }

    fn knowledge(&self, thread: Thread) -> Set {
        self.knows.get(&thread).cloned().unwrap_or_default()
    }

    fn meet(&mut self, arrive: &[Thread], wait: &[Thread]) {
        let all: Set = arrive.iter().flat_map(|t| self.knowledge(*t)).collect();
        for thread in wait {
            self.knows.insert(*thread, all.clone());
        }
    }

    /// Release patterns synchronise with an acquire pattern that ends in an operation of a scope,
    /// if both scopes include the other thread.
    fn synchronise(&mut self, thread: Thread, scope: Scope, patterns: &[Pattern]) {
        for pattern in patterns {
            let there = self.grid.includes(pattern.scope, pattern.thread.0, thread.0);
            let back = self.grid.includes(scope, thread.0, pattern.thread.0);
            if there && back {
                self.knows.entry(thread).or_default().extend(&pattern.before);
            }
        }
    }

    fn patterns_of(&self, writes: &Set) -> Vec<Pattern> {
        writes.iter().flat_map(|w| self.events[*w].patterns.clone()).collect()
    }

    fn fence(&mut self, thread: Thread, kind: FenceKind, scope: Scope) {
        if kind != FenceKind::Release {
            for (_, observed) in self.reads.get(&thread).cloned().unwrap_or_default() {
                let patterns = self.patterns_of(&observed);
                self.synchronise(thread, scope, &patterns);
            }
        }
        if kind != FenceKind::Acquire {
            let before = self.knowledge(thread);
            self.fences.entry(thread).or_default().push(Pattern { scope, thread, before });
        }
    }

    fn morally_strong(&self, a: &Event, b: &Event) -> bool {
        let (Some(there), Some(back)) = (a.scope, b.scope) else { return false };
        self.grid.includes(there, a.thread.0, b.thread.0)
            && self.grid.includes(back, b.thread.0, a.thread.0)
            && (a.start, a.size) == (b.start, b.size)
    }

    fn access(&mut self, access: &Access) -> Verdict {
        let size = u64::from(access.width);
        let mut worst = Verdict::Fine;
        for (lane, thread) in threads(access.warp, access.mask) {
            let space = if access.shared { 1000 * u64::from(1 + access.warp.block) } else { 0 };
            let first = space + u64::from(access.offsets[lane as usize]);
            for element in 0..u64::from(access.count) {
                let start = first + element * size;
                worst = worst.max(self.element(access, lane, thread, start));
            }
        }
        worst
    }

    fn element(&mut self, access: &Access, lane: u32, thread: Thread, start: u64) -> Verdict {
        let wrote = match access.action {
            Action::Load => false,
            Action::Store => true,
            Action::Modify(_, lanes) => lanes >> lane & 1 == 1,
        };
        let scope = match access.order {
            Order::Weak | Order::Nc => None,
            Order::Volatile => Some(Scope::Sys),
            Order::Relaxed(s) | Order::Acquire(s) | Order::Release(s) | Order::AcqRel(s) => Some(s),
        };
        let mut event = Event {
            thread,
            start,
            size: u64::from(access.width),
            reads: access.action != Action::Store,
            writes: wrote,
            scope,
            volatile: access.order == Order::Volatile,
            read_only: access.order == Order::Nc,
            sync: false,
            patterns: Vec::new(),
            observed: Set::new(),
        };
        let returns = event.reads && !matches!(access.action, Action::Modify(false, _));
        if event.reads {
            event.observed = self.observation(&event);
        }
        if returns && let Some(scope) = scope {
            self.read(&mut event, access.order, scope);
        }
        let before = self.before(thread);
        let verdict = self.judge(&event, &before);
        if wrote && let Some(scope) = scope {
            self.write(&mut event, access.order, scope);
        }
        let verdict = verdict.max(self.sync_verdict(&event, &before));
        let number = self.events.len();
        self.knows.entry(thread).or_default().insert(number);
        if wrote {
            for byte in event.start..event.start + event.size {
                self.last.insert(byte, number);
            }
        }
        self.events.push(event);
        verdict
    }

    /// The writes that precede a read in observation order (8.9.2).
    fn observation(&self, read: &Event) -> Set {
        let bytes = read.start..read.start + read.size;
        let from: BTreeSet<_> = bytes.map(|byte| self.last.get(&byte)).collect();
        let mut observed = Set::new();
        if let [Some(write)] = from.into_iter().collect::<Vec<_>>()[..]
            && self.morally_strong(&self.events[*write], read)
        {
            observed.insert(*write);
            if self.events[*write].reads {
                observed.extend(&self.events[*write].observed);
            }
        }
        observed
    }

    /// A strong read: it may acquire at once, or with a later acquire or fence (8.8).
    fn read(&mut self, event: &mut Event, order: Order, scope: Scope) {
        event.sync = !self.patterns_of(&event.observed).is_empty();
        let reads = self.reads.entry(event.thread).or_default();
        reads.push((event.start, event.observed.clone()));
        if matches!(order, Order::Acquire(_) | Order::AcqRel(_)) {
            event.sync = true;
            let here: Vec<_> = reads.iter().filter(|r| r.0 == event.start).cloned().collect();
            for (_, observed) in here {
                let patterns = self.patterns_of(&observed);
                self.synchronise(event.thread, scope, &patterns);
            }
        }
    }

    /// A strong write: which release patterns it ends (8.8).
    fn write(&mut self, event: &mut Event, order: Order, scope: Scope) {
        let thread = event.thread;
        event.patterns.extend(self.fences.get(&thread).into_iter().flatten().cloned());
        let releases = self.releases.entry(thread).or_default();
        let here = releases.iter().filter(|(start, _)| *start == event.start);
        event.patterns.extend(here.map(|(_, pattern)| pattern.clone()));
        if matches!(order, Order::Release(_) | Order::AcqRel(_)) {
            let mut before = self.knows.get(&thread).cloned().unwrap_or_default();
            before.insert(self.events.len());
            let pattern = Pattern { scope, thread, before };
            releases.push((event.start, pattern.clone()));
            event.patterns.push(pattern);
        }
        event.sync |= !event.patterns.is_empty();
    }

    /// The events that precede what a thread does next in causality order (8.9.5).
    fn before(&self, thread: Thread) -> Set {
        let mut before = self.knowledge(thread);
        for by in self.knowledge(thread) {
            before.extend(&self.events[by].observed);
        }
        before
    }

    /// Races of a new event (8.7.1).
    fn judge(&self, event: &Event, before: &Set) -> Verdict {
        for (number, earlier) in self.events.iter().enumerate() {
            let conflict = (event.writes || earlier.writes) && event.overlaps(earlier);
            if !conflict {
                continue;
            }
            if event.read_only || earlier.read_only {
                return Verdict::Error;
            }
            let observed = event.observed.contains(&number);
            let strong = self.morally_strong(earlier, event);
            if !observed && !strong && !before.contains(&number) {
                return Verdict::Error;
            }
        }
        Verdict::Fine
    }

    /// Whether a read-modify-write observed an event and wrote on top of it.
    fn is_absorbed(&self, write: usize) -> bool {
        self.events.iter().any(|e| e.reads && e.writes && e.observed.contains(&write))
    }

    /// Unordered strong accesses, one volatile, of which none synchronises. A write that a
    /// read-modify-write observed doesn't count any more.
    fn sync_verdict(&self, event: &Event, before: &Set) -> Verdict {
        for (other, earlier) in self.events.iter().enumerate() {
            if (event.writes || earlier.writes)
                && event.overlaps(earlier)
                && (event.volatile || earlier.volatile)
                && !(event.sync || earlier.sync)
                && !before.contains(&other)
                && !self.is_absorbed(other)
            {
                return Verdict::Warning;
            }
        }
        Verdict::Fine
    }
}
