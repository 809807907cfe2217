//! Each check passes what is right and fails what is not, all-zero and all-NaN buffers above all.

use super::*;
use crate::reference::{Input, chain};

type Check = fn(&[f32], &[f32]) -> Result<(), NotEqual>;

/// Every comparison, at a bound that lets small differences pass where it has one.
const CHECKS: [(&str, Check); 4] = [
    ("bit_exact", bit_exact),
    ("bit_exact_any_nan", bit_exact_any_nan),
    ("relative", |got, want| relative(got, want, 1e-5)),
    ("ulp", |got, want| ulp(got, want, 4)),
];

fn want() -> Vec<f32> {
    chain(&Input::Lesson.values(1025))
}

#[test]
fn the_right_answer_passes_every_check() {
    for (name, check) in CHECKS {
        assert_eq!(check(&want(), &want()), Ok(()), "{name}");
    }
}

#[test]
fn constant_and_poisoned_buffers_fail_every_check() {
    let infinities = [f32::INFINITY, f32::NEG_INFINITY];
    let fills = [0.0, -0.0, f32::NAN, f32::from_bits(POISON_WORD), infinities[0], infinities[1]];
    for (name, check) in CHECKS {
        for fill in fills {
            let got = vec![fill; 1025];
            let result = check(&got, &want());
            let Err(NotEqual::Values(found)) = result else { panic!("{name} {fill}: {result:?}") };
            assert_eq!((found.index, found.count), (0, 1025), "{name} {fill}");
        }
    }
}

#[test]
fn one_wrong_element_is_found_wherever_it_is() {
    for (name, check) in CHECKS {
        for at in [0, 1, 1023, 1024] {
            for wrong in [0.0, f32::NAN, f32::INFINITY, 1e30] {
                let mut got = want();
                got[at] = wrong;
                let result = check(&got, &want());
                let Err(NotEqual::Values(found)) = result else { panic!("{name}: {result:?}") };
                assert_eq!((found.index, found.count, found.want), (at, 1, want()[at]), "{name}");
            }
        }
    }
}

#[test]
fn nothing_compared_and_unequal_lengths_are_errors() {
    for (name, check) in CHECKS {
        assert_eq!(check(&[], &[]), Err(NotEqual::Empty), "{name}");
        assert_eq!(check(&[1.0], &[]), Err(NotEqual::Length { got: 1, want: 0 }), "{name}");
        assert_eq!(check(&[], &[1.0]), Err(NotEqual::Length { got: 0, want: 1 }), "{name}");
    }
}

#[test]
fn bit_exact_tells_zeros_and_payloads_apart() {
    assert!(bit_exact(&[0.0], &[-0.0]).is_err());
    let other = f32::from_bits(0x7FC0_0001);
    assert!(bit_exact(&[f32::NAN], &[other]).is_err());
    assert_eq!(bit_exact(&[other], &[other]), Ok(()));
    let next = f32::from_bits(1.0_f32.to_bits() + 1);
    assert!(bit_exact(&[next], &[1.0]).is_err());
}

#[test]
fn any_nan_will_do_where_one_is_wanted_except_poison() {
    let device = f32::from_bits(0x7FFF_FFFF);
    assert_eq!(bit_exact_any_nan(&[device], &[f32::NAN]), Ok(()));
    assert!(bit_exact_any_nan(&[f32::from_bits(POISON_WORD)], &[f32::NAN]).is_err());
    assert!(
        bit_exact_any_nan(&[f32::from_bits(POISON_WORD)], &[f32::from_bits(POISON_WORD)]).is_err()
    );
    assert!(bit_exact_any_nan(&[f32::NAN], &[1.0]).is_err());
    assert!(bit_exact_any_nan(&[1.0], &[f32::NAN]).is_err());
    assert!(bit_exact_any_nan(&[0.0], &[-0.0]).is_err());
}

#[test]
fn relative_scales_with_the_wanted_value_and_with_one_at_zero() {
    // 2^-17 is below 1e-5 and 2^-16 above it.
    let near = 1.0 + 2.0_f32.powi(-17);
    let far = 1.0 + 2.0_f32.powi(-16);
    assert_eq!(relative(&[near, 1024.0 * near], &[1.0, 1024.0], 1e-5), Ok(()));
    assert!(relative(&[far], &[1.0], 1e-5).is_err());
    assert!(relative(&[1e-9], &[1e-12], 1e-5).is_err());
    assert_eq!(relative(&[1e-6], &[0.0], 1e-5), Ok(()));
    assert!(relative(&[1e-4], &[0.0], 1e-5).is_err());
    assert!(relative(&[f32::INFINITY], &[f32::INFINITY], 1e-5).is_err());
    assert!(relative(&[f32::MAX], &[f32::MIN], 0.9).is_err());
}

#[test]
fn bounds_that_let_anything_pass_are_refused() {
    for tolerance in [-1e-9, 1.0, 2.0, f64::INFINITY, f64::NAN] {
        let result = relative(&[1.0], &[1.0], tolerance);
        assert!(matches!(result, Err(NotEqual::Bound(_, _))), "{tolerance}");
    }
    assert!(matches!(ulp(&[1.0], &[1.0], ULP_MAX + 1), Err(NotEqual::Bound(_, _))));
    assert_eq!(ulp(&[1.0], &[1.0], ULP_MAX), Ok(()));
    assert_eq!(relative(&[1.0], &[1.0], 0.0), Ok(()));
}

#[test]
fn units_in_the_last_place_count_across_zero_and_not_into_infinity() {
    let least = f32::from_bits(1);
    assert_eq!(ulp(&[least], &[-least], 2), Ok(()));
    assert!(ulp(&[least], &[-least], 1).is_err());
    assert_eq!(ulp(&[0.0], &[-0.0], 0), Ok(()));
    let next = f32::from_bits(1.0_f32.to_bits() + 3);
    assert_eq!(ulp(&[next], &[1.0], 3), Ok(()));
    assert!(ulp(&[next], &[1.0], 2).is_err());
    assert_eq!(ulp(&[f32::INFINITY], &[f32::INFINITY], 0), Ok(()));
    assert!(ulp(&[f32::MAX], &[f32::INFINITY], 4).is_err());
    assert!(ulp(&[f32::INFINITY], &[f32::MAX], 4).is_err());
    assert!(ulp(&[f32::NAN], &[f32::NAN], 4).is_err());
}

#[test]
fn unwritten_elements_are_counted() {
    let poison = f32::from_bits(POISON_WORD);
    assert_eq!(unwritten(&[1.0, poison, f32::NAN, poison]), Some((1, 2)));
    assert_eq!(unwritten(&[1.0, f32::NAN]), None);
}

#[test]
fn a_mismatch_reads_as_a_sentence() {
    let text = bit_exact(&[1.0, 2.0], &[1.0, -0.0]).unwrap_err().to_string();
    assert_eq!(text, "wrong at 1: got `2.0` (0x40000000), want `-0.0` (0x80000000); 1 differ");
}
