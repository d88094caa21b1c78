//! The brute force against an even plainer one: no states are merged, every schedule is walked to
//! its end, and every order of every choice of pending instances is executed from the start for
//! every prefix.

use linchpin_subop::execute::{Instance, Machine, Progress, State};
use linchpin_subop::{Model, parse};
use linchpin_subop_oracle::{Case, Comparison, Judged, generate, judge, mixes};

/// Whether every schedule from `state` is linearizable; `log` is who took a step, in order. Gives
/// up when `budget` is used up.
fn walk(
    machine: &Machine<'_>,
    start: &State,
    state: &State,
    log: &mut Vec<usize>,
    budget: &mut usize,
) -> Option<bool> {
    *budget = budget.checked_sub(1)?;
    if !explained(machine, start, state, log) {
        return Some(false);
    }
    for me in 0..state.instances.len() {
        for step in machine.steps(state, me) {
            log.push(me);
            let holds = walk(machine, start, &step.state, log, budget);
            log.pop();
            if holds != Some(true) {
                return holds;
            }
        }
    }
    Some(true)
}

fn explained(machine: &Machine<'_>, start: &State, state: &State, log: &[usize]) -> bool {
    let count = state.instances.len();
    let progress = |me: usize| state.instances[me].progress;
    let first = |me: usize| log.iter().position(|who| *who == me);
    let last = |me: usize| log.iter().rposition(|who| *who == me);
    let precedes = |one: usize, other: usize| {
        progress(one) == Progress::Complete && last(one) < first(other) && first(other).is_some()
    };
    orders(count).into_iter().any(|order| {
        let fits = (0..count).all(|me| match progress(me) {
            Progress::Complete => order.contains(&me),
            Progress::Waiting => !order.contains(&me),
            Progress::After(_) => true,
        });
        let kept = order.iter().enumerate().all(|(at, &later)| {
            let before = &order[..at];
            (0..count).all(|me| !precedes(me, later) || before.contains(&me))
        });
        fits && kept && sequential(machine, start.clone(), &order, &state.instances)
    })
}

/// Every order of every subset.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..count {
        let extend = |order: &Vec<usize>| {
            let missing = (0..count).filter(|me| !order.contains(me));
            missing.map(|me| [&order[..], &[me]].concat()).collect::<Vec<_>>()
        };
        longest = longest.iter().flat_map(extend).collect();
        all.extend(longest.clone());
    }
    all
}

fn sequential(machine: &Machine<'_>, state: State, order: &[usize], seen: &[Instance]) -> bool {
    let Some((&me, rest)) = order.split_first() else { return true };
    machine.steps(&state, me).into_iter().any(|step| {
        let now = &step.state.instances[me];
        if now.progress != Progress::Complete {
            return sequential(machine, step.state, order, seen);
        }
        let known = seen[me].progress == Progress::Complete;
        (!known || now.observation() == seen[me].observation())
            && sequential(machine, step.state, rest, seen)
    })
}

fn naive(model: &Model, instances: &[Instance]) -> Option<bool> {
    let passed = instances.iter().flat_map(|instance| instance.locals.iter().flatten());
    let machine = Machine::new(model).with_integers(passed.filter_map(|value| value.as_int()));
    let start = machine.start(instances.to_vec());
    walk(&machine, &start, &start, &mut Vec::new(), &mut 3_000)
}

#[test]
fn the_brute_force_agrees_with_a_plainer_one() {
    let cases: u64 =
        std::env::var("LINCHPIN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut holds, mut violated) = (0, 0);
    for seed in 0..cases {
        let source = generate(seed.wrapping_add(1 << 32));
        let model = parse(&source).expect("the generator writes programs that parse");
        for count in [2, 3] {
            for instances in mixes(&model, count, &[1]).into_iter().take(12) {
                let Some(expected) = naive(&model, &instances) else { continue };
                let case = Case { prologue: Vec::new(), concurrent: instances };
                let verdict = judge(&model, &case, Comparison::Observations, 100_000);
                assert_eq!(
                    matches!(verdict, Judged::Linearizable),
                    expected,
                    "seed {seed}: {verdict:?}\n{source}"
                );
                *(if expected { &mut holds } else { &mut violated }) += 1;
            }
        }
    }
    println!("{holds} hold, {violated} are violated");
    assert!(holds > cases && violated > cases / 4, "{holds} hold, {violated} are violated");
}

/// A guess that nothing pins down may be any integer, also one that only an interleaving brings
/// about; and which of its own new objects an operation returns no client can tell.
#[test]
fn what_clients_cannot_tell_is_no_violation() {
    let models = [
        "int x;
        A() 1 x = 30; 1 x = x + 20; 1 x = 30; return;
        R() int i; either { 1 < x == i; > } or { 1 READ x; } 1 < x == 30; > return i;",
        "struct n { int v }; int x;
        A() n X;
            either { 1 < x == 1; > X = malloc n; } or { 1 < x == 0; > }
            1 < x == 0; > X = malloc n; return X;
        T() 1 < x == 0; > x = 1; 1 < x == 1; > x = 0; return;",
    ];
    for source in models {
        let model = linchpin_subop::parse(source).expect("it parses");
        let case = |operations: [usize; 2]| linchpin_subop_oracle::Case {
            prologue: Vec::new(),
            concurrent: operations
                .map(|at| {
                    linchpin_subop::execute::Instance::new(
                        &model,
                        linchpin_subop::model::OperationId(at),
                        &[],
                    )
                })
                .to_vec(),
        };
        let verdict = linchpin_subop_oracle::judge(
            &model,
            &case([0, 1]),
            linchpin_subop_oracle::Comparison::Observations,
            20_000,
        );
        assert_eq!(verdict, linchpin_subop_oracle::Judged::Linearizable, "{source}");
    }
}
