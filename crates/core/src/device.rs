//! What a device says about itself: the facts that a template compares and a record binds.
//!
//! **Invariant: facts are as the driver reports them; nothing is looked up in a table of names.**
//! The runner fills a [`DeviceFacts`] once a device; templates, gates and records read it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The facts of one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceFacts {
    /// The name that `cudaGetDeviceProperties` gives, byte for byte: `NVIDIA H200`.
    pub name: String,
    /// The compute capability.
    pub compute_capability: Capability,
    /// Streaming multiprocessors.
    pub sm_count: u32,
    /// L2 cache, in bytes.
    pub l2_bytes: u64,
    /// Global memory, in bytes.
    pub memory_bytes: u64,
    /// The driver's version as it was read: `580.159.04`, or the CUDA version of the driver API.
    pub driver: String,
}

impl DeviceFacts {
    /// The slug that names this model in folders and markers: `NVIDIA H200` → `h200`. Only `a-z`,
    /// `0-9` and `-`; never empty.
    pub fn model(&self) -> String {
        let name = self.name.trim();
        let name = name.strip_prefix("NVIDIA ").unwrap_or(name).trim_start();
        let name = name.strip_prefix("Tesla ").or(name.strip_prefix("GeForce ")).unwrap_or(name);
        let words =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
        if slug.is_empty() { "unknown".to_owned() } else { slug }
    }
}

/// A compute capability, ordered as a pair of numbers: `9.0` comes before `10.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Capability {
    /// The digits before the point.
    pub major: u32,
    /// The digit after it.
    pub minor: u32,
}

/// Why a text is no compute capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a compute capability: two plain numbers with a point between, such as `8.0`")]
pub struct NotACapability(String);

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Capability {
    type Err = NotACapability;

    fn from_str(text: &str) -> Result<Self, NotACapability> {
        let refuse = || NotACapability(text.chars().take(80).collect());
        let number = |part: &str| {
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            let one_spelling = part == "0" || !part.starts_with('0');
            (digits && one_spelling && part.len() <= 4).then(|| part.parse::<u32>().ok()).flatten()
        };
        let (major, minor) = text.split_once('.').ok_or_else(refuse)?;
        let major = number(major).ok_or_else(refuse)?;
        Ok(Self { major, minor: number(minor).ok_or_else(refuse)? })
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

#[cfg(test)]
mod tests {
    use super::*;

    const H200: &str = r#"
name = "NVIDIA H200"
compute_capability = "9.0"
sm_count = 132
l2_bytes = 62914560
memory_bytes = 150109880320
driver = "580.159.04"
"#;

    fn model(name: &str) -> String {
        let facts: DeviceFacts = toml::from_str(H200).unwrap();
        DeviceFacts { name: name.to_owned(), ..facts }.model()
    }

    #[test]
    fn a_name_becomes_a_slug() {
        let table = [
            ("NVIDIA H200", "h200"),
            ("Tesla T4", "t4"),
            ("NVIDIA Tesla T4", "t4"),
            ("NVIDIA GeForce RTX 4090", "rtx-4090"),
            ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"),
            ("  GeForce GTX 1660 (Ti)  ", "gtx-1660-ti"),
            ("../../etc", "etc"),
            ("NVIDIA", "nvidia"),
            ("", "unknown"),
            ("\u{1b}[2J—µ", "2j"),
            ("—", "unknown"),
        ];
        for (name, slug) in table {
            assert_eq!(model(name), slug, "{name}");
        }
    }

    #[test]
    fn facts_survive_toml_and_unknown_keys_do_not_pass() {
        let facts: DeviceFacts = toml::from_str(H200).unwrap();
        assert_eq!(facts.compute_capability, Capability { major: 9, minor: 0 });
        assert_eq!(toml::from_str::<DeviceFacts>(&toml::to_string(&facts).unwrap()), Ok(facts));
        assert!(toml::from_str::<DeviceFacts>(&format!("{H200}ecc = true\n")).is_err());
        assert!(toml::from_str::<DeviceFacts>(&H200.replace("132", "-1")).is_err());
    }

    #[test]
    fn capabilities_order_by_number_and_have_one_spelling() {
        let parse = |text: &str| text.parse::<Capability>();
        assert!(parse("9.0").unwrap() < parse("10.0").unwrap());
        assert!(parse("7.5").unwrap() < parse("8.0").unwrap());
        assert_eq!(parse("12.1").unwrap().to_string(), "12.1");
        for wrong in
            ["", "9", "9.", ".0", "09.0", "9.00", "9.0.1", "+9.0", "9.0 ", "9.-1", "99999.0"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
