//! Fat binaries that nvcc 13.0 made, with each of its ways to compress, of this kernel for
//! `compute_75` and `compute_90a`:
//!
//! ```cuda
//! __global__ void store(int* out, int value)
//! {
//!     out[threadIdx.x] = value;
//! }
//! ```

use proofrun_emulator::fatbin::{Kind, Portability, images, total_size};
use proofrun_emulator::ptx::parse;

const SAMPLES: [(&str, &[u8]); 3] = [
    ("zstd", include_bytes!("samples/zstd.fatbin")),
    ("LZ4", include_bytes!("samples/lz4.fatbin")),
    ("plain", include_bytes!("samples/plain.fatbin")),
];

#[test]
fn each_compression_gives_the_same_ptx() {
    for (name, bytes) in SAMPLES {
        assert_eq!(total_size(&bytes[..16]), Ok(bytes.len()), "{name}");
        let images = images(bytes).unwrap();
        let heads: Vec<_> = images.iter().map(|i| (i.kind, i.arch, i.portability)).collect();
        let expected = [(Kind::Ptx, 75, Portability::Later), (Kind::Ptx, 90, Portability::Exact)];
        assert_eq!(heads, expected, "{name}");
        for (image, target) in images.iter().zip(["sm_75", "sm_90a"]) {
            let text = image.text().unwrap();
            assert!(!text.contains('\0') && text.trim_end().ends_with('}'), "{name}");
            let module = parse(&text).unwrap();
            assert_eq!((module.version, module.target.as_str()), ((9, 0), target), "{name}");
            let kernel = &module.functions[0];
            assert_eq!((kernel.name.as_str(), kernel.entry), ("_Z5storePii", true));
            let code = &kernel.body.as_ref().unwrap().code;
            let opcodes: Vec<_> = code.iter().map(|one| one.opcode.as_str()).collect();
            assert_eq!(opcodes, ["ld", "ld", "cvta", "mov", "mul", "add", "st", "ret"], "{name}");
        }
    }
}

#[test]
fn every_beginning_is_refused() {
    for (name, bytes) in SAMPLES {
        for length in 0..bytes.len() {
            assert!(images(&bytes[..length]).is_err(), "{name}: {length}");
        }
        let mut longer = bytes.to_vec();
        longer.extend([0xAA; 40]);
        assert_eq!(images(&longer), images(bytes), "{name}");
    }
}
