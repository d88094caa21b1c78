//! Lines of persistent memory, in words: which words lie in which line, what a crash may leave of a
//! line, and what it takes from the rest.
//!
//! The interpreter keeps for each line the stores since its last guaranteed write-back, and for
//! each thread how many of them it has flushed. All that matters about them is what a crash may
//! leave: each prefix of the stores is an *image* of the line, and a fence of a thread takes away
//! those images that are older than its flush. So a state has, for each line, the images besides
//! what the line holds now, each with the threads whose next fence takes it away. Order does not
//! matter then, an image that equals a younger one says nothing (the younger one stays longer), and
//! a store that changes nothing makes none: images of a line are distinct, and differ from its
//! content.

use crate::Unsupported;
use crate::flat::Flat;
use crate::layout::{Layout, flatten, kinds_of, width};
use linchpin_ir::persistence::SharedLines;
use linchpin_ir::program::{Program, Type};
use smallvec::SmallVec;

/// A line of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineId {
    /// A line of shared variables: index into [`Lines::shared`].
    Shared(u32),
    /// A line of an object: the object and which of its lines.
    Object(u32, u32),
}

/// Something that a crash may leave of a line instead of what the line holds now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Image {
    /// The line.
    pub line: LineId,
    /// The threads (a bit for each; recovery counts as the one after the last) whose next fence
    /// takes this away.
    pub flushed: u64,
    /// The words of the line, in the order of the layout.
    pub words: SmallVec<[i64; 4]>,
}

/// The crashes that may still come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CrashesLeft {
    /// Of the whole system.
    pub system: u8,
    /// Of one thread.
    pub thread: u8,
}

/// The lines of the objects of a struct.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectLines {
    /// For each line its words, from the start of the object.
    pub lines: Vec<Vec<usize>>,
    /// For each word of the object (from its start), its line; `None` for its head and for locks.
    of_word: Vec<Option<u32>>,
}

/// Where persistent memory lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// For each line of shared variables, its words.
    pub shared: Vec<Vec<usize>>,
    /// For each word of the shared variables, its line; `None` if it is volatile or a lock.
    of_word: Vec<Option<u32>>,
    /// For each struct, its lines; `None` if it is volatile.
    pub structs: Vec<Option<ObjectLines>>,
    /// For each struct, the words of a new object before its fields are written.
    pub blank: Vec<Vec<i64>>,
    /// For each struct, the sizes of what is stored at once: a field, an element of an array field.
    pub parts: Vec<Vec<usize>>,
    /// What a crash sets words of the shared variables to: the initial value of volatile ones, 0
    /// for locks.
    pub reset: Vec<(usize, i64)>,
    /// For each struct, its words that are locks, from the start of the object.
    locks: Vec<Vec<usize>>,
    /// What the variables of a thread start with.
    pub variables: Vec<i64>,
    /// Whether a store that changes nothing, and an image that is there already, are left out.
    pub distinct: bool,
}

impl Lines {
    /// The lines of a program.
    pub fn of(program: &Program, layout: &Layout, distinct: bool) -> Result<Lines, Unsupported> {
        let persistence = program.persistence.as_ref();
        let mut lines = Lines {
            shared: vec![Vec::new(); persistence.map_or(0, |of| of.lines.len())],
            of_word: vec![None; layout.shared_words],
            distinct,
            ..Lines::default()
        };
        for (index, variable) in program.shared.iter().enumerate() {
            let slot = layout.shared[index];
            let mut initial = Vec::new();
            flatten(&variable.initial, &variable.ty, &mut initial)?;
            let locks = locks_of(&variable.ty)?;
            let elements = match &variable.ty {
                Type::Array(_, length) => (*length).max(1),
                _ => 1,
            };
            let lies = persistence.and_then(|of| of.shared.get(index)?.as_ref());
            for at in 0..slot.width {
                let word = slot.at + at;
                let line = match lies {
                    None => {
                        lines.reset.push((word, initial[at]));
                        continue;
                    }
                    Some(_) if locks[at] => {
                        lines.reset.push((word, 0));
                        continue;
                    }
                    Some(SharedLines::One(line)) => *line,
                    Some(SharedLines::Elements) => {
                        if at % (slot.width / elements) == 0 {
                            lines.shared.push(Vec::new());
                        }
                        lines.shared.len() - 1
                    }
                };
                lines.shared[line].push(word);
                lines.of_word[word] = u32::try_from(line).ok();
            }
        }
        for (index, of) in program.structs.iter().enumerate() {
            let (mut blank, mut parts, mut locks) = (Vec::new(), Vec::new(), Vec::new());
            let lies = persistence.and_then(|of| of.structs.get(index)?.as_ref());
            let mut object = ObjectLines {
                lines: vec![Vec::new(); lies.map_or(0, |lies| lies.names.len())],
                of_word: vec![None; layout.stride],
            };
            for (number, field) in of.fields.iter().enumerate() {
                let slot = layout.fields[index][number];
                flatten(&field.initial, &field.ty, &mut blank)?;
                parts.extend(parts_of(&field.ty)?);
                for (at, lock) in locks_of(&field.ty)?.into_iter().enumerate() {
                    match (lock, lies) {
                        (true, _) => locks.push(slot.at + at),
                        (false, None) => {}
                        (false, Some(lies)) => {
                            let line = lies.fields[number];
                            object.lines[line].push(slot.at + at);
                            object.of_word[slot.at + at] = u32::try_from(line).ok();
                        }
                    }
                }
            }
            lines.structs.push(lies.map(|_| object));
            lines.blank.push(blank);
            lines.parts.push(parts);
            lines.locks.push(locks);
        }
        for variable in &program.thread_locals {
            flatten(&variable.initial, &variable.ty, &mut lines.variables)?;
        }
        Ok(lines)
    }

    /// The line of a word of the state; `None` if it is volatile.
    pub fn line_at(&self, layout: &Layout, flat: &Flat, at: usize) -> Option<LineId> {
        let Some(inside) = at.checked_sub(layout.heap) else {
            return self.of_word.get(at).copied().flatten().map(LineId::Shared);
        };
        let object = inside / layout.stride;
        let of = struct_of(flat.words[layout.object(object)])?;
        let line = self.structs[of].as_ref()?.of_word[inside % layout.stride]?;
        Some(LineId::Object(u32::try_from(object).ok()?, line))
    }

    /// The words of a line, and where to count them from.
    pub fn words<'a>(&'a self, layout: &Layout, flat: &Flat, line: LineId) -> (usize, &'a [usize]) {
        match line {
            LineId::Shared(line) => (0, &self.shared[line as usize]),
            LineId::Object(object, line) => {
                let start = layout.object(object as usize);
                let lines = struct_of(flat.words[start]).and_then(|of| self.structs[of].as_ref());
                (start, lines.map_or(&[], |lines| &lines.lines[line as usize]))
            }
        }
    }

    /// What a line holds.
    pub fn content(&self, layout: &Layout, flat: &Flat, line: LineId) -> SmallVec<[i64; 4]> {
        let (start, words) = self.words(layout, flat, line);
        words.iter().map(|word| flat.words[start + word]).collect()
    }

    /// Sets what a line holds.
    pub fn restore(&self, layout: &Layout, flat: &mut Flat, line: LineId, to: &[i64]) {
        let (start, words) = self.words(layout, flat, line);
        for (word, value) in words.iter().zip(to) {
            flat.words[start + word] = *value;
        }
    }

    /// Writes words of one line (or of none) at once; what the line held becomes an image.
    pub fn store(&self, layout: &Layout, flat: &mut Flat, at: usize, words: &[i64]) {
        let same = flat.words[at..at + words.len()] == *words;
        let line = self.line_at(layout, flat, at).filter(|_| !(same && self.distinct));
        let Some(line) = line else {
            flat.words[at..at + words.len()].copy_from_slice(words);
            return;
        };
        let before = self.content(layout, flat, line);
        flat.words[at..at + words.len()].copy_from_slice(words);
        if self.distinct {
            let after = self.content(layout, flat, line);
            flat.images.retain(|image| image.line != line || image.words != after);
        }
        flat.images.push(Image { line, flushed: 0, words: before });
    }

    /// Whether an object lies in persistent memory.
    pub fn is_persistent(&self, of: usize) -> bool {
        self.structs.get(of).is_some_and(Option::is_some)
    }

    /// What a crash of the system takes from memory, apart from pending stores.
    pub fn lose_volatile(&self, layout: &Layout, flat: &mut Flat) {
        for (word, value) in &self.reset {
            flat.words[*word] = *value;
        }
        for object in flat.words[layout.heap..].chunks_mut(layout.stride) {
            let Some(of) = struct_of(object[0]) else { continue };
            if self.is_persistent(of) {
                for &word in &self.locks[of] {
                    object[word] = 0;
                }
            } else {
                object[1..].fill(0);
                if let Ok(of) = i64::try_from(of) {
                    object[0] = -1 - of;
                }
            }
        }
    }
}

/// The struct of an object, dead or alive, by its head.
pub(crate) fn struct_of(head: i64) -> Option<usize> {
    usize::try_from(head.unsigned_abs()).ok()?.checked_sub(1)
}

/// For each word of a type, whether it is a lock.
fn locks_of(ty: &Type) -> Result<Vec<bool>, Unsupported> {
    Ok(match ty {
        Type::Lock => vec![true],
        Type::Option(inner) => {
            let inner = locks_of(inner)?;
            let mut all = vec![false; width(ty)? - inner.len()];
            all.extend(inner);
            all
        }
        Type::Record { fields, .. } => {
            let of = fields.iter().map(|(_, ty)| locks_of(ty));
            of.collect::<Result<Vec<_>, _>>()?.concat()
        }
        Type::Tuple(items) => items.iter().map(locks_of).collect::<Result<Vec<_>, _>>()?.concat(),
        Type::Array(item, length) => locks_of(item)?.repeat(*length),
        _ => vec![false; kinds_of(ty)?.len()],
    })
}

/// The sizes of what is stored at once where a value of this type is written: an array is written
/// element by element.
pub(crate) fn parts_of(ty: &Type) -> Result<Vec<usize>, Unsupported> {
    Ok(match ty {
        Type::Array(item, length) => vec![width(item)?; *length],
        _ => vec![width(ty)?],
    })
}
