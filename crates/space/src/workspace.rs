//! Memory that is used again from state to state.

use crate::canonical::{Kept, Scratch};
use crate::crash::Recovered;
use crate::event::{Event, Made};
use crate::execute::Trail;
use crate::flat::Flat;
use crate::reach::Reach;
use crate::validated::AtHome;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Room to work in; one for each worker.
#[derive(Default)]
pub struct Workspace {
    pub(crate) scratch: Scratch,
    pub(crate) flat: Flat,
    /// What is needed in it.
    pub(crate) kept: Kept,
    /// Boxed: they are large, and taken and put back for each step.
    #[allow(clippy::vec_box)]
    pub(crate) pool: Vec<Box<Flat>>,
    /// Boxed for the same reason.
    #[allow(clippy::vec_box)]
    pub(crate) trails: Vec<Box<Trail>>,
    /// What is told of a successor, see [`Successor`](crate::Successor).
    pub(crate) actions: Vec<Made>,
    pub(crate) events: Vec<Event>,
    /// What recovery comes to from states right after the last crash that may come.
    pub(crate) recovered: FxHashMap<Box<[i64]>, Arc<[Recovered]>>,
    /// Boxed, and taken and put back as well.
    #[allow(clippy::vec_box)]
    pub(crate) reaches: Vec<Box<Reach>>,
    /// What is needed where a thread begins an attempt.
    pub(crate) at_home: AtHome,
    /// The nodes and edges that the last step of a thread that runs alone went along.
    pub(crate) path: Vec<(u32, u32)>,
    /// Whether the bound on objects refused a step since this was last cleared.
    pub(crate) bounded: bool,
    /// Whether the bound on calls kept an idle thread from calling since this was last cleared.
    pub(crate) exhausted: bool,
}

impl Workspace {
    /// The nodes and edges that the last step of a thread that runs alone went along.
    pub fn path(&self) -> &[(u32, u32)] {
        &self.path
    }

    /// After [`Space::pack`](crate::Space::pack): for each object its name in the packed form, from
    /// 1 on; 0 if it is garbage.
    pub fn names(&self) -> &[u32] {
        &self.scratch.names
    }

    /// Whether the bound on calls kept an idle thread from calling since the last time this was
    /// asked.
    pub fn take_exhausted(&mut self) -> bool {
        std::mem::take(&mut self.exhausted)
    }

    /// After packing: where the crash part of the bytes starts ([`CrashPart`](crate::CrashPart)).
    pub fn crash_part(&self) -> usize {
        self.scratch.crash_part
    }

    /// Whether the bound on objects refused a step since the last time this was asked.
    pub fn take_bounded(&mut self) -> bool {
        std::mem::take(&mut self.bounded)
    }
}
