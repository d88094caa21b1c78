//! What is on a roadmap: the operations, the three stages, the confirmation, what is left.

use super::RoadmapView;
use super::words::{claim_sentence, kind, origin, status_text, without_updates};
use crate::Tone;
use crate::document::{Block, Text};
use crate::run::RunView;
use linchpin_engine::{
    Claim, Effect, OperationKind, Origin, RoadmapOperation, Rule, Stage, Status, StepCondition,
    UpdateStep, Witness,
};
use linchpin_verdict::{Verdict, counted, grouped};

/// Columns of a condition.
const WIDTH: usize = 96;

const ABOUT: &str = "A shared state is a base point of a step of an operation if the operation, run alone from \
    that state, takes the step (Definition 2); a base condition of a step is a predicate that \
    only its base points satisfy (Definition 1). If every claim below holds, the object is \
    linearizable (Theorem 2). What was checked holds in every state within the bounds, and is a \
    claim to prove beyond them.";

impl RoadmapView<'_> {
    /// The title and the verdict.
    pub(super) fn opening(&self) -> Vec<Block> {
        let title = Text::from("The proof roadmap of ").code(self.findings.subject);
        let verdict =
            Text::default().toned(self.findings.tone(), self.findings.verdict.to_string());
        let verdict = match self.findings.reason() {
            "" => verdict,
            reason => verdict.then(format!(": {reason}")),
        };
        vec![Block::Heading(1, title), Block::Paragraph(verdict)]
    }

    /// Everything else.
    pub(super) fn sections(&self) -> Vec<Block> {
        let mut blocks = self.explored();
        blocks.extend(self.violation());
        blocks.extend(self.operations());
        blocks.extend(self.well_formed());
        blocks.extend(self.conditions());
        blocks.extend(self.updates());
        blocks.extend(self.reads());
        blocks.extend(self.confirmation());
        blocks.extend(self.left());
        blocks
    }

    fn explored(&self) -> Vec<Block> {
        let roadmap = self.roadmap;
        let bounds: Vec<String> = roadmap.bounds.iter().map(ToString::to_string).collect();
        let extent = match roadmap.complete {
            true => "all within these bounds",
            false => "not all within these bounds: the search was stopped",
        };
        let text = format!(
            "Explored, with {}: {}, {}; {extent}.",
            bounds.join(", "),
            counted(roadmap.states, "state"),
            counted(roadmap.shared_states, "different shared state"),
        );
        vec![Block::paragraph(text), Block::paragraph(ABOUT)]
    }

    /// The run that shows that the object is not linearizable, if there is one.
    fn violation(&self) -> Vec<Block> {
        let Some(found) = self.findings.counterexample() else { return Vec::new() };
        let text = self.findings.counterexample_text(found);
        vec![
            Block::heading(2, "A run that is wrong"),
            Block::Lines(text.lines().map(str::to_owned).collect()),
        ]
    }

    fn operations(&self) -> Vec<Block> {
        let head = ["operation", "kind", "critical sequences, by lines", "calls without updates"];
        let row = |operation: &RoadmapOperation| {
            let is_update = operation.kind == OperationKind::Update;
            let sequences: Vec<String> =
                operation.critical.iter().map(|lines| path(lines)).collect();
            let without = match is_update {
                true => without_updates(operation.without_updates),
                false => "",
            };
            vec![
                Text::default().code(operation.name.as_str()),
                kind(operation.kind).into(),
                sequences.join("; ").into(),
                without.into(),
            ]
        };
        let rows = self.roadmap.operations.iter().map(row).collect();
        vec![Block::heading(2, "Operations"), Block::Table(head.map(Text::from).into(), rows)]
    }

    fn well_formed(&self) -> Vec<Block> {
        let facts = &self.roadmap.well_formed;
        if facts.is_empty() {
            return Vec::new();
        }
        vec![
            Block::heading(2, "Well-formed states"),
            Block::paragraph("Every shared state that was met has these properties:"),
            Block::Items(facts.iter().map(|fact| Text::from(fact.as_str())).collect()),
        ]
    }

    fn conditions(&self) -> Vec<Block> {
        let mut blocks = vec![Block::heading(2, "Stage I: base conditions")];
        for operation in &self.roadmap.operations {
            if !operation.conditions.is_empty() {
                blocks.push(Block::Heading(3, Text::default().code(operation.name.as_str())));
            }
            for condition in &operation.conditions {
                blocks.push(Block::Paragraph(condition_text(condition)));
                blocks.push(Block::Lines(wrapped(&condition.condition)));
                blocks.extend(self.refutation(&condition.status));
            }
        }
        blocks.extend(self.claims(Stage::Conditions));
        if blocks.len() == 1 {
            let none = "The model states no base condition (`#[base(…)]`), and none was found.";
            blocks.push(Block::paragraph(none));
        }
        blocks
    }

    fn updates(&self) -> Vec<Block> {
        let mut blocks = vec![Block::heading(2, "Stage II: update operations")];
        blocks.extend(self.claims(Stage::Updates));
        blocks.extend(self.effects());
        blocks
    }

    /// Update steps and what they preserve.
    fn effects(&self) -> Vec<Block> {
        let operations = &self.roadmap.operations;
        let rows: Vec<Vec<Text>> = operations
            .iter()
            .flat_map(|operation| operation.updates.iter().map(move |step| (operation, step)))
            .map(|(operation, step)| {
                let mut row = vec![step_text(operation, step)];
                row.extend(operations.iter().map(|other| effect_text(step, &other.name)));
                row
            })
            .collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let mut head = vec![Text::from("update step")];
        head.extend(
            operations.iter().map(|operation| Text::default().code(operation.name.as_str())),
        );
        vec![
            Block::paragraph(
                "In how many transitions each update step preserves the base points of each \
                 operation (Definition 3):",
            ),
            Block::Table(head, rows),
        ]
    }

    fn reads(&self) -> Vec<Block> {
        let mut blocks = vec![Block::heading(2, "Stage III: read-only operations")];
        let claims = self.claims(Stage::Reads);
        let changes = self.changes();
        if claims.is_empty() && changes.is_empty() {
            blocks.push(Block::paragraph("There is no read-only operation."));
        }
        blocks.extend(claims);
        blocks.extend(changes);
        blocks
    }

    /// The steps that change base points of read-only operations, each with a transition that does.
    fn changes(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for operation in &self.roadmap.operations {
            for step in &operation.updates {
                let changed = |effect: &&Effect| effect.read_only && effect.changed > 0;
                for effect in step.effects.iter().filter(changed) {
                    let text = Text::from("Not preserving for ")
                        .code(effect.operation.as_str())
                        .then(": ")
                        .then(step_text(operation, step));
                    let text = match &effect.witness {
                        Some(witness) => text.then(format!(". {}", witness.text)),
                        None => text.then("."),
                    };
                    blocks.push(Block::Paragraph(text));
                    blocks.extend(effect.witness.iter().map(|witness| states(witness)));
                }
            }
        }
        blocks
    }

    fn confirmation(&self) -> Vec<Block> {
        let claims = self.claims(Stage::Confirmation);
        if claims.is_empty() {
            return Vec::new();
        }
        let mut blocks = vec![
            Block::heading(2, "Confirmation"),
            Block::paragraph(
                "Not part of the paper: the order that the proof of Theorem 2 builds was followed \
                 in every execution, and compared with the specification.",
            ),
        ];
        blocks.extend(claims);
        blocks
    }

    /// The claims of a stage, those that are refuted with what refutes them.
    fn claims(&self, stage: Stage) -> Vec<Block> {
        let claims = || self.roadmap.claims.iter().filter(|claim| claim.rule.stage() == stage);
        let items: Vec<Text> = claims().map(claim_text).collect();
        let mut blocks = match items.is_empty() {
            true => Vec::new(),
            false => vec![Block::Items(items)],
        };
        for claim in claims().filter(|claim| matches!(claim.status, Status::Refuted(_))) {
            let text = Text::default().toned(Tone::Bad, "Refuted").then(": ");
            blocks.push(Block::Paragraph(text.then(claim_sentence(claim)).then(".")));
            blocks.extend(self.refutation(&claim.status));
        }
        blocks
    }

    /// What refutes a claim: sentences, states, and the run that leads there.
    fn refutation(&self, status: &Status) -> Vec<Block> {
        let Status::Refuted(witness) = status else { return Vec::new() };
        let mut blocks = vec![Block::paragraph(witness.text.as_str()), states(witness)];
        if let (Some(program), Some(run)) = (self.findings.program, &witness.run) {
            let view = RunView { program, run };
            let drawn = view.timeline().map_or_else(String::new, |timeline| timeline.draw(WIDTH));
            let mut lines: Vec<String> = drawn.lines().map(str::to_owned).collect();
            lines.extend(view.rows().iter().map(|row| row.text()));
            blocks.push(Block::paragraph("A run that leads there:"));
            blocks.push(Block::Lines(lines));
        }
        blocks
    }

    /// What was only explored, to be proved on paper.
    fn left(&self) -> Vec<Block> {
        let mut blocks = vec![Block::heading(2, "What is left to prove")];
        let refuted = self.refuted_count();
        if refuted > 0 {
            blocks.push(Block::paragraph(format!(
                "{} refuted{}.",
                claims_are(refuted),
                self.meaning()
            )));
        }
        let items = self.open_items();
        match items.is_empty() {
            true if refuted == 0 => blocks.push(Block::paragraph("Nothing.")),
            true => {}
            false => blocks.push(Block::Numbered(items)),
        }
        blocks
    }

    /// What it means that a claim is refuted.
    fn meaning(&self) -> String {
        match (self.findings.verdict, &self.roadmap.reach) {
            (Verdict::Violated, _) => ", and a run is wrong: there is nothing to prove".to_owned(),
            (_, Some(reach)) => {
                format!(": the proof does not go through as it stands. If no run is wrong: {reach}")
            }
            (_, None) => ": the model states them, and the proof needs others".to_owned(),
        }
    }

    fn refuted_count(&self) -> usize {
        let roadmap = self.roadmap;
        let conditions = roadmap.operations.iter().flat_map(|operation| &operation.conditions);
        let statuses = conditions.map(|condition| &condition.status);
        let statuses = statuses.chain(roadmap.claims.iter().map(|claim| &claim.status));
        statuses.filter(|status| matches!(status, Status::Refuted(_))).count()
    }

    fn open_items(&self) -> Vec<Text> {
        let roadmap = self.roadmap;
        let mut items = Vec::new();
        let facts = roadmap.well_formed.iter();
        items.extend(facts.map(|fact| Text::from(format!("Every reachable shared state: {fact}"))));
        for operation in &roadmap.operations {
            // A suggestion beside a stated condition is an alternative, not more work.
            let is_stated = |line: u32| {
                let mut stated = operation.conditions.iter();
                stated.any(|at| at.origin == Origin::Stated && at.line == line)
            };
            let is_needed = |at: &&StepCondition| {
                is_open(&at.status) && (at.origin == Origin::Stated || !is_stated(at.line))
            };
            for condition in operation.conditions.iter().filter(is_needed) {
                let text = Text::from(format!(
                    "Definition 1, `{}`, line {}: ",
                    operation.name, condition.line
                ));
                let text = text.code(condition.condition.as_str()).then(" is a base condition of ");
                items.push(text.code(condition.step.as_str()));
            }
        }
        // Base conditions are listed above.
        let is_left = |claim: &&Claim| claim.rule != Rule::BaseCondition && is_open(&claim.status);
        for claim in roadmap.claims.iter().filter(is_left) {
            let text = Text::from(claim_sentence(claim));
            items.push(match claim.status {
                Status::NeverMet => text.then(" (never met within these bounds)"),
                _ => text,
            });
        }
        items
    }
}

fn claims_are(count: usize) -> String {
    match count {
        1 => "1 claim is".to_owned(),
        count => format!("{} claims are", grouped(count)),
    }
}

const fn is_open(status: &Status) -> bool {
    matches!(status, Status::Explored { .. } | Status::NotChecked { .. } | Status::NeverMet)
}

fn states(witness: &Witness) -> Block {
    Block::States(witness.states.clone())
}

/// `line 47` or `lines 47, 48`.
fn path(lines: &[u32]) -> String {
    let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!("line{} {}", if lines.len() == 1 { "" } else { "s" }, shown.join(", "))
}

fn step_text(operation: &RoadmapOperation, step: &UpdateStep) -> Text {
    let text = Text::default().code(operation.name.as_str());
    text.then(format!(", line {}: ", step.line)).code(step.source.as_str())
}

fn effect_text(step: &UpdateStep, operation: &str) -> Text {
    let Some(effect) = step.effects.iter().find(|effect| effect.operation == operation) else {
        return Text::default();
    };
    let all = effect.preserved + effect.changed;
    match effect.changed {
        0 => format!("preserved in {}", grouped(all)).into(),
        changed => format!("changed in {} of {}", grouped(changed), grouped(all)).into(),
    }
}

fn claim_text(claim: &Claim) -> Text {
    Text::from(claim_sentence(claim)).then(": ").then(status_text(&claim.status, "case"))
}

fn condition_text(condition: &StepCondition) -> Text {
    let text = Text::from(format!("Line {}, ", condition.line)).code(condition.step.as_str());
    let text = text.then(format!(" ({}): ", origin(condition.origin)));
    let text = text.then(status_text(&condition.status, "state"));
    match (condition.exact, condition.origin) {
        (Some(true), _) => text.then("; it holds in every base point, so no condition is weaker"),
        (Some(false), Origin::Stated) => text.then("; some base points do not satisfy it"),
        (Some(false), Origin::Suggested) | (None, _) => text,
    }
}

/// A condition on lines of a readable width, broken before `&&` and `||`.
fn wrapped(condition: &str) -> Vec<String> {
    let and = condition.match_indices(" && ").chain(condition.match_indices(" || "));
    let mut cuts: Vec<usize> = and.map(|(at, _)| at).chain([condition.len()]).collect();
    cuts.sort_unstable();
    let mut lines = vec![String::new()];
    let mut from = 0;
    for cut in cuts {
        let part = &condition[from..cut];
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() <= WIDTH => *line += part,
            _ => lines.push(format!("   {part}")),
        }
        from = cut;
    }
    lines
}
