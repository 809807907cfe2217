//! Architectures as compilers name them (`sm_80`, `sm_90a`, `compute_100f`), and which cards their
//! code fits.

use std::fmt;
use std::str::FromStr;

use crate::device::Capability;

/// An architecture that code was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// The capability that it names.
    pub capability: Capability,
    /// Which other cards its code fits.
    pub reach: Reach,
}

/// Which cards code fits besides those of its own capability (nvcc manual, "GPU feature list"; PTX
/// manual, `.target`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// `sm_80`: native code fits later cards of the generation, PTX every later card.
    Plain,
    /// `sm_100f`: later cards of the generation only, as PTX too.
    Family,
    /// `sm_90a`: no other card, as PTX neither.
    Specific,
}

/// Why a text names no architecture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an architecture: `sm_80`, `compute_90a` or the like expected")]
pub struct NotAnArch(pub(crate) String);

impl Arch {
    /// Whether native code for this runs on such a card.
    pub fn runs_on(self, card: Capability) -> bool {
        let own = self.capability;
        match self.reach {
            Reach::Specific => card == own,
            Reach::Plain | Reach::Family => card.major == own.major && card.minor >= own.minor,
        }
    }

    /// Whether PTX for this can be compiled for such a card.
    pub fn compiles_for(self, card: Capability) -> bool {
        match self.reach {
            Reach::Plain => card >= self.capability,
            Reach::Family | Reach::Specific => self.runs_on(card),
        }
    }
}

impl FromStr for Arch {
    type Err = NotAnArch;

    /// The last digit is the minor number: `sm_100` is 10.0.
    fn from_str(text: &str) -> Result<Self, NotAnArch> {
        let refuse = || NotAnArch(text.chars().take(40).collect());
        let named = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"));
        named.and_then(Self::of_digits).ok_or_else(refuse)
    }
}

impl Arch {
    /// Of `80`, `90a`, `100f`: what follows `sm_` or `compute_`.
    fn of_digits(named: &str) -> Option<Self> {
        let (digits, reach) = match named.as_bytes().last() {
            Some(b'a') => (&named[..named.len() - 1], Reach::Specific),
            Some(b'f') => (&named[..named.len() - 1], Reach::Family),
            _ => (named, Reach::Plain),
        };
        let fits = matches!(digits.len(), 2 | 3) && !digits.starts_with('0');
        if !fits || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number: u32 = digits.parse().ok()?;
        Some(Self { capability: Capability { major: number / 10, minor: number % 10 }, reach })
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Plain => "",
            Reach::Family => "f",
            Reach::Specific => "a",
        };
        write!(f, "{}{}{suffix}", self.capability.major, self.capability.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_compilers_write_them() {
        for (text, capability, reach) in [
            ("sm_75", "7.5", Reach::Plain),
            ("compute_80", "8.0", Reach::Plain),
            ("sm_90a", "9.0", Reach::Specific),
            ("sm_100", "10.0", Reach::Plain),
            ("sm_121", "12.1", Reach::Plain),
            ("sm_103f", "10.3", Reach::Family),
        ] {
            let arch: Arch = text.parse().unwrap();
            assert_eq!((arch.capability.to_string().as_str(), arch.reach), (capability, reach));
        }
        for wrong in
            ["", "sm_", "sm_8", "sm_a", "80", "SM_80", "sm_080", "sm_80b", "sm_80 ", "sm_99999"]
        {
            assert!(wrong.parse::<Arch>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn code_fits_the_cards_of_the_manuals() {
        // (architecture, card, native code runs, PTX compiles)
        for (arch, card, runs, compiles) in [
            ("sm_80", "8.0", true, true),
            ("sm_80", "8.6", true, true),
            ("sm_86", "8.0", false, false),
            ("sm_80", "9.0", false, true),
            ("sm_80", "7.5", false, false),
            ("sm_90a", "9.0", true, true),
            ("sm_90a", "10.0", false, false),
            ("sm_100f", "10.3", true, true),
            ("sm_100f", "12.0", false, false),
            ("sm_103", "10.0", false, false),
        ] {
            let (arch, card): (Arch, Capability) = (arch.parse().unwrap(), card.parse().unwrap());
            assert_eq!(
                (arch.runs_on(card), arch.compiles_for(card)),
                (runs, compiles),
                "{arch} {card}"
            );
        }
    }
}
