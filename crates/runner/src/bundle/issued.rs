//! The nonces that this course issued: without one of them nothing is imported.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::bundle::Bundle;

use crate::system::files;

use super::{BundleError, parse};

/// The folder below the course's state that holds what was issued.
const ISSUED_FOLDER: &str = "issued";

/// Remembers a bundle by its nonce.
///
/// # Errors
/// When the disk refuses.
pub fn remember(state: &Utf8Path, bundle: &Bundle) -> Result<(), BundleError> {
    files::create_dir(state.join(ISSUED_FOLDER))?;
    let facts = toml::to_string(bundle)?;
    Ok(files::write_atomic(path(state, &bundle.nonce), facts)?)
}

/// The bundle of a nonce; `None` when this course issued no such one.
///
/// # Errors
/// When what was remembered can't be read.
pub fn find(state: &Utf8Path, nonce: &str) -> Result<Option<Bundle>, BundleError> {
    if nonce.len() != 64 || !nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let path = path(state, nonce);
    match files::read_capped(&path, 64 * 1024 * 1024) {
        Ok(bytes) => Ok(Some(parse(&path, &bytes)?)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn path(state: &Utf8Path, nonce: &str) -> Utf8PathBuf {
    state.join(ISSUED_FOLDER).join(format!("{nonce}.toml"))
}
