//! The state of the page: which of its legitimate renderings it holds, and whether it holds one at
//! all.

use std::fmt;

/// The state of a page, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageState {
    /// Some region or the header holds neither the blank, the withdrawn nor the current rendering.
    Drifted,
    /// The primary regions and the header say that what was shown was taken back.
    Withdrawn,
    /// The primary regions and the header hold the current rendering.
    Current,
    /// They are blank.
    Blank,
}

impl fmt::Display for PageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drifted => "Drifted",
            Self::Withdrawn => "Withdrawn",
            Self::Current => "Current",
            Self::Blank => "Blank",
        })
    }
}

/// What one region, or the header's paragraph, was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageChoice {
    /// None of its legitimate renderings.
    Neither,
    /// The withdrawn one.
    Withdrawn,
    /// The current one.
    Current,
    /// The blank one.
    Blank,
}

/// The state of a page from what its parts hold: those of the primary pair, the header's paragraph
/// among them, which must all hold the same, and those of other pairs, each of which must hold
/// something legitimate.
pub fn page_state(primary: &[PageChoice], others: &[PageChoice]) -> PageState {
    let drifted = |choice: &PageChoice| *choice == PageChoice::Neither;
    if primary.iter().chain(others).any(drifted) {
        return PageState::Drifted;
    }
    let Some((first, rest)) = primary.split_first() else { return PageState::Blank };
    if rest.iter().any(|choice| choice != first) {
        return PageState::Drifted;
    }
    match first {
        PageChoice::Neither => PageState::Drifted,
        PageChoice::Withdrawn => PageState::Withdrawn,
        PageChoice::Current => PageState::Current,
        PageChoice::Blank => PageState::Blank,
    }
}

#[cfg(test)]
mod tests {
    use super::PageChoice::{Blank, Current, Neither, Withdrawn};
    use super::*;

    #[test]
    fn a_page_is_what_all_its_primary_parts_are() {
        let cases: &[(&[PageChoice], &[PageChoice], PageState)] = &[
            (&[], &[], PageState::Blank),
            (&[Blank, Blank], &[], PageState::Blank),
            (&[Current, Current], &[Blank, Current], PageState::Current),
            (&[Withdrawn, Withdrawn], &[Current], PageState::Withdrawn),
            // The header says verified and the region is blank, or the other way round: a lie
            // either way.
            (&[Current, Blank], &[], PageState::Drifted),
            (&[Blank, Current], &[], PageState::Drifted),
            (&[Withdrawn, Current], &[], PageState::Drifted),
            (&[Current], &[Neither], PageState::Drifted),
            (&[Neither], &[], PageState::Drifted),
        ];
        for (primary, others, expect) in cases {
            assert_eq!(page_state(primary, others), *expect, "{primary:?} {others:?}");
        }
    }
}
