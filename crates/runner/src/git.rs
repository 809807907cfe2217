//! What git knows: the commit, what changed, and the files of another revision.
//!
//! Only reading commands are run. A course need not be a repository: then there is no commit, and
//! `--base` and `--changed` are refused with a clear word.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use duct::{Expression, cmd};
use proofrun_core::record::model::Commit;

/// The largest file of another revision that is read, in bytes.
const BLOB_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why git did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be started, or its pipes broke.
    #[error("failed to run git; is it installed?")]
    Start(#[source] std::io::Error),
    /// It refused.
    #[error("git refused `{command}`: {message}")]
    Refused {
        /// What was asked.
        command: String,
        /// What it said.
        message: String,
    },
    /// Files that have to be looked at lie in another repository.
    #[error("`{0}` is a submodule; evidence, reviews and the trust root lie in the course itself")]
    Submodule(Utf8PathBuf),
    /// It answered in a way that can't be read.
    #[error("git's answer to `{0}` can't be read")]
    Answer(String),
}

/// Variables that lead git to another repository, index or set of objects (git(1), "Environment
/// Variables"): a hook has some of them set.
const LEADS_ELSEWHERE: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
];

/// git on this root's repository: its objects are those that their names say, without replacements
/// and grafts, and no program of its configuration watches the files.
fn command(root: &Utf8Path, args: &[&str]) -> Expression {
    let mut all = vec!["-C", root.as_str(), "-c", "core.quotePath=false"];
    all.extend(["-c", "core.fsmonitor=false", "--no-replace-objects", "--literal-pathspecs"]);
    all.extend(args);
    let command = cmd("git", &all).env("GIT_GRAFT_FILE", "/dev/null");
    LEADS_ELSEWHERE.iter().fold(command, |command, name| command.env_remove(name))
}

fn git(root: &Utf8Path, args: &[&str]) -> Result<Vec<u8>, GitError> {
    let output = command(root, args)
        .stdin_null()
        .stdout_capture()
        .stderr_capture()
        .unchecked()
        .run()
        .map_err(GitError::Start)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Refused { command: args.join(" "), message })
}

/// The commit that the work tree is at, and whether tracked or untracked, unignored files of
/// `paths` differ from it. `None` outside a repository or before the first commit.
///
/// # Errors
/// When git can't be started or refuses to tell the state of a work tree that it knows.
pub fn commit(root: &Utf8Path, paths: &[&str]) -> Result<Option<Commit>, GitError> {
    let id = match git(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
        Ok(id) => String::from_utf8_lossy(&id).trim().to_owned(),
        Err(GitError::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut args = vec!["status", "--porcelain", "--untracked-files=all", "--"];
    args.extend(paths);
    // `assume-unchanged` and `skip-worktree` hide edits from `status`; a tree with such flags
    // counts as dirty.
    let hidden = git(root, &["ls-files", "-v"])?;
    let hides = hidden
        .split(|byte| *byte == b'\n')
        .any(|line| line.first().is_some_and(|flag| flag.is_ascii_lowercase() || *flag == b'S'));
    let dirty = hides || !git(root, &args)?.is_empty();
    Ok(Some(Commit { id, dirty }))
}

/// Whether git tracks this path or anything below it. Where there is no repository nothing is
/// tracked.
pub fn tracks(root: &Utf8Path, path: &Utf8Path) -> bool {
    let within = path.strip_prefix(root).unwrap_or(path);
    git(root, &["ls-files", "-z", "--", within.as_str()]).is_ok_and(|listing| !listing.is_empty())
}

/// Paths, relative to the root, that differ from a revision: changed, deleted, and untracked ones.
///
/// # Errors
/// When git can't be started, or doesn't know the revision.
pub fn changed(root: &Utf8Path, revision: &str) -> Result<Vec<Utf8PathBuf>, GitError> {
    let resolved = resolve(root, revision)?;
    let mut paths = Vec::new();
    for args in [
        &["diff", "--name-only", "--relative", "-z", &resolved, "--"][..],
        &["ls-files", "--others", "--exclude-standard", "-z"][..],
    ] {
        let answer = git(root, args)?;
        for name in answer.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = std::str::from_utf8(name).map_err(|_| GitError::Answer(args.join(" ")))?;
            paths.push(Utf8PathBuf::from(name));
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn resolve(root: &Utf8Path, revision: &str) -> Result<String, GitError> {
    let asked = format!("{revision}^{{commit}}");
    let id = git(root, &["rev-parse", "--verify", "--end-of-options", &asked])?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}

/// The files of a revision for which `wanted` holds, by their path from the root.
///
/// # Errors
/// When git can't be started, doesn't know the revision, or a file is larger than is read.
pub fn files_of(
    root: &Utf8Path,
    revision: &str,
    wanted: impl Fn(&Utf8Path) -> bool,
) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, GitError> {
    let resolved = resolve(root, revision)?;
    let args = ["ls-tree", "-r", "-z", &resolved, "--", "."];
    let unreadable = || GitError::Answer(args.join(" "));
    let listing = git(root, &args)?;
    let mut names = Vec::new();
    for row in listing.split(|byte| *byte == 0).filter(|row| !row.is_empty()) {
        // `MODE TYPE OBJECT\tPATH` (git-ls-tree(1), OUTPUT FORMAT).
        let row = std::str::from_utf8(row).map_err(|_| unreadable())?;
        let (facts, path) = row.split_once('\t').ok_or_else(unreadable)?;
        let mut facts = facts.split(' ').skip(1);
        let (kind, object) = (facts.next(), facts.next().ok_or_else(unreadable)?);
        // A submodule's files are another repository's: nothing here could say whether they stayed.
        if kind == Some("commit") && wanted(&Utf8Path::new(path).join("any")) {
            return Err(GitError::Submodule(path.into()));
        }
        if kind == Some("blob") && wanted(Utf8Path::new(path)) {
            names.push((Utf8PathBuf::from(path), object.to_owned()));
        }
    }
    blobs(root, &names)
}

fn blobs(
    root: &Utf8Path,
    names: &[(Utf8PathBuf, String)],
) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, GitError> {
    let asked: String = names.iter().map(|(_, object)| format!("{object}\n")).collect();
    let answer = command(root, &["cat-file", "--batch"])
        .stdin_bytes(asked)
        .stderr_null()
        .reader()
        .map_err(GitError::Start)?;
    let mut answer = BufReader::new(answer);
    let unreadable = || GitError::Answer("cat-file --batch".into());
    let mut files = BTreeMap::new();
    for (path, object) in names {
        // `OBJECT TYPE SIZE\n`, the bytes, `\n` (git-cat-file(1), BATCH OUTPUT).
        let mut head = String::new();
        answer.read_line(&mut head).map_err(GitError::Start)?;
        let size = head
            .trim_end()
            .strip_prefix(object.as_str())
            .and_then(|rest| rest.strip_prefix(" blob ").and_then(|size| size.parse::<u64>().ok()));
        let size = size.filter(|size| *size <= BLOB_BYTES_MAX).ok_or_else(unreadable)?;
        let mut bytes = Vec::new();
        (&mut answer).take(size).read_to_end(&mut bytes).map_err(GitError::Start)?;
        let mut newline = [0];
        answer.read_exact(&mut newline).map_err(GitError::Start)?;
        files.insert(path.clone(), bytes);
    }
    Ok(files)
}
