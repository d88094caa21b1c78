//! As `std::hint`.

pub use linchpin_sync::hint::{black_box, spin_loop};

/// As [`std::hint::unreachable_unchecked`], but it panics.
///
/// # Safety
///
/// It is safe to call here; it is not in std.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached!");
}
