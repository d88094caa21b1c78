//! The whole engine against a naive one, on random small programs: states as the interpreter has
//! them, moves as it makes them, and "on a cycle" said with reachability.

use crate::naive::Word;
use crate::support::{ltl, progress, seed_and_cases, unlimited};
use crate::words::formula;
use fastrand::Rng;
use linchpin_ir::interpreter::{self, Machine, Memory, Move, ScheduledMove, State};
use linchpin_lang::{Config, Threads, compile};
use linchpin_progress::Property;
use linchpin_progress::ltl::Formula;
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
use std::collections::HashMap;

/// Statements that touch two shared numbers, two locks and a name; the numbers are 0 or 1.
fn statements(random: &mut Rng, depth: usize) -> String {
    let count = random.usize(1..=2);
    let mut text = String::new();
    for _ in 0..count {
        let (x, y) = if random.bool() { ("x", "y") } else { ("y", "x") };
        let (c, d) = (random.u8(..2), random.u8(..2));
        let deeper = depth > 0;
        let piece = match random.u8(..20) {
            0 => format!("{x} = {c};"),
            1 => format!("cas({x}, {c}, {});", 1 - c),
            2 => format!("while {x} == {c} {{ }}"),
            3 => format!("while !cas({x}, {c}, {}) {{ }}", 1 - c),
            4 => format!("assume({x} == {c});"),
            5 if deeper => format!("lock(l); {} unlock(l);", statements(random, depth - 1)),
            6 if deeper => format!("lock(k); {} unlock(k);", statements(random, depth - 1)),
            7 if deeper => format!("if {x} == {c} {{ {} }}", statements(random, depth - 1)),
            8 if deeper => format!("while {x} == {c} {{ {} }}", statements(random, depth - 1)),
            9 => format!("{x} = choose(0..2);"),
            // Fails only because another thread has changed the number, or has put its name there.
            10..=13 => format!("loop {{ let a = {x}; if cas({x}, a, 1 - a) {{ break; }} }}"),
            14 | 15 => "loop { owner = me; if owner == me { break; } }".to_owned(),
            _ => format!("atomic {{ if {x} == {c} {{ {y} = {d}; }} }}"),
        };
        text.push_str(&piece);
        text.push(' ');
    }
    text
}

fn source(random: &mut Rng) -> String {
    let (first, second) = (statements(random, 2), statements(random, 2));
    format!(
        "spec {{ op first() {{ }} op second() {{ }} }}
         shared x: int; shared y: int; shared l: lock; shared k: lock; shared owner: tid?;
         op first() {{ {first} }}
         op second() {{ {second} }}"
    )
}

const THREADS: usize = 2;

/// What happens on a naive arc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Call,
    Step,
    Return,
    Wait,
}

#[derive(Clone, Copy)]
struct NaiveArc {
    /// The atoms that it shows: `first_inv`, `first_res`, `second_inv`, `second_res`.
    letter: u64,
    from: usize,
    to: usize,
    thread: usize,
    what: What,
}

/// Everything that can happen, as the interpreter says.
struct Naive {
    states: Vec<State>,
    arcs: Vec<NaiveArc>,
    /// For each state and thread, whether it can move.
    able: Vec<[bool; THREADS]>,
}

/// The atoms that a move from a state shows.
fn letter(state: &State, one: &Move) -> u64 {
    match one {
        Move::Invoke { operation, .. } => 1 << (2 * operation),
        Move::Step { .. } | Move::Crash | Move::CrashThread { .. } | Move::Recover => 0,
        Move::Respond { thread } => {
            state.pending(*thread).map_or(0, |operation| 2 << (2 * operation))
        }
    }
}

/// `None`: too many states.
fn explore(machine: &Machine) -> Option<Naive> {
    let start = machine.initial().unwrap();
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let mut naive = Naive { states: vec![start], arcs: Vec::new(), able: Vec::new() };
    let mut at = 0;
    while at < naive.states.len() {
        if naive.states.len() > 400 {
            return None;
        }
        let state = naive.states[at].clone();
        let mut able = [false; THREADS];
        for (thread, able) in able.iter_mut().enumerate() {
            let call =
                |operation| Move::Invoke { thread, operation, arguments: Vec::<Value>::new() };
            let moves = [
                (call(0), What::Call),
                (call(1), What::Call),
                (Move::Step { thread }, What::Step),
                (Move::Respond { thread }, What::Return),
            ];
            for (one, what) in moves {
                for successor in machine.successors(&state, &one) {
                    let next = successor.result.expect("these programs have no faults");
                    let new = naive.states.len();
                    let to = *numbers.entry(next.clone()).or_insert(new);
                    if to == new {
                        naive.states.push(next);
                    }
                    let letter = letter(&state, &one);
                    naive.arcs.push(NaiveArc { letter, from: at, to, thread, what });
                    *able = true;
                }
            }
            if !*able && state.pending(thread).is_some() {
                let what = What::Wait;
                naive.arcs.push(NaiveArc { letter: 0, from: at, to: at, thread, what });
            }
        }
        naive.able.push(able);
        at += 1;
    }
    Some(naive)
}

impl Naive {
    fn pending(&self, state: usize, thread: usize) -> bool {
        self.states[state].pending(thread).is_some()
    }

    /// For each state, the states from which it can be reached and that can be reached from it,
    /// along some arcs only.
    fn together(&self, arcs: &[&NaiveArc]) -> Vec<Vec<bool>> {
        let count = self.states.len();
        let mut next = vec![Vec::new(); count];
        for arc in arcs {
            next[arc.from].push(arc.to);
        }
        let reach = |from: usize| {
            let mut seen = vec![false; count];
            let mut stack = vec![from];
            while let Some(at) = stack.pop() {
                for &to in &next[at] {
                    if !seen[to] {
                        seen[to] = true;
                        stack.push(to);
                    }
                }
            }
            seen
        };
        let reached: Vec<Vec<bool>> = (0..count).map(reach).collect();
        let both = |a: usize, b: usize| reached[a][b] && reached[b][a];
        (0..count).map(|a| (0..count).map(|b| both(a, b)).collect()).collect()
    }

    /// Whether some cycle of these arcs has one of the wanted ones, and is fair if it must be.
    fn has_cycle(
        &self,
        arcs: &[&NaiveArc],
        wanted: &dyn Fn(&NaiveArc) -> bool,
        fair: bool,
    ) -> bool {
        let together = self.together(arcs);
        let closes = |arc: &&&NaiveArc| arc.from == arc.to || together[arc.to][arc.from];
        arcs.iter().filter(closes).filter(|arc| wanted(arc)).any(|arc| {
            let with = |state: usize| state == arc.from || together[arc.from][state];
            let treated_well = |thread: usize| {
                let moves = arcs.iter().any(|other| {
                    let inside = with(other.from) && with(other.to);
                    inside && other.thread == thread && other.what != What::Wait
                });
                let rests = (0..self.states.len()).any(|state| {
                    with(state) && !(self.pending(state, thread) && self.able[state][thread])
                });
                moves || rests
            };
            !fair || (0..THREADS).all(treated_well)
        })
    }

    fn violates(&self, property: Property) -> bool {
        let select = |keep: &dyn Fn(&NaiveArc) -> bool| -> Vec<&NaiveArc> {
            self.arcs.iter().filter(|arc| keep(arc)).collect()
        };
        let silent = select(&|arc| matches!(arc.what, What::Step | What::Wait));
        let hanging = |thread: usize| {
            select(&|arc| {
                let responds = arc.what == What::Return && arc.thread == thread;
                self.pending(arc.from, thread) && self.pending(arc.to, thread) && !responds
            })
        };
        let mut threads = 0..THREADS;
        match property {
            Property::NoDeadlock => (0..self.states.len()).any(|state| {
                self.able[state] == [false; THREADS]
                    && (0..THREADS).any(|thread| self.pending(state, thread))
            }),
            Property::ObstructionFree => threads.any(|thread| {
                let alone: Vec<_> =
                    hanging(thread).into_iter().filter(|arc| arc.thread == thread).collect();
                self.has_cycle(&alone, &|_| true, false)
            }),
            Property::LockFree => self.has_cycle(&silent, &|_| true, false),
            Property::LivelockFree => self.has_cycle(&silent, &|_| true, true),
            Property::WaitFree => threads
                .any(|thread| self.has_cycle(&hanging(thread), &|arc| arc.thread == thread, false)),
            Property::StarvationFree => {
                threads.any(|thread| self.has_cycle(&hanging(thread), &|_| true, true))
            }
        }
    }
}

/// Whether a cycle treats every thread fairly.
fn is_fair(naive: &Naive, cycle: &[NaiveArc]) -> bool {
    (0..THREADS).all(|thread| {
        cycle.iter().any(|arc| {
            let able = naive.pending(arc.from, thread) && naive.able[arc.from][thread];
            arc.thread == thread && arc.what != What::Wait || !able
        })
    })
}

/// Whether some lasso up to a length breaks a formula. A run that has ended goes on with waits,
/// which show nothing.
fn breaks(naive: &Naive, formula: &Formula, fair: bool, path: &mut Vec<NaiveArc>) -> bool {
    let at = path.last().map_or(0, |arc| arc.to);
    for start in (0..path.len()).filter(|&start| path[start].from == at) {
        let letters = |part: &[NaiveArc]| part.iter().map(|arc| arc.letter).collect();
        let (prefix, cycle) = path.split_at(start);
        let word = Word { prefix: letters(prefix), cycle: letters(cycle) };
        if !word.satisfies(formula) && (!fair || is_fair(naive, cycle)) {
            return true;
        }
    }
    if path.len() == 7 {
        return false;
    }
    let ended = naive.able[at] == [false; THREADS];
    for arc in naive.arcs.iter().filter(|arc| arc.from == at) {
        if ended || arc.what != What::Wait {
            path.push(*arc);
            let broken = breaks(naive, formula, fair, path);
            path.pop();
            if broken {
                return true;
            }
        }
    }
    false
}

/// The word of a schedule, by running it.
fn word(machine: &Machine, state: &mut State, schedule: &[ScheduledMove]) -> Vec<u64> {
    let mut letters = Vec::new();
    for made in schedule {
        letters.push(letter(state, &made.what));
        match machine.attempt(state, &made.what, &made.choices, None).outcome {
            interpreter::Outcome::Next(next) => *state = next,
            other => panic!("{other:?}"),
        }
    }
    letters
}

#[test]
fn random_formulas_about_random_programs() {
    let (seed, cases) = seed_and_cases(400);
    let mut counts = [[0u64; 2]; 2];
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32) + case);
        let source = source(&mut random);
        let config = Config { threads: Threads::Count(THREADS), ..Config::default() };
        let program = compile(&source, &config).unwrap().program;
        let machine = Machine::new(&program, Memory::Collected);
        let Some(naive) = explore(&machine) else { continue };
        let depth = random.usize(1..=3);
        let (formula, fair) = (formula(&mut random, depth, 4), random.bool());
        let names = ["first_inv", "first_res", "second_inv", "second_res"];
        let text = (0..4)
            .fold(formula.to_string(), |text, atom| text.replace(&format!("p{atom}"), names[atom]));
        let report = ltl(&program, unlimited(), &text, fair);
        match report.outcome {
            Outcome::Inconclusive(why) => panic!("case {case}: {why}"),
            Outcome::Holds(()) => {
                let broken = breaks(&naive, &formula, fair, &mut Vec::new());
                assert!(!broken, "case {case}: {text} (fair: {fair})\n{source}");
                counts[usize::from(fair)][0] += 1;
            }
            Outcome::Violated(lasso) => {
                let mut state = machine.initial().unwrap();
                let prefix = word(&machine, &mut state, &lasso.prefix);
                let mut cycle = word(&machine, &mut state, &lasso.cycle);
                // Locals that nothing reads again may differ after the first round, but not after
                // the second.
                let once = state.clone();
                assert_eq!(word(&machine, &mut state, &lasso.cycle), cycle);
                assert_eq!(state, once, "case {case}: the cycle does not close\n{source}");
                if cycle.is_empty() {
                    cycle.push(0);
                }
                let word = Word { prefix, cycle };
                assert!(!word.satisfies(&formula), "case {case}: {text}\n{source}\n{lasso}");
                counts[usize::from(fair)][1] += 1;
            }
        }
    }
    println!("[unfair, fair] × [holds, violated]: {counts:?}");
    assert!(counts.iter().flatten().all(|&count| count * 20 > cases));
}

#[test]
fn random_programs_have_the_progress_that_a_naive_engine_finds() {
    let (seed, cases) = seed_and_cases(400);
    let mut counts: HashMap<&str, [u64; 2]> = HashMap::new();
    let mut judged = 0;
    for case in 0..cases {
        let source = source(&mut Rng::with_seed(seed.wrapping_mul(1 << 32) + case));
        let config = Config { threads: Threads::Count(THREADS), ..Config::default() };
        let program = compile(&source, &config).unwrap_or_else(|why| panic!("{source}\n{why:?}"));
        let program = program.program;
        let Some(naive) = explore(&Machine::new(&program, Memory::Collected)) else { continue };
        judged += 1;
        let mut held = [false; 6];
        for property in Property::ALL {
            let report = progress(&program, unlimited(), property);
            let violated = match report.outcome {
                Outcome::Holds(()) => false,
                Outcome::Violated(_) => true,
                Outcome::Inconclusive(why) => panic!("case {case}: {property}: {why}\n{source}"),
            };
            assert_eq!(violated, naive.violates(property), "case {case}: {property}\n{source}");
            held[property as usize] = !violated;
            counts.entry(property.name()).or_default()[usize::from(violated)] += 1;
        }
        // The hierarchy: what implies what.
        use Property::{
            LivelockFree, LockFree, NoDeadlock, ObstructionFree, StarvationFree, WaitFree,
        };
        for (stronger, weaker) in [
            (WaitFree, LockFree),
            (LockFree, ObstructionFree),
            (WaitFree, StarvationFree),
            (LockFree, LivelockFree),
            (StarvationFree, LivelockFree),
            (LivelockFree, NoDeadlock),
        ] {
            assert!(!held[stronger as usize] || held[weaker as usize], "case {case}\n{source}");
        }
    }
    println!("{judged} programs judged; [hold, violated]: {counts:?}");
    assert!(judged * 2 > cases);
    assert!(counts.values().all(|[hold, violated]| hold * 20 > judged && violated * 20 > judged));
}
