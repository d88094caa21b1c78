//! What machine this is, as far as it says so.

use std::fs;

/// The processor, its cores, the memory, the system.
pub fn described() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or("unknown processor".to_owned());
    let mut said = format!("{processor}, {}", linchpin_verdict::counted(cores, "core"));
    if let Some(bytes) = memory() {
        said += &format!(", {:.0} GB of memory", bytes / 1e9);
    }
    format!("{said}, {} on {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The bytes of memory.
fn memory() -> Option<f64> {
    let kilobytes = field("/proc/meminfo", "MemTotal")?;
    kilobytes.trim_end_matches(" kB").parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

/// What the first line `name: value` of a file says.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let of = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().find_map(of)
}
