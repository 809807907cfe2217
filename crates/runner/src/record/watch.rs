//! What a running program has mapped: a CUDA runtime from somewhere else than its own executable is
//! refused.
//!
//! The executable's own list of libraries is looked at before the first run; this finds what is
//! loaded by a library of a library, or by `dlopen`. It looks at moments, ever further apart so as
//! not to disturb what is measured, so it finds what stays mapped; the CUDA runtime does, once it
//! is in use.

use std::time::{Duration, Instant};

use crate::system::files;

/// When the first look is taken: a program that needs the card has not got to it yet.
const FIRST: Duration = Duration::from_millis(20);

/// The largest list of mappings that is read, in bytes.
const MAPS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A program being watched.
pub(super) struct Watch {
    start: Instant,
    next: Duration,
    /// The first foreign CUDA runtime that was seen.
    pub(super) found: Option<String>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { start: Instant::now(), next: FIRST, found: None }
    }
}

impl Watch {
    /// Looks at a process if it is time for that. One that has just ended has no mappings.
    pub(super) fn look(&mut self, pid: i32) {
        if self.found.is_some() || self.start.elapsed() < self.next {
            return;
        }
        self.next = self.start.elapsed() * 2;
        let maps = files::read_capped(format!("/proc/{pid}/maps"), MAPS_BYTES_MAX);
        let maps = String::from_utf8_lossy(&maps.unwrap_or_default()).into_owned();
        self.found = foreign_runtime(&maps).map(str::to_owned);
    }
}

/// The path of a mapped CUDA runtime: a file whose name starts with `libcudart`.
fn foreign_runtime(maps: &str) -> Option<&str> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut named = paths
        .filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("libcudart")));
    named.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_cuda_runtime_is_found_by_its_file_name() {
        let own = "00400000-00452000 r-xp 00000000 08:02 173521      /home/me/barrier_pipeline\n\
                   7ffc0000-7ffd0000 rw-p 00000000 00:00 0           [stack]\n\
                   7f000000-7f100000 r-xp 00000000 08:02 9           /usr/lib/libcuda.so.1\n";
        assert_eq!(foreign_runtime(own), None);
        let foreign = "/opt/my cuda/libcudart.so.13.0.88";
        let with = format!("{own}7f200000-7f300000 r-xp 00000000 08:02 10   {foreign}\n");
        assert_eq!(foreign_runtime(&with), Some(foreign));
    }
}
