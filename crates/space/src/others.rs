//! What other threads do together with a step: private steps, and attempts that are bound to have
//! no effect.
//!
//! - **Ample steps.** A step of *any* thread that is private (`private.rs`) can be taken at once:
//!   it commutes with all that other threads do before it, it can be taken now and later, and no
//!   one sees it, but for the response that may come with it. An early response leaves fewer orders
//!   to explain a history. So each run has one with the same events, or with that response earlier,
//!   in which the step comes first; and a run that never takes the step can as well take it.
//! - **Doomed attempts** (`doomed.rs`) are taken to their end at once.
//!
//! Both go on until there is nothing more to take along. What is kept is the state after that, and
//! all its ways on are explored: so no step of another thread is put off for ever, and there is no
//! cycle to look after (the *proviso* of partial order reduction). At most [`MAX_TOGETHER`] moves
//! are made in one transition; a state that is reached then is explored like any other.

use crate::event::{Action, Stop};
use crate::flat::{Flat, operation_of};
use crate::layout::{NODE, STATUS};
use crate::reach::Reach;
use crate::successors::{Looked, MAX_TOGETHER, Successors};

impl Successors<'_> {
    /// Takes along what some thread can do at once, and goes on from there; `None` if there is
    /// nothing to take along.
    pub fn take_along(
        &mut self,
        flat: &Flat,
        thread: usize,
        from: Option<(usize, usize)>,
    ) -> Option<bool> {
        let space = self.space;
        if !space.ample && !space.doomed || self.actions.len() > MAX_TOGETHER {
            return None;
        }
        // Who reaches what in the state and in the same without its dead fields, which is made once
        // it is needed.
        let mut reaches = [self.reach(), self.reach()];
        let (mut emptied, mut on) = (None, None);
        for other in 0..space.form.layout.threads {
            let region = space.form.layout.thread(other);
            let Some((operation, false)) = operation_of(flat.words[region + STATUS]) else {
                continue;
            };
            let at = (operation, flat.words[region + NODE] as usize);
            let [reach, in_emptied] = &mut reaches;
            if self.may_be_doomed(flat, other, at.0, at.1) {
                let (emptied, _) = emptied.get_or_insert_with(|| self.without_dead_fields(flat));
                on = self.take_back(emptied, other, at, (thread, from), in_emptied);
            }
            if on.is_none()
                && space.ample
                && self.maybe_private(other, at.0, at.1)
                && let Some(looked) = self.private_step(flat, other, operation, reach)
            {
                on = Some(self.take_step(flat, other, at, looked, (thread, from)));
            }
            if on.is_some() {
                break;
            }
        }
        self.workspace.reaches.extend(reaches);
        if let Some((emptied, is_kept)) = emptied {
            self.workspace.pool.push(emptied);
            self.needed = on.is_none().then_some(is_kept);
        }
        on
    }

    /// The state, and whether its shared part is that of the state that this one comes of.
    fn without_dead_fields(&mut self, flat: &Flat) -> (Box<Flat>, bool) {
        let mut emptied = self.copy(flat);
        let form = &self.space.form;
        let scratch = &mut self.workspace.scratch;
        let is_kept = form.forget_dead_fields(&mut emptied, self.origin, scratch);
        (emptied, is_kept)
    }

    /// Takes a private step of a thread, after one of another.
    fn take_step(
        &mut self,
        flat: &Flat,
        other: usize,
        at: (usize, usize),
        looked: Looked,
        (thread, from): (usize, Option<(usize, usize)>),
    ) -> bool {
        self.made(other, Action::Step);
        self.space.acted.ample();
        let on = self.take(flat, other, at, looked, &mut |this, after, _| match after {
            Ok((next, _)) => this.stop(thread, from, Stop::State(next)),
            Err(()) => this.stop(thread, from, Stop::Fault),
        });
        self.actions.pop();
        on
    }

    /// Takes a thread to the end of a doomed attempt, after a step of another.
    fn take_back(
        &mut self,
        emptied: &Flat,
        other: usize,
        at: (usize, usize),
        (thread, from): (usize, Option<(usize, usize)>),
        reach: &mut Reach,
    ) -> Option<bool> {
        let (next, steps) = self.end_attempt(emptied, other, at, reach)?;
        let made = self.actions.len();
        self.space.acted.doomed();
        (0..steps).for_each(|_| self.made(other, Action::Step));
        let on = self.stop(thread, from, Stop::State(&next));
        self.actions.truncate(made);
        self.workspace.pool.push(next);
        Some(on)
    }
}
