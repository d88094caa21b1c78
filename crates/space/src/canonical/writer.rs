//! Writing a state: names are given to objects and values in the order in which they are met.

use super::{Form, HEADER, Needed, Scratch, name, push, slot};
use crate::flat::Flat;
use crate::layout::{CALLS, Kind};
use crate::lines::{Image, LineId};
use smallvec::SmallVec;

/// A state that is being written, with the names given so far.
pub(super) struct Writer<'a> {
    form: &'a Form,
    flat: &'a Flat,
    names: &'a mut [u32],
    order: &'a mut Vec<u32>,
    needed: &'a Needed,
    position: &'a [u8],
    pub(super) values: &'a mut [u8],
    known: u8,
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        form: &'a Form,
        flat: &'a Flat,
        scratch: &'a mut Scratch,
        position: &'a [u8],
        out: &'a mut Vec<u8>,
    ) -> Writer<'a> {
        let objects = (flat.words.len() - form.layout.heap) / form.layout.stride;
        let Scratch { names, order, needed, values, .. } = scratch;
        values.clear();
        values.resize(form.values, 0);
        names.clear();
        order.clear();
        if form.heap {
            names.resize(objects, 0);
        } else {
            names.extend(1..=objects as u32);
            order.extend(0..objects as u32);
        }
        out.clear();
        Writer { form, flat, names, order, needed, position, values, known: 0, out }
    }

    /// Writes a state; returns where its crash part starts.
    pub(super) fn state(&mut self, threads: &[usize]) -> usize {
        let (form, flat) = (self.form, self.flat);
        let layout = &form.layout;
        if form.calls {
            for &thread in threads {
                push(self.out, flat.words[layout.thread(thread) + CALLS]);
            }
        }
        let start = self.out.len();
        self.out.extend([0; HEADER]);
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            self.word(*word, *kind);
        }
        for &thread in threads {
            form.thread_words(flat, thread, |word, kind| self.word(word, kind));
        }
        let front = u16::try_from(self.out.len() - start - HEADER).unwrap_or(u16::MAX);
        let mut next = 0;
        while next < self.order.len() {
            self.object(next);
            next += 1;
        }
        let count = u16::try_from(next).unwrap_or(u16::MAX);
        self.out[start..start + 2].copy_from_slice(&count.to_le_bytes());
        self.out[start + 2..start + HEADER].copy_from_slice(&front.to_le_bytes());
        if form.links {
            self.links();
        }
        let crash_part = self.out.len();
        if form.lines.is_some() {
            self.crash_part(next);
        }
        crash_part
    }

    /// Writes the object that has this place in the order.
    fn object(&mut self, place: usize) {
        let (form, flat) = (self.form, self.flat);
        let object = self.order[place] as usize;
        let at = form.layout.object(object);
        let (head, words) = (flat.words[at], &flat.words[at + 1..]);
        push(self.out, head);
        let Some(kinds) = form.fields(head) else { return };
        if self.needed.is_all() {
            for (word, kind) in words.iter().zip(kinds) {
                self.word(*word, *kind);
            }
        } else {
            for (number, (word, kind)) in words.iter().zip(kinds).enumerate() {
                self.word(self.needed.shown(object, number, *word), *kind);
            }
        }
    }

    /// What concerns only crashes: how many may come, the images of lines, and the objects that
    /// only images lead to, each after a 0. See [`CrashPart`](crate::CrashPart).
    fn crash_part(&mut self, objects: usize) {
        let (form, flat) = (self.form, self.flat);
        push(self.out, i64::from(flat.left.system));
        push(self.out, i64::from(flat.left.thread));
        let count_at = self.out.len();
        self.out.extend([0, 0]);
        self.images(None);
        let mut next = 0;
        while next < self.order.len() {
            if next >= objects {
                push(self.out, 0);
                self.object(next);
            }
            let object = self.order[next] as usize;
            if form.is_persistent(flat, object) {
                self.images(Some(object));
            }
            next += 1;
        }
        let count = u16::try_from(next - objects).unwrap_or(u16::MAX);
        self.out[count_at..count_at + 2].copy_from_slice(&count.to_le_bytes());
    }

    /// The images of an object, or of the shared variables, in an order that depends on names as
    /// little as can be: what has a name already comes in its order.
    fn images(&mut self, object: Option<usize>) {
        let (form, flat) = (self.form, self.flat);
        let name = object.map_or(0, |object| i64::from(self.names[object]));
        let mut images: Vec<(SmallVec<[i64; 6]>, &Image)> = Vec::new();
        for image in Form::images_of(flat, object) {
            let mut key: SmallVec<[i64; 6]> = SmallVec::new();
            let (LineId::Shared(line) | LineId::Object(_, line)) = image.line;
            key.push(i64::from(line));
            for (word, kind) in image.words.iter().zip(form.image_kinds(flat, image)) {
                key.push(self.known(*word, kind));
            }
            key.push(self.moved(image.flushed) as i64);
            images.push((key, image));
        }
        images.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, image) in images {
            push(self.out, name + 1);
            push(self.out, key[0]);
            push(self.out, self.moved(image.flushed) as i64);
            push(self.out, image.words.len() as i64);
            for (word, kind) in image.words.iter().zip(form.image_kinds(flat, image)) {
                self.word(*word, kind);
            }
        }
    }

    /// A set of threads, renamed.
    fn moved(&self, threads: u64) -> u64 {
        let of = self.position.iter().enumerate().filter(|(old, _)| threads >> old & 1 == 1);
        of.fold(0, |set, (_, new)| set | 1 << new)
    }

    /// A word as it would be written, if that is known already; otherwise something large.
    fn known(&self, word: i64, kind: Kind) -> i64 {
        match kind {
            Kind::Plain => word,
            Kind::Ref if word <= 0 => 0,
            Kind::Ref => match self.names[word as usize - 1] {
                0 => i64::MAX,
                name => i64::from(name),
            },
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
            Kind::Data => {
                let at = usize::try_from(word).ok().and_then(|word| word.checked_sub(1));
                match at.and_then(|at| self.values.get(at)) {
                    None => word,
                    Some(0) => i64::MAX,
                    Some(name) => i64::from(*name),
                }
            }
        }
    }

    /// The links to words that still have a name: no thread can use the others.
    fn links(&mut self) {
        let layout = &self.form.layout;
        let mut links: SmallVec<[[usize; 4]; 4]> = SmallVec::new();
        for link in &self.flat.links {
            let thread = self.position[link.thread] as usize;
            let at = match link.at.checked_sub(layout.heap) {
                None => link.at,
                Some(inside) => match self.names[inside / layout.stride] {
                    0 => continue,
                    name => layout.object(name as usize - 1) + inside % layout.stride,
                },
            };
            links.push([thread, at, link.width, usize::from(link.element)]);
        }
        links.sort_unstable();
        push(self.out, links.len() as i64);
        for word in links.iter().flatten() {
            push(self.out, *word as i64);
        }
    }

    #[inline(always)]
    fn word(&mut self, word: i64, kind: Kind) {
        let shown = match kind {
            Kind::Plain => word,
            Kind::Ref if word > 0 => {
                name(word, self.names, self.order);
                i64::from(self.names[word as usize - 1])
            }
            Kind::Ref => 0,
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
            Kind::Data => match slot(self.values, word) {
                None => word,
                Some(value) => {
                    if *value == 0 {
                        self.known += 1;
                        *value = self.known;
                    }
                    i64::from(*value)
                }
            },
        };
        push(self.out, shown);
    }
}
