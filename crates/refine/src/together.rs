//! A search by several processes, as the rest of the engine sees it. Who brings states from one to
//! the other is no concern of this crate.

use crate::model::ModelProduct;
use crate::search::{Exploration, SearchOptions, Stats};
use linchpin_verdict::Limits;
use std::fmt;
use thiserror::Error;

/// Several processes that search together. Each of them verifies the same model, and comes to the
/// same searches in the same order.
pub trait Cluster: fmt::Debug + Send + Sync {
    /// Finds the other processes, and that they have the same to do. That one cannot be found is no
    /// error yet: the search will say so.
    fn agree(&self, task: Task, limits: &Limits) -> Result<(), ClusterError>;

    /// Explores a product together with the other processes. All get the same answer.
    fn explore(
        &self,
        product: &ModelProduct,
        task: Task,
        options: &SearchOptions,
        progress: &(dyn Fn(&Stats) + Sync),
    ) -> (Exploration, Stats);

    /// Whether this is the process that says what was found: the others only help to search.
    fn tells(&self) -> bool;

    /// What the searches have cost.
    fn traffic(&self) -> Traffic;
}

/// What is to be done, so that processes that were given something else are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Stands for the model.
    pub model: u64,
    /// Stands for all that was asked about it.
    pub asked: u64,
}

/// What was sent between processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many processes there are.
    pub processes: usize,
    /// How many workers each of them has.
    pub workers: usize,
    /// How many bytes all of them have sent to others in the last search.
    pub bytes: u64,
}

/// Why processes cannot search together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClusterError {
    /// One has another model.
    #[error("{0} works on another model: give all processes the same file, parameters and threads")]
    AnotherModel(Peer),
    /// One was asked something else.
    #[error("{0} was asked with other bounds or options: give all processes the same")]
    OtherOptions(Peer),
    /// One is of another version.
    #[error("{peer} is version {theirs} of linchpin, this is {ours}: use the same")]
    Version {
        /// Which.
        peer: Peer,
        /// Its version.
        theirs: String,
        /// This one's.
        ours: String,
    },
    /// One knows other processes.
    #[error("{0} was given other hosts: give all processes the same, in the same order")]
    OtherHosts(Peer),
    /// Two say that they are the same process.
    #[error("two processes say that they are {0}: give each another --process")]
    Twice(Peer),
    /// This process cannot be reached by others.
    #[error("cannot listen on `{address}`: {why}")]
    Listen {
        /// Where.
        address: String,
        /// What the system says.
        why: String,
    },
}

/// Another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Which one, from 0.
    pub process: usize,
    /// Where it is.
    pub address: String,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.process, self.address)
    }
}
