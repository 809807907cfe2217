//! What looks like a published output, and stands where nothing compares it.

use crate::support::Scratch;
use crate::support::course::{LESSON, PAGE};

#[test]
fn output_outside_of_a_record_region_is_refused() {
    let shown = "GPU: NVIDIA H200 (compute capability 9.0)\none: 0.009 ms\ntwo: 0.003 ms\n";
    let row = "| `a` | 0.009 | 0.009 | 0.009 | ms |\n";
    let cases = [
        format!("\n```text\n{shown}```\n"),
        format!("\n{shown}"),
        format!("\n<pre>\n{shown}</pre>\n"),
        "\n> ```text\n> one: 0.009 ms\n> ```\n".to_owned(),
        "\n    one: 0.009 ms\n".to_owned(),
        "\n**VERIFIED.** NVIDIA H200 (compute capability 9.0), built with nvcc.\n".to_owned(),
        "\nReviewed by `reviewer@example.org` on 2026-06-02.\n".to_owned(),
        "\nRun 1 of 5, whole and as printed: NVIDIA H200.\n".to_owned(),
        format!("\n| field | lowest |\n| --- | --- |\n{row}"),
        "\n**one**: 0.009&nbsp;ms\n".to_owned(),
    ];
    let mut passed = Vec::new();
    for text in cases {
        let course = Scratch::with_lesson();
        course.write(format!("lessons/{LESSON}/README.md"), format!("{PAGE}{text}"));
        if course.verify().code() == 0 {
            passed.push(text);
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn another_page_beside_the_page_shows_no_output() {
    for name in ["RESULTS.md", "readme.md", "index.html", "results.txt", "chart.svg"] {
        let course = Scratch::with_lesson();
        let text = "# Results\n\n```text\none: 0.009 ms\ntwo: 0.003 ms\n```\n";
        course.write(format!("lessons/{LESSON}/{name}"), text);
        let ran = course.verify();
        assert_ne!(ran.code(), 0, "{name}: {}", ran.all());
    }
}

#[test]
fn a_claim_about_what_the_lesson_does_not_build_is_refused() {
    for (from, to) in
        [("on h200/sm_75 -->", "on h200/sm_99 -->"), ("output on t4/sm_75", "output on t4/sm_99")]
    {
        let course = Scratch::with_lesson();
        course.edit(format!("lessons/{LESSON}/README.md"), from, to);
        let ran = course.verify();
        assert_ne!(ran.code(), 0, "{to}: {}", ran.all());
    }
}

#[test]
fn an_emulated_region_shows_nothing_that_nothing_rendered() {
    let course = Scratch::with_lesson();
    let region = "\n<!-- emulated: output -->\nanything at all\n<!-- end emulated -->\n";
    course.write(format!("lessons/{LESSON}/README.md"), format!("{PAGE}{region}"));
    let ran = course.verify();
    assert_eq!(ran.code(), 28, "{}", ran.all());
    assert!(ran.out.contains("[region-drifted]"), "{}", ran.all());
}
