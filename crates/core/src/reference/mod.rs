//! CPU references, bit for bit what the device computes.
