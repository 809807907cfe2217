//! Real builds: good ones, bad ones, slow ones, and a cache that was tampered with.

use std::sync::OnceLock;

use super::*;
use crate::system::files::write_atomic;

const FOLDER: &str = "lessons/day-1-x";

const GOOD: &str = r#"#include <cstdio>
#include "../common/answer.cuh"
__global__ void store(int *out) { *out = ANSWER; }
int main() { store<<<1, 1>>>(nullptr); std::printf("%s %d\n", __FILE__, ANSWER); }
"#;

fn toolkit() -> &'static Toolkit {
    static TOOLKIT: OnceLock<Toolkit> = OnceLock::new();
    TOOLKIT.get_or_init(crate::toolkit::for_tests)
}

struct Course {
    _guard: tempfile::TempDir,
    cache: Cache,
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl Course {
    fn new(source: &str) -> Self {
        let guard = tempfile::tempdir().unwrap();
        let cache = Cache::under(Utf8Path::from_path(guard.path()).unwrap());
        let files = [
            (format!("{FOLDER}/a.cu"), source.to_owned()),
            ("lessons/common/answer.cuh".into(), "#define ANSWER 42\n".into()),
        ];
        let files = files.into_iter().map(|(path, text)| (path.into(), text.into_bytes()));
        Self { _guard: guard, cache, files: files.collect() }
    }

    fn build_with(&self, line: &str, deadline: Duration) -> Result<Outcome, Error> {
        let folder = Utf8Path::new(FOLDER);
        let command = BuildCommand::parse(line, folder).unwrap();
        let request = Request {
            command: &command,
            folder,
            files: &self.files,
            toolkit: toolkit(),
            deadline,
            emulated: None,
        };
        compile(&request, &self.cache, &Cancel::new())
    }

    fn build(&self) -> Outcome {
        self.build_with("nvcc -std=c++17 -O3 -arch=sm_80 -o prog a.cu", DEADLINE).unwrap()
    }

    /// The names in the cache's folder.
    fn entries(&self) -> Vec<Utf8PathBuf> {
        let folder = Utf8Path::from_path(self._guard.path()).unwrap();
        let folder = folder.join("cache/compile");
        folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned()).collect()
    }
}

fn run(program: &Utf8Path) -> String {
    let ended = process::Command::new(program).run(&Cancel::new()).unwrap();
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn a_good_program_is_built_as_its_readme_says() {
    let course = Course::new(GOOD);
    let outcome = course.build();
    assert_eq!((outcome.status, outcome.log.as_str()), (BuildStatus::Built, ""));
    assert!(outcome.diagnostics.is_empty() && !outcome.cached);
    let product = outcome.product.unwrap();
    // A relative path in __FILE__, and no folder of ours.
    assert_eq!(run(&product.executable), "a.cu 42\n");
    assert!(product.executable.as_str().ends_with("/bin/prog"));
    let bytes = std::fs::read(&product.executable).unwrap();
    assert_eq!(product.executable_digest, Digest::of(&bytes));
    let needs = elf::needs(&bytes).unwrap();
    assert!(needs.static_cudart && !needs.shared_cudart());
    assert!(needs.glibc.is_some());
    let [ptx] = product.ptx.as_slice() else { panic!("one source, one PTX") };
    assert!(ptx.text.contains(".target sm_80") && ptx.text.contains("42"), "{}", ptx.text);
    assert_eq!(outcome.toolkit.nvcc, toolkit().version);
    let isa = outcome.toolkit.ptx_isa.unwrap();
    assert!(toolkit().ptx_isa.as_ref().is_none_or(|known| *known == isa));
}

#[test]
fn a_second_build_is_taken_from_the_cache_unless_something_changed() {
    let mut course = Course::new(GOOD);
    let first = course.build();
    let second = course.build();
    assert!(second.cached);
    assert_eq!(first.product, second.product);
    assert_eq!(course.entries().len(), 1, "no work folder is left");
    course.files.insert("lessons/common/answer.cuh".into(), b"#define ANSWER 43\n".to_vec());
    let other = course.build();
    assert!(!other.cached);
    assert_ne!(first.product.unwrap().ptx_digest, other.product.unwrap().ptx_digest);
    let line = "nvcc -std=c++17 -O2 -arch=sm_80 -o prog a.cu";
    assert!(!course.build_with(line, DEADLINE).unwrap().cached);
    assert_eq!(course.cache.prune(Duration::from_secs(3600)).unwrap().kept, 3);
    assert_eq!(course.cache.prune(Duration::ZERO).unwrap(), Pruned { removed: 3, kept: 0 });
}

#[test]
fn an_entry_that_was_changed_is_never_trusted() {
    let course = Course::new(GOOD);
    let expect = course.build();
    let entry = course.entries().remove(0);
    for name in ["bin/prog", "0.ptx", "log", "outcome.toml"] {
        let file = entry.join(name);
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.push(b'x');
        write_atomic(&file, &bytes).unwrap();
        let again = course.build();
        assert!(!again.cached, "{name}");
        let ptx = |outcome: &Outcome| outcome.product.as_ref().map(|product| product.ptx_digest);
        assert_eq!(ptx(&again), ptx(&expect), "{name}");
    }
    std::fs::remove_file(entry.join("0.ptx")).unwrap();
    assert!(!course.build().cached);
    assert!(course.build().cached);
}

#[test]
fn ptx_is_the_same_in_every_folder_and_for_every_comment() {
    let source = "namespace { __global__ void hidden(int *p) { *p = 1; } }\n\
                  static __device__ int kept;\n\
                  __global__ void seen(int *p) { *p = kept++; }\n\
                  int main() { hidden<<<1, 1>>>(nullptr); seen<<<1, 1>>>(nullptr); }\n";
    for flags in ["", "-rdc=true"] {
        let line = format!("nvcc -std=c++17 -arch=sm_80 {flags} -o prog a.cu");
        let digest = |source: &str| {
            let outcome = Course::new(source).build_with(&line, DEADLINE).unwrap();
            outcome.product.unwrap().ptx_digest
        };
        let expect = digest(source);
        assert_eq!(digest(source), expect, "another folder {flags}");
        assert_eq!(digest(&format!("// A comment.\n{source}")), expect, "a comment {flags}");
        assert_ne!(digest(&source.replace("*p = 1", "*p = 2")), expect);
    }
}

#[test]
fn warnings_are_read_and_known_ones_expected() {
    let source = "struct S { int x; __device__ S() : x(1) {} };\n\
                  __global__ void k() { __shared__ S s; s.x++; }\n\
                  int main() { int unused; k<<<1, 1>>>(); }\n";
    let outcome = Course::new(source).build();
    assert_eq!(outcome.status, BuildStatus::Built, "{}", outcome.log);
    let numbers: Vec<_> = outcome.diagnostics.iter().map(|d| d.number.clone().unwrap()).collect();
    assert!(
        numbers.contains(&"20054-D".into()) && numbers.contains(&"177-D".into()),
        "{numbers:?}"
    );
    assert!(outcome.diagnostics.iter().all(|d| d.file.as_deref() == Some(Utf8Path::new("a.cu"))));
    let unexpected: Vec<_> = outcome.unexpected_warnings(&numbers[..]).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(outcome.unexpected_warnings(&[]).count(), numbers.len());
}

#[test]
fn errors_fail_the_build_with_their_place_and_the_same_log_everywhere() {
    let check = |source: &str, line: Option<u32>, expect: &str| {
        let course = Course::new(source);
        let outcome = course.build();
        assert!(matches!(outcome.status, BuildStatus::Failed(1..)), "{outcome:?}");
        assert_eq!(outcome.product, None);
        let error = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error).unwrap();
        assert!(error.text.contains(expect) && error.line == line, "{error:?}");
        assert_eq!(Course::new(source).build().log, outcome.log);
        assert!(!outcome.log.contains(".work-"), "{}", outcome.log);
        let again = course.build();
        assert!(again.cached);
        assert_eq!((again.status, again.log), (outcome.status, outcome.log));
    };
    check("int main() {\n  return missing;\n}\n", Some(2), "identifier \"missing\" is undefined");
    check("#include \"none.cuh\"\nint main() {}\n", Some(1), "none.cuh");
    check("void elsewhere();\nint main() { elsewhere(); }\n", None, "ld returned 1 exit status");
}

#[test]
fn a_file_of_the_course_that_was_not_named_is_not_seen() {
    let mut course = Course::new(GOOD);
    course.files.remove(Utf8Path::new("lessons/common/answer.cuh"));
    let outcome = course.build();
    assert!(matches!(outcome.status, BuildStatus::Failed(_)));
    course.files.remove(&Utf8Path::new(FOLDER).join("a.cu"));
    let line = "nvcc -arch=sm_80 -o prog a.cu";
    let error = course.build_with(line, DEADLINE).unwrap_err().to_string();
    assert!(error.contains("`lessons/day-1-x/a.cu`, which is not there"), "{error}");
    course.files.insert("../escaped".into(), Vec::new());
    assert!(matches!(course.build_with(line, DEADLINE), Err(Error::Outside(_))));
}

#[test]
fn a_build_that_hangs_is_ended_and_not_kept() {
    // Constant evaluation without a limit that matters: minutes in the front end.
    let source = "constexpr unsigned spin(unsigned n) { unsigned s = 0; \
                  for (unsigned i = 0; i < n; ++i) s += i * s; return s; }\n\
                  template <unsigned N> struct T { \
                  static constexpr unsigned v = spin(100000 + N); };\n\
                  template <unsigned N> struct U { \
                  static constexpr unsigned v = T<N>::v + U<N - 1>::v; };\n\
                  template <> struct U<0> { static constexpr unsigned v = 0; };\n\
                  int main() { return U<190>::v; }\n";
    let course = Course::new(source);
    let line = "nvcc -arch=sm_80 -o prog a.cu";
    let outcome = course.build_with(line, Duration::from_millis(50)).unwrap();
    assert_eq!((outcome.status, outcome.product), (BuildStatus::Hung, None));
    assert!(course.entries().is_empty());
}

#[test]
fn several_sources_have_a_ptx_each() {
    let mut course = Course::new("int other();\nint main() { return other(); }\n");
    let other = "__global__ void k() {}\nint other() { k<<<1, 1>>>(); return 0; }\n";
    course.files.insert(format!("{FOLDER}/b.cu").into(), other.into());
    let line = "nvcc -gencode arch=compute_80,code=[sm_80,compute_80] -o prog a.cu b.cu";
    let product = course.build_with(line, DEADLINE).unwrap().product.unwrap();
    let sources: Vec<_> = product.ptx.iter().map(|ptx| ptx.source.as_str()).collect();
    assert_eq!(sources, ["a.cu", "b.cu"]);
    assert!(product.ptx[1].text.contains(".entry _Z1kv"));
}

#[test]
fn a_cancelled_build_is_an_error_and_leaves_nothing() {
    let course = Course::new(GOOD);
    let folder = Utf8Path::new(FOLDER);
    let command = BuildCommand::parse("nvcc -arch=sm_80 -o prog a.cu", folder).unwrap();
    let request = Request {
        emulated: None,
        command: &command,
        folder,
        files: &course.files,
        toolkit: toolkit(),
        deadline: DEADLINE,
    };
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(matches!(compile(&request, &course.cache, &cancel), Err(Error::Cancelled)));
    assert!(course.entries().is_empty());
    let no_host = Toolkit { host: None, ..toolkit().clone() };
    let request = Request { toolkit: &no_host, ..request };
    let error = compile(&request, &course.cache, &Cancel::new()).unwrap_err();
    assert!(matches!(error, Error::NoHostCompiler));
}
