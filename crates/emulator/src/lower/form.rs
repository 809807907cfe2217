//! The modifiers of an instruction as a set: nvcc writes them in an order of its own.

use crate::program::{Order, Scope, Space};

/// Modifiers, and which of them were understood.
pub(crate) struct Form<'a> {
    modifiers: &'a [String],
    taken: u64,
}

impl<'a> Form<'a> {
    /// Of an instruction. More than 64 modifiers are more than any instruction has.
    pub(crate) fn new(modifiers: &'a [String]) -> Self {
        Self { modifiers: &modifiers[..modifiers.len().min(64)], taken: 0 }
    }

    /// Whether it has this modifier, which is thereby understood.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        let mut found = false;
        for (index, modifier) in self.modifiers.iter().enumerate() {
            if modifier == name {
                self.taken |= 1 << index;
                found = true;
            }
        }
        found
    }

    /// The first of these that it has, which is thereby understood.
    pub(crate) fn take_any<T: Copy>(&mut self, names: &[(&str, T)]) -> Option<T> {
        names.iter().find(|(name, _)| self.take(name)).map(|(_, value)| *value)
    }

    /// The first modifier for which `read` knows a value, taken.
    pub(crate) fn take_with<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        for (index, modifier) in self.modifiers.iter().enumerate() {
            if self.taken >> index & 1 == 0
                && let Some(value) = read(modifier)
            {
                self.taken |= 1 << index;
                return Some(value);
            }
        }
        None
    }

    /// What nothing took.
    pub(crate) fn left(&self) -> Option<&'a str> {
        let index = (0..self.modifiers.len()).find(|index| self.taken >> index & 1 == 0)?;
        Some(&self.modifiers[index])
    }

    /// The scope, if one is named.
    pub(crate) fn scope(&mut self) -> Option<Scope> {
        self.take_any(&[
            ("cta", Scope::Block),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("gl", Scope::Gpu),
            ("sys", Scope::System),
        ])
    }

    /// The state space, generic if none is named.
    pub(crate) fn space(&mut self) -> Space {
        self.take_any(&[
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("local", Space::Local),
            ("const", Space::Const),
        ])
        .unwrap_or(Space::Generic)
    }

    /// How an access takes part in the memory model, weak if nothing is said.
    pub(crate) fn order(&mut self) -> Order {
        if self.take("volatile") {
            return Order::Volatile;
        }
        if self.take("nc") {
            return Order::ReadOnly;
        }
        let weak = self.take("weak");
        let with: Option<fn(Scope) -> Order> = self.take_any(&[
            ("relaxed", Order::Relaxed as fn(Scope) -> Order),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
            ("acq_rel", Order::AcquireRelease),
        ]);
        // `.mmio` is relaxed, of system scope.
        let mmio = self.take("mmio");
        match (with, self.scope()) {
            (Some(with), scope) => with(scope.unwrap_or(Scope::Gpu)),
            (None, _) if mmio => Order::Relaxed(Scope::System),
            // Of an atomic: relaxed, of the scope that is named. A load names none without more.
            (None, Some(scope)) if !weak => Order::Relaxed(scope),
            (None, _) => Order::Weak,
        }
    }

    /// Hints about caches and prefetching, which change no value.
    pub(crate) fn take_cache_hints(&mut self) {
        while self
            .take_with(|name| {
                let plain = matches!(name, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt");
                let level =
                    ["L1::", "L2::", "level::"].iter().any(|prefix| name.starts_with(prefix));
                (plain || level).then_some(())
            })
            .is_some()
        {}
    }

    /// How many elements a vector has.
    pub(crate) fn vector(&mut self) -> usize {
        self.take_any(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }

    /// The type of an element: its letter and its bytes.
    pub(crate) fn element(&mut self) -> Option<Element> {
        self.take_with(Element::by_name)
    }
}

/// A type of memory's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    /// `b`, `u`, `s` or `f`; bf16 is `g`.
    pub(crate) letter: u8,
    /// Its size.
    pub(crate) bytes: u8,
    /// Whether it is a packed pair.
    pub(crate) pair: bool,
}

impl Element {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let (letter, rest, pair) = match name {
            "f16x2" => (b'f', "32", true),
            "bf16x2" => (b'g', "32", true),
            "bf16" => (b'g', "16", false),
            _ => (*name.as_bytes().first()?, name.get(1..)?, false),
        };
        if !matches!(letter, b'b' | b'u' | b's' | b'f' | b'g') {
            return None;
        }
        let bytes = match rest {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            "128" => 16,
            _ => return None,
        };
        Some(Self { letter, bytes, pair })
    }

    pub(crate) fn signed(self) -> bool {
        self.letter == b's'
    }
}
