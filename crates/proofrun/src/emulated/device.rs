//! The emulated devices by name, and what of them a lesson is compared with.

use proofrun_core::argv::{Arch, Code};
use proofrun_core::{Capability, DeviceFacts};
use proofrun_emulator::profile::Profile;
use proofrun_runner::emulate::{self, LIBRARY_VARIABLE, Library};

use crate::context::Context;
use crate::error::Error;

/// The library of the emulated device.
///
/// # Errors
/// When there is none.
pub fn library(context: &Context) -> Result<Library, emulate::Error> {
    let named = context.variable(LIBRARY_VARIABLE).map(|path| context.cwd.join(path));
    Library::find(named.as_deref())
}

/// The device that is emulated unless another is asked for.
pub const DEFAULT: &str = "h200";

/// The profile of this name.
///
/// # Errors
/// When there is none.
pub fn named(name: &str) -> Result<&'static Profile, Error> {
    Profile::by_name(name).ok_or_else(|| {
        let names: Vec<_> = Profile::ALL.iter().map(|it| format!("`{}`", it.id)).collect();
        let names = names.join(", ");
        Error::Usage(format!("no emulated device is called `{name}`; there are {names}"))
    })
}

/// The profile of a device model, as records and manifests name it.
pub fn of_model(model: &str) -> Option<&'static Profile> {
    Profile::ALL.into_iter().find(|profile| facts(profile).model() == model)
}

/// Its compute capability.
pub fn capability(profile: &Profile) -> Capability {
    let (major, minor) = profile.compute_capability;
    Capability { major, minor }
}

/// What a program can print of it.
pub fn facts(profile: &Profile) -> DeviceFacts {
    DeviceFacts {
        name: profile.name.to_owned(),
        compute_capability: capability(profile),
        sm_count: profile.sm_count,
        l2_bytes: u64::from(profile.l2_bytes),
        memory_bytes: profile.memory_bytes,
        driver: "emulated".to_owned(),
    }
}

/// The architecture of the newest PTX that it takes.
pub fn highest_arch(profile: &Profile) -> Option<Arch> {
    format!("compute_{}", profile.architecture()).parse().ok()
}

/// An architecture as it is typed.
///
/// # Errors
/// When it is none.
pub fn arch(text: &str) -> Result<Arch, Error> {
    let parsed = text.parse::<Code>();
    parsed.map(Code::arch).map_err(|error| Error::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_name_and_by_model() {
        assert_eq!(named(DEFAULT).unwrap().name, "NVIDIA H200");
        let said = named("h300").unwrap_err().to_string();
        assert!(said.contains("`h300`") && said.contains("`t4`"), "{said}");
        assert_eq!(of_model("rtx-4090").map(|profile| profile.id), Some("rtx4090"));
        assert_eq!(of_model("h300"), None);
        for profile in Profile::ALL {
            let highest = highest_arch(profile).unwrap();
            assert!(highest.compiles_for(capability(profile)), "{}", profile.id);
        }
        assert_eq!(arch("sm_90").unwrap(), arch("compute_90").unwrap());
        assert!(arch("90").is_err());
    }
}
