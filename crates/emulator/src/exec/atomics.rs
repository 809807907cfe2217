//! What atomic operations compute (PTX ISA 9.7.13).

use crate::program::AtomicOp;

/// The new value of a location, or `None` if compare and swap leaves it.
pub(crate) fn compute(
    op: AtomicOp,
    bytes: u8,
    old: u128,
    operand: u128,
    swap: u128,
) -> Option<u128> {
    let keep = if bytes >= 16 { u128::MAX } else { (1 << (8 * u32::from(bytes))) - 1 };
    let sign = |value: u128| {
        let unused = 128 - 8 * u32::from(bytes);
        (value << unused) as i128 >> unused
    };
    let new = match op {
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Exchange => operand,
        AtomicOp::CompareSwap if old == operand & keep => swap,
        AtomicOp::CompareSwap => return None,
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::Increment => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        AtomicOp::MinSigned => sign(old).min(sign(operand)) as u128,
        AtomicOp::MaxSigned => sign(old).max(sign(operand)) as u128,
        AtomicOp::MinUnsigned => old.min(operand & keep),
        AtomicOp::MaxUnsigned => old.max(operand & keep),
        AtomicOp::AddF32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(operand as u32);
            u128::from(canonical(sum).to_bits())
        }
        AtomicOp::AddF64 => {
            let sum = f64::from_bits(old as u64) + f64::from_bits(operand as u64);
            u128::from(sum.to_bits())
        }
        AtomicOp::AddF16 => by_halves(bytes, old, operand, add_f16),
        AtomicOp::AddBf16 => by_halves(bytes, old, operand, add_bf16),
    };
    Some(new & keep)
}

/// NaNs of `.f32` operations are one (PTX ISA 9.7.3).
fn canonical(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value }
}

fn by_halves(bytes: u8, old: u128, operand: u128, add: fn(u16, u16) -> u16) -> u128 {
    let low = u128::from(add(old as u16, operand as u16));
    if bytes == 2 {
        return low;
    }
    low | u128::from(add((old >> 16) as u16, (operand >> 16) as u16)) << 16
}

fn add_f16(a: u16, b: u16) -> u16 {
    // The sum of two halves is exact in single precision, up to a rounding that can't matter: 24
    // bits are more than twice 11 plus one.
    let sum = half::f16::from_bits(a).to_f32() + half::f16::from_bits(b).to_f32();
    if sum.is_nan() { 0x7fff } else { half::f16::from_f32(sum).to_bits() }
}

fn add_bf16(a: u16, b: u16) -> u16 {
    let sum =
        f64::from(half::bf16::from_bits(a).to_f32()) + f64::from(half::bf16::from_bits(b).to_f32());
    if sum.is_nan() { 0x7fff } else { half::bf16::from_f64(sum).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::compute;
    use crate::program::AtomicOp;

    #[test]
    fn increments_wrap_at_their_operand() {
        assert_eq!(compute(AtomicOp::Increment, 4, 3, 5, 0), Some(4));
        assert_eq!(compute(AtomicOp::Increment, 4, 5, 5, 0), Some(0));
        assert_eq!(compute(AtomicOp::Decrement, 4, 0, 5, 0), Some(5));
        assert_eq!(compute(AtomicOp::Decrement, 4, 9, 5, 0), Some(5));
        assert_eq!(compute(AtomicOp::Decrement, 4, 4, 5, 0), Some(3));
    }

    #[test]
    fn signs_are_of_the_locations_width() {
        let minus_one = u128::from(u32::MAX);
        assert_eq!(compute(AtomicOp::MinSigned, 4, 1, minus_one, 0), Some(minus_one));
        assert_eq!(compute(AtomicOp::MinUnsigned, 4, 1, minus_one, 0), Some(1));
        assert_eq!(compute(AtomicOp::Add, 4, minus_one, 2, 0), Some(1));
    }

    #[test]
    fn compare_and_swap_leaves_what_differs() {
        assert_eq!(compute(AtomicOp::CompareSwap, 4, 7, 7, 9), Some(9));
        assert_eq!(compute(AtomicOp::CompareSwap, 4, 8, 7, 9), None);
    }

    #[test]
    fn halves_add_apart() {
        // 1.0 + 1.0 = 2.0 in the low half, 2.0 + 2.0 = 4.0 in the high one.
        let (old, operand) = (0x4000_3c00, 0x4000_3c00);
        assert_eq!(compute(AtomicOp::AddF16, 4, old, operand, 0), Some(0x4400_4000));
    }
}
