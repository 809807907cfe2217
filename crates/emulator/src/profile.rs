//! The devices that can be emulated: what their drivers answer when a program asks.
//!
//! Sources, by their names in the fields' comments below:
//! - *CC*: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and the
//!   sections on each capability's shared memory.
//! - *T4*: NVIDIA T4 Tensor Core GPU product brief (PB-09256-001) and the Turing architecture
//!   whitepaper.
//! - *A100*: NVIDIA A100 Tensor Core GPU Architecture whitepaper and the A100 80 GB datasheet.
//! - *H100*: NVIDIA H100 Tensor Core GPU Architecture whitepaper and the H100 datasheet.
//! - *Ada*: NVIDIA Ada GPU Architecture whitepaper, appendix on the GeForce RTX 4090.
//! - *measured*: asked of an H200 with driver 580.159.04; `crates/cudart/tests/hardware` has the
//!   program and its output, and the records under `lessons/` agree.
//!
//! Of cards other than the H200, what a driver leaves of the memory is in no document, nor are
//! its largest persisting part of L2 and window: these are as such cards' drivers are commonly
//! seen to answer.

/// The facts about one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The word that selects it: `h200`.
    pub id: &'static str,
    /// The name the driver gives, byte for byte.
    pub name: &'static str,
    /// Major and minor compute capability (CC).
    pub compute_capability: (u32, u32),
    /// Multiprocessors (the card's document).
    pub sm_count: u32,
    /// Global memory, of which a context takes a part.
    pub memory_bytes: u64,
    /// The L2 cache (the card's document).
    pub l2_bytes: u32,
    /// The most of L2 that can be set aside for persisting accesses.
    pub persisting_l2_bytes: u32,
    /// The largest window of an access policy.
    pub access_window_bytes: u32,
    /// Shared memory of a block without asking for more (CC: 48 KiB everywhere).
    pub shared_bytes_per_block: u32,
    /// Shared memory of a block after asking for it (CC).
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory of a multiprocessor (CC).
    pub shared_bytes_per_sm: u32,
    /// What of it the driver takes for each block (CC: 1 KiB from 8.0 on).
    pub reserved_shared_bytes_per_block: u32,
    /// 32-bit registers of a multiprocessor, and of a block (CC).
    pub registers: u32,
    /// Resident threads of a multiprocessor (CC).
    pub threads_per_sm: u32,
    /// Resident blocks of a multiprocessor (CC).
    pub blocks_per_sm: u32,
    /// Boost clock in kHz (the card's document).
    pub clock_khz: u32,
    /// Memory clock in kHz (the card's document).
    pub memory_clock_khz: u32,
    /// Width of the memory's bus in bits (the card's document).
    pub memory_bus_bits: u32,
    /// Single to double precision throughput (CC, "Arithmetic Instructions").
    pub single_to_double: u32,
    /// Copy engines.
    pub copy_engines: u32,
    /// Whether memory has error correction switched on as delivered.
    pub ecc: bool,
    /// Device and vendor as PCI has them.
    pub pci_device: u32,
}

/// Threads of a warp; on every device.
pub const WARP_SIZE: u32 = 32;
/// Threads of a block; on every device (CC).
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// Threads of a block in each dimension; on every device (CC).
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Blocks of a grid in each dimension; on every device (CC).
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// Constant memory; on every device (CC).
pub const CONSTANT_BYTES: u32 = 65536;

/// Tesla T4 (*T4*): the course's floor.
pub static T4: Profile = Profile {
    id: "t4",
    name: "Tesla T4",
    compute_capability: (7, 5),
    sm_count: 40,
    memory_bytes: 15_843_721_216,
    l2_bytes: 4 << 20,
    persisting_l2_bytes: 0,
    access_window_bytes: 0,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 64 << 10,
    shared_bytes_per_sm: 64 << 10,
    reserved_shared_bytes_per_block: 0,
    registers: 65536,
    threads_per_sm: 1024,
    blocks_per_sm: 16,
    clock_khz: 1_590_000,
    memory_clock_khz: 5_001_000,
    memory_bus_bits: 256,
    single_to_double: 32,
    copy_engines: 3,
    ecc: true,
    pci_device: 0x1eb8_10de,
};

/// A100 with 80 GB (*A100*).
pub static A100: Profile = Profile {
    id: "a100",
    name: "NVIDIA A100-SXM4-80GB",
    compute_capability: (8, 0),
    sm_count: 108,
    memory_bytes: 85_051_572_224,
    l2_bytes: 40 << 20,
    persisting_l2_bytes: 30 << 20,
    access_window_bytes: 134_213_632,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 163 << 10,
    shared_bytes_per_sm: 164 << 10,
    reserved_shared_bytes_per_block: 1 << 10,
    registers: 65536,
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    clock_khz: 1_410_000,
    memory_clock_khz: 1_593_000,
    memory_bus_bits: 5120,
    single_to_double: 2,
    copy_engines: 3,
    ecc: true,
    pci_device: 0x20b2_10de,
};

/// H100 SXM with 80 GB (*H100*).
pub static H100: Profile = Profile {
    id: "h100",
    name: "NVIDIA H100 80GB HBM3",
    compute_capability: (9, 0),
    sm_count: 132,
    memory_bytes: 85_028_896_768,
    l2_bytes: 50 << 20,
    persisting_l2_bytes: 32_768_000,
    access_window_bytes: 128 << 20,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 227 << 10,
    shared_bytes_per_sm: 228 << 10,
    reserved_shared_bytes_per_block: 1 << 10,
    registers: 65536,
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    clock_khz: 1_980_000,
    memory_clock_khz: 2_619_000,
    memory_bus_bits: 5120,
    single_to_double: 2,
    copy_engines: 3,
    ecc: true,
    pci_device: 0x2330_10de,
};

/// H200 SXM with 141 GB (*measured*, each field).
pub static H200: Profile = Profile {
    id: "h200",
    name: "NVIDIA H200",
    compute_capability: (9, 0),
    sm_count: 132,
    memory_bytes: 150_109_880_320,
    l2_bytes: 60 << 20,
    persisting_l2_bytes: 39_321_600,
    access_window_bytes: 128 << 20,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 227 << 10,
    shared_bytes_per_sm: 228 << 10,
    reserved_shared_bytes_per_block: 1 << 10,
    registers: 65536,
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    clock_khz: 1_980_000,
    memory_clock_khz: 3_201_000,
    memory_bus_bits: 6016,
    single_to_double: 2,
    copy_engines: 3,
    ecc: true,
    pci_device: 0x2335_10de,
};

/// GeForce RTX 4090 (*Ada*).
pub static RTX4090: Profile = Profile {
    id: "rtx4090",
    name: "NVIDIA GeForce RTX 4090",
    compute_capability: (8, 9),
    sm_count: 128,
    memory_bytes: 25_393_692_672,
    l2_bytes: 72 << 20,
    persisting_l2_bytes: 51_904_512,
    access_window_bytes: 134_213_632,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 99 << 10,
    shared_bytes_per_sm: 100 << 10,
    reserved_shared_bytes_per_block: 1 << 10,
    registers: 65536,
    threads_per_sm: 1536,
    blocks_per_sm: 24,
    clock_khz: 2_520_000,
    memory_clock_khz: 10_501_000,
    memory_bus_bits: 384,
    single_to_double: 64,
    copy_engines: 2,
    ecc: false,
    pci_device: 0x2684_10de,
};

impl Profile {
    /// All of them, oldest architecture first.
    pub const ALL: [&'static Profile; 5] = [&T4, &A100, &RTX4090, &H100, &H200];

    /// The profile of that id.
    pub fn by_name(id: &str) -> Option<&'static Profile> {
        Self::ALL.into_iter().find(|profile| profile.id == id)
    }

    /// The capability as architectures are numbered: 90.
    pub fn architecture(&self) -> u32 {
        self.compute_capability.0 * 10 + self.compute_capability.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_is_found_by_its_id_and_no_other() {
        for profile in Profile::ALL {
            assert_eq!(Profile::by_name(profile.id), Some(profile));
        }
        assert_eq!(Profile::by_name("H200"), None);
        assert_eq!(Profile::by_name(""), None);
    }

    #[test]
    fn a_block_fits_on_a_multiprocessor() {
        for profile in Profile::ALL {
            let block =
                profile.shared_bytes_per_block_optin + profile.reserved_shared_bytes_per_block;
            assert!(block <= profile.shared_bytes_per_sm, "{}", profile.id);
            assert!(MAX_THREADS_PER_BLOCK <= profile.threads_per_sm, "{}", profile.id);
            assert!(profile.architecture() >= 75, "{}", profile.id);
        }
    }
}
