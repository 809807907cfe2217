//! The container's layout: a header, then entries of a header and a payload each.

use super::{FatbinError, Image, Kind, Packing, Portability};

const MAGIC: u32 = 0xba55_ed50;

/// Bytes of the container's header.
const HEADER: usize = 16;

/// Bytes of an entry's header, without what may be appended to it.
const ENTRY: usize = 64;

/// The largest container that is read.
const MAX_TOTAL: u64 = 2 << 30;

/// Flags of an entry.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
const EXACT: u64 = 0x10_0000;
const FAMILY: u64 = 0x20_0000;

/// Bytes of the whole fat binary, told from its first 16 bytes.
pub fn total_size(header: &[u8]) -> Result<usize, FatbinError> {
    let magic = u32::from_le_bytes(field(header, 0, "its header")?);
    if magic != MAGIC {
        return Err(FatbinError::Magic(magic));
    }
    let version = u16::from_le_bytes(field(header, 4, "its header")?);
    let length = u16::from_le_bytes(field(header, 6, "its header")?);
    if version != 1 || usize::from(length) != HEADER {
        return Err(FatbinError::Version { version, header: length });
    }
    let bytes = u64::from_le_bytes(field(header, 8, "its header")?);
    let total = bytes.checked_add(HEADER as u64).filter(|&total| total <= MAX_TOTAL);
    let total = total.and_then(|total| usize::try_from(total).ok());
    total.ok_or(FatbinError::Size { what: "the whole", bytes })
}

/// The images of a fat binary, in its order. Bytes after its end are ignored.
pub fn images(bytes: &[u8]) -> Result<Vec<Image<'_>>, FatbinError> {
    let total = total_size(bytes)?;
    let mut rest = bytes.get(HEADER..total).ok_or(FatbinError::Short("its images"))?;
    let mut images = Vec::new();
    while !rest.is_empty() {
        let (image, length) = entry(rest)?;
        images.push(image);
        rest = rest.get(length..).unwrap_or(&[]);
    }
    Ok(images)
}

/// The image at the start of these bytes, and how many it takes.
fn entry(bytes: &[u8]) -> Result<(Image<'_>, usize), FatbinError> {
    const WHAT: &str = "an image's header";
    let kind = match u16::from_le_bytes(field(bytes, 0, WHAT)?) {
        1 => Kind::Ptx,
        2 => Kind::Elf,
        other => Kind::Other(other),
    };
    let header = u32::from_le_bytes(field(bytes, 4, WHAT)?);
    let size = u64::from_le_bytes(field(bytes, 8, WHAT)?);
    let compressed = u32::from_le_bytes(field(bytes, 16, WHAT)?);
    let arch = u32::from_le_bytes(field(bytes, 28, WHAT)?);
    let flags = u64::from_le_bytes(field(bytes, 40, WHAT)?);
    let raw = u64::from_le_bytes(field(bytes, 56, WHAT)?);

    let start = usize::try_from(header).ok().filter(|&start| start >= ENTRY);
    let start = start.ok_or(FatbinError::Size { what: WHAT, bytes: u64::from(header) })?;
    let payload = bytes.get(start..).ok_or(FatbinError::Short(WHAT))?;
    let payload = prefix(payload, size, "an image")?;
    let packing = packing(flags, compressed)?;
    let (stored, size) = match packing {
        Packing::Plain => (payload, size),
        _ => (prefix(payload, compressed.into(), "an image's compressed data")?, raw),
    };
    let image = Image { kind, arch, portability: portability(flags), stored, packing, size };
    Ok((image, start + payload.len()))
}

/// So many of the bytes from their start on.
fn prefix<'a>(bytes: &'a [u8], size: u64, what: &'static str) -> Result<&'a [u8], FatbinError> {
    let part = usize::try_from(size).ok().and_then(|size| bytes.get(..size));
    part.ok_or(FatbinError::Size { what, bytes: size })
}

fn packing(flags: u64, compressed: u32) -> Result<Packing, FatbinError> {
    match (flags & ZSTD != 0, flags & LZ4 != 0) {
        (true, false) => Ok(Packing::Zstd),
        (false, true) => Ok(Packing::Lz4),
        (false, false) if compressed == 0 => Ok(Packing::Plain),
        _ => Err(FatbinError::Compression { flags }),
    }
}

fn portability(flags: u64) -> Portability {
    if flags & EXACT != 0 {
        Portability::Exact
    } else if flags & FAMILY != 0 {
        Portability::Family
    } else {
        Portability::Later
    }
}

/// The bytes of a field.
fn field<const N: usize>(
    bytes: &[u8],
    at: usize,
    what: &'static str,
) -> Result<[u8; N], FatbinError> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field.copied().ok_or(FatbinError::Short(what))
}
