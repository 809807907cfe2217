//! One line of `allowed_signers`: `PRINCIPAL OPTIONS ssh-ed25519 KEY [COMMENT]`.
//!
//! **Invariant: a line has one spelling of its fields, single spaces between them, and nothing in
//! it that OpenSSH would read as more than it says here.**

use std::collections::BTreeSet;

use ssh_key::PublicKey;
use ssh_key::public::Ed25519PublicKey;

use super::Window;
use crate::trust::{Namespace, NotAPrincipal, Principal};

/// The longest line, in bytes.
const LINE_BYTES_MAX: usize = 2048;

/// What a line says, as far as it could be read.
#[derive(Debug, Default)]
pub(in crate::trust) struct Line {
    pub principal: Option<Principal>,
    pub namespaces: BTreeSet<Namespace>,
    pub window: Window,
    pub key: Option<Ed25519PublicKey>,
}

/// Why a line grants nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Longer than any line that is needed.
    #[error("the line has {0} bytes, and at most {LINE_BYTES_MAX} are read")]
    TooLong(usize),
    /// A tab or another control character.
    #[error("the line holds a control character")]
    Control,
    /// Leading, doubled or missing blanks.
    #[error("the line is not `PRINCIPAL OPTIONS ssh-ed25519 KEY [COMMENT]` with single spaces")]
    Fields,
    /// A pattern, a list, or a name with other characters.
    #[error(transparent)]
    Principal(#[from] NotAPrincipal),
    /// Options that are not `name="value"`, comma-separated.
    #[error("the options stop making sense at `{0}`")]
    Syntax(String),
    /// A key that vouches for further keys.
    #[error("`cert-authority` is not accepted")]
    CertAuthority,
    /// An option that is not known here.
    #[error("unknown option `{0}`")]
    UnknownOption(String),
    /// An option that was already given.
    #[error("option `{0}` is given twice")]
    RepeatedOption(String),
    /// A key that could sign anything.
    #[error("no `namespaces` option")]
    NoNamespaces,
    /// A namespace that isn't ours, a pattern, or one twice.
    #[error("`{0}` in `namespaces` is unknown, a pattern or given twice")]
    Namespace(String),
    /// A date that isn't one.
    #[error("`{option}` is `{value}`, which {why}")]
    Date {
        /// Which option.
        option: &'static str,
        /// What it holds.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A window in which no signature can be made.
    #[error("the key's window {0}")]
    Window(&'static str),
    /// Another kind of key.
    #[error("key type `{0}`, and only `ssh-ed25519` is accepted")]
    KeyType(String),
    /// Base64 that is no ed25519 key.
    #[error("the key is not readable: {0}")]
    Key(String),
    /// A public key that needs no private one.
    #[error("the key is a point of small order, for which anybody can sign")]
    WeakKey,
    /// A key that stands on another line too.
    #[error("the same key also stands on line {0}, so neither counts")]
    RepeatedKey(u32),
}

impl LineError {
    /// What to do about it.
    pub fn next(&self) -> &'static str {
        match self {
            Self::TooLong(_) | Self::Control | Self::Fields | Self::Syntax(_) => {
                "write `name namespaces=\"review@proofrun\" ssh-ed25519 AAAA… comment`"
            }
            Self::Principal(_) => "write one exact name, and a line for each further one",
            Self::CertAuthority => "list each key itself",
            Self::UnknownOption(_) => "only `namespaces`, `valid-after` and `valid-before` exist",
            Self::RepeatedOption(_) => "keep one of them",
            Self::NoNamespaces | Self::Namespace(_) => {
                "write `namespaces=\"record@proofrun\"`, `\"review@proofrun\"`, or both"
            }
            Self::Date { .. } => "write UTC as `YYYYMMDDZ` or `YYYYMMDDHHMMSSZ`, in quotes",
            Self::Window(_) => "let `valid-after` come before `valid-before`, in whole seconds",
            Self::KeyType(_) => "make a key with `ssh-keygen -t ed25519`",
            Self::Key(_) | Self::WeakKey => "copy the line of the `.pub` file unchanged",
            Self::RepeatedKey(_) => "keep one line for the key; one person has one name",
        }
    }
}

/// What the line says, and everything that is wrong with it.
pub(in crate::trust) fn parse_line(text: &str) -> (Line, Vec<LineError>) {
    let mut line = Line::default();
    let mut errors = Vec::new();
    if text.len() > LINE_BYTES_MAX {
        return (line, vec![LineError::TooLong(text.len())]);
    }
    if text.chars().any(char::is_control) {
        errors.push(LineError::Control);
    }
    let mut fields = text.splitn(5, ' ');
    let mut field = || fields.next().filter(|field| !field.is_empty());
    let (Some(principal), Some(mut options)) = (field(), field()) else {
        errors.push(LineError::Fields);
        return (line, errors);
    };
    match principal.parse() {
        Ok(principal) => line.principal = Some(principal),
        Err(error) => errors.push(error.into()),
    }
    // Without options the key's type comes second, as OpenSSH allows; what follows is then read all
    // the same.
    let mut kind = Some(options);
    if options.starts_with("ssh-") || options.starts_with("ecdsa-") || options.starts_with("sk-") {
        options = "";
    } else {
        kind = field();
    }
    let before = errors.len();
    parse_options(options, &mut line, &mut errors);
    if line.namespaces.is_empty() && errors.len() == before {
        errors.push(LineError::NoNamespaces);
    }
    match (kind, field()) {
        (Some("ssh-ed25519"), Some(key)) => match parse_key(key) {
            Ok(key) => line.key = Some(key),
            Err(error) => errors.push(error),
        },
        (Some(kind), Some(_)) => errors.push(LineError::KeyType(shown(kind))),
        _ => errors.push(LineError::Fields),
    }
    (line, errors)
}

/// `name="value"`, comma-separated.
fn parse_options(mut rest: &str, line: &mut Line, errors: &mut Vec<LineError>) {
    let mut seen = BTreeSet::new();
    while !rest.is_empty() {
        let name_len = rest.find(['=', ',']).unwrap_or(rest.len());
        let (name, mut after) = rest.split_at(name_len);
        let mut value = None;
        if after.starts_with('=') || name.is_empty() {
            let quoted = after.strip_prefix("=\"").and_then(|after| after.split_once('"'));
            let Some((inside, behind)) = quoted.filter(|_| !name.is_empty()) else {
                errors.push(LineError::Syntax(shown(rest)));
                return;
            };
            (value, after) = (Some(inside), behind);
        }
        if seen.insert(name) {
            parse_option(name, value, line, errors);
        } else {
            errors.push(LineError::RepeatedOption(shown(name)));
        }
        rest = match after.strip_prefix(',') {
            Some(next) if !next.is_empty() => next,
            None if after.is_empty() => after,
            _ => {
                errors.push(LineError::Syntax(shown(after)));
                return;
            }
        };
    }
    if let (Some(after), Some(before)) = (line.window.after, line.window.before)
        && after >= before
    {
        errors.push(LineError::Window("ends before it begins"));
    }
}

/// One option; a flag such as `cert-authority` has no value.
fn parse_option(name: &str, value: Option<&str>, line: &mut Line, errors: &mut Vec<LineError>) {
    let mut date = |option: &'static str, value: &str| {
        let refuse = |why| LineError::Date { option, value: shown(value), why };
        Window::parse(value).map_err(|why| errors.push(refuse(why))).ok()
    };
    match (name, value) {
        ("valid-after", Some(value)) => line.window.after = date("valid-after", value),
        ("valid-before", Some(value)) => line.window.before = date("valid-before", value),
        ("namespaces", Some(value)) => {
            for text in value.split(',') {
                match text.parse() {
                    Ok(namespace) if line.namespaces.insert(namespace) => {}
                    _ => errors.push(LineError::Namespace(shown(text))),
                }
            }
        }
        // OpenSSH compares option names without regard to case.
        _ if name.eq_ignore_ascii_case("cert-authority") => errors.push(LineError::CertAuthority),
        ("valid-after" | "valid-before" | "namespaces", None) => {
            errors.push(LineError::Syntax(shown(name)));
        }
        _ => errors.push(LineError::UnknownOption(shown(name))),
    }
}

/// An ed25519 key. Its 51 bytes fill their base64 exactly, so that it has one spelling.
fn parse_key(text: &str) -> Result<Ed25519PublicKey, LineError> {
    let key = PublicKey::from_openssh(&format!("ssh-ed25519 {text}"));
    let key = key.map_err(|error| LineError::Key(error.to_string()))?;
    let Some(bytes) = key.key_data().ed25519() else {
        return Err(LineError::Key("no ed25519 key".to_owned()));
    };
    if is_weak(bytes) { Err(LineError::WeakKey) } else { Ok(*bytes) }
}

/// Whether a key is one of the points of order 1, 2, 4 or 8, under which a signature that fits many
/// messages is made without any secret. The encodings, sign bit aside, are those that libsodium
/// blocks too.
fn is_weak(key: &Ed25519PublicKey) -> bool {
    const ORDER_8: [u8; 32] = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    const ORDER_8_NEGATED: [u8; 32] = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    let mut y = key.0;
    y[31] &= 0x7f;
    let near = |low: u8, rest: u8, top: u8| {
        y[0] == low && y[1..31].iter().all(|byte| *byte == rest) && y[31] == top
    };
    // 0 and 1; then p - 1, p and p + 1 with p = 2^255 - 19.
    let small = near(0, 0, 0) || near(1, 0, 0);
    let around_p = (0xec..=0xee).any(|low| near(low, 0xff, 0x7f));
    small || around_p || y == ORDER_8 || y == ORDER_8_NEGATED
}

/// As much of a hostile text as a message needs.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
