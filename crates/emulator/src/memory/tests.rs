//! Memory from the host's and a warp's side, races aside.

use super::*;
use crate::machine::MemoryKind;
use crate::race::{Grid, WarpClocks};

pub(crate) fn grid(threads: u32) -> Grid {
    Grid { threads, cluster_blocks: 1, isolated: false }
}

#[test]
fn what_is_copied_in_is_loaded_and_what_is_stored_is_copied_out() {
    let mut memory = Memory::new(1 << 30).unwrap();
    let input = memory.allocate(4096, MemoryKind::Device).unwrap();
    let output = memory.allocate(4096, MemoryKind::Device).unwrap();
    let words: Vec<u8> = (0..1024u32).flat_map(u32::to_le_bytes).collect();
    memory.write(input, &words).unwrap();
    let device = memory.begin_launch(grid(32), true);
    let (mut shared, mut local) = (Shared::new(0), Local::new(0));
    let mut clocks = WarpClocks::new(device.grid, 0, 0);
    let mut findings = Findings::new();
    let mut view = View {
        device: &device,
        shared: &mut shared,
        local: &mut local,
        clocks: &mut clocks,
        hint: &mut 0,
        findings: &mut findings,
    };
    let mut staging = Staging::default();
    for at in 0..32 {
        let from: [u64; 32] = std::array::from_fn(|lane| input + (at * 32 + lane as u64) * 4);
        let to: [u64; 32] = std::array::from_fn(|lane| output + (at * 32 + lane as u64) * 4);
        let load = Access::weak(&from, u32::MAX, 4, Space::Global, 0);
        assert_eq!(view.load(&load, &mut staging), Outcome::default());
        let store = Access::weak(&to, u32::MAX, 4, Space::Global, 1);
        assert_eq!(view.store(&store, &mut staging, 0), Outcome::default());
    }
    assert_eq!(findings.clone().into_list(), []);
    let mut back = vec![0; 4096];
    memory.read(output, &mut back).unwrap();
    assert_eq!(back, words);
}
