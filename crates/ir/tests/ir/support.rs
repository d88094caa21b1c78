//! Builders for small programs, and a player that makes moves one after the other.

use linchpin_ir::interpreter::{Fault, Machine, Memory, Move, Outcome, State, StepRecord};
use linchpin_ir::program::*;
use linchpin_spec::Value;

pub fn variable(name: &str, ty: Type, initial: Value) -> Variable {
    Variable { name: name.to_owned(), ty, initial }
}

pub fn int(i: i64) -> Expr {
    Expr::Const(Value::Int(i))
}

pub fn truth(b: bool) -> Expr {
    Expr::Const(Value::Bool(b))
}

pub fn null() -> Expr {
    Expr::Const(Value::Null)
}

pub fn local(id: LocalId) -> Expr {
    Expr::Local(id)
}

pub fn binary(operator: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

pub fn equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Equal, left, right)
}

pub fn not_equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::NotEqual, left, right)
}

pub fn not(expr: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(expr))
}

pub fn read(into: LocalId, place: Place) -> Action {
    Action::Read { into, place }
}

pub fn write(place: Place, value: Expr) -> Action {
    Action::Write { place, value }
}

pub fn assign(to: LocalId, value: Expr) -> Action {
    Action::Assign { local: LocalTarget::Local(to), value }
}

pub fn when(condition: Expr) -> Action {
    Action::Guard(condition)
}

pub fn cas(into: LocalId, place: Place, expected: Expr, new: Expr) -> Action {
    Action::Cas { into, cells: vec![Cell { place, expected, new }] }
}

pub fn returns(value: Expr) -> Target {
    Target::Return(value)
}

/// A body under construction. Node 0 is the entry; the others yield unless they are made by
/// `inside`.
pub struct BodyBuilder {
    body: Body,
}

impl BodyBuilder {
    pub fn new(line: u32) -> BodyBuilder {
        let entry = Node { yields: false, edges: vec![], line };
        BodyBuilder { body: Body { locals: vec![], entry: NodeId(0), nodes: vec![entry] } }
    }

    pub fn local(&mut self, name: &str, ty: Type) -> LocalId {
        let initial = match ty {
            Type::Int => Value::Int(0),
            Type::Bool => Value::Bool(false),
            _ => Value::Null,
        };
        self.local_with(name, ty, initial)
    }

    pub fn local_with(&mut self, name: &str, ty: Type, initial: Value) -> LocalId {
        self.body.locals.push(variable(name, ty, initial));
        LocalId(self.body.locals.len() as u32 - 1)
    }

    pub fn node(&mut self, line: u32) -> NodeId {
        self.push(line, true)
    }

    pub fn inside(&mut self, line: u32) -> NodeId {
        self.push(line, false)
    }

    fn push(&mut self, line: u32, yields: bool) -> NodeId {
        self.body.nodes.push(Node { yields, edges: vec![], line });
        NodeId(self.body.nodes.len() as u32 - 1)
    }

    /// An edge whose actions all stand on the line of its node.
    pub fn edge(&mut self, from: NodeId, actions: Vec<Action>, target: Target) -> &mut Edge {
        let node = &mut self.body.nodes[from.0 as usize];
        let actions = actions.into_iter().map(|action| (action, node.line)).collect();
        node.edges.push(Edge { actions, target, returns_at: None, points: vec![], bases: vec![] });
        node.edges.last_mut().unwrap()
    }

    pub fn to(&mut self, from: NodeId, actions: Vec<Action>, to: NodeId) -> &mut Edge {
        self.edge(from, actions, Target::Node(to))
    }

    /// Steps one after the other, on the lines from `line`, then the return.
    pub fn sequence(&mut self, line: u32, steps: Vec<Vec<Action>>, result: Expr) {
        let mut before = (self.body.entry, vec![]);
        for (i, actions) in steps.into_iter().enumerate() {
            let next = self.node(line + i as u32);
            self.to(before.0, before.1, next);
            before = (next, actions);
        }
        self.edge(before.0, before.1, returns(result));
    }

    pub fn build(self) -> Body {
        self.body
    }

    pub fn operation(self, name: &str, parameters: usize, response: Type) -> Operation {
        let parameter = |local: &Variable| Parameter { ty: local.ty.clone(), range: None };
        Operation {
            name: name.to_owned(),
            parameters: self.body.locals[..parameters].iter().map(parameter).collect(),
            response,
            requires: None,
            line: self.body.nodes[0].line,
            body: self.body,
        }
    }
}

/// A program whose threads may all call everything; its specification is never looked at.
pub fn program(shared: Vec<Variable>, operations: Vec<Operation>, threads: usize) -> Program {
    let thread = Thread { role: None, operations: (0..operations.len()).collect(), calls: None };
    Program {
        structs: vec![],
        shared,
        thread_locals: vec![],
        init: None,
        preload: vec![],
        operations,
        threads: vec![thread; threads],
        spec: SpecSource::Builtin { name: "register".to_owned(), init: None },
        counts_threads: false,
        reference: None,
        persistence: None,
    }
}

/// A program with one operation `go` for one thread: these actions as one step, then a return of
/// nothing.
pub fn one_step(shared: Vec<Variable>, mut body: BodyBuilder, actions: Vec<Action>) -> Program {
    body.sequence(7, vec![actions], null());
    program(shared, vec![body.operation("go", 0, Type::Unit)], 1)
}

/// Makes moves one after the other.
pub struct Player {
    pub machine: Machine,
    pub state: State,
    /// What the last move did.
    pub record: Vec<String>,
}

impl Player {
    pub fn new(program: &Program, memory: Memory) -> Player {
        let machine = Machine::new(program, memory);
        let state = machine.initial().unwrap();
        Player { machine, state, record: vec![] }
    }

    /// Makes a move; whether it could be made.
    pub fn make(&mut self, what: Move, choices: &[u32]) -> Result<bool, Fault> {
        let mut record = StepRecord::blank();
        let attempt = self.machine.attempt(&self.state, &what, choices, Some(&mut record));
        self.record = record.actions.into_iter().map(|action| action.text).collect();
        match attempt.outcome {
            Outcome::Next(state) => self.state = state,
            Outcome::Disabled => return Ok(false),
            Outcome::Fault(fault) => return Err(fault),
        }
        Ok(true)
    }

    pub fn call(&mut self, thread: usize, operation: usize, arguments: &[i64]) {
        let arguments = arguments.iter().map(|&i| Value::Int(i)).collect();
        assert!(self.make(Move::Invoke { thread, operation, arguments }, &[]).unwrap());
    }

    /// Takes a step that must be possible; what it did.
    pub fn step(&mut self, thread: usize) -> String {
        assert!(
            self.make(Move::Step { thread }, &[]).unwrap(),
            "thread {thread} cannot take a step"
        );
        self.record.join("; ")
    }

    pub fn can_step(&self, thread: usize) -> bool {
        !self.machine.successors(&self.state, &Move::Step { thread }).is_empty()
    }

    /// Takes steps until the operation is done; its response.
    pub fn finish(&mut self, thread: usize) -> Value {
        for _ in 0..1000 {
            if let Some((state, value)) = self.machine.respond(&self.state, thread) {
                self.state = state;
                return value;
            }
            self.step(thread);
        }
        panic!("the operation does not end");
    }

    /// Calls an operation and runs it to its end.
    pub fn run(&mut self, thread: usize, operation: usize, arguments: &[i64]) -> Value {
        self.call(thread, operation, arguments);
        self.finish(thread)
    }
}
