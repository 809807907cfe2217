//! What a barrier joins.

use std::sync::Arc;

use super::clock::Clock;
use super::warp::WarpClocks;

/// What those who arrived at a barrier, in one phase of it, bring with them.
#[derive(Debug, Clone, Default)]
pub struct BarrierClock {
    joined: Option<Clock>,
    /// The last clock that was joined, which a whole block often shares.
    last: Option<Arc<Clock>>,
}

impl BarrierClock {
    /// Lanes of a warp arrive: at `bar.sync`, `bar.red` or `bar.arrive`.
    pub fn arrive(&mut self, warp: &mut WarpClocks, lanes: u32) {
        for (group, clock) in warp.groups() {
            if group & lanes == 0 {
                continue;
            }
            match &mut self.joined {
                None => self.joined = Some(Clock::clone(clock)),
                Some(_) if self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, clock)) => {}
                Some(joined) => joined.join(clock),
            }
            self.last = Some(Arc::clone(clock));
        }
        if let Some(joined) = &mut self.joined {
            joined.own.learn(warp.warp, lanes, warp.existing, warp.epoch);
        }
        warp.advance();
    }

    /// The phase completes: what those who waited get by [`WarpClocks::resume`]. Empties this.
    pub fn complete(&mut self) -> Option<Arc<Clock>> {
        self.last = None;
        self.joined.take().map(Arc::new)
    }
}
