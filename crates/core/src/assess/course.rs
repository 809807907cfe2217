//! What belongs to the course rather than to a lesson.

use std::collections::BTreeMap;

use crate::toolkit::ToolkitFacts;
use crate::trust::TrustRoot;

/// The course as lessons see it.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// Who may sign what.
    pub trust: TrustRoot,
    /// The canonical copies of `lessons/common/`, by file name.
    pub common: BTreeMap<String, String>,
    /// The toolkit at hand, for lessons that pin theirs.
    pub toolkit: Option<ToolkitFacts>,
}
