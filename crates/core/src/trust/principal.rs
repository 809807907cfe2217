//! The name of somebody who may sign.

use std::fmt;
use std::str::FromStr;

/// A name in the trust root, compared exactly: ASCII letters, digits and `.`, `_`, `+`, `@`, `-`.
///
/// It starts with a letter or a digit, so that it can't be read as an option where it is an
/// argument (`ssh-keygen -I NAME`); it has no comma, `*`, `?` or `!`, which OpenSSH would read as a
/// pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Principal(String);

/// Why a text is no principal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a principal: one exact name of at most {max} letters, digits and `._+@-`, \
     starting with a letter or digit, no pattern or list", max = Principal::LEN_MAX
)]
pub struct NotAPrincipal(String);

impl Principal {
    /// The longest name, in bytes.
    pub const LEN_MAX: usize = 128;

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Principal {
    type Err = NotAPrincipal;

    fn from_str(text: &str) -> Result<Self, NotAPrincipal> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"._+@-".contains(&b);
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if starts && text.len() <= Self::LEN_MAX && text.bytes().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPrincipal(text.chars().take(80).collect()))
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_one_exact_name() {
        for good in ["ada", "Ada.L+x@example.org", "a_b-c", "7", &"a".repeat(128)] {
            assert!(good.parse::<Principal>().is_ok(), "{good}");
        }
        let long = "a".repeat(129);
        let patterns = ["", "*", "a*", "a?", "!ada", "a,b"];
        let others = ["-a", "@a", ".", "a b", "a\t", "é", "\"a\"", &long];
        for bad in patterns.into_iter().chain(others) {
            assert!(bad.parse::<Principal>().is_err(), "{bad}");
        }
    }
}
