//! Launches: what the driver refuses, the parameters as they lie in memory, and what comes of it.

use proofrun_emulator::finding::{Finding, Kind, Severity};
use proofrun_emulator::machine::{KernelFacts, Launch};
use proofrun_emulator::profile::{MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, Profile};
use proofrun_emulator::report::{Event, LaunchEnd, LaunchReport};

use crate::errors::{Code, Outcome};
use crate::host;
use crate::occupancy::{Needs, blocks_per_sm};
use crate::registry::{Kernel, Settings};
use crate::report::about_call;
use crate::runtime::Runtime;

/// A launch as a program asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The kernel, by the address of its host stub.
    pub function: u64,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory. The driver takes the lower 32 bits, on an H200 with driver 580.
    pub dynamic_shared_bytes: usize,
    /// The stream.
    pub stream: u64,
    /// The addresses of the parameters.
    pub arguments: u64,
    /// Whether all blocks must be resident.
    pub cooperative: bool,
}

/// Why a launch is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub code: Code,
    /// The reason, to follow a colon.
    pub why: String,
}

/// The most dynamic shared memory a kernel takes as it is set.
pub fn max_dynamic(profile: &Profile, facts: &KernelFacts, settings: Settings) -> u32 {
    let default = profile.shared_bytes_per_block.saturating_sub(facts.static_shared_bytes);
    settings.max_dynamic.unwrap_or(default)
}

/// What the driver refuses, with the codes an H200 with driver 580 returns. CUDA before 13 says 9
/// (`cudaErrorInvalidConfiguration`) for some of these.
pub fn refusal(profile: &Profile, kernel: &Kernel, request: &Request) -> Option<Refusal> {
    let refuse = |why: String| Some(Refusal { code: Code::INVALID_VALUE, why });
    for (axis, index) in ["x", "y", "z"].into_iter().zip(0..) {
        let (blocks, threads) = (request.grid[index], request.block[index]);
        if blocks == 0 || threads == 0 {
            return refuse(format!(
                "no {} in {axis}",
                if blocks == 0 { "blocks" } else { "threads" }
            ));
        }
        if blocks > MAX_GRID[index] {
            return refuse(format!(
                "{blocks} blocks in {axis}, and a grid takes {}",
                MAX_GRID[index]
            ));
        }
        if threads > MAX_BLOCK[index] {
            return refuse(format!(
                "{threads} threads in {axis}, and a block takes {}",
                MAX_BLOCK[index]
            ));
        }
    }
    let threads = request.block.iter().product::<u32>();
    let most = kernel.facts.max_threads.min(MAX_THREADS_PER_BLOCK);
    if threads > most {
        return refuse(format!("{threads} threads in a block, and the kernel takes {most}"));
    }
    let (dynamic, most) =
        (request.dynamic_shared_bytes as u32, max_dynamic(profile, &kernel.facts, kernel.settings));
    if dynamic > most {
        return refuse(format!(
            "{dynamic} bytes of dynamic shared memory, and the kernel takes {most}; \
             cudaFuncAttributeMaxDynamicSharedMemorySize raises that up to {}",
            profile.shared_bytes_per_block_optin.saturating_sub(kernel.facts.static_shared_bytes)
        ));
    }
    too_many_blocks(profile, kernel, request, threads, dynamic)
}

/// The blocks of a cooperative launch must all be resident at once.
fn too_many_blocks(
    profile: &Profile,
    kernel: &Kernel,
    request: &Request,
    threads: u32,
    dynamic: u32,
) -> Option<Refusal> {
    let shared_bytes = u64::from(dynamic) + u64::from(kernel.facts.static_shared_bytes);
    let needs = Needs { threads, shared_bytes, registers: kernel.facts.registers };
    let resident = u64::from(blocks_per_sm(profile, needs)) * u64::from(profile.sm_count);
    let blocks: u64 = request.grid.iter().map(|blocks| u64::from(*blocks)).product();
    (request.cooperative && blocks > resident).then(|| Refusal {
        code: Code::COOPERATIVE_TOO_LARGE,
        why: format!(
            "{blocks} blocks in a cooperative launch, and the device holds {resident} at once"
        ),
    })
}

impl Runtime {
    /// Launches a kernel and runs it to its end. A fault in it is returned by a later call.
    pub fn launch(&mut self, request: &Request) -> Outcome {
        self.show_printed();
        self.streams.get(request.stream)?;
        let kernel = self.kernel(request.function)?;
        let index = self.launches;
        self.launches += 1;
        self.launched = Some((index, kernel.name.clone()));
        if let Some(refusal) = refusal(self.profile, &kernel, request) {
            self.refuse(&kernel, request, index, &refusal);
            return Err(refusal.code);
        }
        let params = parameters(&kernel.facts, request.arguments).ok_or(Code::INVALID_VALUE)?;
        let launched = self.machine.launch(&Launch {
            kernel: kernel.id,
            grid: request.grid,
            block: request.block,
            dynamic_shared_bytes: request.dynamic_shared_bytes as u32,
            params: &params,
            cooperative: request.cooperative,
        });
        self.reporter.event(&Event::Launch(LaunchReport { index, ..launched.report }));
        self.tell_all(launched.findings, Some(index));
        if let Some(fault) = launched.fault {
            self.fault(Code::from(&fault));
        }
        Ok(())
    }

    fn refuse(&mut self, kernel: &Kernel, request: &Request, index: u64, refusal: &Refusal) {
        let message =
            format!("the launch was refused with {}: {}", refusal.code.name(), refusal.why);
        self.reporter.finding(Finding {
            kernel: Some(kernel.name.clone()),
            launch: Some(index),
            ..about_call(Kind::Api, Severity::Error, message)
        });
        self.reporter.event(&Event::Launch(LaunchReport {
            index,
            kernel: kernel.name.clone(),
            grid: request.grid,
            block: request.block,
            dynamic_shared_bytes: request.dynamic_shared_bytes as u32,
            end: LaunchEnd::Refused,
            steps: 0,
            schedules: 0,
        }));
    }
}

/// The parameters as the kernel has them, from the addresses the program gives; `None` where one
/// isn't there.
fn parameters(facts: &KernelFacts, arguments: u64) -> Option<Vec<u8>> {
    let mut all = vec![0; facts.param_bytes as usize];
    if facts.params.is_empty() {
        return Some(all);
    }
    let addresses = host::read(arguments, facts.params.len() * 8).filter(|_| arguments != 0)?;
    for ((offset, bytes), address) in facts.params.iter().zip(addresses.chunks_exact(8)) {
        let address = u64::from_ne_bytes(address.try_into().ok()?);
        let value = host::read(address, *bytes as usize).filter(|_| address != 0)?;
        all.get_mut(*offset as usize..*offset as usize + value.len())?.copy_from_slice(&value);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofrun_emulator::machine::{KernelId, ModuleId};
    use proofrun_emulator::profile::{H200, T4};

    fn kernel(static_shared_bytes: u32, max_threads: u32) -> Kernel {
        Kernel {
            id: KernelId { module: ModuleId(0), index: 0 },
            name: "k".to_owned(),
            facts: KernelFacts {
                name: "k".to_owned(),
                params: vec![(0, 4), (8, 8)],
                param_bytes: 16,
                static_shared_bytes,
                local_bytes: 0,
                const_bytes: 0,
                registers: 0,
                max_threads,
            },
            settings: Settings::default(),
            architecture: 75,
        }
    }

    fn request(grid: [u32; 3], block: [u32; 3], dynamic_shared_bytes: usize) -> Request {
        Request {
            function: 0,
            grid,
            block,
            dynamic_shared_bytes,
            stream: 0,
            arguments: 0,
            cooperative: false,
        }
    }

    fn code(kernel: &Kernel, request: &Request) -> i32 {
        refusal(&H200, kernel, request).map_or(0, |refusal| refusal.code.0)
    }

    /// The cases and answers of `tests/hardware`.
    #[test]
    fn the_limits_are_the_devices() {
        let plain = kernel(0, 1024);
        for (grid, block, shared, expected) in [
            ([1, 1, 1], [1, 1, 1], 0, 0),
            ([0, 1, 1], [1, 1, 1], 0, 1),
            ([1, 1, 1], [0, 1, 1], 0, 1),
            ([1, 1, 1], [1024, 1, 1], 0, 0),
            ([1, 1, 1], [1025, 1, 1], 0, 1),
            ([1, 1, 1], [1, 1, 64], 0, 0),
            ([1, 1, 1], [1, 1, 65], 0, 1),
            ([1, 1, 1], [1, 1025, 1], 0, 1),
            ([1, 1, 1], [64, 64, 1], 0, 1),
            ([0x7fff_ffff, 1, 1], [32, 1, 1], 0, 0),
            ([0x8000_0000, 1, 1], [1, 1, 1], 0, 1),
            ([1, 65535, 1], [1, 1, 1], 0, 0),
            ([1, 65536, 1], [1, 1, 1], 0, 1),
            ([1, 1, 65536], [1, 1, 1], 0, 1),
            ([1, 1, 1], [32, 1, 1], 49152, 0),
            ([1, 1, 1], [32, 1, 1], 49153, 1),
            ([1, 1, 1], [32, 1, 1], 1 << 33, 0),
        ] {
            let got = code(&plain, &request(grid, block, shared));
            assert_eq!(got, expected, "{grid:?} {block:?} {shared}");
        }
    }

    #[test]
    fn a_kernel_has_limits_of_its_own() {
        let one = [1, 1, 1];
        assert_eq!(code(&kernel(0, 128), &request(one, [128, 1, 1], 0)), 0);
        assert_eq!(code(&kernel(0, 128), &request(one, [129, 1, 1], 0)), 1);
        let shared = kernel(16384, 1024);
        assert_eq!(code(&shared, &request(one, [32, 1, 1], 32768)), 0);
        assert_eq!(code(&shared, &request(one, [32, 1, 1], 32769)), 1);
        let raised =
            Kernel { settings: Settings { max_dynamic: Some(100_000), carveout: None }, ..shared };
        assert_eq!(code(&raised, &request(one, [32, 1, 1], 100_000)), 0);
        assert_eq!(code(&raised, &request(one, [32, 1, 1], 100_001)), 1);
    }

    #[test]
    fn a_cooperative_launch_is_resident() {
        let cooperative = |blocks, threads| Request {
            cooperative: true,
            ..request([blocks, 1, 1], [threads, 1, 1], 0)
        };
        let plain = kernel(0, 1024);
        assert_eq!(code(&plain, &cooperative(132 * 32, 64)), 0);
        assert_eq!(code(&plain, &cooperative(132 * 32 + 1, 64)), 720);
        assert_eq!(code(&plain, &cooperative(132 * 2, 1024)), 0);
        assert_eq!(code(&plain, &cooperative(132 * 2 + 1, 1024)), 720);
        assert!(refusal(&T4, &plain, &cooperative(41, 1024)).is_some());
    }

    #[test]
    fn parameters_lie_where_the_kernel_reads_them() {
        let (a, b) = (7_u32, 0x1122_3344_5566_7788_u64);
        let addresses = [&raw const a as u64, &raw const b as u64];
        let facts = kernel(0, 1024).facts;
        let params = parameters(&facts, addresses.as_ptr() as u64).unwrap();
        assert_eq!(params[..4], 7_u32.to_le_bytes());
        assert_eq!(params[8..], b.to_le_bytes());
        assert_eq!(parameters(&facts, 0), None);
        assert_eq!(parameters(&facts, [&raw const a as u64, 8].as_ptr() as u64), None);
    }
}
