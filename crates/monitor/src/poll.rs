//! Limits inside long loops: asked now and then, so that asking costs nothing.

use linchpin_history_data::{History, OpId};
use linchpin_verdict::Limits;
use std::cell::Cell;

pub(crate) use linchpin_verdict::StopReason;

/// After so many steps the limits are asked again: a few milliseconds at most. Tests ask more
/// often, to stop everywhere.
const STEPS: u32 = if cfg!(test) { 4 } else { 1 << 13 };

/// Why a loop ended early.
#[derive(Clone, Debug)]
pub(crate) enum Halt<F> {
    /// It found something wrong.
    Fault(F),
    /// It was stopped, and nothing is known.
    Stopped(StopReason),
}

impl<F> From<StopReason> for Halt<F> {
    fn from(stopped: StopReason) -> Halt<F> {
        Halt::Stopped(stopped)
    }
}

/// Counts the steps of long loops and asks the limits now and then.
pub struct StopPoll<'a> {
    limits: Option<&'a Limits>,
    left: Cell<u32>,
}

impl<'a> StopPoll<'a> {
    /// The first steps are free.
    pub fn new(limits: &'a Limits) -> StopPoll<'a> {
        StopPoll { limits: Some(limits), left: Cell::new(STEPS) }
    }

    /// For what is short: nothing stops it.
    pub fn unlimited() -> StopPoll<'a> {
        StopPoll { limits: None, left: Cell::new(STEPS) }
    }

    /// One step of a long loop.
    ///
    /// # Errors
    ///
    /// If it is time to stop: why.
    #[inline]
    pub fn step(&self) -> Result<(), StopReason> {
        match self.left.get() {
            0 => self.ask(0),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }

    /// The first operation of which this is so.
    ///
    /// # Errors
    ///
    /// If it is time to stop: why.
    pub fn find(
        &self,
        history: &History,
        is_so: impl Fn(OpId) -> bool,
    ) -> Result<Option<OpId>, StopReason> {
        for id in history.ids() {
            self.step()?;
            if is_so(id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Asks the limits now; `bytes` is about what is kept.
    ///
    /// # Errors
    ///
    /// If it is time to stop: why.
    #[cold]
    pub fn ask(&self, bytes: usize) -> Result<(), StopReason> {
        if let Some(limits) = self.limits {
            self.left.set(0);
            #[cfg(test)]
            tests::asked()?;
            if let Some(reason) = limits.exceeded(bytes) {
                return Err(reason);
            }
        }
        self.left.set(STEPS);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
