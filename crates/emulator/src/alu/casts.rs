//! Floats to integers in a form that compiles to vector instructions: clamped first, so that the
//! conversion needs no care.

#![allow(unsafe_code, reason = "conversions without the checks that were made before")]

macro_rules! cast {
    ($name:ident, $from:ident, $to:ident, $least:expr, $most:expr, $past:expr) => {
        /// The integer part, held at the limits; of a NaN the least number.
        #[inline(always)]
        pub fn $name(value: $from) -> $to {
            const LEAST: $from = $least;
            const MOST: $from = $most;
            let clamped = if value > LEAST { value } else { LEAST };
            let clamped = if clamped < MOST { clamped } else { MOST };
            // SAFETY: neither a NaN nor outside of the type.
            let number = unsafe { clamped.to_int_unchecked::<$to>() };
            if value >= $past { $to::MAX } else { number }
        }
    };
}

cast!(i32_of_f32, f32, i32, -2_147_483_648.0, 2_147_483_520.0, 2_147_483_648.0);
cast!(u32_of_f32, f32, u32, 0.0, 4_294_967_040.0, 4_294_967_296.0);
cast!(i32_of_f64, f64, i32, -2_147_483_648.0, 2_147_483_647.0, 2_147_483_647.0);
cast!(u32_of_f64, f64, u32, 0.0, 4_294_967_295.0, 4_294_967_295.0);
