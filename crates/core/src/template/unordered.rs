//! Which line of output belongs to which line of an `unordered` block.
//!
//! **Invariant: if the lines can be paired so that all fit, they are.** The first that fits would
//! not do: `{n:count}` would take the `5` that a line `5` needs. Blocks are short, so augmenting
//! paths are cheap.

use super::MAX_UNORDERED_LINES;

/// For each of `lines` template lines its partner among `texts` lines of output. `fit` says
/// `Some(true)` for one that fits, `Some(false)` for one that looks like it but holds a wrong
/// value; those are paired last.
pub(super) fn pair(
    lines: usize,
    texts: usize,
    fit: &mut dyn FnMut(usize, usize) -> Option<bool>,
) -> Vec<Option<usize>> {
    debug_assert!(lines <= MAX_UNORDERED_LINES);
    let table: Vec<Vec<Option<bool>>> =
        (0..lines).map(|line| (0..texts).map(|text| fit(line, text)).collect()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; texts];
    for line in 0..lines {
        augment(line, &table, &mut owner, &mut vec![false; texts]);
    }
    let mut partner = vec![None; lines];
    for (text, line) in owner.iter().enumerate() {
        if let Some(line) = line {
            partner[*line] = Some(text);
        }
    }
    for line in 0..lines {
        if partner[line].is_none() {
            let free = |text: &usize| owner[*text].is_none() && table[line][*text] == Some(false);
            partner[line] = (0..texts).find(free);
            if let Some(text) = partner[line] {
                owner[text] = Some(line);
            }
        }
    }
    partner
}

/// Finds a text for `line`, moving others if need be. It recurses at most once a line of the block.
fn augment(
    line: usize,
    table: &[Vec<Option<bool>>],
    owner: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for text in 0..owner.len() {
        if table[line][text] != Some(true) || seen[text] {
            continue;
        }
        seen[text] = true;
        let free = match owner[text] {
            None => true,
            Some(other) => augment(other, table, owner, seen),
        };
        if free {
            owner[text] = Some(line);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greedy_choice_is_undone() {
        // Line 0 fits both texts, line 1 only the first.
        let fits = [[true, true], [true, false]];
        let paired = pair(2, 2, &mut |line, text| fits[line][text].then_some(true));
        assert_eq!(paired, [Some(1), Some(0)]);
    }

    #[test]
    fn what_only_resembles_is_paired_last() {
        let fits = [[Some(false), None], [Some(true), None]];
        assert_eq!(pair(2, 2, &mut |line, text| fits[line][text]), [None, Some(0)]);
        let fits = [[Some(false), None], [None, Some(true)]];
        assert_eq!(pair(2, 2, &mut |line, text| fits[line][text]), [Some(0), Some(1)]);
        assert_eq!(pair(2, 0, &mut |_, _| Some(true)), [None, None]);
    }
}
