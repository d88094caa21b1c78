//! `linchpin run`: execute a model and write the history it produced.

mod present;
pub mod schedule;
pub mod view;

use crate::args::{MemoryArg, RunArgs, Schedule};
use crate::limits::{Reason, Stop};
use crate::{Status, json, model, output};
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_ir::run::{End, Run, RunOptions, Runner, Scheduler, replay};
use linchpin_lang::Compiled;
use present::Presentation;

pub fn execute(args: &RunArgs) -> Result<Status> {
    let compiled = model::load(&args.model)?;
    let json =
        args.common.json.then(|| json::envelope("run", &args.model.model.display().to_string()));
    let stop = Stop::watch(&args.limits, json);
    let (run, seed, stopped) = match &args.replay {
        Some(file) => (replayed(args, &compiled.program, file)?, None, None),
        None => {
            let (run, seed, stopped) = search(args, &compiled, &stop)?;
            (run, Some(seed), stopped)
        }
    };
    let presentation = Presentation { args, program: &compiled.program, run: &run, seed, stopped };
    let text = match args.common.json {
        true => presentation.json(),
        false => presentation.history(),
    };
    if let Some(report) = &args.report {
        output::write_file(report, presentation.page().as_bytes())?;
    }
    match &args.output {
        Some(file) => output::write_file(file, text.as_bytes())?,
        None => output::write_stdout(&text)?,
    }
    if !args.common.quiet {
        eprint!("{}", presentation.summary());
    }
    Ok(status(&run, stopped))
}

fn status(run: &Run, stopped: Option<Reason>) -> Status {
    match run.end {
        End::Faulted(_) | End::Blocked { .. } => Status::Violated,
        End::StepLimit => Status::Inconclusive,
        End::Completed if stopped.is_some() => Status::Inconclusive,
        End::Completed => Status::Holds,
    }
}

fn memory(args: &RunArgs) -> Memory {
    match args.memory {
        MemoryArg::Collected => Memory::Collected,
        MemoryArg::Reuse => Memory::Reuse,
    }
}

/// The first run that goes wrong, or the last one; with its seed, and why the search ended early if it did.
fn search(args: &RunArgs, compiled: &Compiled, stop: &Stop) -> Result<(Run, u64, Option<Reason>)> {
    let options = RunOptions {
        operations: args.ops.map_or(compiled.bounds.ops, |ops| ops as usize),
        values: args.values.unwrap_or(compiled.bounds.values),
        scheduler: match args.schedule {
            Schedule::Random => Scheduler::Random,
            Schedule::Pct => Scheduler::Pct { depth: args.depth as usize },
        },
        memory: memory(args),
        step_limit: args.step_limit,
        trace: false,
    };
    let runner = Runner::new(&compiled.program, options)?;
    let progress = progress(args);
    let mut seed = args.seed;
    for tried in 1.. {
        let run = runner.run(seed);
        progress.inc(1);
        let wrong = matches!(run.end, End::Faulted(_) | End::Blocked { .. });
        let stopped = stop.reason();
        if wrong || tried >= args.tries || stopped.is_some() {
            progress.finish_and_clear();
            // Only the run that is shown needs its steps.
            let traced = Runner::new(&compiled.program, RunOptions { trace: true, ..options })?;
            return Ok((traced.run(seed), seed, stopped.filter(|_| !wrong && tried < args.tries)));
        }
        seed = seed.wrapping_add(1);
    }
    unreachable!("the loop ends by returning")
}

/// A bar on standard error while many seeds are tried; it hides itself where there is no terminal.
fn progress(args: &RunArgs) -> ProgressBar {
    if args.common.quiet || args.tries == 1 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {per_sec}, {eta} left");
    let bar = ProgressBar::new(args.tries);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn replayed(args: &RunArgs, program: &Program, file: &std::path::Path) -> Result<Run> {
    let text = model::read(file)?;
    let schedule = schedule::parse(&text, program)
        .with_context(|| format!("`{}` is not a schedule of this model", file.display()))?;
    replay(program, memory(args), &schedule)
        .with_context(|| format!("`{}` does not fit this model", file.display()))
}
