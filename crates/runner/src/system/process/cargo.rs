//! What cargo puts into the environment of the programs that it runs.

use camino::Utf8Path;

/// A search path for libraries, such as `LD_LIBRARY_PATH`, without the folders that cargo adds to
/// it: those of a target folder and of a Rust toolchain. `None` if nothing is left.
///
/// A CUDA runtime that was built in a target folder must not be found by programs that run on a
/// real device: it would answer in the device's place.
pub fn without_cargo_folders(value: &str) -> Option<String> {
    let kept: Vec<&str> = value
        .split(':')
        // An empty entry means the current folder to the loader; nobody needs that here.
        .filter(|entry| !entry.is_empty() && !is_cargos(Utf8Path::new(entry)))
        .collect();
    (!kept.is_empty()).then(|| kept.join(":"))
}

fn is_cargos(folder: &Utf8Path) -> bool {
    let in_target = folder.ancestors().any(|above| {
        above.join("CACHEDIR.TAG").is_file() && above.join(".rustc_info.json").is_file()
    });
    let in_toolchain = folder.join("rustlib").is_dir()
        || folder.components().any(|part| part.as_str() == "rustlib");
    in_target || in_toolchain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::files::{create_dir, write_atomic};

    #[test]
    fn only_cargos_folders_are_dropped() {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(guard.path()).unwrap();
        for folder in ["target/debug/deps", "toolchain/lib/rustlib", "cuda/target/lib"] {
            create_dir(root.join(folder)).unwrap();
        }
        for file in ["target/CACHEDIR.TAG", "target/.rustc_info.json"] {
            write_atomic(root.join(file), "").unwrap();
        }
        let check = |entries: &[&str], expect: &[&str]| {
            let join = |entries: &[&str]| {
                entries.iter().map(|entry| format!("{root}/{entry}")).collect::<Vec<_>>().join(":")
            };
            let kept = without_cargo_folders(&join(entries)).unwrap_or_default();
            assert_eq!(kept, join(expect));
        };
        check(&["target/debug", "target/debug/deps"], &[]);
        check(&["toolchain/lib", "toolchain/lib/rustlib/x/lib"], &[]);
        check(&["cuda/target/lib", "target/debug", "none"], &["cuda/target/lib", "none"]);
        assert_eq!(without_cargo_folders(""), None);
        assert_eq!(without_cargo_folders("::"), None);
    }
}
