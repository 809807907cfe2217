//! The emulator's own detector, driven step by step.

use std::sync::Arc;

use proofrun_emulator::finding::Severity;
use proofrun_emulator::machine::MemoryKind;
use proofrun_emulator::memory::{
    Access, Device, Findings, Local, Memory, Proxy, Shared, Space, Staging, View,
};
use proofrun_emulator::race::location::Carried;
use proofrun_emulator::race::{BarrierClock, WarpClocks};

use crate::program::{self, Action, BLOCKS, BYTES, Program, Step, Verdict, Warp};

pub struct Detector {
    memory: Memory,
    device: Arc<Device>,
    base: u64,
    shared: Vec<Shared>,
    clocks: Vec<WarpClocks>,
    objects: [Carried; 2],
    hint: u32,
}

impl Detector {
    pub fn new(program: &Program) -> Self {
        let mut memory = Memory::new(1 << 20).unwrap();
        let base = memory.allocate(u64::from(BYTES), MemoryKind::Device).unwrap();
        memory.fill(base, 0, u64::from(BYTES)).unwrap();
        let device = memory.begin_launch(program.grid, false);
        let shared = (0..BLOCKS).map(|_| {
            let mut shared = Shared::new(BYTES);
            shared.write(0, &[0; BYTES as usize]);
            shared
        });
        let warps = (0..BLOCKS).flat_map(|block| [(block, 0), (block, 1)]);
        let clocks = warps.map(|(block, warp)| WarpClocks::new(program.grid, block, warp));
        Self {
            device,
            base,
            shared: shared.collect(),
            clocks: clocks.collect(),
            objects: Default::default(),
            hint: 0,
            memory,
        }
    }

    fn warp(&mut self, warp: Warp) -> &mut WarpClocks {
        &mut self.clocks[(warp.block * 2) as usize + usize::from(warp.warp)]
    }

    pub fn step(&mut self, step: &Step) -> Verdict {
        match step {
            Step::Access(access) => return self.access(access),
            Step::Fence(warp, mask, kind, scope) => self.warp(*warp).fence(*mask, *kind, *scope),
            Step::WarpSync(warp, mask) => self.warp(*warp).warp_sync(*mask),
            Step::Barrier(block, arrive, wait) => self.barrier(*block, arrive, wait),
            Step::Release(warp, mask, scope, object) => {
                let mut carried = std::mem::take(&mut self.objects[*object]);
                self.warp(*warp).release(*mask, *scope, &mut carried);
                self.objects[*object] = carried;
            }
            Step::Acquire(warp, mask, scope, object) => {
                let carried = self.objects[*object].clone();
                self.warp(*warp).acquire(*mask, *scope, &carried);
            }
        }
        Verdict::Fine
    }

    fn barrier(&mut self, block: u32, arrive: &[u32; 2], wait: &[u32; 2]) {
        let mut barrier = BarrierClock::default();
        let warps = [0, 1].map(|warp| Warp { block, warp });
        for (warp, lanes) in warps.iter().zip(arrive).filter(|(_, lanes)| **lanes != 0) {
            barrier.arrive(self.warp(*warp), *lanes);
        }
        let Some(clock) = barrier.complete() else { return };
        for (warp, lanes) in warps.iter().zip(wait).filter(|(_, lanes)| **lanes != 0) {
            self.warp(*warp).resume(*lanes, &clock);
        }
    }

    fn access(&mut self, access: &program::Access) -> Verdict {
        let base = if access.shared { 0 } else { self.base };
        let addresses = access.offsets.map(|offset| base + u64::from(offset));
        let (mut local, mut findings) = (Local::new(0), Findings::new());
        let mut staging = Staging::default();
        let size = u32::from(access.width) * u32::from(access.count);
        let mut there = vec![0; BYTES as usize];
        if access.shared {
            there.copy_from_slice(self.shared[access.warp.block as usize].data());
        } else {
            self.memory.read(self.base, &mut there).unwrap();
        }
        for lane in 0..32 {
            // Each lane writes what is neither there nor written by another lane.
            let at = access.offsets[lane as usize] as usize;
            for (byte, old) in staging.lane_mut(lane, size).iter_mut().zip(&there[at..]) {
                *byte = old.wrapping_add(1 + lane as u8);
            }
        }
        let index = (access.warp.block * 2) as usize + usize::from(access.warp.warp);
        let mut view = View {
            device: &self.device,
            shared: &mut self.shared[access.warp.block as usize],
            local: &mut local,
            clocks: &mut self.clocks[index],
            hint: &mut self.hint,
            findings: &mut findings,
        };
        let asked = Access {
            addresses: &addresses,
            mask: access.mask,
            width: access.width,
            count: access.count,
            space: if access.shared { Space::Shared } else { Space::Global },
            order: access.order,
            proxy: Proxy::Generic,
            returns: !matches!(access.action, Action::Modify(false, _)),
            pc: 0,
        };
        let outcome = match access.action {
            Action::Load => view.load(&asked, &mut staging),
            Action::Store => view.store(&asked, &mut staging, 0),
            Action::Modify(_, wrote) => {
                let mut modify = |lane: u32, value: &mut [u8]| {
                    value[0] = value[0].wrapping_add(1);
                    wrote >> lane & 1 == 1
                };
                view.rmw(&asked, 0, false, &mut modify, &mut staging)
            }
        };
        assert_eq!(outcome, Default::default());
        let worst = findings.into_list().iter().map(|raw| raw.severity).min();
        match worst {
            None => Verdict::Fine,
            Some(Severity::Warning) => Verdict::Warning,
            Some(Severity::Error) => Verdict::Error,
        }
    }
}
