//! What a program's run over the emulated device told, as its lines arrive.

use proofrun_emulator::finding::{Finding, Severity};
use proofrun_emulator::report::{Event, LaunchEnd, LaunchReport};

/// The longest line that is taken for one of the report's, in bytes.
const LINE_BYTES_MAX: usize = 64 << 20;

/// All that was told, in the order in which it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The device that the library stood for; `None` where the program never loaded it.
    pub device: Option<String>,
    /// The launches.
    pub launches: Vec<LaunchReport>,
    /// The findings; equal ones once, with their count.
    pub findings: Vec<Finding>,
    /// The timelines that were asked for, as JSON texts.
    pub timelines: Vec<String>,
    /// How many calls of the runtime there were; `None` where the program ended without a word.
    pub calls: Option<u64>,
    /// The first line that was none of a report.
    pub unreadable: Option<String>,
    pub(super) partial: Vec<u8>,
}

impl Told {
    /// Takes bytes of the report as they come; each event of them, in order.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() > LINE_BYTES_MAX {
                let line = std::mem::take(&mut self.partial);
                events.extend(self.line(&line));
            }
        }
        events
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        match serde_json::from_slice::<Event>(line) {
            Ok(event) => {
                self.event(event.clone());
                Some(event)
            }
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                self.unreadable.get_or_insert(format!("{error}: {}", start.trim_end()));
                None
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Started { device } => self.device = Some(device),
            Event::Launch(launch) => self.launches.push(launch),
            Event::Finding(finding) => self.finding(*finding),
            Event::Timeline { data } => self.timelines.push(data),
            Event::Ended { calls } => self.calls = Some(calls),
        }
    }

    /// A later finding at the same places replaces an earlier one, whose count it continues.
    fn finding(&mut self, finding: Finding) {
        match self.findings.iter_mut().find(|earlier| is_same(earlier, &finding)) {
            Some(earlier) => *earlier = finding,
            None => self.findings.push(finding),
        }
    }

    /// The same with files by other names.
    #[must_use]
    pub fn with_files(mut self, named: impl Fn(&str) -> String) -> Self {
        for at in self.findings.iter_mut().flat_map(|finding| &mut finding.at) {
            at.file = named(&at.file);
            for place in &mut at.inlined {
                if let Some((file, line)) = place.rsplit_once(':') {
                    *place = format!("{}:{line}", named(file));
                }
            }
        }
        self
    }

    /// Findings of errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Launches that ended so.
    pub fn ended(&self, end: LaunchEnd) -> usize {
        self.launches.iter().filter(|launch| launch.end == end).count()
    }

    /// Warp-instructions, of all launches and schedules.
    pub fn steps(&self) -> u64 {
        self.launches.iter().map(|launch| launch.steps).fold(0, u64::saturating_add)
    }

    /// Schedules that launches ran on, summed.
    pub fn schedules(&self) -> u64 {
        self.launches.iter().map(|launch| u64::from(launch.schedules)).sum()
    }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    fn places(finding: &Finding) -> impl Iterator<Item = (&str, u32, u32, &str)> {
        finding.at.iter().map(|at| (at.file.as_str(), at.line, at.column, at.what.as_str()))
    }
    one.kind == other.kind
        && one.kernel == other.kernel
        && places(one).eq(places(other))
        && (!one.at.is_empty() || one.message == other.message)
}
