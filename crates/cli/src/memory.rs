//! How much memory is free, and how much this process uses, where the system tells.

use std::fs::read_to_string;

/// Resident memory of this process, in bytes.
pub fn in_use() -> Option<u64> {
    let pages = read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(resident * page_size())
}

/// The most memory that this process has used so far, in bytes.
pub fn peak() -> Option<u64> {
    linchpin_verdict::peak_memory().and_then(|bytes| u64::try_from(bytes).ok())
}

/// What this process may still use without others having to give way, in bytes: what the machine
/// has, and what the control group (a container) leaves of it.
pub fn free() -> Option<u64> {
    let machine = field(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")? * 1024;
    Some(control_group().map_or(machine, |left| left.min(machine)))
}

fn control_group() -> Option<u64> {
    // "max" where there is no limit, which is no number.
    let most: u64 = read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()?;
    let used = field(&read_to_string("/sys/fs/cgroup/memory.stat").ok()?, "anon")?;
    Some(most.saturating_sub(used))
}

/// The number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()))??.parse().ok()
}

#[cfg(unix)]
fn page_size() -> u64 {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

#[cfg(not(unix))]
fn page_size() -> u64 {
    4096
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells() {
        let (used, free) = (in_use().expect("/proc is there"), free().expect("/proc is there"));
        assert!(used > 100_000 && free > 1_000_000, "{used} {free}");
        assert_eq!(field("MemTotal: 9 kB\nMemAvailable:   17 kB\n", "MemAvailable:"), Some(17));
        assert_eq!(field("anon_thp 4\nanon 12\n", "anon"), Some(12));
        assert_eq!(field("anon", "anon"), None);
    }
}
