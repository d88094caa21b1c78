//! What is said about an assertion.

use crate::program::Model;
use linchpin_refine::search::Stats;
use linchpin_verdict::Outcome;
use std::fmt::{self, Display, Formatter};

/// The answer to one assertion.
#[derive(Clone, Debug)]
pub struct Report {
    /// The assertion, as written.
    pub assertion: String,
    /// Its line, 1 for the first.
    pub line: u32,
    /// Whether it holds for the constants and ranges of the model: then every state was explored.
    pub outcome: Outcome<(), Failure>,
    /// What the exploration has cost.
    pub stats: Stats,
    /// How many states of the specification, and how many sets of them, were met.
    pub specification: (usize, usize),
    /// Events and conditions of the implementation that never took a step: with a pass, think
    /// whether they should have.
    pub unreached: Vec<Place>,
    /// The constants and their values: the bounds of the answer.
    pub constants: Vec<(String, String)>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// 1 for the first line.
    pub line: u32,
    /// What stands there.
    pub text: String,
}

/// Why an assertion does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This run should not be.
    Run(Counterexample),
    /// The model goes wrong by itself, in the implementation or the specification: an element that
    /// does not exist, a value outside its range, a division by zero.
    Fault {
        /// How to get there, as far as the implementation is concerned.
        steps: Vec<TraceStep>,
        /// What goes wrong.
        message: String,
        /// Where.
        place: Place,
    },
}

/// A run that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The steps.
    pub steps: Vec<TraceStep>,
    /// What is wrong after them.
    pub wrong: Wrong,
    /// Whether no run with fewer visible events is wrong, nor one with as many and fewer steps.
    pub shortest: bool,
}

/// What is wrong at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// An event that no state of the specification has after the same trace.
    Refused {
        /// The event.
        event: TraceStep,
        /// What the specification would have allowed.
        allowed: Vec<String>,
    },
    /// Nothing can happen, though the process has not terminated; what its parts wait for.
    Deadlock {
        /// Conditions and events that are not enabled.
        waiting: Vec<Place>,
    },
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The event, `✓`, or for invisible steps what was done.
    pub text: String,
    /// Whether it is part of the trace.
    pub visible: bool,
    /// Its line, if it has one.
    pub line: Option<u32>,
}

impl Counterexample {
    /// The visible events, the refused one included.
    pub fn trace(&self) -> Vec<&str> {
        let refused = match &self.wrong {
            Wrong::Refused { event, .. } => Some(event),
            Wrong::Deadlock { .. } => None,
        };
        let steps = self.steps.iter().chain(refused);
        steps.filter(|step| step.visible).map(|step| step.text.as_str()).collect()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Report { assertion, line, outcome, stats, specification, .. } = self;
        writeln!(f, "{assertion} (line {line})")?;
        match outcome {
            Outcome::Holds(()) => {
                let bounds = self
                    .constants
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let bounds =
                    if bounds.is_empty() { String::new() } else { format!(" with {bounds}") };
                writeln!(f, "  holds{bounds}: every state was explored")?;
                for Place { line, text } in &self.unreached {
                    writeln!(f, "  never reached: line {line}: {text}")?;
                }
            }
            Outcome::Violated(Failure::Run(counterexample)) => write!(f, "{counterexample}")?,
            Outcome::Violated(Failure::Fault { steps, message, place }) => {
                writeln!(f, "  the model goes wrong: {message}, in line {}", place.line)?;
                show(steps, f)?;
            }
            Outcome::Inconclusive(reason) => writeln!(f, "  undecided: {reason}")?,
        }
        write!(
            f,
            "  {}, {}, {} of the specification in {}, {:.2} s",
            counted(stats.states, "state"),
            counted(stats.transitions, "transition"),
            specification.0,
            counted(specification.1, "set"),
            stats.seconds
        )
    }
}

impl Display for Counterexample {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.wrong {
            Wrong::Refused { event, .. } => {
                writeln!(f, "  violated: the specification has no such trace")?;
                show(&self.steps, f)?;
                show(std::slice::from_ref(event), f)?;
            }
            Wrong::Deadlock { .. } => {
                writeln!(f, "  violated: it can get stuck")?;
                show(&self.steps, f)?;
            }
        }
        match &self.wrong {
            Wrong::Refused { event, allowed } if allowed.is_empty() => {
                writeln!(
                    f,
                    "  instead of `{}` the specification would have allowed nothing",
                    event.text
                )?;
            }
            Wrong::Refused { event, allowed } => {
                let allowed: Vec<String> =
                    allowed.iter().map(|event| format!("`{event}`")).collect();
                let text = &event.text;
                writeln!(
                    f,
                    "  instead of `{text}` the specification would have allowed {}",
                    allowed.join(", ")
                )?;
            }
            Wrong::Deadlock { waiting } => {
                for Place { line, text } in waiting {
                    writeln!(f, "  waiting: line {line}: {text}")?;
                }
            }
        }
        if !self.shortest {
            writeln!(f, "  (there may be a shorter one)")?;
        }
        Ok(())
    }
}

/// "1 state", "2 states".
fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn show(steps: &[TraceStep], f: &mut Formatter<'_>) -> fmt::Result {
    for TraceStep { text, visible, line } in steps {
        let text = if *visible { text.clone() } else { format!("  τ {text}") };
        match line {
            Some(line) => writeln!(f, "    {text:<40} line {line}")?,
            None => writeln!(f, "    {text}")?,
        }
    }
    Ok(())
}

/// The texts of labels and nodes.
pub(crate) mod describe {
    use super::{Model, Place, TraceStep};
    use crate::lts::{Event, Label};
    use crate::program::NodeId;
    use crate::shortest::Taken;

    pub fn event(model: &Model, event: &Event) -> String {
        let name = &model.events[event.name as usize];
        let mut text = name.name.clone();
        for (of, datum) in name.data.iter().zip(&event.data) {
            text.push('.');
            text.push_str(&of.show(*datum));
        }
        text
    }

    pub fn label(model: &Model, label: &Label) -> String {
        match label {
            Label::Tau => "τ".to_owned(),
            Label::Tick => "✓".to_owned(),
            Label::Event(shown) => event(model, shown),
        }
    }

    pub fn place(model: &Model, node: NodeId) -> Place {
        let node = &model.nodes[node as usize];
        Place { line: node.line, text: node.text.clone() }
    }

    pub fn step(model: &Model, taken: &Taken) -> TraceStep {
        let line = taken.node.map(|node| model.nodes[node as usize].line);
        let text = match (&taken.label, &taken.hidden, taken.node) {
            (Label::Tau, Some(hidden), _) => event(model, hidden),
            (Label::Tau, None, Some(node)) => model.nodes[node as usize].text.clone(),
            (Label::Tau, None, None) => "termination".to_owned(),
            (shown, _, _) => label(model, shown),
        };
        TraceStep { text, visible: taken.label != Label::Tau, line }
    }
}
