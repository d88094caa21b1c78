//! The shared accesses: reads, writes, and the instructions that do both at once.

use super::action::Performed;
use super::execution::Execution;
use super::{FaultKind, Location, Memory, Root};
use crate::program::{Cell, Expr, LocalId, Place};
use linchpin_spec::Value;
use std::sync::Arc;

impl Execution<'_> {
    /// The word that a place names here and now.
    pub fn resolve(&self, place: &Place) -> Result<Location, FaultKind> {
        let (root, index) = match place {
            Place::Shared(variable) => (Root::Shared(*variable), None),
            Place::SharedElement(variable, index) => (Root::Shared(*variable), Some(index)),
            Place::Field { object, of, field } => (self.field(object, *of, *field)?, None),
            Place::FieldElement { object, of, field, index } => {
                (self.field(object, *of, *field)?, Some(index))
            }
        };
        let whole = self.load(Location { root, element: None })?;
        let element = match index {
            None => None,
            Some(index) => {
                let length = whole.as_list().ok_or(FaultKind::IllTyped)?.len();
                Some(self.environment().index(index, length)?)
            }
        };
        Ok(Location { root, element })
    }

    fn field(&self, object: &Expr, of: usize, field: usize) -> Result<Root, FaultKind> {
        let object = match self.environment().eval(object)? {
            Value::Ref(object) => object,
            Value::Null => return Err(FaultKind::NullDereference),
            _ => return Err(FaultKind::IllTyped),
        };
        match self.state.heap.get(object as usize) {
            Some(found) if found.of != of => Err(FaultKind::IllTyped),
            Some(found) if !found.live && self.memory != Memory::TypeStable => {
                Err(FaultKind::UseAfterFree)
            }
            Some(_) => Ok(Root::Field { object, field }),
            None => Err(FaultKind::IllTyped),
        }
    }

    fn load(&self, at: Location) -> Result<&Value, FaultKind> {
        self.state.get(at).ok_or(FaultKind::IllTyped)
    }

    /// Writes a word, which loses every thread's link to it, and returns what it held before.
    fn store(&mut self, at: Location, value: Value) -> Result<Value, FaultKind> {
        let word = self.state.get_mut(at).ok_or(FaultKind::IllTyped)?;
        let old = std::mem::replace(word, value);
        self.log(at, &old);
        Ok(old)
    }

    pub fn read(&mut self, into: LocalId, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        let value = self.load(at)?.clone();
        self.note(|names| {
            let answer = names.answer(into).unwrap_or("read ".to_owned());
            format!("{answer}{} = {}", names.place_at(place, at), names.value_at(place, &value))
        });
        self.set_local(into, value)
    }

    pub fn write(&mut self, place: &Place, value: &Expr) -> Performed {
        let at = self.resolve(place)?;
        let value = self.environment().eval(value)?;
        self.note(|names| {
            format!("{} := {}", names.place_at(place, at), names.value_at(place, &value))
        });
        self.store(at, value)?;
        Ok(true)
    }

    pub fn cas(&mut self, into: LocalId, cells: &[Cell]) -> Performed {
        let mut words: Vec<(Location, Value, Value)> = Vec::with_capacity(cells.len());
        for cell in cells {
            let at = self.resolve(&cell.place)?;
            if words.iter().any(|(other, ..)| other.overlaps(&at)) {
                return Err(FaultKind::SameWordTwice);
            }
            let environment = self.environment();
            words.push((at, environment.eval(&cell.expected)?, environment.eval(&cell.new)?));
        }
        let mut failed = None;
        for (cell, (at, expected, _)) in cells.iter().zip(&words) {
            let held = self.load(*at)?;
            if held != expected {
                failed = Some((cell, *at, held.clone()));
                break;
            }
        }
        self.note(|names| {
            let show = |(cell, (at, old, new)): (&Cell, &(Location, Value, Value))| {
                let place = &cell.place;
                let (old, new) = (names.value_at(place, old), names.value_at(place, new));
                format!("{}: {old} → {new}", names.place_at(place, *at))
            };
            let shown: Vec<String> = cells.iter().zip(&words).map(show).collect();
            let result = failed.as_ref().map_or("ok".to_owned(), |(cell, at, held)| {
                let held = names.value_at(&cell.place, held);
                format!("failed, {} is {held}", names.place_at(&cell.place, *at))
            });
            format!("cas({}) {result}", shown.join(", "))
        });
        self.guarantee();
        let success = failed.is_none();
        if success {
            for (at, _, new) in words {
                self.store(at, new)?;
            }
        }
        self.set_local(into, Value::Bool(success))
    }

    pub fn swap(&mut self, into: LocalId, place: &Place, value: &Expr) -> Performed {
        let at = self.resolve(place)?;
        let value = self.environment().eval(value)?;
        self.guarantee();
        let old = self.store(at, value.clone())?;
        self.note(|names| {
            let (new, old) = (names.value_at(place, &value), names.value_at(place, &old));
            let answer = names.answer(into).unwrap_or_default();
            format!("{answer}swap({}, {new}) = {old}", names.place_at(place, at))
        });
        self.set_local(into, old)
    }

    pub fn fetch_add(&mut self, into: LocalId, place: &Place, value: &Expr) -> Performed {
        let at = self.resolve(place)?;
        let by = self.environment().int(value)?;
        let old = self.load(at)?.as_int().ok_or(FaultKind::IllTyped)?;
        let new = old.checked_add(by).ok_or(FaultKind::Overflow)?;
        self.guarantee();
        self.store(at, Value::Int(new))?;
        self.note(|names| {
            let answer = names.answer(into).unwrap_or_default();
            format!("{answer}faa({}, {by}) = {old}", names.place_at(place, at))
        });
        self.set_local(into, Value::Int(old))
    }

    pub fn load_linked(&mut self, into: LocalId, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        let value = self.load(at)?.clone();
        let thread = self.thread().ok_or(FaultKind::IllTyped)?;
        Arc::make_mut(&mut self.state.threads[thread]).links.insert(at);
        self.note(|names| {
            let answer = names.answer(into).unwrap_or_default();
            let value = names.value_at(place, &value);
            format!("{answer}ll({}) = {value}", names.place_at(place, at))
        });
        self.set_local(into, value)
    }

    pub fn store_conditional(&mut self, into: LocalId, place: &Place, value: &Expr) -> Performed {
        let at = self.resolve(place)?;
        let value = self.environment().eval(value)?;
        let thread = self.thread().ok_or(FaultKind::IllTyped)?;
        let success = self.state.threads[thread].links.contains(&at);
        self.note(|names| {
            let value = names.value_at(place, &value);
            let result = if success { "ok" } else { "failed" };
            format!("sc({}, {value}) {result}", names.place_at(place, at))
        });
        if success {
            self.store(at, value)?;
        }
        self.set_local(into, Value::Bool(success))
    }

    pub fn lock(&mut self, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        let thread = self.thread().ok_or(FaultKind::IllTyped)?;
        if !self.load(at)?.is_null() {
            return Ok(false);
        }
        self.note(|names| format!("lock({})", names.place_at(place, at)));
        self.set_lock(at, Value::Int(thread as i64))
    }

    pub fn unlock(&mut self, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        let thread = self.thread().ok_or(FaultKind::IllTyped)?;
        let holder = self.load(at)?.as_int();
        if holder != Some(thread as i64) {
            return Err(FaultKind::UnlockNotHeld { holder });
        }
        self.note(|names| format!("unlock({})", names.place_at(place, at)));
        self.set_lock(at, Value::Null)
    }

    /// Writes a lock, which is never persistent.
    fn set_lock(&mut self, at: Location, value: Value) -> Performed {
        *self.state.get_mut(at).ok_or(FaultKind::IllTyped)? = value;
        Ok(true)
    }
}
