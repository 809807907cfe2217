//! PTX and its digest.

use camino::Utf8PathBuf;
use proofrun_core::Digest;

/// The PTX of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptx {
    /// The source, relative to the lesson's folder.
    pub source: Utf8PathBuf,
    /// As nvcc wrote it.
    pub text: String,
    /// The digest of what matters in it, by [`digest`].
    pub digest: Digest,
}

/// The digest of a PTX text without what says nothing about the code: comments on lines of their
/// own, `.file` and `.loc` lines, blank lines, and the hash of the source's name and text by which
/// nvcc makes names from unnamed namespaces unique.
pub fn digest(text: &str) -> Digest {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let dropped =
            line.is_empty() || ["//", ".file", ".loc"].iter().any(|s| line.starts_with(s));
        if !dropped {
            without_hashes(line, &mut kept);
            kept.push('\n');
        }
    }
    Digest::of(kept)
}

/// The ISA version that a PTX text states.
pub(super) fn isa(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix(".version")).map(|version| version.trim().to_owned())
}

/// `_GLOBAL__N__ad6a9996_4_x_cu` becomes `_GLOBAL__N__00000000_4_x_cu`, and so do the names that
/// start `_INTERNAL_` and, in relocatable code, `__nv_static_23__`.
fn without_hashes(line: &str, out: &mut String) {
    const MARKS: [&str; 3] = ["_GLOBAL__N__", "_INTERNAL_", "__nv_static_"];
    const DIGITS: usize = 8;
    let mut rest = line;
    while let Some((at, mark)) =
        MARKS.iter().filter_map(|mark| rest.find(mark).map(|at| (at, *mark))).min()
    {
        let mut end = at + mark.len();
        if mark == "__nv_static_" {
            // The length of what follows, and two underscores.
            end += rest[end..].bytes().take_while(u8::is_ascii_digit).count();
            end += rest[end..].bytes().take_while(|byte| *byte == b'_').count();
        }
        let (before, after) = rest.split_at(end);
        out.push_str(before);
        rest = match after.split_at_checked(DIGITS) {
            Some((hash, tail)) if hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                out.push_str("00000000");
                tail
            }
            _ => after,
        };
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_counts() {
        let one = "// a\n.version 9.0\n\n\t.file 1 \"/x/y.cu\"\nadd.s32 %r1, %r2, 1;\n";
        let same = ".version 9.0\n// other\nadd.s32 %r1, %r2, 1;";
        let other = ".version 9.0\nadd.s32 %r1, %r2, 2;\n";
        assert_eq!(digest(one), digest(same));
        assert_ne!(digest(one), digest(other));
        assert_eq!(isa(one).as_deref(), Some("9.0"));
        assert_eq!(isa("nothing"), None);
    }

    #[test]
    fn hashes_of_unnamed_namespaces_do_not_count() {
        let name = |hash: &str| format!(".entry _ZN34_GLOBAL__N__{hash}_4_x_cu__Z2k2v1kEPi(");
        assert_eq!(digest(&name("ad6a9996")), digest(&name("52210ee6")));
        assert_ne!(digest(&name("ad6a9996")), digest(&name("ad6a9996").replace("x_cu", "y_cu")));
        let relocatable = |hash: &str| format!("[__nv_static_23__{hash}_4_x_cu__Z2k2v_g];");
        assert_eq!(digest(&relocatable("ad6a9996")), digest(&relocatable("52210ee6")));
        // Too short, no hash, and a character that is not ASCII at the cut.
        for text in ["_GLOBAL__N__12", "_INTERNAL_zzzzzzzzz", "_INTERNAL_1234567é"] {
            assert_ne!(digest(text), digest("_INTERNAL_"));
        }
    }
}
