//! The CUDA toolkit: where it is, what it is, and how to get one.
//!
//! **Invariant: a [`Toolkit`] was seen working: its nvcc said its version.** One that somebody
//! named (by flag or variable, or by putting it on PATH) and that does not work is an error that
//! names it, never skipped for the next.
//!
//! In the flow: [`search`] looks at the places in order → [`Toolkit`] → [`crate::compile`].

pub mod managed;
mod probe;
mod search;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::argv::Code;
use proofrun_core::toolkit::ToolkitFacts;

pub use managed::{Managed, Progress, ProvisionError};
pub(crate) use probe::on_path;
pub use probe::{NotAToolkit, probe};
pub use search::{Error, Origin, Places, Search, Tried, Verdict, ensure, search};

/// A toolkit that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolkit {
    /// The folder that `bin/nvcc` lies in.
    pub root: Utf8PathBuf,
    /// The compiler itself.
    pub nvcc: Utf8PathBuf,
    /// How it was found.
    pub origin: Origin,
    /// Such as `13.0`.
    pub release: String,
    /// Such as `13.0.88`.
    pub version: String,
    /// The version of the CUDA C++ core libraries, such as `3.0.1`.
    pub cccl: Option<String>,
    /// The version of the CUDA runtime's headers, such as `13.0`.
    pub cudart: Option<String>,
    /// The headers.
    pub include: Option<Utf8PathBuf>,
    /// The folder of `libcudart_static.a`. The linker needs `-L` for it: nvcc itself knows `lib64`
    /// only.
    pub lib: Option<Utf8PathBuf>,
    /// Further tools; a toolkit from wheels has none of them.
    pub tools: Tools,
    /// What it compiles for: virtual and real architectures.
    pub codes: Vec<Code>,
    /// The newest PTX version it writes, such as `9.0`; known for releases 11.8 to 13.1.
    pub ptx_isa: Option<String>,
    /// The compiler for host code.
    pub host: Option<HostCompiler>,
}

/// Tools beside the compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Takes executables apart.
    pub cuobjdump: Option<Utf8PathBuf>,
    /// Shows machine code.
    pub nvdisasm: Option<Utf8PathBuf>,
    /// Finds wrong accesses and races on a device.
    pub compute_sanitizer: Option<Utf8PathBuf>,
}

/// The compiler for host code that nvcc calls: `g++` on PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCompiler {
    /// Where it is.
    pub path: Utf8PathBuf,
    /// The first line of its `--version`.
    pub version: String,
}

impl Toolkit {
    /// What a record keeps of it.
    pub fn facts(&self) -> ToolkitFacts {
        ToolkitFacts {
            nvcc: self.version.clone(),
            cccl: self.cccl.clone(),
            host_compiler: self.host.as_ref().map(|host| host.version.clone()),
            ptx_isa: self.ptx_isa.clone(),
        }
    }

    /// Whether it compiles for this architecture.
    pub fn supports(&self, code: Code) -> bool {
        self.codes.contains(&code)
    }

    /// The name by which its programs load a shared CUDA runtime: `libcudart.so.13`.
    pub fn runtime_name(&self) -> String {
        let major = self.release.split('.').next().unwrap_or_default();
        format!("libcudart.so.{major}")
    }

    /// Its folder of programs.
    pub fn bin(&self) -> &Utf8Path {
        self.nvcc.parent().unwrap_or(&self.root)
    }
}

/// The toolkit that tests build with: whatever this machine has, or the managed one, which is
/// fetched once into the workspace's own target folder.
#[cfg(test)]
pub(crate) fn for_tests() -> Toolkit {
    let cancel = crate::system::process::Cancel::new();
    let places = Places::of_environment(None, &target_for_tests());
    ensure(&places, false, &mut |_| {}, &cancel).unwrap()
}

/// The folder that `cargo xtask` in this workspace keeps its toolkit in, so that both share one.
#[cfg(test)]
pub(crate) fn target_for_tests() -> Utf8PathBuf {
    let target = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/proofrun");
    crate::system::files::create_dir(&target).unwrap();
    target.canonicalize_utf8().unwrap()
}
