//! A bundle's folder as one `.tar.gz`: the form that any host unpacks.

use std::fs::File;
use std::io::{BufWriter, Write};

use camino::Utf8Path;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::system::files;

use super::BundleError;

/// Packs a folder; the archive unpacks to a folder `name`. The archive is whole or not there.
///
/// # Errors
/// When the disk refuses.
pub fn write_archive(folder: &Utf8Path, name: &str, archive: &Utf8Path) -> Result<(), BundleError> {
    let temporary = archive.with_extension("partial");
    let written = pack(folder, name, &temporary)
        .and_then(|()| std::fs::rename(&temporary, archive))
        .map_err(|source| BundleError::Archive { path: archive.to_owned(), source });
    if written.is_err() {
        files::remove_file(&temporary)?;
    }
    written
}

fn pack(folder: &Utf8Path, name: &str, path: &Utf8Path) -> std::io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    tar.mode(tar::HeaderMode::Deterministic);
    tar.follow_symlinks(false);
    tar.append_dir_all(name, folder)?;
    let mut file = tar.into_inner()?.finish()?;
    file.flush()?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
}
