//! The state of a card around a run: clocks, heat, throttling, company.
//!
//! **Invariant: what could not be read is absent, never zero.** The runner reads it from NVML
//! before and after; the verdict on throttling is here, so that it can be tested without a card. A
//! record made on a throttled card is kept and unpublishable.

use serde::{Deserialize, Serialize};

/// One reading. Each field is absent where the card or the driver does not answer that query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardState {
    /// Why there is no reading at all, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Clock of the multiprocessors, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<u32>,
    /// Clock of the memory, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_clock_mhz: Option<u32>,
    /// Temperature of the die, in °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<u32>,
    /// Power drawn, in milliwatts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_mw: Option<u32>,
    /// Share of the last sample period in which a kernel ran, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation_percent: Option<u32>,
    /// Processes on the card other than the reader's own; names and ids are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_processes: Option<u32>,
    /// Names of the reasons for which clocks are held down now, in the order of NVML's bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_reasons: Option<Vec<String>>,
}

/// What a throttle reason says of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Clocks were cut by the hardware or by heat: the figures are not the card's.
    Throttled,
    /// Worth showing beside the figures.
    Odd,
    /// The ordinary life of a card.
    Usual,
}

/// NVML's reasons by bit, from `nvml.h` (`nvmlClocksEventReason…`, formerly
/// `nvmlClocksThrottleReason…`).
const REASONS: &[(u64, &str, Weight)] = &[
    (0x001, "gpu-idle", Weight::Usual),
    (0x002, "applications-clocks-setting", Weight::Usual),
    (0x004, "sw-power-cap", Weight::Odd),
    (0x008, "hw-slowdown", Weight::Throttled),
    (0x010, "sync-boost", Weight::Usual),
    (0x020, "sw-thermal-slowdown", Weight::Throttled),
    (0x040, "hw-thermal-slowdown", Weight::Throttled),
    (0x080, "hw-power-brake-slowdown", Weight::Throttled),
    (0x100, "display-clock-setting", Weight::Usual),
];

impl CardState {
    /// No reading, and why.
    pub fn absent(reason: impl Into<String>) -> Self {
        Self { absent: Some(reason.into()), ..Self::default() }
    }

    /// The reasons that make the figures unpublishable. Empty as well where the reasons are not
    /// known: whoever must tell the two apart looks at [`CardState::throttle_reasons`].
    pub fn throttled(&self) -> Vec<&str> {
        self.reasons(Weight::Throttled)
    }

    /// The reasons worth showing beside the figures: a software power cap, and any this table does
    /// not know.
    pub fn odd(&self) -> Vec<&str> {
        self.reasons(Weight::Odd)
    }

    fn reasons(&self, weight: Weight) -> Vec<&str> {
        let named = self.throttle_reasons.iter().flatten().map(String::as_str);
        named.filter(|name| weight_of(name) == weight).collect()
    }
}

/// The weight of a reason by its name; one that is not in the table is odd.
pub fn weight_of(name: &str) -> Weight {
    REASONS
        .iter()
        .find(|(_, known, _)| *known == name)
        .map_or(Weight::Odd, |(_, _, weight)| *weight)
}

/// The names of the bits set in NVML's mask; a bit that is not in the table is named by its value.
pub fn reason_names(mask: u64) -> Vec<String> {
    (0..u64::BITS)
        .map(|bit| 1_u64 << bit)
        .filter(|bit| mask & bit != 0)
        .map(|bit| {
            let known = REASONS.iter().find(|(value, _, _)| *value == bit);
            known.map_or_else(|| format!("unknown-{bit:#x}"), |(_, name, _)| (*name).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(mask: u64) -> CardState {
        CardState { throttle_reasons: Some(reason_names(mask)), ..CardState::default() }
    }

    #[test]
    fn each_bit_of_nvml_has_its_weight() {
        // The bits are those of nvml.h; the right column is the rule for records.
        for (bit, throttled, odd) in [
            (0x001, false, false),
            (0x002, false, false),
            (0x004, false, true),
            (0x008, true, false),
            (0x010, false, false),
            (0x020, true, false),
            (0x040, true, false),
            (0x080, true, false),
            (0x100, false, false),
            (0x200, false, true),
            (1 << 63, false, true),
        ] {
            let state = with(bit);
            assert_eq!(state.throttled().len(), usize::from(throttled), "{bit:#x}");
            assert_eq!(state.odd().len(), usize::from(odd), "{bit:#x}");
        }
        assert_eq!(with(0x48).throttled(), ["hw-slowdown", "hw-thermal-slowdown"]);
        assert!(with(0).throttled().is_empty());
    }

    #[test]
    fn absent_is_not_a_reading_of_zero() {
        let state = CardState::absent("no NVML");
        assert_eq!(state.sm_clock_mhz, None);
        let text = toml::to_string(&state).unwrap();
        assert_eq!(text, "absent = \"no NVML\"\n");
        assert_eq!(toml::from_str::<CardState>(&text).unwrap(), state);
        assert!(toml::from_str::<CardState>("clock = 1").is_err());
    }
}
