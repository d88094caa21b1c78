//! Small systematic changes of a `.lin` model, made on its text where the syntax tree says.
//!
//! Each mutant differs from the model in one place and is a model itself: it parses and its types
//! are right. `maker.rs` goes through statements, `expressions.rs` through expressions, `split.rs`
//! takes atomic steps apart. `campaign.rs` verifies what they make.

mod expressions;
mod maker;
mod split;

use linchpin_lang::syntax::parse;
use linchpin_lang::{Config, compile};
use maker::Maker;
use std::collections::HashSet;
use std::fmt;

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// A `cas` becomes a test and a store.
    SplitCas,
    /// A test and a store become a `cas`: a repair.
    JoinCas,
    /// A `swap` or `faa` becomes a read and a write.
    SplitUpdate,
    /// The accesses of `atomic { }` become steps of their own.
    SplitAtomic,
    /// A test is left out: it always passes, or never.
    DroppedTest,
    /// One side of `&&` or `||` is left out.
    IgnoredPart,
    /// A condition is negated.
    NegatedCondition,
    /// Two statements change places.
    SwappedSteps,
    /// A lock is given back one statement earlier.
    EarlyUnlock,
    /// A lock is taken one statement later.
    LateLock,
    /// A statement is left out.
    DroppedStep,
    /// A claimed linearization point is left out.
    DroppedPoint,
    /// A claimed linearization point is one statement later.
    LatePoint,
    /// A claimed linearization point is one statement earlier.
    EarlyPoint,
    /// `true` is `false`, or the other way round: a mark that is not set, or not looked at.
    FlippedMark,
    /// A number is one larger, or `<` is `<=`, or the other way round.
    OffByOne,
}

impl Change {
    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Change::SplitCas => "split-cas",
            Change::JoinCas => "join-cas",
            Change::SplitUpdate => "split-update",
            Change::SplitAtomic => "split-atomic",
            Change::DroppedTest => "dropped-test",
            Change::IgnoredPart => "ignored-part",
            Change::NegatedCondition => "negated-condition",
            Change::SwappedSteps => "swapped-steps",
            Change::EarlyUnlock => "early-unlock",
            Change::LateLock => "late-lock",
            Change::DroppedStep => "dropped-step",
            Change::DroppedPoint => "dropped-point",
            Change::LatePoint => "late-point",
            Change::EarlyPoint => "early-point",
            Change::FlippedMark => "flipped-mark",
            Change::OffByOne => "off-by-one",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::SplitCas => "cas split into a test and a store",
            Change::JoinCas => "test and store joined to a cas",
            Change::SplitUpdate => "update split into a read and a write",
            Change::SplitAtomic => "atomic block taken apart",
            Change::DroppedTest => "test left out",
            Change::IgnoredPart => "part of a test ignored",
            Change::NegatedCondition => "condition negated",
            Change::SwappedSteps => "steps swapped",
            Change::EarlyUnlock => "lock given back earlier",
            Change::LateLock => "lock taken later",
            Change::DroppedStep => "step left out",
            Change::DroppedPoint => "point left out",
            Change::LatePoint => "point one statement later",
            Change::EarlyPoint => "point one statement earlier",
            Change::FlippedMark => "true and false exchanged",
            Change::OffByOne => "off by one",
        })
    }
}

/// A changed model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What was changed.
    pub change: Change,
    /// The operation or function.
    pub routine: String,
    /// The first line that is changed, in the original.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// A line that a change takes out or puts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Only in the original.
    Out(String),
    /// Only in the mutant.
    In(String),
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffLine::Out(line) => write!(f, "- {}", line.trim()),
            DiffLine::In(line) => write!(f, "+ {}", line.trim()),
        }
    }
}

impl Mutant {
    /// The lines that differ from the original.
    pub fn diff(&self, original: &str) -> Vec<DiffLine> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (original.lines().collect(), self.text.lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - same;
        let back = old.iter().rev().zip(new.iter().rev());
        let end = back.take(rest).take_while(|(old, new)| old == new).count();
        let out = old[same..old.len() - end].iter().map(|line| DiffLine::Out((*line).to_owned()));
        let into = new[same..new.len() - end].iter().map(|line| DiffLine::In((*line).to_owned()));
        out.chain(into).collect()
    }
}

/// All mutants of a model that are models themselves, in the order of the text.
pub fn mutants(source: &str, config: &Config) -> Vec<Mutant> {
    let (tree, mistakes) = parse(source);
    if !mistakes.is_empty() {
        return Vec::new();
    }
    let mut made = Maker::all(source, &tree);
    // Two changes may come to the same text: `!a` ignored in `a && !a`.
    let mut seen = HashSet::from([source.to_owned()]);
    made.retain(|mutant| seen.insert(mutant.text.clone()) && compile(&mutant.text, config).is_ok());
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = include_str!("../../../models/treiber_stack.lin");
    const SPLIT: &str = include_str!("../../../models/broken/treiber_stack_split_pop_cas.lin");

    #[test]
    fn every_mutant_is_a_model_and_another_one() {
        let made = mutants(STACK, &Config::default());
        assert!(made.len() > 10, "{}", made.len());
        for mutant in &made {
            assert!(compile(&mutant.text, &Config::default()).is_ok());
            assert!(!mutant.diff(STACK).is_empty());
        }
    }

    #[test]
    fn a_cas_is_split_and_the_split_is_joined() {
        let made = mutants(STACK, &Config::default());
        let split: Vec<String> = made
            .iter()
            .filter(|mutant| mutant.change == Change::SplitCas)
            .flat_map(|mutant| mutant.diff(STACK))
            .map(|line| line.to_string())
            .collect();
        let put = "+ #[lin] if (top == t) { top = s; return t.val; }";
        assert!(split.iter().any(|line| line.starts_with(put)), "{split:?}");
        let joined = mutants(SPLIT, &Config::default());
        assert!(joined.iter().any(|mutant| mutant.change == Change::JoinCas));
    }
}
