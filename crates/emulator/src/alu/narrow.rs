//! `cvt` to and from packed and narrow types (PTX ISA 9.7.9.21), and `cvt.pack` (9.7.9.22).

use super::Form;
use super::half::{bf16_from_f32, from_f32};
use super::kernel::{op1x, op2, op2x, op3x};
use super::rules::Rules;
use super::soft::{Format, Number, Round};
use super::words::{Kind, Words};

/// The formats that are packed, by their number in the extra bits.
const FORMATS: [Format; 8] = [
    Format::F16,
    Format::BF16,
    Format::E4M3,
    Format::E5M2,
    Format::E2M1,
    Format::E2M3,
    Format::E3M2,
    Format::TF32,
];

/// Where the number of the format stands.
const FORMAT: u32 = 16;

fn format(x: u32) -> Format {
    FORMATS[(x >> FORMAT & 7) as usize]
}

fn number(kind: Kind) -> Option<u32> {
    Some(match kind {
        Kind::F16x2 => 0,
        Kind::Bf16x2 => 1,
        Kind::E4m3x2 => 2,
        Kind::E5m2x2 => 3,
        Kind::E2m1x2 => 4,
        Kind::E2m3x2 => 5,
        Kind::E3m2x2 => 6,
        Kind::Tf32 => 7,
        _ => return None,
    })
}

/// The distance of two packed numbers.
fn pitch(format: Format) -> u32 {
    format.bits().next_power_of_two()
}

/// Finds a conversion of packed types.
pub fn select(words: &mut Words<'_>, to: Kind, from: Kind) -> Option<Form> {
    let round = words.one_of(&[("rn", Round::Near), ("rz", Round::Zero), ("rna", Round::Away)])?;
    let rules = Rules {
        round,
        relu: words.take("relu"),
        finite: words.take("satfinite"),
        ..Rules::default()
    };
    let near = round == Round::Near;
    let packed = |kind| rules.pack() | number(kind).unwrap_or(0) << FORMAT;
    let form = match (to, from) {
        (Kind::Tf32, Kind::F32) if round != Round::Away || !rules.relu => {
            op1x(tensor).with_extra(packed(to))
        }
        _ if round == Round::Away => return None,
        (Kind::F16x2, Kind::F32) if near && !rules.relu && !rules.finite => {
            op2(|a, b| u32::from(from_f32(a)) << 16 | u32::from(from_f32(b)))
        }
        (Kind::Bf16x2, Kind::F32) if near && !rules.relu && !rules.finite => {
            op2(|a, b| u32::from(bf16_from_f32(a)) << 16 | u32::from(bf16_from_f32(b)))
        }
        (Kind::F16x2 | Kind::Bf16x2, Kind::F32) => {
            op2x(|a: f32, b: f32, x| convert(a, x) << 16 | convert(b, x)).with_extra(packed(to))
        }
        _ if !near => return None,
        (Kind::F16x2, kind) if small(kind) && !rules.finite => op1x(widen).with_extra(packed(from)),
        (kind, Kind::F32) if small(kind) && rules.finite => {
            op2x(|a: f32, b: f32, x| (convert(a, x) << pitch(format(x)) | convert(b, x)) as u16)
                .with_extra(packed(to))
        }
        (Kind::E4m3x2 | Kind::E5m2x2, Kind::F16x2) if rules.finite => {
            op1x(squeeze).with_extra(packed(to))
        }
        _ => return None,
    };
    Some(form)
}

fn small(kind: Kind) -> bool {
    matches!(kind, Kind::E4m3x2 | Kind::E5m2x2 | Kind::E2m1x2 | Kind::E2m3x2 | Kind::E3m2x2)
}

/// One `.f32` in the format.
fn convert(a: f32, x: u32) -> u32 {
    let number = Number::decode(u64::from(a.to_bits()), Format::F32);
    Rules::unpack(x).result(number, format(x)) as u32
}

/// `.tf32`: a NaN that `.rna` rounds is only cut, on hardware.
fn tensor(a: f32, x: u32) -> u32 {
    let rules = Rules::unpack(x);
    let bits = a.to_bits();
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    if nan && rules.round == Round::Away && !rules.finite {
        return bits & !0x1fff;
    }
    convert(a, x) << 13
}

/// Two small numbers to a pair of `.f16`.
fn widen(a: u16, x: u32) -> u32 {
    let format = format(x);
    let part = |at: u32| {
        let bits = u64::from(a) >> (at * pitch(format)) & ((1 << format.bits()) - 1);
        Rules::unpack(x).result(Number::decode(bits, format), Format::F16) as u32
    };
    part(1) << 16 | part(0)
}

/// A pair of `.f16` to two numbers of 8 bits.
fn squeeze(a: u32, x: u32) -> u16 {
    let part = |at: u32| {
        let number = Number::decode(u64::from(a >> (16 * at) & 0xffff), Format::F16);
        Rules::unpack(x).result(number, format(x)) as u16
    };
    part(1) << 8 | part(0)
}

/// Bits of an element of `cvt.pack`, and whether it is signed.
fn element(kind: Kind) -> Option<(u32, bool)> {
    Some(match kind {
        Kind::U2 => (2, false),
        Kind::S2 => (2, true),
        Kind::U4 => (4, false),
        Kind::S4 => (4, true),
        Kind::U8 => (8, false),
        Kind::S8 => (8, true),
        Kind::U16 => (16, false),
        Kind::S16 => (16, true),
        _ => return None,
    })
}

/// `cvt.pack.sat`: `a` and `b` saturated, put below what `c` holds.
pub fn pack(words: &mut Words<'_>) -> Option<Form> {
    if !words.take("sat") {
        return None;
    }
    let (bits, signed) = element(words.kind()?)?;
    let from = words.kind()?;
    let extra = bits | u32::from(signed) << 8;
    let form = match (from, words.kind()) {
        (Kind::S32, None) if bits == 16 => op2x(pair),
        (Kind::S32, Some(Kind::B32)) if bits < 16 => {
            op3x(|a, b, c: u32, x| c << (2 * (x & 0xff)) | pair(a, b, x))
        }
        _ => return None,
    };
    Some(form.with_extra(extra))
}

fn pair(a: i32, b: i32, x: u32) -> u32 {
    let (bits, signed) = (x & 0xff, x >> 8 != 0);
    let (least, most) =
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let part = |value: i32| value.clamp(least, most) as u32 & ((1 << bits) - 1);
    part(a) << bits | part(b)
}
