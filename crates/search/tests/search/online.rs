//! The online form: it must say the same as the search, at the same event.

use crate::generate::{Bag, Sort, cases, history, seed};
use crate::judge::is_violated;
use linchpin_history_data::{History, Judgement, NEVER, OpId, Rank};
use linchpin_search::{Frontier, SearchOptions, Ticket, search};
use linchpin_spec::{BUILTINS, Call, Queue, Spec, Value, builtin};
use linchpin_verdict::Limits;
use std::collections::BTreeMap;

/// Tells a frontier of the events of a history, in order; the first one that nothing explains.
fn first_stuck<S: Spec + ?Sized>(
    mut frontier: Frontier<'_, S>,
    history: &History,
    random: &mut fastrand::Rng,
) -> Option<Rank>
where
    S::State: 'static,
{
    // Calls come first at equal ranks.
    let mut events: BTreeMap<(Rank, bool, OpId), OpId> = BTreeMap::new();
    for (id, operation) in history.operations.iter().enumerate() {
        events.insert((operation.invoked, false, OpId::new(id)), OpId::new(id));
        if operation.returned != NEVER {
            events.insert((operation.returned, true, OpId::new(id)), OpId::new(id));
        }
    }
    let mut tickets: BTreeMap<OpId, Ticket> = BTreeMap::new();
    let mut open = Vec::new();
    for ((rank, returns, _), id) in events {
        let operation = &history[id];
        if !returns {
            tickets.insert(id, frontier.invoke(history.call(id)));
            if operation.returned == NEVER {
                open.push(id);
            }
        } else if !operation.completed {
            frontier.expire(tickets[&id]);
        } else if frontier.response(tickets[&id], &history.response(id).unwrap()).is_err() {
            return Some(rank);
        }
        // That an operation will not return is learnt at some time.
        if !open.is_empty() && random.bool() {
            frontier.crash(tickets[&open.swap_remove(random.usize(..open.len()))]);
        }
        assert!(frontier.configurations() > 0 && !frontier.possible().is_empty());
    }
    None
}

fn compare<S: Spec + ?Sized + Sync>(name: &str, spec: &S, observers: &[usize], sort: Sort)
where
    S::State: 'static,
{
    let mut random = fastrand::Rng::with_seed(seed(name));
    let (rounds, mut violated) = (cases(300), 0);
    for _ in 0..rounds {
        let sort = Sort { operations: random.usize(1..=sort.operations), ..sort };
        let history = history(&mut random, spec, sort);
        let observers = if random.bool() { observers } else { &[] };
        let frontier = Frontier::new(spec).with_observers(observers.iter().copied());
        let stuck = first_stuck(frontier, &history, &mut random);
        let all: Vec<OpId> = history.ids().collect();
        assert_eq!(
            stuck.is_some(),
            is_violated(spec, &history, &all, NEVER),
            "{name}: {history:#?}"
        );
        let options = SearchOptions::default();
        match search(spec, &history, &Limits::default(), &options).judgement {
            Judgement::Violated(violation) => {
                assert_eq!(stuck, violation.at, "{name}: {history:#?}")
            }
            judgement => assert!(stuck.is_none(), "{name}: {judgement:?} of {history:#?}"),
        }
        violated += usize::from(stuck.is_some());
    }
    println!("{name}: {violated} of {rounds} are violated");
    assert!((rounds / 10..=rounds * 9 / 10).contains(&violated), "{name}: {violated} of {rounds}");
}

#[test]
fn says_the_same_at_the_same_event() {
    let sort = Sort {
        processes: 4,
        operations: 7,
        crashes: 0,
        deadlines: false,
        corrupted: 95,
        values: 2,
    };
    for crashes in [0, 20] {
        let sort = Sort { crashes, deadlines: crashes > 0, ..sort };
        for info in BUILTINS {
            // Asked without an answer, it does not know all of them.
            if ["mwcas", "etcd"].contains(&info.name) {
                continue;
            }
            let spec = builtin(info.name, None).unwrap();
            let looks = ["read", "peek", "contains", "get", "scan", "query", "check"];
            let observers: Vec<usize> = (0..spec.operations().len())
                .filter(|at| looks.contains(&spec.operations()[*at].name.as_str()))
                .collect();
            compare(info.name, &*spec, &observers, sort);
        }
        compare("bag", &Bag::default(), &[], sort);
    }
}

#[test]
fn keeps_no_more_than_what_is_in_progress_needs() {
    let queue = Queue::default();
    let mut frontier = Frontier::new(&queue);
    let mut open = std::collections::VecDeque::new();
    for at in 0..30_000 {
        let enqueue = Call { operation: Queue::ENQUEUE, argument: Value::Int(at) };
        open.push_back((frontier.invoke(enqueue), Value::Null));
        let dequeue = Call { operation: Queue::DEQUEUE, argument: Value::Null };
        open.push_back((frontier.invoke(dequeue), Value::Int(at)));
        while open.len() > 2 {
            let (ticket, response) = open.pop_front().unwrap();
            frontier.response(ticket, &response).unwrap();
        }
        assert!(frontier.configurations() < 100);
    }
}
