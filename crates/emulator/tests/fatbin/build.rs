//! A writer of fat binaries.

/// An image to write.
#[derive(Debug, Clone)]
pub struct Entry {
    pub kind: u16,
    pub arch: u32,
    pub flags: u64,
    pub compressed: u32,
    pub raw: u64,
    /// Bytes of its header; those past 64 are arbitrary.
    pub header: u32,
    pub payload: Vec<u8>,
}

impl Entry {
    /// PTX that isn't compressed.
    pub fn ptx(arch: u32, text: &str) -> Self {
        let payload = text.as_bytes().to_vec();
        Self { kind: 1, arch, flags: 0x11, compressed: 0, raw: 0, header: 64, payload }
    }

    /// The same image with compressed data.
    pub fn packed(self, flag: u64, data: &[u8], raw: usize) -> Self {
        let compressed = u32::try_from(data.len()).unwrap();
        let mut payload = data.to_vec();
        payload.resize(data.len().next_multiple_of(8), 0);
        Self { flags: self.flags | flag, compressed, raw: raw as u64, payload, ..self }
    }

    pub fn zstd(self) -> Self {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let data = ruzstd::encoding::compress_to_vec(&self.payload[..], level);
        let raw = self.payload.len();
        self.packed(0x8000, &data, raw)
    }

    pub fn lz4(self) -> Self {
        let data = lz4_flex::block::compress(&self.payload);
        let raw = self.payload.len();
        self.packed(0x2000, &data, raw)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut header = vec![0xEE; self.header as usize];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.kind.to_le_bytes());
        put(4, &self.header.to_le_bytes());
        put(8, &(self.payload.len() as u64).to_le_bytes());
        put(16, &self.compressed.to_le_bytes());
        put(28, &self.arch.to_le_bytes());
        put(40, &self.flags.to_le_bytes());
        put(56, &self.raw.to_le_bytes());
        out.extend(header);
        out.extend(&self.payload);
    }
}

/// A fat binary of some images.
pub fn fatbin(entries: &[Entry]) -> Vec<u8> {
    let mut body = Vec::new();
    for entry in entries {
        entry.write(&mut body);
    }
    let mut out = 0xba55_ed50u32.to_le_bytes().to_vec();
    out.extend(1u16.to_le_bytes());
    out.extend(16u16.to_le_bytes());
    out.extend((body.len() as u64).to_le_bytes());
    out.extend(body);
    out
}
