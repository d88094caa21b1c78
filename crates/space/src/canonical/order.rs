//! The order in which the threads of a state are written: by where they are, then by what each
//! looks like.

use super::writer::{Names, Out, SharedPart, ValueNames};
use super::{Form, Scratch};
use crate::flat::Flat;
use crate::layout::{CALLS, Kind, NODE, STATUS};
use smallvec::SmallVec;

/// Where a thread is: its group, its status, its node, and how many calls it has left, in an order
/// in which these count from the first to the last. Two threads may have the same if one of these
/// numbers is very large: their order is another then.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u128);

impl Place {
    #[inline]
    fn new(group: usize, region: &[i64]) -> Place {
        // The sign of a status comes first, so that negative ones are less.
        let status = region[STATUS] as u32 ^ 1 << 31;
        let upper = u64::from(group as u32) << 32 | u64::from(status);
        let lower = u64::from(region[NODE] as u32) << 32 | u64::from(region[CALLS] as u32);
        Place(u128::from(upper) << 64 | u128::from(lower))
    }

    fn without_calls(self) -> u128 {
        self.0 >> 32
    }

    fn is_idle(self) -> bool {
        (self.0 >> 64) as u32 == 1 << 31
    }
}

/// The threads, in an order.
pub(super) type Order = SmallVec<[u8; 8]>;

/// Few threads.
const FEW: usize = 8;

/// Numbers in order.
const IN_ORDER: [u8; FEW] = [0, 1, 2, 3, 4, 5, 6, 7];

impl Form {
    /// The order of the threads of a state whose shared part has its names.
    pub(super) fn order(
        &self,
        flat: &Flat,
        shared: &SharedPart<'_>,
        scratch: &mut Scratch,
    ) -> Order {
        let threads = self.layout.threads;
        let mut order: Order = match IN_ORDER.get(..threads) {
            Some(few) => SmallVec::from_slice(few),
            // A packed state cannot name more.
            None => (0..=u8::MAX).take(threads).collect(),
        };
        if !self.symmetric {
            return order;
        }
        let place = |thread: usize| {
            let region = &flat.words[self.layout.thread(thread)..][..=CALLS];
            Place::new(self.groups[thread], region)
        };
        let (mut few, mut many) = ([Place::default(); FEW], Vec::new());
        let places = match few.get_mut(..threads) {
            Some(few) => few,
            None => {
                many.resize(threads, Place::default());
                &mut many[..]
            }
        };
        for (thread, of) in places.iter_mut().enumerate() {
            *of = place(thread);
        }
        // Insertion sort: there are few threads.
        for end in 1..threads {
            let mut at = end;
            while at > 0 && places[at - 1] > places[at] {
                places.swap(at - 1, at);
                order.swap(at - 1, at);
                at -= 1;
            }
        }
        // Most threads are told apart by where they are. Idle ones without variables look all the
        // same, unless something names them.
        let blank = !self.tids && self.layout.variables.is_empty();
        let alike = |pair: &[Place]| {
            pair[0].without_calls() == pair[1].without_calls() && !(blank && pair[0].is_idle())
        };
        let mut start = 0;
        while start + 1 < threads {
            let same = places[start..].windows(2).take_while(|pair| alike(pair)).count();
            if same > 0 {
                let tied = start..start + same + 1;
                self.sort_by_looks(flat, shared, &mut order[tied.clone()], &places[tied], scratch);
            }
            start += same + 1;
        }
        self.fill_places(&mut order);
        order
    }

    /// Sorts threads that are in the same place by what they look like, then by the calls they have
    /// left, which are in the same order as the places.
    fn sort_by_looks(
        &self,
        flat: &Flat,
        shared: &SharedPart<'_>,
        order: &mut [u8],
        places: &[Place],
        scratch: &mut Scratch,
    ) {
        self.keys(flat, shared, order, scratch);
        let Scratch { keys, starts, .. } = scratch;
        let key = |number: usize| &keys[starts[number]..starts[number + 1]];
        let by = |a: usize, b: usize| key(a).cmp(key(b)).then_with(|| places[a].cmp(&places[b]));
        let mut sorted: SmallVec<[usize; FEW]> = (0..order.len()).collect();
        sorted.sort_by(|a, b| by(*a, *b));
        let before = Order::from_slice(order);
        for (slot, from) in order.iter_mut().zip(sorted) {
            *slot = before[from];
        }
    }

    /// Threads of one group may stand anywhere; the places of each group are filled with its
    /// members in sorted order.
    fn fill_places(&self, order: &mut [u8]) {
        if self.groups.iter().all(|group| *group == 0) {
            return;
        }
        let sorted = Order::from_slice(order);
        for (place, slot) in order.iter_mut().enumerate() {
            let group = self.groups[place];
            let rank = (0..place).filter(|&before| self.groups[before] == group).count();
            let is_member = |thread: &&u8| self.groups[usize::from(**thread)] == group;
            let member = sorted.iter().filter(is_member).nth(rank);
            *slot = member.copied().unwrap_or(place as u8);
        }
    }

    /// What some threads look like: their own words, with objects and values named as in the shared
    /// part, then as the thread meets them, and the words of the shared part that hold its name.
    fn keys(&self, flat: &Flat, shared: &SharedPart<'_>, threads: &[u8], scratch: &mut Scratch) {
        let layout = &self.layout;
        let named = shared.named;
        if self.tids {
            self.find_held(flat, named.objects, scratch);
        }
        let Scratch { names, order, values, keys, starts, held, needed, .. } = scratch;
        let mut objects = Names::resume(names, order, named);
        let mut out = Out::new(keys, (flat.words.len() + held.len()) * threads.len());
        starts.clear();
        let mut own: SmallVec<[u8; 8]> = SmallVec::new();
        for thread in threads.iter().map(|thread| usize::from(*thread)) {
            starts.push(out.len());
            own.clear();
            own.extend_from_slice(values);
            let mut values = ValueNames { names: &mut own, known: named.values };
            let mut write = |word: i64, kind: Kind, objects: &mut Names<'_>, out: &mut Out<'_>| {
                out.push(match kind {
                    Kind::Plain => word,
                    Kind::Ref => objects.of(word),
                    Kind::Tid if word == 0 => 0,
                    Kind::Tid => 1 + i64::from(word as usize - 1 != thread),
                    Kind::Data => values.of(word),
                });
            };
            self.thread_words(flat, thread, |word, kind| write(word, kind, &mut objects, &mut out));
            let mut next = named.objects;
            while let Some(object) = objects.at(next) {
                let at = layout.object(object);
                let head = flat.words[at];
                write(head, Kind::Plain, &mut objects, &mut out);
                if let Some(kinds) = self.fields(head) {
                    for (number, kind) in kinds.iter().enumerate() {
                        let word = needed.shown(object, number, flat.words[at + 1 + number]);
                        write(word, *kind, &mut objects, &mut out);
                    }
                }
                next += 1;
            }
            for (_, place) in held.iter().filter(|(holder, _)| *holder == thread) {
                out.push(i64::from(*place));
            }
            objects.keep(named.objects);
        }
        starts.push(out.len());
    }

    /// Finds the words of the shared part that hold the name of a thread: the thread, and the place
    /// of the word.
    fn find_held(&self, flat: &Flat, reached: usize, scratch: &mut Scratch) {
        let Scratch { order, held, needed, .. } = scratch;
        held.clear();
        let mut place = 0;
        let mut look = |word: i64, kind: Kind| {
            place += 1;
            if kind == Kind::Tid && word > 0 {
                held.push((word as usize - 1, place));
            }
        };
        for (word, kind) in flat.words.iter().zip(&self.layout.shared_kinds) {
            look(*word, *kind);
        }
        for &object in &order[..reached] {
            let object = object as usize;
            let at = self.layout.object(object);
            for (number, kind) in self.fields(flat.words[at]).unwrap_or(&[]).iter().enumerate() {
                look(needed.shown(object, number, flat.words[at + 1 + number]), *kind);
            }
        }
    }
}
