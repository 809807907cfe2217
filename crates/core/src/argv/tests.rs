//! Commands that courses use, and commands that reach out of the course.

use proptest::prelude::*;

use super::*;

const FOLDER: &str = "lessons/day-75-async-barriers";

fn parse(line: &str) -> Result<BuildCommand, Vec<ArgvError>> {
    BuildCommand::parse(line, Utf8Path::new(FOLDER))
}

#[test]
fn the_courses_own_command_is_read() {
    let line = "nvcc -std=c++17 -O3 -arch=sm_80 -o barrier_pipeline barrier_pipeline.cu";
    let command = parse(line).unwrap();
    assert_eq!(command.words().join(" "), line);
    assert_eq!(command.output(), "barrier_pipeline");
    assert_eq!(command.sources(), ["barrier_pipeline.cu"]);
    assert_eq!(command.floor(), "sm_80".parse().unwrap());
    let codes: Vec<String> = command.codes().iter().map(Code::to_string).collect();
    assert_eq!(codes, ["sm_80", "compute_80"]);
    let ptx = command.ptx_words(Utf8Path::new("barrier_pipeline.cu"), "x.ptx").join(" ");
    assert_eq!(ptx, "nvcc -std=c++17 -O3 -arch=compute_80 -ptx -o x.ptx barrier_pipeline.cu");
    let other = command.with_arch("sm_90").unwrap();
    let expect = "nvcc -std=c++17 -O3 -arch=sm_90 -o barrier_pipeline barrier_pipeline.cu";
    assert_eq!(other.words().join(" "), expect);
    assert_eq!(parse(expect).unwrap(), other);
    assert!(command.with_arch("compute_90").is_err() && command.with_arch("90").is_err());
}

#[test]
fn a_build_for_the_emulated_device_keeps_what_is_compiled_and_brings_no_runtime() {
    let tail = "-gencode arch=compute_90,code=compute_90 LINES--no-compress -cudart none \
                -cudadevrt none -l:libcudart.so.13";
    for (line, kept, lines) in [
        ("nvcc -O3 -arch=sm_80 -DN=3 -o x x.cu", "nvcc -O3 -DN=3 -o x x.cu", "-lineinfo "),
        ("nvcc -lineinfo -cudart shared -arch sm_80 -o x x.cu", "nvcc -o x x.cu", "-lineinfo "),
        ("nvcc -G -cudart=static -arch=sm_80 -o x x.cu", "nvcc -G -o x x.cu", ""),
    ] {
        let words = parse(line).unwrap();
        let words = words.emulation_words("compute_90".parse().unwrap(), "libcudart.so.13");
        assert_eq!(words.join(" "), format!("{kept} {}", tail.replace("LINES", lines)));
    }
}

#[test]
fn architectures_may_be_written_in_each_of_nvccs_ways() {
    let check = |flags: &str, floor: &str, codes: &str| {
        let command = parse(&format!("nvcc {flags} -o a a.cu")).unwrap();
        assert_eq!(format!("sm_{}", command.floor()), floor, "{flags}");
        let found: Vec<String> = command.codes().iter().map(Code::to_string).collect();
        assert_eq!(found.join(" "), codes, "{flags}");
    };
    check("-arch sm_86", "sm_86", "sm_86 compute_86");
    check("--gpu-architecture=compute_90a", "sm_90a", "compute_90a");
    check("-arch=compute_80 -code=sm_86,sm_89", "sm_86", "sm_86 sm_89");
    check("-gencode arch=compute_80,code=[sm_80,compute_80]", "sm_80", "sm_80 compute_80");
    check(
        "-gencode=arch=compute_90,code=sm_90 --generate-code arch=compute_75,code=compute_75",
        "sm_75",
        "sm_90 compute_75",
    );
}

#[test]
fn flags_that_lessons_use_are_accepted() {
    for flags in [
        "-O 2 -std c++20 --use_fast_math -lineinfo -lcublas -l curand -DN=4 -D NAME -UNAME",
        "-I. -Iinclude -I ../common -maxrregcount=64 --maxrregcount 32 -Xptxas -v,-dlcm=cg",
        "-Xcompiler -Wall,-Wextra,-fopenmp -rdc=true -t 4 -Xptxas=-O3 --expt-relaxed-constexpr",
        "-DTEXT='\"a b\"' -fmad=false -default-stream per-thread -diag-suppress 20054,177 -G -g",
    ] {
        parse(&format!("nvcc -arch=sm_80 {flags} -o a a.cu ../common/b.cu c.cpp")).unwrap();
    }
}

#[test]
fn only_flags_that_change_the_code_reach_the_ptx() {
    let line = "nvcc -arch=sm_80 -lineinfo -G -g -lcublas -DN=4 -I ../common -cudart shared \
                -Xptxas -v -o a a.cu b.cu";
    let ptx = parse(line).unwrap().ptx_words(Utf8Path::new("b.cu"), "b.ptx").join(" ");
    assert_eq!(ptx, "nvcc -DN=4 -I ../common -arch=compute_80 -ptx -o b.ptx b.cu");
}

/// Each after a command that is otherwise right.
#[rustfmt::skip]
const REACHING_OUT: &[&str] = &[
    "-ccbin=./evil", "-ccbin evil", "--compiler-bindir ./evil", "-o ../x", "-o /var/x", "-o a/b",
    "-o a.cu", "-o -x", "-o .x", "-o=../x", "-o../x", "@flags", "-optf flags",
    "--options-file=flags", "/etc/passwd.cu", "../../../x.cu", "-I /usr/include", "-I../../..",
    "-I=/usr", "-Ia,/etc", "-Ia/b/c,../../../..",
    "-include x.h", "-run", "--run", "-dryrun", "--keep-dir=..", "-odir ..", "-x cu",
    "-Xlinker -plugin", "-Xcompiler -fplugin=x.so", "-Xcompiler -Wl,-rpath", "-Xcompiler -B.",
    "-Xcompiler -specs=x", "-Xcompiler -fuse-ld=evil", "-Xcompiler -wrapper,evil",
    "-Xcompiler -O2,-include,x", "-Xptxas -o,x", "-Xptxas --input-as-string=x", "-L.", "-L/usr",
    "-l:/etc/x", "-l../x", "-ldir .", "-lib", "-link", "-c", "-ptx", "-cubin", "-E", "-M", "-MF x",
    "x.o", "x.so", "-DX=/etc/passwd", "-arch=native", "-arch all", "-arch=sm_80,sm_90", "-time x",
    "--time=x", "-ewp=x", "-isystem .", "-target-dir x", "-", "--", "-std=gnu++17", "-arch=sm_90",
    "-gencode arch=compute_80,code=sm_80", "-code=sm_80", "-O9", "-O", "-o b",
];

#[test]
fn what_leaves_the_course_or_runs_something_else_is_refused() {
    for flags in REACHING_OUT {
        let line = format!("nvcc -arch=sm_80 -o a a.cu {flags}");
        assert!(parse(&line).is_err(), "{line}: {:?}", parse(&line));
    }
}

#[test]
fn a_shells_work_is_refused() {
    for tail in
        ["; rm x", "&& x", "| x", "> x", "$(x)", "`x`", "$X", "*.cu", "~/x.cu", "# x", "\n x"]
    {
        let errors = parse(&format!("nvcc -arch=sm_80 -o a a.cu {tail}")).unwrap_err();
        assert!(errors.iter().all(|error| matches!(error, ArgvError::Shell(_))), "{tail}");
    }
    assert_eq!(parse("nvcc 'x"), Err(vec![ArgvError::Quote]));
    assert_eq!(parse(&"x".repeat(5000)), Err(vec![ArgvError::TooLong]));
}

#[test]
fn what_is_missing_is_said_and_all_of_it() {
    let all = [ArgvError::NoSource, ArgvError::Output, ArgvError::NoArch];
    assert_eq!(parse("nvcc").unwrap_err(), all);
    assert_eq!(parse("nvcc -arch=sm_80 a.cu").unwrap_err(), [ArgvError::Output]);
    assert_eq!(parse("nvcc -o a a.cu").unwrap_err(), [ArgvError::NoArch]);
    assert_eq!(parse("nvcc -o a a.cu -arch").unwrap_err(), [ArgvError::NoValue("-arch".into())]);
    assert_eq!(parse("").unwrap_err()[0], ArgvError::NotNvcc(String::new()));
    assert_eq!(parse("./nvcc -run @x").unwrap_err().len(), 3);
    let mixed = parse("nvcc -o a a.cu -arch=sm_80 -code=sm_80");
    assert_eq!(mixed.unwrap_err(), [ArgvError::MixedArch]);
}

#[test]
fn an_error_becomes_a_finding_with_a_next_step() {
    let finding = |error: ArgvError| error.finding(Place::line("a.cu", 3)).next;
    assert_eq!(finding(ArgvError::NoArch), "say `-arch=sm_80` or the like");
    assert!(finding(ArgvError::Quote).starts_with("write it as `nvcc "));
}

const FLAG_OR_SOURCE: &str = "-[A-Za-z]{1,3}(=[a-z0-9_./]{1,6})?|[a-z./]{1,5}\\.cu";

proptest! {
    #[test]
    fn no_line_panics(line in "(nvcc )?[ -~é\n]{0,80}") {
        let _ = parse(&line);
    }

    #[test]
    fn what_is_read_is_written_back(
        flags in proptest::collection::vec(FLAG_OR_SOURCE, 0..5)
    ) {
        let line = format!("nvcc -arch=sm_80 -o prog prog.cu {}", flags.join(" "));
        if let Ok(command) = parse(&line) {
            let words = command.words();
            prop_assert_eq!(words.join(" "), line.trim_end());
            let again = BuildCommand::from_words(&words, Utf8Path::new(FOLDER));
            prop_assert_eq!(again, Ok(command));
        }
    }
}
