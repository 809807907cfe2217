//! Decompression, with bounds on what comes out.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use super::FatbinError;

/// The largest image that is unpacked.
const MAX_IMAGE: u64 = 256 << 20;

/// How many times its stored size an image may have, if it is larger than [`SMALL`].
const MAX_RATIO: u64 = 4096;

/// An image may have so many bytes whatever its stored size.
const SMALL: u64 = 1 << 20;

/// Zstandard windows up to this size are always allowed.
const WINDOW: u64 = 8 << 20;

/// Unpacks an LZ4 block without a frame.
pub fn lz4(stored: &[u8], size: u64) -> Result<Vec<u8>, FatbinError> {
    let room = allowed(stored, size)?;
    let bytes = lz4_flex::block::decompress(stored, room)
        .map_err(|error| corrupt("LZ4", &error.to_string()))?;
    exactly(bytes, room, "LZ4")
}

/// Unpacks a Zstandard frame.
pub fn zstd(stored: &[u8], size: u64) -> Result<Vec<u8>, FatbinError> {
    let room = allowed(stored, size)?;
    let decoder = StreamingDecoder::new_with_max_window_size(stored, size.max(WINDOW))
        .map_err(|error| corrupt("zstd", &error.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than it should have tells that it has too many.
    let read = decoder.take(size + 1).read_to_end(&mut bytes);
    read.map_err(|error| corrupt("zstd", &error.to_string()))?;
    exactly(bytes, room, "zstd")
}

fn allowed(stored: &[u8], size: u64) -> Result<usize, FatbinError> {
    let most = (stored.len() as u64).saturating_mul(MAX_RATIO).clamp(SMALL, MAX_IMAGE);
    let room = usize::try_from(size).ok().filter(|_| size <= most);
    room.ok_or(FatbinError::Size { what: "an unpacked image", bytes: size })
}

fn exactly(bytes: Vec<u8>, size: usize, method: &'static str) -> Result<Vec<u8>, FatbinError> {
    if bytes.len() == size {
        return Ok(bytes);
    }
    let than = if bytes.len() > size { "more" } else { "fewer" };
    Err(corrupt(method, &format!("{than} bytes than the {size} that the image should have")))
}

fn corrupt(method: &'static str, cause: &str) -> FatbinError {
    FatbinError::Corrupt { method, cause: cause.to_owned() }
}
