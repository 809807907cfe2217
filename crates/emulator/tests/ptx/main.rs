//! PTX texts, written for these tests, and what they mean.

mod compiled;
