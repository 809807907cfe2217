//! From a manifest as written to a Lesson, filling in what the folder, the README and the headers
//! say.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use toml::Spanned;

use crate::argv::BuildCommand;
use crate::device::Capability;
use crate::finding::{Finding, Findings, Place, Rule};
use crate::kernels;
use crate::source::{Header, missing};
use crate::template::Template;

use super::model::{Below, Lesson, Needs, Program, PublishRules, RunChoice, RunRules, Variant};
use super::raw::{RawLesson, RawNeeds, RawPublish, SCHEMA};

/// Seconds after which a run counts as hung, unless the manifest says otherwise.
const DEADLINE_S_DEFAULT: u32 = 60;

/// The longest deadline that a manifest can ask for: half an hour.
const DEADLINE_S_MAX: u32 = 1800;

/// What of a lesson is known beside its manifest.
#[derive(Debug, Clone, Copy)]
pub struct LessonSource<'a> {
    /// The lesson's folder, relative to the course's root.
    pub folder: &'a Utf8Path,
    /// The manifest's text.
    pub manifest: &'a str,
    /// The README's title, where it has one.
    pub title: Option<&'a str>,
    /// The text of each `.cu` in the folder, by its path within it.
    pub programs: &'a BTreeMap<Utf8PathBuf, String>,
}

/// Resolves a manifest.
///
/// # Errors
/// All that is wrong with it; the headers' own findings are among them.
pub fn resolve(raw: &RawLesson, source: LessonSource<'_>) -> Result<(Lesson, Findings), Findings> {
    let mut resolver = Resolver { source, findings: Vec::new() };
    let lesson = resolver.lesson(raw);
    let is_fatal = |rule| matches!(rule, Rule::Manifest | Rule::TemplateInvalid);
    let fatal = resolver.findings.iter().any(|finding| is_fatal(finding.rule));
    match lesson {
        Some(lesson) if !fatal => Ok((lesson, resolver.findings)),
        _ => Err(resolver.findings),
    }
}

struct Resolver<'a> {
    source: LessonSource<'a>,
    findings: Findings,
}

impl<'a> Resolver<'a> {
    fn lesson(&mut self, raw: &RawLesson) -> Option<Lesson> {
        if *raw.schema.get_ref() != SCHEMA {
            let fact = format!("manifest schema {} is not known", raw.schema.get_ref());
            self.refuse(&raw.schema, fact, "write `schema = 1`");
        }
        let name = self.source.folder.file_name()?.to_owned();
        let programs = self.programs(raw);
        let primary = programs.first()?;
        let variants = self.variants(raw, primary);
        let needs = self.needs(&raw.needs, primary)?;
        let publish = self.publish(&raw.publish, &variants, primary);
        let title = raw.title.clone().or_else(|| self.source.title.map(str::to_owned));
        Some(Lesson {
            day: day_of(&name),
            folder: self.source.folder.to_owned(),
            title: title.unwrap_or_else(|| name.clone()),
            name,
            variants,
            needs,
            run: self.run_rules(raw),
            known_warnings: self.known_warnings(raw),
            pin_toolkit: raw.build.pin_toolkit,
            publish,
            programs,
        })
    }

    fn path(&self) -> Utf8PathBuf {
        self.source.folder.join("lesson.toml")
    }

    fn refuse<T>(&mut self, at: &Spanned<T>, fact: impl Into<String>, next: impl Into<String>) {
        let place = Place::offset(self.path(), self.source.manifest, at.span().start);
        self.findings.push(Finding::error(Rule::Manifest, place, fact, next));
    }

    fn programs(&mut self, raw: &RawLesson) -> Vec<Program> {
        let mut programs = Vec::new();
        if let Some(source) = self.primary_source(raw) {
            let (build, run) = (raw.build.command.as_ref(), raw.run.command.as_ref());
            programs.extend(self.program(source, &raw.output, build, run));
        }
        if let (Some(check), Some(primary)) = (&raw.check, programs.first_mut()) {
            let harness = check.harness.get_ref();
            if kernels::harness(harness).is_some() {
                primary.harness = Some(harness.clone());
            } else {
                let known = kernels::HARNESSES
                    .iter()
                    .map(|known| known.name)
                    .collect::<Vec<_>>()
                    .join("`, `");
                let fact = format!("no Rust harness is called `{harness}`");
                self.refuse(&check.harness, fact, format!("known are `{known}`"));
            }
        }
        for extra in &raw.program {
            let source = Utf8PathBuf::from(extra.source.get_ref());
            if !self.source.programs.contains_key(&source) {
                let fact = format!("no `{source}` in the lesson's folder");
                self.refuse(&extra.source, fact, "name a `.cu` of this folder");
                continue;
            }
            let (build, run) = (extra.build.as_ref(), extra.run.as_ref());
            if let Some(program) = self.program(source, &extra.output, build, run) {
                if programs.iter().any(|other| other.name == program.name) {
                    let fact = format!("program `{}` is declared twice", program.name);
                    self.refuse(&extra.source, fact, "declare each program once");
                } else {
                    programs.push(program);
                }
            }
        }
        programs
    }

    fn primary_source(&mut self, raw: &RawLesson) -> Option<Utf8PathBuf> {
        if let Some(source) = &raw.source {
            let path = Utf8PathBuf::from(source.get_ref());
            if self.source.programs.contains_key(&path) {
                return Some(path);
            }
            let fact = format!("no `{path}` in the lesson's folder");
            self.refuse(source, fact, "name a `.cu` of this folder");
            return None;
        }
        let extra: Vec<_> = raw.program.iter().map(|extra| extra.source.get_ref()).collect();
        let mut rest = self.source.programs.keys().filter(|path| {
            path.components().count() == 1 && !extra.iter().any(|name| **name == path.as_str())
        });
        match (rest.next(), rest.next()) {
            (Some(only), None) => Some(only.clone()),
            (None, _) => {
                let fact = "no program: the lesson's folder holds no `.cu`";
                self.refuse(&raw.schema, fact, "add the program");
                None
            }
            (Some(one), Some(two)) => {
                let fact = format!("which program is the lesson's: `{one}`, `{two}`?");
                self.refuse(&raw.schema, fact, "say `source = \"…\"`, or declare a `[[program]]`");
                None
            }
        }
    }

    fn program(
        &mut self,
        source: Utf8PathBuf,
        output: &Spanned<String>,
        build: Option<&Spanned<String>>,
        run: Option<&Spanned<String>>,
    ) -> Option<Program> {
        let text = self.source.programs.get(&source)?;
        let path = self.source.folder.join(&source);
        let (header, findings) = Header::parse(&path, text);
        let no_build = build.map(|_| missing(&path, "Build:"));
        let no_run = run.map(|_| missing(&path, "Run:"));
        let said = |finding: &Finding| {
            no_build.as_ref() != Some(finding) && no_run.as_ref() != Some(finding)
        };
        self.findings.extend(findings.into_iter().filter(said));
        let build_command = self.build(&path, build, &header);
        let run_command = match run {
            Some(given) => self.words(given),
            None => header.run.as_ref().map(|command| command.argv.clone()),
        };
        let template = self.template(output);
        Some(Program {
            name: source.file_stem()?.to_owned(),
            source,
            build: build_command?,
            run: run_command?,
            template: template?,
            harness: None,
            header,
        })
    }

    fn build(
        &mut self,
        path: &Utf8Path,
        given: Option<&Spanned<String>>,
        header: &Header,
    ) -> Option<BuildCommand> {
        let (text, place) = match (given, &header.build) {
            (Some(given), _) => {
                let at = given.span().start;
                (given.get_ref(), Place::offset(self.path(), self.source.manifest, at))
            }
            (None, Some(command)) => (&command.text, Place::line(path, command.line)),
            (None, None) => return None,
        };
        match BuildCommand::parse(text, self.source.folder) {
            Ok(command) => Some(command),
            Err(errors) => {
                for error in errors {
                    let fact = format!("this build command can't be used: {error}");
                    let next =
                        "build with `nvcc -arch=… -o NAME NAME.cu` inside the lesson's folder";
                    self.findings.push(Finding::error(Rule::Manifest, place.clone(), fact, next));
                }
                None
            }
        }
    }

    fn words(&mut self, given: &Spanned<String>) -> Option<Vec<String>> {
        match shell_words::split(given.get_ref()) {
            Ok(words) if !words.is_empty() => Some(words),
            Ok(_) => {
                self.refuse(given, "command is empty", "write it as it would be typed");
                None
            }
            Err(error) => {
                self.refuse(given, format!("command can't be read: {error}"), "close the quote");
                None
            }
        }
    }

    fn template(&mut self, text: &Spanned<String>) -> Option<Template> {
        match Template::parse(text.get_ref()) {
            Ok(template) => Some(template),
            Err(errors) => {
                // Offsets within a TOML string are not those within the file once it holds an
                // escape or a leading newline, so the line is counted from the string's first.
                let start = Place::offset(self.path(), self.source.manifest, text.span().start);
                let rest = &self.source.manifest[text.span().start..];
                let skipped = u32::from(rest.starts_with("\"\"\"\n") || rest.starts_with("'''\n"));
                for error in errors {
                    let line = start.line.unwrap_or(1) + skipped + error.line.saturating_sub(1);
                    self.findings.push(error.finding(Place::line(self.path(), line)));
                }
                None
            }
        }
    }

    fn variants(&mut self, raw: &RawLesson, primary: &Program) -> Vec<Variant> {
        let own = own_variant(&primary.build);
        let mut variants = vec![Variant { name: own, arch: None }];
        for spanned in &raw.build.variant {
            let variant = spanned.get_ref();
            if !is_slug(&variant.name) {
                let fact = format!("variant name `{}` is no slug", variant.name.escape_debug());
                self.refuse(spanned, fact, "use letters, digits, `_`, `-` and `.`");
            } else if variants.iter().any(|other| other.name == variant.name) {
                let fact = format!("variant `{}` is declared twice", variant.name);
                self.refuse(spanned, fact, "give each variant its own name");
            } else if let Err(error) = primary.build.with_arch(&variant.arch) {
                let fact = format!("variant `{}` can't be built: {error}", variant.name);
                self.refuse(spanned, fact, "write `arch = \"sm_90\"`");
            } else {
                let (name, arch) = (variant.name.clone(), Some(variant.arch.clone()));
                variants.push(Variant { name, arch });
            }
        }
        variants
    }

    fn needs(&mut self, raw: &RawNeeds, primary: &Program) -> Option<Needs> {
        let compute_capability = match &raw.compute_capability {
            None => primary.build.floor().capability,
            Some(text) => match text.get_ref().parse::<Capability>() {
                Ok(capability) => capability,
                Err(error) => {
                    self.refuse(text, error.to_string(), "write it as `\"8.0\"`");
                    return None;
                }
            },
        };
        let gpus = raw.gpus.as_ref().map_or(1, |gpus| *gpus.get_ref());
        if let Some(wrong) = raw.gpus.as_ref().filter(|gpus| *gpus.get_ref() == 0) {
            self.refuse(wrong, "a lesson needs at least one device", "leave `gpus` out");
        }
        let below = match &raw.below {
            None => None,
            Some(below) => Some(Below {
                exit: below.exit,
                stdout: self.template(&below.stdout)?,
                stderr: self.template(&below.stderr)?,
            }),
        };
        Some(Needs { compute_capability, gpus, below })
    }

    /// Each names one diagnostic: a pattern would hide warnings that nobody has looked at.
    fn known_warnings(&mut self, raw: &RawLesson) -> Vec<String> {
        for known in &raw.build.known_warnings {
            let number = known.get_ref().strip_suffix("-D").unwrap_or(known.get_ref());
            let plain = number.bytes().all(|byte| byte.is_ascii_digit());
            if number.is_empty() || number.len() > 8 || !plain {
                let fact =
                    format!("`{}` is no diagnostic's number", known.get_ref().escape_debug());
                self.refuse(known, fact, "write the number that nvcc prints, such as `20054-D`");
            }
        }
        raw.build.known_warnings.iter().map(|known| known.get_ref().clone()).collect()
    }

    fn run_rules(&mut self, raw: &RawLesson) -> RunRules {
        let mut deadline_s = DEADLINE_S_DEFAULT;
        if let Some(asked) = &raw.run.deadline_s {
            deadline_s = *asked.get_ref();
            if deadline_s == 0 || deadline_s > DEADLINE_S_MAX {
                let fact = format!("a deadline of {deadline_s} s");
                self.refuse(asked, fact, format!("use 1 to {DEADLINE_S_MAX}"));
            }
        }
        RunRules { deadline_s, environment: self.environment(raw) }
    }

    /// The program's variables; none that would load somebody else's code into it.
    fn environment(&mut self, raw: &RawLesson) -> BTreeMap<String, String> {
        let mut environment = BTreeMap::new();
        for (name, value) in &raw.run.environment {
            let loads = name.starts_with("LD_") || name.ends_with("_INJECTION64_PATH");
            if loads || name == "CUDA_VISIBLE_DEVICES" {
                let fact = format!("the program can't be given `{name}`");
                let next = "leave it out: it decides which code or which card is recorded";
                self.refuse(value, fact, next);
            } else if name.is_empty()
                || name.contains(['=', '\0'])
                || value.get_ref().contains('\0')
            {
                let next = "use a plain name and a value without a null byte";
                self.refuse(value, format!("`{}` is no variable", name.escape_debug()), next);
            } else {
                environment.insert(name.clone(), value.get_ref().clone());
            }
        }
        environment
    }

    fn publish(
        &mut self,
        raw: &RawPublish,
        variants: &[Variant],
        primary: &Program,
    ) -> PublishRules {
        let mut variant = variants[0].name.clone();
        if let Some(asked) = &raw.variant {
            if variants.iter().any(|known| known.name == *asked.get_ref()) {
                variant = asked.get_ref().clone();
            } else {
                let fact = format!("no variant is called `{}`", asked.get_ref());
                let known: Vec<_> = variants.iter().map(|known| known.name.as_str()).collect();
                self.refuse(asked, fact, format!("declared are `{}`", known.join("`, `")));
            }
        }
        let mut run = RunChoice::Index(0);
        if let Some(asked) = &raw.run {
            match run_choice(asked.get_ref(), &primary.template) {
                Ok(choice) => run = choice,
                Err((fact, next)) => self.refuse(asked, fact, next),
            }
        }
        if let Some(wrong) = raw.model.as_ref().filter(|model| !is_slug(model.get_ref())) {
            let next = "write the slug that `status` shows, such as `h200`";
            self.refuse(wrong, format!("`{}` is no model", wrong.get_ref().escape_debug()), next);
        }
        PublishRules {
            model: raw.model.as_ref().map(|model| model.get_ref().clone()),
            variant,
            run,
        }
    }
}

fn run_choice(text: &str, template: &Template) -> Result<RunChoice, (String, String)> {
    if let Some(field) = text.strip_prefix("median of ") {
        let measured = template.field(field).is_some_and(|f| f.is_measured() && !f.repeated);
        return if measured {
            Ok(RunChoice::MedianOf(field.to_owned()))
        } else {
            let next = "name a duration, ratio or rate of the output template";
            Err((format!("the template measures no field `{field}`"), next.to_owned()))
        };
    }
    let index = text.strip_prefix("run ").and_then(|index| index.parse().ok());
    let next = "write `median of FIELD` or `run 0`";
    index.map(RunChoice::Index).ok_or((format!("`{text}` chooses no run"), next.to_owned()))
}

/// The name of the header's own build: its one machine code, such as `sm_80`, or what its PTX is
/// for.
fn own_variant(build: &BuildCommand) -> String {
    let names: Vec<String> = build.codes().iter().map(ToString::to_string).collect();
    let real = names.iter().find(|name| name.starts_with("sm_"));
    real.or(names.first()).cloned().unwrap_or_else(|| "default".to_owned())
}

fn is_slug(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !text.is_empty() && text.len() <= 64 && text.bytes().all(good) && !text.starts_with('.')
}

fn day_of(name: &str) -> Option<u32> {
    name.strip_prefix("day-")?.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::{Course, LessonFiles, read};

    /// The variables of a lesson with this line under `[run.environment]`, or what is said against
    /// it.
    fn check(line: &str) -> Result<BTreeMap<String, String>, Vec<String>> {
        let manifest = format!("schema = 1\noutput = \"a\\n\"\n[run.environment]\n{line}\n");
        let program = "// Build: nvcc -arch=sm_80 -o a a.cu\n// Run:   ./a\nint main() {}\n";
        let mut files = LessonFiles { folder: "lessons/day-1-a".into(), ..LessonFiles::default() };
        files.files.insert("lesson.toml".into(), manifest.into_bytes());
        files.files.insert("a.cu".into(), program.as_bytes().to_vec());
        match read(&files, &Course::default()) {
            Ok((text, _)) => Ok(text.lesson.run.environment),
            Err(findings) => Err(findings.into_iter().map(|finding| finding.fact).collect()),
        }
    }

    #[test]
    fn a_program_is_given_variables_but_none_that_loads_code_or_hides_cards() {
        assert_eq!(check("OMP_NUM_THREADS = \"2\"").unwrap()["OMP_NUM_THREADS"], "2");
        for name in
            ["LD_PRELOAD", "LD_LIBRARY_PATH", "CUDA_INJECTION64_PATH", "CUDA_VISIBLE_DEVICES"]
        {
            let said = check(&format!("{name} = \"x\"")).unwrap_err();
            assert!(said.iter().any(|fact| fact.contains(name)), "{said:?}");
        }
        for line in ["\"A=B\" = \"x\"", "\"\" = \"x\"", "A = \"x\\u0000\""] {
            let said = check(line).unwrap_err();
            assert!(said.iter().any(|fact| fact.contains("is no variable")), "{line}: {said:?}");
        }
    }
}
