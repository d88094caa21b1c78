//! One verdict about a history of many objects, from those about each.

use super::keys::Settled;
use super::{Checked, KeyChecked, KeyVerdict, NO_METHOD};
use linchpin_history_data::{History, Judgement, NEVER, OpId, Violation, Witness};
use linchpin_monitor::{StopPoll, interleave};
use linchpin_verdict::{Inconclusive, StopReason};

/// So many notes of one object are shown at most.
const NOTES: usize = 3;

/// So many objects that stayed open are named at most.
const NAMED: usize = 5;

/// Puts the answers together, which are in the order of the first calls.
pub(super) fn put_together(history: &History, settled: Vec<Settled>, poll: &StopPoll) -> Checked {
    let mut notes: Vec<String> = Vec::new();
    let (mut order, mut ends, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for key in settled {
        let mut new = key.notes;
        new.retain(|note| !notes.contains(note));
        new.truncate(NOTES);
        notes.extend(new);
        order.extend(key.order);
        ends.push(order.len());
        keys.push(key.checked);
    }
    let checked = if let Some((key, violation)) = easiest(&keys) {
        let (method, judgement) = (key.method.clone(), Judgement::Violated(violation.clone()));
        let possible = match &key.verdict {
            KeyVerdict::Violated { possible, .. } => possible.clone(),
            _ => Vec::new(),
        };
        let checked = Checked::new(judgement, method, notes);
        Checked { possible, key: Some(key.key), ..checked }
    } else if let Some(reason) = stayed_open(history, &keys) {
        Checked::new(Judgement::Inconclusive(reason), methods(&keys), notes)
    } else {
        let method = match keys.len() {
            0 | 1 => methods(&keys),
            count => format!("{}, {count} keys apart", methods(&keys)),
        };
        match explained(history, order, &ends, poll) {
            Ok(witness) => Checked::new(Judgement::Holds(witness), method, notes),
            Err(stopped) => Checked::new(stopped, method, notes),
        }
    };
    Checked { keys, ..checked }
}

fn explained(
    history: &History,
    order: Vec<OpId>,
    ends: &[usize],
    poll: &StopPoll,
) -> Result<Witness, StopReason> {
    let order = interleave(order, ends, history.operations.len(), poll)?;
    Ok(Witness { order })
}

/// The violated object that is easiest to explain: with the smallest core, and of those the
/// earliest.
fn easiest(keys: &[KeyChecked]) -> Option<(&KeyChecked, &Violation)> {
    let violated = keys.iter().filter_map(|key| match &key.verdict {
        KeyVerdict::Violated { violation, .. } => Some((key, violation)),
        _ => None,
    });
    violated.min_by_key(|(_, violation)| {
        (violation.core.len(), violation.at.unwrap_or(NEVER), violation.core.first().copied())
    })
}

/// Why it is not known whether the history holds, if some object stayed open.
fn stayed_open(history: &History, keys: &[KeyChecked]) -> Option<Inconclusive> {
    let open: Vec<(&KeyChecked, &Inconclusive)> = keys
        .iter()
        .filter_map(|key| match &key.verdict {
            KeyVerdict::Open(reason) => Some((key, reason)),
            _ => None,
        })
        .collect();
    let (_, first) = open.first()?;
    let mut names: Vec<String> =
        open.iter().take(NAMED).map(|(key, _)| history.values.get(key.key).to_string()).collect();
    if open.len() > NAMED {
        names.push("…".to_owned());
    }
    let names = names.join(", ");
    let so_far = match keys.len() {
        1 => format!("the key {names} stayed open"),
        all if all == open.len() => format!("all {all} keys stayed open: {names}"),
        all => format!(
            "{} of {all} keys stayed open: {names}; the others can be explained",
            open.len()
        ),
    };
    Some(match first.stopped_by() {
        Some(by) => Inconclusive::Stopped { by, so_far: Some(so_far) },
        None => Inconclusive::Undecided(format!("{first}; {so_far}")),
    })
}

/// The methods that were used, each once.
fn methods(keys: &[KeyChecked]) -> String {
    let mut methods: Vec<&str> = Vec::new();
    for key in keys {
        if !methods.contains(&key.method.as_str()) {
            methods.push(&key.method);
        }
    }
    if methods.is_empty() { NO_METHOD.to_owned() } else { methods.join(" and ") }
}
