//! The device as its driver describes it: the facts that gates, templates and records use.
//!
//! **Invariant: a card is known by what its driver reports, never by a table of names.** Capabilities compare as
//! (major, minor). These facts come from the runner's probe; nothing here looks for them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the driver says of one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceFacts {
    /// The name, as the driver spells it: `NVIDIA H200`.
    pub name: String,
    /// The compute capability.
    pub compute_capability: Capability,
    /// Streaming multiprocessors.
    pub sm_count: u32,
    /// Level-2 cache, in bytes.
    pub l2_bytes: u64,
    /// Device memory, in bytes.
    pub memory_bytes: u64,
    /// The kernel driver's version: `580.95.05`; `unknown` where nothing tells it.
    pub driver: String,
}

impl DeviceFacts {
    /// The model's slug, which names evidence: `NVIDIA H200` is `h200`, `Tesla T4` is `tesla-t4`.
    ///
    /// Lower case, runs of anything but ASCII letters and digits become one `-`, a leading vendor is dropped.
    pub fn model(&self) -> String {
        let lower = self.name.to_ascii_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        match words.as_slice() {
            ["nvidia", rest @ ..] if !rest.is_empty() => rest.join("-"),
            [] => "unnamed".to_owned(),
            all => all.join("-"),
        }
    }
}

/// A compute capability; ordered by major, then minor. Written `9.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Capability {
    /// The generation: code for one does not run on another without being compiled again.
    pub major: u32,
    /// The step within the generation.
    pub minor: u32,
}

/// Why a text is no compute capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a compute capability: MAJOR.MINOR expected, such as `8.0`")]
pub struct NotACapability(String);

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Capability {
    type Err = NotACapability;

    fn from_str(text: &str) -> Result<Self, NotACapability> {
        parse_version(text)
            .map(|(major, minor)| Self { major, minor })
            .ok_or_else(|| NotACapability(text.chars().take(40).collect()))
    }
}

impl TryFrom<String> for Capability {
    type Error = NotACapability;

    fn try_from(text: String) -> Result<Self, NotACapability> {
        text.parse()
    }
}

impl From<Capability> for String {
    fn from(capability: Capability) -> Self {
        capability.to_string()
    }
}

/// `MAJOR.MINOR` in its one spelling: at most three digits each, no sign, no leading zero.
pub(crate) fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let number = |part: &str| {
        let plain = !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
        (plain && (part == "0" || !part.starts_with('0'))).then(|| part.parse().ok()).flatten()
    };
    Some((number(major)?, number(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_order_by_number_and_have_one_spelling() {
        let of = |text: &str| text.parse::<Capability>().unwrap();
        assert!(of("7.5") < of("8.0"));
        assert!(of("9.0") < of("10.0"));
        assert!(of("8.6") > of("8.0"));
        assert_eq!(of("12.1").to_string(), "12.1");
        for wrong in ["", "8", "8.", ".0", "8.0a", "+8.0", "08.0", "8.00", " 8.0", "8.0.0", "٨.0"]
        {
            assert!(wrong.parse::<Capability>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_model_is_a_slug_of_the_name() {
        let model = |name: &str| {
            DeviceFacts {
                name: name.to_owned(),
                compute_capability: Capability { major: 9, minor: 0 },
                sm_count: 1,
                l2_bytes: 1,
                memory_bytes: 1,
                driver: "1".to_owned(),
            }
            .model()
        };
        for (name, expect) in [
            ("NVIDIA H200", "h200"),
            ("Tesla T4", "tesla-t4"),
            ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
            ("NVIDIA GeForce RTX 4090", "geforce-rtx-4090"),
            ("NVIDIA", "nvidia"),
            ("../é", "unnamed"),
        ] {
            assert_eq!(model(name), expect);
        }
    }
}
