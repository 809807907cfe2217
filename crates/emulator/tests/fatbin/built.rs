//! Fat binaries that are built here.

use proofrun_emulator::fatbin::{FatbinError, Kind, best_ptx, images, total_size};

use super::build::{Entry, fatbin};

const EXACT: u64 = 0x10_0000;
const FAMILY: u64 = 0x20_0000;

fn text() -> String {
    (0..500).map(|n| format!("// line {n} of a text that shrinks\n")).collect()
}

#[test]
fn images_and_their_packing() {
    let text = text();
    let plain = Entry::ptx(80, &text);
    let machine = Entry { kind: 2, payload: vec![7; 24], ..Entry::ptx(90, "") };
    let linked = Entry { kind: 8, ..machine.clone() };
    let longer = Entry { header: 120, ..plain.clone() };
    let entries =
        [plain.clone(), plain.clone().zstd(), plain.lz4(), longer.zstd(), machine, linked];
    let bytes = fatbin(&entries);
    let images = images(&bytes).unwrap();
    assert!(images[..4].iter().all(|image| image.text().as_deref() == Ok(&text)));
    assert_eq!((images[4].kind, images[4].bytes()), (Kind::Elf, Ok(vec![7; 24])));
    assert_eq!(images[5].kind, Kind::Other(8));
    let names: Vec<_> = images.iter().map(|image| image.architecture()).collect();
    assert_eq!(names[3..5], ["compute_80", "sm_90"]);
    assert!(entries[1].payload.len() < text.len() / 2 && entries[2].payload.len() < text.len() / 2);
}

#[test]
fn a_text_ends_before_its_nuls_and_may_be_of_any_encoding() {
    let mut entry = Entry::ptx(80, "a\0b\0\0\0");
    assert_eq!(images(&fatbin(&[entry.clone()])).unwrap()[0].text().as_deref(), Ok("a\0b"));
    entry.payload = b"\xE9x\0".to_vec();
    assert_eq!(images(&fatbin(&[entry.clone()])).unwrap()[0].text().as_deref(), Ok("\u{FFFD}x"));
    entry.payload = vec![0; 8];
    assert_eq!(images(&fatbin(&[entry])).unwrap()[0].text().as_deref(), Ok(""));
}

/// The name of the architecture whose PTX a device would get, and its place among the images.
fn best(entries: &[Entry], device: (u32, u32)) -> Option<(String, usize)> {
    let bytes = fatbin(entries);
    let images = images(&bytes).unwrap();
    let best = best_ptx(&images, device)?;
    let place = images.iter().position(|image| std::ptr::eq(image, best))?;
    Some((best.architecture(), place))
}

#[test]
fn the_best_ptx() {
    let arch = |arch, flag| {
        let entry = Entry::ptx(arch, "");
        Entry { flags: entry.flags | flag, ..entry }
    };
    let machine = Entry { kind: 2, ..arch(100, 0) };
    let entries = [
        arch(100, FAMILY),
        arch(75, 0),
        arch(90, EXACT),
        arch(80, 0),
        machine,
        arch(80, 0),
        arch(90, 0),
        arch(103, EXACT),
    ];
    let cases = [
        ((7, 0), None),
        ((7, 5), Some(("compute_75", 1))),
        ((8, 0), Some(("compute_80", 3))),
        ((8, 9), Some(("compute_80", 3))),
        ((9, 0), Some(("compute_90a", 2))),
        ((10, 0), Some(("compute_100f", 0))),
        ((10, 1), Some(("compute_100f", 0))),
        ((10, 3), Some(("compute_103a", 7))),
        ((11, 0), Some(("compute_90", 6))),
        ((12, 0), Some(("compute_90", 6))),
        ((u32::MAX, 0), None),
    ];
    for (device, expected) in cases {
        let expected = expected.map(|(name, place)| (name.to_owned(), place));
        assert_eq!(best(&entries, device), expected, "{device:?}");
    }
    assert_eq!(best(&[], (9, 0)), None);
}

#[test]
fn headers_that_are_wrong() {
    let good = fatbin(&[Entry::ptx(80, "12345678")]);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        images(&changed).map(|_| ()).unwrap_err()
    };
    assert_eq!(total_size(&good[..15]), Err(FatbinError::Short("its header")));
    assert_eq!(with(0, &[1, 2, 3, 4]), FatbinError::Magic(0x0403_0201));
    assert_eq!(with(4, &[2]), FatbinError::Version { version: 2, header: 16 });
    assert_eq!(with(6, &[24]), FatbinError::Version { version: 1, header: 24 });
    let whole = FatbinError::Size { what: "the whole", bytes: u64::MAX };
    assert_eq!(with(8, &[0xFF; 8]), whole);
    assert_eq!(with(8, &[73]), FatbinError::Short("its images"));
    assert_eq!(with(8, &[71]), FatbinError::Size { what: "an image", bytes: 8 });
    assert_eq!(with(8, &[40]), FatbinError::Short("an image's header"));
    let header = FatbinError::Size { what: "an image's header", bytes: 63 };
    assert_eq!(with(16 + 4, &[63]), header);
    assert_eq!(with(16 + 4, &[0xFF]), FatbinError::Short("an image's header"));
    assert_eq!(with(16 + 8, &[9]), FatbinError::Size { what: "an image", bytes: 9 });
    assert_eq!(with(16 + 16, &[8]), FatbinError::Compression { flags: 0x11 });
    assert_eq!(with(16 + 41, &[0xA0]), FatbinError::Compression { flags: 0xA011 });
}

/// What unpacking an image says.
fn unpacked(entry: Entry) -> Result<Vec<u8>, FatbinError> {
    images(&fatbin(&[entry])).unwrap()[0].bytes()
}

#[test]
fn sizes_must_be_those_of_the_data() {
    let text = text();
    let entry = Entry::ptx(80, &text);
    for packed in [entry.clone().zstd(), entry.lz4()] {
        assert_eq!(unpacked(packed.clone()).map(|bytes| bytes.len()), Ok(text.len()));
        for raw in [0, 1, packed.raw - 1, packed.raw + 1, packed.raw * 2] {
            let wrong = Entry { raw, ..packed.clone() };
            assert!(matches!(unpacked(wrong), Err(FatbinError::Corrupt { .. })), "{raw}");
        }
        let cut = Entry { compressed: packed.compressed - 1, ..packed.clone() };
        assert!(matches!(unpacked(cut), Err(FatbinError::Corrupt { .. })));
        let too_much = Entry { compressed: packed.payload.len() as u32 + 1, ..packed.clone() };
        assert!(matches!(images(&fatbin(&[too_much])), Err(FatbinError::Size { .. })));
        for raw in [u64::MAX, 1 << 40, (256 << 20) + 1] {
            let wrong = Entry { raw, ..packed.clone() };
            let size = FatbinError::Size { what: "an unpacked image", bytes: raw };
            assert_eq!(unpacked(wrong), Err(size));
        }
    }
}
