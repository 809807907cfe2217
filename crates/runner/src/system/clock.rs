//! The clock as an argument: commands take a [`Clock`], so that tests can say what time it is.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The wall clock's time. It may jump; it dates evidence, and never measures.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment. It never goes back; it measures, and never dates.
    fn elapsed(&self) -> Duration;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose [`Clock::elapsed`] counts from now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that stands still, for tests.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_clock_measures_forwards() {
        let clock = SystemClock::new();
        let first = clock.elapsed();
        assert!(clock.elapsed() >= first);
        // 2020-01-01: a machine whose clock says less is not one that this can run on.
        assert!(clock.now() > "2020-01-01T00:00:00Z".parse().unwrap());
    }

    #[test]
    fn a_fixed_clock_says_what_it_was_told() {
        let time = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(FixedClock(time).now(), time);
    }
}
