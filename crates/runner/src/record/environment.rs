//! The environment of a recorded program: what is kept from it, what is set, and what is written
//! down of it.
//!
//! Cargo puts its target folders on `LD_LIBRARY_PATH`, and a CUDA runtime that lies there would be
//! loaded in place of the driver's own choice without a word. Preloaded libraries can print
//! anything. Neither reaches a program. **Invariant: nothing is written down that names the card or
//! could be a secret.**

use std::collections::BTreeMap;

use proofrun_core::Digest;

use crate::system::process::Command;

/// Variables that let somebody else's code into the program.
const SCRUBBED: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
];

/// The variable by which a program is shown some devices and not others.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// `NVIDIA_` variables whose values are facts about the host; of any other the value may be a key,
/// or, as `NVIDIA_REQUIRE_CUDA` of a container, two pages of driver versions.
const PLAIN: &[&str] = &[
    "NVIDIA_DISABLE_REQUIRE",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
    "NVIDIA_VISIBLE_DEVICES",
];

/// The command without variables that let foreign code in.
pub fn scrubbed(command: Command) -> Command {
    command.env_remove(SCRUBBED)
}

/// What surrounds the programs of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    inherited: BTreeMap<String, String>,
    visible: Option<String>,
}

impl Surroundings {
    /// Those of this process's children, recording on one of so many devices.
    pub fn of_process(device: u32, devices: usize) -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Self::of(variables, device, devices)
    }

    /// A program takes the first device that it sees, so another one than the first is made its
    /// first.
    fn of(
        variables: impl IntoIterator<Item = (String, String)>,
        device: u32,
        devices: usize,
    ) -> Self {
        let inherited: BTreeMap<String, String> = variables.into_iter().collect();
        let shown = inherited.get(VISIBLE).filter(|value| !value.trim().is_empty());
        let names: Vec<String> = match shown {
            Some(value) => value.split(',').map(|name| name.trim().to_owned()).collect(),
            None => (0..devices).map(|index| index.to_string()).collect(),
        };
        let chosen = usize::try_from(device).ok().filter(|chosen| *chosen > 0);
        let visible = chosen.and_then(|chosen| {
            let first = names.get(chosen)?;
            let rest = names.iter().enumerate().filter(|(index, _)| *index != chosen);
            let all = std::iter::once(first).chain(rest.map(|(_, name)| name));
            Some(all.cloned().collect::<Vec<_>>().join(","))
        });
        Self { inherited, visible }
    }

    /// The command within these surroundings, with variables of the lesson's own.
    pub fn around(&self, command: Command, own: &BTreeMap<String, String>) -> Command {
        let mut command = scrubbed(command);
        if let Some(visible) = &self.visible {
            command = command.env(VISIBLE, visible);
        }
        for (name, value) in own {
            command = command.env(name, value);
        }
        command
    }

    /// What bears on a CUDA program, as the program sees it. Identifiers of cards and unknown
    /// values of `NVIDIA_` variables are given by their digests.
    pub fn recorded(&self) -> BTreeMap<String, String> {
        let bears = |name: &str| {
            ["LD_", "CUDA_", "NVIDIA_"].iter().any(|prefix| name.starts_with(prefix))
                && !SCRUBBED.contains(&name)
        };
        let own = self.visible.iter().map(|value| (VISIBLE.to_owned(), value.clone()));
        let seen = self.inherited.iter().map(|(name, value)| (name.clone(), value.clone()));
        let seen = seen.chain(own).filter(|(name, _)| bears(name));
        seen.map(|(name, value)| {
            let value = told(&name, &value);
            (name, value)
        })
        .collect()
    }
}

fn told(name: &str, value: &str) -> String {
    let hashed = |text: &str| format!("sha256:{}", Digest::of(text).short());
    if name.starts_with("NVIDIA_") && !PLAIN.contains(&name) {
        return hashed(value);
    }
    let is_card = |part: &str| part.starts_with("GPU-") || part.starts_with("MIG-");
    let parts = value.split(',').map(|part| match is_card(part.trim()) {
        true => hashed(part.trim()),
        false => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], device: u32, devices: usize) -> Surroundings {
        let pairs = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Surroundings::of(pairs, device, devices)
    }

    #[test]
    fn what_bears_on_cuda_is_written_down_and_what_was_scrubbed_is_not() {
        let found = of(
            &[
                ("CUDA_VISIBLE_DEVICES", "0"),
                ("LD_LIBRARY_PATH", "/somewhere"),
                ("LD_BIND_NOW", "1"),
                ("HOME", "/h"),
            ],
            0,
            1,
        );
        let names: Vec<_> = found.recorded().into_keys().collect();
        assert_eq!(names, ["CUDA_VISIBLE_DEVICES", "LD_BIND_NOW"]);
    }

    #[test]
    fn neither_a_card_nor_a_key_is_written_down() {
        let found = of(
            &[
                ("NVIDIA_VISIBLE_DEVICES", "GPU-11111111-2222,1"),
                ("CUDA_VISIBLE_DEVICES", "MIG-33333333"),
                ("NVIDIA_API_KEY", "nvapi-secret"),
                ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
            ],
            0,
            1,
        )
        .recorded();
        let text = format!("{found:?}");
        for hidden in ["11111111", "33333333", "secret"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert_eq!(found["NVIDIA_DRIVER_CAPABILITIES"], "compute,utility");
        assert!(found["NVIDIA_VISIBLE_DEVICES"].ends_with(",1"));
    }

    #[test]
    fn another_device_than_the_first_is_made_the_programs_first() {
        let visible = |shown: &[(&str, &str)], device| of(shown, device, 4).visible;
        assert_eq!(visible(&[], 0), None);
        assert_eq!(visible(&[], 2).as_deref(), Some("2,0,1,3"));
        assert_eq!(visible(&[(VISIBLE, "5, 7")], 1).as_deref(), Some("7,5"));
        assert_eq!(visible(&[(VISIBLE, "5,7")], 0), None);
        let recorded = of(&[(VISIBLE, "5,7")], 1, 2).recorded();
        assert_eq!(recorded[VISIBLE], "7,5");
    }
}
