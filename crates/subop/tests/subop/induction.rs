//! What is shown of all sequential executions, against brute force: small programs with an
//! interpreter and specifications of their own, executed with more integers and more calls than
//! anything is tried with.

use fastrand::Rng;
use linchpin_subop::parse;
use linchpin_subop::sequential::{Bounds, Random, Sequential, check};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What is read: a variable, an argument, a constant, or a sum of one of the first two and a
/// constant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Variable(usize),
    Argument(usize),
    Constant(i64),
    VariablePlus(usize, i64),
}

const VARIABLES: [&str; 3] = ["x", "y", "z"];
const ARGUMENTS: [&str; 2] = ["a", "b"];

impl Source {
    fn random(rng: &mut Rng, arguments: usize) -> Source {
        match rng.u8(..8) {
            0..3 => Source::Variable(rng.usize(..2)),
            3..6 if arguments > 0 => Source::Argument(rng.usize(..arguments)),
            6 => Source::VariablePlus(rng.usize(..2), if rng.bool() { 1 } else { -1 }),
            _ => Source::Constant(rng.i64(-1..4)),
        }
    }

    fn text(self) -> String {
        match self {
            Source::Variable(at) => VARIABLES[at].to_owned(),
            Source::Argument(at) => ARGUMENTS[at].to_owned(),
            Source::Constant(value) => value.to_string(),
            Source::VariablePlus(at, 1) => format!("{} + 1", VARIABLES[at]),
            Source::VariablePlus(at, _) => format!("{} - 1", VARIABLES[at]),
        }
    }

    fn value(self, state: &[i64; 3], arguments: &[i64]) -> i64 {
        match self {
            Source::Variable(at) => state[at],
            Source::Argument(at) => arguments[at],
            Source::Constant(value) => value,
            Source::VariablePlus(at, more) => state[at] + more,
        }
    }
}

#[derive(Clone, Debug)]
struct Comparison(Source, &'static str, Source);

impl Comparison {
    fn random(rng: &mut Rng, arguments: usize) -> Comparison {
        let relation = ["==", "!=", "<", ">="][rng.usize(..4)];
        Comparison(Source::random(rng, arguments), relation, Source::random(rng, arguments))
    }

    fn holds(&self, state: &[i64; 3], arguments: &[i64]) -> bool {
        let (left, right) = (self.0.value(state, arguments), self.2.value(state, arguments));
        match self.1 {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            _ => left >= right,
        }
    }

    fn text(&self) -> String {
        format!("<{} {} {};>", self.0.text(), self.1, self.2.text())
    }
}

/// One way through an operation: a condition, assignments, an answer.
#[derive(Clone, Debug)]
struct Part {
    guard: Option<Comparison>,
    assigned: Vec<(usize, Source)>,
    answer: Option<Source>,
}

#[derive(Clone, Debug)]
struct Method {
    name: &'static str,
    arguments: usize,
    parts: Vec<Part>,
}

/// The specification's state and its operations, written again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    CasRegister,
    Counter,
    Snapshot,
}

type SpecState = [i64; 2];

fn specified(kind: Kind, name: &str, state: &mut SpecState, arguments: &[i64]) -> Vec<i64> {
    match (kind, name) {
        (Kind::CasRegister, "write") => state[0] = arguments[0],
        (Kind::CasRegister | Kind::Counter, "read") => return vec![state[0]],
        (Kind::CasRegister, _) => {
            let same = state[0] == arguments[0];
            if same {
                state[0] = arguments[1];
            }
            return vec![i64::from(same)];
        }
        (Kind::Counter, "up") => state[0] += 1,
        (Kind::Counter, _) => state[0] -= 1,
        (Kind::Snapshot, "first") => state[0] = arguments[0],
        (Kind::Snapshot, "second") => state[1] = arguments[0],
        (Kind::Snapshot, _) => return state.to_vec(),
    }
    Vec::new()
}

fn random_part(rng: &mut Rng, arguments: usize, answers: bool) -> Part {
    let assigned = (0..rng.usize(..3)).map(|_| (rng.usize(..3), Source::random(rng, arguments)));
    Part {
        guard: None,
        assigned: assigned.collect(),
        answer: answers.then(|| Source::random(rng, arguments)),
    }
}

/// The right way to do it, with the state in `x` (and `y`).
fn right_part(name: &str) -> Part {
    let assigned = match name {
        "write" | "first" => vec![(0, Source::Argument(0))],
        "second" => vec![(1, Source::Argument(0))],
        "up" => vec![(0, Source::VariablePlus(0, 1))],
        "down" => vec![(0, Source::VariablePlus(0, -1))],
        _ => Vec::new(),
    };
    Part { guard: None, assigned, answer: (name == "read").then_some(Source::Variable(0)) }
}

fn random_method(rng: &mut Rng, name: &'static str, arguments: usize) -> Method {
    let answers = matches!(name, "read" | "cas");
    let mut parts = vec![right_part(name)];
    if name == "cas" {
        let same = Comparison(Source::Variable(0), "==", Source::Argument(0));
        let other = Comparison(Source::Variable(0), "!=", Source::Argument(0));
        let done = vec![(0, Source::Argument(1))];
        parts = vec![
            Part { guard: Some(same), assigned: done, answer: Some(Source::Constant(1)) },
            Part { guard: Some(other), assigned: Vec::new(), answer: Some(Source::Constant(0)) },
        ];
    } else if rng.u8(..3) == 0 {
        // Another way in some states; the two ways share the right code more often than not.
        let guard = Comparison::random(rng, arguments);
        let opposite = match guard.1 {
            "==" => "!=",
            "!=" => "==",
            "<" => ">=",
            _ => "<",
        };
        let not = Comparison(guard.0, opposite, guard.2);
        let mut other =
            if rng.u8(..3) > 0 { right_part(name) } else { random_part(rng, arguments, answers) };
        other.guard = Some(not);
        parts[0].guard = Some(guard);
        parts.push(other);
    }
    for part in &mut parts {
        // Something that does not matter, or does.
        match rng.u8(..12) {
            0..4 => part.assigned.push((2, Source::random(rng, arguments))),
            4 => part.assigned.insert(0, (rng.usize(..2), Source::random(rng, arguments))),
            5 if answers => part.answer = Some(Source::random(rng, arguments)),
            _ => {}
        }
    }
    Method { name, arguments, parts }
}

fn methods(rng: &mut Rng, kind: Kind) -> Vec<Method> {
    let named: &[(&'static str, usize)] = match kind {
        Kind::CasRegister => &[("write", 1), ("read", 0), ("cas", 2)],
        Kind::Counter => &[("up", 0), ("down", 0), ("read", 0)],
        Kind::Snapshot => &[("first", 1), ("second", 1), ("scan", 0)],
    };
    named.iter().map(|(name, arguments)| random_method(rng, name, *arguments)).collect()
}

fn text(kind: Kind, methods: &[Method]) -> String {
    let mut operations = String::from("int x; int y; int z;\n");
    let mut lines = String::new();
    for method in methods {
        for (at, part) in method.parts.iter().enumerate() {
            let name = format!("{}_{at}", method.name);
            let arguments: Vec<String> =
                ARGUMENTS[..method.arguments].iter().map(|name| format!("int {name}")).collect();
            let guard = part.guard.as_ref().map_or(String::new(), Comparison::text);
            let body: String = part
                .assigned
                .iter()
                .map(|(to, from)| format!("{} = {}; ", VARIABLES[*to], from.text()))
                .collect();
            let answer = match (method.name, part.answer) {
                ("scan", _) => " x, y".to_owned(),
                (_, Some(answer)) => format!(" {}", answer.text()),
                (_, None) => String::new(),
            };
            operations +=
                &format!("{name}({}) 1 {guard} {body}return{answer};\n", arguments.join(", "));
            let call = match method.name {
                "up" => "add(1)".to_owned(),
                "down" => "add(-1)".to_owned(),
                "first" => "update(0, a)".to_owned(),
                "second" => "update(1, a)".to_owned(),
                name => format!("{name}({})", ARGUMENTS[..method.arguments].join(", ")),
            };
            lines += &format!("{name} = {call};\n");
        }
    }
    let spec = match kind {
        Kind::CasRegister => "cas_register(0)",
        Kind::Counter => "counter",
        Kind::Snapshot => "snapshot(0, 0)",
    };
    format!("{operations}spec {spec} {{ {lines} }}")
}

const INTEGERS: [i64; 10] = [-7, -2, -1, 0, 1, 2, 3, 4, 5, 1000];

/// Whether some sequence of these many random calls is answered wrongly.
fn is_wrong(rng: &mut Rng, kind: Kind, methods: &[Method]) -> bool {
    for _ in 0..400 {
        let (mut state, mut spec) = ([0; 3], [0; 2]);
        for _ in 0..rng.usize(1..14) {
            let method = &methods[rng.usize(..methods.len())];
            let arguments: Vec<i64> = (0..method.arguments)
                .map(|_| match rng.u8(..3) {
                    0 => state[rng.usize(..3)],
                    _ => INTEGERS[rng.usize(..INTEGERS.len())],
                })
                .collect();
            let holds = |part: &&Part| {
                part.guard.as_ref().is_none_or(|guard| guard.holds(&state, &arguments))
            };
            let enabled: Vec<&Part> = method.parts.iter().filter(holds).collect();
            let Some(part) = enabled.get(rng.usize(..enabled.len().max(1))) else { continue };
            for (to, from) in &part.assigned {
                state[*to] = from.value(&state, &arguments);
            }
            let answer = match (method.name, part.answer) {
                ("scan", _) => vec![state[0], state[1]],
                (_, answer) => {
                    answer.map(|from| from.value(&state, &arguments)).into_iter().collect()
                }
            };
            if specified(kind, method.name, &mut spec, &arguments) != answer {
                return true;
            }
        }
    }
    false
}

#[test]
fn what_is_shown_is_never_wrong() {
    let seed = number("LINCHPIN_SEED", 3);
    let cases = number("LINCHPIN_CASES", 3000);
    println!("seed {seed}, {cases} cases");
    // Little is tried, so that the induction is asked about wrong programs too.
    let random = Random { sequences: 0, calls: 0, seed: 1 };
    let bounds = Bounds { calls: 1, values: 1, steps: 2_000, random };
    let (mut shown, mut wrong, mut missed, mut asked_wrong) = (0, 0, 0, 0);
    for case in 0..cases {
        let mut rng = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let kind = [Kind::CasRegister, Kind::Counter, Kind::Snapshot][rng.usize(..3)];
        let methods = methods(&mut rng, kind);
        let source = text(kind, &methods);
        let model = parse(&source).unwrap_or_else(|mistakes| panic!("{source}\n{mistakes:?}"));
        let answer = check(&model, &bounds);
        let bad = is_wrong(&mut rng, kind, &methods);
        wrong += u64::from(bad);
        match answer {
            Sequential::Shown { shown: how, .. } => {
                shown += 1;
                assert!(!bad, "seed {seed}, case {case}: shown ({how:?}), but wrong\n{source}");
            }
            Sequential::Tried { .. } => {
                missed += u64::from(!bad);
                asked_wrong += u64::from(bad);
            }
            Sequential::Violated { calls } => {
                // The other way round: few calls are enough for brute force to see it too.
                assert!(bad || calls.len() > 1, "seed {seed}, case {case}: {calls:?}\n{source}");
            }
            Sequential::NeverExecuted { .. } | Sequential::NotTried(_) => {}
        }
    }
    println!(
        "{shown} shown, {wrong} wrong, {asked_wrong} of them asked, {missed} right and not shown"
    );
    assert!(shown * 10 > cases && wrong * 10 > cases && asked_wrong * 50 > cases);
}
