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

use smallvec::SmallVec;

use super::each;
use super::record::{Conflict, Record, SAME, flag};
use super::rules::{Viewer, record};

/// A line's size in bytes.
pub const LINE: u64 = 128;

/// More records than this in a list split it into one list a unit.
const SPLIT: usize = 96;

/// Records of some units.
pub(super) type List = SmallVec<[Record; 6]>;

/// The history of a line, or of a quarter of one in bytes.
#[derive(Debug, Default)]
pub struct Line {
    /// A write, if its units are not empty.
    write: Record,
    /// A read, if its units are not empty.
    read: Record,
    /// What two records can't say; they are unused then.
    more: Option<Box<More>>,
}

#[derive(Debug)]
enum More {
    /// All records.
    List(List),
    /// A list a unit.
    Units(Box<[List; 32]>),
    /// A history a quarter, in bytes.
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
        self.more.is_some() && matches!(self.more.as_deref(), Some(More::Bytes(_)))
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
    #[inline(always)]
    pub fn access(&mut self, new: &Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        if !self.access_fast(new, viewer) {
            self.access_slowly(*new, viewer, conflicts);
        }
    }

    /// Records an access, if two records still do and nothing conflicts. Says whether it did.
    #[inline(always)]
    pub fn access_fast(&mut self, new: &Record, viewer: &Viewer<'_>) -> bool {
        let plain = new.flags & (flag::STRONG | flag::NC) == 0;
        self.more.is_none()
            && if !plain {
                self.modify(new, viewer)
            } else if new.is(flag::WRITE) {
                self.write(new, viewer)
            } else {
                self.read(new, viewer)
            }
    }

    /// A weak read, if two records still do and nothing conflicts.
    #[inline(always)]
    fn read(&mut self, new: &Record, viewer: &Viewer<'_>) -> bool {
        if self.write.units & new.units != 0 && !viewer.before(&self.write, new) {
            return false;
        }
        let read = &mut self.read;
        if read.units == 0 {
            *read = *new;
            return true;
        }
        if read.is(flag::NC | flag::SEEN) {
            return false;
        }
        if read.is_like(new) {
            read.units |= new.units;
            return true;
        }
        if new.units & !read.units == 0 && read.says(new) {
            return true;
        }
        if read.units & !new.units == 0 && viewer.before(read, new) {
            *read = *new;
            return true;
        }
        false
    }

    /// A weak write, if two records still do and nothing conflicts.
    #[inline(always)]
    fn write(&mut self, new: &Record, viewer: &Viewer<'_>) -> bool {
        let (write, read) = (&mut self.write, &mut self.read);
        if read.units & new.units != 0 && (read.is(flag::NC) || !viewer.before(read, new))
            || write.units & new.units != 0 && !viewer.before(write, new)
        {
            return false;
        }
        let flags = new.flags | flag::LAST;
        if write.is_like(&Record { flags, ..*new }) {
            write.units |= new.units;
        } else if write.units & !new.units == 0 {
            *write = Record { flags, ..*new };
        } else {
            return false;
        }
        read.units &= !new.units;
        true
    }

    /// A read-modify-write that observes one of its own kind, the only access to its units.
    #[inline(always)]
    fn modify(&mut self, new: &Record, viewer: &Viewer<'_>) -> bool {
        if !new.is(flag::ATOMIC) || !new.is(flag::WRITE) || self.read.units & new.units != 0 {
            return false;
        }
        let free = self.write.units == 0;
        if free {
            self.write = Record { flags: new.flags | flag::LAST, ..*new };
        }
        free || viewer.link(&mut self.write, new)
    }

    #[inline(never)]
    fn access_slowly(&mut self, new: Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        match self.more.as_deref_mut() {
            None => {
                let mut list = self.take_list();
                record(&mut list, new, viewer, conflicts);
                self.put_list(list);
            }
            Some(More::List(list)) => {
                record(list, new, viewer, conflicts);
                if list.len() <= 2 || list.len() > SPLIT {
                    let list = self.take_list();
                    self.put_list(list);
                }
            }
            Some(More::Units(lists)) => each(new.units, |unit| {
                record(&mut lists[unit as usize], new.with_units(1 << unit), viewer, conflicts);
            }),
            // Whoever accesses such a line asks for its quarters.
            Some(More::Bytes(_)) => {}
        }
    }

    fn take_list(&mut self) -> List {
        let mut list = match self.more.take().map(|more| *more) {
            Some(More::List(list)) => list,
            Some(More::Units(lists)) => lists.iter().flatten().copied().collect(),
            Some(More::Bytes(_)) | None => List::new(),
        };
        for slot in [&mut self.write, &mut self.read] {
            if slot.units != 0 {
                list.push(*slot);
                slot.units = 0;
            }
        }
        list
    }

    fn put_list(&mut self, list: List) {
        let writes = list.iter().filter(|record| record.is(flag::WRITE)).count();
        if writes <= 1 && list.len() - writes <= 1 {
            for record in list {
                *(if record.is(flag::WRITE) { &mut self.write } else { &mut self.read }) = record;
            }
            return;
        }
        let units: u32 = list.iter().map(|r| r.units.count_ones()).sum();
        if list.len() <= SPLIT || units as usize > 8 * list.len() {
            self.more = Some(Box::new(More::List(list)));
            return;
        }
        let mut lists: Box<[List; 32]> = Box::default();
        for old in &list {
            each(old.units, |unit| lists[unit as usize].push(old.with_units(1 << unit)));
        }
        self.more = Some(Box::new(More::Units(lists)));
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
