//! Fat binaries that mean harm: whatever they are, reading them ends soon, and in a result.

use std::time::{Duration, Instant};

use proofrun_emulator::fatbin::{best_ptx, images, total_size};
use proptest::prelude::*;

use super::build::{Entry, fatbin};

/// Far longer than any of these takes, with optimisation or without.
const LIMIT: Duration = Duration::from_secs(10);

fn ends_soon(bytes: &[u8]) {
    let start = Instant::now();
    drop(total_size(bytes));
    if let Ok(images) = images(bytes) {
        best_ptx(&images, (9, 0));
        for image in &images {
            if let Ok(unpacked) = image.bytes() {
                assert!(unpacked.len() <= 256 << 20);
            }
            drop(image.text());
        }
    }
    assert!(start.elapsed() < LIMIT, "{} bytes took {:?}", bytes.len(), start.elapsed());
}

fn samples() -> Vec<Vec<u8>> {
    let text: String = (0..40).map(|n| format!("add.u32 %r{n}, %r{n}, {n};\n")).collect();
    let entry = Entry::ptx(80, &text);
    let many = [entry.clone(), entry.clone().zstd(), entry.lz4()];
    vec![
        include_bytes!("samples/zstd.fatbin").to_vec(),
        include_bytes!("samples/lz4.fatbin").to_vec(),
        include_bytes!("samples/plain.fatbin").to_vec(),
        fatbin(&many),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(
        sample in 0..4usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        near_headers in any::<bool>(),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = samples().swap_remove(sample);
        for (at, byte) in changes {
            let room = if near_headers { bytes.len().min(100) } else { bytes.len() };
            bytes[at.index(room)] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        ends_soon(&bytes);
    }

    #[test]
    fn spliced(
        samples_of in (0..4usize, 0..4usize),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (first, second) = (&samples()[samples_of.0], &samples()[samples_of.1]);
        let mut bytes = first[..cuts.0.index(first.len())].to_vec();
        bytes.extend(&second[cuts.1.index(second.len())..]);
        ends_soon(&bytes);
    }

    #[test]
    fn any_compressed_data(
        data in prop::collection::vec(any::<u8>(), 0..400),
        zstd in any::<bool>(),
        raw in any::<u32>(),
    ) {
        let mut data = data;
        if zstd {
            data.splice(0..0, [0x28, 0xB5, 0x2F, 0xFD]);
        }
        let flag = if zstd { 0x8000 } else { 0x2000 };
        let raw = raw as usize % (4 << 20);
        ends_soon(&fatbin(&[Entry::ptx(80, "").packed(flag, &data, raw)]));
    }
}

/// A frame of blocks that say "131,072 times this byte" in four bytes each.
fn bomb(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
    for block in 1..=blocks {
        let last = u32::from(block == blocks);
        let header = (0x2_0000u32 << 3) | (1 << 1) | last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'x');
    }
    frame
}

#[test]
fn what_unpacks_to_far_too_much_is_refused() {
    let length = |blocks: usize| blocks * 0x2_0000;
    let image = |blocks: usize, raw: usize| {
        fatbin(&[Entry::ptx(80, "").packed(0x8000, &bomb(blocks), raw)])
    };
    // The frame is right: a small one is unpacked.
    let small = image(8, length(8));
    assert_eq!(images(&small).unwrap()[0].bytes().map(|bytes| bytes.len()), Ok(length(8)));
    for raw in [length(4096), 100] {
        let bytes = image(4096, raw);
        assert!(images(&bytes).unwrap()[0].bytes().is_err());
        ends_soon(&bytes);
    }
}
