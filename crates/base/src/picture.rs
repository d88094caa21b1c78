//! A shared state to look at: what the shared variables and the locals in question lead to.

use linchpin_engine::{SharedNode, SharedPicture, SharedValue};
use linchpin_ir::program::{Program, Type, Variable};
use linchpin_space::{Flat, Space};

/// A local variable and its value, in words as states have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalValue {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its words.
    pub words: Vec<i64>,
}

/// A shared state with its shared variables, then these locals. Nodes are numbered in the order in
/// which they are reached; locks are left out.
pub fn picture(
    space: &Space,
    flat: &Flat,
    caption: impl Into<String>,
    locals: &[LocalValue],
) -> SharedPicture {
    let program = space.program();
    let mut painter = Painter { space, flat, order: Vec::new() };
    let mut variables = Vec::new();
    for (at, Variable { name, ty, .. }) in program.shared.iter().enumerate() {
        let mut words = space.shared_variable(flat, at);
        painter.entries(name, ty, &mut words, &mut variables);
    }
    // The shared variables number their nodes first: what a local adds comes after them.
    let mut nodes = Vec::new();
    painter.nodes(program, &mut nodes);
    for LocalValue { name, ty, words } in locals {
        painter.entries(name, ty, &mut &words[..], &mut variables);
    }
    painter.nodes(program, &mut nodes);
    SharedPicture { caption: caption.into(), variables, nodes }
}

struct Painter<'a> {
    space: &'a Space,
    flat: &'a Flat,
    /// The objects that were reached, in order.
    order: Vec<usize>,
}

impl Painter<'_> {
    /// The nodes that were reached and are not there yet, with those that they lead to.
    fn nodes(&mut self, program: &Program, nodes: &mut Vec<SharedNode>) {
        while let Some(&object) = self.order.get(nodes.len()) {
            let head = self.space.object_words(self.flat, object).0;
            // A freed object keeps its struct, negated.
            let of = usize::try_from(head.unsigned_abs()).ok().and_then(|head| head.checked_sub(1));
            let Some((of, object_type)) = of.and_then(|of| Some((of, program.structs.get(of)?)))
            else {
                nodes.push(SharedNode { of: String::new(), fields: Vec::new() });
                continue;
            };
            let mut fields = Vec::new();
            for (field, Variable { name, ty, .. }) in object_type.fields.iter().enumerate() {
                let mut words = self.space.field(self.flat, object, of, field);
                self.entries(name, ty, &mut words, &mut fields);
            }
            nodes.push(SharedNode { of: object_type.name.clone(), fields });
        }
    }

    /// A variable: one entry, or one for each part of a record, tuple or array.
    fn entries(
        &mut self,
        name: &str,
        ty: &Type,
        words: &mut &[i64],
        out: &mut Vec<(String, SharedValue)>,
    ) {
        match ty {
            Type::Unit | Type::Seq(_) | Type::Set(_) | Type::Map(..) => {}
            Type::Lock => {
                take(words);
            }
            Type::Int | Type::Wrapping(_) => {
                out.push((name.to_owned(), SharedValue::Word(integer(take(words)))))
            }
            Type::Bool => out.push((name.to_owned(), SharedValue::Bool(take(words) != 0))),
            Type::Tid => {
                let word = (take(words) - 1).to_string();
                out.push((name.to_owned(), SharedValue::Word(word)));
            }
            Type::Struct(_) => {
                let word = take(words);
                out.push((name.to_owned(), self.reference(word)));
            }
            Type::Option(inner) if matches!(**inner, Type::Struct(_) | Type::Option(_)) => {
                self.entries(name, inner, words, out);
            }
            Type::Option(inner) => {
                let is_some = matches!(**inner, Type::Lock) || take(words) != 0;
                let mut value = Vec::new();
                self.entries(name, inner, words, &mut value);
                match is_some {
                    true => out.extend(value),
                    false => out.push((name.to_owned(), SharedValue::Word("none".to_owned()))),
                }
            }
            Type::Record { fields, .. } => {
                for (field, ty) in fields {
                    self.entries(&format!("{name}.{field}"), ty, words, out);
                }
            }
            Type::Tuple(items) => {
                for (at, ty) in items.iter().enumerate() {
                    self.entries(&format!("{name}.{at}"), ty, words, out);
                }
            }
            Type::Array(item, length) => {
                for at in 0..*length {
                    self.entries(&format!("{name}[{at}]"), item, words, out);
                }
            }
        }
    }

    fn reference(&mut self, word: i64) -> SharedValue {
        let object = usize::try_from(word).ok().and_then(|word| word.checked_sub(1));
        let Some(object) = object.filter(|object| *object < self.space.objects(self.flat)) else {
            return SharedValue::Null;
        };
        let known = self.order.iter().position(|other| *other == object);
        SharedValue::Node(known.unwrap_or_else(|| {
            self.order.push(object);
            self.order.len() - 1
        }))
    }
}

fn take(words: &mut &[i64]) -> i64 {
    let Some((first, rest)) = words.split_first() else { return 0 };
    *words = rest;
    *first
}

/// An integer as models write it.
fn integer(value: i64) -> String {
    match value {
        i64::MIN => "MIN".to_owned(),
        i64::MAX => "MAX".to_owned(),
        value => value.to_string(),
    }
}
