//! Limits inside long loops: asked now and then, so that asking costs nothing.

use crate::history::{History, OpId};
use crate::verdict::{Limits, Verdict};
use std::cell::Cell;

/// After so many steps the limits are asked again: a few milliseconds at most. Tests ask more often, to stop everywhere.
const STEPS: u32 = if cfg!(test) { 4 } else { 1 << 13 };

/// Somebody or something said stop, and this is why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped(pub(crate) String);

impl From<Stopped> for Verdict {
    fn from(Stopped(reason): Stopped) -> Verdict {
        Verdict::Inconclusive(reason)
    }
}

/// Why a loop ended early.
#[derive(Clone, Debug)]
pub(crate) enum Halt<F> {
    /// It found something wrong.
    Fault(F),
    /// It was stopped, and nothing is known.
    Stopped(Stopped),
}

impl<F> From<Stopped> for Halt<F> {
    fn from(stopped: Stopped) -> Halt<F> {
        Halt::Stopped(stopped)
    }
}

/// Counts steps and asks the limits.
pub(crate) struct Pace<'a> {
    limits: Option<&'a Limits>,
    left: Cell<u32>,
}

impl<'a> Pace<'a> {
    /// The first steps are free.
    pub(crate) fn new(limits: &'a Limits) -> Pace<'a> {
        Pace { limits: Some(limits), left: Cell::new(STEPS) }
    }

    /// For what is short: nothing stops it.
    pub(crate) fn unlimited() -> Pace<'a> {
        Pace { limits: None, left: Cell::new(STEPS) }
    }

    /// One step of a long loop.
    #[inline]
    pub(crate) fn step(&self) -> Result<(), Stopped> {
        match self.left.get() {
            0 => self.ask(0),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }

    /// The first operation of which this is so.
    pub(crate) fn find(
        &self,
        history: &History,
        is_so: impl Fn(OpId) -> bool,
    ) -> Result<Option<OpId>, Stopped> {
        for id in 0..history.operations.len() as OpId {
            self.step()?;
            if is_so(id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Asks the limits now; `bytes` is about what is kept.
    #[cold]
    pub(crate) fn ask(&self, bytes: usize) -> Result<(), Stopped> {
        if let Some(limits) = self.limits {
            self.left.set(0);
            #[cfg(test)]
            tests::asked()?;
            if let Some(reason) = limits.exceeded(bytes) {
                return Err(Stopped(reason));
            }
        }
        self.left.set(STEPS);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
