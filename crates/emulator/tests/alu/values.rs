//! Operands: edges, small numbers, random bits, random floats, and values near one another.

/// A small generator of random numbers (splitmix64), the same on every machine.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

const EDGES16: [u16; 46] = [
    0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff,
    0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x4000, 0x3800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
    0xfe00, 0x0400, 0x03ff, 0x8400, 0x83ff, 0x3f80, 0xbf80, 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
    0x7f81, 0x7fc0, 0x0080, 0x007f, 0x807f, 0x5bff,
];

const EDGES32: [u32; 62] = [
    0,
    1,
    2,
    3,
    0x1f,
    0x20,
    0x21,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0xffff_ff80,
    0xffff_8000,
    0xff80_0000,
    // Floats: 1, 1.5, 2, halves, the largest, the least, infinities, NaNs, limits of integers.
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3fc0_0000,
    0x4000_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x4020_0000,
    0xc020_0000,
    0x3eff_ffff,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0001,
    0x7fc0_0000,
    0xffc0_0001,
    0xff80_0001,
    0x0080_0000,
    0x007f_ffff,
    0x8080_0000,
    0x807f_ffff,
    0x7f80_0000,
    0x4f00_0000,
    0x4eff_ffff,
    0xcf00_0000,
    0xcf00_0001,
    0x4f80_0000,
    0x4f7f_ffff,
    0x5f00_0000,
    0x5f80_0000,
    0xdf00_0000,
    0x477f_f000,
    0x477f_efff,
    0x3300_0000,
    0x3300_0001,
    0x3880_0000,
    0x387f_f000,
    0x4b80_0001,
];

const EDGES64: [u64; 60] = [
    0,
    1,
    2,
    3,
    0x3f,
    0x40,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_8000_0000,
    0xffff_ffff_7fff_ffff,
    // Floats, as for 32 bits.
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3ff8_0000_0000_0000,
    0x4000_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0001,
    0xfff0_0000_0000_1234,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x8010_0000_0000_0000,
    0x800f_ffff_ffff_ffff,
    0x41df_ffff_ffc0_0000,
    0x41df_ffff_ffe0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0x380f_ffff_ffff_ffff,
    0x3690_0000_0000_0000,
    0x3690_0000_0000_0001,
];

/// The edges of an operand's width.
pub fn edges(letter: char) -> Vec<u128> {
    match letter {
        'p' | 'c' => vec![0, 1],
        'b' => (0..256).collect(),
        'h' => EDGES16.map(u128::from).to_vec(),
        'r' => EDGES32.map(u128::from).to_vec(),
        _ => EDGES64.map(u128::from).to_vec(),
    }
}

/// Bits of an operand.
pub fn bits(letter: char) -> u32 {
    match letter {
        'p' | 'c' => 1,
        'b' => 8,
        'h' => 16,
        'r' | 'i' => 32,
        'd' => 64,
        _ => 128,
    }
}

fn low(value: u128, bits: u32) -> u128 {
    value & (u128::MAX >> (128 - bits))
}

/// A float of a width whose exponent is near that of 1.
fn float(random: &mut Random, letter: char) -> u128 {
    let sign = random.below(2);
    let number = random.next();
    let near = random.below(9);
    let value = match letter {
        'h' => {
            let exponent = (11 + near) << 10;
            if random.below(2) == 0 {
                sign << 15 | exponent | number & 0x3ff
            } else {
                sign << 15 | (123 + near) << 7 | number & 0x7f
            }
        }
        'r' => match random.below(4) {
            0 => {
                let half = |random: &mut Random| float(random, 'h') as u64;
                half(random) << 16 | half(random)
            }
            1 => sign << 31 | (107 + near * 6) << 23 | number & 0x7f_ffff,
            _ => sign << 31 | (123 + near) << 23 | number & 0x7f_ffff,
        },
        _ => match random.below(4) {
            0 => (float(random, 'r') << 32 | float(random, 'r')) as u64,
            1 => sign << 63 | (969 + near * 12) << 52 | number & 0xf_ffff_ffff_ffff,
            _ => sign << 63 | (1019 + near) << 52 | number & 0xf_ffff_ffff_ffff,
        },
    };
    u128::from(value)
}

/// One operand.
fn value(random: &mut Random, letter: char) -> u128 {
    let value = match random.below(10) {
        0..=3 => random.of(&edges(letter)),
        4 => u128::from(random.below(72).wrapping_sub(4)),
        5..=6 => u128::from(random.next()) << 64 | u128::from(random.next()),
        7 if bits(letter) >= 32 => {
            let halves = random.of(&EDGES16);
            let other = random.of(&EDGES16);
            u128::from(random.next()) << 32 | u128::from(halves) << 16 | u128::from(other)
        }
        _ => float(random, letter),
    };
    low(value, bits(letter))
}

/// Factors whose product takes next to nothing from the least normal number, or adds it.
fn below_least(random: &mut Random) -> Vec<u128> {
    let exponent = 15 + random.below(40);
    let mut sign = || (random.below(2) << 31) as u128;
    let small = u128::from(exponent << 23);
    vec![sign() | small, sign() | small, sign() | 0x0080_0000]
}

/// One tuple of operands; now and then two of them are near each other.
pub fn tuple(random: &mut Random, sources: &str) -> Vec<u128> {
    if sources == "rrr" && random.below(16) == 0 {
        return below_least(random);
    }
    let mut values: Vec<u128> = sources.chars().map(|letter| value(random, letter)).collect();
    if values.len() > 1 && random.below(5) == 0 {
        let letter = sources.chars().nth(1).unwrap();
        let top = 1 << (bits(letter) - 1);
        let near = match random.below(5) {
            0 => values[0],
            1 => values[0] ^ top,
            2 => values[0].wrapping_add(1),
            3 => values[0].wrapping_sub(1),
            _ => values[0].wrapping_neg(),
        };
        values[1] = low(near, bits(letter));
    }
    values
}

/// Many tuples: all there are of one small operand, the product of two operands' edges, and more.
pub fn tuples(random: &mut Random, sources: &str, at_least: usize) -> Vec<Vec<u128>> {
    let mut all: Vec<Vec<u128>> = Vec::new();
    match sources.chars().collect::<Vec<_>>()[..] {
        [one @ ('b' | 'h')] => all.extend((0..1u128 << bits(one)).map(|value| vec![value])),
        [one] => all.extend(edges(one).into_iter().map(|value| vec![value])),
        [one, two] => {
            for first in edges(one) {
                all.extend(edges(two).into_iter().map(|second| vec![first, second]));
            }
        }
        _ => {}
    }
    while all.len() < at_least || !all.len().is_multiple_of(32) {
        all.push(tuple(random, sources));
    }
    all
}
