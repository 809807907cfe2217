//! What is shown while a program is compiled and runs: its own lines, and on a terminal how far it
//! got.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofrun_emulator::report::Event;
use proofrun_runner::emulate::News;
use proofrun_runner::system::process::Stream;

use super::stream::Lines;
use crate::context::Context;
use crate::words::count;

/// Somebody who watches.
pub struct Watch<'a> {
    context: &'a Context,
    bar: ProgressBar,
    raw: bool,
    json: bool,
    lines: [Lines; 2],
    launches: usize,
    findings: usize,
}

impl<'a> Watch<'a> {
    /// While a program is compiled.
    pub fn compiling(context: &'a Context, name: &str) -> Self {
        Self::new(context, format!("compiling {name}"), false, false)
    }

    /// While it runs.
    pub fn running(context: &'a Context, raw: bool, json: bool) -> Self {
        Self::new(context, "running".to_owned(), raw, json)
    }

    fn new(context: &'a Context, message: String, raw: bool, json: bool) -> Self {
        let bar = if context.progress {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(message);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            ProgressBar::hidden()
        };
        Self { context, bar, raw, json, lines: Default::default(), launches: 0, findings: 0 }
    }

    /// What just happened.
    pub fn news(&mut self, news: &News<'_>) {
        match news {
            News::Bytes(stream, bytes) => {
                let is_error = *stream == Stream::Stderr;
                if self.raw {
                    self.bar.suspend(|| self.context.pass_on(is_error, bytes));
                } else {
                    let text = self.lines[usize::from(is_error)].take(bytes);
                    self.show(is_error, &text);
                }
            }
            News::Event(event) => {
                match event {
                    Event::Launch(_) => self.launches += 1,
                    Event::Finding(_) => self.findings += 1,
                    _ => {}
                }
                let findings = count(self.findings, "finding");
                self.bar.set_message(format!("running: launch {}, {findings}", self.launches));
            }
        }
    }

    fn show(&self, is_error: bool, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bar.suspend(|| match is_error || self.json {
            true => self.context.note(text),
            false => self.context.say(text),
        });
    }

    /// The end: lines without an end are shown, and the bar goes.
    pub fn finish(mut self) {
        for is_error in [false, true] {
            let text = self.lines[usize::from(is_error)].finish();
            self.show(is_error, &text);
        }
        self.bar.finish_and_clear();
    }
}
