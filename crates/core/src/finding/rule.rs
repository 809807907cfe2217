//! The table of rules: each with its identifier, the class that decides the exit code, and what it
//! holds.
//!
//! A new check starts with a row here; a test demands that every row has a fixture that breaks it.

use serde::Serialize;

/// What kind of thing went wrong, in the order in which exit codes win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A record, review or trust root that is not what was signed.
    Tampered,
    /// A lesson that fails to build or to run.
    Failed,
    /// Output that does not fit its template, or runs that disagree.
    Mismatch,
    /// The emulated device found an error in a program.
    Emulated,
    /// The page, header, snippets, copies, commands or manifest say what is not so.
    Drift,
    /// Valid evidence, but for other inputs.
    Stale,
    /// Evidence that waits for a review.
    Unreviewed,
    /// No evidence.
    Unverified,
    /// A device or a toolkit that was required is absent.
    Absent,
    /// Nothing was selected or executed where that was asked for.
    Nothing,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident => $class:ident, $id:literal;)+) => {
        /// A rule that a finding can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[doc = $doc])+ $name,)+ }

        impl Rule {
            /// Every rule there is.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)+];

            /// Its identifier, stable across versions.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// Its class.
            pub fn class(self) -> Class {
                match self { $(Rule::$name => Class::$class,)+ }
            }

            /// What it holds, in a sentence.
            pub fn holds(self) -> &'static str {
                match self { $(Rule::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

rules! {
    /// A manifest is UTF-8 TOML of schema 1 with known keys of the right types.
    Manifest => Drift, "manifest";
    /// The trust root is a strict list of keys and a policy that can be read.
    TrustRoot => Tampered, "trust-root";
    /// A stored signature fits its file, and the trust root allows its key.
    SignatureInvalid => Tampered, "signature-invalid";
    /// A review entry is complete, canonical, signed, and about its lesson.
    ReviewFile => Tampered, "review-file";
    /// A review file is named after the digest of its bytes, and nothing else lies beside it.
    ReviewName => Tampered, "review-name";
    /// A review entry names a record or an entry that its lesson has.
    ReviewTarget => Tampered, "review-target";
    /// Nobody reviews what he recorded where the policy forbids it.
    SelfReview => Tampered, "self-review";
    /// A lesson's output template can be read: known fields, names defined before use, closed
    /// blocks.
    TemplateInvalid => Drift, "template-invalid";
    /// The output of a run fits its lesson's template, line by line.
    OutputMismatch => Mismatch, "output-mismatch";
    /// Exact fields print the same in every run.
    RunsDisagree => Mismatch, "runs-disagree";
    /// A source, page or manifest has at most 1 MiB.
    TextSize => Drift, "text-size";
    /// A text is UTF-8 without byte order mark, lone carriage returns and characters that do not
    /// show.
    TextEncoding => Drift, "text-encoding";
    /// No text holds a merge's conflict markers.
    ConflictMarker => Drift, "conflict-marker";
    /// A source has no literal, comment or include that compilers could take differently.
    SourceLexing => Drift, "source-lexing";
    /// A header has one `Build:` and one `Run:` line, each a command of plain words.
    HeaderCommand => Drift, "header-command";
    /// A status paragraph has three lines, a known word, and no line that goes on.
    StatusParagraph => Drift, "status-paragraph";
    /// A status line stands in the first comment block only.
    StatusElsewhere => Drift, "status-elsewhere";
    /// A snippet marker is written exactly, alone on its line.
    SnippetMarker => Drift, "snippet-marker";
    /// A snippet is closed.
    SnippetUnclosed => Drift, "snippet-unclosed";
    /// A snippet's end marker closes a snippet.
    SnippetStrayEnd => Drift, "snippet-stray-end";
    /// Snippets do not nest.
    SnippetNested => Drift, "snippet-nested";
    /// A lesson has one snippet of a name.
    SnippetDuplicate => Drift, "snippet-duplicate";
    /// A snippet has a line that is not blank.
    SnippetEmpty => Drift, "snippet-empty";
    /// A snippet that the page names exists.
    SnippetMissing => Drift, "snippet-missing";
    /// The page shows a snippet as it is in the program.
    SnippetDiffers => Drift, "snippet-differs";
    /// The page shows every snippet.
    SnippetUnused => Drift, "snippet-unused";
    /// A marked copy's marker is written exactly, alone on its line.
    CopyMarker => Drift, "copy-marker";
    /// A marked copy is closed.
    CopyUnclosed => Drift, "copy-unclosed";
    /// A marked copy's end marker closes a copy.
    CopyStrayEnd => Drift, "copy-stray-end";
    /// Marked copies do not nest.
    CopyNested => Drift, "copy-nested";
    /// A program has one copy of a common file.
    CopyDuplicate => Drift, "copy-duplicate";
    /// A marked copy has a line that is not blank.
    CopyEmpty => Drift, "copy-empty";
    /// A marked copy names a common file.
    CopyUnknown => Drift, "copy-unknown";
    /// A marked copy equals the common file.
    CopyDiffers => Drift, "copy-differs";
    /// What reads like output stands in a region, where it is compared.
    OutputPasted => Drift, "output-pasted";
    /// A region or assertion is on a build that the lesson declares or has records of.
    TargetUnknown => Drift, "target-unknown";
    /// A page has a title.
    PageTitle => Drift, "page-title";
    /// A page's fenced code blocks are closed.
    PageFence => Drift, "page-fence";
    /// A page's marker is written exactly, alone on its line, at column 1.
    RegionMarker => Drift, "region-marker";
    /// A page's region is closed.
    RegionUnclosed => Drift, "region-unclosed";
    /// A page's end marker closes a region.
    RegionStrayEnd => Drift, "region-stray-end";
    /// A page's region is closed by an end marker of its own kind.
    RegionMismatch => Drift, "region-mismatch";
    /// A page's regions hold no other marker.
    RegionNested => Drift, "region-nested";
    /// A page has one region of a kind, name, program and target.
    RegionDuplicate => Drift, "region-duplicate";
    /// A page shows the header's commands, in order, in one code block, and no other build of the
    /// program.
    CommandsDiffer => Drift, "commands-differ";
    /// Prose states no measured number.
    ProseNumber => Drift, "prose-number";
    /// A lesson's folder holds plain files only: nothing leads out of it.
    Stranger => Drift, "stranger";
    /// A lesson has a page.
    PageMissing => Drift, "page-missing";
    /// A file that a program includes is in the course.
    IncludeMissing => Drift, "include-missing";
    /// A record is what was signed: every file, in its place, under its name.
    RecordTampered => Tampered, "record-tampered";
    /// A record's signature holds.
    RecordSignature => Tampered, "record-signature";
    /// Evidence and reviews of the base revision are still there, byte for byte.
    AppendOnly => Tampered, "append-only";
    /// One bundle yields one record of a variant on a model.
    NonceReused => Unreviewed, "nonce-reused";
    /// A record that is imported answers to a bundle of this course.
    ImportRefused => Tampered, "import-refused";
    /// A `record` region names a program of its lesson.
    RegionProgram => Drift, "region-program";
    /// A `record` region holds a reviewed record's rendering, the withdrawn text, or the blank.
    RegionDrifted => Drift, "region-drifted";
    /// The status paragraph says what the evidence says, and the regions say the same.
    StatusDrifted => Drift, "status-drifted";
    /// A snapshot is what a reviewed record renders to.
    SnapshotDrifted => Drift, "snapshot-drifted";
    /// Nothing in the environment or the course makes insta pass or write a snapshot that differs.
    InstaForcePass => Drift, "insta-force-pass";
    /// An assertion in the prose holds in every run of the record that it names.
    HoldsFails => Drift, "holds-fails";
    /// An assertion in the prose names a field of the output.
    HoldsField => Drift, "holds-field";
    /// A lesson has a valid record.
    Unverified => Unverified, "unverified";
    /// A lesson's records are of its inputs of today.
    Stale => Stale, "stale";
    /// A lesson's record is reviewed, and what was reviewed is published.
    Unreviewed => Unreviewed, "unreviewed";
    /// A record's runs passed, agree, and fit the template on an untroubled card.
    Unpublishable => Unreviewed, "unpublishable";
    /// What only changes comments is told.
    CommentsChanged => Stale, "comments-changed";
    /// A program runs to its end and exits well.
    RunFailed => Failed, "run-failed";
    /// The same toolkit makes the same PTX of the same code as it was recorded.
    PtxDiffers => Mismatch, "ptx-differs";
    /// Another toolkit's PTX is not compared, which is told.
    PtxNotCompared => Stale, "ptx-not-compared";
    /// A program has no race, no wrong access and no misused barrier on the emulated device.
    EmulatedFinding => Emulated, "emulated-finding";
    /// On the emulated device a program prints what the hardware record of the same card has, but
    /// for measurements.
    EmulatedDiffers => Mismatch, "emulated-differs";
    /// A device that was required ran something.
    DeviceAbsent => Absent, "device-absent";
    /// A toolkit is here, or can be fetched.
    ToolkitAbsent => Absent, "toolkit-absent";
    /// Something was selected.
    NothingSelected => Nothing, "nothing-selected";
    /// A header names the build and the run command, unless the manifest does.
    HeaderMissing => Drift, "header-missing";
    /// A build command is one plain call of nvcc that reads the course and writes its executable.
    BuildCommand => Drift, "build-command";
    /// A program builds by its own command, from a clean copy of the course's files.
    Builds => Failed, "builds";
    /// A build prints no warnings but those that the manifest lists as known.
    BuildWarning => Failed, "build-warning";
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_kebab_case() {
        let ids: std::collections::BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for id in ids {
            assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{id}");
        }
    }
}
