//! Device memory, every access checked.
//!
//! # How it is used
//!
//! A [`Memory`] lives as long as the program. The host side allocates, copies and frees through it.
//! For a launch, [`Memory::begin_launch`] gives a [`Device`], which is shared by all threads that
//! run blocks; [`Memory::end_launch`] takes its findings' footprint. A block has a [`Shared`], a
//! warp a [`Local`] and a [`WarpClocks`](crate::race::WarpClocks); a thread that runs warps has a
//! [`Findings`]. For each memory instruction of a warp one makes a [`View`] of them and calls
//! [`View::load`], [`View::store`] or [`View::rmw`] with an [`Access`] and a [`Staging`].
//!
//! An instruction's lanes are processed in ascending order. Values lie in the staging lane by lane,
//! `width * count` bytes each; what lies there for lanes that are not in the mask is unspecified
//! after a load. A lane that faulted gets zeros and is named in [`Outcome::faulted`].
//!
//! # Addresses
//!
//! All are generic: [`Space`] only says where an address must lie. Addresses with [`Space::Shared`]
//! or [`Space::Local`] may also be plain offsets into the window, as PTX has them; the generic
//! address is the window's base plus the offset. Device memory has addresses in a range of the host
//! that nothing can be in; its data lies elsewhere. Managed and host memory has the host's
//! addresses. Symbols, constant ones too, are allocations.

mod access;
mod allocation;
mod bytes;
mod describe;
mod device;
mod findings;
mod host;
mod init;
mod judge;
mod launch;
mod local;
mod lone;
mod mapping;
mod object;
mod page;
mod record;
mod run;
mod shared;
mod view;
mod worker;

#[cfg(test)]
mod tests;

pub use access::{Access, Order, Outcome, Proxy, Space, Staging};
pub use allocation::{Symbol, SymbolSpace};
pub use describe::{Names, PlaceOf, SharedVariable, describe};
pub use device::Device;
pub use findings::{Findings, Other, Raw, What};
pub use host::{Contained, Memory};
pub use launch::{Footprint, PageContents};
pub use local::Local;
pub use shared::Shared;
pub use view::View;

/// Where the shared window begins.
pub const SHARED_BASE: u64 = mapping::RANGE_START;

/// Where the local window begins.
pub const LOCAL_BASE: u64 = SHARED_BASE + WINDOW;

/// Where the window of kernel parameters begins.
pub const PARAM_BASE: u64 = LOCAL_BASE + WINDOW;

/// Bytes of the shared window, of the local one, and of that of parameters.
pub const WINDOW: u64 = 16 << 20;
