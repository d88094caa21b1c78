//! One action: the local ones here, the shared accesses in `access.rs`.

use super::collection;
use super::execution::{Actor, Execution};
use super::{FaultKind, MAX_CHOICES, Memory, Object};
use crate::program::{Action, Expr, LocalId, LocalTarget, Method, Place};
use linchpin_spec::Value;
use std::sync::Arc;

/// Whether the action could be performed; a fault if it went wrong.
pub(super) type Performed = Result<bool, FaultKind>;

impl Execution<'_> {
    /// Performs an action. If it cannot be performed, nothing has changed.
    pub fn perform(&mut self, action: &Action) -> Performed {
        match action {
            Action::Guard(condition) => self.environment().truth(condition),
            Action::Assign { local, value } => self.assign(local, value),
            Action::Choose { into, from, to } => self.choose(*into, from, to),
            Action::Assert(condition) => match self.environment().truth(condition)? {
                true => Ok(true),
                false => Err(FaultKind::AssertionFailed),
            },
            Action::New { into, object, fields, given } => {
                self.allocate(*into, *object, fields, given)
            }
            Action::Free(object) => self.free(object),
            Action::Read { into, place } => self.read(*into, place),
            Action::Write { place, value } => self.write(place, value),
            Action::Cas { into, cells } => self.cas(*into, cells),
            Action::Swap { into, place, value } => self.swap(*into, place, value),
            Action::FetchAdd { into, place, value } => self.fetch_add(*into, place, value),
            Action::LoadLinked { into, place } => self.load_linked(*into, place),
            Action::StoreConditional { into, place, value } => {
                self.store_conditional(*into, place, value)
            }
            Action::Lock(place) => self.lock(place),
            Action::Unlock(place) => self.unlock(place),
            Action::Flush(place) => self.flush(place),
            Action::Fence => self.fence(),
            Action::Persist(place) => self.persist(place),
            Action::Update { into, place, method, arguments } => {
                self.update(*into, place, *method, arguments)
            }
        }
    }

    /// Gives a local variable its value.
    pub fn set_local(&mut self, local: LocalId, value: Value) -> Performed {
        *self.local(local)? = value;
        Ok(true)
    }

    fn local(&mut self, local: LocalId) -> Result<&mut Value, FaultKind> {
        self.locals.get_mut(local.0 as usize).ok_or(FaultKind::IllTyped)
    }

    fn assign(&mut self, target: &LocalTarget, value: &Expr) -> Performed {
        let value = self.environment().eval(value)?;
        let word = match target {
            LocalTarget::Local(local) => self.local(*local)?,
            LocalTarget::ThreadLocal(variable) => {
                let thread = self.thread().ok_or(FaultKind::IllTyped)?;
                let thread = Arc::make_mut(&mut self.state.threads[thread]);
                thread.variables.get_mut(*variable).ok_or(FaultKind::IllTyped)?
            }
            LocalTarget::Element(local, index) => {
                let length = self.items(*local)?.len();
                let index = self.environment().index(index, length)?;
                &mut self.items(*local)?[index]
            }
            LocalTarget::Component(local, component) => {
                self.items(*local)?.get_mut(*component).ok_or(FaultKind::IllTyped)?
            }
        };
        *word = value.clone();
        let temporary =
            matches!(target, LocalTarget::Local(local) if self.names().is_temporary(*local));
        if !temporary {
            self.note(|names| {
                let ty = names.type_of_target(target);
                format!("{} := {}", names.local_target(target), names.typed(&value, ty))
            });
        }
        Ok(true)
    }

    fn items(&mut self, local: LocalId) -> Result<&mut Vec<Value>, FaultKind> {
        match self.local(local)? {
            Value::List(items) => Ok(Arc::make_mut(items)),
            _ => Err(FaultKind::IllTyped),
        }
    }

    /// One of `arity` ways.
    fn ask(&mut self, arity: u32) -> Result<Option<u32>, FaultKind> {
        match self.actor {
            Actor::Init if arity > 1 => Err(FaultKind::ChoiceInInit),
            _ => Ok(self.chooser.choose(arity)),
        }
    }

    fn choose(&mut self, into: LocalId, from: &Expr, to: &Expr) -> Performed {
        let (from, to) = (self.environment().int(from)?, self.environment().int(to)?);
        if from >= to {
            return Ok(false);
        }
        let ways = to.abs_diff(from);
        let arity = match u32::try_from(ways) {
            Ok(arity) if ways <= MAX_CHOICES => arity,
            _ => return Err(FaultKind::TooManyChoices(ways)),
        };
        let Some(choice) = self.ask(arity)? else {
            return Ok(false);
        };
        let value = from + i64::from(choice);
        self.note(|names| {
            let into = names.answer(into).unwrap_or_default();
            format!("{into}choose({from}..{to}) = {value}")
        });
        self.set_local(into, Value::Int(value))
    }

    fn allocate(&mut self, into: LocalId, of: usize, fields: &[Expr], given: &[bool]) -> Performed {
        let mut fields = self.environment().eval_all(fields)?;
        if self.program.structs.get(of).is_none_or(|object| object.fields.len() != fields.len()) {
            return Err(FaultKind::IllTyped);
        }
        let dead = |(_, object): &(usize, &Arc<Object>)| !object.live && object.of == of;
        let dead: Vec<usize> =
            self.state.heap.iter().enumerate().filter(dead).map(|(index, _)| index).collect();
        // `init` always takes fresh objects: its result is one state. Without reuse there are dead
        // objects only where a crash destroyed volatile ones.
        let fresh = matches!(self.actor, Actor::Init) || self.memory == Memory::Collected;
        let ways = if fresh { 1 } else { 1 + dead.len() };
        let Some(choice) = self.ask(u32::try_from(ways).map_err(|_| FaultKind::IllTyped)?)? else {
            return Ok(false);
        };
        let at = match choice {
            0 => self.state.heap.len(),
            reused => dead[reused as usize - 1],
        };
        let name = u32::try_from(at).map_err(|_| FaultKind::Overflow)?;
        if let (Memory::TypeStable, Some(old)) = (self.memory, self.state.heap.get(at)) {
            for ((field, old), given) in fields.iter_mut().zip(&old.fields).zip(given) {
                if !given {
                    field.clone_from(old);
                }
            }
            self.state.clear_links(|link| link.is_in(name));
        }
        self.note(|names| {
            let into = names.answer(into).unwrap_or_default();
            format!("{into}@{name}, a new {}", names.object(of, &fields))
        });
        let object = Arc::new(Object { of, fields, live: true });
        let before = match self.state.heap.get_mut(at) {
            Some(old) => std::mem::replace(old, object).fields.clone(),
            None => {
                self.state.heap.push(object);
                Vec::new()
            }
        };
        self.log_object(name, of, before);
        self.set_local(into, Value::Ref(name))
    }

    fn free(&mut self, object: &Expr) -> Performed {
        let at = match self.environment().eval(object)? {
            Value::Ref(at) => at,
            Value::Null => return Err(FaultKind::NullDereference),
            _ => return Err(FaultKind::IllTyped),
        };
        let freed = self.state.heap.get_mut(at as usize).ok_or(FaultKind::IllTyped)?;
        if !freed.live {
            return Err(FaultKind::DoubleFree);
        }
        if self.memory.gives_back() {
            // After a crash, memory that was given back may be met again as it was.
            let persistent = self.program.persistence.as_ref().filter(|_| self.crashes);
            let keeps =
                persistent.is_some_and(|p| p.structs.get(freed.of).is_some_and(Option::is_some));
            let keeps = keeps || self.memory == Memory::TypeStable;
            let fields = if keeps { freed.fields.clone() } else { Vec::new() };
            *freed = Arc::new(Object { of: freed.of, fields, live: false });
            self.state.clear_links(|link| link.is_in(at));
        }
        self.note(|names| format!("free({} = @{at})", names.expr(object)));
        Ok(true)
    }

    fn update(
        &mut self,
        into: LocalId,
        place: &Place,
        method: Method,
        arguments: &[Expr],
    ) -> Performed {
        let at = self.resolve(place)?;
        let arguments = self.environment().eval_all(arguments)?;
        let shown = arguments.clone();
        let collection = self.state.get_mut(at).ok_or(FaultKind::IllTyped)?;
        let answer = collection::update(collection, method, arguments)?;
        self.note(|names| {
            let shown: Vec<String> = shown.iter().map(Value::to_string).collect();
            let call = format!("{}.{}({})", names.place_at(place, at), method, shown.join(", "));
            if answer.is_null() { call } else { format!("{call} = {answer}") }
        });
        self.set_local(into, answer)
    }
}
