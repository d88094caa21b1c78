//! A counterexample, made again by the reference interpreter, with every state along it.

use super::goes_on::{GoesOn, goes_on};
use super::state::{Assigned, Drawing};
use super::{CallView, CycleView, InterleavingView, StateView, StepKind, StepView};
use crate::changes::{changes, machine};
use crate::run::RunView;
use linchpin_engine::{Counterexample, Step, Wrong};
use linchpin_ir::interpreter::{
    LineRecord, Machine, Memory, Move, Outcome, Path, ScheduledMove, State, StepRecord, Wait,
};
use linchpin_ir::program::Program;
use linchpin_ir::run::{Event, EventKind, Run, replay};

/// So many objects of states, all together, are drawn: beyond that a page would be too large.
const MAX_OBJECTS: usize = 100_000;

/// A counterexample of a `.lin` model.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    /// The model.
    pub program: &'a Program,
    /// What `free` means.
    pub memory: Memory,
    /// What goes wrong.
    pub found: &'a Counterexample,
}

/// A run with the waits at its end and what repeats.
struct Made {
    run: Run,
    waits: Vec<Wait>,
    cycle: Option<CycleView>,
}

impl Replay<'_> {
    /// The run, step by step; `None` if the schedule is not one of the program.
    pub fn view(&self) -> Option<InterleavingView> {
        let made = self.make()?;
        let states = self.states(&made.run);
        let mut view = InterleavingView {
            threads: self.program.threads.iter().map(role).collect(),
            calls: self.calls(&made.run),
            steps: self.steps(&made.run),
            preload: self.found.preload,
            cycle: made.cycle,
            states,
        };
        let last = view.states.last().cloned();
        for wait in &made.waits {
            view.steps.push(self.wait(wait));
            view.states.extend(last.clone());
        }
        // INVARIANT: the states are one more than the steps, or none.
        if view.states.len() != view.steps.len() + 1 {
            view.states.clear();
        }
        self.mark_wrong(&mut view);
        Some(view)
    }

    /// The run and what comes after it.
    fn make(&self) -> Option<Made> {
        let found = self.found;
        let mut schedule = found.schedule.clone();
        let mut cycle = (!found.cycle.is_empty())
            .then(|| CycleView { from: schedule.len(), words: "again and again".to_owned() });
        schedule.extend(found.cycle.iter().cloned());
        let machine = machine(self.program, self.memory, &schedule);
        let end = follow(&machine, &schedule);
        let mut waits = Vec::new();
        if found.wrong == Wrong::Stuck {
            match end.as_ref().map(|end| goes_on(&machine, end)) {
                Some(GoesOn::Repeats { moves, from }) => {
                    let words = "one way in which it goes on for ever".to_owned();
                    cycle = Some(CycleView { from: schedule.len() + from, words });
                    schedule.extend(moves);
                }
                Some(GoesOn::Waits) | Some(GoesOn::NotSeen) | None => {}
            }
        }
        if matches!(found.wrong, Wrong::Stuck | Wrong::Progress) && cycle.is_none() {
            let threads = 0..self.program.threads.len();
            let end = end.as_ref();
            waits = threads.filter_map(|thread| machine.wait(end?, thread)).collect();
            if !waits.is_empty() {
                let words = "waits for ever".to_owned();
                cycle = Some(CycleView { from: schedule.len(), words });
            }
        }
        let run = replay(self.program, self.memory, &schedule).ok()?;
        Some(Made { run, waits, cycle })
    }

    fn calls(&self, run: &Run) -> Vec<CallView> {
        let view = RunView { program: self.program, run };
        let mut calls: Vec<CallView> = Vec::new();
        // A thread that goes on after a crash is another process.
        let mut processes: Vec<usize> = Vec::new();
        let threads = self.program.threads.len().max(1);
        for event in &run.events {
            let at = step_of(event);
            match event.kind {
                EventKind::Invoke => {
                    processes.push(event.process);
                    calls.push(CallView {
                        thread: event.process % threads,
                        process: event.process,
                        call: view.call(event),
                        answer: None,
                        from: at,
                        to: None,
                        core: self.found.core.contains(&calls.len()),
                    });
                }
                EventKind::Ok | EventKind::RecoveredOk | EventKind::RecoveredFail => {
                    let open = processes.iter().rposition(|process| *process == event.process);
                    let Some(call) = open.and_then(|open| calls.get_mut(open)) else { continue };
                    call.to = Some(at);
                    call.answer = Some(match event.kind {
                        EventKind::RecoveredFail => "no effect".to_owned(),
                        _ => view.answered(event).unwrap_or_default(),
                    });
                }
            }
        }
        calls
    }

    fn steps(&self, run: &Run) -> Vec<StepView> {
        let mut changes = changes(self.program, self.memory, &run.schedule).into_iter();
        let rows = RunView { program: self.program, run }.rows();
        let moves = run.schedule.iter().zip(&run.trace).zip(rows);
        let step = |((made, record), row): ((&ScheduledMove, _), crate::Row)| {
            let record: &StepRecord = record;
            let mut lines: Vec<u32> = Vec::new();
            for line in record.actions.iter().map(|action| action.line).chain(row.line) {
                if line > 0 && !lines.contains(&line) {
                    lines.push(line);
                }
            }
            let text = match row.text.is_empty() {
                true => format!("{} returns", row.operation),
                false => row.text,
            };
            StepView {
                kind: kind(&made.what),
                thread: made.what.thread(),
                operation: row.operation,
                lines,
                text: if made.what == Move::Crash { "crash".to_owned() } else { text },
                changed: changes.next().unwrap_or_default(),
                rows: record.lines.iter().map(LineRecord::sentence).collect(),
                ..StepView::default()
            }
        };
        moves.map(step).collect()
    }

    fn wait(&self, wait: &Wait) -> StepView {
        let operation = self.program.operations.get(wait.operation);
        StepView {
            kind: StepKind::Wait,
            thread: Some(wait.thread),
            operation: operation.map_or(String::new(), |operation| operation.name.clone()),
            lines: vec![wait.line],
            text: format!("waits for {}", wait.reason),
            ..StepView::default()
        }
    }

    /// The states before, between and after the moves; none if they are too many to be looked at.
    fn states(&self, run: &Run) -> Vec<StateView> {
        let machine = machine(self.program, self.memory, &run.schedule);
        let Ok(mut state) = machine.initial() else { return Vec::new() };
        let drawing = Drawing::new(self.program);
        let mut assigned = vec![Assigned::new(); self.program.threads.len()];
        let mut all = vec![drawing.state(&state, &assigned)];
        let mut objects = state.heap.len();
        for made in &run.schedule {
            let attempt = machine.attempt(&state, &made.what, &made.choices, None);
            self.assign(&mut assigned, &state, &made.what, &attempt.path);
            if let Outcome::Next(next) = attempt.outcome {
                state = next;
            }
            all.push(drawing.state(&state, &assigned));
            objects += state.heap.len();
            if objects > MAX_OBJECTS {
                return Vec::new();
            }
        }
        all
    }

    /// Which locals have been assigned after a move along a path.
    fn assign(&self, assigned: &mut [Assigned], before: &State, what: &Move, path: &Path) {
        let Some(thread) = what.thread() else {
            // After a crash no thread has any locals; `recover` has none of theirs.
            return assigned.iter_mut().for_each(Assigned::clear);
        };
        let operation = match what {
            Move::Invoke { operation, .. } => Some(*operation),
            _ => before.pending(thread),
        };
        let operation = operation.and_then(|at| self.program.operations.get(at));
        let (Some(of), Some(operation)) = (assigned.get_mut(thread), operation) else { return };
        if matches!(what, Move::Invoke { .. }) {
            *of = (0..operation.parameters.len()).collect();
        }
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        for (node, edge) in path {
            let node = operation.body.nodes.get(index(node.0));
            let Some(edge) = node.and_then(|node| node.edges.get(*edge)) else { continue };
            of.extend(
                edge.actions
                    .iter()
                    .filter_map(|(action, _)| action.answer())
                    .map(|local| index(local.0)),
            );
        }
    }

    /// The step where it goes wrong: the last that is not a way in which it goes on.
    fn mark_wrong(&self, view: &mut InterleavingView) {
        let is_at_end = matches!(
            self.found.wrong,
            Wrong::NotLinearizable | Wrong::Fault | Wrong::Sequential | Wrong::Trace
        );
        if let (true, Some(last)) = (is_at_end, view.steps.last_mut()) {
            last.wrong = true;
        }
    }
}

impl InterleavingView {
    /// A run of which only the steps are known.
    pub fn of_steps(steps: &[Step]) -> InterleavingView {
        let step = |step: &Step| StepView {
            thread: step.thread,
            operation: step.operation.clone(),
            lines: step.line.into_iter().collect(),
            text: step.text.clone(),
            ..StepView::default()
        };
        let threads = steps.iter().filter_map(|step| step.thread).max().map_or(0, |last| last + 1);
        let mut view = InterleavingView {
            threads: vec![String::new(); threads],
            steps: steps.iter().map(step).collect(),
            ..InterleavingView::default()
        };
        view.steps.iter_mut().last().into_iter().for_each(|last| last.wrong = true);
        view
    }
}

/// The state after a schedule.
fn follow(machine: &Machine, schedule: &[ScheduledMove]) -> Option<State> {
    let mut state = machine.initial().ok()?;
    for made in schedule {
        match machine.attempt(&state, &made.what, &made.choices, None).outcome {
            Outcome::Next(next) => state = next,
            Outcome::Disabled | Outcome::Fault(_) => return None,
        }
    }
    Some(state)
}

fn role(thread: &linchpin_ir::program::Thread) -> String {
    thread.role.clone().unwrap_or_default()
}

const fn kind(what: &Move) -> StepKind {
    match what {
        Move::Invoke { .. } => StepKind::Invoke,
        Move::Step { .. } | Move::Recover => StepKind::Step,
        Move::Respond { .. } => StepKind::Respond,
        Move::Crash | Move::CrashThread { .. } => StepKind::Crash,
    }
}

fn step_of(event: &Event) -> usize {
    usize::try_from(event.time).unwrap_or(usize::MAX)
}
