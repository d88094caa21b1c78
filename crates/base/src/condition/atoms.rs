//! The grammar of suggested conditions: what can be said of a shared state and some locals.

use super::formula::Condition;
use linchpin_ir::program::{BinaryOp, Body, Expr, Formula, LocalId, Program, Type, UnaryOp};
use linchpin_spec::Value;

/// Arrays longer than this are asked about only at the index that a variable holds.
const SHORT: usize = 4;

/// A part of a condition.
#[derive(Clone, Debug)]
pub struct Atom {
    /// What it says.
    pub formula: Formula,
    /// The same, ready to be evaluated.
    pub condition: Condition,
    /// How hard it is to read: less is simpler.
    pub cost: u32,
    /// Where it stands in a conjunction: reachability first, quantifiers last.
    pub rank: u32,
}

/// What atoms are about.
pub struct Grammar<'a> {
    /// The program.
    pub program: &'a Program,
    /// The code of the operation.
    pub body: &'a Body,
    /// The parameters and the locals that may be mentioned.
    pub locals: &'a [LocalId],
}

const ORDER: [BinaryOp; 6] = [
    BinaryOp::Equal,
    BinaryOp::Less,
    BinaryOp::Greater,
    BinaryOp::LessEqual,
    BinaryOp::GreaterEqual,
    BinaryOp::NotEqual,
];

fn binary(operator: BinaryOp, left: Formula, right: Formula) -> Formula {
    Formula::Binary(operator, Box::new(left), Box::new(right))
}

/// Both, read in this order.
pub fn and(left: Formula, right: Formula) -> Formula {
    binary(BinaryOp::And, left, right)
}

/// One of both.
pub fn or(left: Formula, right: Formula) -> Formula {
    binary(BinaryOp::Or, left, right)
}

fn not(inner: Formula) -> Formula {
    Formula::Unary(UnaryOp::Not, Box::new(inner))
}

fn null() -> Formula {
    Formula::Local(Expr::Const(Value::Null))
}

/// A field of a struct that leads to another object of it, a key, or a flag.
#[derive(Clone, Copy)]
struct FieldOf {
    of: usize,
    field: usize,
    component: Option<usize>,
}

impl FieldOf {
    fn read(self, object: Formula) -> Formula {
        let field = Formula::Field(Box::new(object), self.of, self.field);
        match self.component {
            Some(component) => Formula::Component(Box::new(field), component),
            None => field,
        }
    }

    fn reach(self, from: Formula, to: Formula) -> Formula {
        Formula::Reach {
            from: Box::new(from),
            field: (self.of, self.field),
            component: self.component,
            to: Box::new(to),
        }
    }
}

impl<'a> Grammar<'a> {
    /// All atoms, in a fixed order.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut out = Vec::new();
        let references = self.references();
        for (at, (reference, of, is_local)) in references.iter().enumerate() {
            self.about(reference, *of, &mut out);
            if *is_local {
                self.reached(reference, *of, &mut out);
            }
            for (other, _, other_is_local) in
                references[at + 1..].iter().filter(|(_, other, _)| other == of)
            {
                if *is_local || *other_is_local {
                    self.pair(reference, other, *of, &mut out);
                }
            }
        }
        self.scalars(&mut out);
        self.quantified(&references, &mut out);
        out
    }

    fn push(&self, formula: Formula, cost: u32, rank: u32, out: &mut Vec<Atom>) {
        if let Ok(condition) = Condition::new(self.program, self.body, &formula) {
            out.push(Atom { formula, condition, cost, rank });
        }
    }

    /// The shared references, then the locals, each with its struct and whether it is a local.
    fn references(&self) -> Vec<(Formula, usize, bool)> {
        let of = |ty: &Type| match ty {
            Type::Struct(of) => Some(*of),
            _ => None,
        };
        let shared = self.program.shared.iter().enumerate();
        let shared = shared.filter_map(|(at, variable)| {
            of(&variable.ty).map(|of| (Formula::Shared(at), of, false))
        });
        let locals = self.locals.iter().filter_map(|local| {
            let ty = &self.body.locals[local.0 as usize].ty;
            of(ty).map(|of| (Formula::Local(Expr::Local(*local)), of, true))
        });
        shared.chain(locals).collect()
    }

    /// The integers that the operation has: its parameters and locals.
    fn integers(&self) -> Vec<Formula> {
        let is_integer = |local: &&LocalId| self.body.locals[local.0 as usize].ty == Type::Int;
        let locals = self.locals.iter().filter(is_integer);
        locals.map(|local| Formula::Local(Expr::Local(*local))).collect()
    }

    /// The fields of a struct of a type, those inside records too.
    fn fields(&self, of: usize, is_such: impl Fn(&Type) -> bool) -> Vec<FieldOf> {
        let mut out = Vec::new();
        for (field, variable) in self.program.structs[of].fields.iter().enumerate() {
            match &variable.ty {
                Type::Record { fields, .. } => {
                    for (component, (_, ty)) in fields.iter().enumerate() {
                        if is_such(ty) {
                            out.push(FieldOf { of, field, component: Some(component) });
                        }
                    }
                }
                ty if is_such(ty) => out.push(FieldOf { of, field, component: None }),
                _ => {}
            }
        }
        out
    }

    fn links(&self, of: usize) -> Vec<FieldOf> {
        self.fields(of, |ty| *ty == Type::Struct(of))
    }

    fn keys(&self, of: usize) -> Vec<FieldOf> {
        self.fields(of, |ty| *ty == Type::Int)
    }

    fn flags(&self, of: usize) -> Vec<FieldOf> {
        self.fields(of, |ty| *ty == Type::Bool)
    }

    /// Null, flags and keys of one reference.
    fn about(&self, reference: &Formula, of: usize, out: &mut Vec<Atom>) {
        self.push(binary(BinaryOp::Equal, reference.clone(), null()), 1, 1, out);
        self.push(binary(BinaryOp::NotEqual, reference.clone(), null()), 1, 1, out);
        for link in self.links(of) {
            let next = link.read(reference.clone());
            self.push(binary(BinaryOp::Equal, next.clone(), null()), 2, 1, out);
            self.push(binary(BinaryOp::NotEqual, next, null()), 2, 1, out);
        }
        for flag in self.flags(of) {
            self.push(not(flag.read(reference.clone())), 2, 2, out);
            self.push(flag.read(reference.clone()), 2, 2, out);
        }
        for key in self.keys(of) {
            for integer in self.integers() {
                for operator in ORDER {
                    let formula = binary(operator, key.read(reference.clone()), integer.clone());
                    self.push(formula, 2, 3, out);
                }
            }
        }
    }

    /// That a local is reached from a shared variable.
    fn reached(&self, reference: &Formula, of: usize, out: &mut Vec<Atom>) {
        for (root, _) in self.roots(of) {
            for link in self.links(of) {
                self.push(link.reach(root.clone(), reference.clone()), 3, 0, out);
            }
        }
    }

    fn roots(&self, of: usize) -> Vec<(Formula, usize)> {
        let shared = self.program.shared.iter().enumerate();
        let is_such = shared.filter(|(_, variable)| variable.ty == Type::Struct(of));
        is_such.map(|(at, _)| (Formula::Shared(at), at)).collect()
    }

    /// Two references of one struct.
    fn pair(&self, left: &Formula, right: &Formula, of: usize, out: &mut Vec<Atom>) {
        self.push(binary(BinaryOp::Equal, left.clone(), right.clone()), 1, 1, out);
        self.push(binary(BinaryOp::NotEqual, left.clone(), right.clone()), 1, 1, out);
        for link in self.links(of) {
            let next = link.read(left.clone());
            self.push(binary(BinaryOp::Equal, next, right.clone()), 2, 1, out);
            let next = link.read(right.clone());
            self.push(binary(BinaryOp::Equal, next, left.clone()), 2, 1, out);
        }
    }

    /// Integers and truth values that are no part of an object.
    fn scalars(&self, out: &mut Vec<Atom>) {
        let integers = self.integers();
        for (at, left) in integers.iter().enumerate() {
            for right in &integers[at + 1..] {
                for operator in ORDER {
                    self.push(binary(operator, left.clone(), right.clone()), 1, 3, out);
                }
            }
        }
        let mut words: Vec<(Formula, &Type)> = Vec::new();
        for (at, variable) in self.program.shared.iter().enumerate() {
            match &variable.ty {
                Type::Array(item, length) => {
                    let constants = (0..*length as i64).filter(|_| *length <= SHORT);
                    let constants =
                        constants.map(|index| Formula::Local(Expr::Const(Value::Int(index))));
                    for index in integers.iter().cloned().chain(constants) {
                        words.push((Formula::SharedElement(at, Box::new(index)), &**item));
                    }
                }
                ty => words.push((Formula::Shared(at), ty)),
            }
        }
        for (word, ty) in &words {
            match ty {
                Type::Bool => {
                    self.push(word.clone(), 1, 2, out);
                    self.push(not(word.clone()), 1, 2, out);
                }
                Type::Int => {
                    for integer in &integers {
                        for operator in ORDER {
                            self.push(binary(operator, word.clone(), integer.clone()), 2, 3, out);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// That a node with some key is there, or is not.
    fn quantified(&self, references: &[(Formula, usize, bool)], out: &mut Vec<Atom>) {
        for of in 0..self.program.structs.len() {
            for (root, _) in self.roots(of) {
                for link in self.links(of) {
                    let reached = link.reach(root.clone(), Formula::Bound(0));
                    for key in self.keys(of) {
                        for integer in self.integers() {
                            self.with_key(&reached, key, &integer, out);
                            for (node, _, _) in
                                references.iter().filter(|(_, other, local)| *other == of && *local)
                            {
                                self.between(&reached, key, &integer, node, out);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The bodies with and without a flag of the node, each with its cost.
    fn flagged(&self, of: usize, body: Formula, cost: u32) -> Vec<(Formula, u32)> {
        let mut all = vec![(body.clone(), cost)];
        for flag in self.flags(of) {
            all.push((and(body.clone(), not(flag.read(Formula::Bound(0)))), cost + 1));
            all.push((and(body.clone(), flag.read(Formula::Bound(0))), cost + 1));
        }
        all
    }

    fn with_key(&self, reached: &Formula, key: FieldOf, integer: &Formula, out: &mut Vec<Atom>) {
        let is_it = binary(BinaryOp::Equal, key.read(Formula::Bound(0)), integer.clone());
        for (body, cost) in self.flagged(key.of, and(reached.clone(), is_it), 5) {
            let exists = Formula::Exists(key.of, Box::new(body));
            self.push(exists.clone(), cost, 4, out);
            self.push(not(exists), cost, 4, out);
        }
    }

    /// No node with a key between the integer and that of another node.
    fn between(
        &self,
        reached: &Formula,
        key: FieldOf,
        integer: &Formula,
        node: &Formula,
        out: &mut Vec<Atom>,
    ) {
        let of_bound = || key.read(Formula::Bound(0));
        let above = binary(BinaryOp::LessEqual, integer.clone(), of_bound());
        let below = binary(BinaryOp::Less, of_bound(), key.read(node.clone()));
        let body = and(and(reached.clone(), above), below);
        for (body, cost) in self.flagged(key.of, body, 7) {
            self.push(not(Formula::Exists(key.of, Box::new(body))), cost, 4, out);
        }
    }
}
