//! How wide the terminal is that standard output goes to.

use std::io::IsTerminal;

/// Columns; `None` where standard output is no terminal, or one that doesn't say.
pub fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
