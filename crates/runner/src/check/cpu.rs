//! A backend in this process, for tests: the two kernels of day 75 as Rust, with faults to plant.

use proofrun_core::device::{Capability, DeviceFacts};
use proofrun_core::reference::chain_of;

use crate::device::{Arg, Backend, Buffer, DeviceCode, DeviceError, Launch, Module};

/// What one launch sees: the whole of both buffers as words, where their bodies begin, and the
/// launch's numbers.
pub(super) struct Seen<'a> {
    pub(super) input: &'a mut [f32],
    pub(super) output: &'a mut [f32],
    pub(super) start: usize,
    pub(super) n: usize,
    pub(super) grid: u32,
    pub(super) split: bool,
    pub(super) launches: usize,
}

/// What a launch does after the right values are written.
pub(super) type Plant = fn(&mut Seen<'_>);

pub(super) struct CpuBackend {
    pub(super) plant: Plant,
    /// The launch from 1 whose synchronisation fails; 0 for none.
    pub(super) fails_at: usize,
    buffers: Vec<Option<Vec<u8>>>,
    launches: usize,
}

impl CpuBackend {
    pub(super) fn new(plant: Plant) -> Self {
        Self { plant, fails_at: 0, buffers: Vec::new(), launches: 0 }
    }

    pub(super) fn live_buffers(&self) -> usize {
        self.buffers.iter().flatten().count()
    }

    fn held(&mut self, buffer: Buffer) -> Result<&mut Vec<u8>, DeviceError> {
        let held = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        held.ok_or_else(|| DeviceError::misuse("buffer", "given back"))
    }

    fn words(&mut self, buffer: Buffer) -> Vec<f32> {
        let bytes = self.held(buffer).unwrap();
        bytes.as_chunks::<4>().0.iter().map(|word| f32::from_ne_bytes(*word)).collect()
    }

    fn put(&mut self, buffer: Buffer, words: &[f32]) {
        let bytes = self.held(buffer).unwrap();
        for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *to = word.to_ne_bytes();
        }
    }
}

impl Backend for CpuBackend {
    fn facts(&mut self) -> Result<DeviceFacts, DeviceError> {
        Ok(DeviceFacts {
            name: "emulation for tests".to_owned(),
            compute_capability: Capability { major: 8, minor: 0 },
            sm_count: 132,
            l2_bytes: 1,
            memory_bytes: 1,
            driver: "none".to_owned(),
        })
    }

    fn load(&mut self, _code: &DeviceCode) -> Result<Module, DeviceError> {
        Ok(Module(0))
    }

    fn allocate(&mut self, bytes: usize) -> Result<Buffer, DeviceError> {
        self.buffers.push(Some(vec![0; bytes]));
        Ok(Buffer(self.buffers.len() - 1))
    }

    fn free(&mut self, buffer: Buffer) -> Result<(), DeviceError> {
        self.held(buffer)?;
        self.buffers[buffer.0] = None;
        Ok(())
    }

    fn upload(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.held(buffer)?[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn download(&mut self, buffer: Buffer) -> Result<Vec<u8>, DeviceError> {
        Ok(self.held(buffer)?.clone())
    }

    fn fill(&mut self, buffer: Buffer, byte: u8) -> Result<(), DeviceError> {
        self.held(buffer)?.fill(byte);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), DeviceError> {
        let [
            Arg::Address { buffer: input, offset },
            Arg::Address { buffer: output, offset: same },
            Arg::U64(n),
        ] = *launch.args
        else {
            panic!("not the arguments of day 75: {:?}", launch.args);
        };
        assert_eq!((offset, launch.block), (same, 256));
        assert!(offset > 0 && launch.grid as usize <= (n as usize).div_ceil(1024));
        let split = match launch.entry {
            "_Z19pipelineSyncthreadsPKfPfm" => false,
            "_Z20pipelineSplitBarrierPKfPfm" => true,
            other => panic!("no such kernel: {other}"),
        };
        self.launches += 1;
        let (mut in_words, mut out_words) = (self.words(input), self.words(output));
        let (start, n) = (offset / 4, n as usize);
        for at in start..start + n {
            out_words[at] = chain_of(in_words[at]);
        }
        (self.plant)(&mut Seen {
            input: &mut in_words,
            output: &mut out_words,
            start,
            n,
            grid: launch.grid,
            split,
            launches: self.launches,
        });
        self.put(input, &in_words);
        self.put(output, &out_words);
        Ok(())
    }

    fn synchronise(&mut self) -> Result<(), DeviceError> {
        if self.fails_at != 0 && self.launches >= self.fails_at {
            let (code, text) = ("CUDA_ERROR_ILLEGAL_ADDRESS".to_owned(), "planted".to_owned());
            return Err(DeviceError::of_code("cuStreamSynchronize", 700, code, text));
        }
        Ok(())
    }
}
