//! Memory that is used again from state to state.

use crate::canonical::Scratch;
use crate::execute::Trail;
use crate::flat::Flat;

/// Room to work in; one for each worker.
#[derive(Default)]
pub struct Workspace {
    pub(crate) scratch: Scratch,
    pub(crate) flat: Flat,
    pub(crate) pool: Vec<Flat>,
    pub(crate) trails: Vec<Trail>,
    pub(crate) marks: Vec<bool>,
    pub(crate) stack: Vec<usize>,
    /// Whether the bound on objects refused a step since this was last cleared.
    pub(crate) bounded: bool,
}

impl Workspace {
    /// Whether the bound on objects refused a step since the last time this was asked.
    pub fn take_bounded(&mut self) -> bool {
        std::mem::take(&mut self.bounded)
    }
}
