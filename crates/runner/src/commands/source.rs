//! Where `record` and `check` take lessons from: an unpacked bundle, or a checkout of the course.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{LessonFiles, LessonText, read};
use proofrun_core::bundle::{BUNDLE_FILE, Bundle, COURSE_FOLDER, PREBUILT_FOLDER};
use proofrun_core::escape::escape;

use crate::bundle;
use crate::course::{course_files, lesson_folders, read_lesson};

use super::Refused;

/// An opened source of lessons.
#[derive(Debug)]
pub struct Source {
    /// The course's root.
    pub root: Utf8PathBuf,
    /// The bundle and its folder, where this is one.
    pub bundle: Option<(Utf8PathBuf, Bundle)>,
}

/// A lesson that was asked for.
#[derive(Debug)]
pub struct Chosen {
    /// Its files.
    pub files: LessonFiles,
    /// Its text, resolved.
    pub text: LessonText,
    /// The variants to take, in the manifest's order.
    pub variants: Vec<String>,
}

/// A lesson's folder from the course's root, and the variants that the bundle lists; a checkout
/// lists none.
type Listed = (Utf8PathBuf, Option<Vec<String>>);

impl Source {
    /// Opens the folder that was named; else this program's own if that is a bundle, else the
    /// current one. Every file of a bundle is checked.
    ///
    /// # Errors
    /// When it is neither a bundle nor a course, or the bundle is torn.
    pub fn open(given: Option<&Utf8Path>) -> Result<Self, Refused> {
        let folder = match given {
            Some(given) => given.to_owned(),
            None => beside_this_program().unwrap_or_else(|| Utf8PathBuf::from(".")),
        };
        let absolute = std::path::absolute(&folder).ok();
        let folder = absolute.and_then(|path| Utf8PathBuf::try_from(path).ok()).unwrap_or(folder);
        if folder.join(BUNDLE_FILE).is_file() {
            let bundle = bundle::open(&folder).map_err(Refused::unexpected)?;
            return Ok(Self { root: folder.join(COURSE_FOLDER), bundle: Some((folder, bundle)) });
        }
        if folder.join("lessons").is_dir() {
            return Ok(Self { root: folder, bundle: None });
        }
        Err(Refused::usage(format!(
            "`{folder}` is neither an unpacked bundle (it has no `{BUNDLE_FILE}`) nor a course (it \
             has no `lessons/`); name one with `--bundle`"
        )))
    }

    /// The lessons of these names, or all; each in one variant, or in all that the source lists.
    ///
    /// # Errors
    /// When a name fits no lesson, a manifest can't be read, or nothing is left.
    pub fn choose(&self, names: &[String], variant: Option<&str>) -> Result<Vec<Chosen>, Refused> {
        let (course, _) = course_files(&self.root).map_err(Refused::unexpected)?.into_course();
        let mut chosen = Vec::new();
        for (folder, listed) in self.folders(names)? {
            let files = read_lesson(&self.root, &folder).map_err(Refused::unexpected)?;
            let (text, _) = read(&files, &course).map_err(|findings| {
                let why: Vec<String> =
                    findings.iter().map(|f| format!("{}: {}", f.place, f.fact)).collect();
                let why = escape(&why.join("; "), false);
                Refused::failed(format!("`{}` can't be read: {why}", files.name()))
            })?;
            let declared = text.lesson.variants.iter().map(|variant| variant.name.clone());
            let variants: Vec<String> = declared
                .filter(|name| listed.as_ref().is_none_or(|listed| listed.contains(name)))
                .filter(|name| variant.is_none_or(|variant| variant == name))
                .collect();
            if !variants.is_empty() {
                chosen.push(Chosen { files, text, variants });
            }
        }
        if chosen.is_empty() {
            let of = variant.map_or_else(String::new, |name| format!(" in a variant `{name}`"));
            return Err(Refused::nothing(format!("no lesson{of} here")));
        }
        Ok(chosen)
    }

    /// Where the bundle keeps prebuilt programs of a lesson, where it does.
    pub fn prebuilt(&self, lesson: &str, variant: &str) -> Option<Utf8PathBuf> {
        let (folder, _) = self.bundle.as_ref()?;
        let prebuilt = folder.join(PREBUILT_FOLDER).join(lesson).join(variant);
        prebuilt.is_dir().then_some(prebuilt)
    }

    /// The folders of the named lessons, or of all.
    fn folders(&self, names: &[String]) -> Result<Vec<Listed>, Refused> {
        let all: Vec<Listed> = match &self.bundle {
            Some((_, bundle)) => {
                let listed = bundle.lesson.iter();
                listed.map(|one| (one.folder.clone(), Some(one.variants.clone()))).collect()
            }
            None => {
                let folders = lesson_folders(&self.root).map_err(Refused::unexpected)?;
                folders.into_iter().map(|folder| (folder, None)).collect()
            }
        };
        if names.is_empty() {
            return Ok(all);
        }
        let mut found = Vec::new();
        for name in names {
            let one = find(&all, name)?;
            if !found.contains(&one) {
                found.push(one);
            }
        }
        Ok(found)
    }
}

/// A lesson by its name, its folder, or the day in its name.
fn find<T: Clone>(all: &[(Utf8PathBuf, T)], name: &str) -> Result<(Utf8PathBuf, T), Refused> {
    let asked = name.trim_end_matches('/');
    let day = format!("{asked}-");
    let fits = |folder: &Utf8Path| {
        let own = folder.file_name().unwrap_or_default();
        own == asked || folder == asked || own.starts_with(&day)
    };
    let mut fitting = all.iter().filter(|(folder, _)| fits(folder));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only.clone()),
        (Some((one, _)), Some((two, _))) => Err(Refused::usage(format!(
            "`{}` could be `{one}` or `{two}`; write the whole name",
            escape(name, false)
        ))),
        (None, _) => {
            let known: Vec<&str> =
                all.iter().filter_map(|(folder, _)| folder.file_name()).collect();
            Err(Refused::usage(format!(
                "no lesson is called `{}`; there are: {}",
                escape(name, false),
                known.join(", ")
            )))
        }
    }
}

fn beside_this_program() -> Option<Utf8PathBuf> {
    let this = Utf8PathBuf::try_from(std::env::current_exe().ok()?).ok()?;
    let folder = this.parent()?.to_owned();
    folder.join(BUNDLE_FILE).is_file().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_found_by_name_folder_or_day() {
        let all = ["lessons/day-7-a", "lessons/day-75-b", "lessons/day-75-c"]
            .map(|folder| (Utf8PathBuf::from(folder), ()));
        let found = |name: &str| find(&all, name).map(|(folder, ())| folder.to_string());
        assert_eq!(found("day-7").unwrap(), "lessons/day-7-a");
        assert_eq!(found("day-75-b").unwrap(), "lessons/day-75-b");
        assert_eq!(found("lessons/day-75-c/").unwrap(), "lessons/day-75-c");
        assert!(found("day-75").unwrap_err().to_string().contains("could be"));
        assert!(found("day-8").unwrap_err().to_string().contains("there are: day-7-a"));
    }
}
