//! Why nothing explains a partial history, in a sentence.

use linchpin_history_data::{Argument, OpId, PartialHistory, Precedence, Sentences, ValueId};
use linchpin_spec::Signature;

/// How many operations, and how many pairs of them, a sentence names.
const NAMED: usize = 6;

/// That nothing explains the core, and the operations of it that the sentence names.
pub(super) fn violated(
    history: &PartialHistory,
    signatures: &[Signature],
    core: &[OpId],
) -> (String, Vec<OpId>) {
    let say = Sentences::new(history.operations(), signatures);
    let named = &core[..core.len().min(NAMED)];
    let subject = match core {
        [] => return ("no order explains the history".to_owned(), Vec::new()),
        [only] => format!("{} cannot be explained", say.operation(*only)),
        few if few.len() == named.len() => {
            format!("{} cannot be explained together", say.operations(named))
        }
        all => {
            let names: Vec<String> = named.iter().map(|id| say.operation(*id)).collect();
            let more = all.len() - named.len();
            format!("{} and {more} more cannot be explained together", names.join(", "))
        }
    };
    let precedence = precedence(history, &with_sources(history, core), &say);
    let sentence = format!(
        "{subject}: no order that keeps to what precedes what gives what was answered{precedence}"
    );
    (sentence, named.to_vec())
}

/// The core, with the operations that brought the values that it answered: they need not be in it,
/// but a reader looks for them.
fn with_sources(history: &PartialHistory, core: &[OpId]) -> Vec<OpId> {
    let operations = history.operations();
    let mentioned = |argument: Argument| -> Vec<ValueId> {
        match argument {
            Argument::None => Vec::new(),
            Argument::One(value) => vec![value],
            Argument::Two(one, two) => vec![one, two],
            Argument::Words { .. } => operations.words(argument).concat(),
        }
    };
    let answered: Vec<ValueId> =
        core.iter().flat_map(|id| mentioned(operations[*id].response)).collect();
    let brings = |id: &OpId| {
        mentioned(operations[*id].argument).iter().any(|value| answered.contains(value))
    };
    operations.ids().filter(|id| core.contains(id) || brings(id)).collect()
}

/// What precedes what among these, as far as the rest does not follow from it.
fn precedence(history: &PartialHistory, among: &[OpId], say: &Sentences<'_>) -> String {
    let order = history.order();
    let before = among.iter().map(|second| {
        let is_first = |(_, first): &(usize, &OpId)| order.precedes(**first, *second);
        among.iter().enumerate().filter(is_first).map(|(at, _)| 1_u64 << at).sum()
    });
    // INVARIANT: a part of an order is one.
    let Ok(within) = Precedence::new(&before.collect::<Vec<u64>>()) else { return String::new() };
    let name = |id: OpId| among.get(id.index()).map_or_else(String::new, |id| say.operation(*id));
    let steps: Vec<(OpId, OpId)> = within.steps().collect();
    let mut said: Vec<String> = steps
        .iter()
        .take(NAMED)
        .map(|(first, second)| format!("{} precedes {}", name(*first), name(*second)))
        .collect();
    match steps.len() {
        0 => return String::new(),
        count if count > NAMED => said.push(format!("and so on, {} more", count - NAMED)),
        _ => {}
    }
    format!(" ({})", said.join("; "))
}
