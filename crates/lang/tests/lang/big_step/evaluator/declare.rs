//! Declarations: constants, initial values, defaults.

use super::{Choices, Coverage, Datum, Evaluator, Thread, World};
use linchpin_lang::syntax::ast::{self, Item, TypeExpr, TypeKind};
use std::rc::Rc;

/// What a model or a `spec { }` block declares.
#[derive(Clone, Default)]
pub(super) struct Declarations<'m> {
    pub constants: Vec<(&'m str, Datum)>,
    pub structs: Vec<&'m ast::Fields>,
    pub records: Vec<&'m ast::Fields>,
    pub shared: Vec<&'m ast::Variable>,
    pub thread_locals: Vec<&'m ast::Variable>,
    pub functions: Vec<&'m ast::Routine>,
    pub operations: Vec<&'m ast::Routine>,
    pub init: Option<&'m ast::Block>,
    pub is_spec: bool,
}

impl<'m> Evaluator<'m> {
    /// A model before `init`, with so many threads.
    pub fn of_model(
        model: &'m ast::Model,
        threads: usize,
        reuse: bool,
        seed: u64,
    ) -> Evaluator<'m> {
        let mut evaluator = Evaluator::with_types(model, threads, reuse, seed);
        for item in &model.items {
            let declared = &mut evaluator.declared;
            match item {
                Item::Shared(variable) => declared.shared.push(variable),
                Item::Local(variable) => declared.thread_locals.push(variable),
                Item::Op(routine) => declared.operations.push(routine),
                Item::Fn(routine) => declared.functions.push(routine),
                Item::Init(block, _) => declared.init = Some(block),
                _ => {}
            }
        }
        let shared = evaluator.declared.shared.clone();
        let shared = shared.into_iter().map(|v| evaluator.initial(v)).collect();
        let locals = evaluator.declared.thread_locals.clone();
        let variables: Vec<Datum> = locals.into_iter().map(|v| evaluator.initial(v)).collect();
        let threads = vec![Thread { variables, links: Vec::new() }; threads];
        evaluator.world = Rc::new(World { shared, heap: Vec::new(), threads });
        evaluator
    }

    /// The `spec { }` block of a model, if it has one.
    pub fn of_spec(model: &'m ast::Model, threads: usize) -> Option<Evaluator<'m>> {
        let mut evaluator = Evaluator::with_types(model, threads, false, 0);
        let block = model.items.iter().find_map(|item| match item {
            Item::SpecBlock(block) => Some(block),
            _ => None,
        })?;
        evaluator.declared.is_spec = true;
        evaluator.declared.shared = block.state.iter().collect();
        evaluator.declared.functions = block.functions.iter().collect();
        evaluator.declared.operations = block.operations.iter().collect();
        let shared = block.state.iter().map(|v| evaluator.initial(v)).collect();
        evaluator.world = Rc::new(World { shared, heap: Vec::new(), threads: Vec::new() });
        Some(evaluator)
    }

    /// The constants and types of a model, which its specification sees too.
    fn with_types(model: &'m ast::Model, threads: usize, reuse: bool, seed: u64) -> Evaluator<'m> {
        let world = Rc::new(World { shared: Vec::new(), heap: Vec::new(), threads: Vec::new() });
        let mut evaluator = Evaluator {
            declared: Declarations::default(),
            threads,
            reuse,
            before_step: world.clone(),
            world,
            thread: None,
            scope: Vec::new(),
            places: Vec::new(),
            open: Vec::new(),
            frame: 0,
            calls: 0,
            atomic: 1,
            steps: 0,
            acts: 0,
            fuel: super::FUEL,
            choices: Choices::seeded(seed),
            coverage: Coverage::new(),
        };
        for item in &model.items {
            match item {
                Item::Struct(fields) => evaluator.declared.structs.push(fields),
                Item::Record(fields) => evaluator.declared.records.push(fields),
                Item::Param(param) => {
                    let value = evaluator.initial(param);
                    evaluator.declared.constants.push((&param.name.name, value));
                }
                _ => {}
            }
        }
        evaluator.declared.constants.push(("threads", Datum::Int(threads as i64)));
        evaluator
    }

    /// The value with which a variable starts.
    fn initial(&mut self, variable: &'m ast::Variable) -> Datum {
        match &variable.value {
            Some(value) => {
                let value = self.eval(value).expect("initial values are constants");
                self.fit(value, &variable.ty)
            }
            None => self.default_of(&variable.ty),
        }
    }

    /// The default of a type.
    pub(super) fn default_of(&mut self, ty: &'m TypeExpr) -> Datum {
        match &ty.kind {
            TypeKind::Name(name) => match name.as_str() {
                "int" => Datum::Int(0),
                "bool" => Datum::Bool(false),
                _ => self.default_of_named(name),
            },
            TypeKind::Option(_) => Datum::Nothing,
            TypeKind::Wrapping(_) => Datum::Int(0),
            TypeKind::Place(_) => panic!("a place has no default"),
            TypeKind::Array(item, length) => {
                let inside = self.default_of(item);
                let length = self.eval(length).expect("lengths are constants").int();
                // Rows stand behind each other.
                match (&item.kind, inside) {
                    (TypeKind::Array(..), Datum::List(row)) => {
                        Datum::List(vec![row; length as usize].concat())
                    }
                    (_, inside) => Datum::List(vec![inside; length as usize]),
                }
            }
            TypeKind::Tuple(items) => {
                Datum::List(items.iter().map(|item| self.default_of(item)).collect())
            }
            TypeKind::Collection(name, _) => match name.name.as_str() {
                "seq" => Datum::List(Vec::new()),
                "set" => Datum::Set(Default::default()),
                _ => Datum::Map(Default::default()),
            },
            TypeKind::Missing => panic!("this did not parse"),
        }
    }

    fn default_of_named(&mut self, name: &str) -> Datum {
        match self.declared.records.iter().copied().find(|record| record.name.name == name) {
            Some(record) => {
                let fields = record.fields.iter();
                let default = |(field, ty): &'m (ast::Ident, TypeExpr)| {
                    (field.name.clone(), self.default_of(ty))
                };
                Datum::Record(fields.map(default).collect())
            }
            // A reference or a lock. A `tid` has no default, so it is never asked for.
            None => Datum::Nothing,
        }
    }

    /// The value as one of this type: `[]` is also the empty set and the empty map.
    pub(super) fn fit(&mut self, value: Datum, ty: &'m TypeExpr) -> Datum {
        match &ty.kind {
            TypeKind::Collection(..) if value == Datum::List(Vec::new()) => self.default_of(ty),
            TypeKind::Array(item, _) if matches!(item.kind, TypeKind::Array(..)) => {
                let Datum::List(rows) = value else { panic!("no array: {value:?}") };
                let words = rows.into_iter().flat_map(|row| match row {
                    Datum::List(words) => words,
                    word => vec![word],
                });
                Datum::List(words.collect())
            }
            _ => self.reduced(value, ty),
        }
    }

    /// A value of this type; `below` answers a number below the one it is given.
    pub fn arbitrary(&mut self, ty: &'m TypeExpr, below: &mut dyn FnMut(u64) -> u64) -> Datum {
        match &ty.kind {
            TypeKind::Name(name) => match name.as_str() {
                "int" => Datum::Int(below(4) as i64),
                "bool" => Datum::Bool(below(2) == 1),
                "tid" => Datum::Int(below(self.threads as u64) as i64),
                name => {
                    let record =
                        self.declared.records.iter().copied().find(|r| r.name.name == name);
                    let fields = record.expect("clients pass no references").fields.iter();
                    let values =
                        fields.map(|(name, ty)| (name.name.clone(), self.arbitrary(ty, below)));
                    Datum::Record(values.collect())
                }
            },
            TypeKind::Wrapping(_) => {
                Datum::Int(below(self.wraps_at(ty).expect("it wraps") as u64) as i64)
            }
            TypeKind::Option(_) if below(3) == 0 => Datum::Nothing,
            TypeKind::Option(inner) => self.arbitrary(inner, below),
            TypeKind::Array(item, length) => {
                let length = self.eval(length).expect("lengths are constants").int();
                Datum::List((0..length).map(|_| self.arbitrary(item, below)).collect())
            }
            TypeKind::Tuple(items) => {
                Datum::List(items.iter().map(|item| self.arbitrary(item, below)).collect())
            }
            TypeKind::Collection(..) | TypeKind::Place(_) | TypeKind::Missing => {
                panic!("clients pass no collections")
            }
        }
    }

    /// An argument that a client may pass for a parameter.
    pub fn argument(
        &mut self,
        parameter: &'m ast::Parameter,
        below: &mut dyn FnMut(u64) -> u64,
    ) -> Datum {
        let Some(range) = &parameter.range else { return self.arbitrary(&parameter.ty, below) };
        let from = self.eval(&range.from).expect("ranges are constants").int();
        let to = self.eval(&range.to).expect("ranges are constants").int();
        let ways = to.abs_diff(from) + u64::from(range.inclusive);
        Datum::Int(from + below(ways) as i64)
    }
}
