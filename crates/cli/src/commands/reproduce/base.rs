//! Section 5 of "A Constructive Approach for Proving Data Structures' Linearizability" (Lev-Ari,
//! Chockler, Keidar, 2015): its claims about the lazy list, checked now.
//!
//! The paper has no figures to compare with: each of its claims is a row, with what is known of it.

use super::{Measured, Missing};
use crate::args::ReproduceArgs;
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use linchpin_engine::{
    Language, Request, Roadmap, RoadmapRequest, Rule, Status, StepCondition, Witness,
};
use linchpin_lang::{Config, Threads};
use linchpin_report::{Comparison, ComparisonRow, Reproduction, case_count, status_words, words};
use linchpin_verdict::{Bound, Calls, Limits, Values, counted};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// What the table is called.
pub const NAME: &str =
    "A Constructive Approach for Proving Data Structures' Linearizability, Section 5";

/// The lazy list, with conditions that hold.
const MODEL: &str = include_str!("../../../models/lazy_set.lin");

/// The same with the conditions of Algorithm 1 as printed.
const PRINTED: &str = include_str!("../../../models/guide/lazy_set_as_printed.lin");

/// Keys that clients pass.
const KEYS: i64 = 3;

/// What a claim of the paper is here. Lines are those of Algorithm 1, which the comments of the
/// models give.
#[derive(Clone, Copy)]
enum Ours {
    /// Base conditions as printed, of these operations and lines.
    Printed(&'static [(&'static str, u32)]),
    /// Base conditions as corrected.
    Corrected(&'static [(&'static str, u32)]),
    /// A rule, for these operations.
    Holds(&'static [Rule], &'static [&'static str]),
    /// The update step at this line preserves the base points of an operation.
    Preserves(&'static str, u32, &'static str),
}

/// A claim of the paper: its section, its name there, what it says in our words, what it is here,
/// and whether it is expected to hold.
struct Row {
    section: &'static str,
    place: &'static str,
    says: &'static str,
    ours: Ours,
    holds: bool,
}

const fn row(
    section: &'static str,
    place: &'static str,
    says: &'static str,
    ours: Ours,
    holds: bool,
) -> Row {
    Row { section, place, says, ours, holds }
}

const UPDATES: &[&str] = &["add", "remove"];

const ROWS: [Row; 13] = [
    row(
        "5.1",
        "Observation 2",
        "where e belongs between n1 and n2, both unmarked and linked, add and remove get there",
        Ours::Printed(&[("add", 15), ("remove", 45)]),
        true,
    ),
    row(
        "5.1",
        "add, remove: e absent",
        "... and n2.val != e: add writes and answers true, remove answers false",
        Ours::Printed(&[("add", 18), ("add", 21), ("remove", 56)]),
        true,
    ),
    row(
        "5.1",
        "add, remove: e present",
        "... and n2.val = e: add answers false, remove writes twice and answers true",
        Ours::Printed(&[("add", 26), ("remove", 47), ("remove", 48), ("remove", 51)]),
        true,
    ),
    row(
        "5.1",
        "contains: false",
        "c is the first reachable node at or above e, and marked or not e: answers false",
        Ours::Corrected(&[("contains", 8)]),
        true,
    ),
    row(
        "5.1",
        "contains: true",
        "c is the first reachable node at or above e, and it is e: answers true",
        Ours::Printed(&[("contains", 11)]),
        false,
    ),
    row(
        "5.1",
        "contains: true, mended",
        "(not in the paper) ... and c is unmarked: answers true",
        Ours::Corrected(&[("contains", 11)]),
        true,
    ),
    row(
        "Alg. 1",
        "line 7, e < n.val",
        "no reachable n with e < n.val < c.val, and c marked or not e: answers false",
        Ours::Printed(&[("contains", 8)]),
        false,
    ),
    row(
        "5.2",
        "Claim 1, base points",
        "add and remove begin their critical sequence in a base point of all that they do",
        Ours::Holds(&[Rule::CriticalBasePoint, Rule::LastRead], UPDATES),
        true,
    ),
    row(
        "5.2",
        "commuting",
        "steps of critical sequences that interleave commute",
        Ours::Holds(&[Rule::Commute], UPDATES),
        true,
    ),
    row(
        "5.2",
        "preserving",
        "... and preserve each other's base points",
        Ours::Holds(&[Rule::Preserve], UPDATES),
        true,
    ),
    row(
        "5.3",
        "single step",
        "add and remove have at most one step that contains notices",
        Ours::Holds(&[Rule::OneStep], UPDATES),
        true,
    ),
    row(
        "5.3",
        "Figure 2",
        "unlinking a marked node preserves the base points of contains",
        Ours::Preserves("remove", 48, "contains"),
        true,
    ),
    row(
        "5.3",
        "concurrent base points",
        "while contains is pending, some state is a base point of its answer",
        Ours::Holds(&[Rule::ReadBasePoint], &["contains"]),
        true,
    ),
];

const NOTES: [&str; 1] = [
    "Claims in our words; lines are those of Algorithm 1. The first write of add makes a node that is not reachable: \
     here it is no update of the shared state. The base point that Section 5.3 gives, a state in which c is unmarked, \
     does not serve an answer false at a marked c; the state after the marking step does. > is where three times \
     --patience ended.",
];

/// What was found with so many threads.
struct Found {
    model: Roadmap,
    printed: Roadmap,
    seconds: f64,
}

/// The table; as expected if every claim is.
pub fn table(args: &ReproduceArgs, stop: &Stop) -> Result<Measured> {
    let progress = Progress::new(&args.common);
    let explore = |threads: usize, [calls, printed]: [u32; 2], deadline: Option<Duration>| {
        progress.show(|| format!("the lazy list, {}", counted(threads, "thread")));
        let within =
            || Limits { deadline: deadline.map(|time| Instant::now() + time), ..stop.limits() };
        let start = Instant::now();
        let model = roadmap(MODEL, threads, calls, within())?;
        let printed = roadmap(PRINTED, threads, printed, within())?;
        anyhow::Ok(Found { model, printed, seconds: start.elapsed().as_secs_f64() })
    };
    let mut missing = Missing::default();
    let two = explore(2, [3, 3], None)?;
    missing.is(stop, || "2 threads".to_owned());
    // Four million states; a slip in a condition shows with one call each.
    let three = explore(3, [2, 1], Some(args.patience.saturating_mul(3)))?;
    missing.is(stop, || "3 threads".to_owned());
    let mut table = Comparison::new(&[
        ("paper", &[words("section"), words("claim"), words("says")]),
        ("ours", &[words("2 threads"), words("3 threads")]),
    ]);
    let (mut rows, mut right) = (Vec::new(), true);
    for row in &ROWS {
        let [ours, further] = [&two, &three].map(|found| known(row.ours, found));
        right &= ours.is_as_expected(row.holds) && !further.contradicts(row.holds);
        let texts = [row.section, row.place, row.says].map(str::to_owned);
        table.rows.push(ComparisonRow {
            cells: texts.into_iter().chain([ours.words(), further.words()]).collect(),
            below: ours.witness.map(shown).unwrap_or_default(),
        });
        rows.push(json!({
            "section": row.section, "claim": row.place, "says": row.says, "expected": row.holds,
            "two_threads": ours.json(), "three_threads": further.json(),
        }));
    }
    let shown = Reproduction {
        title: NAME.to_owned(),
        about: vec![explored(&two), explored(&three)],
        tables: vec![table],
        missing: missing.said(stop),
        notes: NOTES.map(str::to_owned).to_vec(),
    };
    Ok(Measured { shown, rows, is_as_expected: right })
}

fn roadmap(source: &str, threads: usize, calls: u32, limits: Limits) -> Result<Roadmap> {
    let config = Config { threads: Threads::Count(threads), ..Config::default() };
    let loaded = linchpin_verify::load("lazy_set.lin", source, Language::Lin, &config)
        .map_err(|_| anyhow!("a bundled model has mistakes"))?;
    let request = Request {
        calls: Some(Calls::Each(calls)),
        values: Some(Values::UpTo(KEYS)),
        limits,
        stuck: false,
        roadmap: RoadmapRequest { stated: true, ..RoadmapRequest::default() },
        ..Request::default()
    };
    let found = linchpin_verify::verify(&loaded, &["base".to_owned()], &request)?;
    let roadmap = found.answers.into_iter().find_map(|answer| answer.roadmap);
    roadmap.map(|roadmap| *roadmap).ok_or_else(|| anyhow!("a bundled model has no roadmap"))
}

fn explored(found: &Found) -> String {
    let bounds: Vec<String> = found.model.bounds.iter().map(Bound::to_string).collect();
    let more = if found.model.complete { "" } else { ">" };
    format!(
        "{}: {more}{}, {}, {:.1} s",
        bounds.join(", "),
        counted(found.model.states, "state"),
        counted(found.model.shared_states, "shared state"),
        found.seconds
    )
}

/// What is known of a claim: of all the parts that it has here together.
struct Known<'a> {
    statuses: Vec<&'a Status>,
    /// Parts that are not there at all.
    missing: usize,
    /// For a step that should preserve: how often it does, and does not.
    transitions: Option<(usize, usize)>,
    witness: Option<&'a Witness>,
    complete: bool,
}

fn known(ours: Ours, found: &Found) -> Known<'_> {
    let of = match ours {
        Ours::Printed(_) => &found.printed,
        Ours::Corrected(_) | Ours::Holds(..) | Ours::Preserves(..) => &found.model,
    };
    let mut known = Known {
        statuses: Vec::new(),
        missing: 0,
        transitions: None,
        witness: None,
        complete: of.complete,
    };
    match ours {
        Ours::Printed(places) => known.conditions(of, PRINTED, places),
        Ours::Corrected(places) => known.conditions(of, MODEL, places),
        Ours::Holds(rules, operations) => known.claims(of, rules, operations),
        Ours::Preserves(operation, line, other) => known.step(of, operation, line, other),
    }
    known
}

impl<'a> Known<'a> {
    fn add(&mut self, status: Option<&'a Status>) {
        match status {
            Some(status) => {
                if let Status::Refuted(witness) = status {
                    self.witness.get_or_insert(witness);
                }
                self.statuses.push(status);
            }
            None => self.missing += 1,
        }
    }

    fn conditions(&mut self, of: &'a Roadmap, source: &str, places: &[(&str, u32)]) {
        for (operation, printed) in places {
            let line = line_of(source, *printed);
            let is_it = |condition: &&StepCondition| Some(condition.line) == line;
            let operation = of.operations.iter().find(|of| of.name == *operation);
            let condition = operation.and_then(|of| of.conditions.iter().find(is_it));
            self.add(condition.map(|condition| &condition.status));
        }
    }

    fn claims(&mut self, of: &'a Roadmap, rules: &[Rule], operations: &[&str]) {
        for rule in rules {
            for name in operations {
                let mut claims = of.claims.iter();
                let claim = claims
                    .find(|claim| claim.rule == *rule && claim.operation.as_deref() == Some(*name));
                self.add(claim.map(|claim| &claim.status));
            }
        }
    }

    fn step(&mut self, of: &'a Roadmap, operation: &str, printed: u32, other: &str) {
        let line = line_of(MODEL, printed);
        let operation = of.operations.iter().find(|of| of.name == operation);
        let step = operation.and_then(|of| of.updates.iter().find(|at| Some(at.line) == line));
        let effect = step.and_then(|step| step.effects.iter().find(|at| at.operation == other));
        self.transitions = effect.map(|effect| (effect.preserved, effect.changed));
        self.witness = effect.and_then(|effect| effect.witness.as_deref());
        self.missing = usize::from(effect.is_none());
    }

    fn is_refuted(&self) -> bool {
        self.statuses.iter().any(|status| matches!(status, Status::Refuted(_)))
            || self.transitions.is_some_and(|(_, changed)| changed > 0)
    }

    fn is_checked(&self) -> bool {
        let is_checked =
            |status: &&Status| matches!(status, Status::Explored { .. } | Status::Shown { .. });
        let steps = self.transitions.is_some_and(|(preserved, _)| preserved > 0);
        let all = !self.statuses.is_empty() && self.statuses.iter().all(is_checked);
        self.complete && self.missing == 0 && !self.is_refuted() && (steps || all)
    }

    fn is_as_expected(&self, holds: bool) -> bool {
        if holds { self.is_checked() } else { self.is_refuted() }
    }

    /// Whether what is known so far is against what is expected.
    fn contradicts(&self, holds: bool) -> bool {
        holds && self.is_refuted()
    }

    fn cases(&self) -> usize {
        let cases: usize = self.statuses.iter().filter_map(|status| case_count(status)).sum();
        cases + self.transitions.map_or(0, |(preserved, _)| preserved)
    }

    fn words(&self) -> String {
        let more = if self.complete { "" } else { ">" };
        match self.statuses.iter().find(|status| case_count(status).is_none()) {
            _ if self.is_refuted() => "REFUTED".to_owned(),
            Some(Status::NeverMet | Status::NotChecked { .. }) if !self.complete => {
                ">not met yet".to_owned()
            }
            _ if self.missing > 0 && !self.complete => ">not met yet".to_owned(),
            _ if self.missing > 0 => "not known".to_owned(),
            Some(status) => status_words(status, "case"),
            None => format!("{more}checked in {}", counted(self.cases(), "case")),
        }
    }

    fn json(&self) -> Json {
        let status = match () {
            () if self.is_refuted() => "refuted",
            () if self.is_checked() => "checked",
            () => "open",
        };
        let drawn = |witness: &Witness| {
            let states: Vec<Vec<String>> =
                witness.states.iter().map(|state| state.lines()).collect();
            json!({ "text": witness.text, "states": states })
        };
        json!({ "status": status, "cases": self.cases(), "witness": self.witness.map(drawn) })
    }
}

/// What refutes a claim, below it.
fn shown(witness: &Witness) -> Vec<String> {
    let states = witness.states.iter().flat_map(|state| state.lines());
    let drawn = states.map(|line| format!("    {line}"));
    std::iter::once(witness.text.clone()).chain(drawn).collect()
}

/// The line of a model whose comment has this number.
fn line_of(source: &str, printed: u32) -> Option<u32> {
    let comment = format!("// {printed}");
    let at = source.lines().position(|line| line.ends_with(&comment))?;
    u32::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_paper_is_in_the_models() {
        for row in &ROWS {
            let (source, places) = match row.ours {
                Ours::Printed(places) => (PRINTED, places),
                Ours::Corrected(places) => (MODEL, places),
                Ours::Holds(..) => continue,
                Ours::Preserves(_, line, _) => {
                    assert!(line_of(MODEL, line).is_some(), "{line}");
                    continue;
                }
            };
            for (operation, line) in places {
                assert!(line_of(source, *line).is_some(), "{operation}, {line}");
            }
        }
    }
}
