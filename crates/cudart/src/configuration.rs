//! What the harness asks for, from the environment.

use proofrun_emulator::configuration::{Configuration, VARIABLE};
use proofrun_emulator::profile::Profile;

/// Reads it; the error says what a user of the library should know.
pub fn read() -> Result<(Configuration, &'static Profile), String> {
    let Some(text) = std::env::var_os(VARIABLE) else {
        return Err(format!("{VARIABLE} isn't set: this library runs under `proofrun emulate`"));
    };
    parse(&text.to_string_lossy())
}

fn parse(text: &str) -> Result<(Configuration, &'static Profile), String> {
    let configuration: Configuration =
        serde_json::from_str(text).map_err(|error| format!("{VARIABLE}: {error}"))?;
    let profile = Profile::by_name(&configuration.device)
        .ok_or_else(|| format!("{VARIABLE}: no profile `{}`", configuration.device))?;
    Ok((configuration, profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_and_a_descriptor_are_enough() {
        let (configuration, profile) = parse(r#"{"device":"t4","report":7}"#).unwrap();
        assert_eq!((configuration.report, profile.id), (7, "t4"));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for text in
            ["", "{}", r#"{"device":"t5","report":7}"#, r#"{"device":"t4","report":7,"x":1}"#]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
