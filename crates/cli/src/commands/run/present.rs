//! A run as JSON lines, as one JSON object, as a few lines of text, as a page.

use super::schedule;
use super::view::RunView;
use crate::args::{MemoryArg, RunArgs, Schedule};
use crate::json;
use crate::limits::Reason;
use linchpin_ir::interpreter::Wait;
use linchpin_ir::program::Program;
use linchpin_ir::run::{End, Run};
use linchpin_report::{Page, Timeline};
use serde_json::{Value as Json, json};

/// Moves shown before the one that went wrong.
const MAX_STEPS: usize = 40;

/// Columns of the drawing.
const WIDTH: usize = 100;

pub struct Presentation<'a> {
    pub args: &'a RunArgs,
    pub program: &'a Program,
    pub run: &'a Run,
    /// Absent for a replay.
    pub seed: Option<u64>,
    /// Why not all seeds were tried, if they were not.
    pub stopped: Option<Reason>,
}

impl<'a> Presentation<'a> {
    fn view(&self) -> RunView<'a> {
        RunView { program: self.program, run: self.run }
    }

    /// The history as JSON lines, with the steps between the events if asked for.
    pub fn history(&self) -> String {
        let mut lines = String::new();
        let mut events = self.run.events.iter().peekable();
        for time in 0..self.run.schedule.len() as u64 {
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
        insert("seed", json!(self.seed));
        insert("memory", json!(memory_name(self.args.memory)));
        insert("end", json!(self.end_name()));
        insert("reason", json!(self.end_sentence()));
        insert("history", self.run.events.iter().map(|event| self.view().event(event)).collect());
        insert("schedule", schedule::to_json(self.program, &self.run.schedule));
        if self.args.trace {
            let steps = 0..self.run.schedule.len() as u64;
            insert("trace", steps.filter_map(|time| self.view().step(time)).collect());
        }
        format!("{}\n", Json::Object(object))
    }

    fn end_name(&self) -> &'static str {
        match self.run.end {
            End::Completed => "completed",
            End::Faulted(_) => "fault",
            End::Blocked { .. } => "blocked",
            End::StepLimit => "step-limit",
        }
    }

    fn end_sentence(&self) -> String {
        match &self.run.end {
            End::Completed => "every operation returned".to_owned(),
            End::Faulted(fault) => fault.to_string(),
            End::Blocked { threads } => {
                let waits: Vec<String> = threads.iter().map(|wait| self.wait(wait)).collect();
                format!("blocked for ever: {}", waits.join("; "))
            }
            End::StepLimit => format!(
                "operations were still running after {} moves; --step-limit allows more",
                self.run.schedule.len()
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

    fn is_bad(&self) -> bool {
        matches!(self.run.end, End::Faulted(_) | End::Blocked { .. })
    }

    /// What people read: a drawing, and how it ended; if it ended badly, also the steps that led there.
    pub fn summary(&self) -> String {
        let mut text = String::from("\n");
        let timeline = self.view().timeline();
        if let Some(timeline) = timeline {
            text += &timeline.draw(WIDTH);
            text.push('\n');
        }
        if self.is_bad() {
            text += "The steps that led there:\n\n";
            let rows = self.view().rows();
            let hidden = rows.len().saturating_sub(MAX_STEPS);
            if hidden > 0 {
                text += &format!("  … {hidden} earlier moves: --trace shows them …\n");
            }
            for row in &rows[hidden..] {
                let line = row.line.map_or(String::new(), |line| format!("line {line}"));
                let padded =
                    format!("{:>5}  thread {}  {line:<9} {}", row.time, row.process, row.text);
                text += &format!("{}\n", padded.trim_end());
            }
            text.push('\n');
        }
        let seed = self.seed.map_or(String::new(), |seed| format!("seed {seed}: "));
        text += &format!("{seed}{}\n", self.end_sentence());
        if let Some(reason) = self.stopped {
            text += &format!("not every seed was tried: {}\n", reason.describe());
        }
        text
    }

    /// The run as a page.
    pub fn page(&self) -> String {
        let mut facts = vec![("model".to_owned(), self.args.model.model.display().to_string())];
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        match self.seed {
            Some(seed) => fact("seed", seed.to_string()),
            None => fact("schedule", "replayed".to_owned()),
        }
        if self.seed.is_some() {
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
            verdict: self.end_sentence(),
            is_bad: self.is_bad(),
            facts,
            timeline: Timeline::new(self.view().bars()),
            rows: self.view().rows(),
        }
        .render()
    }
}

fn memory_name(memory: MemoryArg) -> &'static str {
    match memory {
        MemoryArg::Collected => "collected",
        MemoryArg::Reuse => "reuse",
    }
}
