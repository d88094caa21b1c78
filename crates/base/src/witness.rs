//! What shows that a condition fails: sentences, the shared states, and a run that leads there.

use crate::alone::alone;
use crate::analyse::Analysis;
use crate::code::line_of_step;
use crate::finding::{Detail, Finding, Place};
use crate::outcome::{Ending, Outcome};
use crate::path::{Path, path_to};
use crate::picture::picture;
use crate::store::Store;
use linchpin_engine::{Rule, SharedPicture, Witness};
use linchpin_ir::program::Program;
use linchpin_space::{Flat, Space, Workspace};
use std::collections::BTreeSet;

/// How findings are told.
pub(crate) struct Teller<'a> {
    pub analysis: &'a Analysis,
}

impl Teller<'_> {
    fn space(&self) -> &Space {
        &self.analysis.space
    }

    fn program(&self) -> &Program {
        self.space().program()
    }

    /// The name of an operation.
    pub fn name(&self, operation: usize) -> &str {
        &self.program().operations[operation].name
    }

    /// A call as people write it: `add(3)`.
    pub fn call(&self, call: usize) -> String {
        let call = &self.analysis.shared.calls()[call];
        let arguments = self.space().arguments(call.operation, &call.arguments);
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("{}({})", self.name(call.operation), arguments.join(", "))
    }

    /// What a call does: `updates at line 73 and answers true`.
    pub fn outcome(&self, operation: usize, outcome: &Outcome) -> String {
        let lines: Vec<u32> = outcome
            .updates
            .iter()
            .map(|update| line_of_step(self.program(), operation, update.node))
            .collect();
        let updates = match &lines[..] {
            [] => String::new(),
            [line] => format!("updates at line {line} and "),
            lines => {
                let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
                format!("updates at lines {} and ", lines.join(", "))
            }
        };
        format!("{updates}{}", self.ending(operation, &outcome.ending))
    }

    fn ending(&self, operation: usize, ending: &Ending) -> String {
        match ending {
            Ending::Returns(words) if words.is_empty() => "returns".to_owned(),
            Ending::Returns(words) => {
                format!("answers {}", self.space().response(operation, words))
            }
            Ending::Blocks => "waits for ever".to_owned(),
            Ending::Fails => "takes a step that fails".to_owned(),
            Ending::Endless => "never returns".to_owned(),
        }
    }

    /// What a call does alone from a state.
    fn alone(&self, flat: &Flat, call: usize) -> Outcome {
        let call = &self.analysis.shared.calls()[call];
        alone(self.space(), flat, call, &mut Workspace::default())
    }

    fn alone_said(&self, flat: &Flat, call: usize) -> String {
        let operation = self.analysis.shared.calls()[call].operation;
        self.outcome(operation, &self.alone(flat, call))
    }

    fn drawn(&self, flat: &Flat, caption: String) -> SharedPicture {
        picture(self.space(), flat, caption, &[])
    }

    /// The run and the states of a place; of an earlier exploration if the finding is one of it.
    fn path(&self, place: Place, is_earlier: bool) -> Option<Path> {
        let store: &Store = match (is_earlier, &self.analysis.earlier) {
            (true, Some(earlier)) => earlier,
            _ => &self.analysis.store,
        };
        path_to(self.space(), store, self.analysis.shared.calls(), place)
    }

    /// What shows a finding.
    pub fn witness(&self, finding: &Finding, is_earlier: bool) -> Witness {
        let Some(path) = self.path(finding.place, is_earlier) else {
            return Witness { text: self.short(finding), ..Witness::default() };
        };
        let thread = path.threads.get(finding.place.thread).copied().unwrap_or_default();
        let line = finding.line;
        let at = if line == 0 { String::new() } else { format!(" at line {line}") };
        let mut states = vec![self.drawn(&path.before, format!("before the step{at}"))];
        let after = path.after.as_ref();
        let mut show_after = || {
            states.extend(after.map(|flat| self.drawn(flat, format!("after the step{at}"))));
        };
        let text = match &finding.detail {
            Detail::Begins { call, actual } => {
                let operation = finding.operation;
                let actual = self.outcome(operation, actual);
                let alone = self.alone_said(&path.before, *call);
                let call = self.call(*call);
                let what = match finding.rule {
                    Rule::LastRead => "takes its last read",
                    _ => "begins its critical sequence",
                };
                format!(
                    "Thread {thread} {what}{at} in `{call}`. From this state it {actual}; the same \
                     call run alone from here {alone}. So the state is no base point for what it does."
                )
            }
            Detail::Disturbed { call, before, after, helped } => {
                show_after();
                let operation = finding.operation;
                let (before, after) =
                    (self.outcome(operation, before), self.outcome(operation, after));
                let helps = match helped {
                    true => {
                        " It is the very step that was still to be taken: the other thread helps."
                    }
                    false => "",
                };
                format!(
                    "The step of thread {thread}{at} changes what a pending `{}` still does: before it, \
                     it {before}; after it, it {after}.{helps}",
                    self.call(*call)
                )
            }
            Detail::Changes { by, of } => {
                show_after();
                format!(
                    "The critical sequences of `{}` and `{}` interleave here, and an update step of the \
                     first changes what the second does alone.",
                    self.call(*by),
                    self.call(*of)
                )
            }
            Detail::Order { first, second, possible, .. } => {
                show_after();
                let (first, second) = (self.call(*first), self.call(*second));
                match possible {
                    true => format!(
                        "The next steps of `{first}` (thread {thread}{at}) and of `{second}` are both in critical \
                         sequences, and the order in which they are taken makes a difference."
                    ),
                    false => format!(
                        "The next steps of `{first}` (thread {thread}{at}) and of `{second}` are both in critical \
                         sequences, and they can be taken in one order only."
                    ),
                }
            }
            Detail::TwoSteps { call, reads } => {
                show_after();
                let read = reads.trailing_zeros() as usize;
                let before = self.alone_said(&path.before, read);
                let now = after.map(|flat| self.alone_said(flat, read)).unwrap_or_default();
                format!(
                    "The step of thread {thread}{at} is the second of `{}` that a read-only operation notices: \
                     `{}` alone {before} before it, {now} after it.",
                    self.call(*call),
                    self.call(read)
                )
            }
            Detail::NeverSeen { call, answer } => {
                show_after();
                let answer = self.space().response(finding.operation, answer);
                let without = match self.analysis.treatment.read_only[finding.operation] {
                    true => "",
                    false => {
                        " without an update step (what it wrote, if anything, went to objects that the shared \
                         variables no longer reach)"
                    }
                };
                format!(
                    "Thread {thread}: `{}` answers {answer}{without}, but in no state since it was called would it \
                     have answered that alone.",
                    self.call(*call)
                )
            }
            Detail::NotSpecified { call, ending } => {
                show_after();
                let ending = self.ending(finding.operation, ending);
                format!(
                    "`{}` {ending}, which the specification does not allow where the proof of Theorem 2 puts it.",
                    self.call(*call)
                )
            }
        };
        Witness { text, states, run: path.run }
    }

    /// What shows that a step does not preserve the base points of an operation.
    pub fn not_preserved(&self, place: Place, call: usize, line: u32) -> Option<Witness> {
        let path = self.path(place, false)?;
        let after = path.after.as_ref()?;
        let text = format!(
            "`{}` alone {} before the step at line {line}, {} after it.",
            self.call(call),
            self.alone_said(&path.before, call),
            self.alone_said(after, call)
        );
        let states = vec![
            self.drawn(&path.before, format!("before line {line}")),
            self.drawn(after, format!("after line {line}")),
        ];
        Some(Witness { text, states, run: path.run })
    }

    /// One sentence without states.
    pub fn short(&self, finding: &Finding) -> String {
        let name = self.name(finding.operation);
        let because = match finding.other {
            Some(other) => format!(" and `{}`", self.name(other)),
            None => String::new(),
        };
        let claim = match finding.rule {
            Rule::BaseCondition => "a stated base condition is none",
            Rule::CriticalBasePoint => "the critical sequence does not run from a base point",
            Rule::LastRead => "the last read is no base point for the answer",
            Rule::Commute => "steps of interleaving critical sequences do not commute",
            Rule::Preserve => "update steps change base points of an interleaving operation",
            Rule::OneStep => "a second update step is noticed by read-only operations",
            Rule::ReadBasePoint => "an answer has no base point while the call is pending",
            Rule::Confirmation => "an answer is not that of the specification",
        };
        match finding.line {
            0 => format!("`{name}`{because}: {claim}"),
            line => format!("`{name}`{because}, line {line}: {claim}"),
        }
    }

    /// The lines of the update steps of an operation in its runs alone, as they were met.
    pub fn critical_sequences(&self, operation: usize) -> Vec<Vec<u32>> {
        let mut met = BTreeSet::new();
        let analysis = self.analysis;
        for shared in 0..analysis.shared.len() as u32 {
            for (call, of) in analysis.shared.calls().iter().enumerate() {
                if of.operation != operation {
                    continue;
                }
                if let Some(outcome) = analysis.shared.known_outcome(shared, call) {
                    let lines = outcome
                        .updates
                        .iter()
                        .map(|update| line_of_step(self.program(), operation, update.node));
                    met.insert(lines.collect::<Vec<u32>>());
                }
            }
        }
        met.into_iter().filter(|lines| !lines.is_empty()).collect()
    }
}
