//! Whatever code the build can see is bound by the record.

use crate::publish;
use crate::support::Scratch;
use crate::support::course::LESSON;

#[test]
fn code_that_the_build_can_see_is_bound() {
    let build = "nvcc -std=c++17 -arch=sm_75 -o scale scale.cu";
    // What is added to the program, its build command, and the file that then changes.
    let cases = [
        ("#include <piece.cuh>\n", format!("{build} -I."), "piece.cuh", ""),
        ("#include \"piece.cuh\"\n", format!("{build} -Iparts"), "parts/piece.cuh", ""),
        ("", format!("{build} helper.cu"), "helper.cu", ""),
        ("", format!("{build} helper.cpp"), "helper.cpp", ""),
        (
            "#include \"outer.cuh\"\n",
            build.to_owned(),
            "piece.cuh",
            "#define P \"piece.cuh\"\n#include P\n",
        ),
        ("#include \"cuda_piece.h\"\n", format!("{build} -Iparts"), "parts/cuda_piece.h", ""),
    ];
    let mut unbound = Vec::new();
    for (include, command, file, outer) in cases {
        let course = Scratch::with_lesson();
        let source = format!("lessons/{LESSON}/scale.cu");
        course.edit(&source, build, &command);
        course.edit(&source, "#include <cstdio>\n", &format!("#include <cstdio>\n{include}"));
        course.edit(format!("lessons/{LESSON}/README.md"), build, &command);
        course.write(format!("lessons/{LESSON}/{file}"), "// A piece.\nconst int piece = 1;\n");
        if !outer.is_empty() {
            course.write(format!("lessons/{LESSON}/outer.cuh"), outer);
        }
        if course.verify().code() != 0 {
            continue;
        }
        publish(&course);
        course.write(format!("lessons/{LESSON}/{file}"), "// A piece.\nconst int piece = 2;\n");
        let ran = course.verify();
        if ran.code() == 0 && !ran.out.contains("[stale]") {
            unbound.push(format!("{command} with {include}"));
        }
    }
    assert!(unbound.is_empty(), "{unbound:#?}");
}

#[test]
fn the_header_names_the_code_of_its_own_program() {
    let course = Scratch::with_lesson();
    let source = format!("lessons/{LESSON}/scale.cu");
    course.write("lessons/common/a.cuh", "// A piece.\nconst int piece = 1;\n");
    let include = "#include <cstdio>\n#include \"../common/a.cuh\"\n";
    course.edit(&source, "#include <cstdio>\n", include);
    publish(&course);
    let code = proofrun_core::source::code_digest(&course.read(&source)).short();
    assert!(course.read(&source).contains(&format!("//   code {code} by record")), "{code}");
}
