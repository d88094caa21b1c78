//! The programs that several tests use.

use crate::support::*;
use linchpin_ir::program::*;
use linchpin_spec::Value;

pub const PUSH: usize = 0;
pub const POP: usize = 1;
const NODE: Type = Type::Struct(0);

fn top() -> Place {
    Place::Shared(0)
}

fn field(object: LocalId, field: usize) -> Place {
    Place::Field { object: local(object), of: 0, field }
}

fn always(after: usize) -> (usize, Point) {
    (after, Point::When(truth(true)))
}

/// Treiber's stack; with `reclaim`, `pop` frees the node.
pub fn treiber(threads: usize, reclaim: bool) -> Program {
    let operations = vec![push(), pop(reclaim)];
    let mut stack = program(vec![variable("top", NODE, Value::Null)], operations, threads);
    let fields =
        vec![variable("val", Type::Int, Value::Int(0)), variable("next", NODE, Value::Null)];
    stack.structs = vec![Struct { name: "Node".to_owned(), fields }];
    stack.spec = SpecSource::Builtin { name: "stack".to_owned(), init: None };
    stack
}

/// Treiber's stack, whose own code, run alone, is its reference.
pub fn treiber_beside_itself() -> Program {
    let stack = treiber(2, false);
    let mut reference = Program { threads: Vec::new(), ..stack.clone() };
    for operation in &mut reference.operations {
        for node in &mut operation.body.nodes {
            node.yields = false;
            node.edges.iter_mut().for_each(|edge| edge.points.clear());
        }
    }
    Program { reference: Some(Box::new(reference)), ..stack }
}

fn push() -> Operation {
    let mut push = BodyBuilder::new(6);
    let v = push.local("v", Type::Int);
    let [x, t] = ["x", "t"].map(|name| push.local(name, NODE));
    let ok = push.local("$1", Type::Bool);
    let [read_top, link, swing] = [9, 10, 11].map(|line| push.node(line));
    let fresh =
        Action::New { into: x, object: 0, fields: vec![local(v), null()], given: vec![true; 2] };
    push.to(NodeId(0), vec![fresh], read_top);
    push.to(read_top, vec![read(t, top())], link);
    push.to(link, vec![write(field(x, 1), local(t))], swing);
    let attempt = || cas(ok, top(), local(t), local(x));
    push.edge(swing, vec![attempt(), when(local(ok))], returns(null())).points = vec![always(2)];
    push.to(swing, vec![attempt(), when(not(local(ok)))], read_top);
    push.operation("push", 1, Type::Unit)
}

fn pop(reclaim: bool) -> Operation {
    let mut pop = BodyBuilder::new(15);
    let [t, s] = ["t", "s"].map(|name| pop.local(name, NODE));
    let ok = pop.local("$1", Type::Bool);
    let r = pop.local("r", Type::Int);
    let [read_top, next, swing, value] = [17, 19, 20, 21].map(|line| pop.node(line));
    pop.to(NodeId(0), vec![], read_top);
    let seen_empty = || (1, Point::When(equal(local(t), null())));
    let empty = vec![read(t, top()), when(equal(local(t), null()))];
    pop.edge(read_top, empty, returns(null())).points = vec![seen_empty()];
    let full = vec![read(t, top()), when(not_equal(local(t), null()))];
    pop.to(read_top, full, next).points = vec![seen_empty()];
    pop.to(next, vec![read(s, field(t, 1))], swing);
    let attempt = || cas(ok, top(), local(t), local(s));
    pop.to(swing, vec![attempt(), when(local(ok))], value).points = vec![always(2)];
    pop.to(swing, vec![attempt(), when(not(local(ok)))], read_top);
    if reclaim {
        let free = pop.node(22);
        pop.to(value, vec![read(r, field(t, 0))], free);
        pop.edge(free, vec![Action::Free(local(t))], returns(local(r)));
    } else {
        pop.edge(value, vec![read(r, field(t, 0))], returns(local(r)));
    }
    pop.operation("pop", 0, Type::Option(Box::new(Type::Int)))
}

/// A counter behind a lock; without `unlocks`, the lock is never given back.
pub fn locked_counter(threads: usize, unlocks: bool) -> Program {
    let shared = vec![
        variable("guard", Type::Lock, Value::Null),
        variable("count", Type::Int, Value::Int(0)),
    ];
    let mut add = BodyBuilder::new(3);
    let c = add.local("c", Type::Int);
    let mut steps = vec![
        vec![Action::Lock(Place::Shared(0))],
        vec![read(c, Place::Shared(1))],
        vec![write(Place::Shared(1), binary(BinaryOp::Add, local(c), int(1)))],
    ];
    if unlocks {
        steps.push(vec![Action::Unlock(Place::Shared(0))]);
    }
    add.sequence(4, steps, local(c));
    program(shared, vec![add.operation("add", 0, Type::Int)], threads)
}

/// A counter that is moved up by `n` in one atomic step, one by one.
pub fn atomic_counter(threads: usize) -> Program {
    let mut add = BodyBuilder::new(3);
    let n = add.local("n", Type::Int);
    let c = add.local("c", Type::Int);
    let start = add.node(4);
    let head = add.inside(5);
    add.to(NodeId(0), vec![], start);
    add.to(start, vec![], head);
    let more = || binary(BinaryOp::Greater, local(n), int(0));
    let one_more = vec![
        when(more()),
        read(c, Place::Shared(0)),
        write(Place::Shared(0), binary(BinaryOp::Add, local(c), int(1))),
        assign(n, binary(BinaryOp::Subtract, local(n), int(1))),
    ];
    add.to(head, one_more, head);
    add.edge(head, vec![when(not(more()))], returns(local(c)));
    let shared = vec![variable("count", Type::Int, Value::Int(0))];
    program(shared, vec![add.operation("add", 1, Type::Int)], threads)
}
