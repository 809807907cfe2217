//! A request to stop, passed to whatever runs children; in commands it is set by the terminal's
//! signals.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A flag that says "stop". Clones share it; once set it stays set.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that nobody has set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag that SIGINT, SIGTERM and SIGHUP set. A second one of these signals ends the program
    /// at once, with 128 plus the signal's number; children then die by their parent-death signal.
    ///
    /// # Errors
    /// When the system refuses a signal handler.
    pub fn on_signals() -> io::Result<Self> {
        static FLAG: OnceLock<Cancel> = OnceLock::new();
        if let Some(flag) = FLAG.get() {
            return Ok(flag.clone());
        }
        let flag = FLAG.get_or_init(Cancel::new).clone();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order matters: the shutdown looks at the flag before this same signal sets it.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&flag.0),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&flag.0))?;
        }
        Ok(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_flag() {
        let flag = Cancel::new();
        let other = flag.clone();
        assert!(!other.is_cancelled());
        flag.cancel();
        assert!(other.is_cancelled());
    }
}
