//! Progress: a bar on a terminal, plain lines elsewhere, both on standard error.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofrun_runner::compile::Outcome as Compiled;
use proofrun_runner::toolkit;

use crate::context::Context;

use super::BuildKey;

/// Progress of one piece of work.
pub struct Progress {
    bar: ProgressBar,
    plain: Option<Mutex<Plain>>,
}

/// What plain lines have been written.
struct Plain {
    done: usize,
    of: usize,
    fetching: bool,
    unpacking: bool,
    err: std::io::Stderr,
}

impl Progress {
    /// Of finding or fetching the toolkit.
    pub fn of_toolkit(context: &Context) -> Self {
        let template = "{msg} {bytes}/{total_bytes} [{bar:30}] {eta}";
        Self::new(context, 0, template)
    }

    /// Of this many builds.
    pub fn of_builds(context: &Context, count: usize) -> Self {
        Self::new(context, count, "compiling [{bar:30}] {pos}/{len} {wide_msg}")
    }

    /// Of this many runs on the emulated device.
    pub fn of_emulation(context: &Context, count: usize) -> Self {
        Self::new(context, count, "emulating [{bar:30}] {pos}/{len} {wide_msg}")
    }

    fn new(context: &Context, of: usize, template: &str) -> Self {
        let bar = if context.progress {
            let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        } else {
            ProgressBar::hidden()
        };
        let plain =
            Plain { done: 0, of, fetching: false, unpacking: false, err: std::io::stderr() };
        let plain = (context.plain_progress && !context.progress).then(|| Mutex::new(plain));
        Self { bar, plain }
    }

    /// An event of the toolkit's provisioning.
    pub fn toolkit(&mut self, event: &toolkit::Progress) {
        match event {
            toolkit::Progress::Waiting { holder } => {
                self.line(&format!("waiting for the toolkit, which {holder} fetches"));
            }
            toolkit::Progress::Unpacking { .. } => {
                self.bar.set_message("unpacking");
                if self.first(|plain| &mut plain.unpacking) {
                    self.line("unpacking the toolkit");
                }
            }
            toolkit::Progress::Fetching { bytes, bytes_total } => {
                self.bar.set_message("fetching the CUDA toolkit");
                self.bar.set_length(*bytes_total);
                self.bar.set_position(*bytes);
                if self.first(|plain| &mut plain.fetching) {
                    let megabytes = bytes_total / 1_000_000;
                    self.line(&format!("fetching the CUDA toolkit, {megabytes} MB"));
                }
            }
        }
    }

    /// A build that ended.
    pub fn built(&self, key: &BuildKey, outcome: &Result<Compiled, String>) {
        self.bar.set_message(format!("{} {}", key.lesson, key.variant));
        self.bar.inc(1);
        if outcome.as_ref().is_ok_and(|compiled| compiled.cached) {
            return;
        }
        if let Some(mut plain) = self.plain.as_ref().and_then(|plain| plain.lock().ok()) {
            plain.done += 1;
            let of = plain.of;
            let text = format!("compiled {} {} ({} of {of})", key.lesson, key.variant, plain.done);
            write_line(&mut plain.err, &text);
        }
    }

    /// A run on the emulated device begins.
    pub fn emulating(&self, key: &BuildKey) {
        self.bar.set_message(format!("{} {}", key.lesson, key.variant));
    }

    /// It ended.
    pub fn emulated(&self, key: &BuildKey, cached: bool) {
        self.bar.inc(1);
        if let Some(mut plain) = self.plain.as_ref().and_then(|plain| plain.lock().ok()) {
            plain.done += 1;
            if cached {
                return;
            }
            let (done, of) = (plain.done, plain.of);
            let text = format!("emulated {} {} ({done} of {of})", key.lesson, key.variant);
            write_line(&mut plain.err, &text);
        }
    }

    /// Whether plain lines are told and this is the first time that the flag is asked for.
    fn first(&self, flag: impl FnOnce(&mut Plain) -> &mut bool) -> bool {
        let plain = self.plain.as_ref().and_then(|plain| plain.lock().ok());
        plain.is_some_and(|mut plain| !std::mem::replace(flag(&mut plain), true))
    }

    fn line(&self, text: &str) {
        if let Some(mut plain) = self.plain.as_ref().and_then(|plain| plain.lock().ok()) {
            write_line(&mut plain.err, text);
        }
    }

    /// The end: the bar goes.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// The same, where it is still borrowed.
    pub fn done(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn write_line(err: &mut std::io::Stderr, text: &str) {
    use std::io::Write as _;
    let _ = writeln!(err, "{text}");
}
