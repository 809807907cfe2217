//! Comparisons that cannot pass by accident: bit-exact, relative, ULP, NaN-safe, guard bands, poison.
