//! The words after an opcode: types in their order, everything else in any order.

use super::Refused;
use crate::lanes::Width;

macro_rules! kinds {
    ($($name:ident $text:literal,)*) => {
        /// A fundamental or packed type, as a modifier names it (PTX ISA 5.2).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is named as PTX names it")]
        pub enum Kind {
            $($name,)*
        }

        impl Kind {
            /// By its name without dot.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Pred "pred",
    B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128",
    U2 "u2", S2 "s2", U4 "u4", S4 "s4",
    U8 "u8", U16 "u16", U32 "u32", U64 "u64",
    S8 "s8", S16 "s16", S32 "s32", S64 "s64",
    U16x2 "u16x2", S16x2 "s16x2",
    F16 "f16", F16x2 "f16x2", Bf16 "bf16", Bf16x2 "bf16x2",
    Tf32 "tf32", F32 "f32", F32x2 "f32x2", F64 "f64",
    E4m3x2 "e4m3x2", E5m2x2 "e5m2x2", E2m1x2 "e2m1x2", E2m3x2 "e2m3x2", E3m2x2 "e3m2x2",
}

/// An instruction's words while they are read.
pub struct Words<'a> {
    /// The opcode.
    pub opcode: &'a str,
    /// Widths of the operands' registers, results first.
    pub widths: &'a [Option<Width>],
    kinds: Vec<Kind>,
    others: Vec<&'a str>,
    original: &'a [String],
}

impl<'a> Words<'a> {
    /// The words of an instruction, none read yet.
    pub fn new(opcode: &'a str, modifiers: &'a [String], widths: &'a [Option<Width>]) -> Self {
        let mut kinds = Vec::new();
        let mut others = Vec::new();
        for word in modifiers {
            match Kind::parse(word) {
                Some(kind) => kinds.push(kind),
                None => others.push(word.as_str()),
            }
        }
        kinds.reverse();
        Self { opcode, widths, kinds, others, original: modifiers }
    }

    /// The next type.
    pub fn kind(&mut self) -> Option<Kind> {
        self.kinds.pop()
    }

    /// Whether the last type is one of integers.
    pub fn has_integer_kind(&self) -> bool {
        use Kind::{S8, S16, S16x2, S32, S64, U8, U16, U16x2, U32, U64};
        let last = self.kinds.first();
        last.is_some_and(|kind| {
            matches!(kind, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | U16x2 | S16x2)
        })
    }

    /// Whether a word is there; it is read then.
    pub fn take(&mut self, word: &str) -> bool {
        match self.others.iter().position(|other| *other == word) {
            Some(at) => {
                self.others.swap_remove(at);
                true
            }
            None => false,
        }
    }

    /// The value of the first of some words that is there.
    pub fn one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Option<T> {
        words.iter().find(|(word, _)| self.take(word)).map(|(_, value)| *value)
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.others.is_empty()
    }

    /// The register's width of an operand, results first.
    pub fn width(&self, operand: usize) -> Option<Width> {
        self.widths.get(operand).copied().flatten()
    }

    /// Says that this isn't implemented.
    pub fn refused(&self) -> Refused {
        let mut what = self.opcode.to_owned();
        for word in self.original {
            what.push('.');
            what.push_str(word);
        }
        Refused { what }
    }
}
