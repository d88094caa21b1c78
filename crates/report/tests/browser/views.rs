//! Histories to look at.

use linchpin_report::history::{
    BandView, CrashView, HistoryView, KeyView, Moment, OperationView, OrderView, Unexplained,
    ViolationView,
};
use linchpin_verdict::Verdict;

pub fn moment(rank: u32) -> Moment {
    Moment { rank, line: Some(u64::from(rank) + 1), time: Some(i64::from(rank) * 1_500_000) }
}

/// A history that holds, without operations.
pub fn empty(functions: &[&str], processes: u32) -> HistoryView {
    HistoryView {
        title: "linchpin check history.jsonl".to_owned(),
        about: "a history of a test".to_owned(),
        verdict: Verdict::Holds,
        headline: "holds: the history is linearizable".to_owned(),
        sentences: Vec::new(),
        facts: vec![("object".to_owned(), "queue".to_owned())],
        assumptions: Vec::new(),
        notes: Vec::new(),
        left_out: Vec::new(),
        processes: (0..processes).map(|process| process.to_string()).collect(),
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        keys: Vec::new(),
        events: 0,
        operations: Vec::new(),
        orders: Vec::new(),
        violations: Vec::new(),
        crashes: Vec::new(),
        bands: Vec::new(),
    }
}

/// Rounds of a queue: in each, every process calls, then every process returns.
pub fn rounds(rounds: u32, processes: u32) -> HistoryView {
    let mut view = empty(&["enqueue", "dequeue"], processes);
    for round in 0..rounds {
        let start = round * 2 * processes;
        for process in 0..processes {
            let id = round * processes + process;
            let function = id % 2;
            let value = (id / 2).to_string();
            view.operations.push(OperationView {
                id,
                process,
                function,
                key: None,
                argument: if function == 0 { value.clone() } else { String::new() },
                answer: Some(if function == 0 { String::new() } else { value }),
                from: moment(start + process),
                to: Some(moment(start + processes + process)),
            });
        }
    }
    view.events = rounds * 2 * processes;
    let operations: Vec<u32> = view.operations.iter().map(|operation| operation.id).collect();
    let state = |id: &u32| {
        Some(if id.is_multiple_of(2) { format!("[{}]", id / 2) } else { "[]".to_owned() })
    };
    view.orders.push(OrderView {
        key: None,
        complete: true,
        states: operations.iter().map(state).collect(),
        operations,
        initial: Some("[]".to_owned()),
    });
    view
}

/// The same, violated: the core is the first operation and one near the end, far apart.
pub fn violated(count: u32, processes: u32) -> HistoryView {
    let mut view = rounds(count, processes);
    let last = (count - 1) * processes + 1;
    view.verdict = Verdict::Violated;
    view.headline = "violated: the history is not linearizable".to_owned();
    view.sentences = vec!["dequeue() answers what was not there.".to_owned()];
    view.orders[0].complete = false;
    view.orders[0].operations.truncate(last as usize);
    view.orders[0].states.truncate(last as usize);
    let at = view.operations[last as usize].to.unwrap_or_default();
    view.violations.push(ViolationView {
        key: None,
        explanation: view.sentences[0].clone(),
        core: vec![0, last],
        event: Some(Unexplained { at, operation: Some(last) }),
        possible: vec!["[7]".to_owned()],
    });
    view.crashes.push(CrashView { at: moment(3), process: Some(1) });
    view.bands.push(BandView {
        text: "partition".to_owned(),
        from: moment(2),
        to: Some(moment(9)),
        instant: false,
    });
    view
}

/// As it is with a recorder that knows neither lines nor times, stopped before there was a verdict.
pub fn bare() -> HistoryView {
    let mut view = rounds(4, 3);
    for operation in &mut view.operations {
        operation.from = Moment { rank: operation.from.rank, ..Moment::default() };
        operation.to = operation.to.map(|to| Moment { rank: to.rank, ..Moment::default() });
    }
    if let Some(last) = view.operations.last_mut() {
        (last.to, last.answer) = (None, None);
    }
    view.orders.clear();
    view.verdict = Verdict::Inconclusive;
    view.headline = "inconclusive: the time is over".to_owned();
    view
}

/// The very first answer is wrong: no operation comes before it in any order.
pub fn wrong_at_once() -> HistoryView {
    let mut view = violated(1, 2);
    view.orders[0].operations.clear();
    view.orders[0].states.clear();
    view.violations[0].core = vec![1];
    view.violations[0].possible.clear();
    view
}

/// Two keys, the second of which is violated.
pub fn keyed() -> HistoryView {
    let mut view = violated(6, 4);
    let key = |name: &str, verdict| KeyView {
        name: name.to_owned(),
        verdict: Some(verdict),
        operations: 12,
        line: Some(1),
    };
    view.keys = vec![key("x", Verdict::Holds), key("y", Verdict::Violated)];
    for operation in &mut view.operations {
        operation.key = Some(u32::from(operation.process >= 2));
    }
    view.orders.clear();
    view.violations[0].key = Some(1);
    view.violations[0].core = vec![2, 7];
    view.violations[0].event = None;
    view
}

/// Every text is this one.
pub fn saying(text: &str) -> HistoryView {
    let mut view = keyed();
    let text = text.to_owned();
    view.about.clone_from(&text);
    view.headline.clone_from(&text);
    view.sentences = vec![text.clone()];
    view.notes = vec![text.clone()];
    view.assumptions = vec![text.clone()];
    view.left_out = vec![text.clone()];
    view.facts = vec![(text.clone(), text.clone())];
    view.processes.fill(text.clone());
    view.functions.fill(text.clone());
    for key in &mut view.keys {
        key.name.clone_from(&text);
    }
    for operation in &mut view.operations {
        operation.argument.clone_from(&text);
        operation.answer = Some(text.clone());
    }
    view.violations[0].explanation = format!("{text}!");
    view.violations[0].possible = vec![text.clone()];
    view.bands[0].text = text;
    view
}
