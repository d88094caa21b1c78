//! Turns: explorations run beside each other, unless they share static variables.
//!
//! A static variable is put back to what it first held when an execution accesses it
//! ([`Identity::register`](linchpin_sync::runtime::Identity::register)), so two executions on two
//! threads of the system would disturb each other. Whether there is one is known only after it was
//! accessed; then everything is done again, alone.

use linchpin_sync::runtime::took_static;
use std::sync::{PoisonError, RwLock};

static TURN: RwLock<()> = RwLock::new(());

/// Does something that explores on this thread and on others, and answers whether they accessed a
/// static variable: beside other explorations first, and once more alone if they did.
///
/// `work` is told whether it is alone. It must not start from what it found before.
pub fn in_turn<R>(mut work: impl FnMut(bool) -> (R, bool)) -> R {
    let (result, accessed) = {
        let _beside = TURN.read().unwrap_or_else(PoisonError::into_inner);
        took_static();
        let (result, accessed) = work(false);
        (result, accessed | took_static())
    };
    if !accessed {
        return result;
    }
    let _alone = TURN.write().unwrap_or_else(PoisonError::into_inner);
    work(true).0
}
