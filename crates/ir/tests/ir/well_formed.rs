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
    for model in [treiber(2, true), locked_counter(2, true), atomic_counter(2)] {
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
        ["`push`, node 3: edges differ in `$1 := true`, which is not a guard"]
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
