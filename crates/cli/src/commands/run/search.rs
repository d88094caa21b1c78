//! Runs, one a seed, until one goes wrong; or one from its schedule.

use super::finding::{Finding, JudgedBy};
use super::schedule;
use crate::args::{RunArgs, Schedule};
use crate::limits::Stop;
use crate::model::{self, MOST_RECORDED};
use crate::progress::Progress;
use anyhow::{Context, Result};
use linchpin_ir::program::Program;
use linchpin_ir::run::{Run, RunOptions, Runner, Scheduler, replay};
use linchpin_lang::Compiled;
use linchpin_verdict::grouped;
use linchpin_verdict::{StopReason, Verdict};
use linchpin_verify::Judge;
use std::collections::BTreeMap;
use std::path::Path;

/// The run that is shown, and what is known about the others.
pub struct Shown {
    /// With its steps.
    pub run: Run,
    /// Absent for a replay.
    pub seed: Option<u64>,
    pub finding: Finding,
    /// How many runs there were.
    pub tried: u64,
    /// How many of them were not decided.
    pub undecided: u64,
    /// By what those were judged that nothing is wrong with, and how many by each.
    pub judged_by: BTreeMap<JudgedBy, u64>,
    /// Why not all seeds were tried, if they were not.
    pub stopped: Option<StopReason>,
}

impl Shown {
    /// The word for all runs together.
    pub fn verdict(&self) -> Verdict {
        match self.stopped {
            Some(_) if self.finding.verdict() == Verdict::Holds => Verdict::Inconclusive,
            _ => self.finding.verdict(),
        }
    }
}

/// The first run that goes wrong; or else the first that is not decided; or else the last.
pub fn search(args: &RunArgs, compiled: &Compiled, stop: &Stop) -> Result<Shown> {
    let options = options(args, compiled);
    let runner = Runner::new(&compiled.program, options)?;
    let judge = Judge::new(&compiled.program);
    let progress = (args.tries > 1).then(|| Progress::new(&args.common));
    let (mut tried, mut undecided) = (0, 0);
    let mut judged_by: BTreeMap<JudgedBy, u64> = BTreeMap::new();
    let mut shown = (args.seed, Finding::Linearizable);
    for seed in (0..args.tries).map(|number| args.seed.wrapping_add(number)) {
        let run = runner.run(seed);
        let finding = Finding::of(&run, judge.as_ref(), stop);
        let verdict = finding.verdict();
        // What was stopped while it was judged counts as not tried, unless there is nothing else to
        // show.
        if verdict == Verdict::Inconclusive && stop.reason().is_some() && tried > 0 {
            break;
        }
        tried += 1;
        undecided += u64::from(verdict == Verdict::Inconclusive);
        if verdict == Verdict::Holds {
            *judged_by.entry(JudgedBy::of(&run)).or_default() += 1;
        }
        if verdict == Verdict::Violated || shown.1.verdict() == Verdict::Holds {
            shown = (seed, finding);
        }
        if verdict == Verdict::Violated || stop.reason().is_some() {
            break;
        }
        if let Some(progress) = &progress {
            progress.show(|| format!("{} of {} runs", grouped(tried), grouped(args.tries)));
        }
    }
    drop(progress);
    let (seed, finding) = shown;
    let is_early = tried < args.tries && finding.verdict() != Verdict::Violated;
    let stopped = stop.reason().filter(|_| is_early);
    // Only the run that is shown needs its steps.
    let traced = Runner::new(&compiled.program, RunOptions { trace: true, ..options })?;
    let run = traced.run(seed);
    Ok(Shown { run, seed: Some(seed), finding, tried, undecided, judged_by, stopped })
}

fn options(args: &RunArgs, compiled: &Compiled) -> RunOptions {
    RunOptions {
        operations: args.ops.map_or(compiled.bounds.ops.or_few(), |ops| ops as usize),
        values: args.values.unwrap_or(compiled.bounds.values.or_few()),
        scheduler: match args.schedule {
            Schedule::Random => Scheduler::Random,
            Schedule::Pct => Scheduler::Pct { depth: args.depth as usize },
        },
        memory: args.memory.into(),
        step_limit: args.step_limit,
        trace: false,
        crashes: args.crashes.map_or(compiled.bounds.crashes, usize::from),
        thread_crashes: args.thread_crashes.into(),
    }
}

/// The run that a schedule describes, judged like any other.
pub fn replayed(args: &RunArgs, program: &Program, file: &Path, stop: &Stop) -> Result<Shown> {
    let text = stop.ending_at_once(|| model::read_at_most(file, MOST_RECORDED))?;
    let schedule = schedule::parse(&text, program)
        .with_context(|| format!("`{}` is not a schedule of this model", file.display()))?;
    let run = replay(program, args.memory.into(), &schedule)
        .with_context(|| format!("`{}` does not fit this model", file.display()))?;
    let finding = Finding::of(&run, Judge::new(program).as_ref(), stop);
    let undecided = u64::from(finding.verdict() == Verdict::Inconclusive);
    let judged_by = BTreeMap::new();
    Ok(Shown { run, seed: None, finding, tried: 1, undecided, judged_by, stopped: None })
}
