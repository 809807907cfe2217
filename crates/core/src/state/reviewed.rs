//! Proof that a record was reviewed as it is rendered now.

use std::sync::Arc;

use crate::publication::Rendering;
use crate::record::Examined;
use crate::review::{Acceptance, Withdrawal};

/// A valid record, its rendering, and a standing acceptance of exactly that rendering.
///
/// `publish` takes this and nothing else, and outside this module nobody can make one.
#[derive(Debug, Clone)]
pub struct Reviewed {
    examined: Arc<Examined>,
    rendering: Rendering,
    acceptance: Acceptance,
}

impl Reviewed {
    /// `None` unless the acceptance is of this record and this rendering.
    pub(super) fn new(
        examined: &Arc<Examined>,
        rendering: &Rendering,
        acceptance: &Acceptance,
    ) -> Option<Self> {
        let same = acceptance.record == examined.digest
            && acceptance.rendering.digest == rendering.digest();
        same.then(|| Self {
            examined: Arc::clone(examined),
            rendering: rendering.clone(),
            acceptance: acceptance.clone(),
        })
    }

    /// The record.
    pub fn examined(&self) -> &Examined {
        &self.examined
    }

    /// What was reviewed.
    pub fn rendering(&self) -> &Rendering {
        &self.rendering
    }

    /// By whom and when.
    pub fn acceptance(&self) -> &Acceptance {
        &self.acceptance
    }
}

/// What the page may show of a pair besides the blank.
#[derive(Debug, Clone)]
pub enum Shown {
    /// Nothing was ever reviewed.
    Blank,
    /// This.
    Current(Box<Reviewed>),
    /// What was shown was taken back.
    Withdrawn(Box<Withdrawal>),
}
