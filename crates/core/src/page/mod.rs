//! A lesson README as a page: its regions, assertions and commands, and what belongs between the markers.
