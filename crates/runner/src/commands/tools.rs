//! What a GPU host has to build and to look with: a toolkit that can compile, and
//! compute-sanitizer.

use camino::{Utf8Path, Utf8PathBuf};

use crate::system::process::Cancel;
use crate::toolkit::{Places, Toolkit, on_path, search};

use super::Refused;

/// What was found.
#[derive(Debug, Default)]
pub struct Tools {
    /// The compiler, where there is one that can build.
    pub toolkit: Option<Toolkit>,
    /// compute-sanitizer: the toolkit's, else the one on PATH.
    pub sanitizer: Option<Utf8PathBuf>,
}

/// Looks for them; nothing is fetched. With `prebuilt`, nothing is compiled here, and only the
/// sanitizer is looked for.
///
/// # Errors
/// When a toolkit is named that does not work.
pub fn find(
    cuda_home: Option<&Utf8Path>,
    prebuilt: bool,
    root: &Utf8Path,
    cancel: &Cancel,
) -> Result<Tools, Refused> {
    let cuda_home = cuda_home.map(Utf8Path::to_owned);
    let places = Places::of_environment(cuda_home, &root.join("target/proofrun"));
    let found = search(&places, cancel).toolkit();
    let toolkit = match found {
        Ok(toolkit) => toolkit,
        Err(_) if prebuilt => None,
        Err(error) => {
            let hint = "or give `--prebuilt` to take the bundle's programs";
            return Err(Refused::absent(format!("{error}; {hint}")));
        }
    };
    let own = toolkit.as_ref().and_then(|toolkit| toolkit.tools.compute_sanitizer.clone());
    let sanitizer = own.or_else(|| on_path("compute-sanitizer", &places.path));
    // nvcc without a compiler for host code builds nothing.
    let toolkit = toolkit.filter(|toolkit| !prebuilt && toolkit.host.is_some());
    Ok(Tools { toolkit, sanitizer })
}
