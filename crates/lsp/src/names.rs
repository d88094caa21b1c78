//! What every name of a `.lin` model stands for: definitions and their uses.
//!
//! Works on the tree of the parser, which there is for any text, so that it answers while a model
//! is being written. Scopes are those of the checker: blocks hide what is outside, a `spec { }` and
//! a `reference { }` have variables of their own. Start with [`Index::new`]; [`walk`] goes through
//! bodies.

mod walk;

use crate::types::Ty;
use linchpin_lang::syntax::ast::{Fields, Ident, Item, Model, Routine, TypeExpr, Variable};
use linchpin_lang::syntax::{parse, tokenize};
use linchpin_syntax::Span;
use std::collections::HashMap;

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Param,
    Struct,
    Record,
    Field,
    Shared,
    ThreadLocal,
    State,
    Operation,
    Function,
    Role,
    Parameter,
    Local,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    /// Where the name stands.
    pub span: Span,
    /// Of what type it is, or what it returns, where that is known.
    pub ty: Option<Ty>,
    /// How it is declared, for people.
    pub shown: String,
}

/// A name in the text, that of the definition included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub span: Span,
    /// Which definition it means.
    pub definition: usize,
}

/// The definitions of a model and their uses.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub definitions: Vec<Definition>,
    /// In the order in which they stand.
    pub uses: Vec<Use>,
    /// Fields of values whose type is not known.
    pub open_fields: Vec<String>,
}

impl Index {
    /// The names of a model.
    pub fn new(source: &str) -> Index {
        let (model, _) = parse(source);
        Index::of(&model, source)
    }

    /// The names of a tree.
    pub fn of(model: &Model, source: &str) -> Index {
        let mut resolver = Resolver {
            source,
            index: Index::default(),
            types: HashMap::new(),
            fields: HashMap::new(),
            operations: HashMap::new(),
            roles: HashMap::new(),
            part: Part::default(),
            blocks: Vec::new(),
        };
        resolver.model(model);
        let mut index = resolver.index;
        index.uses.sort_by_key(|one| one.span);
        index.uses.dedup_by_key(|one| one.span);
        index
    }

    /// The use at a byte, at its end included: editors ask when the caret stands behind a name.
    pub fn at(&self, offset: usize) -> Option<Use> {
        let touches =
            |one: &&Use| one.span.range().start <= offset && offset <= one.span.range().end;
        let mut found = self.uses.iter().filter(touches);
        let first = found.next()?;
        Some(*found.next().unwrap_or(first))
    }

    /// Every use of a definition.
    pub fn uses_of(&self, definition: usize) -> impl Iterator<Item = Span> {
        self.uses.iter().filter(move |one| one.definition == definition).map(|one| one.span)
    }
}

/// The variables and functions that bodies of a part can name.
#[derive(Clone, Debug, Default)]
struct Part {
    variables: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

struct Resolver<'s> {
    source: &'s str,
    index: Index,
    /// Structs and records.
    types: HashMap<String, usize>,
    /// By the type's name and the field's.
    fields: HashMap<(String, String), usize>,
    operations: HashMap<String, usize>,
    roles: HashMap<String, usize>,
    part: Part,
    /// Nested blocks, innermost last.
    blocks: Vec<Vec<(String, usize)>>,
}

impl Resolver<'_> {
    fn model(&mut self, model: &Model) {
        self.declare_types(model);
        let params = self.declare_params(model);
        self.part = params.clone();
        for item in &model.items {
            match item {
                Item::Shared(variable) => self.global(variable, Kind::Shared, "shared "),
                Item::Local(variable) => self.global(variable, Kind::ThreadLocal, "local "),
                Item::Fn(routine) => self.function(routine),
                Item::Op(routine) => self.operation(routine),
                _ => {}
            }
        }
        self.bodies(model);
        let functions = self.part.functions.clone();
        self.blocks_of_items(model, &params, functions);
        self.clients(model);
    }

    /// What stands at the top level and has a body, and the types of variables.
    fn bodies(&mut self, model: &Model) {
        for item in &model.items {
            match item {
                Item::SpecName(_, Some(value)) => drop(self.expr(value)),
                Item::Shared(variable) | Item::Local(variable) | Item::Param(variable) => {
                    self.variable_parts(variable);
                }
                Item::Struct(fields) | Item::Record(fields) => {
                    fields.fields.iter().for_each(|(_, ty)| self.ty(ty));
                }
                Item::Init(block, _) | Item::Recover(block, _) => self.block(block),
                Item::Op(routine) | Item::Fn(routine) | Item::Resolve(routine) => {
                    self.routine(routine);
                }
                Item::SpecName(_, None)
                | Item::Preload(_)
                | Item::SpecBlock(_)
                | Item::Reference(_)
                | Item::Role(..)
                | Item::Bounds(..) => {}
            }
        }
    }

    /// The `spec { }` and `reference { }` blocks, each with variables of its own.
    fn blocks_of_items(&mut self, model: &Model, params: &Part, functions: HashMap<String, usize>) {
        for item in &model.items {
            self.part = params.clone();
            match item {
                Item::SpecBlock(block) => {
                    for variable in &block.state {
                        self.global(variable, Kind::State, "state ");
                    }
                    block.functions.iter().for_each(|routine| self.function(routine));
                    block.operations.iter().for_each(|routine| self.operation(routine));
                    block.state.iter().for_each(|variable| self.variable_parts(variable));
                    let routines = block.functions.iter().chain(&block.operations);
                    routines.for_each(|routine| self.routine(routine));
                }
                Item::Reference(block) => {
                    self.part.functions = functions.clone();
                    for variable in &block.shared {
                        self.global(variable, Kind::Shared, "shared ");
                    }
                    block.operations.iter().for_each(|routine| self.operation(routine));
                    block.shared.iter().for_each(|variable| self.variable_parts(variable));
                    block.inits.iter().for_each(|(init, _)| self.block(init));
                    block.operations.iter().for_each(|routine| self.routine(routine));
                }
                _ => {}
            }
        }
        self.part = params.clone();
    }

    /// Roles, bounds, and the calls that come first.
    fn clients(&mut self, model: &Model) {
        for item in &model.items {
            if let Item::Preload(block) = item {
                for call in &block.calls {
                    let name = &call.operation;
                    self.use_of(self.operations.get(&name.name).copied(), name.span);
                    call.arguments.iter().for_each(|argument| drop(self.expr(argument)));
                }
            }
            if let Item::Role(name, members) = item {
                let id = self.define(name, Kind::Role, None, format!("role {}", name.name));
                self.roles.insert(name.name.clone(), id);
                for member in members {
                    self.use_of(self.operations.get(&member.name).copied(), member.span);
                }
            }
        }
        for item in &model.items {
            let Item::Bounds(bounds, _) = item else { continue };
            for bound in bounds {
                let named = bound.role.as_ref().unwrap_or(&bound.name);
                self.use_of(self.roles.get(&named.name).copied(), named.span);
                self.expr(&bound.value);
            }
        }
    }

    fn declare_types(&mut self, model: &Model) {
        for item in &model.items {
            let (fields, kind, word) = match item {
                Item::Struct(fields) => (fields, Kind::Struct, "struct"),
                Item::Record(fields) => (fields, Kind::Record, "record"),
                _ => continue,
            };
            let shown = format!("{word} {} {{ {} }}", fields.name.name, self.fields_shown(fields));
            let ty = Some(Ty::named(&fields.name.name));
            let id = self.define(&fields.name, kind, ty, shown);
            self.types.entry(fields.name.name.clone()).or_insert(id);
            for (field, ty) in &fields.fields {
                let shown = format!("{}.{}: {}", fields.name.name, field.name, self.text(ty));
                let id = self.define(field, Kind::Field, Ty::written(ty, self.source), shown);
                let key = (fields.name.name.clone(), field.name.clone());
                self.fields.entry(key).or_insert(id);
            }
        }
    }

    fn fields_shown(&self, fields: &Fields) -> String {
        let one = |(name, ty): &(Ident, TypeExpr)| format!("{}: {}", name.name, self.text(ty));
        fields.fields.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn declare_params(&mut self, model: &Model) -> Part {
        for item in &model.items {
            if let Item::Param(variable) = item {
                self.global(variable, Kind::Param, "param ");
            }
        }
        std::mem::take(&mut self.part)
    }

    fn global(&mut self, variable: &Variable, kind: Kind, word: &str) {
        let shown = format!("{word}{}: {}", variable.name.name, self.text(&variable.ty));
        let ty = Ty::written(&variable.ty, self.source);
        let id = self.define(&variable.name, kind, ty, shown);
        self.part.variables.entry(variable.name.name.clone()).or_insert(id);
    }

    fn function(&mut self, routine: &Routine) {
        let (ty, shown) = (self.response(routine), self.signature("fn", routine));
        let id = self.define(&routine.name, Kind::Function, ty, shown);
        self.part.functions.entry(routine.name.name.clone()).or_insert(id);
    }

    /// An operation. That of a specification or reference is the one of the model: they have the
    /// same name because they are the same operation.
    fn operation(&mut self, routine: &Routine) {
        if let Some(known) = self.operations.get(&routine.name.name).copied() {
            return self.use_of(Some(known), routine.name.span);
        }
        let (ty, shown) = (self.response(routine), self.signature("op", routine));
        let id = self.define(&routine.name, Kind::Operation, ty, shown);
        self.operations.insert(routine.name.name.clone(), id);
    }

    fn response(&self, routine: &Routine) -> Option<Ty> {
        Ty::written(routine.response.as_ref()?, self.source)
    }

    fn signature(&self, word: &str, routine: &Routine) -> String {
        let parameter = |parameter: &linchpin_lang::syntax::ast::Parameter| {
            format!("{}: {}", parameter.name.name, self.text(&parameter.ty))
        };
        let parameters: Vec<String> = routine.parameters.iter().map(parameter).collect();
        let response = match &routine.response {
            Some(ty) => format!(" -> {}", self.text(ty)),
            None => String::new(),
        };
        format!("{word} {}({}){response}", routine.name.name, parameters.join(", "))
    }

    fn text(&self, ty: &TypeExpr) -> String {
        Ty::written(ty, self.source).map_or("?".to_owned(), |ty| ty.to_string())
    }

    /// A new definition, whose name is its first use. A name that is missing defines nothing that
    /// can be found.
    fn define(&mut self, name: &Ident, kind: Kind, ty: Option<Ty>, shown: String) -> usize {
        let id = self.index.definitions.len();
        let definition = Definition { name: name.name.clone(), kind, span: name.span, ty, shown };
        self.index.definitions.push(definition);
        if !name.name.is_empty() {
            self.index.uses.push(Use { span: name.span, definition: id });
        }
        id
    }

    /// A use of a definition. An expression in parentheses stands where they stand, too: its name
    /// is looked for inside.
    fn use_of(&mut self, definition: Option<usize>, span: Span) {
        let Some(definition) = definition else { return };
        let name = &self.index.definitions[definition].name;
        let start = span.range().start;
        let inside = span.text(self.source);
        let found = tokenize(inside).into_iter().find(|token| token.span.text(inside) == name);
        if let Some(token) = found {
            let bytes = token.span.range();
            let span = Span::new(start + bytes.start..start + bytes.end);
            self.index.uses.push(Use { span, definition });
        }
    }
}
