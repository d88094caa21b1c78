//! The `reference { }` block as a program: what it is made of, and that run alone it answers as
//! the specification does.

use crate::models::{Model, models};
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, Status};
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Operation, Program, Thread};
use linchpin_ir::well_formed::defects;
use linchpin_lang::syntax::{TokenKind, ast::Item, parse, tokenize};
use linchpin_lang::{Config, compile, format};
use linchpin_spec::{Call, Value};

const LANGUAGE: &str = include_str!("../../../../docs/reference/language.md");

/// The `lin` blocks of a section of the language reference.
fn blocks(section: &str) -> Vec<&'static str> {
    let text = LANGUAGE.split("\n## ").find(|text| text.starts_with(section)).expect("the section");
    text.split("```lin\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The stack of the language reference with its reference.
fn documented() -> String {
    format!("{}\n{}", blocks("A complete model")[0], blocks("References")[0])
}

fn compiled(source: &str) -> Program {
    let compiled = compile(source, &Config::default());
    let program = compiled.unwrap_or_else(|found| panic!("{found:#?}\n{source}")).program;
    let defects = defects(&program);
    assert!(defects.is_empty(), "{defects:#?}\n{source}");
    program
}

/// The reference as a program with one thread that may call everything.
fn alone(program: &Program) -> Program {
    let reference = program.reference.as_deref().expect("there is a reference");
    let operations = (0..reference.operations.len()).collect();
    Program { threads: vec![Thread { role: None, operations, calls: None }], ..reference.clone() }
}

/// Calls the operations of the program one after the other, so many of them; what went wrong, if
/// its answers are not those of its specification.
fn disagreement(program: &Program, seed: u64, calls: usize) -> Option<String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let object = spec_of(program).expect("there is a specification");
    let machine = Machine::new(program, Memory::Collected);
    let mut state = machine.initial().expect("`init` ends");
    let mut specified = vec![object.spec.initial()];
    let mut said = String::new();
    for _ in 0..calls {
        let operation = rng.usize(..program.operations.len());
        let called = &program.operations[operation];
        let bounds = DomainBounds { values: 3, threads: 1 };
        let domain = Domain::of_arguments(called, bounds).expect("clients can call it");
        let all: Vec<Value> = domain.values().collect();
        let arguments = all[rng.usize(..all.len())].as_list().expect("a list").to_vec();
        let argument = Operation::argument(&arguments);
        said += &format!("{}({argument})", called.name);
        let invoke = Move::Invoke { thread: 0, operation, arguments };
        let mut successors = machine.successors(&state, &invoke);
        // An operation that cannot end has no answer that could be wrong.
        if successors.is_empty() {
            return None;
        }
        let taken = successors.swap_remove(rng.usize(..successors.len()));
        state = match taken.result {
            Ok(state) => state,
            Err(fault) => return Some(format!("{said} {fault}")),
        };
        let Status::Returning { .. } = state.threads[0].status else {
            return Some(format!("{said} stops half-way"));
        };
        let (next, answer) = machine.respond(&state, 0).expect("it has an answer");
        state = next;
        said += &format!(" = {answer}; ");
        let call = Call { operation: object.operations[operation], argument };
        let after = specified.iter().flat_map(|s| object.spec.apply(s, &call, Some(&answer)));
        specified = after.map(|outcome| outcome.state).collect();
        if specified.is_empty() {
            return Some(said);
        }
    }
    None
}

/// The first disagreement in so many random sequences of calls.
fn first_disagreement(program: &Program, sequences: u64) -> Option<String> {
    let seed = fastrand::u64(..1 << 48);
    (seed..seed + sequences)
        .find_map(|seed| Some(format!("seed {seed}: {}", disagreement(program, seed, 20)?)))
}

#[test]
fn a_reference_run_alone_answers_as_the_specification() {
    let corpus = include_str!("../../../../fuzz/corpus/front_end/reference.lin");
    for source in [&documented(), corpus] {
        let wrong = first_disagreement(&alone(&compiled(source)), 200);
        assert_eq!(wrong, None, "{source}");
    }
}

#[test]
fn a_wrong_reference_does_not() {
    for (right, wrong) in [
        ("x.next = top; top = x;", "x.next = null; top = x;"),
        ("top = t.next;", "if t.next != null { top = t.next; }"),
        ("if t == null { return none; }", ""),
        ("return t.val;\n", "return 1;\n"),
    ] {
        let reference = blocks("References")[0];
        assert!(reference.contains(right), "{right}");
        let source = documented().replace(reference, &reference.replace(right, wrong));
        assert!(first_disagreement(&alone(&compiled(&source)), 200).is_some(), "{source}");
    }
}

#[test]
fn operations_come_in_the_order_of_the_model_and_claims_stay_with_it() {
    let source = "\
spec stack;
struct Node { val: int, next: Node }
struct Other { to: Node }
shared top: Node;
fn first(t: Node) -> int? {
    #[base(top == t)] if t == null { return none; }
    #[lin] let v = t.val;
    return v;
}
op push(v: int in 1..=2) requires v > 0 { top = new Node { val: v, next: top }; }
op pop() -> int? { return first(top); }
reference {
    shared others: Other; shared top: Node;
    op pop() -> int? { let t = top; let v = first(t); if t != null { top = t.next; } return v; }
    init { others = new Other { to: top }; first(others.to); }
    op push(v: int) { top = new Node { val: v, next: top }; }
}
";
    let program = compiled(source);
    let reference = program.reference.as_deref().expect("there is a reference");
    let names = |program: &Program| -> Vec<String> {
        program.operations.iter().map(|operation| operation.name.clone()).collect()
    };
    assert_eq!(names(reference), names(&program));
    let shared: Vec<&str> = reference.shared.iter().map(|v| v.name.as_str()).collect();
    assert_eq!((shared, program.shared.len()), (vec!["others", "top"], 1));
    assert_eq!(reference.structs, program.structs);
    let claims = |program: &Program| -> usize {
        let bodies = program.init.iter().chain(program.operations.iter().map(|op| &op.body));
        let edges = bodies.flat_map(|body| &body.nodes).flat_map(|node| &node.edges);
        edges.map(|edge| edge.points.len() + edge.bases.len()).sum()
    };
    assert_eq!(claims(reference), 0);
    assert!(claims(&program) > 0);
    assert_eq!(first_disagreement(&alone(&program), 100), None);
    let without = source.split("reference {").next().expect("the model");
    assert!(compiled(without).reference.is_none());
}

/// The model with its own code as its reference, without what a reference cannot have.
fn own_reference(source: &str) -> Option<String> {
    let (tree, _) = parse(source);
    let mut inside = String::new();
    for item in &tree.items {
        let (name, body) = match item {
            Item::Shared(variable) => (variable.name.span, None),
            Item::Op(routine) => (routine.name.span, Some(routine.body.span)),
            Item::Init(body, word) => (*word, Some(body.span)),
            _ => continue,
        };
        // From the word that starts the declaration to the `;` or `}` that ends it.
        let start = match item {
            Item::Init(..) => name.start as usize,
            _ => source[..name.start as usize]
                .trim_end()
                .rfind(['\n', ' ', '\t', ';', '}'])
                .map_or(0, |at| at + 1),
        };
        let end = match body {
            Some(body) => body.end as usize,
            None => name.end as usize + source[name.end as usize..].find(';')? + 1,
        };
        inside += &format!("{}\n", unclaimed(&source[start..end]));
    }
    Some(format!("{source}\nreference {{\n{inside}}}\n"))
}

/// The source without its annotations.
fn unclaimed(source: &str) -> String {
    let mut out = String::new();
    let mut open = 0usize;
    for token in tokenize(source) {
        match token.kind {
            TokenKind::HashBracket => open += 1,
            TokenKind::OpenBracket if open > 0 => open += 1,
            TokenKind::CloseBracket if open > 0 => open -= 1,
            TokenKind::Comment => {}
            _ if open == 0 => out += &format!("{} ", token.span.text(source)),
            _ => {}
        }
    }
    out
}

#[test]
fn models_as_their_own_references_answer_as_their_specifications() {
    let mut tried = Vec::new();
    for Model { name, source, header } in models() {
        // What waits for other threads does not end alone.
        if !header.partial.is_empty() {
            continue;
        }
        let Some(with) = own_reference(&source) else { continue };
        // Many models use what a reference does not have; their mistakes are tested elsewhere.
        if compile(&with, &Config::default()).is_err() {
            continue;
        }
        let laid_out = format(&with).expect("it parses");
        assert_eq!(format(&laid_out).as_ref(), Ok(&laid_out), "{name}");
        let program = compiled(&with);
        assert_eq!(first_disagreement(&alone(&program), 30), None, "{name}");
        tried.push(name);
    }
    println!("{tried:#?}");
    assert!(tried.len() >= 10, "only {tried:?}");
}
