//! CUDA releases and PTX ISA versions, and which release first read which ISA.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version: MAJOR.MINOR expected, such as `13.0`")]
pub struct NotAVersion(String);

macro_rules! version {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name {
            /// Before the point.
            pub major: u32,
            /// After the point.
            pub minor: u32,
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{}", self.major, self.minor)
            }
        }

        impl FromStr for $name {
            type Err = NotAVersion;

            fn from_str(text: &str) -> Result<Self, NotAVersion> {
                parse_version(text)
                    .map(|(major, minor)| Self { major, minor })
                    .ok_or_else(|| NotAVersion(text.chars().take(40).collect()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAVersion;

            fn try_from(text: String) -> Result<Self, NotAVersion> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(version: $name) -> Self {
                version.to_string()
            }
        }
    };
}

version! {
    /// A CUDA release, as of a driver's interface or of a toolkit: `13.0`.
    CudaVersion
}

version! {
    /// A version of the PTX instruction set, as a file's `.version` line says it: `9.0`.
    IsaVersion
}

/// `MAJOR.MINOR` in its one spelling: at most three digits each, no sign, no leading zero.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let number = |part: &str| {
        let plain = !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
        (plain && (part == "0" || !part.starts_with('0'))).then(|| part.parse().ok()).flatten()
    };
    Some((number(major)?, number(minor)?))
}

impl CudaVersion {
    /// From the driver's number: 13000 is 13.0, 12090 is 12.9. Nothing for a number that can't be
    /// one.
    pub fn from_driver(number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| *number >= 1000)?;
        Some(Self { major: number / 1000, minor: number % 1000 / 10 })
    }
}

impl IsaVersion {
    /// The version that PTX text declares: its first `.version` line, within the first 1,000 lines.
    pub fn of_ptx(ptx: &str) -> Option<Self> {
        let head = ptx.lines().take(1000);
        let line = head.map(str::trim).find_map(|line| line.strip_prefix(".version"))?;
        line.trim().parse().ok()
    }
}

/// Major and minor.
type Pair = (u32, u32);

/// (ISA, first CUDA release that reads it), from table "PTX Release History" of the PTX ISA manual
/// 9.1, chapter release notes
/// (<https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes-ptx-release-history>).
/// 12.6 has no ISA of its own: it reads 8.5.
const RELEASES: &[(Pair, Pair)] = &[
    ((7, 0), (11, 0)),
    ((7, 1), (11, 1)),
    ((7, 2), (11, 2)),
    ((7, 3), (11, 3)),
    ((7, 4), (11, 4)),
    ((7, 5), (11, 5)),
    ((7, 6), (11, 6)),
    ((7, 7), (11, 7)),
    ((7, 8), (11, 8)),
    ((8, 0), (12, 0)),
    ((8, 1), (12, 1)),
    ((8, 2), (12, 2)),
    ((8, 3), (12, 3)),
    ((8, 4), (12, 4)),
    ((8, 5), (12, 5)),
    ((8, 6), (12, 7)),
    ((8, 7), (12, 8)),
    ((8, 8), (12, 9)),
    ((9, 0), (13, 0)),
    ((9, 1), (13, 1)),
];

fn releases() -> impl DoubleEndedIterator<Item = (IsaVersion, CudaVersion)> {
    RELEASES.iter().map(|((isa_major, isa_minor), (major, minor))| {
        let isa = IsaVersion { major: *isa_major, minor: *isa_minor };
        (isa, CudaVersion { major: *major, minor: *minor })
    })
}

/// The newest ISA that a driver of this release compiles. Nothing where the table can't tell: a
/// release older than its first row or newer than its last.
pub fn newest_isa_of(driver: CudaVersion) -> Option<IsaVersion> {
    let (_, last) = releases().next_back()?;
    if driver > last {
        return None;
    }
    releases().rev().find(|(_, release)| *release <= driver).map(|(isa, _)| isa)
}

/// The oldest driver that compiles this ISA, where the table knows.
pub fn oldest_driver_of(isa: IsaVersion) -> Option<CudaVersion> {
    releases().find(|(known, _)| *known == isa).map(|(_, release)| release)
}

/// Why a driver of this release does not compile this ISA; nothing where it does, or where neither
/// the table nor the order of releases can tell (a driver newer than the table: loading tells).
pub fn too_new(isa: IsaVersion, driver: CudaVersion) -> Option<String> {
    if let Some(least) = oldest_driver_of(isa) {
        return (least > driver)
            .then(|| format!("PTX ISA {isa} needs CUDA {least}, the driver is of {driver}"));
    }
    let (oldest, newest) = (releases().next()?, releases().next_back()?);
    if isa < oldest.0 || driver > newest.1 {
        return None;
    }
    let read = newest_isa_of(driver).unwrap_or(oldest.0);
    Some(format!("PTX ISA {isa} is newer than the {read} of CUDA {driver}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_number_is_major_and_tens() {
        let text = |number| CudaVersion::from_driver(number).map(|version| version.to_string());
        for (number, expect) in [(13000, "13.0"), (12090, "12.9"), (11080, "11.8"), (13010, "13.1")]
        {
            assert_eq!(text(number).as_deref(), Some(expect));
        }
        assert_eq!(text(0), None);
        assert_eq!(text(-5), None);
    }

    #[test]
    fn a_version_has_one_spelling() {
        for wrong in
            ["", "9", "9.", ".0", "09.0", "9.00", "9.0.1", "+9.0", "9.0 ", "9.-1", "9999.0"]
        {
            assert!(wrong.parse::<CudaVersion>().is_err(), "{wrong}");
            assert!(wrong.parse::<IsaVersion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn drivers_read_what_their_release_wrote() {
        for (driver, isa) in [
            ("11.0", Some("7.0")),
            ("12.4", Some("8.4")),
            ("12.5", Some("8.5")),
            ("12.6", Some("8.5")),
            ("12.7", Some("8.6")),
            ("12.8", Some("8.7")),
            ("12.9", Some("8.8")),
            ("13.0", Some("9.0")),
            ("13.1", Some("9.1")),
            ("10.2", None),
            ("13.5", None),
        ] {
            let got = newest_isa_of(driver.parse().unwrap()).map(|isa| isa.to_string());
            assert_eq!(got.as_deref(), isa, "{driver}");
        }
        assert_eq!(oldest_driver_of("8.6".parse().unwrap()).unwrap().to_string(), "12.7");
        assert_eq!(oldest_driver_of("9.9".parse().unwrap()), None);
    }

    #[test]
    fn an_isa_that_the_table_lacks_is_judged_by_the_order_of_releases() {
        let why = |isa: &str, driver: &str| too_new(isa.parse().unwrap(), driver.parse().unwrap());
        assert!(why("9.0", "10.2").is_some());
        assert!(why("9.7", "13.1").is_some());
        assert!(why("9.7", "13.2").is_none());
        assert!(why("9.7", "10.2").is_some());
        assert!(why("6.5", "10.2").is_none());
        assert!(why("6.5", "13.0").is_none());
        assert!(why("9.1", "13.5").is_none());
    }

    #[test]
    fn rows_ascend_in_both_columns() {
        assert!(RELEASES.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
    }

    #[test]
    fn a_file_says_its_version() {
        let text = "//\n// Generated\n//\n\n.version 9.0\n.target sm_80\n.address_size 64\n";
        assert_eq!(IsaVersion::of_ptx(text).unwrap().to_string(), "9.0");
        assert_eq!(IsaVersion::of_ptx("// .version 9.0\n"), None);
        assert_eq!(IsaVersion::of_ptx(""), None);
    }
}
