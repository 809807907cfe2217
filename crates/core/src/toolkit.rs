//! Which toolkit built something: provenance, written into records and compared by people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is known of the toolkit behind a build. It does not stale a record unless the lesson's
/// manifest pins the toolkit; it says whether PTX can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolkitFacts {
    /// nvcc's own version, such as `13.0.88`.
    pub nvcc: String,
    /// The version of the CUDA C++ core libraries in the toolkit, such as `3.0.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cccl: Option<String>,
    /// The first line of the host compiler's `--version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_compiler: Option<String>,
    /// The ISA version that the produced PTX states, such as `9.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_isa: Option<String>,
}

impl fmt::Display for ToolkitFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nvcc {}", self.nvcc)?;
        match &self.cccl {
            Some(cccl) => write!(f, ", CCCL {cccl}"),
            None => Ok(()),
        }
    }
}

impl ToolkitFacts {
    /// Whether PTX of the two can be compared byte for byte: the same compiler, and the same
    /// headers.
    pub fn makes_the_same_ptx_as(&self, other: &Self) -> bool {
        self.nvcc == other.nvcc && self.cccl == other.cccl
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_round_trip_and_refuse_what_they_do_not_know() {
        let facts = ToolkitFacts {
            nvcc: "13.0.88".into(),
            cccl: Some("3.0.1".into()),
            host_compiler: None,
            ptx_isa: Some("9.0".into()),
        };
        let text = toml::to_string(&facts).unwrap();
        assert_eq!(text, "nvcc = \"13.0.88\"\ncccl = \"3.0.1\"\nptx_isa = \"9.0\"\n");
        assert_eq!(toml::from_str(&text), Ok(facts.clone()));
        assert!(toml::from_str::<ToolkitFacts>(&(text + "more = 1\n")).is_err());
        let later = ToolkitFacts { cccl: Some("3.5.0".into()), ..facts.clone() };
        assert!(!facts.makes_the_same_ptx_as(&later));
        assert!(facts.makes_the_same_ptx_as(&ToolkitFacts { ptx_isa: None, ..facts.clone() }));
    }
}
