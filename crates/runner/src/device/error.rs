//! What a device answers when it does not do as asked.

use serde::{Deserialize, Serialize};

/// Why a call of a device did not succeed. It crosses from a child to its parent as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "device", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DeviceError {
    /// The driver's library is not on this host, or does not load.
    #[error("no driver: the library `libcuda` is not on this host, or does not load")]
    NoDriver,
    /// The driver shows no device.
    #[error("no device: the driver is there and shows none")]
    NoDevice,
    /// The library lacks a function.
    #[error("driver broken: `libcuda` has no `{symbol}`")]
    NoSymbol {
        /// The function.
        symbol: String,
    },
    /// The driver does not read PTX of this version.
    #[error("toolkit too new for this driver: `{call}` answered `{code}` ({number}): {text}")]
    UnsupportedPtx {
        /// The call.
        call: String,
        /// The code's name.
        code: String,
        /// The code.
        number: i64,
        /// The driver's text for it.
        text: String,
    },
    /// Any other answer that is not success.
    #[error("`{call}` failed: `{code}` ({number}): {text}")]
    Call {
        /// The call.
        call: String,
        /// The code's name; `unknown` where the driver itself has none.
        code: String,
        /// The code.
        number: i64,
        /// The driver's text for it.
        text: String,
    },
    /// The caller asked for what makes no sense, such as a buffer that was given back.
    #[error("`{call}` was not made: {text}")]
    Misuse {
        /// The call.
        call: String,
        /// Why not.
        text: String,
    },
}

impl DeviceError {
    /// The error of a code that the driver answered to `call`.
    pub(crate) fn of_code(call: &str, number: i64, code: String, text: String) -> Self {
        /// `CUDA_ERROR_NO_DEVICE`, of `cuda.h`.
        const NO_DEVICE: i64 = 100;
        /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`, of `cuda.h`.
        const UNSUPPORTED_PTX_VERSION: i64 = 222;
        let call = call.to_owned();
        match number {
            NO_DEVICE => Self::NoDevice,
            UNSUPPORTED_PTX_VERSION => Self::UnsupportedPtx { call, code, number, text },
            _ => Self::Call { call, code, number, text },
        }
    }

    pub(crate) fn misuse(call: &str, text: impl Into<String>) -> Self {
        Self::Misuse { call: call.to_owned(), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_with_an_outcome_of_their_own_get_it() {
        let of = |number| DeviceError::of_code("cuX", number, "C".into(), "t".into());
        assert_eq!(of(100), DeviceError::NoDevice);
        assert!(matches!(of(222), DeviceError::UnsupportedPtx { .. }));
        assert_eq!(of(700).to_string(), "`cuX` failed: `C` (700): t");
        let json = serde_json::to_string(&of(222)).unwrap();
        assert_eq!(serde_json::from_str::<DeviceError>(&json).unwrap(), of(222));
    }
}
