//! The processes that take part: where each of them listens.

use std::path::Path;
use thiserror::Error;

/// Why a text names no processes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostsError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// One has no port.
    #[error(
        "`{0}` is no host with a port: write HOST:PORT for each process, or a file of such lines"
    )]
    NoPort(String),
    /// One is named twice.
    #[error("`{0}` is named twice: each process needs a port of its own")]
    Twice(String),
    /// None is named.
    #[error("no process is named: write HOST:PORT for each, or a file of such lines")]
    None,
    /// The process of this number is not among them.
    #[error("there is no process {process}: {count} are named, and the first is 0")]
    NoProcess {
        /// Which.
        process: usize,
        /// How many there are.
        count: usize,
    },
}

/// Reads where processes listen: `HOST:PORT,HOST:PORT,…`, or a file with one such a line.
pub fn hosts(text: &str) -> Result<Vec<String>, HostsError> {
    if !Path::new(text).is_file() {
        return named(text.split(','));
    }
    let read = std::fs::read_to_string(text);
    let lines = read.map_err(|error| HostsError::Unreadable {
        file: text.to_owned(),
        why: error.to_string(),
    })?;
    named(lines.lines().map(|line| line.split('#').next().unwrap_or_default()))
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<String>, HostsError> {
    let mut hosts: Vec<String> = Vec::new();
    for name in names.map(str::trim).filter(|name| !name.is_empty()) {
        let port = name.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none_or(|port| port == 0) {
            return Err(HostsError::NoPort(name.to_owned()));
        }
        if hosts.iter().any(|host| host == name) {
            return Err(HostsError::Twice(name.to_owned()));
        }
        hosts.push(name.to_owned());
    }
    if hosts.is_empty() { Err(HostsError::None) } else { Ok(hosts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_processes() {
        let two = hosts("a:1, [::1]:65535,").expect("two hosts");
        assert_eq!(two, ["a:1", "[::1]:65535"]);
        assert_eq!(hosts("a"), Err(HostsError::NoPort("a".to_owned())));
        assert_eq!(hosts("a:0"), Err(HostsError::NoPort("a:0".to_owned())));
        assert_eq!(hosts(":7"), Err(HostsError::NoPort(":7".to_owned())));
        assert_eq!(hosts("a:1,b:2,a:1"), Err(HostsError::Twice("a:1".to_owned())));
        assert_eq!(hosts(" , "), Err(HostsError::None));
    }
}
