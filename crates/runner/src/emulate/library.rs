//! Where the harness's own CUDA runtime lies, and how a program is brought to load it.
//!
//! Its file is not called `libcudart.so.*` where it lies: cargo puts its target folders into
//! `LD_LIBRARY_PATH`, and a program that is meant for a card would load it from there without a
//! word. It gets that name in a private folder that one run sees and no other.

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::system::files;

use super::Error;

/// What cargo calls it.
pub const LIBRARY_FILE: &str = "libproofrun_cudart.so";

/// The variable that names it where it lies elsewhere.
pub const LIBRARY_VARIABLE: &str = "PROOFRUN_CUDART";

/// The harness's own CUDA runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    path: Utf8PathBuf,
}

impl Library {
    /// The one that is named, else the one that cargo left beside this executable.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(named: Option<&Utf8Path>) -> Result<Self, Error> {
        if let Some(path) = named {
            let there = path.is_file();
            return there
                .then(|| Self { path: path.to_owned() })
                .ok_or_else(|| Error::NamedLibrary(path.to_owned()));
        }
        let executable = std::env::current_exe().ok().and_then(|path| path.try_into().ok());
        Self::beside(executable.unwrap_or_default())
    }

    fn beside(executable: Utf8PathBuf) -> Result<Self, Error> {
        let folder = executable.parent().unwrap_or(Utf8Path::new("."));
        let above = folder.parent().unwrap_or(folder);
        let places = [folder.to_owned(), folder.join("deps"), above.join("deps")];
        let mut paths = places.iter().map(|place| place.join(LIBRARY_FILE));
        match paths.find(|path| path.is_file()) {
            Some(path) => Ok(Self { path }),
            None => Err(Error::NoLibrary { beside: executable }),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// A folder that holds it under the name that a program asks for, and nothing else; it vanishes
    /// when dropped. A copy: the file may be built anew while the program runs.
    pub(super) fn laid_out_as(&self, name: &str) -> Result<TempDir, Error> {
        let folder = tempfile::Builder::new().prefix("proofrun-emulated-").tempdir();
        let folder = folder.map_err(files::Error::system("make a folder for", &self.path))?;
        let copied = std::fs::copy(&self.path, folder.path().join(name));
        copied.map_err(files::Error::system("copy", &self.path))?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_where_cargo_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = Utf8Path::from_path(folder.path()).unwrap();
        let binary = target.join("debug/xtask");
        let test = target.join("debug/deps/cli-1234");
        let missing = Library::beside(binary.clone()).unwrap_err().to_string();
        assert!(missing.contains("`cargo build -p proofrun-cudart`"), "{missing}");
        std::fs::create_dir_all(target.join("debug/deps")).unwrap();
        let library = target.join("debug/deps").join(LIBRARY_FILE);
        std::fs::write(&library, "one").unwrap();
        assert_eq!(Library::beside(binary.clone()).unwrap().path(), library);
        assert_eq!(Library::beside(test).unwrap().path(), library);
        let example = Library::beside(target.join("debug/examples/x")).unwrap();
        assert_eq!(std::fs::read(example.path()).unwrap(), b"one");
        std::fs::write(target.join("debug").join(LIBRARY_FILE), "two").unwrap();
        let beside = Library::beside(binary).unwrap();
        assert_eq!(beside.path(), target.join("debug").join(LIBRARY_FILE));
        let laid = beside.laid_out_as("libcudart.so.13").unwrap();
        assert_eq!(std::fs::read(laid.path().join("libcudart.so.13")).unwrap(), b"two");
        let wrong = Library::find(Some(&target.join("nothing"))).unwrap_err().to_string();
        assert!(wrong.contains("PROOFRUN_CUDART"), "{wrong}");
    }
}
