//! A stand-in for a CUDA toolkit: an nvcc that copies files that were made before. For tests of
//! what follows from a build, and for measuring what happens when nothing is built.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::Scratch;

/// It says that it is nvcc 13.0.88, prints `log`, and copies `program` or `ptx` to what follows
/// `-o`.
const NVCC: &str = r#"#!/bin/sh
case "$1" in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
--list-gpu-arch) echo compute_75 compute_90; exit;;
--list-gpu-code) echo sm_75 sm_90; exit;;
esac
what=program
while [ $# -gt 0 ]; do
    case "$1" in
    -ptx|--ptx) what=ptx;;
    -o) out=$2;;
    esac
    shift
done
here=${0%/bin/nvcc}
[ -e "$here/log" ] && cat "$here/log"
[ -e "$here/$what" ] || exit 1
cp "$here/$what" "$out"
"#;

/// What its PTX says: that of the scratch course's records.
pub const PTX: &str = ".version 9.0\n.target sm_75\n";

impl Scratch {
    /// Installs it under `cuda/` of the course's root; its CCCL is that of the scratch course's
    /// records.
    pub fn install_toolkit(&self, program: &[u8], ptx: &str) {
        self.write("cuda/bin/nvcc", NVCC);
        let nvcc = self.path().join("cuda/bin/nvcc");
        fs::set_permissions(nvcc, fs::Permissions::from_mode(0o755)).unwrap();
        self.write("cuda/include/cuda_runtime.h", "");
        self.write("cuda/include/cuda/std/__cccl/version.h", "#define CCCL_VERSION 3000001\n");
        self.write("cuda/ptx", ptx);
        self.write("cuda/program", program);
    }

    /// Installs what stands in for `g++`, which nvcc calls: into `cuda/host/`, to be put on PATH.
    pub fn install_host_compiler(&self) {
        self.write("cuda/host/g++", "#!/bin/sh\necho 'g++ 13.3.0'\n");
        let path = self.path().join("cuda/host/g++");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
