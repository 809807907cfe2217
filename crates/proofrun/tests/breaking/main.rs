//! Nothing broken passes, and nothing broken panics.
//!
//! Most of this is a *model*: every part of a published lesson and of its evidence, times every way
//! to break it, with the exit code that follows from what the part means. [`fixture`] is the course
//! that is broken and the table of failures; [`ops`] the ways to break; [`evidence`], [`resigned`],
//! [`pages`] and [`manifests`] the parts. What no such product reaches is written by hand in
//! [`people`], [`base`], [`texts`] and [`outputs`]. [`rules`] demands that every rule is broken by
//! something here.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

#[path = "../support/mod.rs"]
mod support;

mod base;
mod evidence;
mod fixture;
mod manifests;
mod ops;
mod outputs;
mod pages;
mod people;
mod random;
mod resigned;
mod rules;
mod texts;
