//! Attempts whose effect validates what they have read, taken as one transition.
//!
//! A thread that has only read since some node of its operation, its *home*, is in a *validated*
//! attempt if, whatever other threads do, all its ways on either have no effect and lead back to
//! its home with the locals that it had there, or come to a `cas` that succeeds only if everything
//! that was read and may change is as it was read. Typically it reads a shared variable, prepares a
//! new value of its own, and swaps the two if the variable is still what it was.
//!
//! **Why no state is kept in the middle of one.** Take a shortest run to something wrong from a
//! state in which the thread is at home, or about to call its operation, and let its next step
//! begin such an attempt. If the attempt has an effect in this run, make all its steps, and the
//! call, right before the effect: others cannot notice them, they find what they found before, and
//! a later call orders more operations. If it comes back to its home, or never ends, leave its
//! steps out: others cannot notice that either, and a pending operation explains more than one that
//! was not called. The run that is left is no longer than the first, and goes wrong as well. Do the
//! same with the thread that comes first in that run now; each time the steps of one attempt more
//! come together or vanish, so this ends. Then the run begins with a transition that is explored:
//! steps of one thread up to an effect, with no step of others between. What remains is shorter. So,
//! by induction over its length, a run that goes wrong is found, and as soon.
//!
//! These are the pure blocks of C. Flanagan, S. N. Freund and S. Qadeer (*Exploiting Purity for
//! Atomicity*, IEEE TSE 2005), found state by state: what settled fields hold counts, and that a
//! variable only moves forward.
//!
//! What other threads read of an object that no other thread can reach they cannot notice, so the
//! thread may write to objects of its own, if what it overwrites does not matter at its home
//! (`needed.rs`).
//!
//! On none of the ways may the thread have to wait, or go round for ever. So an operation that is
//! stuck in some state is stuck in one that is kept: let those that are in the middle of attempts
//! go on alone, until they end.
//!
//! Where claimed points count, there is none on any way up to the effect; then all this holds of
//! runs with points as well.
//!
//! Not for those who count how often the moving thread changes, or who follow edges.

use crate::attempt::{Aim, Attempt, Way};
use crate::execute::Trail;
use crate::flat::Flat;
use crate::roles::WordSet;
use crate::successors::Successors;
use smallvec::SmallVec;

/// What is needed in the state in which a thread is at home, once it was asked for.
#[derive(Default)]
pub(crate) struct AtHome {
    known: bool,
    needed: Vec<WordSet>,
    grown: Vec<(usize, WordSet)>,
    /// The edges of all ways of the attempt that began last, up to its effect.
    edges: SmallVec<[(u32, u32); 8]>,
}

impl Successors<'_> {
    /// Whether a step that was made in a state, from the home of its thread, begins a validated
    /// attempt.
    pub fn begins_validated(
        &mut self,
        flat: &Flat,
        thread: usize,
        (operation, home): (usize, usize),
        trail: &Trail,
    ) -> bool {
        let space = self.space;
        let only_reads = trail.accesses.iter().all(|access| !access.write);
        if !space.validated
            || trail.accesses.is_empty()
            || !only_reads
            || !trail.choices.is_empty()
            || trail.managed
            || !self.is_no_point(trail)
        {
            return false;
        }
        self.workspace.at_home.known = false;
        let mut reach = self.reach();
        let aim = Aim::Validated { home };
        let mut attempt = Attempt::new(self, flat, thread, (operation, home), &mut reach, aim);
        let way = Way::new(attempt.start.clone());
        let is_validated = attempt.node(home, way).is_ok();
        let edges = attempt.edges;
        self.workspace.reaches.push(reach);
        if is_validated {
            space.acted.validated();
            space.coverage.may_go_along(operation, &edges);
            self.workspace.at_home.edges = edges;
        }
        is_validated
    }

    /// The words of an object that are needed in the state in which the thread is at home; `None`
    /// if that is not looked at.
    pub fn needed_words(&mut self, flat: &Flat, object: usize) -> Option<WordSet> {
        let AtHome { known, needed, grown, .. } = &mut self.workspace.at_home;
        if !*known {
            self.space.form.needed_in(flat, needed, grown)?;
            *known = true;
        }
        needed.get(object).copied()
    }

    /// Whether a step goes on in the attempt that began last: along a way that was looked at,
    /// without an effect that others can notice.
    ///
    /// INVARIANT: what is not looked at is not gone on from. It would be right to stop anywhere.
    pub fn goes_on_in_attempt(&self, trail: &Trail, is_private: impl FnOnce() -> bool) -> bool {
        let edges = &self.workspace.at_home.edges;
        let has_no_effect =
            || trail.accesses.iter().all(|access| !access.write || access.refused.is_some());
        trail.path.iter().all(|edge| edges.contains(edge))
            && self.is_no_point(trail)
            && (has_no_effect() || is_private())
    }
}
