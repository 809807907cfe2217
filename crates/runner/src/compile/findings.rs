//! What a build's outcome means for a lesson: findings.

use camino::Utf8Path;
use proofrun_core::{Finding, Place, Rule, finding::Findings};

use super::{BuildStatus, Diagnostic, Outcome, Severity, build::normal};

/// So many errors of one build are reported one by one.
const ERRORS_MAX: usize = 20;

impl Outcome {
    /// The findings of this outcome: an error for each of the compiler's, or one for a build that
    /// ended otherwise, and a warning for each of its warnings that is not among `known`.
    ///
    /// `folder` is the lesson's, relative to the course's root; `command` the file that holds the
    /// command.
    pub fn findings(&self, folder: &Utf8Path, command: &Utf8Path, known: &[String]) -> Findings {
        let mut findings: Findings = self
            .unexpected_warnings(known)
            .map(|warning| {
                let number = warning.number.as_deref();
                let next = number.map_or("change the code so that it does not come".into(), |n| {
                    format!("change the code, or add `{n}` to `known_warnings` in lesson.toml")
                });
                let fact = format!("the build warns: {}", warning.text);
                Finding::warning(Rule::BuildWarning, place(warning, folder, command), fact, next)
            })
            .collect();
        let Some(what) = self.what_went_wrong() else { return findings };
        let errors = self.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let before = findings.len();
        findings.extend(errors.take(ERRORS_MAX).map(|error| {
            let fact = format!("the build fails: {}", error.text);
            let next = "correct it; the build's log has more";
            Finding::error(Rule::Builds, place(error, folder, command), fact, next)
        }));
        if findings.len() == before || !matches!(self.status, BuildStatus::Failed(_)) {
            let last = self.log.lines().rfind(|line| !line.trim().is_empty());
            let next = "run the command by hand, in the lesson's folder";
            let finding = Finding::error(Rule::Builds, Place::file(command), what, next);
            findings.push(match last {
                Some(line) => finding.because(line.trim()),
                None => finding,
            });
        }
        findings
    }

    fn what_went_wrong(&self) -> Option<String> {
        Some(match self.status {
            BuildStatus::Built => return None,
            BuildStatus::Failed(0) => "the build ends well and leaves no executable".into(),
            BuildStatus::Failed(status) => format!("the build fails with exit status {status}"),
            BuildStatus::Killed(signal) => format!("signal {signal} ended the build"),
            BuildStatus::Hung => {
                format!("the build did not end within {} s", self.wall.as_secs())
            }
            BuildStatus::TooMuchOutput => "the build prints more than 4 MiB".into(),
        })
    }
}

fn place(diagnostic: &Diagnostic, folder: &Utf8Path, command: &Utf8Path) -> Place {
    match &diagnostic.file {
        // A file of the toolkit is no place in the course.
        Some(file) if !file.is_absolute() && !file.as_str().starts_with('<') => {
            let path = normal(&folder.join(file));
            Place { line: diagnostic.line, ..Place::file(path) }
        }
        _ => Place::file(command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: BuildStatus, log: &str, expect: &[(&str, &str)]) {
        let outcome = Outcome {
            status,
            log: log.into(),
            diagnostics: super::super::parse_diagnostics(log),
            product: None,
            toolkit: proofrun_core::toolkit::ToolkitFacts {
                nvcc: "13.0.88".into(),
                cccl: None,
                host_compiler: None,
                ptx_isa: None,
            },
            wall: std::time::Duration::from_secs(300),
            cached: false,
        };
        let folder = Utf8Path::new("lessons/x");
        let findings = outcome.findings(folder, &folder.join("a.cu"), &["20054-D".into()]);
        let found: Vec<_> =
            findings.iter().map(|f| (f.place.to_string(), f.fact.clone())).collect();
        let expect: Vec<_> = expect.iter().map(|(p, f)| (p.to_string(), f.to_string())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn only_what_is_wrong_becomes_a_finding() {
        check(BuildStatus::Built, "", &[]);
        check(BuildStatus::Built, "a.cu(2): warning #20054-D: known\n", &[]);
        check(
            BuildStatus::Built,
            "../common/b.cuh(2): warning #177-D: unused\n",
            &[("lessons/common/b.cuh:2", "the build warns: unused")],
        );
        check(
            BuildStatus::Failed(2),
            "a.cu(2): error: one\n<toolkit>/include/x.h(9): error: two\n",
            &[
                ("lessons/x/a.cu:2", "the build fails: one"),
                ("lessons/x/a.cu", "the build fails: two"),
            ],
        );
        check(
            BuildStatus::Failed(1),
            "odd\n",
            &[("lessons/x/a.cu", "the build fails with exit status 1")],
        );
        check(BuildStatus::Hung, "", &[("lessons/x/a.cu", "the build did not end within 300 s")]);
    }
}
