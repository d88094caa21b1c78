//! Crashes, on the side of the specification: operations that were interrupted and may still take
//! effect.
//!
//! A configuration keeps the interrupted operations that have not taken effect (*orphans*). What
//! the property asks says how long: strict, not beyond the crash; recoverable, until the thread's
//! next operation takes effect; durable and buffered, for ever. An orphan need not take effect: a
//! configuration can do whatever the same one with fewer orphans can, so the latter is dropped.
//! Detectable: the thread's operation stays pending until `recover(t)` answers, which is its
//! response, or says that it had no effect.

use crate::renaming::Names;
use crate::sets::{ANY_THREAD, Config, Inner, Orphan, Policy};
use linchpin_space::Space;
use linchpin_spec::Call;
use linchpin_verdict::CrashProperty;

impl Inner {
    /// The set after a crash of the system, or of one thread.
    pub fn interrupt(&mut self, policy: Policy, set: u32, thread: Option<usize>) -> u32 {
        let old = self.sets.get(set);
        let is_hit = |of: usize| thread.is_none_or(|thread| thread == of);
        let keeps = |call: u32, inner: &Inner| {
            let call = &inner.calls.items[call as usize];
            let resolvable = inner.resolvable.get(call.operation).copied().unwrap_or(false);
            inner.property == CrashProperty::Detectable && resolvable
        };
        let hit: Vec<(usize, u32)> = (0..old.pending.len())
            .filter_map(|of| Some((of, old.pending[of].checked_sub(1)?)))
            .filter(|(of, call)| is_hit(*of) && !keeps(*call, self))
            .collect();
        if hit.is_empty() {
            return set;
        }
        let mut configs = old.configs.clone();
        if self.property == CrashProperty::Strict && policy == Policy::JustInTime {
            // Now or never.
            configs = self.closure(&old.pending, configs);
        }
        let mut pending = old.pending.clone();
        for config in &mut configs {
            let mut orphans = self.orphans.items[config.orphans as usize].clone();
            for &(of, call) in &hit {
                if config.responses[of] == 0 && self.property != CrashProperty::Strict {
                    let named = self.property == CrashProperty::Recoverable;
                    let of = u32::try_from(of).ok().filter(|_| named).unwrap_or(ANY_THREAD);
                    orphans.push((of, call));
                }
                config.responses[of] = 0;
            }
            config.orphans = self.number_orphans(orphans);
        }
        for (of, _) in hit {
            pending[of] = 0;
        }
        let configs = match policy {
            Policy::JustInTime => self.minimal(&pending, configs),
            Policy::Eager => self.closure(&pending, configs),
            Policy::Points | Policy::Trial => configs,
        };
        self.add(pending, configs)
    }

    /// The set after `recover(t)` has answered.
    pub fn resolve(
        &mut self,
        policy: Policy,
        space: &Space,
        set: u32,
        thread: usize,
        operation: usize,
        answer: &[i64],
    ) -> Option<u32> {
        let (row, ids) = self.sets.ids(set);
        let before = self.sets.row(row).clone();
        if before[thread] == 0 {
            return Some(set);
        }
        let mut pending = before.clone();
        pending[thread] = 0;
        let configs = match space.resolution(operation, answer) {
            None => {
                let no_effect = |config: &u32| self.sets.responses(*config)[thread] == 0;
                ids.into_iter().filter(no_effect).collect()
            }
            Some(value) => {
                let value = self.response(space, operation, &value);
                match policy {
                    Policy::JustInTime => self.respond(&before, &ids, thread, value),
                    _ => self.answered(&ids, thread, value),
                }
            }
        };
        let configs = match policy {
            Policy::JustInTime => self.minimal_of(&pending, configs),
            _ => configs,
        };
        (!configs.is_empty()).then(|| self.add_ids(pending, configs))
    }

    /// The number of a list of orphans, those of one thread from the oldest on.
    pub(crate) fn number_orphans(&mut self, mut orphans: Vec<Orphan>) -> u32 {
        if self.property == CrashProperty::Recoverable {
            orphans.sort_by_key(|(thread, _)| *thread);
        } else {
            orphans.sort_unstable();
        }
        self.orphans.number(orphans)
    }

    /// The orphans that may still take effect after an operation of a thread has.
    pub fn before(&mut self, orphans: u32, thread: usize) -> u32 {
        if orphans == 0 || self.property != CrashProperty::Recoverable {
            return orphans;
        }
        let mut left = self.orphans.items[orphans as usize].clone();
        left.retain(|(of, _)| usize::try_from(*of).ok() != Some(thread));
        self.orphans.number(left)
    }

    /// Lets an orphan take effect, in every way.
    pub fn adopt(&mut self, config: &Config, out: &mut Vec<Config>) {
        let orphans = self.orphans.items[config.orphans as usize].clone();
        for (at, &(thread, call)) in orphans.iter().enumerate() {
            let mut left = orphans.clone();
            left.remove(at);
            if thread != ANY_THREAD {
                // Older ones of the same thread come before it, or never.
                let mut number = 0;
                left.retain(|(of, _)| {
                    number += 1;
                    *of != thread || number > at
                });
            }
            let left = self.number_orphans(left);
            for &(_, state) in self.apply(config.state, call).iter() {
                out.push(Config { state, responses: config.responses.clone(), orphans: left });
            }
        }
    }

    /// The same configuration with one orphan less.
    pub fn forget_one(&mut self, config: &Config, out: &mut Vec<Config>) {
        let orphans = self.orphans.items[config.orphans as usize].clone();
        for at in 0..orphans.len() {
            let mut left = orphans.clone();
            left.remove(at);
            let orphans = self.number_orphans(left);
            out.push(Config { orphans, ..config.clone() });
        }
    }

    /// Orphans with threads and values renamed.
    pub fn renamed_orphans(
        &mut self,
        orphans: u32,
        position: &dyn Fn(usize) -> usize,
        names: &mut Names,
    ) -> u32 {
        if orphans == 0 {
            return 0;
        }
        let old = self.orphans.items[orphans as usize].clone();
        let mut renamed = Vec::with_capacity(old.len());
        for (thread, call) in old {
            let Call { operation, argument } = self.calls.items[call as usize].clone();
            let argument = names.value(&argument, self.marks.argument(operation));
            let thread = match usize::try_from(thread) {
                Ok(of) if thread != ANY_THREAD => u32::try_from(position(of)).unwrap_or(thread),
                _ => thread,
            };
            renamed.push((thread, self.calls.number(Call { operation, argument })));
        }
        self.number_orphans(renamed)
    }
}
