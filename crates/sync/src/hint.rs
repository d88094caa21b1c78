//! As `std::hint`.

use crate::runtime;
use std::panic::Location;

pub use std::hint::{black_box, unreachable_unchecked};

/// As [`std::hint::spin_loop`]: under control, the thread goes on when another one has written.
#[track_caller]
pub fn spin_loop() {
    let site = Location::caller();
    if runtime::with(|runtime| runtime.pause(site)).is_none() {
        std::hint::spin_loop();
    }
}
