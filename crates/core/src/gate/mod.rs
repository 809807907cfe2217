//! The gate: may this build run on this host, and if not, why.
//!
//! **Invariant: what is gated is neither failed nor passed.** Pure: the needs come from the
//! manifest, the code from the build, the host from the runner's probe. "Toolkit too new for this
//! driver" is found here, before a program prints half of its lines and stops.

mod versions;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::arch::Arch;
use crate::argv::{self, BuildCommand};
use crate::device::{Capability, DeviceFacts};

pub use versions::{
    CudaVersion, IsaVersion, NotAVersion, newest_isa_of, oldest_driver_of, too_new,
};

/// What the runner found when it asked for devices, each outcome its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Probe {
    /// The driver's library is not on this host, or does not load.
    NoDriver,
    /// The driver answers, and shows no device (none is there, or `CUDA_VISIBLE_DEVICES` hides
    /// them).
    DriverWithoutDevice,
    /// The driver is there and does not work.
    DriverBroken {
        /// The call and what it answered, or how the probing process ended.
        detail: String,
    },
    /// At least one device, in the driver's order.
    Devices {
        /// The devices.
        devices: Vec<Device>,
    },
}

/// One device of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The driver's ordinal in this environment.
    pub index: u32,
    /// What the driver says of it.
    pub facts: DeviceFacts,
    /// The newest CUDA release whose interface the driver offers: `13.0`.
    pub cuda: CudaVersion,
    /// SHA-256 of the identifier as `GPU-…` in lower case: tells cards apart without naming one.
    pub uuid: Digest,
}

impl Probe {
    /// The devices; none for every other outcome.
    pub fn devices(&self) -> &[Device] {
        match self {
            Self::Devices { devices } => devices,
            Self::NoDriver | Self::DriverWithoutDevice | Self::DriverBroken { .. } => &[],
        }
    }
}

/// What a lesson asks of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// The floor of the compute capability.
    pub capability: Capability,
    /// How many devices.
    pub gpus: u32,
}

/// What an executable or a module carries for the device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarriedCode {
    /// Native code, by the architecture that it was assembled for.
    pub native: Vec<Arch>,
    /// PTX: its ISA version, and the architecture that it targets.
    pub ptx: Option<(IsaVersion, Arch)>,
    /// The release of the CUDA runtime that is linked in, where one is.
    pub runtime: Option<CudaVersion>,
}

impl CarriedCode {
    /// What a build carries: machine code as its command says, PTX as it was made, and the runtime
    /// of the toolkit that built it.
    pub fn of_build(command: &BuildCommand, ptx: &str, runtime: Option<CudaVersion>) -> Self {
        let native = command.codes().iter().filter_map(|code| match code {
            argv::Code::Real(arch) => Some(*arch),
            argv::Code::Virtual(_) => None,
        });
        let made = Self::of_ptx(ptx).unwrap_or_default();
        Self { native: native.collect(), ptx: made.ptx, runtime }
    }

    /// The code of a module of PTX text; nothing if it does not say its version and target.
    pub fn of_ptx(ptx: &str) -> Option<Self> {
        let isa = IsaVersion::of_ptx(ptx)?;
        let mut lines = ptx.lines().take(1000).map(str::trim);
        let targets = lines.find_map(|line| line.strip_prefix(".target"))?;
        let arch = targets.split(',').next()?.trim().parse().ok()?;
        Some(Self { native: Vec::new(), ptx: Some((isa, arch)), runtime: None })
    }
}

/// The answer for one build on one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Go, and how the code comes onto the card.
    Runnable(Path),
    /// Not here, and why: a fragment such as `needs 8.0, this is 7.5`.
    Gated(String),
}

/// How code comes onto a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Native code, assembled for this architecture.
    Native(Arch),
    /// The driver compiles the PTX.
    CompiledByDriver,
}

/// Whether `code` may run on the device `index` of this host.
pub fn gate(needs: Needs, code: &CarriedCode, probe: &Probe, index: u32) -> Gate {
    let judged = admits(needs, probe, index)
        .and_then(|device| path(code, device.facts.compute_capability, device.cuda));
    judged.map_or_else(Gate::Gated, Gate::Runnable)
}

/// The half of [`gate`] that can be judged before there is a build: the device, if this host and it
/// are what the lesson needs.
///
/// # Errors
/// Why not, as in [`Gate::Gated`].
pub fn admits(needs: Needs, probe: &Probe, index: u32) -> Result<&Device, String> {
    let found = match probe {
        Probe::NoDriver => return Err("no device: this host has no NVIDIA driver".to_owned()),
        Probe::DriverWithoutDevice => return Err("no device: the driver shows none".to_owned()),
        Probe::DriverBroken { detail } => return Err(format!("driver broken: {detail}")),
        Probe::Devices { devices } => devices,
    };
    let Some(device) = found.iter().find(|device| device.index == index) else {
        return Err(format!("no device {index}: this host shows {}", found.len()));
    };
    let capable =
        found.iter().filter(|device| device.facts.compute_capability >= needs.capability).count();
    let this = device.facts.compute_capability;
    if this < needs.capability {
        return Err(format!("needs {}, this is {this}", needs.capability));
    }
    if capable < needs.gpus as usize {
        return Err(format!("needs {} devices, this host has {capable}", needs.gpus));
    }
    Ok(device)
}

/// How the code comes onto a card of this capability under a driver of this release, or why it
/// doesn't.
fn path(code: &CarriedCode, this: Capability, driver: CudaVersion) -> Result<Path, String> {
    // A runtime of a newer major release refuses an older driver whatever the code is; within a
    // major release native code still runs (CUDA Compatibility guide, "minor version
    // compatibility").
    if let Some(runtime) = code.runtime.filter(|runtime| runtime.major > driver.major) {
        return Err(format!(
            "toolkit too new for this driver: runtime {runtime} is linked in, the driver is of \
             {driver}"
        ));
    }
    let fitting = code.native.iter().copied().filter(|arch| arch.runs_on(this));
    if let Some(native) = fitting.max_by_key(|arch| arch.capability) {
        return Ok(Path::Native(native));
    }
    let Some((isa, target)) = code.ptx else {
        let held: Vec<String> = code.native.iter().map(|arch| format!("sm_{arch}")).collect();
        let held = if held.is_empty() { "none".to_owned() } else { held.join(", ") };
        return Err(format!("no code for {this}: native code for {held}, no PTX"));
    };
    if !target.compiles_for(this) {
        return Err(format!("no code for {this}: the PTX is for compute_{target}"));
    }
    match too_new(isa, driver) {
        Some(why) => Err(format!("toolkit too new for this driver: {why}")),
        None => Ok(Path::CompiledByDriver),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32, capability: &str, cuda: &str) -> Device {
        let facts = DeviceFacts {
            name: "NVIDIA Test".to_owned(),
            compute_capability: capability.parse().unwrap(),
            sm_count: 4,
            l2_bytes: 1 << 20,
            memory_bytes: 1 << 30,
            driver: "1.2.3".to_owned(),
        };
        Device { index, facts, cuda: cuda.parse().unwrap(), uuid: Digest::of([index as u8]) }
    }

    /// The code of `nvcc -arch=sm_MM`: native code for it and PTX of the toolkit's ISA.
    fn built(arch: &str, isa: &str, toolkit: &str) -> CarriedCode {
        let arch: Arch = arch.parse().unwrap();
        CarriedCode {
            native: vec![arch],
            ptx: Some((isa.parse().unwrap(), arch)),
            runtime: Some(toolkit.parse().unwrap()),
        }
    }

    fn check(code: &CarriedCode, card: &str, driver: &str, expect: Result<&str, &str>) {
        let needs = Needs { capability: "8.0".parse().unwrap(), gpus: 1 };
        let probe = Probe::Devices { devices: vec![device(0, card, driver)] };
        let got = match gate(needs, code, &probe, 0) {
            Gate::Runnable(Path::Native(on)) => Ok(format!("native sm_{on}")),
            Gate::Runnable(Path::CompiledByDriver) => Ok("compiled".to_owned()),
            Gate::Gated(why) => Err(why),
        };
        assert_eq!(got, expect.map(str::to_owned).map_err(str::to_owned), "{card} {driver}");
    }

    #[test]
    fn native_code_needs_no_compiler_in_the_driver() {
        let cuda13 = built("sm_80", "9.0", "13.0");
        check(&cuda13, "8.0", "13.0", Ok("native sm_80"));
        check(&cuda13, "8.6", "13.0", Ok("native sm_80"));
        check(&cuda13, "9.0", "13.0", Ok("compiled"));
        check(&cuda13, "12.0", "13.1", Ok("compiled"));
        let too_new = built("sm_80", "9.1", "13.1");
        check(&too_new, "8.9", "13.0", Ok("native sm_80"));
        let why =
            "toolkit too new for this driver: PTX ISA 9.1 needs CUDA 13.1, the driver is of 13.0";
        check(&too_new, "9.0", "13.0", Err(why));
        // 13.5 is not in the table; what it writes is newer than anything an older driver reads.
        let unknown = built("sm_80", "9.7", "13.5");
        let why = "toolkit too new for this driver: PTX ISA 9.7 is newer than the 9.0 of CUDA 13.0";
        check(&unknown, "9.0", "13.0", Err(why));
        // A driver newer than the table may read it; the load itself tells.
        check(&unknown, "9.0", "13.5", Ok("compiled"));
    }

    #[test]
    fn the_runtime_asks_for_a_driver_of_its_own_generation() {
        let why =
            "toolkit too new for this driver: runtime 13.0 is linked in, the driver is of 12.9";
        check(&built("sm_80", "9.0", "13.0"), "8.0", "12.9", Err(why));
        check(&built("sm_80", "8.5", "12.6"), "8.0", "12.2", Ok("native sm_80"));
        let module = CarriedCode { runtime: None, ..built("sm_80", "9.0", "13.0") };
        let why =
            "toolkit too new for this driver: PTX ISA 9.0 needs CUDA 13.0, the driver is of 12.9";
        check(&module, "9.0", "12.9", Err(why));
    }

    #[test]
    fn code_must_fit_the_card() {
        let cuda13 = built("sm_80", "9.0", "13.0");
        check(&cuda13, "7.5", "13.0", Err("needs 8.0, this is 7.5"));
        let newer = built("sm_90", "9.0", "13.0");
        check(&newer, "8.6", "13.0", Err("no code for 8.6: the PTX is for compute_90"));
        let minor = built("sm_86", "9.0", "13.0");
        check(&minor, "8.0", "13.0", Err("no code for 8.0: the PTX is for compute_86"));
        let special = built("sm_90a", "9.0", "13.0");
        check(&special, "9.0", "13.0", Ok("native sm_90a"));
        check(&special, "10.0", "13.0", Err("no code for 10.0: the PTX is for compute_90a"));
        let bare = CarriedCode { ptx: None, ..cuda13 };
        check(&bare, "9.0", "13.0", Err("no code for 9.0: native code for sm_80, no PTX"));
        check(
            &CarriedCode::default(),
            "9.0",
            "13.0",
            Err("no code for 9.0: native code for none, no PTX"),
        );
    }

    #[test]
    fn a_module_of_ptx_says_what_it_needs() {
        let code =
            CarriedCode::of_ptx("//\n.version 9.0\n.target sm_80, debug\n.address_size 64\n")
                .unwrap();
        assert_eq!(
            code,
            CarriedCode { native: vec![], runtime: None, ..built("sm_80", "9.0", "13.0") }
        );
        assert_eq!(CarriedCode::of_ptx(".version 9.0\n"), None);
        assert_eq!(CarriedCode::of_ptx(".target sm_80\n"), None);
    }

    #[test]
    fn each_outcome_of_the_probe_has_its_reason() {
        let code = built("sm_80", "9.0", "13.0");
        let needs = Needs { capability: "8.0".parse().unwrap(), gpus: 2 };
        let mixed = vec![device(0, "9.0", "13.0"), device(1, "7.5", "13.0")];
        for (probe, index, expect) in [
            (Probe::NoDriver, 0, "no device: this host has no NVIDIA driver"),
            (Probe::DriverWithoutDevice, 0, "no device: the driver shows none"),
            (Probe::DriverBroken { detail: "x".into() }, 0, "driver broken: x"),
            (Probe::Devices { devices: mixed.clone() }, 7, "no device 7: this host shows 2"),
            (Probe::Devices { devices: mixed.clone() }, 1, "needs 8.0, this is 7.5"),
            (Probe::Devices { devices: mixed }, 0, "needs 2 devices, this host has 1"),
        ] {
            assert_eq!(gate(needs, &code, &probe, index), Gate::Gated(expect.to_owned()));
        }
        let two =
            Probe::Devices { devices: vec![device(0, "9.0", "13.0"), device(1, "8.0", "13.0")] };
        assert_eq!(gate(needs, &code, &two, 0), Gate::Runnable(Path::CompiledByDriver));
    }
}
