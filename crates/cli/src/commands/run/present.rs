//! A run as JSON lines, as one JSON object, as a few lines of text, as a page.

use super::again;
use super::finding::{Finding, JudgedBy, has_crashed_thread};
use super::search::Shown;
use crate::args::{MemoryArg, RunArgs, Schedule};
use crate::{limits, output};
use linchpin_engine::Wrong;
use linchpin_ir::interpreter::Wait;
use linchpin_ir::program::Program;
use linchpin_ir::run::{End, Run};
use linchpin_report::RunView;
use linchpin_report::json;
use linchpin_report::{Page, Timeline, Tone, escaped, escaped_lines};
use linchpin_verdict::{Verdict, counted, grouped};
use serde_json::{Value as Json, json};

/// Moves shown before the one that went wrong.
const MAX_STEPS: usize = 40;

pub struct Presentation<'a> {
    pub args: &'a RunArgs,
    pub program: &'a Program,
    pub shown: &'a Shown,
}

impl<'a> Presentation<'a> {
    fn run(&self) -> &'a Run {
        &self.shown.run
    }

    fn view(&self) -> RunView<'a> {
        RunView { program: self.program, run: self.run() }
    }

    /// The history as JSON lines, with the steps between the events if asked for.
    pub fn history(&self) -> String {
        let mut lines = String::new();
        let mut events = self.run().events.iter().peekable();
        let mut crashes = self.run().crashes.iter().peekable();
        for time in 0..self.run().schedule.len() as u64 {
            if let Some(crash) = crashes.next_if(|crash| crash.time == time) {
                lines += &format!("{}\n", self.view().crash(crash));
            }
            if let Some(event) = events.next_if(|event| event.time == time) {
                lines += &format!("{}\n", self.view().event(event));
            }
            if self.args.trace
                && let Some(step) = self.view().step(time)
            {
                lines += &format!("{step}\n");
            }
        }
        lines
    }

    /// The whole run as one object.
    pub fn json(&self) -> String {
        let subject = self.args.model.model.display().to_string();
        let mut object = json::envelope("run", &subject);
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        let history: Json = self.view().history().into();
        let schedule = linchpin_report::schedule::to_json(self.program, &self.run().schedule);
        insert("verdict", json!(self.shown.verdict().id()));
        insert("seed", json!(self.shown.seed));
        insert("memory", json!(memory_name(self.args.memory)));
        insert("runs", json!({ "tried": self.shown.tried, "undecided": self.shown.undecided }));
        insert("end", json!(self.end_name()));
        insert("reason", json!(self.reason()));
        if self.shown.verdict() == Verdict::Violated {
            let core: Vec<usize> = match &self.shown.finding {
                Finding::NotLinearizable(violation) => {
                    violation.core.iter().map(|id| id.index()).collect()
                }
                _ => Vec::new(),
            };
            let wrong = match self.shown.finding {
                Finding::Fault => Wrong::Fault,
                Finding::Deadlock => Wrong::Stuck,
                _ => Wrong::NotLinearizable,
            };
            let counterexample = json!({
                "kind": wrong.id(), "history": history, "schedule": schedule, "core": core, "explanation": self.reason(),
            });
            insert("counterexample", counterexample);
        }
        insert("history", history);
        insert("schedule", schedule);
        if self.args.trace {
            let steps = 0..self.run().schedule.len() as u64;
            insert("trace", steps.filter_map(|time| self.view().step(time)).collect());
        }
        format!("{}\n", Json::Object(object))
    }

    fn end_name(&self) -> &'static str {
        match self.run().end {
            End::Completed => "completed",
            End::Faulted(_) => "fault",
            End::Blocked { .. } => "blocked",
            End::StepLimit => "step-limit",
        }
    }

    /// How the run ended.
    fn end_sentence(&self) -> String {
        let waits = |threads: &[Wait]| {
            threads.iter().map(|wait| self.wait(wait)).collect::<Vec<_>>().join("; ")
        };
        match (&self.run().end, &self.shown.finding) {
            (End::Completed, _) => "every operation returned".to_owned(),
            (End::Faulted(fault), _) => fault.to_string(),
            (End::Blocked { threads }, Finding::Deadlock) => {
                format!("blocked for ever: {}", waits(threads))
            }
            (End::Blocked { threads }, _) if has_crashed_thread(self.run()) => {
                format!("blocked; locks of a thread that crashed stay taken: {}", waits(threads))
            }
            (End::Blocked { threads }, _) => {
                format!("blocked, unless a further call helps: {}", waits(threads))
            }
            (End::StepLimit, _) if self.shown.seed.is_none() => {
                "the schedule ends before every operation has returned".to_owned()
            }
            (End::StepLimit, _) => format!(
                "operations were still running after {}; --step-limit allows more",
                counted(self.run().schedule.len(), "move")
            ),
        }
    }

    fn wait(&self, wait: &Wait) -> String {
        let operation = &self.program.operations[wait.operation].name;
        format!(
            "thread {} in `{operation}` at line {} waits for {}",
            wait.thread, wait.line, wait.reason
        )
    }

    /// What the verdict rests on.
    fn reason(&self) -> String {
        match self.shown.stopped {
            Some(by) => {
                let why = limits::describe(by);
                format!("{}; not every seed was tried: {why}", self.finding_sentence())
            }
            None => self.finding_sentence(),
        }
    }

    fn finding_sentence(&self) -> String {
        match &self.shown.finding {
            Finding::NotLinearizable(violation) => {
                format!("the history is not {}: {}", self.property(), violation.explanation)
            }
            Finding::NotJudged(reason) => format!("the history was not judged: {reason}"),
            Finding::Linearizable if self.shown.tried > 1 => {
                let tried = grouped(self.shown.tried);
                format!("{tried} runs, {}", self.properties())
            }
            Finding::Linearizable => {
                format!("{}; the history is {}", self.end_sentence(), self.property())
            }
            Finding::Fault | Finding::Deadlock | Finding::Unfinished => self.end_sentence(),
        }
    }

    fn property(&self) -> &'static str {
        JudgedBy::of(self.run()).words()
    }

    /// What all histories are: each by what it was judged by.
    fn properties(&self) -> String {
        let by = &self.shown.judged_by;
        if let [(one, _)] = by.iter().collect::<Vec<_>>()[..] {
            return format!("every history is {}", one.words());
        }
        let each = by.iter().map(|(by, count)| match by {
            JudgedBy::Linearizability => {
                format!("{} without a crash linearizable", grouped(*count))
            }
            _ => format!("{} {}", grouped(*count), by.words()),
        });
        format!("no history is wrong: {}", each.collect::<Vec<_>>().join(", "))
    }

    fn is_bad(&self) -> bool {
        self.shown.verdict() == Verdict::Violated
    }

    /// What people read: a drawing, and the verdict; if it is a bad one, also the steps that led
    /// there and how to see them again.
    pub fn summary(&self) -> String {
        let mut text = String::from("\n");
        if let Some(timeline) = self.view().timeline() {
            text += &format!("{}\n", timeline.draw(output::drawing_columns()));
        }
        if self.is_bad() {
            text += &self.last_steps();
        }
        let verdict = output::verdict_on_stderr(self.shown.verdict());
        let seed = self.shown.seed.filter(|_| self.shown.finding.verdict() != Verdict::Holds);
        let seed = seed.map_or(String::new(), |seed| format!(" with seed {seed}"));
        text += &format!("{verdict}{seed}: {}\n", escaped_lines(&self.reason()));
        if self.shown.undecided > 0 && self.shown.tried > 1 {
            let tried = counted(self.shown.tried, "run");
            text += &format!("not decided: {} of {tried}\n", grouped(self.shown.undecided));
        }
        if let (true, Some(seed)) = (self.is_bad(), self.shown.seed) {
            let command = again::command(std::env::args(), seed);
            text += &format!("again: {}\n", escaped(&command));
        }
        text
    }

    fn last_steps(&self) -> String {
        let mut text = String::from("The steps that led there:\n\n");
        let rows = self.view().rows();
        let hidden = rows.len().saturating_sub(MAX_STEPS);
        if hidden > 0 {
            let moves = counted(hidden, "earlier move");
            text += &format!("  … {moves}: --trace shows them …\n");
        }
        for row in &rows[hidden..] {
            text += &format!("{}\n", row.text());
        }
        text + "\n"
    }

    /// The run as a page.
    pub fn page(&self) -> String {
        let mut facts = vec![("model".to_owned(), self.args.model.model.display().to_string())];
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        match self.shown.seed {
            Some(seed) => fact("seed", seed.to_string()),
            None => fact("schedule", "replayed".to_owned()),
        }
        if self.shown.seed.is_some() {
            let schedule = match self.args.schedule {
                Schedule::Random => "random".to_owned(),
                Schedule::Pct => format!("pct, depth {}", self.args.depth),
            };
            fact("scheduler", schedule);
        }
        fact("threads", self.program.threads.len().to_string());
        fact("memory", format!("sequentially consistent, {}", memory_name(self.args.memory)));
        Page {
            title: format!("linchpin run {}", self.args.model.model.display()),
            verdict: format!("{}: {}", self.shown.verdict(), self.reason()),
            tone: Tone::of_verdict(self.shown.verdict()),
            facts,
            timeline: Timeline::new(self.view().bars()),
            rows: self.view().rows(),
            figures: Vec::new(),
        }
        .render()
    }
}

fn memory_name(memory: MemoryArg) -> &'static str {
    match memory {
        MemoryArg::Collected => "collected",
        MemoryArg::Reuse => "reuse",
        MemoryArg::TypeStable => "type-stable",
    }
}
