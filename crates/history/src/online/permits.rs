//! Semaphores: `release` never hurts and `acquire` never helps, so every release takes effect when
//! it is called, unless it turns out not to have happened, and every acquire when it returns. All
//! that has to be known is how many permits are left; and, as a release that did not happen is a
//! violation if there were too few permits without it at some return since its call, how few there
//! were between the calls of the releases in progress.

use linchpin_spec::{Call, Semaphore, Value};

/// The permits of a semaphore.
#[derive(Debug)]
pub(crate) struct Permits {
    left: u64,
    /// The releases in progress by ticket, in the order of their calls: the fewest permits that an
    /// acquire left between this call and the next.
    releases: Vec<(u32, u64)>,
    acquires: usize,
}

impl Permits {
    /// A semaphore with so many permits; nothing if it is not said how many.
    pub(super) fn new(init: Option<&Value>) -> Option<Permits> {
        let left = match init {
            None | Some(Value::Null) => 1,
            Some(init) => u64::from(u32::try_from(init.as_int()?).ok()?),
        };
        Some(Permits { left, releases: Vec::new(), acquires: 0 })
    }

    /// How many operations are kept.
    pub(super) fn len(&self) -> usize {
        self.releases.len() + self.acquires
    }

    /// An operation is called.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) {
        if call.operation == Semaphore::RELEASE {
            self.left += 1;
            self.releases.push((ticket, u64::MAX));
        } else {
            self.acquires += 1;
        }
    }

    /// An operation returns. Whether something explains that.
    pub(super) fn response(&mut self, ticket: u32) -> bool {
        if self.close(ticket).is_some() {
            return true;
        }
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        if let Some((_, fewest)) = self.releases.last_mut() {
            *fewest = left.min(*fewest);
        }
        true
    }

    /// An operation will not return: a release may have taken effect, an acquire need not have.
    pub(super) fn crash(&mut self, ticket: u32) {
        self.close(ticket);
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        let at = self.releases.iter().position(|(of, _)| *of == ticket);
        if let Some(at) = at {
            if self.left == 0 || self.releases[at..].iter().any(|(_, fewest)| *fewest == 0) {
                return false;
            }
            self.left -= 1;
            self.releases[at..].iter_mut().for_each(|(_, fewest)| *fewest -= 1);
        }
        self.close(ticket);
        true
    }

    /// The operation is not in progress any more. If it releases, where it was among those that do.
    fn close(&mut self, ticket: u32) -> Option<usize> {
        let Some(at) = self.releases.iter().position(|(of, _)| *of == ticket) else {
            self.acquires -= 1;
            return None;
        };
        let (_, fewest) = self.releases.remove(at);
        if let Some((_, before)) = at.checked_sub(1).map(|before| &mut self.releases[before]) {
            *before = fewest.min(*before);
        }
        Some(at)
    }
}
