//! Who accessed a line of 128 bytes: the last writes and the reads since.
//!
//! A record says which units (words; bytes, where an access narrower than a word occurred) one
//! warp-instruction accessed, and which lane accessed which. A coalesced access is one record. A
//! record goes when a later one makes it redundant: whatever conflicts with it would conflict with
//! the later one, at least as badly.
//!
//! Two things are approximate, and only where strong accesses to one location differ in scope or in
//! size. Of a
//! write that observers stand for, and that a later plain strong write replaced as the last, it is
//! forgotten who observed it. And a record that stands for accesses of other blocks is judged as if
//! these were ordered just as it is.

use super::each;
use super::record::{Conflict, Record, SAME, flag};
use super::rules::{Viewer, record};

/// A line's size in bytes.
pub const LINE: u64 = 128;

/// More records than this in a list split it into one list a unit.
const SPLIT: usize = 12;

/// The history of a line, or of a quarter of one in bytes.
#[derive(Debug, Default)]
pub struct Line {
    /// A write, if its units are not empty.
    write: Record,
    /// A read, if its units are not empty.
    read: Record,
    more: Option<Box<More>>,
}

#[derive(Debug)]
enum More {
    /// Further records.
    List(Vec<Record>),
    /// A list a unit; the inline records are unused.
    Units(Box<[Vec<Record>; 32]>),
    /// A history a quarter, in bytes; the inline records are unused.
    Bytes(Box<[Line; 4]>),
}

impl Line {
    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.write.units = 0;
        self.read.units = 0;
        self.more = None;
    }

    /// Whether units are bytes; see [`Line::quarter`].
    #[inline(always)]
    pub fn is_bytes(&self) -> bool {
        matches!(self.more.as_deref(), Some(More::Bytes(_)))
    }

    /// The history of a quarter, in bytes, from now on.
    pub fn quarter(&mut self, quarter: usize) -> &mut Self {
        if !self.is_bytes() {
            self.widen();
        }
        // Asked first, because the borrow of the answer would outlive the other arm.
        match self.is_bytes() {
            true => match self.more.as_deref_mut() {
                Some(More::Bytes(quarters)) => &mut quarters[quarter],
                _ => unreachable!("asked above"),
            },
            false => self,
        }
    }

    /// Records an access, and tells its conflicts with earlier ones.
    #[inline]
    pub fn access(&mut self, new: Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        if self.more.is_none() && new.flags & (flag::STRONG | flag::NC) == 0 {
            let written = self.write.units & new.units;
            let free = written == 0 || viewer.before(&self.write, &new);
            if free && new.is(flag::WRITE) {
                let read = self.read.units & new.units;
                if (read == 0 || !self.read.is(flag::NC) && viewer.before(&self.read, &new))
                    && (self.write.units | self.read.units) & !new.units == 0
                {
                    self.write = new;
                    self.write.flags |= flag::LAST;
                    self.read.units = 0;
                    return;
                }
            } else if free && !self.read.is(flag::NC | flag::SEEN) {
                let covered = self.read.units & !new.units == 0;
                if covered && (self.read.units == 0 || viewer.before(&self.read, &new)) {
                    self.read = new;
                    return;
                }
            }
        }
        self.access_slowly(new, viewer, conflicts);
    }

    #[inline(never)]
    fn access_slowly(&mut self, new: Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        if let Some(More::Units(lists)) = self.more.as_deref_mut() {
            each(new.units, |unit| {
                record(&mut lists[unit as usize], new.with_units(1 << unit), viewer, conflicts);
            });
            return;
        }
        let mut list = self.take_list();
        record(&mut list, new, viewer, conflicts);
        self.put_list(list);
    }

    fn take_list(&mut self) -> Vec<Record> {
        let mut list = match self.more.take().map(|more| *more) {
            Some(More::List(list)) => list,
            Some(More::Units(lists)) => lists.iter().flatten().copied().collect(),
            Some(More::Bytes(_)) | None => Vec::new(),
        };
        for slot in [&mut self.write, &mut self.read] {
            if slot.units != 0 {
                list.push(*slot);
                slot.units = 0;
            }
        }
        list
    }

    fn put_list(&mut self, mut list: Vec<Record>) {
        let units: u32 = list.iter().map(|r| r.units.count_ones()).sum();
        if list.len() > SPLIT && units as usize <= 8 * list.len() {
            let mut lists: Box<[Vec<Record>; 32]> = Box::default();
            for old in &list {
                each(old.units, |unit| lists[unit as usize].push(old.with_units(1 << unit)));
            }
            self.more = Some(Box::new(More::Units(lists)));
            return;
        }
        if let Some(at) = list.iter().rposition(|r| r.is(flag::WRITE)) {
            self.write = list.swap_remove(at);
        }
        if let Some(at) = list.iter().rposition(|r| !r.is(flag::WRITE)) {
            self.read = list.swap_remove(at);
        }
        if !list.is_empty() {
            self.more = Some(Box::new(More::List(list)));
        }
    }

    fn widen(&mut self) {
        let all = self.take_list();
        let mut quarters: Box<[Self; 4]> = Box::default();
        for (at, quarter) in quarters.iter_mut().enumerate() {
            let list = all.iter().filter_map(|r| in_bytes(r, at as u32)).collect();
            quarter.put_list(list);
        }
        self.more = Some(Box::new(More::Bytes(quarters)));
    }
}

/// A record of words as one of the bytes of a quarter.
fn in_bytes(words: &Record, quarter: u32) -> Option<Record> {
    let mut bytes = *words;
    bytes.units = 0;
    each(words.units >> (8 * quarter) & 0xff, |word| bytes.units |= 0xf << (4 * word));
    if words.log != SAME {
        bytes.log = words.log + 2;
        bytes.lanes = words.lanes.wrapping_add((8 * quarter) >> words.log);
    }
    (bytes.units != 0).then_some(bytes)
}
