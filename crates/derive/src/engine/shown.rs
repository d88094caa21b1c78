//! A proof as data to look at.

use linchpin_engine::{FactsShown, PairRelation, PairShown, ProofShown};
use linchpin_reduce::{Dropped, FactLine, Pair, Proof};

/// What the proof rests on.
pub fn shown(proof: &Proof) -> ProofShown {
    let tables = proof.tables();
    let mut sub_operations: Vec<String> = Vec::new();
    for pair in &tables.pairs {
        if !sub_operations.contains(&pair.first) {
            sub_operations.push(pair.first.clone());
        }
    }
    let place = |name: &String| sub_operations.iter().position(|known| known == name);
    let pair = |pair: &Pair| {
        Some(PairShown {
            first: place(&pair.first)?,
            second: place(&pair.second)?,
            relation: relation(pair),
            condition: pair.condition.clone(),
        })
    };
    let interactions = tables
        .aliases
        .iter()
        .map(|cases| (format!("{}₁ – {}₂", cases.first, cases.second), cases.cases.clone()));
    ProofShown {
        facts: facts(proof),
        pairs: tables.pairs.iter().filter_map(pair).collect(),
        interactions: interactions.collect(),
        sub_operations,
    }
}

fn relation(pair: &Pair) -> PairRelation {
    match pair {
        Pair { orderable: false, .. } => PairRelation::NotOrderable,
        Pair { boundary: true, .. } => PairRelation::Boundary,
        Pair { reversible: true, .. } => PairRelation::Reversible,
        _ => PairRelation::Ordered,
    }
}

fn facts(proof: &Proof) -> Vec<FactsShown> {
    let always = at("always".to_owned(), &proof.invariants, &[]);
    let after = proof.facts.iter().map(|facts| {
        let place = format!("after {} ({})", facts.prefix, facts.operation);
        at(place, &facts.stable, &facts.live)
    });
    let is_empty = |facts: &FactsShown| {
        facts.hold.is_empty() && facts.if_completed.is_empty() && facts.dropped.is_empty()
    };
    std::iter::once(always).chain(after).filter(|facts| !is_empty(facts)).collect()
}

/// The facts at one place. Of candidates that do not hold, those that a person wrote, or that a
/// step breaks.
fn at(place: String, stable: &[FactLine], live: &[String]) -> FactsShown {
    let dropped = stable.iter().filter_map(|fact| {
        let reason = fact.dropped.as_ref()?;
        let is_told = fact.written || matches!(reason, Dropped::BrokenBy(_));
        is_told.then(|| (fact.text.clone(), reason.to_string()))
    });
    let holds = |fact: &&FactLine| fact.dropped.is_none();
    FactsShown {
        at: place,
        hold: stable.iter().filter(holds).map(|fact| fact.text.clone()).collect(),
        if_completed: live.to_vec(),
        dropped: dropped.collect(),
    }
}
