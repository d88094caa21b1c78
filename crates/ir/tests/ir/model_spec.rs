//! Specifications of models.

use crate::models::*;
use crate::support::*;
use linchpin_ir::model_spec::{ModelSpec, SpecError, spec_of};
use linchpin_ir::program::*;
use linchpin_spec::{Call, Spec, Value};

/// `state items: seq<int>` with `put(v)`, `take()` from the front, and `steal()` of any element.
fn bag() -> Program {
    let items = || Place::Shared(0);
    let update =
        |into, method, arguments| Action::Update { into, place: items(), method, arguments };
    let optional = Type::Option(Box::new(Type::Int));

    let mut put = BodyBuilder::new(3);
    let v = put.local("v", Type::Int);
    let unused = put.local("$1", Type::Unit);
    put.edge(NodeId(0), vec![update(unused, Method::PushBack, vec![local(v)])], returns(null()));

    let mut take = BodyBuilder::new(4);
    let r = take.local("r", optional.clone());
    take.edge(NodeId(0), vec![update(r, Method::PopFront, vec![])], returns(local(r)));

    let mut steal = BodyBuilder::new(5);
    let all = steal.local("$1", Type::Seq(Box::new(Type::Int)));
    let [i, r] = ["i", "r"].map(|name| steal.local(name, Type::Int));
    let length = || Expr::Query(Query::Len, Box::new(local(all)), vec![]);
    let empty = vec![read(all, items()), when(equal(length(), int(0)))];
    steal.edge(NodeId(0), empty, returns(null()));
    let any = vec![
        read(all, items()),
        when(not_equal(length(), int(0))),
        Action::Choose { into: i, from: int(0), to: length() },
        update(r, Method::RemoveAt, vec![local(i)]),
    ];
    steal.edge(NodeId(0), any, returns(local(r)));

    let shared = vec![variable("items", Type::Seq(Box::new(Type::Int)), Value::list([]))];
    let operations = vec![
        put.operation("put", 1, Type::Unit),
        take.operation("take", 0, optional.clone()),
        steal.operation("steal", 0, optional),
    ];
    program(shared, operations, 0)
}

fn apply(spec: &ModelSpec, state: &Value, name: &str, argument: Value) -> Vec<(String, String)> {
    let call = Call { operation: spec.operation(name).unwrap(), argument };
    let outcomes = spec.apply(state, &call, None);
    outcomes.iter().map(|o| (o.response.to_string(), o.state.to_string())).collect()
}

fn items(values: &[i64]) -> Value {
    Value::list([Value::list(values.iter().map(|&i| Value::Int(i)))])
}

fn outcomes(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(r, s)| (r.to_string(), s.to_string())).collect()
}

#[test]
fn operations_run_in_one_go() {
    let spec = ModelSpec::new(&bag()).unwrap();
    assert_eq!(spec.initial(), items(&[]));
    let signatures: Vec<String> = spec.operations().iter().map(ToString::to_string).collect();
    assert_eq!(signatures, ["put int", "take → int or null", "steal → int or null"]);
    assert_eq!(apply(&spec, &items(&[1]), "put", 2.into()), outcomes(&[("null", "[[1, 2]]")]));
    assert_eq!(apply(&spec, &items(&[1, 2]), "take", Value::Null), outcomes(&[("1", "[[2]]")]));
    assert_eq!(apply(&spec, &items(&[]), "take", Value::Null), outcomes(&[("null", "[[]]")]));
}

#[test]
fn every_choice_is_an_outcome_and_equal_ones_are_one() {
    let spec = ModelSpec::new(&bag()).unwrap();
    let steal = |values: &[i64]| apply(&spec, &items(values), "steal", Value::Null);
    assert_eq!(steal(&[1, 2]), outcomes(&[("1", "[[2]]"), ("2", "[[1]]")]));
    assert_eq!(steal(&[7, 7]), outcomes(&[("7", "[[7]]")]));
    assert_eq!(steal(&[]), outcomes(&[("null", "[[]]")]));
}

#[test]
fn a_known_response_leaves_only_its_outcomes() {
    let spec = ModelSpec::new(&bag()).unwrap();
    let call = Call { operation: 2, argument: Value::Null };
    let known = spec.apply(&items(&[1, 2, 3]), &call, Some(&Value::Int(2)));
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].state, items(&[1, 3]));
    assert!(spec.apply(&items(&[1]), &call, Some(&Value::Int(2))).is_empty());
}

#[test]
fn what_cannot_be_done_has_no_outcome() {
    let mut guarded = BodyBuilder::new(3);
    let v = guarded.local("v", Type::Int);
    let assume = when(equal(local(v), int(1)));
    let assert = Action::Assert(truth(false));
    guarded.edge(NodeId(0), vec![assume], returns(null()));
    let mut failing = BodyBuilder::new(4);
    failing.edge(NodeId(0), vec![assert], returns(null()));
    let operations = vec![
        guarded.operation("guarded", 1, Type::Unit),
        failing.operation("failing", 0, Type::Unit),
    ];
    let spec = ModelSpec::new(&program(vec![], operations, 0)).unwrap();
    let state = spec.initial();
    assert_eq!(apply(&spec, &state, "guarded", 1.into()).len(), 1);
    assert_eq!(apply(&spec, &state, "guarded", 2.into()).len(), 0);
    assert_eq!(apply(&spec, &state, "failing", Value::Null).len(), 0);
    let unknown = Call { operation: 9, argument: Value::Null };
    assert!(spec.apply(&state, &unknown, None).is_empty());
    assert!(spec.apply(&Value::Null, &Call { operation: 1, ..unknown }, None).is_empty());
}

#[test]
fn the_operations_of_a_model_are_found_in_its_specification() {
    let object = spec_of(&treiber(2, false)).unwrap();
    let names = object.operations.iter().map(|&i| object.spec.operations()[i].name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["push", "pop"]);

    let mut model = bag();
    model.operations.swap(0, 2);
    model.spec = SpecSource::Model(Box::new(bag()));
    assert_eq!(spec_of(&model).unwrap().operations, [2, 1, 0]);

    model.operations[0].name = "grab".to_owned();
    let error = spec_of(&model).err().unwrap().to_string();
    assert_eq!(error, "the specification has no operation `grab`; it has put, take, steal");

    model.spec = SpecSource::Builtin { name: "stak".to_owned(), init: None };
    assert!(matches!(spec_of(&model), Err(SpecError::Builtin(_))));
}

#[test]
fn an_implementation_is_not_a_specification() {
    let error = ModelSpec::new(&treiber(1, false)).unwrap_err();
    assert_eq!(error.to_string(), "`push` of the specification lets other threads run");
}
