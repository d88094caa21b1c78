//! How much memory this process has used, where the system tells.

/// The most memory that this process has used so far, in bytes; `None` where the system does not
/// tell.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}
