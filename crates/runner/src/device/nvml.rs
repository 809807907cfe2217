//! The state of a card, from NVML, which is opened at run time and may be absent.

use std::sync::OnceLock;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::{Bits, NvmlError};
use nvml_wrapper::{Device, Nvml};
use proofrun_core::Digest;
use proofrun_core::card::{CardState, reason_names};

/// The state of the card with this hashed identifier, now. Processes with these ids are the
/// reader's own.
///
/// Identifiers are compared hashed: NVML's order is not the driver's, and `CUDA_VISIBLE_DEVICES` is
/// unknown to it.
pub fn card_state(uuid: &Digest, own: &[u32]) -> CardState {
    let nvml = match Nvml::init() {
        Ok(nvml) => nvml,
        Err(error) => return CardState::absent(format!("no NVML: {error}")),
    };
    match find(&nvml, uuid) {
        Ok(Some(card)) => read(&card, own),
        Ok(None) => CardState::absent("NVML shows no card with this identifier"),
        Err(error) => CardState::absent(format!("NVML lists no cards: {error}")),
    }
}

fn find<'n>(nvml: &'n Nvml, uuid: &Digest) -> Result<Option<Device<'n>>, NvmlError> {
    for index in 0..nvml.device_count()? {
        let Ok(card) = nvml.device_by_index(index) else { continue };
        let named =
            card.uuid().map(|text| Digest::of(text.to_ascii_lowercase().replacen("gpu", "GPU", 1)));
        if named.is_ok_and(|named| named == *uuid) {
            return Ok(Some(card));
        }
    }
    Ok(None)
}

fn read(card: &Device<'_>, own: &[u32]) -> CardState {
    CardState {
        absent: None,
        sm_clock_mhz: card.clock_info(Clock::SM).ok(),
        memory_clock_mhz: card.clock_info(Clock::Memory).ok(),
        temperature_c: card.temperature(TemperatureSensor::Gpu).ok(),
        power_mw: card.power_usage().ok(),
        utilisation_percent: card.utilization_rates().ok().map(|rates| rates.gpu),
        other_processes: others(card, own),
        throttle_reasons: mask(card).map(reason_names),
    }
}

/// Other processes with compute or graphics work on the card, each once.
fn others(card: &Device<'_>, own: &[u32]) -> Option<u32> {
    let compute = card.running_compute_processes().ok()?;
    // A data-centre card may not answer the question about graphics: then there are none.
    let graphics = card.running_graphics_processes().unwrap_or_default();
    let mut ids: Vec<u32> = compute.iter().chain(&graphics).map(|process| process.pid).collect();
    ids.retain(|id| !own.contains(id));
    ids.sort_unstable();
    ids.dedup();
    u32::try_from(ids.len()).ok()
}

/// The raw mask: bits that the wrapper has no name for come out of its error.
fn mask(card: &Device<'_>) -> Option<u64> {
    match card.current_throttle_reasons_strict() {
        Ok(reasons) => Some(reasons.bits()),
        Err(NvmlError::IncorrectBits(Bits::U64(raw))) => Some(raw),
        Err(_) => None,
    }
}

/// The kernel driver's version, from NVML or from the driver's file under /proc; `unknown` where
/// neither tells. Asked once: it does not change under a running process, and opening NVML wakes
/// every card.
pub(super) fn driver_version() -> String {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(ask_driver_version).clone()
}

fn ask_driver_version() -> String {
    let asked = Nvml::init().and_then(|nvml| nvml.sys_driver_version()).ok();
    let read = || fs_err::read_to_string("/proc/driver/nvidia/version").ok();
    asked
        .or_else(|| read().and_then(|text| version_in(&text)))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The first word of the first line that is a version: digits in two or three groups.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        let groups: Vec<&str> = word.split('.').collect();
        let digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
        (2..=3).contains(&groups.len()) && groups.iter().all(digits)
    };
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_both_forms_of_the_file() {
        for text in [
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 2021\n",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  470.57.02  Release Build\n\
             GCC version: 12.3.0\n",
        ] {
            assert_eq!(version_in(text).as_deref(), Some("470.57.02"));
        }
        assert_eq!(version_in("GCC\n1.2.3"), None);
        assert_eq!(version_in(""), None);
    }

    #[test]
    fn a_card_that_is_not_there_is_absent_with_a_reason() {
        let state = card_state(&Digest::of("GPU-of-nobody"), &[]);
        assert!(state.absent.is_some(), "{state:?}");
        assert_eq!(state.sm_clock_mhz, None);
    }
}
