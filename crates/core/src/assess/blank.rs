//! Where a lesson says something although nothing may be shown: what `sync` puts back to blank.
//!
//! **Invariant: nothing is named here of a pair that a reviewed record or a withdrawal may be shown
//! of, nor of a lesson whose evidence is not what was signed: then nobody can say what its page may
//! show, and a text that may have been reviewed is left alone.**

use camino::Utf8PathBuf;

use crate::finding::{Class, Finding, Severity};
use crate::publication::{body, is_blank};
use crate::state::{Pair, Shown};

use super::Assessment;
use super::text::record_regions;

/// What must be blank and isn't.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfounded {
    /// `record` regions by their index in the page, each with the blank body.
    pub regions: Vec<(usize, String)>,
    /// Sources whose status paragraph is another than the blank one, by their path within the
    /// lesson.
    pub programs: Vec<Utf8PathBuf>,
}

impl Unfounded {
    /// Whether everything that must be blank is.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.programs.is_empty()
    }
}

/// The parts of a lesson that must be blank and aren't.
pub fn unfounded(assessment: &Assessment) -> Unfounded {
    let mut found = Unfounded::default();
    let Some(text) = &assessment.text else { return found };
    if assessment.findings.iter().any(is_tampering) {
        return found;
    }
    let primary = assessment.primary.as_ref();
    let may_show = |pair: Option<&Pair>| {
        let evidence = pair.and_then(|pair| assessment.evidence.get(pair));
        evidence.is_some_and(|evidence| !matches!(evidence.shown, Shown::Blank))
    };
    let unnamed = Pair::new("", "");
    for (index, region) in record_regions(&text.page) {
        let pair = text.region_pair(region, primary);
        if may_show(pair.as_ref()) || text.region_program(region).is_none() {
            continue;
        }
        let pair = pair.as_ref().unwrap_or(&unnamed);
        let blank = body(&text.lesson, region, pair, &Shown::Blank);
        found.regions.extend(
            blank.filter(|blank| blank != text.region_body(region)).map(|blank| (index, blank)),
        );
    }
    if !may_show(primary) {
        let says = text.lesson.programs.iter().filter(|program| {
            program.header.status.as_ref().is_some_and(|status| !is_blank(&status.lines))
        });
        found.programs.extend(says.map(|program| program.source.clone()));
    }
    found
}

/// Whether a finding says that evidence or the trust root is not what was signed.
pub fn is_tampering(finding: &Finding) -> bool {
    finding.severity == Severity::Error && finding.rule.class() == Class::Tampered
}
