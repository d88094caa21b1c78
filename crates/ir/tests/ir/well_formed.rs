//! Defects of programs.

use crate::models::*;
use crate::support::*;
use linchpin_ir::program::*;
use linchpin_ir::well_formed::defects;

fn problems(program: &Program) -> Vec<String> {
    defects(program).iter().map(ToString::to_string).collect()
}

#[test]
fn the_models_of_these_tests_are_well_formed() {
    let models = [treiber(2, true), locked_counter(2, true), atomic_counter(2)];
    for model in models.into_iter().chain([treiber_beside_itself()]) {
        assert_eq!(problems(&model), [] as [&str; 0]);
    }
}

#[test]
fn edges_must_differ_in_guards() {
    let mut stack = treiber(1, false);
    let swing = &mut stack.operations[PUSH].body.nodes[3];
    swing.edges[1].actions[1].0 = assign(LocalId(3), truth(true));
    assert_eq!(
        problems(&stack),
        ["`push`, node 3: edges differ in `evaluate true`, which is not a guard"]
    );
    swing_edges(&mut stack)[1].actions.pop();
    assert_eq!(problems(&stack), ["`push`, node 3: an edge ends where others go on"]);
}

fn swing_edges(stack: &mut Program) -> &mut Vec<Edge> {
    &mut stack.operations[PUSH].body.nodes[3].edges
}

#[test]
fn everything_named_must_exist() {
    let mut stack = treiber(1, false);
    let push = &mut stack.operations[PUSH].body;
    push.nodes[0].edges[0].target = Target::Node(NodeId(40));
    push.nodes[0].yields = true;
    push.nodes[1].edges[0].actions[0].0 = read(LocalId(30), Place::Shared(20));
    push.nodes[2].edges[0].target = Target::Return(Expr::ThreadLocal(4));
    stack.init = Some(locked_counter(1, true).operations[0].body.clone());
    let found = problems(&stack);
    for expected in [
        "`push`, node 0: the entry yields",
        "`push`, node 0: leads to node 40, which does not exist",
        "`push`, node 1: there is no local 30",
        "`push`, node 1: there is no place Shared(20)",
        "`push`, node 2: there is no thread-local 4",
        "`init`, node 1: yields, where no other thread can run",
    ] {
        assert!(found.iter().any(|problem| problem == expected), "{expected} in {found:#?}");
    }
}

/// Something that changes a program.
type Change = fn(&mut Program);

#[test]
fn a_reference_must_fit_its_model() {
    let cases: &[(&str, Change)] = &[
        ("its structs differ from those of the model", |r| r.structs[0].fields[0].name.push('x')),
        ("its structs differ from those of the model", |r| r.structs.push(r.structs[0].clone())),
        ("it has threads", |r| r.threads = treiber(1, false).threads),
        ("it has thread-locals", |r| r.thread_locals = r.shared.clone()),
        ("it has a reference", |r| r.reference = Some(Box::new(treiber(1, false)))),
        ("its operations differ from those of the model", |r| r.operations.swap(PUSH, POP)),
        ("its operations differ from those of the model", |r| drop(r.operations.pop())),
        ("its operations differ from those of the model", |r| {
            r.operations.push(r.operations[POP].clone());
        }),
        ("its operations differ from those of the model", |r| {
            r.operations[POP].response = Type::Unit;
        }),
        ("its operations differ from those of the model", |r| {
            r.operations[PUSH].parameters[0].ty = Type::Tid;
        }),
        ("it restricts what clients call", |r| r.operations[POP].requires = Some(truth(true))),
        ("it restricts what clients call", |r| {
            r.operations[PUSH].parameters[0].range = Some((0, 1));
        }),
    ];
    for (problem, change) in cases {
        let mut stack = treiber_beside_itself();
        change(stack.reference.as_mut().expect("it has one"));
        assert_eq!(problems(&stack), [format!("`reference`, node 0: {problem}")]);
    }
}

#[test]
fn the_bodies_of_a_reference_run_alone() {
    fn last(r: &mut Program) -> &mut Node {
        &mut r.operations[POP].body.nodes[4]
    }
    let cases: &[(&str, Change)] = &[
        ("yields, where no other thread can run", |r| last(r).yields = true),
        ("claims something about a model", |r| {
            last(r).edges[0].points = vec![(0, Point::When(truth(true)))];
        }),
        ("claims something about a model", |r| {
            last(r).edges[0].bases = vec![(0, Formula::Local(truth(true)))];
        }),
        ("frees an object", |r| {
            last(r).edges[0].actions.push((Action::Free(local(LocalId(0))), 21));
        }),
        ("names the executing thread", |r| {
            last(r).edges[0].actions.push((assign(LocalId(3), Expr::Me), 21));
        }),
        ("names the executing thread", |r| last(r).edges[0].target = returns(Expr::Me)),
        ("there is no thread-local 0", |r| {
            last(r).edges[0].target = returns(Expr::ThreadLocal(0));
        }),
        ("there is no place Shared(1)", |r| {
            last(r).edges[0].actions.push((read(LocalId(3), Place::Shared(1)), 21));
        }),
    ];
    for (problem, change) in cases {
        let mut stack = treiber_beside_itself();
        change(stack.reference.as_mut().expect("it has one"));
        assert_eq!(problems(&stack), [format!("`pop`, node 4: {problem}")]);
    }
    let mut stack = treiber_beside_itself();
    let reference = stack.reference.as_mut().expect("it has one");
    let mut init = BodyBuilder::new(1);
    let x = init.local("x", Type::Struct(0));
    init.edge(NodeId(0), vec![Action::Free(local(x))], returns(null()));
    reference.init = Some(init.build());
    assert_eq!(problems(&stack), ["`init`, node 0: frees an object"]);
}
