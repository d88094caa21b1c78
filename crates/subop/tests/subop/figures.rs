//! The figures of the paper parse as printed, and what the printer makes of them parses to the
//! same.

use linchpin_subop::model::{ClaimKind, GlobalKind, Mark, Next};
use linchpin_subop::{Model, parse, print};

fn figure(name: &str) -> Model {
    let path = format!("{}/tests/figures/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the figure is there");
    parse(&source).unwrap_or_else(|mistakes| {
        let shown: Vec<_> = mistakes.iter().map(|m| m.render(name, &source, false)).collect();
        panic!("{}", shown.join("\n"))
    })
}

#[test]
fn figure_4_is_the_michael_scott_queue() {
    let model = figure("figure_04");
    assert!(matches!(model.globals[0].kind, GlobalKind::Place(_)));
    let names: Vec<&str> =
        model.sub_operations().map(|id| model.sub_operation(id).name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "h"]);
    let enqueue = &model.operations[0];
    assert_eq!(enqueue.arguments, 1);
    assert_eq!(enqueue.sub_operations[4].mark, Mark::Anyone);
    assert_eq!(enqueue.sub_operations[3].precondition.atoms().len(), 2);
    assert_eq!(enqueue.sub_operations[4].next, [Next::Return]);
}

#[test]
fn figure_5_is_a_relations_block() {
    let claims = figure("figure_05").claims;
    assert_eq!(claims.len(), 18);
    assert_eq!(claims.iter().filter(|claim| claim.boundary).count(), 7);
    assert_eq!(claims.iter().filter(|claim| claim.condition.is_some()).count(), 1);
    let reversible = claims.iter().filter(|claim| claim.kind == ClaimKind::Reversible);
    assert_eq!(reversible.count(), 2);
}

#[test]
fn figure_12_reads_fields_in_brackets() {
    let model = figure("figure_12");
    let reads: Vec<usize> = model.operations.iter().map(|operation| operation.reads).collect();
    assert_eq!(reads, [2, 2, 2]);
    assert_eq!(model.sub_operations().count(), 9);
}

#[test]
fn what_is_printed_parses_to_the_same() {
    for name in
        ["figure_04", "figure_05", "figure_07", "figure_08", "figure_12", "section_04_locks"]
    {
        let printed = print(&figure(name));
        let again = parse(&printed).unwrap_or_else(|_| panic!("{name} printed:\n{printed}"));
        assert_eq!(print(&again), printed);
    }
}

#[test]
fn branches_become_successors_and_survive_printing() {
    let source = "int x; int y;
        A() 1 x = 1; either { 1 <x == 1;> y = 1; return 1; } or { 1 <x != 1;> READ y; ...r 1 y = 2; return 2; }
        B() either { 1 READ x; } or { 1 READ y; } 1 x = 2;
        C() 1 x = 3; ...c1 then c2, c3; 1 y = 1; ...c2 then return; 1 y = 2; ...c3";
    let model = parse(source).unwrap();
    let next = |op: usize| -> Vec<Vec<Next>> {
        model.operations[op].sub_operations.iter().map(|step| step.next.clone()).collect()
    };
    use Next::{Return, SubOperation as S};
    assert_eq!(next(0), [vec![S(1), S(2)], vec![Return], vec![S(3)], vec![Return]]);
    assert_eq!(model.operations[1].first, [0, 1]);
    assert_eq!(next(1), [vec![S(2)], vec![S(2)], vec![Return]]);
    assert_eq!(next(2), [vec![S(1), S(2)], vec![Return], vec![Return]]);
    let printed = print(&model);
    let again = parse(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!(print(&again), printed);
    for (one, other) in model.operations.iter().zip(&again.operations) {
        assert_eq!(one.first, other.first);
        let next = |operation: &linchpin_subop::model::Operation| -> Vec<Vec<Next>> {
            operation.sub_operations.iter().map(|step| step.next.clone()).collect()
        };
        assert_eq!(next(one), next(other));
    }
}
