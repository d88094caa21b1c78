//! What a proof attempt found: the verdict's reasons, the facts, and all that certificate, tables
//! and SMT questions are read from.

use linchpin_subop::Model;
use linchpin_subop::model::SubOperationId;
use linchpin_verdict::{Assumption, Sequential, StopReason};
use std::fmt;

use crate::certificate::{self, Certificate};
use crate::claims::{self, ClaimAnswer};
use crate::closure::Closure;
use crate::context::Context;
use crate::facts::Reason;
use crate::pairs::{self, Tables};
use crate::pending::Pending;
use crate::relate::Block;
use crate::smt::{self, Obligation};
use crate::validated::Replaced;
use crate::{Analysis, Options, concrete, words};

/// What stopped a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The last step of this interleaving cannot be moved next to the first line's steps: the
    /// sequence `x, …, y, next(x)` of Section V.
    Interleaving(Vec<Line>),
    /// An operation that stops here can neither be completed nor left out.
    Pending {
        /// The prefix after which it stops.
        prefix: String,
        /// Its step whose effect others may have seen.
        step: String,
        /// A step of another instance that the step cannot be moved past.
        past: String,
    },
    /// There were too many cases to look at.
    TooManyCases(Vec<Line>),
    /// The operations have too many paths.
    TooManyPrefixes,
    /// A limit or a person stopped it.
    Stopped(StopReason),
}

/// Steps that one instance executes without interruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// A number for each instance, from 1.
    pub instance: usize,
    /// Its operation.
    pub operation: String,
    /// The names of the sub-operations.
    pub steps: Vec<String>,
    /// The sub-operations as text.
    pub texts: Vec<String>,
    /// Whether the operation is complete after them.
    pub complete: bool,
}

/// Why a candidate fact was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The prefix does not establish it.
    NotEstablished,
    /// This sub-operation of another instance breaks it.
    BrokenBy(String),
    /// It does not hold at the start.
    NotAtStart,
    /// It quantifies in a way that is not decided here.
    Unsupported,
    /// Too many cases.
    TooManyCases,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dropped::NotEstablished => f.write_str("not established by the prefix"),
            Dropped::BrokenBy(step) => write!(f, "broken by {step}"),
            Dropped::NotAtStart => f.write_str("false at the start"),
            Dropped::Unsupported => f.write_str("quantifies in a way that is not decided here"),
            Dropped::TooManyCases => f.write_str("too many cases"),
        }
    }
}

/// How an operation that is never completed is dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It can be completed.
    Completed,
    /// It can be left out.
    LeftOut,
    /// Neither.
    Neither,
}

/// A candidate fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactLine {
    /// What it says.
    pub text: String,
    /// Why it was dropped, if it was.
    pub dropped: Option<Dropped>,
    /// Whether it is an `invariant` line of the model.
    pub written: bool,
}

/// The facts at a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixFacts {
    /// The operation.
    pub operation: String,
    /// The prefix, its sub-operations by name.
    pub prefix: String,
    /// Facts that hold whatever the others do, and candidates that do not.
    pub stable: Vec<FactLine>,
    /// Facts that hold because the operation completes.
    pub live: Vec<String>,
}

/// What was found out about a model.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What stopped the proof; nothing if the model is proved linearizable.
    pub obstacle: Option<Obstacle>,
    /// Sub-operations that were replaced by guesses because a later one validates what they read.
    pub replaced: Vec<String>,
    /// Invariants of the shared state, and candidates that are none.
    pub invariants: Vec<FactLine>,
    /// Facts about instances.
    pub facts: Vec<PrefixFacts>,
    /// How operations that stop after each prefix are dealt with.
    pub pending: Vec<(String, Unfinished)>,
    /// The closure of each proper prefix.
    pub closures: Vec<(String, Vec<String>)>,
    /// What became of the claims in `relations { }`. The proof uses none of them.
    pub claims: Vec<ClaimAnswer>,
    /// `invariant after` lines about instances that nothing is asked about: of an operation that
    /// has ended, or after a read that was replaced.
    pub unchecked: Vec<String>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<Assumption>,
    /// How many cases were looked at.
    pub cases: usize,
    /// How long it took.
    pub seconds: f64,
    written: Model,
    options: Options,
    pub(crate) analysis: Option<Analysis>,
}

impl Proof {
    /// Whether the model is proved linearizable.
    pub fn is_proved(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Nothing is found out yet.
    pub(crate) fn new(written: &Model, options: &Options, replaced: &[Replaced]) -> Proof {
        let name = |read: &Replaced| {
            written.operations[read.operation].sub_operations[read.step].name.clone()
        };
        let sequential = Sequential::NotTried { reason: "the proof is not about them".to_owned() };
        Proof {
            obstacle: None,
            replaced: replaced.iter().map(name).collect(),
            invariants: Vec::new(),
            facts: Vec::new(),
            pending: Vec::new(),
            closures: Vec::new(),
            claims: Vec::new(),
            unchecked: Vec::new(),
            assumptions: vec![
                Assumption::SequentialConsistency,
                Assumption::NoReuse,
                Assumption::SequentialExecutions(sequential),
            ],
            cases: 0,
            seconds: 0.0,
            written: written.clone(),
            options: options.clone(),
            analysis: None,
        }
    }

    /// Puts what was found in words.
    pub(crate) fn conclude(
        &mut self,
        context: &Context,
        pending: &[(usize, Pending)],
        closures: &[Closure],
    ) {
        let name = |prefix: usize| context.prefixes.name(prefix);
        self.obstacle = obstacle(context, pending, closures);
        if let (Some(_), Some(reason)) = (&self.obstacle, context.stopped()) {
            self.obstacle = Some(Obstacle::Stopped(reason));
        }
        self.pending = pending
            .iter()
            .map(|(prefix, pending)| match pending {
                Pending::Enabled => (name(*prefix), Unfinished::Completed),
                Pending::Droppable => (name(*prefix), Unfinished::LeftOut),
                Pending::Neither { .. } => (name(*prefix), Unfinished::Neither),
            })
            .collect();
        let members = |closure: &Closure| {
            closure.members.iter().map(|member| name(member.block.prefix)).collect()
        };
        self.closures =
            closures.iter().map(|closure| (name(closure.prefix), members(closure))).collect();
        self.invariants = invariants(context);
        self.facts = facts(context);
        self.unchecked = unchecked(&self.written, context);
        // Claims are about the sub-operations as they are written.
        self.claims = match (&self.replaced[..], &self.written.claims[..]) {
            (_, []) => Vec::new(),
            ([], _) => claims::judge(context),
            _ => crate::facts_of(&self.written, &self.options)
                .map_or_else(|_| Vec::new(), |context| claims::judge(&context)),
        };
        self.cases = context.cases();
    }

    /// What lets a small checker confirm the proof; none if the model is not proved.
    pub fn certificate(&self) -> Option<Certificate> {
        let analysis = self.analysis.as_ref().filter(|_| self.is_proved())?;
        let context = analysis.context(&self.options)?;
        Some(Certificate {
            model: linchpin_subop::print(&self.written),
            proof: certificate::proof(&context, analysis, &self.replaced),
        })
    }

    /// The tables of the paper.
    pub fn tables(&self) -> Tables {
        let context = self.analysis.as_ref().and_then(|found| found.context(&self.options));
        context.map_or_else(Tables::default, |context| pairs::tables(&context))
    }

    /// The questions about pairs of steps, for SMT solvers.
    pub fn obligations(&self) -> Vec<Obligation> {
        let context = self.analysis.as_ref().and_then(|found| found.context(&self.options));
        context.map_or_else(Vec::new, |context| smt::obligations(&context))
    }

    /// Looks for an execution of the interleaving that stopped the proof: the operations to execute
    /// before it, one after the other. `None`: none was found with few of them and all arguments 1;
    /// then it may be an incompleteness of the method (Section VIII).
    pub fn find_execution(&self) -> Option<Vec<String>> {
        let Some(Obstacle::Interleaving(lines)) = &self.obstacle else { return None };
        concrete::find_execution(&self.analysis.as_ref()?.model, lines)
    }

    /// The facts, for `--facts`.
    pub fn facts_text(&self) -> String {
        let mut text = String::new();
        let lines = |text: &mut String, facts: &[FactLine]| {
            for fact in facts.iter().filter(|fact| fact.dropped.is_none()) {
                *text += &format!("    {}\n", fact.text);
            }
            for fact in facts {
                if let Some(reason) = &fact.dropped
                    && (fact.written || matches!(reason, Dropped::BrokenBy(_)))
                {
                    *text += &format!("    [dropped] {}: {reason}\n", fact.text);
                }
            }
        };
        if !self.invariants.is_empty() {
            text += "always:\n";
            lines(&mut text, &self.invariants);
        }
        for at in &self.facts {
            text += &format!("after {} ({}):\n", at.prefix, at.operation);
            lines(&mut text, &at.stable);
            for fact in &at.live {
                text += &format!("    {fact}   [if it is to complete]\n");
            }
        }
        text
    }

    /// The `invariant` lines of the model that are not shown to hold, and why.
    pub fn doubtful(&self) -> Vec<String> {
        let facts = self.facts.iter().flat_map(|at| {
            at.stable.iter().map(move |fact| (format!("after {}: {}", at.prefix, fact.text), fact))
        });
        let always = self.invariants.iter().map(|fact| (fact.text.clone(), fact));
        let mut found: Vec<String> = always
            .chain(facts)
            .filter(|(_, fact)| fact.written)
            .filter_map(|(text, fact)| {
                let reason = fact.dropped.as_ref()?;
                Some(format!("`{}` is not shown to hold: {reason}", text.trim_end_matches(';')))
            })
            .collect();
        found.extend(self.unchecked.iter().map(|text| {
            format!("`{text}` is not checked: nothing is asked of an operation there")
        }));
        found
    }

    /// What stopped the proof, in words; empty if nothing did.
    pub fn obstacle_text(&self) -> String {
        let Some(obstacle) = &self.obstacle else { return String::new() };
        match obstacle {
            Obstacle::Interleaving(lines) => {
                format!(
                    "The last step cannot be moved next to the first ones:\n{}",
                    interleaving(lines)
                )
            }
            Obstacle::TooManyCases(lines) => {
                format!(
                    "Too many cases to tell whether the last step can be moved next to the first ones:\n{}",
                    interleaving(lines)
                )
            }
            Obstacle::Pending { prefix, step, past } => format!(
                "An operation that stops after {prefix} may never be completed, and cannot be left out: {step} cannot be moved past {past}.\n"
            ),
            Obstacle::TooManyPrefixes => "The operations have too many paths.\n".to_owned(),
            Obstacle::Stopped(reason) => format!("{reason}.\n"),
        }
    }
}

fn interleaving(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        for (name, step) in line.steps.iter().zip(&line.texts) {
            text +=
                &format!("  {:>2} {:<18} {:<8} {}\n", line.instance, line.operation, name, step);
        }
    }
    text
}

/// What stops the proof: an interleaving first, then an operation that is never completed, then too
/// many cases.
fn obstacle(
    context: &Context,
    pending: &[(usize, Pending)],
    closures: &[Closure],
) -> Option<Obstacle> {
    let last = |prefix: usize| {
        context.prefixes.last(prefix).map_or(String::new(), |step| step.name.clone())
    };
    let mut unknown = None;
    for closure in closures {
        match closure.failure {
            Some((member, step, false)) => {
                return Some(Obstacle::Interleaving(failing(context, closure, member, step)));
            }
            Some((member, step, true)) => {
                unknown = Some(Obstacle::TooManyCases(failing(context, closure, member, step)));
            }
            None => {}
        }
    }
    for (prefix, pending) in pending {
        if let Pending::Neither { step, past } = pending {
            return Some(Obstacle::Pending {
                prefix: context.prefixes.name(*prefix),
                step: last(*step),
                past: last(*past),
            });
        }
    }
    unknown
}

fn dropped(context: &Context, reason: &Reason) -> Dropped {
    match reason {
        Reason::NotEstablished => Dropped::NotEstablished,
        Reason::BrokenBy(prefix) => {
            let step = context.prefixes.last(*prefix).map_or("", |step| step.name.as_str());
            Dropped::BrokenBy(step.to_owned())
        }
        Reason::NotAtStart => Dropped::NotAtStart,
        Reason::Unsupported => Dropped::Unsupported,
        Reason::TooManyCases => Dropped::TooManyCases,
    }
}

/// The sequence `x, …, y, next(x)`.
fn failing(context: &Context, closure: &Closure, member: usize, step: usize) -> Vec<Line> {
    let mut chain = Vec::new();
    let mut at = Some(member);
    while let Some(member) = at {
        // INVARIANT: `after` leads back to a member that is irreversible with the prefix itself; a
        // block may be revisited once its cases were widened, so stop at the first repetition.
        if chain.contains(&member) {
            break;
        }
        chain.push(member);
        at = closure.members[member].after;
    }
    chain.reverse();
    let mut lines = vec![line(context, 1, Block { prefix: closure.prefix, complete: false }, 0)];
    for (instance, member) in chain.iter().enumerate() {
        lines.push(line(context, instance + 2, closure.members[*member].block, 0));
    }
    let already = context.prefixes.all[closure.prefix].steps.len();
    let complete = !context.prefixes.is_proper(step);
    lines.push(line(context, 1, Block { prefix: step, complete }, already));
    lines
}

fn line(context: &Context, instance: usize, block: Block, from: usize) -> Line {
    let data = &context.prefixes.all[block.prefix];
    let operation = &context.model.operations[data.operation.0];
    let names = linchpin_subop::Names::of(context.model, operation);
    let steps = &data.steps[from..];
    Line {
        instance,
        operation: operation.name.clone(),
        steps: steps.iter().map(|step| operation.sub_operations[*step].name.clone()).collect(),
        texts: steps
            .iter()
            .map(|step| names.sub_operation(&operation.sub_operations[*step]))
            .collect(),
        complete: block.complete,
    }
}

fn unchecked(written: &Model, context: &Context) -> Vec<String> {
    let is_asked = |after: SubOperationId| {
        context.prefixes.all.iter().any(|prefix| {
            prefix.operation == after.operation
                && prefix.steps.last() == Some(&after.index)
                && !prefix.next.is_empty()
        })
    };
    let lines = written.invariants.iter();
    let unasked = lines.filter(|line| line.after.is_some_and(|after| !is_asked(after)));
    unasked
        .map(|line| linchpin_subop::print_invariant(written, line).trim_end_matches(';').to_owned())
        .collect()
}

fn invariants(context: &Context) -> Vec<FactLine> {
    let lines = context.facts.invariants.iter().map(|invariant| FactLine {
        text: words::invariant(context, invariant),
        dropped: invariant.dropped.as_ref().map(|reason| dropped(context, reason)),
        written: invariant.written,
    });
    lines.collect()
}

fn facts(context: &Context) -> Vec<PrefixFacts> {
    let mut all = Vec::new();
    for prefix in context.prefixes.proper() {
        let stable = context.facts.at[prefix].iter().map(|candidate| FactLine {
            text: words::statement(context, prefix, &candidate.statement),
            dropped: candidate.dropped.as_ref().map(|reason| dropped(context, reason)),
            written: candidate.written,
        });
        all.push(PrefixFacts {
            operation: context.model.operations[context.prefixes.all[prefix].operation.0]
                .name
                .clone(),
            prefix: context.prefixes.name(prefix),
            stable: stable.collect(),
            live: context
                .facts
                .live(prefix)
                .map(|known| words::condition(context, prefix, known))
                .collect(),
        });
    }
    all
}
