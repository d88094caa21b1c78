//! Pinning threads to cores, where the system lets us: two threads that share a core do not run at
//! the same time, and find nothing.

/// The cores that this thread may run on.
#[cfg(target_os = "linux")]
pub fn cores() -> Vec<usize> {
    // SAFETY: `cpu_set_t` is a bit mask, for which all zeros is a value. The call writes at most
    // the size that it is given, and 0 is the calling thread.
    let (status, set) = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), set)
    };
    if status != 0 {
        return counted();
    }
    let most = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    // SAFETY: every number below `CPU_SETSIZE` is a bit of the mask.
    (0..most).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()
}

/// The cores that this thread may run on, as numbers from 0.
#[cfg(not(target_os = "linux"))]
pub fn cores() -> Vec<usize> {
    counted()
}

/// As many numbers as there are cores.
fn counted() -> Vec<usize> {
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// Makes this thread run on this core only; says whether that worked.
#[cfg(target_os = "linux")]
pub fn pin(core: usize) -> bool {
    if !usize::try_from(libc::CPU_SETSIZE).is_ok_and(|most| core < most) {
        return false;
    }
    // SAFETY: `cpu_set_t` is a bit mask, for which all zeros is a value; `core` is one of its bits.
    // The call reads the mask only, and 0 is the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0
    }
}

/// Makes this thread run on this core only; says whether that worked. Here it does not.
#[cfg(not(target_os = "linux"))]
pub fn pin(_core: usize) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_core() {
        assert!(!cores().is_empty());
        assert!(!pin(usize::MAX));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_has_one_core() {
        let core = cores()[0];
        let pinned = std::thread::spawn(move || pin(core).then(cores)).join();
        assert_eq!(pinned.ok().flatten(), Some(vec![core]));
    }
}
