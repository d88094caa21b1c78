//! The roadmap of a model: the claims of the three stages of Section 5, with what is known of each.

use crate::analyse::Analysis;
use crate::condition::{Judgement, Verdict as ConditionVerdict, check_stated, suggest};
use crate::finding::{Detail, Finding};
use crate::witness::Teller;
use linchpin_engine::{
    Claim, Effect, OperationKind, Reach, Roadmap, RoadmapOperation, RoadmapRequest, Rule, Status,
    UpdateStep, WithoutUpdates,
};
use linchpin_verdict::Limits;

/// The roadmap that an analysis of this source amounts to, without base conditions.
pub fn roadmap(analysis: &Analysis, source: &str) -> Roadmap {
    let teller = Teller { analysis };
    let program = analysis.space.program();
    let operations = 0..program.operations.len();
    Roadmap {
        bounds: analysis.space.bounds().said(program),
        states: analysis.states(),
        shared_states: analysis.shared.len(),
        complete: analysis.stopped.is_none(),
        operations: operations.clone().map(|of| operation(&teller, of, source)).collect(),
        claims: claims(&teller),
        well_formed: Vec::new(),
        reach: reach(&teller),
    }
}

/// What puts the object outside of the reach of the method, if it is linearizable.
fn reach(teller: &Teller<'_>) -> Option<Reach> {
    let findings = &teller.analysis.findings;
    let name = |operation: usize| teller.name(operation).to_owned();
    let helping = findings.iter().find_map(|finding| match (&finding.detail, finding.other) {
        (Detail::Disturbed { helped: true, .. }, Some(other)) => Some(Reach::Helping {
            operation: name(finding.operation),
            by: name(other),
            line: finding.line,
        }),
        _ => None,
    });
    let inside = findings.iter().find_map(|finding| match (finding.rule, finding.other) {
        (Rule::Preserve, Some(other)) => {
            Some(Reach::Inside { operation: name(finding.operation), other: name(other) })
        }
        _ => None,
    });
    let open = (!findings.is_empty()).then_some(Reach::NotNecessary);
    helping.or(inside).or(open)
}

fn operation(teller: &Teller<'_>, operation: usize, source: &str) -> RoadmapOperation {
    let treatment = &teller.analysis.treatment;
    let read_only = treatment.read_only[operation];
    RoadmapOperation {
        name: teller.name(operation).to_owned(),
        kind: if read_only { OperationKind::ReadOnly } else { OperationKind::Update },
        without_updates: treatment.without_updates[operation],
        critical: teller.critical_sequences(operation),
        updates: update_steps(teller, operation, source),
        conditions: Vec::new(),
    }
}

fn update_steps(teller: &Teller<'_>, operation: usize, source: &str) -> Vec<UpdateStep> {
    let steps = teller.analysis.tally.steps.iter().filter(|((of, _), _)| *of == operation);
    let step = |((_, line), effects): (&(usize, u32), &Vec<crate::tally::Effects>)| {
        let effect = |(of, effects): (usize, &crate::tally::Effects)| Effect {
            operation: teller.name(of).to_owned(),
            read_only: teller.analysis.treatment.read_only[of],
            preserved: effects.preserved,
            changed: effects.changed,
            witness: effects
                .witness
                .and_then(|(place, call)| teller.not_preserved(place, call, *line))
                .map(Box::new),
        };
        UpdateStep {
            line: *line,
            source: source_line(source, *line),
            effects: effects.iter().enumerate().map(effect).collect(),
        }
    };
    steps.map(step).collect()
}

/// A line of the source, without its comment.
pub(crate) fn source_line(source: &str, line: u32) -> String {
    let at = usize::try_from(line).unwrap_or(0).saturating_sub(1);
    let text = source.lines().nth(at).unwrap_or_default();
    text.split("//").next().unwrap_or_default().trim().to_owned()
}

fn claims(teller: &Teller<'_>) -> Vec<Claim> {
    let rules = [
        Rule::CriticalBasePoint,
        Rule::LastRead,
        Rule::Commute,
        Rule::Preserve,
        Rule::OneStep,
        Rule::ReadBasePoint,
    ];
    let operations = teller.analysis.treatment.read_only.len();
    let mut claims = Vec::new();
    for rule in rules {
        for operation in 0..operations {
            claims.extend(claim(teller, rule, operation));
        }
    }
    claims.push(confirmation(teller));
    claims
}

/// What a rule says of an operation; `None` if it says nothing of such operations.
fn claim(teller: &Teller<'_>, rule: Rule, operation: usize) -> Option<Claim> {
    let treatment = &teller.analysis.treatment;
    let as_read = treatment.as_read(operation);
    let applies = match rule {
        Rule::ReadBasePoint => as_read,
        _ => !treatment.read_only[operation],
    };
    if !applies {
        return None;
    }
    let name = teller.name(operation);
    let text = match rule {
        Rule::CriticalBasePoint => format!(
            "`{name}` begins its critical sequence in a base point for all its update and return \
             steps, and for no other update step; no step of others changes what it still does."
        ),
        Rule::LastRead => format!(
            "A call of `{name}` without update steps takes its last read in a base point for its answer."
        ),
        Rule::Commute => format!(
            "Steps of the critical sequence of `{name}` commute with those that interleave with them."
        ),
        Rule::Preserve => format!(
            "Update steps of `{name}` preserve the base points of every operation whose critical \
             sequence interleaves with its own."
        ),
        Rule::OneStep => format!(
            "A call of `{name}` has at most one step that does not preserve the base points of all \
             read-only operations."
        ),
        _ => match treatment.read_only[operation] {
            true => format!(
                "When `{name}` answers, some state since its call is a base point for that answer."
            ),
            false => format!(
                "When `{name}` answers without having taken an update step, some state since its call \
                 is a base point for that answer."
            ),
        },
    };
    let text = match rule {
        Rule::OneStep => text + &several_places(teller, operation),
        _ => text,
    };
    let treated = treatment.without_updates[operation] == WithoutUpdates::ReadOnly;
    let status = match rule {
        Rule::LastRead if treated => {
            let is_it = |finding: &&Finding| finding.operation == operation;
            let line = teller.analysis.as_printed.iter().find(is_it).map_or(0, |of| of.line);
            let why = format!(
                "the read at line {line} is no base point for it; such calls are treated as read-only calls"
            );
            Status::NotNeeded { why }
        }
        _ => status(teller, rule, Some(operation)),
    };
    Some(Claim { rule, operation: Some(name.to_owned()), text, status })
}

/// Where a step that read-only operations notice may be at several places of the code, so that the
/// condition holds of each call but not as it is printed.
fn several_places(teller: &Teller<'_>, operation: usize) -> String {
    let read_only = &teller.analysis.treatment.read_only;
    let is_noticed = |effects: &[crate::tally::Effects]| {
        effects.iter().zip(read_only).any(|(effects, reads)| *reads && effects.changed > 0)
    };
    let steps = teller.analysis.tally.steps.iter();
    let lines: Vec<String> = steps
        .filter(|((of, _), effects)| *of == operation && is_noticed(effects))
        .map(|((_, line), _)| line.to_string())
        .collect();
    match lines.len() {
        0 | 1 => String::new(),
        _ => format!(
            " (Of lines {} any can be that step, depending on the state. Theorem 2 as printed asks for one \
             place in the code; that each call has one is enough.)",
            lines.join(", ")
        ),
    }
}

fn confirmation(teller: &Teller<'_>) -> Claim {
    Claim {
        rule: Rule::Confirmation,
        operation: None,
        text:
            "Ordered as in the proof of Theorem 2, every call answers what the specification says."
                .to_owned(),
        status: status(teller, Rule::Confirmation, None),
    }
}

fn status(teller: &Teller<'_>, rule: Rule, operation: Option<usize>) -> Status {
    let analysis = teller.analysis;
    let is_it = |finding: &&Finding| {
        finding.rule == rule && operation.is_none_or(|operation| finding.operation == operation)
    };
    if let Some(finding) = analysis.findings.iter().find(is_it) {
        return Status::Refuted(Box::new(teller.witness(finding, false)));
    }
    let operations = 0..analysis.treatment.read_only.len();
    let cases = operations
        .filter(|of| operation.is_none_or(|operation| *of == operation))
        .map(|of| analysis.tally.checks(rule, of))
        .sum();
    match cases {
        0 => Status::NeverMet,
        cases => Status::Explored { cases },
    }
}

/// Adds what is asked for of base conditions: those that the model states, and suggestions.
pub fn add_conditions(
    roadmap: &mut Roadmap,
    analysis: &Analysis,
    source: &str,
    asked: RoadmapRequest,
    limits: &Limits,
) {
    if asked.stated {
        add_stated(roadmap, analysis, source, limits);
    }
    if asked.suggested {
        for suggested in suggest(analysis, limits).conditions {
            let operation = &mut roadmap.operations[suggested.operation];
            let known = suggested.to_roadmap(&analysis.space, source);
            operation.conditions.extend(known);
        }
    }
}

fn add_stated(roadmap: &mut Roadmap, analysis: &Analysis, source: &str, limits: &Limits) {
    let checked = check_stated(analysis, limits);
    let mut claims = Vec::new();
    for condition in &checked.conditions {
        let of = condition.stated.claim.operation;
        let shown = condition.to_roadmap(&analysis.space, source);
        let operation = &mut roadmap.operations[of];
        let (name, line) = (operation.name.clone(), shown.line);
        // What is known of the states that were reached is with the condition itself.
        let claim = |status: Status| Claim {
            rule: Rule::BaseCondition,
            operation: Some(name.clone()),
            text: format!(
                "The condition stated at line {line} of `{name}` is a base condition of `{}` in every \
                 well-formed state up to a size.",
                shown.step
            ),
            status,
        };
        let beyond = match (condition.refuted_beyond(&analysis.space), &condition.well_formed) {
            (Some(witness), _) => Some(Status::Refuted(Box::new(witness))),
            (None, Some(Judgement { verdict: ConditionVerdict::Holds { cases }, .. })) => {
                Some(Status::Explored { cases: *cases })
            }
            (None, _) => None,
        };
        claims.extend(beyond.map(claim));
        operation.conditions.push(shown);
    }
    claims.append(&mut roadmap.claims);
    roadmap.claims = claims;
    if let Ok(facts) = checked.well_formed {
        roadmap.well_formed = facts;
    }
}
