//! Persistent memory, simulated: cells that survive a crash of the system, if they were written
//! back.
//!
//! A [`Pool`] is the memory that survives. What lives in it is made of [`atomic`] cells (and of
//! plain data that is not changed once it is there), says so by [`Persistent`](trait@Persistent),
//! and is laid out as on real hardware: 64 bytes make a *line*. A store reaches the cache at once
//! and memory some time later; [`flush`] asks for a line to be written back, [`fence`] waits until
//! all lines are that this thread has flushed, [`persist`] does both.
//!
//! Outside of a test all of this is plain memory: cells are the atomics of std, and `flush` and
//! `fence` do nothing at all. They do not write anything back on real persistent memory either.
//!
//! In a test with crashes every line keeps the stores since its last guaranteed write-back, in
//! their order; a crash leaves any prefix of them, for each line on its own. This is the
//! sequentially consistent variant of Px86 (Khyzha and Lahav, *Taming x86-TSO persistency*, POPL
//! 2021).
//!
//! Start with `region.rs` (the memory) and `cell.rs` (what an access does); [`simulation`] is what
//! an explorer of crashes uses.

pub mod atomic;
mod cell;
mod part;
mod pool;
mod region;
mod shadow;
pub mod simulation;

pub use atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub use part::{Line, Persistent};
pub use pool::{P, Pool};

use std::panic::Location;

/// So many bytes are written back together.
pub const LINE_BYTES: usize = 64;

/// Asks for the lines of this to be written back: as `clwb`. It is done at the latest when the
/// [`fence`] returns that follows; later stores to the same line are not covered.
///
/// # Panics
///
/// In a test, if this is in no [`Pool`]: what is volatile cannot be written back.
#[track_caller]
pub fn flush<T: ?Sized>(what: &T) {
    let address = std::ptr::from_ref(what).cast::<u8>().addr();
    cell::flush(address, size_of_val(what), Location::caller());
}

/// Waits until everything is written back that this thread has flushed: as `sfence`. An update of a
/// persistent cell (`compare_exchange`, `swap`, `fetch_add`, …), successful or not, does so too.
#[track_caller]
pub fn fence() {
    cell::fence(Location::caller());
}

/// [`flush`] and [`fence`].
#[track_caller]
pub fn persist<T: ?Sized>(what: &T) {
    let site = Location::caller();
    let address = std::ptr::from_ref(what).cast::<u8>().addr();
    cell::flush(address, size_of_val(what), site);
    cell::fence(site);
}
