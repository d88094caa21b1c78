//! Sets of specification states, written so that they mean the same in another process.
//!
//! Within a process a set is a number. Written, it is all that it holds: values instead of their
//! numbers, configurations sorted by what they are. So the same set has the same bytes, in this
//! process and in the next.

use crate::buffered::{Alternative, Buffered};
use crate::byte_values::{Source, write_number, write_value};
use crate::model::ModelProduct;
use crate::pairs::KnownPairs;
use crate::product::Product;
use crate::sets::{ANY_THREAD, Config, Inner, Orphan, RESPONSE, Row, Sets};
use linchpin_spec::Call;
use linchpin_verdict::CrashProperty;
use std::sync::Arc;

/// A product whose states mean the same in another process.
pub trait Portable: Product {
    /// Writes a set: the same set, the same bytes.
    fn write_set(&self, set: u32, out: &mut Vec<u8>);

    /// The set that was written so; `None` if these bytes are none.
    fn read_set(&self, bytes: &[u8]) -> Option<u32>;

    /// Forgets all sets. Their numbers mean nothing any more, and so do workers.
    fn forget_sets(&self);

    /// What was seen while states were expanded, beside the states: which lines were executed, say.
    fn seen(&self) -> Vec<bool>;

    /// Takes what was seen before, in this process or in another.
    fn see(&self, seen: &[bool]);
}

impl Portable for ModelProduct {
    fn write_set(&self, set: u32, out: &mut Vec<u8>) {
        let Some(pairs) = &self.pairs else { return self.sets.write(set, out) };
        let mut known = KnownPairs::default();
        let pair = pairs.pair(&mut known, set);
        write_number(pair.bytes.len() as u64, out);
        out.extend_from_slice(&pair.bytes);
        self.sets.write(pair.set, out);
    }

    fn read_set(&self, bytes: &[u8]) -> Option<u32> {
        let Some(pairs) = &self.pairs else { return self.sets.read(bytes) };
        let mut source = Source(bytes);
        let length = source.count()?;
        let crash_part = source.bytes(length)?;
        let set = self.sets.read(source.0)?;
        Some(pairs.number(&mut KnownPairs::default(), crash_part, set))
    }

    fn forget_sets(&self) {
        self.sets.forget();
        if let Some(pairs) = &self.pairs {
            pairs.forget();
        }
    }

    fn seen(&self) -> Vec<bool> {
        self.space.seen()
    }

    fn see(&self, seen: &[bool]) {
        self.space.see(seen);
    }
}

impl Sets {
    fn write(&self, set: u32, out: &mut Vec<u8>) {
        let inner = self.inner();
        match self.property() {
            CrashProperty::Buffered => inner.write_buffered(set, out),
            _ => inner.write_set(set, out),
        }
    }

    fn read(&self, bytes: &[u8]) -> Option<u32> {
        let mut inner = self.inner();
        let mut source = Source(bytes);
        let set = match self.property() {
            CrashProperty::Buffered => inner.read_buffered(&mut source, self.threads()),
            _ => inner.read_set(&mut source, self.threads()),
        };
        set.filter(|_| source.0.is_empty())
    }
}

impl Inner {
    fn write_buffered(&self, number: u32, out: &mut Vec<u8>) {
        let Buffered { alternatives, more } = &*self.buffered.items[number as usize];
        let written = |set: &u32| {
            let mut bytes = Vec::new();
            self.write_set(*set, &mut bytes);
            bytes
        };
        let mut all: Vec<(Vec<u8>, Vec<Vec<u8>>)> = alternatives
            .iter()
            .map(|Alternative { current, prefixes }| {
                let mut prefixes: Vec<_> = prefixes.iter().map(written).collect();
                prefixes.sort();
                (written(current), prefixes)
            })
            .collect();
        all.sort();
        write_number(u64::from(*more), out);
        write_number(all.len() as u64, out);
        for (current, prefixes) in all {
            out.extend(current);
            write_number(prefixes.len() as u64, out);
            prefixes.into_iter().for_each(|prefix| out.extend(prefix));
        }
    }

    fn read_buffered(&mut self, source: &mut Source<'_>, threads: usize) -> Option<u32> {
        let more = source.number()? != 0;
        let mut alternatives = Vec::new();
        for _ in 0..source.count()? {
            let current = self.read_set(source, threads)?;
            let mut prefixes = Vec::new();
            for _ in 0..source.count()? {
                prefixes.push(self.read_set(source, threads)?);
            }
            prefixes.sort_unstable();
            alternatives.push(Alternative { current, prefixes });
        }
        alternatives.sort();
        Some(self.buffered.number(Arc::new(Buffered { alternatives, more })))
    }

    fn write_set(&self, set: u32, out: &mut Vec<u8>) {
        let set = self.sets.get(set);
        for call in &set.pending {
            match call.checked_sub(1) {
                Some(call) => self.write_call(call, out),
                None => write_number(0, out),
            }
        }
        let mut configs: Vec<Vec<u8>> = set.configs.iter().map(|of| self.config(of)).collect();
        configs.sort();
        write_number(configs.len() as u64, out);
        configs.into_iter().for_each(|config| out.extend(config));
    }

    /// A call: the operation plus 1, then the argument.
    fn write_call(&self, call: u32, out: &mut Vec<u8>) {
        let Call { operation, argument } = &self.calls.items[call as usize];
        write_number(*operation as u64 + 1, out);
        write_value(argument, out);
    }

    fn config(&self, config: &Config) -> Vec<u8> {
        let mut out = Vec::new();
        write_value(&self.states.get(config.state), &mut out);
        for &response in &config.responses {
            match (response & RESPONSE).checked_sub(1) {
                Some(value) => {
                    // The guess, and that there is a response.
                    write_number(u64::from(response >> RESPONSE.count_ones()) + 1, &mut out);
                    write_value(&self.values.items[value as usize], &mut out);
                }
                None => write_number(0, &mut out),
            }
        }
        let mut orphans: Vec<(u64, Vec<u8>)> = Vec::new();
        for &(thread, call) in &self.orphans.items[config.orphans as usize] {
            let mut bytes = Vec::new();
            self.write_call(call, &mut bytes);
            orphans.push((if thread == ANY_THREAD { 0 } else { u64::from(thread) + 1 }, bytes));
        }
        // Of one thread the oldest comes first; where threads do not matter, no order does.
        orphans.sort_by(|left, right| match (left.0, right.0) {
            (0, 0) => left.1.cmp(&right.1),
            (left, right) => left.cmp(&right),
        });
        write_number(orphans.len() as u64, &mut out);
        for (thread, call) in orphans {
            write_number(thread, &mut out);
            out.extend(call);
        }
        out
    }

    fn read_set(&mut self, source: &mut Source<'_>, threads: usize) -> Option<u32> {
        let mut pending = Row::new();
        for _ in 0..threads {
            pending.push(self.read_call(source)?.map_or(0, |call| call + 1));
        }
        let mut configs = Vec::new();
        for _ in 0..source.count()? {
            configs.push(self.read_config(source, threads)?);
        }
        Some(self.add(pending, configs))
    }

    fn read_call(&mut self, source: &mut Source<'_>) -> Option<Option<u32>> {
        let Some(operation) = source.number()?.checked_sub(1) else { return Some(None) };
        let operation = usize::try_from(operation).ok()?;
        let argument = source.value(0)?;
        Some(Some(self.calls.number(Call { operation, argument })))
    }

    fn read_config(&mut self, source: &mut Source<'_>, threads: usize) -> Option<Config> {
        let state = source.value(0)?;
        let state = self.states.number(&state);
        let mut responses = Row::new();
        for _ in 0..threads {
            responses.push(match source.number()?.checked_sub(1) {
                None => 0,
                Some(guess) => {
                    let value = source.value(0)?;
                    let guess = u32::try_from(guess).ok()?.checked_shl(RESPONSE.count_ones())?;
                    guess | (self.values.number(value) + 1)
                }
            });
        }
        let mut orphans: Vec<Orphan> = Vec::new();
        for _ in 0..source.count()? {
            let thread = match source.number()?.checked_sub(1) {
                None => ANY_THREAD,
                Some(thread) => u32::try_from(thread).ok()?,
            };
            orphans.push((thread, self.read_call(source)??));
        }
        // INVARIANT: sorted again, for numbers of calls differ from process to process.
        let orphans = self.number_orphans(orphans);
        Some(Config { state, responses, orphans })
    }
}
