//! What a thread knows of others.

use std::sync::Arc;

use smallvec::SmallVec;

use super::blocks::Blocks;

/// What is known of the threads of one block: for each the last epoch that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// For each warp the least over its lanes.
    least: SmallVec<[u32; 8]>,
    /// The lanes of warps whose lanes differ, by warp.
    rows: Vec<(u8, Box<[u32; 32]>)>,
}

impl Part {
    /// Knows nothing of so many warps.
    pub fn new(warps: u32) -> Self {
        Self { least: SmallVec::from_elem(0, warps as usize), rows: Vec::new() }
    }

    /// An epoch up to which all lanes of a warp are known.
    #[inline(always)]
    pub fn least(&self, warp: u8) -> u32 {
        self.least[usize::from(warp)]
    }

    /// The lanes of a warp that are known up to an epoch.
    pub fn knowing(&self, warp: u8, epoch: u32) -> u32 {
        if self.least(warp) >= epoch {
            return u32::MAX;
        }
        self.row(warp).map_or(0, |row| {
            (0..32).fold(0, |mask, lane| mask | u32::from(row[lane] >= epoch) << lane)
        })
    }

    fn row(&self, warp: u8) -> Option<&[u32; 32]> {
        let at = self.rows.binary_search_by_key(&warp, |(w, _)| *w).ok()?;
        Some(&self.rows[at].1)
    }

    /// Learns of lanes of a warp. `existing` are the lanes that are threads.
    pub fn learn(&mut self, warp: u8, lanes: u32, existing: u32, epoch: u32) {
        if lanes & existing == existing {
            self.learn_all(warp, epoch);
            return;
        }
        let mut row = self.row(warp).copied().unwrap_or([self.least(warp); 32]);
        for (lane, known) in row.iter_mut().enumerate() {
            if (lanes | !existing) >> lane & 1 == 1 {
                *known = epoch.max(*known);
            }
        }
        self.put(warp, &row);
    }

    fn learn_all(&mut self, warp: u8, epoch: u32) {
        match self.row(warp).copied() {
            None => {
                let least = &mut self.least[usize::from(warp)];
                *least = epoch.max(*least);
            }
            Some(row) => self.put(warp, &row.map(|known| known.max(epoch))),
        }
    }

    fn put(&mut self, warp: u8, row: &[u32; 32]) {
        let least = row.iter().copied().min().unwrap_or(0);
        let equal = row.iter().all(|known| *known == least);
        self.least[usize::from(warp)] = least;
        match (self.rows.binary_search_by_key(&warp, |(w, _)| *w), equal) {
            (Ok(at), true) => drop(self.rows.remove(at)),
            (Ok(at), false) => *self.rows[at].1 = *row,
            (Err(_), true) => {}
            (Err(at), false) => self.rows.insert(at, (warp, Box::new(*row))),
        }
    }

    /// Whether this knows all that another does.
    pub fn covers(&self, other: &Self) -> bool {
        if self.rows.is_empty() && other.rows.is_empty() {
            return self.least.iter().zip(&other.least).all(|(a, b)| a >= b);
        }
        self.least.iter().zip(&other.least).enumerate().all(|(warp, (a, b))| {
            let warp = warp as u8;
            match (self.row(warp), other.row(warp)) {
                (None, None) => a >= b,
                (Some(a), None) => a.iter().all(|a| a >= b),
                (None, Some(row)) => row.iter().all(|b| a >= b),
                (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| a >= b),
            }
        })
    }

    /// Learns all that another knows.
    pub fn join(&mut self, other: &Self) {
        if self.rows.is_empty() && other.rows.is_empty() {
            for (a, b) in self.least.iter_mut().zip(&other.least) {
                *a = (*a).max(*b);
            }
            return;
        }
        for warp in 0..self.least.len() as u8 {
            match other.row(warp) {
                None => self.learn_all(warp, other.least(warp)),
                Some(theirs) => {
                    let mut row = self.row(warp).copied().unwrap_or([self.least(warp); 32]);
                    for (known, their) in row.iter_mut().zip(theirs) {
                        *known = (*known).max(*their);
                    }
                    self.put(warp, &row);
                }
            }
        }
    }
}

/// What is known of all threads of a launch, kept by a thread of one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// The block whose part is `own`.
    pub block: u32,
    /// What is known of that block's threads.
    pub own: Part,
    /// What is known of those of other blocks.
    pub others: Blocks,
}

impl Clock {
    /// Knows nothing.
    pub fn new(block: u32, warps: u32) -> Self {
        Self { block, own: Part::new(warps), others: Blocks::default() }
    }

    /// What is known of a block, if anything.
    #[inline]
    pub fn part(&self, block: u32) -> Option<&Part> {
        if block == self.block { Some(&self.own) } else { self.others.get(block).map(|p| &**p) }
    }

    /// Whether this knows all that another does.
    pub fn covers(&self, other: &Self) -> bool {
        if self.block == other.block {
            return self.own.covers(&other.own) && self.others.covers(&other.others, None);
        }
        self.others.get(other.block).is_some_and(|part| part.covers(&other.own))
            && other.others.get(self.block).is_none_or(|part| self.own.covers(part))
            && self.others.covers(&other.others, Some(self.block))
    }

    /// Learns all that another knows.
    pub fn join(&mut self, other: &Self) {
        if self.block == other.block {
            self.own.join(&other.own);
            self.others.join(&other.others);
            return;
        }
        self.others.join(&other.others);
        if let Some(part) = self.others.take(self.block) {
            self.own.join(&part);
        }
        self.others.learn(other.block, &other.own);
    }

    /// Two clocks' knowledge; one of the two themselves, if it covers the other.
    pub fn joined(a: &Arc<Self>, b: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(a, b) || a.covers(b) {
            return Arc::clone(a);
        }
        if a.block == b.block && b.covers(a) {
            return Arc::clone(b);
        }
        let mut both = Self::clone(a);
        both.join(b);
        Arc::new(both)
    }
}
