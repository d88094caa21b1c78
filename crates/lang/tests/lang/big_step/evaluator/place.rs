//! Shared memory: places, words, and the operands of an access.

use super::value::{Evaluated, element, position};
use super::{Datum, Evaluator, Fault, Mistake, Object, Stop};
use linchpin_lang::syntax::ast::{Expr, ExprKind, TypeExpr, TypeKind};

/// A place whose operands have been evaluated; whether there is such a word is seen at the access.
#[derive(Clone, Debug)]
pub(super) struct Place<'m> {
    root: Root<'m>,
    /// One for each pair of brackets.
    indexes: Vec<Datum>,
}

#[derive(Clone, Debug)]
enum Root<'m> {
    Shared(usize),
    /// A field of what this refers to.
    Field(Datum, &'m str),
}

/// A word of shared memory: a variable or a field of an object, or an element of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    variable: Variable,
    element: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Shared(usize),
    Field { object: usize, field: usize },
}

impl Word {
    pub fn is_in(&self, heap_object: usize) -> bool {
        matches!(self.variable, Variable::Field { object, .. } if object == heap_object)
    }
}

/// What a name, field or index expression stands for.
pub(super) enum Resolved<'m> {
    Value(Datum),
    Place(Place<'m>),
}

impl<'m> Evaluator<'m> {
    pub(super) fn resolve(&mut self, expr: &'m Expr) -> Evaluated<Resolved<'m>> {
        match &expr.kind {
            ExprKind::Name(name) => Ok(self.name(name)),
            ExprKind::Field(object, field) => match self.eval(object).map_err(seen_late)? {
                Datum::Record(fields) => {
                    let found = fields.into_iter().find(|(name, _)| *name == field.name);
                    let (_, value) = found.expect("a component of the record");
                    self.cover("component of a record");
                    Ok(Resolved::Value(value))
                }
                object => Ok(Resolved::Place(Place {
                    root: Root::Field(object, &field.name),
                    indexes: Vec::new(),
                })),
            },
            ExprKind::Index(list, index) => match self.resolve(list)? {
                Resolved::Place(mut place) if self.is_array(&place) => {
                    let index = self.eval(index).map_err(|stop| self.at_access(&place, stop))?;
                    place.indexes.push(index);
                    Ok(Resolved::Place(place))
                }
                list => {
                    let list = match list {
                        Resolved::Place(sequence) => self.read(&sequence)?,
                        Resolved::Value(value) => value,
                    };
                    let index = self.eval(index)?;
                    let Datum::List(items) = list else { panic!("not a list: {list:?}") };
                    self.cover("element of a local array or sequence");
                    element(&items, &index).map(Resolved::Value)
                }
            },
            _ => self.eval(expr).map(Resolved::Value),
        }
    }

    /// What a name stands for: the innermost local variable, a constant, a variable of the thread,
    /// a shared one.
    fn name(&mut self, name: &'m str) -> Resolved<'m> {
        if let Some(at) = self.local(name) {
            return Resolved::Value(self.scope[at].1.clone());
        }
        let passed = self.places.iter().rev();
        let mut passed = passed.filter(|(frame, known, _)| *frame == self.frame && *known == name);
        if let Some((_, _, place)) = passed.next() {
            return Resolved::Place(place.clone());
        }
        match (name, self.thread) {
            ("me", Some(thread)) => return Resolved::Value(Datum::Int(thread as i64)),
            // The caller of a specification, which tests let be the first thread.
            ("me", None) if self.declared.is_spec => return Resolved::Value(Datum::Int(0)),
            ("MIN", _) => return Resolved::Value(Datum::Int(i64::MIN)),
            ("MAX", _) => return Resolved::Value(Datum::Int(i64::MAX)),
            _ => {}
        }
        if let Some((_, value)) = self.declared.constants.iter().find(|(known, _)| *known == name) {
            return Resolved::Value(value.clone());
        }
        if let Some(at) = self.thread_local(name) {
            let thread = self.thread.expect("init has no thread");
            self.cover("thread-local read");
            return Resolved::Value(self.world.threads[thread].variables[at].clone());
        }
        let at = self.declared.shared.iter().position(|variable| variable.name.name == name);
        let at = at.unwrap_or_else(|| panic!("unknown variable {name}"));
        Resolved::Place(Place { root: Root::Shared(at), indexes: Vec::new() })
    }

    pub(super) fn local(&self, name: &str) -> Option<usize> {
        let locals = &self.scope[self.frame..];
        locals.iter().rposition(|(known, _)| *known == name).map(|at| at + self.frame)
    }

    pub(super) fn thread_local(&self, name: &str) -> Option<usize> {
        self.declared.thread_locals.iter().position(|variable| variable.name.name == name)
    }

    /// Whether the elements of this are words of their own. They are not in a sequence, which is
    /// read whole.
    fn is_array(&self, place: &Place<'m>) -> bool {
        match place.root {
            Root::Shared(at) => matches!(self.declared.shared[at].ty.kind, TypeKind::Array(..)),
            Root::Field(..) => true,
        }
    }

    /// Evaluates the operands of an access: those inside the places, then the values.
    pub(super) fn operands(
        &mut self,
        places: &[&'m Expr],
        values: &[&'m Expr],
    ) -> Evaluated<(Vec<Place<'m>>, Vec<Datum>)> {
        let mut resolved = Vec::new();
        for (at, place) in places.iter().enumerate() {
            match self.resolve(place) {
                Ok(Resolved::Place(place)) => resolved.push(place),
                Ok(Resolved::Value(value)) => panic!("{value:?} is not a place"),
                Err(stop) => return Err(self.widen(stop, &resolved, &places[at + 1..], values)),
            }
        }
        let mut evaluated = Vec::new();
        for (at, value) in values.iter().enumerate() {
            match self.eval(value) {
                Ok(value) => evaluated.push(value),
                Err(stop) => return Err(self.widen(stop, &resolved, &[], &values[at + 1..])),
            }
        }
        Ok((resolved, evaluated))
    }

    /// A fault in an operand of an access, given the places before it and the operands after it.
    fn widen(
        &mut self,
        stop: Stop,
        before: &[Place<'m>],
        places: &[&'m Expr],
        values: &[&'m Expr],
    ) -> Stop {
        let stop = self.or_later_faults(stop, places, values);
        match stop {
            Stop::Fault(mut fault) if fault.pure => {
                fault.late = true;
                fault.also.extend(self.location_faults(before));
                Stop::Fault(fault)
            }
            other => other,
        }
    }

    /// A fault in one of several operands may be reported as that of a later one, unless something
    /// happens in between.
    pub(super) fn or_later_faults(
        &mut self,
        stop: Stop,
        places: &[&'m Expr],
        values: &[&'m Expr],
    ) -> Stop {
        let mut fault = match stop {
            Stop::Fault(fault) if fault.pure => fault,
            other => return other,
        };
        let mut later = self.clone();
        let mut resolved = Vec::new();
        for place in places {
            match later.resolve(place) {
                Ok(Resolved::Place(place)) => resolved.push(place),
                Err(Stop::Fault(other)) => fault.also.extend(all_mistakes(other)),
                _ => {}
            }
        }
        for value in values {
            if let Err(Stop::Fault(other)) = later.eval(value) {
                fault.also.extend(all_mistakes(other));
            }
        }
        if later.acts != self.acts {
            return Stop::Fault(Fault { also: Vec::new(), pure: false, ..fault });
        }
        fault.also.extend(later.location_faults(&resolved));
        Stop::Fault(fault)
    }

    fn location_faults(&self, places: &[Place<'m>]) -> Vec<Mistake> {
        let mut faults: Vec<Mistake> =
            places.iter().filter_map(|place| self.locate(place).err()).collect();
        let words: Vec<Word> = places.iter().filter_map(|place| self.locate(place).ok()).collect();
        if (1..words.len()).any(|at| words[..at].contains(&words[at])) {
            faults.push(Mistake::RepeatedPlace);
        }
        faults
    }

    /// A fault in the value for a place, or in its index.
    pub(super) fn at_access(&self, place: &Place<'m>, stop: Stop) -> Stop {
        let mut stop = stop;
        if let Stop::Fault(fault) = &mut stop
            && fault.pure
        {
            fault.late = true;
            fault.also.extend(self.locate(place).err());
        }
        stop
    }

    /// The word that a place names now.
    pub(super) fn locate(&self, place: &Place<'m>) -> Result<Word, Mistake> {
        let variable = match &place.root {
            Root::Shared(at) => Variable::Shared(*at),
            Root::Field(Datum::Nothing, _) => return Err(Mistake::NullDereference),
            Root::Field(Datum::Reference(object), field) => {
                let Object { of, live, .. } = &self.world.heap[*object];
                if !live {
                    return Err(Mistake::UseAfterFree);
                }
                let fields = &self.declared.structs[*of].fields;
                let field = fields.iter().position(|(name, _)| name.name == *field);
                Variable::Field { object: *object, field: field.expect("a field of the struct") }
            }
            Root::Field(other, _) => panic!("{other:?} has no fields"),
        };
        let Datum::List(items) = self.variable(variable) else {
            return Ok(Word { variable, element: None });
        };
        let index = &match place.indexes.as_slice() {
            [] => return Ok(Word { variable, element: None }),
            [index] => index.clone(),
            [row, column] => self.within(variable, row.int(), column.int()),
            more => panic!("{more:?} are too many"),
        };
        match position(index, items.len()) {
            Ok(element) => Ok(Word { variable, element: Some(element) }),
            Err(_) => Err(Mistake::IndexOutOfRange(index.int(), items.len())),
        }
    }

    /// The index of an element of an array of arrays; -1 if there is no such column.
    fn within(&self, variable: Variable, row: i64, column: i64) -> Datum {
        let Variable::Shared(at) = variable else { panic!("no array of arrays") };
        let TypeKind::Array(row_type, _) = &self.declared.shared[at].ty.kind else { panic!() };
        let TypeKind::Array(_, length) = &row_type.kind else { panic!("no array of arrays") };
        let length = match &length.kind {
            ExprKind::Int(length) => *length,
            ExprKind::Name(name) => {
                let constants = &self.declared.constants;
                constants.iter().find(|(known, _)| known == name).expect("a constant").1.int()
            }
            other => panic!("{other:?} is not a length"),
        };
        // There are at most 4096 words, so no row has a larger number.
        let exists = (0..=4096).contains(&row) && (0..length).contains(&column);
        Datum::Int(if exists { row * length + column } else { -1 })
    }

    /// The type of a word.
    pub(super) fn word_type(&self, word: Word) -> Option<&'m TypeExpr> {
        Some(match word.variable {
            Variable::Shared(at) => &self.declared.shared[at].ty,
            Variable::Field { object, field } => {
                &self.declared.structs[self.world.heap[object].of].fields.get(field)?.1
            }
        })
    }

    /// Where the number in a word wraps, if it does.
    pub(super) fn wraps(&self, word: Word) -> Option<i64> {
        self.word_type(word).and_then(|ty| self.wraps_at(ty))
    }

    fn variable(&self, variable: Variable) -> &Datum {
        match variable {
            Variable::Shared(at) => &self.world.shared[at],
            Variable::Field { object, field } => &self.world.heap[object].fields[field],
        }
    }

    pub(super) fn load(&self, word: Word) -> &Datum {
        match (word.element, self.variable(word.variable)) {
            (None, whole) => whole,
            (Some(element), Datum::List(items)) => &items[element],
            (Some(_), other) => panic!("{other:?} has no elements"),
        }
    }

    /// Writes a word. No thread is linked to it any more.
    pub(super) fn store(&mut self, word: Word, value: Datum) {
        let value = match self.wraps(word) {
            Some(_) => self.word_type(word).map_or(value.clone(), |ty| self.reduced(value, ty)),
            None => value,
        };
        let world = self.world_mut();
        for thread in &mut world.threads {
            thread.links.retain(|link| *link != word);
        }
        let variable = match word.variable {
            Variable::Shared(at) => &mut world.shared[at],
            Variable::Field { object, field } => &mut world.heap[object].fields[field],
        };
        match (word.element, variable) {
            // `[]` is also the empty set and the empty map.
            (None, Datum::Set(items)) if value == Datum::List(Vec::new()) => items.clear(),
            (None, Datum::Map(pairs)) if value == Datum::List(Vec::new()) => pairs.clear(),
            (None, whole) => *whole = value,
            (Some(element), Datum::List(items)) => items[element] = value,
            (Some(_), other) => panic!("{other:?} has no elements"),
        }
    }

    /// The step that reads a place.
    pub(super) fn read(&mut self, place: &Place<'m>) -> Evaluated<Datum> {
        self.begin_step();
        let word = self.locate(place)?;
        self.cover(match word {
            Word { variable: Variable::Shared(_), element: None } => "read of a shared variable",
            Word { variable: Variable::Shared(_), element: Some(_) } => "read of a shared element",
            Word { variable: Variable::Field { .. }, element: None } => "read of a field",
            Word { variable: Variable::Field { .. }, element: Some(_) } => {
                "read of an element of a field"
            }
        });
        Ok(self.load(word).clone())
    }

    /// The step that writes a place.
    pub(super) fn write(&mut self, place: &Place<'m>, value: Datum) -> Evaluated<()> {
        self.begin_step();
        let word = self.locate(place)?;
        self.store(word, value);
        Ok(())
    }
}

/// A fault in the reference of an access, if it is one.
fn seen_late(stop: Stop) -> Stop {
    match stop {
        Stop::Fault(fault) => Stop::Fault(Fault { late: fault.late || fault.pure, ..fault }),
        other => other,
    }
}

fn all_mistakes(fault: Fault) -> impl Iterator<Item = Mistake> {
    std::iter::once(fault.mistake).chain(fault.also)
}
