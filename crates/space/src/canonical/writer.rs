//! Writing a state: names are given to objects and values in the order in which they are met.

use super::{Form, HEADER, Needed, Scratch, push};
use crate::flat::Flat;
use crate::layout::{CALLS, Kind};
use crate::lines::{Image, LineId};
use smallvec::SmallVec;

/// Bytes that are written into memory that is there already: a byte in the vector after the other.
pub(super) struct Out<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Out<'a> {
    /// Room for so many words.
    pub fn new(bytes: &'a mut Vec<u8>, words: usize) -> Out<'a> {
        let most = words * LONGEST + HEADER;
        if bytes.len() < most {
            bytes.resize(most, 0);
        }
        Out { bytes, at: 0 }
    }

    /// Appends a word: small ones, of either sign, take one byte.
    #[inline(always)]
    pub fn push(&mut self, word: i64) {
        let rest = ((word << 1) ^ (word >> 63)) as u64;
        if rest < 0x80 {
            self.bytes[self.at] = rest as u8;
            self.at += 1;
        } else {
            self.at = push_long(self.bytes, self.at, rest);
        }
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    pub fn len(&self) -> usize {
        self.at
    }
}

/// A word takes at most so many bytes.
const LONGEST: usize = 10;

#[cold]
fn push_long(out: &mut [u8], mut at: usize, mut rest: u64) -> usize {
    while rest >= 0x80 {
        out[at] = rest as u8 | 0x80;
        at += 1;
        rest >>= 7;
    }
    out[at] = rest as u8;
    at + 1
}

/// Names that are given to objects in the order in which they are met.
pub(super) struct Names<'a> {
    /// The name of each object; 0 if it has none.
    pub names: &'a mut [u32],
    /// The objects that have names, in their order.
    pub order: &'a mut [u32],
    pub count: usize,
}

impl<'a> Names<'a> {
    /// No names, for so many objects.
    pub fn new(names: &'a mut Vec<u32>, order: &'a mut Vec<u32>, objects: usize) -> Names<'a> {
        names.clear();
        names.resize(objects, 0);
        if order.len() < objects {
            order.resize(objects, 0);
        }
        Names { names, order, count: 0 }
    }

    /// The name of what a word refers to, which is given one if it has none.
    #[inline(always)]
    pub fn of(&mut self, word: i64) -> i64 {
        if word <= 0 {
            return 0;
        }
        let name = &mut self.names[word as usize - 1];
        if *name == 0 {
            self.order[self.count] = word as u32 - 1;
            self.count += 1;
            *name = self.count as u32;
        }
        i64::from(*name)
    }

    /// The object with this place in the order.
    #[inline(always)]
    pub fn at(&self, place: usize) -> Option<usize> {
        (place < self.count).then(|| self.order[place] as usize)
    }

    /// Takes the names back that were given after the first so many.
    pub fn keep(&mut self, count: usize) {
        for &object in &self.order[count..self.count] {
            self.names[object as usize] = 0;
        }
        self.count = count;
    }
}

/// Names that are given to values in the order in which they are met.
pub(super) struct ValueNames<'a> {
    pub names: &'a mut [u8],
    pub known: u8,
}

impl ValueNames<'_> {
    /// A value, by its name if it may be renamed.
    #[inline(always)]
    pub fn of(&mut self, word: i64) -> i64 {
        let place = (word as u64).wrapping_sub(1);
        match usize::try_from(place).ok().and_then(|place| self.names.get_mut(place)) {
            None => word,
            Some(name) => {
                if *name == 0 {
                    self.known += 1;
                    *name = self.known;
                }
                i64::from(*name)
            }
        }
    }
}

/// A state that is being written, with the names given so far.
///
/// What is done for each word is inlined, and the writer is never lent to what is not: so its parts
/// can be kept in registers.
pub(super) struct Writer<'a> {
    form: &'a Form,
    flat: &'a Flat,
    objects: Names<'a>,
    needed: &'a Needed,
    position: &'a [u8],
    values: ValueNames<'a>,
    out: Out<'a>,
}

impl<'a> Writer<'a> {
    /// Writes a state with its threads in this order; returns where its crash part starts.
    pub(super) fn write(
        form: &'a Form,
        flat: &'a Flat,
        scratch: &'a mut Scratch,
        (threads, position): (&[usize], &'a [u8]),
        out: &mut Vec<u8>,
    ) -> usize {
        let layout = &form.layout;
        let count = (flat.words.len() - layout.heap) / layout.stride;
        let Scratch { names, order, needed, values, written, .. } = scratch;
        values.clear();
        values.resize(form.values, 0);
        let mut objects = Names::new(names, order, count);
        if !form.heap {
            (1..=count).for_each(|object| _ = objects.of(object as i64));
        }
        let values = ValueNames { names: values, known: 0 };
        let written = Out::new(written, flat.words.len() + threads.len());
        let mut writer = Writer { form, flat, objects, needed, position, values, out: written };
        writer.state(threads);
        out.clear();
        out.extend_from_slice(writer.out.written());
        match form.links || form.lines.is_some() {
            true => writer.rest(out),
            false => out.len(),
        }
    }

    /// What few models have. The writer is given away: see [`Writer`].
    #[cold]
    fn rest(mut self, out: &mut Vec<u8>) -> usize {
        if self.form.links {
            self.links(out);
        }
        let crash_part = out.len();
        if self.form.lines.is_some() {
            self.crash_part(out);
        }
        crash_part
    }

    /// The state without what few models have.
    #[inline(always)]
    fn state(&mut self, threads: &[usize]) {
        let (form, flat) = (self.form, self.flat);
        let layout = &form.layout;
        if form.calls {
            for &thread in threads {
                self.out.push(flat.words[layout.thread(thread) + CALLS]);
            }
        }
        let start = self.out.at;
        self.out.at += HEADER;
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            self.word(*word, *kind);
        }
        for &thread in threads {
            form.thread_words(flat, thread, |word, kind| self.word(word, kind));
        }
        let front = u16::try_from(self.out.at - start - HEADER).unwrap_or(u16::MAX);
        let mut next = 0;
        while let Some(object) = self.objects.at(next) {
            self.object(object);
            next += 1;
        }
        let count = u16::try_from(next).unwrap_or(u16::MAX);
        self.out.bytes[start..start + 2].copy_from_slice(&count.to_le_bytes());
        self.out.bytes[start + 2..start + HEADER].copy_from_slice(&front.to_le_bytes());
    }

    /// Writes an object.
    #[inline(always)]
    fn object(&mut self, object: usize) {
        let (form, flat) = (self.form, self.flat);
        let at = form.layout.object(object);
        let (head, words) = (flat.words[at], &flat.words[at + 1..]);
        self.out.push(head);
        let Some(kinds) = form.fields(head) else { return };
        if self.needed.is_all() {
            for (word, kind) in words.iter().zip(kinds) {
                self.word(*word, *kind);
            }
        } else {
            let needed = self.needed.of(object);
            for (number, (word, kind)) in words.iter().zip(kinds).enumerate() {
                let is_needed = needed.checked_shr(number as u32).unwrap_or(0) & 1 == 1;
                self.word(if is_needed { *word } else { 0 }, *kind);
            }
        }
    }

    #[inline(always)]
    fn word(&mut self, word: i64, kind: Kind) {
        let shown = match kind {
            Kind::Plain => word,
            Kind::Ref => self.objects.of(word),
            Kind::Data => self.values.of(word),
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
        };
        self.out.push(shown);
    }

    /// The same, appended elsewhere.
    fn word_to(&mut self, word: i64, kind: Kind, out: &mut Vec<u8>) {
        self.out.at = 0;
        self.word(word, kind);
        out.extend_from_slice(self.out.written());
    }

    /// An object, appended elsewhere.
    fn object_to(&mut self, object: usize, out: &mut Vec<u8>) {
        self.out.at = 0;
        self.object(object);
        out.extend_from_slice(self.out.written());
    }

    /// What concerns only crashes: how many may come, the images of lines, and the objects that
    /// only images lead to, each after a 0. See [`CrashPart`](crate::CrashPart).
    fn crash_part(&mut self, out: &mut Vec<u8>) {
        let (form, flat) = (self.form, self.flat);
        let objects = self.objects.count;
        push(out, i64::from(flat.left.system));
        push(out, i64::from(flat.left.thread));
        let count_at = out.len();
        out.extend([0, 0]);
        self.images(None, out);
        let mut next = 0;
        while let Some(object) = self.objects.at(next) {
            if next >= objects {
                push(out, 0);
                self.object_to(object, out);
            }
            if form.is_persistent(flat, object) {
                self.images(Some(object), out);
            }
            next += 1;
        }
        let count = u16::try_from(next - objects).unwrap_or(u16::MAX);
        out[count_at..count_at + 2].copy_from_slice(&count.to_le_bytes());
    }

    /// The images of an object, or of the shared variables, in an order that depends on names as
    /// little as can be: what has a name already comes in its order.
    fn images(&mut self, object: Option<usize>, out: &mut Vec<u8>) {
        let (form, flat) = (self.form, self.flat);
        let name = object.map_or(0, |object| i64::from(self.objects.names[object]));
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
            push(out, name + 1);
            push(out, key[0]);
            push(out, self.moved(image.flushed) as i64);
            push(out, image.words.len() as i64);
            for (word, kind) in image.words.iter().zip(form.image_kinds(flat, image)) {
                self.word_to(*word, kind, out);
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
            Kind::Ref => match self.objects.names[word as usize - 1] {
                0 => i64::MAX,
                name => i64::from(name),
            },
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
            Kind::Data => {
                let at = usize::try_from(word).ok().and_then(|word| word.checked_sub(1));
                match at.and_then(|at| self.values.names.get(at)) {
                    None => word,
                    Some(0) => i64::MAX,
                    Some(name) => i64::from(*name),
                }
            }
        }
    }

    /// The links to words that still have a name: no thread can use the others.
    fn links(&self, out: &mut Vec<u8>) {
        let layout = &self.form.layout;
        let mut links: SmallVec<[[usize; 4]; 4]> = SmallVec::new();
        for link in &self.flat.links {
            let thread = self.position[link.thread] as usize;
            let at = match link.at.checked_sub(layout.heap) {
                None => link.at,
                Some(inside) => match self.objects.names[inside / layout.stride] {
                    0 => continue,
                    name => layout.object(name as usize - 1) + inside % layout.stride,
                },
            };
            links.push([thread, at, link.width, usize::from(link.element)]);
        }
        links.sort_unstable();
        push(out, links.len() as i64);
        for word in links.iter().flatten() {
            push(out, *word as i64);
        }
    }
}
