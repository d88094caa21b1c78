//! What sub-operations do, one rule of the semantics at a time.

use linchpin_subop::execute::{FIRST_ID, Instance, Machine, ObjectId, Progress, State, Value};
use linchpin_subop::model::OperationId;
use linchpin_subop::{Model, parse};

fn model(source: &str) -> Model {
    parse(source).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// Every final state of the operations executed one after the other, each once, in the order of the
/// file.
fn runs(model: &Model) -> Vec<State> {
    let machine = Machine::new(model);
    let instances = (0..model.operations.len())
        .map(|index| Instance::new(model, OperationId(index), &[Value::Int(7)]))
        .collect();
    let mut states = vec![machine.start(instances)];
    for me in 0..model.operations.len() {
        let mut complete = Vec::new();
        while let Some(state) = states.pop() {
            for step in machine.steps(&state, me) {
                let done = step.state.instances[me].progress == Progress::Complete;
                if done { complete.push(step.state) } else { states.push(step.state) }
            }
        }
        complete.sort();
        complete.dedup();
        states = complete;
    }
    states
}

/// What the last operation returns, in every execution.
fn results(source: &str) -> Vec<Vec<Value>> {
    let model = model(source);
    let results = runs(&model).into_iter().map(|state| {
        let last = state.instances.last().expect("there is an operation");
        last.result.clone().expect("it returns")
    });
    let mut results: Vec<_> = results.collect();
    results.sort();
    results.dedup();
    results
}

use Value::{Int, Null, Poison};

#[test]
fn statements_see_the_effects_of_those_before() {
    assert_eq!(results("int x; A() 1 x = 1; x = x + 1; return x;"), [[Int(2)]]);
    assert_eq!(results("int x; A() 1 <x == 0;> x = 1; return x - 1;"), [[Int(0)]]);
    assert_eq!(results("int x; A(int a) 1 x = a; return x, ID;"), [[Int(7), Int(FIRST_ID)]]);
}

#[test]
fn arrays_have_an_element_for_every_integer() {
    let source = "int A[]; int B[]; initially { A[] = NULL; B[2] = 5; }
        A1(int a) 1 A[a] = 1; READ A[a + 1]; return A[7], A[a - 1], B[2], B[3];";
    assert_eq!(results(source), [[Int(1), Null, Int(5), Int(0)]]);
}

#[test]
fn malloc_is_fresh_and_free_poisons() {
    let node = "struct node { int v, node next }; node top;";
    let source = format!("{node} A() node X; 1 X = malloc node; top = X; return X.v, X.next;");
    assert_eq!(results(&source), [[Int(0), Null]]);
    let source = format!("{node} A() node X; 1 X = malloc node; free X; return X.v, X.next;");
    assert_eq!(results(&source), [[Poison, Poison]]);
    let source = format!("{node} A() node X; 1 X = malloc node; free X; return X.v;");
    assert_eq!(results(&source.replace("return X.v", "top = X; return top.v + 1")), [[Poison]]);
    let source = format!(
        "{node} A() node X; node Y; 1 X = malloc node; Y = malloc node; <X != Y;> return 1;"
    );
    assert_eq!(results(&source), [[Int(1)]]);
}

#[test]
fn what_is_not_defined_waits() {
    let node = "struct node { int v, node next }; node top;";
    for body in [
        "1 top.v = 1; return;",
        "1 <top.v == 0;> return;",
        "1 <!(top.v == 0);> return;",
        "1 <top.v != 0;> return;",
        "1 READ top.v; return;",
        "1 return top.next;",
        "1 free top; return;",
        "1 <ID == NULL || top.v < 1;> return;",
    ] {
        assert!(runs(&model(&format!("{node} A() {body} B() 1 top = top; "))).is_empty(), "{body}");
    }
}

#[test]
fn orders_hold_between_integers_only() {
    let source = "int x; initially { x = NULL; } A() ";
    for body in ["<x < 1;>", "<x >= 1;>", "<!(x < 1);>", "<x == 0;>"] {
        assert!(runs(&model(&format!("{source} 1 {body} return;"))).is_empty(), "{body}");
    }
    assert_eq!(results(&format!("{source} 1 <x != 0;> return x;")), [[Null]]);
}

#[test]
fn a_guess_is_whatever_fits() {
    assert_eq!(results("int x; initially { x = 9; } A() int g; 1 <x == g;> return g;"), [[Int(9)]]);
    let some =
        results("int x; initially { x = 2; } A() int g; 1 <g <= x; g > 0;> x = g; return g;");
    assert_eq!(some, [[Int(1)]], "constants are 0, so 1 is the greatest that is tried");
    // A local that is written first is no guess, nor is one that was guessed before.
    assert_eq!(results("int x; A() int g; 1 g = x; return g;"), [[Int(0)]]);
    assert_eq!(results("int x; A() int g; 1 <x == g;> x = 5; 1 return g;"), [[Int(0)]]);
}

#[test]
fn only_published_objects_are_guessed() {
    let node = "struct node { int v, node next }; node top; queue Q; struct queue { node head };";
    let guess = "B() node Z; 1 <Z != NULL;> return Z;";
    let private =
        format!("{node} initially {{ top = NULL; }} A() node X; 1 X = malloc node; {guess}");
    assert!(runs(&model(&private)).is_empty());
    let published = format!("{node} A() node X; 1 X = malloc node; top = X; top = NULL; {guess}");
    assert_eq!(results(&published), [[Value::Ref(ObjectId { owner: 0, serial: 0 })]]);
    let there = format!("{node} initially {{ node D; D = malloc node; top = NULL; }} {guess}");
    assert_eq!(results(&there).len(), 1, "what exists from the start is published");
}

#[test]
fn a_structure_in_place_is_an_object_of_its_own() {
    let source = "struct pair { int a, int b }; pair P; pair Q; initially { Q.a = 3; }
        A() 1 P.b = 4; return P.a, P.b, Q.a, Q.b;";
    assert_eq!(results(source), [[Int(0), Int(4), Int(3), Int(0)]]);
}

#[test]
fn operations_end_where_they_may() {
    let source = "int x; A() 1 x = 1; ...a then b, return; 1 x = 2; ...b B() 1 return x;";
    assert_eq!(results(source), [[Int(1)], [Int(2)]]);
    let source = "int x; A() either { 1 x = 1; } or { 1 x = 2; } or { 1 <x == 9;> x = 3; } 1 x = x + 1; B() 1 return x;";
    assert_eq!(results(source), [[Int(2)], [Int(3)]]);
}
