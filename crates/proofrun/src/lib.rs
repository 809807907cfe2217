//! The commands of Proofrun, one a file.
