//! The scratch course's files.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::assess::{Assessment, assess};
use proofrun_core::publication::RENDER_FORMAT;
use proofrun_core::review::{Entry, Rendering, Verdict};
use proofrun_core::trust::{Namespace, sign, signer_line};
use proofrun_runner::course::{course_files, read_lesson};
use ssh_key::LineEnding;
use tempfile::TempDir;

use super::{RECORDER, REVIEWED, REVIEWER, Ran, key, run, time};

/// The lesson that most tests use.
pub const LESSON: &str = "day-01-scale";

/// Its program.
pub const SOURCE: &str = r#"// Day 1: scale.
//
// Build: nvcc -std=c++17 -arch=sm_75 -o scale scale.cu
// Run:   ./scale
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `cargo xtask status` says what is missing

#include <cstdio>

// snippet: kernel
__global__ void scale(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}
// end snippet

int main() { return 0; }
"#;

/// Its manifest.
pub const MANIFEST: &str = r#"schema = 1
output = """
GPU: {device} (compute capability {cc})
{blocks = 2 * sm_count} blocks
one: {a:ms.3}
two: {b:ms.3}
two/one: {ratio:ratio.3 = b / a in 0.5..2.0}
"""
[[build.variant]]
name = "sm_90"
arch = "sm_90"
[publish]
model = "h200"
run = "median of ratio"
"#;

/// Its page.
pub const PAGE: &str = r#"# Scale

<!-- record: state -->
**UNVERIFIED.** No reviewed record of this lesson exists yet, so this page shows no output of it.
<!-- end record -->

<!-- snippet: kernel -->
```cuda
__global__ void scale(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}
```
<!-- end snippet -->

```sh
nvcc -std=c++17 -arch=sm_75 -o scale scale.cu
./scale
```

<!-- record: output -->
*Nothing is shown here until a run on real hardware has been recorded and somebody else has reviewed it.*
<!-- end record -->

<!-- record: output on t4/sm_75 -->
*Nothing is shown here until a run on real hardware has been recorded and somebody else has reviewed it.*
<!-- end record -->

<!-- record: spread -->
*Nothing is shown here until a run on real hardware has been recorded and somebody else has reviewed it.*
<!-- end record -->

<!-- holds: ratio > 1 on h200/sm_75 -->
The second is slower.
"#;

/// A course in a temporary folder.
pub struct Scratch {
    folder: TempDir,
    /// Private keys lie outside the course, as everybody's should.
    keys: TempDir,
}

impl Scratch {
    /// An empty course with a trust root of one recorder and one reviewer.
    pub fn empty() -> Self {
        let course =
            Self { folder: tempfile::tempdir().unwrap(), keys: tempfile::tempdir().unwrap() };
        course.write("research/policy.toml", "schema = 1\nself_review = \"forbidden\"\n");
        course.trust(&[(RECORDER, &[Namespace::Record]), (REVIEWER, &[Namespace::Review])]);
        fs::create_dir_all(course.path().join("lessons/common")).unwrap();
        course
    }

    /// The same with one lesson.
    pub fn with_lesson() -> Self {
        let course = Self::empty();
        course.add_lesson(LESSON);
        course
    }

    /// Adds a lesson that lacks nothing but a record.
    pub fn add_lesson(&self, name: &str) {
        self.write(format!("lessons/{name}/lesson.toml"), MANIFEST);
        self.write(format!("lessons/{name}/scale.cu"), SOURCE);
        self.write(format!("lessons/{name}/README.md"), PAGE);
    }

    /// Its root.
    pub fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    /// A path within a lesson, from the root.
    pub fn lesson_path(&self, name: &str) -> Utf8PathBuf {
        self.path().join("lessons").join(name)
    }

    /// Writes a file, by its path from the root.
    pub fn write(&self, path: impl AsRef<Utf8Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Reads a file as text.
    pub fn read(&self, path: impl AsRef<Utf8Path>) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Changes a file's text; what is to be replaced must be there.
    pub fn edit(&self, path: impl AsRef<Utf8Path>, from: &str, to: &str) {
        let text = self.read(&path);
        assert!(text.contains(from), "{} has no {from}", path.as_ref());
        self.write(path, text.replace(from, to));
    }

    /// Writes the list of keys.
    pub fn trust(&self, signers: &[(&str, &[Namespace])]) {
        let line = |(name, namespaces): &(&str, &[Namespace])| {
            let key = key(name);
            let principal = name.parse().unwrap();
            signer_line(&principal, namespaces, (None, None), key.public_key()).unwrap()
        };
        let lines: Vec<String> =
            signers.iter().map(|signer| line(signer).trim_end().to_owned() + "\n").collect();
        self.write("research/allowed_signers", lines.concat());
    }

    /// Writes a signed review entry, and returns its digest.
    pub fn review(&self, lesson: &str, verdict: Verdict, reviewer: &str, at: &str) -> Digest {
        let who = reviewer.parse().unwrap();
        let entry = Entry::new(verdict, lesson, who, time(at), "looked at it, it is so").unwrap();
        let text = entry.to_toml();
        let digest = Digest::of(&text);
        let signature = sign(&key(reviewer), Namespace::Review, text.as_bytes()).unwrap();
        let base = format!("lessons/{lesson}/reviews/{digest}");
        self.write(format!("{base}.toml"), text);
        self.write(format!("{base}.sig"), signature);
        digest
    }

    /// Accepts a record as it renders now.
    pub fn accept(&self, lesson: &str, record: Digest) -> Digest {
        let digest = self.rendering(lesson, record);
        let rendering = Rendering { format: RENDER_FORMAT, digest };
        self.review(lesson, Verdict::Accept { record, rendering }, REVIEWER, REVIEWED)
    }

    /// The digest of what would be shown of a record.
    pub fn rendering(&self, lesson: &str, record: Digest) -> Digest {
        let assessment = self.assess(lesson);
        let mut records = assessment.evidence.values().flat_map(|evidence| &evidence.records);
        let found = records.find(|assessed| assessed.examined.digest == record).unwrap();
        found.rendering.as_ref().unwrap().digest()
    }

    /// The assessment of a lesson.
    pub fn assess(&self, lesson: &str) -> Assessment {
        let (course, _) = course_files(self.path()).unwrap().into_course();
        let folder = Utf8PathBuf::from(format!("lessons/{lesson}"));
        assess(&read_lesson(self.path(), &folder).unwrap(), &course)
    }

    /// A file outside the course with the private key of this name.
    pub fn key_file(&self, name: &str) -> Utf8PathBuf {
        let path = self.outside(name);
        fs::write(&path, key(name).to_openssh(LineEnding::LF).unwrap().as_bytes()).unwrap();
        path
    }

    /// A path outside the course.
    pub fn outside(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.keys.path()).unwrap().join(name)
    }

    /// `review` with a verdict of somebody.
    pub fn verdict(&self, flag: &str, digest: Digest, who: &str, reason: &str) -> Ran {
        self.verdict_on(&digest.to_string(), flag, who, reason)
    }

    /// The same with a digest as it is typed.
    pub fn verdict_on(&self, digest: &str, flag: &str, who: &str, reason: &str) -> Ran {
        let key = self.key_file(who);
        let rest = ["--reason", reason, "--reviewer", who, "--key", key.as_str()];
        self.run(&[&["review", flag, digest][..], &rest[..]].concat())
    }

    /// Every file of the course with its bytes, but for state that commands keep for themselves.
    pub fn snapshot(&self) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.path(), self.path(), &mut files);
        files
    }

    /// Runs a command line in the course's root.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        run(self.path(), arguments)
    }

    /// `verify`, without a network; a toolkit that happens to be here is used.
    pub fn verify(&self) -> Ran {
        self.run(&["verify", "--offline"])
    }
}

fn collect(root: &Utf8Path, folder: &Utf8Path, files: &mut BTreeMap<Utf8PathBuf, Vec<u8>>) {
    for entry in folder.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let within = entry.path().strip_prefix(root).unwrap().to_owned();
        if within == ".proofrun" || within == "target" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(root, entry.path(), files);
        } else {
            files.insert(within, fs::read(entry.path()).unwrap());
        }
    }
}
