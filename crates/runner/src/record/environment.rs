//! The environment of a recorded program: what is kept from it, and what is written down of it.
//!
//! Cargo puts its target folders on `LD_LIBRARY_PATH`, and a CUDA runtime that lies there would be
//! loaded in place of the driver's own choice without a word. Preloaded libraries can print
//! anything. Neither reaches a program.

use std::collections::BTreeMap;

use crate::system::process::Command;

/// Variables that let somebody else's code into the program.
const SCRUBBED: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
];

/// The command without variables that let foreign code in.
pub fn scrubbed(command: Command) -> Command {
    command.env_remove(SCRUBBED)
}

/// What of this process's environment bears on a CUDA program, as the program sees it.
pub fn recorded(variables: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let bears = |name: &str| {
        ["LD_", "CUDA_", "NVIDIA_"].iter().any(|prefix| name.starts_with(prefix))
            && !SCRUBBED.contains(&name)
    };
    variables.into_iter().filter(|(name, _)| bears(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bears_on_cuda_is_written_down_and_what_was_scrubbed_is_not() {
        let variables = [
            ("CUDA_VISIBLE_DEVICES", "0"),
            ("LD_LIBRARY_PATH", "/somewhere"),
            ("LD_BIND_NOW", "1"),
            ("HOME", "/h"),
        ];
        let found = recorded(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["CUDA_VISIBLE_DEVICES", "LD_BIND_NOW"]);
    }
}
