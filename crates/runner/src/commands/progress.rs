//! What a recording says while it works: a bar where a person watches, a line a step elsewhere; on
//! standard error.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::record::Step;

/// Progress of a recording.
pub(super) struct Progress {
    ends: Option<Instant>,
    bar: Option<ProgressBar>,
    subject: String,
}

impl Progress {
    /// For a recording that may go on until `ends`.
    pub(super) fn begin(ends: Option<Instant>) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}");
            let bar = ProgressBar::new(1);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self { ends, bar, subject: String::new() }
    }

    /// Lines for people, above the bar.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(text)),
            None => note(text),
        }
    }

    /// What is recorded from now on.
    pub(super) fn subject(&mut self, lesson: &str, variant: &str) {
        self.subject = format!("{lesson} ({variant})");
        if self.bar.is_none() {
            note(&format!("{}{}", self.subject, self.left()));
        }
    }

    /// A step begins.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(step.of as u64);
                bar.set_position(step.done as u64);
                bar.set_message(format!("{}: {}{}", self.subject, step.name, self.left()));
            }
            None => {
                let (number, of) = (step.done + 1, step.of);
                note(&format!("  [{number}/{of}] {} of {}", step.name, step.program));
            }
        }
    }

    /// Nothing more begins.
    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// What is left of the budget.
    fn left(&self) -> String {
        let Some(ends) = self.ends else { return String::new() };
        let left = ends.saturating_duration_since(Instant::now()).as_secs();
        format!(", {} min {} s of the budget left", left / 60, left % 60)
    }
}

/// A closed terminal is no reason to stop recording.
fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
