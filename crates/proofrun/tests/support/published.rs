//! Publishing in a scratch course, by the pure functions of the core: what `publish` writes,
//! without the command.

use std::fs;

use proofrun_core::assess::text::record_regions;
use proofrun_core::publication::{body, snapshot, snapshot_name, status_lines};
use proofrun_core::source::replace_status;
use proofrun_core::state::{Pair, Shown};

use super::Scratch;

impl Scratch {
    /// Writes what is reviewed or withdrawn into page, headers and snapshots.
    pub fn show(&self, lesson: &str) {
        let assessment = self.assess(lesson);
        let text = assessment.text.as_ref().unwrap();
        let blank = Shown::Blank;
        let shown = |pair: &Pair| assessment.evidence.get(pair).map_or(&blank, |of| &of.shown);
        let primary = assessment.primary.as_ref().unwrap();
        let bodies = record_regions(&text.page).map(|(index, region)| {
            let pair = text.region_pair(region, Some(primary)).unwrap();
            (index, body(&text.lesson, region, &pair, shown(&pair)).unwrap())
        });
        let page = text.page.replace_regions(&bodies.collect::<Vec<_>>()).unwrap();
        self.write(format!("lessons/{lesson}/README.md"), page);
        for program in &text.lesson.programs {
            let path = format!("lessons/{lesson}/{}", program.source);
            let paragraph = program.header.status.as_ref().unwrap();
            let lines = status_lines(primary, shown(primary), &program.name);
            let source = replace_status(&self.read(&path), paragraph, &lines).unwrap();
            self.write(path, source);
        }
        let _ = fs::remove_dir_all(self.lesson_path(lesson).join("snapshots"));
        for (pair, of) in &assessment.evidence {
            if let Shown::Current(reviewed) = &of.shown {
                let path = format!("lessons/{lesson}/snapshots/{}", snapshot_name(pair));
                self.write(path, snapshot(reviewed));
            }
        }
    }
}
