//! What `persist` does on memory that is not persistent.

use linchpin_sync::persistent;

/// What it costs to write a line back, on memory that is not persistent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteBack {
    /// Nothing is done.
    #[default]
    Nothing,
    /// The machine writes the line from its caches to memory, if it has an instruction for that: as
    /// an emulation of persistent memory does.
    Machine,
    /// So many turns of an empty loop.
    Turns(u32),
}

impl WriteBack {
    /// Writes back.
    #[track_caller]
    pub(crate) fn persist<T>(self, what: &T) {
        match self {
            WriteBack::Nothing => {}
            WriteBack::Machine => flush_line(std::ptr::from_ref(what).cast()),
            WriteBack::Turns(turns) => (0..turns).for_each(|_| std::hint::spin_loop()),
        }
        persistent::persist(what);
    }
}

/// Whether the machine has the instruction.
pub const HAS_INSTRUCTION: bool = cfg!(target_arch = "x86_64");

/// Writes the line of an address to memory, and waits for it. What is written back here is on one
/// line each.
#[cfg(target_arch = "x86_64")]
fn flush_line(address: *const u8) {
    use std::arch::x86_64::{_mm_clflush, _mm_sfence};
    // SAFETY: the address is that of a reference, and both only order what there is.
    unsafe {
        _mm_clflush(address);
        _mm_sfence();
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn flush_line(_: *const u8) {}
