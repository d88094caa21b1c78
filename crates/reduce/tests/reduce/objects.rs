//! Invariants about two objects: kept only if they hold for every pair of objects in every state
//! that brute force reaches, and of use where one object at a time says too little.

use linchpin_reduce::{Options, prove};
use linchpin_subop::Model;
use linchpin_subop::execute::{Instance, Machine, State, Value};
use linchpin_subop::model::{Condition, OperationId, Place, Relation, Term, Var};
use linchpin_subop_oracle::{Comparison, Judged, generate, judge_all};
use std::collections::BTreeSet;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Up to this many states are looked at for each choice of instances.
const MOST_STATES: usize = 1_500;

/// Every state that three instances of these operations reach, up to the limit.
fn reachable(machine: &Machine, operations: [usize; 3]) -> BTreeSet<State> {
    let instance =
        |operation| Instance::new(machine.model(), OperationId(operation), &[Value::Int(1)]);
    let start = machine.start(operations.map(instance).to_vec());
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        for me in 0..3 {
            for step in machine.steps(&state, me) {
                if seen.len() < MOST_STATES && seen.insert(step.state.clone()) {
                    open.push(step.state);
                }
            }
        }
    }
    seen
}

/// What a term is in a state, for these objects; nothing if it is not defined.
fn value(state: &State, bound: &[Value], term: &Term) -> Option<Value> {
    let variable = |var: &Var| match var {
        Var::Global(global) => Some(state.shared.globals[global.0]),
        Var::Bound(at) => bound.get(*at).copied(),
        _ => None,
    };
    match term {
        Term::Int(value) => Some(Value::Int(*value)),
        Term::Null => Some(Value::Null),
        Term::Place(Place::Variable(var)) => variable(var),
        Term::Place(Place::Field(var, _, field)) => match variable(var)? {
            Value::Ref(object) => Some(state.shared.heap[&object].fields[field.0]),
            _ => None,
        },
        _ => None,
    }
}

fn holds(state: &State, bound: &[Value], condition: &Condition) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(state, bound, part)),
        Condition::Any(parts) => parts.iter().any(|part| holds(state, bound, part)),
        Condition::Atom(atom) => {
            let value = |term| value(state, bound, term);
            let (Some(left), Some(right)) = (value(&atom.left), value(&atom.right)) else {
                return false;
            };
            match (atom.relation, left, right) {
                (Relation::Equal, left, right) => left == right,
                (Relation::NotEqual, left, right) => left != right,
                (relation, Value::Int(left), Value::Int(right)) => match relation {
                    Relation::Less => left < right,
                    Relation::LessOrEqual => left <= right,
                    Relation::Greater => left > right,
                    _ => left >= right,
                },
                _ => false,
            }
        }
    }
}

/// A pair of objects in a reachable state that the condition is false for.
fn refuted(model: &Model, condition: &Condition) -> Option<(State, [Value; 2])> {
    let machine = Machine::new(model).with_integers([1]);
    let count = model.operations.len();
    for chosen in 0..count * count * count {
        let operations = [chosen % count, chosen / count % count, chosen / count / count];
        if !operations.is_sorted() {
            continue;
        }
        for state in reachable(&machine, operations) {
            let objects: Vec<Value> = state.shared.heap.keys().map(|id| Value::Ref(*id)).collect();
            for one in &objects {
                for two in &objects {
                    if !holds(&state, &[*one, *two], condition) {
                        return Some((state, [*one, *two]));
                    }
                }
            }
        }
    }
    None
}

/// A claim about two objects, as likely false as not.
fn claim(random: &mut fastrand::Rng) -> String {
    const ATOMS: [&str; 14] = [
        "n.next != m",
        "n.next == m",
        "m.next != n",
        "n.v == m.v",
        "n.v <= m.v",
        "n.v == 0",
        "m.v != 1",
        "n == m",
        "n != top",
        "m == top",
        "n.next == NULL",
        "m.next != NULL",
        "n.v < 2",
        "n.next != m.next",
    ];
    let mut parts: Vec<String> =
        (0..random.usize(1..=3)).map(|_| ATOMS[random.usize(..ATOMS.len())].to_owned()).collect();
    if random.u8(..4) == 0 {
        let both = [random.usize(..ATOMS.len()), random.usize(..ATOMS.len())];
        parts.push(format!("({} && {})", ATOMS[both[0]], ATOMS[both[1]]));
    }
    format!("invariant for (node n, node m) {};\n", parts.join(" || "))
}

#[test]
fn what_is_kept_holds_for_every_pair_of_objects() {
    let (first, count) = (number("LINCHPIN_SEED", 0), number("LINCHPIN_CASES", 400));
    let (mut kept, mut dropped) = (0, 0);
    for seed in first..first + count {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut source = generate(seed);
        if !source.starts_with("struct node") {
            continue;
        }
        (0..4).for_each(|_| source += &claim(&mut random));
        let model = linchpin_subop::parse(&source)
            .unwrap_or_else(|mistakes| panic!("seed {seed}: {}\n{source}", mistakes[0].message));
        let report = prove(&model, &Options::default());
        let written = report.invariants.iter().filter(|line| line.written);
        let stated = model.invariants.iter().filter(|invariant| invariant.after.is_none());
        for (line, invariant) in written.zip(stated) {
            if line.dropped.is_some() {
                dropped += 1;
                continue;
            }
            if invariant.bound.len() < 2 {
                continue;
            }
            kept += 1;
            if let Some((state, objects)) = refuted(&model, &invariant.condition) {
                panic!("seed {seed}: {} of {objects:?}\n{source}\n{state:#?}", line.text);
            }
        }
    }
    println!("{kept} kept, {dropped} dropped");
    assert!(kept * 20 > count && dropped * 4 > count, "{kept} kept, {dropped} dropped");
}

/// None of these is linearizable: `R` or `D` may see `y == 1`, which no sequential execution
/// leaves. Invariants that contradict each other, or that speak of objects which come into being in
/// between, must not make a proof of anything.
#[test]
fn invariants_do_not_prove_what_is_not_so() {
    let reader = "struct node { int v, node n }; node p; int y; int none;
        A() node X; 1 X = malloc node; LINK p = X; y = 1; 1 y = 0; return;
        R() int v; node Z; 1 < p == Z; > Z.v = Z.v; v = y; return v;";
    let after = "struct node { int g, int k }; node top; int started; int y;
        A() node X; 1 <started == 0;> X = malloc node; top = X; started = 1; y = 1; 1 y = 0; return;
        D() node Z; int v; 1 <started == 1;> 1 Z.g = 1; v = y; return v;";
    let models = [
        (reader.replace("LINK", ""), "invariant for (node n) 1 == 2;"),
        (reader.replace("LINK", ""), "invariant none == 0; invariant for (node n) none == 1;"),
        (reader.replace("LINK", "X.n = X;"), "invariant for (node m) m.n == m;"),
        (
            after.to_owned(),
            "invariant for (node n) started != 0; invariant for (node n, node m) n.k == m.k;",
        ),
    ];
    for (source, invariants) in models {
        for text in [source.clone(), format!("{source}\n{invariants}")] {
            let model = linchpin_subop::parse(&text).expect("it parses");
            assert!(!prove(&model, &Options::default()).is_proved(), "{text}");
        }
    }
}

/// Random invariants, true and false, of one object and of two: whatever is proved with them, brute
/// force must not refute.
#[test]
fn no_proof_with_invariants_beside_a_counterexample() {
    let (first, count) = (number("LINCHPIN_SEED", 50_000), number("LINCHPIN_CASES", 400));
    let (mut proved, mut only_with) = (0, 0);
    for seed in first..first + count {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut source = generate(seed);
        if !source.starts_with("struct node") {
            continue;
        }
        let plain = linchpin_subop::parse(&source).expect("it parses");
        for _ in 0..random.usize(1..=4) {
            source += &match random.u8(..3) {
                0 => claim(&mut random),
                _ => claim(&mut random)
                    .replace(", node m)", ")")
                    .replace("m.", "n.")
                    .replace("m ", "n ")
                    .replace(" m", " n"),
            };
        }
        let Ok(model) = linchpin_subop::parse(&source) else { continue };
        if !prove(&model, &Options::default()).is_proved() {
            continue;
        }
        proved += 1;
        only_with += u32::from(!prove(&plain, &Options::default()).is_proved());
        let judged = judge_all(&model, 3, &[1], Comparison::Observations, 20_000);
        assert!(
            !matches!(judged, Judged::Violated(_)),
            "seed {seed}: proved, but\n{source}\n{judged:?}"
        );
    }
    println!("{proved} proved, {only_with} only with invariants");
    assert!(proved * 10 > count, "{proved} proved");
}

/// No thread follows a reference to a freed node. That what follows a node in the list is in the
/// list takes two objects to say.
#[test]
fn freeing_needs_to_know_what_follows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/subop/ms_queue_free.subop");
    let source = std::fs::read_to_string(path).expect("the model is there");
    let proved = |source: &str| {
        let model = linchpin_subop::parse(source).expect("the model parses");
        prove(&model, &Options::default()).is_proved()
    };
    assert!(proved(&source));
    let invariants: Vec<&str> =
        source.lines().filter(|line| line.starts_with("invariant")).collect();
    assert_eq!(invariants.len(), 3);
    for line in invariants {
        assert!(!proved(&source.replace(line, "")), "{line} is not needed");
    }
}
