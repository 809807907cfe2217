//! `verify` as a step of a GitHub workflow: annotations, the step's summary, the JUnit file.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use support::course::LESSON;
use support::{NOW, Scratch, run_with};

#[test]
fn a_workflows_step_gets_annotations_a_summary_and_junit() {
    let course = Scratch::with_lesson();
    course.edit(format!("lessons/{LESSON}/scale.cu"), "2.0f", "3.0f");
    let summary = course.outside("summary.md");
    std::fs::write(&summary, "what an earlier command wrote\n").unwrap();
    let junit = course.outside("junit.xml");
    let arguments = ["verify", "--offline", "--junit", junit.as_str()];
    let to = summary.clone();
    let ran = run_with(course.path(), NOW, &arguments, |mut context| {
        context.environment = Box::new(move |name| match name {
            "GITHUB_ACTIONS" => Some("true".into()),
            "GITHUB_STEP_SUMMARY" => Some(to.clone().into()),
            _ => None,
        });
        context
    });
    assert_eq!(ran.code(), 28, "{}", ran.all());

    // The report lies between two lines with a token; the annotations come after them.
    let (first, rest) = ran.out.split_once('\n').unwrap();
    let token = first.strip_prefix("::stop-commands::").unwrap();
    let (report, annotations) = rest.split_once(&format!("::{token}::\n")).unwrap();
    assert!(report.contains("snippet region `kernel` differs"), "{report}");
    let place = format!("::error file=lessons/{LESSON}/README.md,line=11,title=snippet-differs::");
    assert!(annotations.lines().any(|line| line.starts_with(&place)), "{annotations}");
    assert!(annotations.lines().all(|line| line.starts_with("::")), "{annotations}");

    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("what an earlier command wrote\n\n| lesson | state |"), "{text}");
    assert!(text.contains("\n| day-01-scale | page Blank; Unverified h200/sm\\_75"), "{text}");
    // What is wrong with the course as a whole belongs to no lesson's row.
    assert!(text.contains("\n- **warning** .: no CUDA toolkit here"), "{text}");
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("<testsuite name=\"day-01-scale\""), "{xml}");
}
