//! What processes tell each other first: who they are, and what they have to do.

use linchpin_refine::{ClusterError, Peer, Task};
use std::io::{self, Read, Write};

/// So every greeting begins: a process that does not say this is no linchpin.
const MAGIC: [u8; 8] = *b"linchpin";

/// Bytes of a greeting, with the version filled up with zeros.
pub(crate) const LENGTH: usize = 8 + 5 * 8 + VERSION;

const VERSION: usize = 16;

/// What a process says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub process: usize,
    /// Which search of theirs this is about; 0 before the first.
    pub search: u32,
    pub workers: u32,
    pub task: Task,
    /// Stands for the list of processes.
    pub hosts: u64,
    pub version: String,
}

impl Greeting {
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let process = u64::try_from(self.process).unwrap_or(u64::MAX);
        let counts = u64::from(self.search) << 32 | u64::from(self.workers);
        let mut bytes = MAGIC.to_vec();
        for number in [process, counts, self.task.model, self.task.asked, self.hosts] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(self.version.bytes().take(VERSION));
        bytes.resize(LENGTH, 0);
        to.write_all(&bytes)
    }

    /// `None` if these bytes are no greeting.
    pub fn read(bytes: &[u8; LENGTH]) -> Option<Greeting> {
        let mut rest = &bytes[..];
        let mut magic = [0; 8];
        rest.read_exact(&mut magic).ok()?;
        let mut numbers = [0; 5];
        for number in &mut numbers {
            let mut bytes = [0; 8];
            rest.read_exact(&mut bytes).ok()?;
            *number = u64::from_be_bytes(bytes);
        }
        let [process, counts, model, asked, hosts] = numbers;
        let version = String::from_utf8_lossy(rest).trim_end_matches('\0').to_owned();
        (magic == MAGIC).then_some(Greeting {
            process: usize::try_from(process).ok()?,
            search: u32::try_from(counts >> 32).ok()?,
            workers: u32::try_from(counts & u64::from(u32::MAX)).ok()?,
            task: Task { model, asked },
            hosts,
            version,
        })
    }

    /// Whether another process has the same to do.
    pub fn agrees(&self, theirs: &Greeting, peer: Peer) -> Result<(), ClusterError> {
        if self.version != theirs.version {
            let (ours, theirs) = (self.version.clone(), theirs.version.clone());
            return Err(ClusterError::Version { peer, theirs, ours });
        }
        if self.hosts != theirs.hosts {
            return Err(ClusterError::OtherHosts(peer));
        }
        if self.task.model != theirs.task.model {
            return Err(ClusterError::AnotherModel(peer));
        }
        if self.task.asked != theirs.task.asked || self.search != theirs.search {
            return Err(ClusterError::OtherOptions(peer));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_understood_and_others_are_told_apart() {
        let mine = Greeting {
            process: 1,
            search: 2,
            workers: 3,
            task: Task { model: 4, asked: u64::MAX },
            hosts: 6,
            version: "0.1.0".to_owned(),
        };
        let mut bytes = Vec::new();
        mine.write(&mut bytes).expect("written");
        let bytes: [u8; LENGTH] = bytes.try_into().expect("of this length");
        assert_eq!(Greeting::read(&bytes), Some(mine.clone()));
        assert_eq!(Greeting::read(&[7; LENGTH]), None);
        let peer = Peer { process: 0, address: "a:1".to_owned() };
        let judged = |theirs: &Greeting| mine.agrees(theirs, peer.clone());
        assert_eq!(judged(&Greeting { process: 0, workers: 9, ..mine.clone() }), Ok(()));
        let task = Task { model: 5, ..mine.task };
        let other = Greeting { task, ..mine.clone() };
        assert_eq!(judged(&other), Err(ClusterError::AnotherModel(peer.clone())));
        let other = Greeting { search: 1, ..mine.clone() };
        assert_eq!(judged(&other), Err(ClusterError::OtherOptions(peer.clone())));
        let other = Greeting { hosts: 1, ..mine.clone() };
        assert_eq!(judged(&other), Err(ClusterError::OtherHosts(peer.clone())));
    }
}
