//! OpenSSH as the oracle: what `ssh-keygen` signs is accepted here, what is signed here it accepts,
//! and it reads every accepted trust root line as we do, to the second. Where `ssh-keygen` is
//! missing these tests fail.

#![allow(clippy::unwrap_used, reason = "these are tests, and so are their helpers")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use proofrun_core::trust::{AllowedSigners, Namespace, new_key, sign, signer_line, verify};
use ssh_key::{LineEnding, PublicKey};

const MESSAGE: &[u8] = b"schema = 1\nbytes, \xff and all\n";

/// A folder for keys and messages, gone after the test.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A fresh key of this type, with its public half beside it.
    fn keygen(&self, name: &str, kind: &str) -> PathBuf {
        let path = self.path(name);
        let args = ["-q", "-N", "", "-C", "a comment", "-t", kind, "-f"];
        succeed(ssh_keygen(&path, None, &[&args[..], &[text(&path)]].concat()));
        path
    }

    /// What `ssh-keygen -Y sign` writes beside a message.
    fn sign(&self, key: &Path, namespace: &str, options: &[&str]) -> Vec<u8> {
        let message = self.write("message", MESSAGE);
        let signature = self.path("message.sig");
        let _ = fs::remove_file(&signature);
        let args = ["-q", "-Y", "sign", "-f", text(key), "-n", namespace];
        succeed(ssh_keygen(&message, None, &[&args[..], options, &[text(&message)]].concat()));
        fs::read(signature).unwrap()
    }

    /// Whether `ssh-keygen -Y verify` accepts a signature at a time.
    fn verifies(&self, line: &str, name: &str, space: &str, signature: &[u8], at: &str) -> bool {
        let signers = self.write("allowed_signers", format!("{line}\n"));
        let message = self.write("message", MESSAGE);
        let signature = self.write("signature", signature);
        let time = format!("-Overify-time={at}");
        let args = ["-Y", "verify", "-f", text(&signers), "-I", name, "-n", space, &time, "-s"];
        let args = [&args[..], &[text(&signature)]].concat();
        ssh_keygen(&signers, Some(&message), &args).status.success()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs the oracle away from any configuration or agent of the machine.
fn ssh_keygen(at: &Path, stdin: Option<&Path>, args: &[&str]) -> Output {
    let mut command = Command::new("ssh-keygen");
    command.args(args).current_dir(at.parent().unwrap()).env_remove("SSH_AUTH_SOCK");
    command.env("TZ", "Pacific/Auckland");
    match stdin {
        Some(path) => command.stdin(File::open(path).unwrap()),
        None => command.stdin(std::process::Stdio::null()),
    };
    command.output().unwrap_or_else(|error| {
        panic!("ssh-keygen is needed for this test (install openssh-client): {error}")
    })
}

#[track_caller]
fn succeed(output: Output) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ssh-keygen failed: {errors}");
}

fn parse(line: &str) -> AllowedSigners {
    let (signers, findings) = AllowedSigners::parse("allowed_signers".into(), line.as_bytes());
    assert_eq!(findings, [], "{line}");
    signers
}

/// A trust root line for the `.pub` file that `ssh-keygen` wrote, comment included.
fn line_for(key: &Path, name: &str, namespaces: &str) -> String {
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    format!("{name} namespaces=\"{namespaces}\" {}", public.trim_end())
}

#[test]
fn what_ssh_keygen_signs_is_accepted() {
    let scratch = Scratch::new();
    let key = scratch.keygen("key", "ed25519");
    let signers = parse(&line_for(&key, "ada@example.org", "record@proofrun,review@proofrun"));
    let now = "2025-01-01T00:00:00Z".parse().unwrap();
    for namespace in Namespace::ALL {
        for hash in ["sha512", "sha256"] {
            let option = format!("-Ohashalg={hash}");
            let signed = scratch.sign(&key, namespace.as_str(), &[&option]);
            let signer = verify(&signers, namespace, MESSAGE, &signed, now).unwrap();
            assert_eq!(signer.principal().as_str(), "ada@example.org");
            let shown = ssh_keygen(&key, None, &["-l", "-f", text(&key)]);
            let shown = String::from_utf8(shown.stdout).unwrap();
            assert!(shown.contains(signer.fingerprint()), "{shown}");
            let other = verify(&signers, namespace, b"other", &signed, now);
            assert!(other.is_err());
        }
    }
}

#[test]
fn what_is_signed_here_ssh_keygen_accepts_and_would_have_written_itself() {
    let scratch = Scratch::new();
    let key = new_key("recorder of a day", &[7; 32]).unwrap();
    let private = scratch.write("key", key.to_openssh(LineEnding::LF).unwrap().as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for namespace in Namespace::ALL {
        let signed = sign(&key, namespace, MESSAGE).unwrap();
        // Ed25519 signatures hold no randomness, so both write the same bytes.
        let theirs = scratch.sign(&private, namespace.as_str(), &[]);
        assert_eq!(signed.as_bytes(), theirs);
        let name = "ada".parse().unwrap();
        let line = signer_line(&name, &[namespace], (None, None), key.public_key()).unwrap();
        let at = "20250101000000Z";
        let accepted = |space| scratch.verifies(&line, "ada", space, signed.as_bytes(), at);
        assert!(accepted(namespace.as_str()));
        for other in Namespace::ALL.into_iter().filter(|other| *other != namespace) {
            assert!(!accepted(other.as_str()));
        }
    }
}

#[test]
fn a_window_means_what_it_means_to_ssh_keygen() {
    let scratch = Scratch::new();
    let key = scratch.keygen("key", "ed25519");
    let signed = scratch.sign(&key, "review@proofrun", &[]);
    let plain = line_for(&key, "ada", "review@proofrun");
    for options in [
        "valid-after=\"20250601Z\"",
        "valid-before=\"202506011200Z\"",
        "valid-after=\"20250601000001Z\",valid-before=\"20250601115959Z\"",
    ] {
        let line = plain.replace(" ssh-ed25519", &format!(",{options} ssh-ed25519"));
        let signers = parse(&line);
        let mut verdicts = Vec::new();
        for at in [
            "20250531235959Z",
            "20250601000000Z",
            "20250601000001Z",
            "20250601115959Z",
            "20250601120000Z",
            "20250601120001Z",
        ] {
            let theirs = scratch.verifies(&line, "ada", "review@proofrun", &signed, at);
            let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", at).unwrap();
            let time = jiff::tz::TimeZone::UTC.to_timestamp(time).unwrap();
            let ours = verify(&signers, Namespace::Review, MESSAGE, &signed, time);
            assert_eq!(ours.is_ok(), theirs, "{options} at {at}: {ours:?}");
            verdicts.push(theirs);
        }
        assert!(verdicts.contains(&true) && verdicts.contains(&false), "{options}");
    }
}

#[test]
fn a_key_of_another_type_is_refused_where_ssh_keygen_accepts_it() {
    let scratch = Scratch::new();
    for kind in ["ecdsa", "rsa"] {
        let key = scratch.keygen(kind, kind);
        let signed = scratch.sign(&key, "record@proofrun", &[]);
        let line = line_for(&key, "ada", "record@proofrun");
        assert!(scratch.verifies(&line, "ada", "record@proofrun", &signed, "20250101000000Z"));
        let (signers, findings) = AllowedSigners::parse("s".into(), line.as_bytes());
        assert_eq!((signers.grants().count(), findings.len()), (0, 1), "{findings:?}");
        let now = "2025-01-01T00:00:00Z".parse().unwrap();
        let refused = verify(&signers, Namespace::Record, MESSAGE, &signed, now);
        assert!(refused.is_err());
    }
}

#[test]
fn a_key_made_here_is_one_to_ssh_keygen() {
    let scratch = Scratch::new();
    let key = new_key("recorder", &[9; 32]).unwrap();
    let private = scratch.write("key", key.to_openssh(LineEnding::LF).unwrap().as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let output = ssh_keygen(&private, None, &["-y", "-f", text(&private)]);
    let public = PublicKey::from_openssh(&String::from_utf8(output.stdout).unwrap()).unwrap();
    assert_eq!(public.key_data(), key.public_key().key_data());
    assert_eq!(public.comment(), "recorder");
}
