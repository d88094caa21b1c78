//! The collections of specifications.

use super::place::Resolved;
use super::value::{Evaluated, position};
use super::{Datum, Evaluator, Stop};
use linchpin_lang::syntax::ast::Expr;

impl<'m> Evaluator<'m> {
    pub(super) fn method(
        &mut self,
        object: &'m Expr,
        method: &'m str,
        arguments: &'m [Expr],
    ) -> Evaluated<Datum> {
        let changes = [
            "push_back",
            "push_front",
            "pop_back",
            "pop_front",
            "remove_at",
            "insert",
            "remove",
            "put",
        ];
        if !changes.contains(&method) {
            let collection = self.eval(object)?;
            let arguments = self.eval_all(arguments)?;
            self.cover("question to a collection");
            return Ok(question(&collection, method, &arguments));
        }
        let Resolved::Place(place) = self.resolve(object)? else {
            panic!("only the state changes")
        };
        let arguments = self.eval_all(arguments)?;
        self.begin_step();
        let word = self.locate(&place)?;
        let mut collection = self.load(word).clone();
        let answer = change(&mut collection, method, arguments).map_err(|stop| match stop {
            Stop::Fault(fault) => fault.mistake.into(),
            other => other,
        })?;
        self.cover(match collection {
            Datum::Set(_) => "change of a set",
            Datum::Map(_) => "change of a map",
            _ => "change of a sequence",
        });
        self.store(word, collection);
        Ok(answer)
    }
}

fn question(collection: &Datum, method: &str, arguments: &[Datum]) -> Datum {
    let or_none = |value: Option<&Datum>| value.cloned().unwrap_or(Datum::Nothing);
    match (collection, method, arguments) {
        (Datum::List(items), "len", []) => Datum::Int(items.len() as i64),
        (Datum::Set(items), "len", []) => Datum::Int(items.len() as i64),
        (Datum::Map(pairs), "len", []) => Datum::Int(pairs.len() as i64),
        (Datum::List(items), "contains", [x]) => Datum::Bool(items.iter().any(|item| item == x)),
        (Datum::Set(items), "contains", [x]) => Datum::Bool(items.iter().any(|item| item == x)),
        (Datum::Map(pairs), "contains", [x]) => Datum::Bool(pairs.keys().any(|key| key == x)),
        (Datum::List(items), "first", []) => or_none(items.first()),
        (Datum::List(items), "last", []) => or_none(items.last()),
        (Datum::Set(items), "first", []) => or_none(items.iter().min()),
        (Datum::Set(items), "last", []) => or_none(items.iter().max()),
        (Datum::Map(pairs), "get", [x]) => or_none(pairs.get(x)),
        other => panic!("no such question: {other:?}"),
    }
}

fn change(collection: &mut Datum, method: &str, arguments: Vec<Datum>) -> Evaluated<Datum> {
    let mut arguments = arguments.into_iter();
    let mut next = || arguments.next().expect("an argument");
    Ok(match (collection, method) {
        (Datum::List(items), "push_back") => {
            items.push(next());
            Datum::Nothing
        }
        (Datum::List(items), "push_front") => {
            items.insert(0, next());
            Datum::Nothing
        }
        (Datum::List(items), "pop_back") => items.pop().unwrap_or(Datum::Nothing),
        (Datum::List(items), "pop_front") if items.is_empty() => Datum::Nothing,
        (Datum::List(items), "pop_front") => items.remove(0),
        (Datum::List(items), "remove_at") => {
            let at = position(&next(), items.len())?;
            items.remove(at)
        }
        (Datum::Set(items), "insert") => Datum::Bool(items.insert(next())),
        (Datum::Set(items), "remove") => Datum::Bool(items.remove(&next())),
        (Datum::Map(pairs), "put") => {
            let key = next();
            pairs.insert(key, next()).unwrap_or(Datum::Nothing)
        }
        (Datum::Map(pairs), "remove") => pairs.remove(&next()).unwrap_or(Datum::Nothing),
        other => panic!("no such change: {other:?}"),
    })
}
