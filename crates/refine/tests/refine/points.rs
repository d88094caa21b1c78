//! Whether claimed points suffice, with all reductions and without: random programs with random
//! claims, against an explorer that knows nothing of claims. It runs a second version of each
//! program, which writes down where it passes one, and keeps the sets of the specification itself.

use crate::generator::pick;
use crate::naive::{all_moves, random_reductions, seed_and_cases};
use crate::references;
use crate::support::{bounds, compiled, object};
use fastrand::Rng;
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::model_spec::ModelObject;
use linchpin_ir::program::Program;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{SearchOptions, explore};
use linchpin_refine::{Points, Policy, VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_spec::{BuiltinSpec, Call, Spec, Value};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Programs with more states than this are left out.
const MAX_STATES: usize = 8_000;

/// What a thread writes down: digits to this base, the last one last.
const BASE: i64 = 16;

/// Where a thread of the second version keeps what it writes down, and the argument of its call.
const LOG: usize = 0;
const ARGUMENT: usize = 1;

/// The digit of a plain point; those of points that count if the operation returns `none` follow.
const HERE: i64 = 1;

/// What the second version declares.
const VARIABLES: &str = "local log: int = 0;\nlocal argument: int = 0;";

/// A program with holes: `@n` where a claim may stand, `$n` where it would be written down; with
/// what the claims may be, the right one first.
struct Template {
    text: &'static str,
    claims: &'static [&'static [&'static str]],
}

const STACK: Template = Template {
    text: "spec stack;
struct Node { val: int, next: Node }
shared top: Node;
LOG
op push(v: int) {
    @8 let x = new Node { val: v }; $8
    loop { @0 let t = top; $0 @1 x.next = t; $1 @2 if cas(top, t, x) { $2 return; } @7 let z = top; $7 }
}
op pop() -> int? {
    loop {
        @3 let t = top; $3
        if t == null { return none; }
        @4 let s = t.next; $4
        @5 if cas(top, t, s) { $5 @6 let r = t.val; $6 return r; }
    }
}
",
    claims: &[
        &["", "#[lin]", "#[lin(when t == null)]"],
        &["", "#[lin]"],
        &["#[lin]", ""],
        &["#[lin(when t == null)]", "#[lin(when returns none)]", "", "#[lin]"],
        &["", "#[lin]", "#[lin(when s == null)]"],
        &["#[lin]", ""],
        &["", "#[lin]"],
        &["", "#[lin]", "#[lin(when z == null)]", "#[lin(when z == x)]"],
        &["", "#[lin]", "#[lin(when v == 1)]"],
    ],
};

const QUEUE: Template = Template {
    text: "spec queue;
struct Node { val: int, next: Node }
shared head: Node;
shared tail: Node;
LOG
init { let d = new Node {}; head = d; tail = d; }
op enqueue(v: int) {
    let x = new Node { val: v };
    loop {
        @0 let t = tail; $0
        let s = t.next;
        if s == null { @1 if cas(t.next, null, x) { $1 @2 cas(tail, t, x); $2 return; } } else { cas(tail, t, s); }
    }
}
op dequeue() -> int? {
    loop {
        let h = head;
        let t = tail;
        @3 let s = h.next; $3
        @4 if h == head {
            if h == t { if s == null { return none; } cas(tail, t, s); }
            else { let r = s.val; @5 if cas(head, h, s) { $5 return r; } }
        }
    }
}
",
    claims: &[
        &["", "#[lin(when t == null)]", "#[lin]"],
        &["#[lin]", ""],
        &["", "#[lin]"],
        &["#[lin(when returns none)]", "#[lin(when s == null)]", ""],
        &[""],
        &["#[lin]", ""],
    ],
};

const COUNTER: Template = Template {
    text: "spec {
    state s: int;
    op inc() -> int { let r = s; s = s + 1; return r; }
    op get() -> int { return s; }
}
struct Cell { val: int }
shared a: Cell;
LOG
init { a = new Cell {}; }
op inc() -> int {
    @8 let w = 0; $8
    @9 atomic { w = 1; } $9
    let n = new Cell {};
    loop {
        @0 let p = a; $0
        let c = p.val;
        n.val = c + 1;
        @1 if cas(a, p, n) { $1 return c; }
        @6 let z = n.val; $6
        @7 let y = a; $7
    }
}
op get() -> int {
    @2 let q = a; $2
    @3 let p = a; $3
    @4 let r = p.val; $4
    @5 let o = a; $5
    return r;
}
",
    claims: &[
        &["", "#[lin]"],
        &["#[lin]", ""],
        &["", "#[lin]"],
        &["#[lin]", ""],
        &["", "#[lin]", "#[lin(when r == 0)]"],
        &["", "#[lin]", "#[lin(when o != p)]"],
        &["", "#[lin]", "#[lin(when z == 1)]", "#[lin(when z == 0)]"],
        &["", "#[lin]", "#[lin(when y == n)]", "#[lin(when y == p)]"],
        &["", "#[lin]"],
        &["", "#[lin]", "#[lin(when w == 0)]"],
    ],
};

const LOCKED: Template = Template {
    text: "spec {
    state s: int;
    op inc() -> int { let r = s; s = s + 1; return r; }
    op get() -> int { return s; }
}
shared l: lock;
shared k: int = 0;
LOG
op inc() -> int {
    @0 lock(l); $0
    @1 let c = k; $1
    @2 k = c + 1; $2
    @3 unlock(l); $3
    return c;
}
op get() -> int {
    @4 let c = k; $4
    loop { @5 let d = k; $5 if c == d { return c; } @6 c = k; $6 }
}
",
    claims: &[
        &["", "#[lin]"],
        &["", "#[lin]", "#[lin(when c == 0)]"],
        &["#[lin]", ""],
        &["", "#[lin]"],
        &["", "#[lin]", "#[lin(when c == 0)]"],
        &["#[lin(when c == d)]", "#[lin]", ""],
        &["", "#[lin]"],
    ],
};

/// The program with claims, and the one that writes down where it passes one.
struct Versions {
    claiming: String,
    writing: String,
}

/// What is written down where a claim stands. `number` tells claims of one operation apart.
fn written(claim: &str, number: usize) -> String {
    let digit = |digit: i64| format!("log = log * {BASE} + {digit};");
    match claim {
        "" => String::new(),
        "#[lin]" => digit(HERE),
        "#[lin(when returns none)]" => digit(HERE + 1 + number as i64),
        _ => {
            let condition = &claim["#[lin(when ".len()..claim.len() - ")]".len()];
            format!("if {condition} {{ {} }}", digit(HERE))
        }
    }
}

fn filled(random: &mut Rng, template: &Template) -> Versions {
    let Template { text, claims } = template;
    let text = format!("{text}bounds {{ threads: 2, ops: 2, values: 2 }}\n");
    let mut claiming = text.replace("LOG", "");
    let mut writing = text.replace("LOG", VARIABLES);
    // Mostly all claims are right, or all but one.
    let wrong = random.usize(..2 * claims.len());
    for (number, of) in claims.iter().enumerate() {
        let any = number == wrong || random.u8(..8) == 0;
        let claim = if any { pick(random, of) } else { of[0] };
        let (at, log) = (format!("@{number} "), format!("${number}"));
        claiming = claiming.replace(&at, &format!("{claim} ")).replace(&log, "");
        writing = writing.replace(&at, "").replace(&log, &written(claim, number));
    }
    let writing = keeping_arguments(&writing);
    Versions { claiming, writing }
}

/// Each operation with an argument writes it down first.
fn keeping_arguments(writing: &str) -> String {
    let line = |line: &str| match line.starts_with("op ") && line.contains("(v: int)") {
        true => format!("{line} argument = v;\n"),
        false => format!("{line}\n"),
    };
    writing.lines().map(line).collect()
}

/// What a loop over references reads, and when that may be claimed.
const READS: [(&str, &str); 8] = [
    ("p = a;", "#[lin(when p == q)]"),
    ("p = b;", "#[lin(when p == null)]"),
    ("let s = a;", "#[lin(when s == q)]"),
    ("let s = b;", "#[lin(when s != p)]"),
    ("let s = p.next;", "#[lin(when s == null)]"),
    ("let e = b;", "#[lin(when e == q)]"),
    ("let c = k;", "#[lin(when c == 2)]"),
    ("r = n;", "#[lin]"),
];

/// A program over references whose loop claims its last `cas`; now and then something else does.
fn over_references(random: &mut Rng) -> Versions {
    let source = references::program(random);
    let (mut claiming, mut writing) = (String::new(), String::new());
    for line in source.lines() {
        let (mut claims, mut writes) = (line.to_owned(), line.to_owned());
        let mut claim = |from: &str, claim: &str, to: &str| {
            claims = claims.replace(from, &format!("{claim} {from}"));
            writes = writes.replace(from, to);
        };
        let is_loop = line.trim_start().starts_with("loop");
        if let Some(at) = line.rfind("if cas(").filter(|_| is_loop && random.u8(..8) > 0) {
            let brace = at + line[at..].find('{').expect("a block") + 1;
            let cas = &line[at..brace];
            claim(cas, "#[lin]", &format!("{cas} {}", written("#[lin]", 0)));
        }
        if is_loop && random.u8(..3) == 0 {
            let of = READS.iter().filter(|(read, _)| line.contains(read));
            let of: Vec<&(&str, &str)> = of.collect();
            if let Some((read, when)) = random.choice(of) {
                claim(read, when, &format!("{read} {}", written(when, 0)));
            }
        }
        if line.starts_with("    p = ") && random.u8(..6) == 0 {
            let of = pick(random, &["#[lin]", "#[lin(when p == q)]"]);
            let read = line.trim();
            claim(read, of, &format!("{read} {}", written(of, 0)));
        }
        claiming += &format!("{claims}\n");
        writing += &format!("{writes}\n");
    }
    writing = writing.replacen("shared a: Cell;", &format!("{VARIABLES}\nshared a: Cell;"), 1);
    let writing = keeping_arguments(&writing);
    Versions { claiming, writing }
}

fn versions(random: &mut Rng) -> Versions {
    match random.u8(..7) {
        0 => filled(random, &STACK),
        1 => filled(random, &QUEUE),
        2 => filled(random, &COUNTER),
        3 => filled(random, &LOCKED),
        _ => over_references(random),
    }
}

/// What may be true of the specification: its state, and for each thread what its operation answers
/// once it has taken effect, with the claim that counts only if it answers that.
#[derive(Clone, Debug)]
struct Belief {
    state: <BuiltinSpec as Spec>::State,
    answers: Vec<Option<(Value, i64)>>,
}

/// The beliefs by how they print themselves.
type Beliefs = BTreeMap<String, Belief>;

fn add(beliefs: &mut Beliefs, belief: Belief) {
    beliefs.insert(format!("{belief:?}"), belief);
}

struct Judge<'a> {
    machine: Machine,
    object: &'a ModelObject,
    seen: HashSet<(State, Vec<usize>, Vec<String>)>,
}

impl Judge<'_> {
    /// Whether every run from a state is explained by its claims and goes wrong nowhere; `None` if
    /// there are too many states.
    fn suffices(&mut self, state: &State, calls: &[usize], beliefs: &Beliefs) -> Option<bool> {
        if self.seen.len() > MAX_STATES {
            return None;
        }
        let key = (state.clone(), calls.to_vec(), beliefs.keys().cloned().collect());
        if !self.seen.insert(key) {
            return Some(true);
        }
        for thread in 0..calls.len() {
            for (what, _) in all_moves(&self.machine, 2, state, thread, calls[thread]) {
                let mut calls = calls.to_vec();
                if matches!(what, Move::Invoke { .. }) {
                    calls[thread] -= 1;
                }
                for successor in self.machine.successors(state, &what) {
                    let Ok(mut next) = successor.result else { return Some(false) };
                    let mut after = beliefs.clone();
                    for digit in take_log(&mut next, thread) {
                        after = self.pass(&next, thread, &after, digit);
                    }
                    if let Status::Returning { value, .. } = &state.threads[thread].status {
                        after = respond(&after, thread, value);
                    }
                    if after.is_empty() {
                        return Some(false);
                    }
                    match self.suffices(&next, &calls, &after) {
                        Some(true) => {}
                        other => return other,
                    }
                }
            }
        }
        Some(true)
    }

    /// After a thread has passed a claim.
    fn pass(&self, state: &State, thread: usize, beliefs: &Beliefs, digit: i64) -> Beliefs {
        let mut after = Beliefs::new();
        for belief in beliefs.values() {
            let answer = &belief.answers[thread];
            let is_plain = digit == HERE;
            // One that depends on the answer does not count where it is passed again.
            if !is_plain && answer.as_ref().is_none_or(|(_, claim)| *claim != digit) {
                add(&mut after, belief.clone());
            }
            if answer.is_some() {
                continue;
            }
            let (operation, argument) = self.pending(state, thread);
            let call = Call { operation: self.object.operations[operation], argument };
            for outcome in self.object.spec.apply(&belief.state, &call, None) {
                if is_plain || outcome.response == Value::Null {
                    let mut done = Belief { state: outcome.state, answers: belief.answers.clone() };
                    let claim = if is_plain { 0 } else { digit };
                    done.answers[thread] = Some((outcome.response, claim));
                    add(&mut after, done);
                }
            }
        }
        after
    }

    /// The call of a thread: the argument is kept by its program, beside the log.
    fn pending(&self, state: &State, thread: usize) -> (usize, Value) {
        let operation = state.pending(thread).expect("a pending operation");
        let argument = match self.machine.program().operations[operation].parameters.len() {
            0 => Value::Null,
            _ => state.threads[thread].variables[ARGUMENT].clone(),
        };
        (operation, argument)
    }
}

/// After a thread has answered.
fn respond(beliefs: &Beliefs, thread: usize, value: &Value) -> Beliefs {
    let mut after = Beliefs::new();
    for belief in beliefs.values() {
        if belief.answers[thread].as_ref().is_some_and(|(answer, _)| answer == value) {
            let mut belief = belief.clone();
            belief.answers[thread] = None;
            add(&mut after, belief);
        }
    }
    after
}

/// The digits that a thread has written down in its last step, which are forgotten.
fn take_log(state: &mut State, thread: usize) -> Vec<i64> {
    let of = Arc::make_mut(&mut state.threads[thread]);
    let Value::Int(mut log) = std::mem::replace(&mut of.variables[LOG], Value::Int(0)) else {
        panic!("the log is a number")
    };
    let mut digits = Vec::new();
    while log > 0 {
        digits.insert(0, log % BASE);
        log /= BASE;
    }
    digits
}

/// Whether claims suffice, by the program that writes them down.
fn suffices(writing: &Program, calls: usize) -> Option<bool> {
    let object = object(writing);
    let machine = Machine::new(writing, Memory::Collected);
    let state = machine.initial().unwrap();
    let threads = writing.threads.len();
    let mut beliefs = Beliefs::new();
    add(&mut beliefs, Belief { state: object.spec.initial(), answers: vec![None; threads] });
    let mut judge = Judge { machine, object: &object, seen: HashSet::new() };
    judge.suffices(&state, &vec![calls; threads], &beliefs)
}

/// How many programs of which kind there were, and in how many each reduction acted.
#[derive(Debug, Default)]
struct Counts {
    suffice: usize,
    fail: usize,
    too_large: usize,
    ample: usize,
    doomed: usize,
    validated: usize,
}

/// Counts which reductions act on a program while its claims are judged.
fn count_acting(program: &Program, calls: usize, counts: &mut Counts) {
    let acts = |reductions: Reductions| {
        let bounds = bounds(calls, 2);
        let product = ModelProduct::new(program, bounds, reductions, Policy::Points).unwrap();
        let options = SearchOptions { workers: 1, ..SearchOptions::default() };
        explore(&product, &options, &|_| {});
        product.space
    };
    let all = acts(Reductions::ALL);
    counts.ample += usize::from(all.took_ample_steps());
    counts.validated += usize::from(all.took_validated_attempts());
    let doomed = acts(Reductions { validated_reads: false, ..Reductions::ALL });
    counts.doomed += usize::from(doomed.ended_doomed_attempts());
}

#[test]
fn claims_are_judged_alike_with_all_reductions() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=10000 cargo test --release -p linchpin-refine
    // claims
    let (seed, cases) = seed_and_cases(300);
    let mut counts = Counts::default();
    for seed in (0..cases).map(|number| seed.wrapping_add(number)) {
        let mut random = Rng::with_seed(seed);
        let Versions { claiming, writing } = versions(&mut random);
        let calls = random.usize(1..3);
        if !claiming.contains("#[lin") {
            continue;
        }
        let program = compiled(&claiming).program;
        let Some(expected) = suffices(&compiled(&writing).program, calls) else {
            counts.too_large += 1;
            continue;
        };
        match expected {
            true => counts.suffice += 1,
            false => counts.fail += 1,
        }
        if expected {
            count_acting(&program, calls, &mut counts);
        }
        for combination in 0..4 {
            let mut options = VerifyOptions::new(bounds(calls, 2));
            options.search.workers = 1;
            options.stuck = false;
            match combination {
                0 => {}
                1 => options.reductions = Reductions::NONE,
                _ => {
                    options.reductions = random_reductions(&mut random);
                    options.search.antichain = random.bool();
                    options.search.calls = random.bool();
                }
            }
            let report = verify(&program, &options, &|_| {}).unwrap();
            assert_eq!(
                report.points == Points::Suffice,
                expected,
                "seed {seed} calls {calls} {:?} {:?}\n{claiming}",
                report.outcome,
                options.reductions
            );
        }
    }
    println!("seed {seed}: {counts:?}");
    if cases < 200 {
        return;
    }
    let least = usize::try_from(cases / 12).unwrap();
    assert!(counts.suffice > least && counts.fail > least, "{counts:?}");
    assert!(counts.ample > 0 && counts.doomed > 0 && counts.validated > 0, "{counts:?}");
}

/// Whether claims suffice for one call of each thread: so with all reductions, without any, and
/// without those by which steps are taken together.
fn are_judged(source: &str, suffices: bool) {
    let program = compiled(source).program;
    let all = Reductions::ALL;
    let of = [
        all,
        Reductions::NONE,
        Reductions { validated_reads: false, ..all },
        Reductions { doomed_attempts: false, ..all },
        Reductions { partial_order: false, ..all },
        Reductions { merged_events: false, ..all },
        all.one_thread_at_a_time(),
    ];
    for reductions in of {
        let options =
            VerifyOptions { reductions, stuck: false, ..VerifyOptions::new(bounds(1, 1)) };
        let report = verify(&program, &options, &|_| {}).unwrap();
        assert_eq!(report.points == Points::Suffice, suffices, "{reductions:?}\n{source}");
    }
}

/// A point that a thread passes as it calls its operation, or before it looks at anything, does not
/// move to where it looks.
#[test]
fn points_of_calls_stay() {
    for first in ["#[lin] let z = 0;", "atomic { #[lin] let z = 0; }"] {
        let bodies = ["loop { let t = a; if cas(a, t, t + 1) { return t; } }", "return faa(a, 1);"];
        for body in bodies {
            let source = format!(
                "spec {{ state s: int; op inc() -> int {{ let r = s; s = s + 1; return r; }} }}
                shared a: int = 0;
                op inc() -> int {{ {first} {body} }}
                bounds {{ threads: 2, ops: 1, values: 1 }}"
            );
            are_judged(&source, false);
        }
    }
}

/// Two claims that look alike are two claims, though they stand on one line.
#[test]
fn claims_on_one_line_are_several() {
    for space in [" ", "\n"] {
        let source = format!(
            "spec {{
                state s: int;
                op inc() -> int {{ s = s + 1; return s; }}
                op get() -> int {{ return s; }}
            }}
            shared a: int = 0;
            shared b: int = 0;
            op inc() -> int {{ #[lin] let c = faa(a, 1); return c + 1; }}
            op get() -> int {{
                #[lin(when returns 0)] let c = a;{space}#[lin(when returns 0)] let d = b;
                if c == 0 {{ return 0; }}
                #[lin] let e = a;
                return e;
            }}
            bounds {{ threads: 2, ops: 1, values: 1 }}"
        );
        are_judged(&source, true);
    }
}

/// An attempt that fails passes a claim, and so does the one that does not. All of it is on one
/// line: a line that is executed only in attempts that are left out is looked for in another way.
#[test]
fn points_of_attempts_that_fail_count() {
    let claims = [
        ("", true),
        ("#[lin] let z = o.val;", false),
        ("#[lin(when z == 1)] let z = o.val;", true),
        ("#[lin(when z == 1)] let z = k;", false),
        ("#[lin(when z == 0)] let z = k;", true),
        ("#[lin(when returns 1)] let z = k;", true),
    ];
    for (claim, suffices) in claims {
        let source = format!(
            "spec {{ state s: int; op inc() -> int {{ let r = s; s = s + 1; return r; }} }}
            struct Box {{ val: int }}
            shared k: int = 0;
            op inc() -> int {{
                let o = new Box {{}};
                loop {{ let c = k; #[lin] if cas(k, c, c + 1) {{ return c; }} {claim} }}
            }}
            bounds {{ threads: 2, ops: 1, values: 1 }}"
        );
        are_judged(&source, suffices);
    }
}

/// More claims than can be told apart are refused with a sentence; as many as can be are not.
#[test]
fn too_many_claims_are_refused() {
    let judged = |count: usize| {
        let claims: String =
            (0..count).map(|n| format!("#[lin(when returns 0)] let c{n} = a; ")).collect();
        let source = format!(
            "spec {{ state s: int; op get() -> int {{ return s; }} }}
            shared a: int = 0;
            op get() -> int {{ {claims} return 0; }}
            bounds {{ threads: 1, ops: 1, values: 1 }}"
        );
        verify(&compiled(&source).program, &VerifyOptions::new(bounds(1, 1)), &|_| {})
    };
    assert_eq!(judged(255).unwrap().points, Points::Suffice);
    let refused = judged(256).unwrap_err().to_string();
    assert!(refused.contains("255 claims"), "{refused}");
}
