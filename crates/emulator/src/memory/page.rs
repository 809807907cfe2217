//! What is known of a page of memory beside its bytes.

#![allow(unsafe_code, reason = "a lock over a lazily made shadow")]

use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use rustc_hash::FxHashMap;

use super::init::Init;
use super::mapping::PAGE;
use crate::race::line::{LINE, Line};
use crate::race::location::Location;

/// Lines of a page.
pub const LINES: usize = (PAGE / LINE) as usize;

/// What a launch, and the host, did to a page.
#[derive(Debug, Default)]
pub struct Shadow {
    /// The launch that `lines`, `locations`, `read` and `written` are about.
    pub stamp: u32,
    /// Whether the launch read the page.
    pub read: bool,
    /// Whether the launch wrote the page.
    pub written: bool,
    /// Whether an uninitialised value was written to it, ever.
    pub travelled: bool,
    /// Which bytes are initialised.
    pub init: Init,
    /// Who accessed its lines.
    pub lines: [Line; LINES],
    /// Flags in it, by offset.
    pub locations: FxHashMap<u32, Location>,
    /// Its contents before the launch's first write, if the launch keeps them.
    pub undo: Option<Box<Undo>>,
}

/// A page's contents.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The bytes; as many as the allocation has in the page.
    pub bytes: Box<[u8]>,
    /// Which of them are initialised.
    pub init: Init,
    /// See [`Shadow::travelled`].
    pub travelled: bool,
}

impl Shadow {
    /// Begins another launch or block: nothing of the last one counts any more.
    pub fn restart(&mut self, stamp: u32) {
        self.stamp = stamp;
        self.read = false;
        self.written = false;
        self.undo = None;
        self.lines.iter_mut().for_each(Line::clear);
        if !self.locations.is_empty() {
            self.locations.clear();
        }
    }

    /// Bytes were written, by a value that may have come from uninitialised memory.
    #[inline(always)]
    pub fn set_init(&mut self, offset: u32, bytes: u32, poison: bool) {
        if poison {
            self.init.clear(offset, bytes);
            self.travelled = true;
        } else {
            self.init.set(offset, bytes);
        }
    }

    /// A plain write to bytes: what flags in them carried is gone.
    #[inline(always)]
    pub fn overwrite(&mut self, offset: u32, bytes: u32) {
        if !self.locations.is_empty() {
            self.locations.retain(|at, location| {
                *at >= offset + bytes || at + u32::from(location.bytes) <= offset
            });
        }
    }
}

/// A page's lock and shadow. All zero is a page that nothing touched.
#[derive(Debug)]
#[repr(C)]
pub struct Page {
    lock: AtomicU32,
    /// Whether all bytes are initialised while there is no shadow.
    whole: AtomicU32,
    shadow: AtomicPtr<Shadow>,
}

/// A locked page.
pub struct Locked<'a> {
    page: &'a Page,
    shadow: &'a mut Shadow,
}

impl Page {
    /// Waits for the page, and makes its shadow if there is none.
    #[inline]
    pub fn lock(&self) -> Locked<'_> {
        self.wait();
        let mut shadow = self.shadow.load(Ordering::Relaxed);
        if shadow.is_null() {
            shadow = self.make();
        }
        // SAFETY: the pointer is this page's own, made by `make`; the lock makes the borrow unique.
        Locked { page: self, shadow: unsafe { &mut *shadow } }
    }

    #[inline(always)]
    fn wait(&self) {
        let mut tries = 0u32;
        while self.lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            tries += 1;
            if tries.is_multiple_of(128) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    #[cold]
    fn make(&self) -> *mut Shadow {
        let init = if self.whole.load(Ordering::Relaxed) == 1 { Init::All } else { Init::None };
        let made = Box::into_raw(Box::new(Shadow { init, ..Shadow::default() }));
        self.shadow.store(made, Ordering::Relaxed);
        made
    }

    /// Marks all its bytes as initialised, without a shadow if there is none yet.
    pub fn fill(&self) {
        self.wait();
        let shadow = self.shadow.load(Ordering::Relaxed);
        if shadow.is_null() {
            self.whole.store(1, Ordering::Relaxed);
        } else {
            // SAFETY: as in `lock`.
            unsafe { (*shadow).init = Init::All };
        }
        self.lock.store(0, Ordering::Release);
    }

    /// Whether all its bytes are initialised; without making a shadow.
    pub fn is_whole(&self) -> bool {
        self.wait();
        let shadow = self.shadow.load(Ordering::Relaxed);
        let whole = if shadow.is_null() {
            self.whole.load(Ordering::Relaxed) == 1
        } else {
            // SAFETY: as in `lock`.
            unsafe { (*shadow).init == Init::All }
        };
        self.lock.store(0, Ordering::Release);
        whole
    }

    /// Drops the shadow. Its owner does so when nobody else has the page any more.
    pub fn discard(&mut self) {
        let shadow = std::mem::replace(self.shadow.get_mut(), null_mut());
        if !shadow.is_null() {
            // SAFETY: made by `make` from a box, and taken out of the page here.
            drop(unsafe { Box::from_raw(shadow) });
        }
    }
}

impl Deref for Locked<'_> {
    type Target = Shadow;
    fn deref(&self) -> &Shadow {
        self.shadow
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Shadow {
        self.shadow
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.page.lock.store(0, Ordering::Release);
    }
}
