//! The typed template of a program output: parsing it, matching a run, and agreeing across runs.
