//! What can be asked of a kernel, and set.

use std::ffi::c_int;

use crate::abi::FunctionAttributes;
use crate::errors::{Code, Outcome};
use crate::launches::max_dynamic;
use crate::occupancy::{Needs, blocks_per_sm, dynamic_shared};
use crate::runtime::Runtime;

// Of `cudaFuncAttribute`.
const MAX_DYNAMIC: c_int = 8;
const CARVEOUT: c_int = 9;
const CLUSTER: std::ops::RangeInclusive<c_int> = 10..=15;

impl Runtime {
    /// `cudaFuncGetAttributes`.
    pub fn function_attributes(&mut self, function: u64) -> Result<FunctionAttributes, Code> {
        let kernel = self.kernel(function)?;
        let facts = &kernel.facts;
        Ok(FunctionAttributes {
            shared_bytes: facts.static_shared_bytes as usize,
            const_bytes: facts.const_bytes as usize,
            local_bytes: facts.local_bytes as usize,
            max_threads: facts.max_threads.cast_signed(),
            registers: facts.registers.cast_signed(),
            ptx_version: kernel.architecture.cast_signed(),
            binary_version: self.profile.architecture().cast_signed(),
            cache_mode: 0,
            max_dynamic_shared_bytes: max_dynamic(self.profile, facts, kernel.settings)
                .cast_signed(),
            carveout: kernel.settings.carveout.unwrap_or(-1),
            cluster_must_be_set: 0,
            required_cluster: [0; 3],
            cluster_policy: 0,
            non_portable_cluster: 0,
            reserved: [0; 16],
        })
    }

    /// `cudaFuncSetAttribute`.
    pub fn set_function_attribute(
        &mut self,
        function: u64,
        attribute: c_int,
        value: c_int,
    ) -> Outcome {
        let kernel = self.kernel(function)?;
        let most = self
            .profile
            .shared_bytes_per_block_optin
            .saturating_sub(kernel.facts.static_shared_bytes);
        let settings = self.registry.settings(function).ok_or(Code::INVALID_HANDLE)?;
        match attribute {
            MAX_DYNAMIC => {
                let bytes = u32::try_from(value).ok().filter(|bytes| *bytes <= most);
                settings.max_dynamic = Some(bytes.ok_or(Code::INVALID_VALUE)?);
            }
            CARVEOUT if (-1..=100).contains(&value) => settings.carveout = Some(value),
            _ if CLUSTER.contains(&attribute) => return Err(Code::NOT_SUPPORTED),
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    }

    /// Blocks of a kernel that a multiprocessor holds at once.
    pub fn resident(
        &mut self,
        function: u64,
        threads: c_int,
        dynamic: usize,
    ) -> Result<c_int, Code> {
        let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0);
        let threads = threads.ok_or(Code::INVALID_VALUE)?;
        let kernel = self.kernel(function)?;
        if dynamic as u64 > u64::from(max_dynamic(self.profile, &kernel.facts, kernel.settings)) {
            return Ok(0);
        }
        let shared_bytes = dynamic as u64 + u64::from(kernel.facts.static_shared_bytes);
        let needs = Needs { threads, shared_bytes, registers: kernel.facts.registers };
        Ok(blocks_per_sm(self.profile, needs).cast_signed())
    }

    /// Dynamic shared memory with which so many blocks fit on a multiprocessor.
    pub fn dynamic_for(
        &mut self,
        function: u64,
        blocks: c_int,
        threads: c_int,
    ) -> Result<usize, Code> {
        let kernel = self.kernel(function)?;
        let most = u64::from(max_dynamic(self.profile, &kernel.facts, kernel.settings));
        let blocks = u32::try_from(blocks).ok().filter(|blocks| *blocks > 0);
        let blocks = blocks.ok_or(Code::INVALID_VALUE)?;
        if self.resident(function, threads, 0)?.cast_unsigned() < blocks {
            return Err(Code::INVALID_VALUE);
        }
        Ok(dynamic_shared(self.profile, blocks, kernel.facts.static_shared_bytes).min(most)
            as usize)
    }
}
