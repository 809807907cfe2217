//! Inputs of a checked launch: the lesson's own, and seeded ones that reach every kind of value.

use serde::{Deserialize, Serialize};

/// Where the elements of an input come from. A pure function of the kind and the seed: anybody can
/// make it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Input {
    /// The lesson's: `(i % 97) * 0.01f`, in f32 as C computes it.
    Lesson,
    /// Any finite value, by bit pattern: both zeros, subnormals, the largest. The chain of such a
    /// value is finite as well: each step brings it nearer to 250.
    Finite {
        /// Of the generator.
        seed: u64,
    },
    /// As `Finite`, with infinities and NaN among them. Outputs are then compared with every NaN
    /// taken for the same: which payload a NaN gets is each machine's own, and the device always
    /// writes 0x7FFFFFFF.
    Special {
        /// Of the generator.
        seed: u64,
    },
}

impl Input {
    /// The first `len` elements.
    pub fn values(self, len: usize) -> Vec<f32> {
        match self {
            Self::Lesson => (0..len).map(lesson_value).collect(),
            Self::Finite { seed } => {
                let mut random = SplitMix64::new(seed);
                (0..len).map(|_| finite(random.word())).collect()
            }
            Self::Special { seed } => {
                let mut random = SplitMix64::new(seed);
                (0..len).map(|_| special(random.word())).collect()
            }
        }
    }

    /// Whether a NaN can be among the elements.
    pub fn may_hold_nan(self) -> bool {
        matches!(self, Self::Special { .. })
    }
}

fn lesson_value(index: usize) -> f32 {
    // At most 96: exact in f32, as the conversion from `size_t` in C is.
    (index % 97) as f32 * 0.01
}

/// Three in four: any finite bit pattern. The others: the edges, which patterns drawn evenly hardly
/// ever hit.
fn finite(word: u64) -> f32 {
    const EDGES: [f32; 8] = [
        0.0,
        1.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::from_bits(1),
        f32::from_bits(0x007F_FFFF),
        250.0,
        f32::EPSILON,
    ];
    let bits = (word >> 32) as u32;
    if word & 3 == 0 {
        let edge = EDGES[(word >> 2 & 7) as usize];
        return if bits >> 31 == 0 { edge } else { -edge };
    }
    // 254 of the 255 exponents are finite besides zero's; the one that is not is folded onto a
    // finite one.
    let exponent = (bits >> 23 & 0xFF) % 0xFF;
    f32::from_bits(bits & 0x807F_FFFF | exponent << 23)
}

fn special(word: u64) -> f32 {
    match word >> 5 & 15 {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        // A quiet NaN that is not the word with which outputs are poisoned.
        2 => f32::from_bits(0x7FC0_0000),
        _ => finite(word),
    }
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs for seed 1234567 of the reference implementation by Vigna, as Rosetta Code
        // lists them.
        let mut random = SplitMix64::new(1_234_567);
        let expect = [
            6_457_827_717_110_365_317_u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!([(); 5].map(|()| random.word()), expect);
    }

    #[test]
    fn the_lesson_input_repeats_after_97() {
        let values = Input::Lesson.values(195);
        assert_eq!(values[0], 0.0);
        assert_eq!(values[1], 0.01_f32);
        assert_eq!(values[96], 96.0_f32 * 0.01_f32);
        assert_eq!(values[97..194], values[..97]);
    }

    #[test]
    fn finite_inputs_reach_every_kind_and_stay_finite_through_the_chain() {
        let values = Input::Finite { seed: 7 }.values(100_000);
        assert!(values.iter().all(|v| v.is_finite()));
        assert!(values.iter().all(|v| super::super::chain_of(*v).is_finite()));
        let holds = |what: fn(&f32) -> bool| values.iter().any(what);
        assert!(holds(|v| v.to_bits() == 0) && holds(|v| v.to_bits() == 0x8000_0000));
        assert!(holds(|v| v.is_subnormal() && *v > 0.0) && holds(|v| v.is_subnormal() && *v < 0.0));
        assert!(holds(|v| *v == f32::MAX) && holds(|v| *v == f32::MIN));
        assert!(holds(|v| v.abs() > 1e30 && *v != f32::MAX));
    }

    #[test]
    fn special_inputs_hold_infinities_and_nan() {
        let values = Input::Special { seed: 7 }.values(1000);
        assert!(values.contains(&f32::INFINITY) && values.contains(&f32::NEG_INFINITY));
        assert!(values.iter().any(|v| v.is_nan()) && values.iter().any(|v| v.is_finite()));
        assert!(values.iter().all(|v| v.to_bits() != u32::MAX));
    }

    #[test]
    fn seeds_make_different_inputs_and_equal_seeds_equal_ones() {
        let of = |seed| {
            Input::Finite { seed }.values(64).iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
