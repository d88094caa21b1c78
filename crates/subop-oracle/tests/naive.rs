//! The brute force against an even plainer one: no states are merged, every schedule is walked to its end, and every order of every
//! choice of pending instances is executed from the start for every prefix.

use linchpin_subop::execute::{Instance, Machine, Progress, State};
use linchpin_subop::{Model, parse};
use linchpin_subop_oracle::{Case, Comparison, Verdict, generate, judge, mixes};

/// Whether every schedule from `state` is linearizable; `log` is who took a step, in order. Gives up when `budget` is used up.
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
                    matches!(verdict, Verdict::Linearizable),
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
