//! Warnings and errors in what nvcc and its parts print.

use camino::Utf8PathBuf;

/// So many are read from one log.
const DIAGNOSTICS_MAX: usize = 1000;

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The build goes on.
    Warning,
    /// The build fails.
    Error,
}

/// One warning or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Warning or error.
    pub severity: Severity,
    /// The front end's number, such as `20054-D`; the linker, ptxas and the host compiler have
    /// none.
    pub number: Option<String>,
    /// As the compiler names it.
    pub file: Option<Utf8PathBuf>,
    /// From 1.
    pub line: Option<u32>,
    /// The rest of the line.
    pub text: String,
}

/// Reads a log. What is not recognised is skipped; the log itself stays the authority.
pub fn parse(log: &str) -> Vec<Diagnostic> {
    let lines = log.lines().take_while(|line| !line.starts_with("while making the PTX:"));
    lines.filter_map(read).take(DIAGNOSTICS_MAX).collect()
}

fn read(line: &str) -> Option<Diagnostic> {
    tool(line).or_else(|| front_end(line)).or_else(|| host(line))
}

/// `nvcc warning : text`, `nvcc fatal   : text`, `ptxas error   : text`, `collect2: error: text`.
fn tool(line: &str) -> Option<Diagnostic> {
    let tools = ["nvcc", "ptxas", "nvlink", "cicc", "cudafe++", "fatbinary"];
    let rest = tools.iter().find_map(|tool| line.strip_prefix(tool)?.strip_prefix(' '));
    if let Some((kind, text)) = rest.and_then(|rest| rest.split_once(':')) {
        let severity = severity(kind.trim())?;
        return Some(plain(severity, text));
    }
    line.strip_prefix("collect2: error: ").map(|text| plain(Severity::Error, text))
}

fn plain(severity: Severity, text: &str) -> Diagnostic {
    Diagnostic { severity, number: None, file: None, line: None, text: text.trim().into() }
}

/// `x.cu(5): warning #177-D: text`, `x.cu(5): error: text`.
fn front_end(line: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once("): ")?;
    let (file, number) = place.rsplit_once('(')?;
    let (kind, text) = rest.split_once(": ")?;
    let (kind, code) =
        kind.split_once(" #").map_or((kind, None), |(kind, code)| (kind, Some(code)));
    Some(Diagnostic {
        severity: severity(kind)?,
        number: code.map(Into::into),
        file: Some(file.into()),
        line: Some(number.parse().ok()?),
        text: text.trim().into(),
    })
}

/// `x.cu:5:10: warning: text`, `x.cu:5: fatal error: text`.
fn host(line: &str) -> Option<Diagnostic> {
    let kinds = [": warning: ", ": fatal error: ", ": error: "];
    let (at, kind) = kinds.iter().filter_map(|kind| Some((line.find(kind)?, *kind))).min()?;
    let (place, text) = (&line[..at], &line[at + kind.len()..]);
    let mut parts: Vec<&str> = place.split(':').collect();
    let mut numbers = Vec::new();
    while let Some(number) = parts.last().and_then(|part| part.parse::<u32>().ok()) {
        numbers.push(number);
        parts.pop();
    }
    Some(Diagnostic {
        severity: severity(kind.trim_matches([':', ' ']))?,
        number: None,
        file: Some(parts.join(":").into()),
        // Line and column, the last of them first.
        line: Some(*numbers.last()?),
        text: text.trim().into(),
    })
}

fn severity(kind: &str) -> Option<Severity> {
    match kind {
        "warning" => Some(Severity::Warning),
        "error" | "fatal" | "fatal error" | "catastrophic error" | "internal error" => {
            Some(Severity::Error)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Option<(Severity, &str, &str, u32, &str)>) {
        let found = parse(line);
        let found = found.first().map(|found| {
            let file = found.file.as_ref().map_or("", |file| file.as_str());
            let number = found.number.as_deref().unwrap_or("");
            (found.severity, number, file, found.line.unwrap_or(0), found.text.as_str())
        });
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn each_of_the_compilers_voices_is_understood() {
        use Severity::{Error, Warning};
        check(
            "x.cu(5): warning #20054-D: dynamic initialization is not supported",
            Some((Warning, "20054-D", "x.cu", 5, "dynamic initialization is not supported")),
        );
        check(
            "a(b)/x.cu(7): error: it's (bad): no",
            Some((Error, "", "a(b)/x.cu", 7, "it's (bad): no")),
        );
        check("x.cu(1): catastrophic error: no \"y\"", Some((Error, "", "x.cu", 1, "no \"y\"")));
        check("x.cu:5:10: warning: unused [-Wx]", Some((Warning, "", "x.cu", 5, "unused [-Wx]")));
        check("x.cu:2:10: fatal error: y.h: gone", Some((Error, "", "x.cu", 2, "y.h: gone")));
        check("nvcc fatal   : Unknown option", Some((Error, "", "", 0, "Unknown option")));
        check("nvcc warning : Support ends", Some((Warning, "", "", 0, "Support ends")));
        check("ptxas error   : too much data", Some((Error, "", "", 0, "too much data")));
        check("collect2: error: ld returned 1", Some((Error, "", "", 0, "ld returned 1")));
        for line in ["", "  int x;", "      ^", "Remark: y", "ptxas info    : 0 bytes", "x: y: z"] {
            check(line, None);
        }
    }

    #[test]
    fn no_log_is_too_long_or_too_odd() {
        assert_eq!(parse(&"x.cu(5): error: y\n".repeat(5000)).len(), DIAGNOSTICS_MAX);
        let odd = ["): : ", "(): error: ", "(99999999999): error: x", ": error: ", "é(1): error: "];
        assert!(odd.iter().all(|line| parse(line).len() <= 1));
    }
}
