//! Streams and events. All work is done when a call returns, so these are names with properties.

use std::collections::BTreeMap;

use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;

/// A stream that was created.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// `cudaStreamNonBlocking` or 0.
    pub flags: u32,
    /// From 0, the least, to [`GREATEST_PRIORITY`].
    pub priority: i32,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// `cudaEventDisableTiming` and others.
    pub flags: u32,
    /// When it was recorded last, in the model's nanoseconds.
    pub at: Option<u64>,
}

/// The greatest priority, on an H200 with driver 580; the least is 0.
pub const GREATEST_PRIORITY: i32 = -5;

/// The default streams: null, `cudaStreamLegacy`, `cudaStreamPerThread`.
const DEFAULT: std::ops::RangeInclusive<u64> = 0..=2;

const NON_BLOCKING: u32 = 1;
const EVENT_FLAGS: u32 = 7;
const DISABLE_TIMING: u32 = 2;

/// What recording an event costs in the model, so that no time between two of them is 0.
const RECORD_NANOSECONDS: u64 = 1000;

/// Those that live. A handle is a number that was never an address.
#[derive(Debug, Default)]
pub struct Streams {
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Recorded>,
    made: u64,
    records: u64,
}

impl Streams {
    fn handle(&mut self) -> u64 {
        self.made += 1;
        0x1000 + self.made * 16
    }

    /// A new stream.
    pub fn create(&mut self, flags: u32, priority: i32) -> Result<u64, Code> {
        if flags & !NON_BLOCKING != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let handle = self.handle();
        let priority = priority.clamp(GREATEST_PRIORITY, 0);
        self.streams.insert(handle, Stream { flags, priority });
        Ok(handle)
    }

    /// A stream by its handle, the default ones too.
    pub fn get(&self, handle: u64) -> Result<Stream, Code> {
        if DEFAULT.contains(&handle) {
            return Ok(Stream { flags: 0, priority: 0 });
        }
        self.streams.get(&handle).copied().ok_or(Code::INVALID_HANDLE)
    }

    /// A number that no other stream has.
    pub fn id(&self, handle: u64) -> Result<u64, Code> {
        self.get(handle).map(|_| handle)
    }

    /// Ends a stream.
    pub fn destroy(&mut self, handle: u64) -> Outcome {
        self.streams.remove(&handle).map(drop).ok_or(Code::INVALID_HANDLE)
    }

    /// A new event.
    pub fn create_event(&mut self, flags: u32) -> Result<u64, Code> {
        if flags & !EVENT_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let handle = self.handle();
        self.events.insert(handle, Recorded { flags, at: None });
        Ok(handle)
    }

    /// An event by its handle.
    pub fn event(&self, handle: u64) -> Result<Recorded, Code> {
        self.events.get(&handle).copied().ok_or(Code::INVALID_HANDLE)
    }

    /// Records an event.
    pub fn record(&mut self, handle: u64, nanoseconds: u64) -> Outcome {
        self.records += 1;
        let at = nanoseconds + self.records * RECORD_NANOSECONDS;
        let event = self.events.get_mut(&handle).ok_or(Code::INVALID_HANDLE)?;
        event.at = Some(at);
        Ok(())
    }

    /// Ends an event.
    pub fn destroy_event(&mut self, handle: u64) -> Outcome {
        self.events.remove(&handle).map(drop).ok_or(Code::INVALID_HANDLE)
    }

    /// Milliseconds of the model between two events that were recorded, and keep time.
    pub fn elapsed(&self, from: u64, to: u64) -> Result<f32, Code> {
        let at = |handle| {
            let event = self.event(handle)?;
            event.at.filter(|_| event.flags & DISABLE_TIMING == 0).ok_or(Code::INVALID_HANDLE)
        };
        let (from, to) = (at(from)?, at(to)?);
        Ok(((to as f64 - from as f64) / 1e6) as f32)
    }
}

impl Runtime {
    /// The device is waited for: all work is done already, and what kernels printed appears.
    pub fn synchronise(&mut self) {
        self.show_printed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_time_once_it_is_recorded() {
        let mut streams = Streams::default();
        let (a, b) = (streams.create_event(0).unwrap(), streams.create_event(0).unwrap());
        streams.record(a, 1_000_000).unwrap();
        assert_eq!(streams.elapsed(a, b), Err(Code::INVALID_HANDLE));
        streams.record(b, 3_000_000).unwrap();
        assert_eq!(streams.elapsed(a, b), Ok(2.001));
        assert_eq!(streams.elapsed(b, a), Ok(-2.001));
        streams.destroy_event(a).unwrap();
        assert_eq!(streams.elapsed(a, b), Err(Code::INVALID_HANDLE));
    }

    #[test]
    fn an_event_without_timing_has_no_time() {
        let mut streams = Streams::default();
        let (a, b) = (streams.create_event(0).unwrap(), streams.create_event(2).unwrap());
        streams.record(a, 0).unwrap();
        streams.record(b, 0).unwrap();
        assert_eq!(streams.elapsed(a, b), Err(Code::INVALID_HANDLE));
    }

    #[test]
    fn priorities_are_brought_into_range() {
        let mut streams = Streams::default();
        for (asked, given) in [(-99, -5), (-2, -2), (7, 0)] {
            let stream = streams.create(1, asked).unwrap();
            assert_eq!(streams.get(stream).unwrap().priority, given);
        }
        assert_eq!(streams.create(99, 0), Err(Code::INVALID_VALUE));
        assert_eq!(streams.destroy(0), Err(Code::INVALID_HANDLE));
    }
}
