//! A whole launch on one schedule.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::blocks::Resident;
use super::{Launch, Sink};
use crate::machine::Fault;

/// How a launch is spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    /// Threads of execution; 1 where blocks may depend on each other.
    pub(crate) threads: usize,
    /// Blocks that run side by side on one of them.
    pub(crate) resident: usize,
}

/// Runs all blocks of a launch. What was found and printed goes to the sink in any case.
pub(crate) fn run_launch(
    launch: &Launch<'_>,
    spread: Spread,
    sink: &mut Sink,
) -> Result<(), Fault> {
    let blocks: u32 = launch.grid.iter().product();
    let next = AtomicU32::new(0);
    let stop = AtomicBool::new(false);
    let take = || {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let linear = next.fetch_add(1, Ordering::Relaxed);
        (linear < blocks).then_some(linear)
    };
    let threads = spread.threads.min(blocks as usize).max(1);
    if threads == 1 {
        return one(launch, spread, sink, &take, &stop);
    }
    let ends = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut own = Sink::default();
                    let end = one(launch, spread, &mut own, &take, &stop);
                    (own, end)
                })
            })
            .collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut result = Ok(());
    for end in ends {
        match end {
            Ok((own, end)) => {
                sink.merge(own);
                if result.is_ok() {
                    result = end;
                }
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    sink.printed.sort_by_key(|(block, _)| *block);
    result
}

fn one(
    launch: &Launch<'_>,
    spread: Spread,
    sink: &mut Sink,
    take: &(dyn Fn() -> Option<u32> + Sync),
    stop: &AtomicBool,
) -> Result<(), Fault> {
    let mut resident = Resident::new(launch, sink);
    let result = resident.run(take, spread.resident);
    if result.is_err() {
        stop.store(true, Ordering::Relaxed);
        resident.abandon();
    }
    result
}
