//! Writing into a page's regions, and nowhere else.

use std::collections::BTreeMap;

use super::Page;

/// Why a page is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no region of this index.
    #[error("the page has no region number {0}")]
    NoRegion(usize),
    /// Two edits of one region.
    #[error("region number {0} is edited twice")]
    Twice(usize),
    /// A body that is neither empty nor ends with a line end.
    #[error("the body for region number {0} does not end with a line end")]
    OpenLine(usize),
    /// The edited page would not have the same regions, with just these bodies.
    #[error("the new bodies would change the page's own markers or code blocks")]
    BreaksPage,
}

impl Page {
    /// The page's text with new bodies for some regions, by index in [`Page::regions`]. Each body
    /// is empty or ends with a line end; every byte outside of these bodies stays.
    ///
    /// # Errors When an index is not a region's or comes twice, or when the text that results would
    /// not read back as the same regions with these bodies: a body that holds an end marker outside
    /// of a fence, say.
    pub fn replace_regions(&self, edits: &[(usize, String)]) -> Result<String, EditError> {
        let mut bodies = BTreeMap::new();
        for (index, body) in edits {
            if *index >= self.regions.len() {
                return Err(EditError::NoRegion(*index));
            }
            if !body.is_empty() && !body.ends_with('\n') {
                return Err(EditError::OpenLine(*index));
            }
            if bodies.insert(*index, body.as_str()).is_some() {
                return Err(EditError::Twice(*index));
            }
        }
        let (mut text, mut from) = (String::with_capacity(self.text.len()), 0);
        for (index, body) in &bodies {
            let range = &self.regions[*index].body;
            text.push_str(&self.text[from..range.start]);
            text.push_str(body);
            from = range.end;
        }
        text.push_str(&self.text[from..]);
        match self.reads_back(&text, &bodies) {
            true => Ok(text),
            false => Err(EditError::BreaksPage),
        }
    }

    fn reads_back(&self, text: &str, bodies: &BTreeMap<usize, &str>) -> bool {
        let (after, _) = Page::parse(&self.path, text);
        let same_holds = after.holds.iter().map(|h| (&h.left, h.op, &h.right, &h.target));
        after.regions.len() == self.regions.len()
            && same_holds.eq(self.holds.iter().map(|h| (&h.left, h.op, &h.right, &h.target)))
            && after.regions.iter().zip(&self.regions).enumerate().all(|(index, (new, old))| {
                let body = bodies.get(&index).copied().unwrap_or_else(|| self.body(old));
                let named = |region: &super::Region| {
                    let (name, program) = (region.name.clone(), region.program.clone());
                    (region.kind, name, program, region.target.clone())
                };
                named(new) == named(old) && after.body(new) == body
            })
    }
}
