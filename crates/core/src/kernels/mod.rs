//! Launch descriptions of the kernels that a Rust harness drives: names, parameters, grids, preconditions.
