//! Fewer context switches: a run that goes wrong, made easier to follow.
//!
//! Where the space is too large to look for the run with the fewest switches, what one finds by
//! chance, or depth first, changes from thread to thread for no reason. Here the turns of a thread
//! that stand together are moved next to others of the same thread, and calls are left out, as long
//! as the run still goes wrong. Every candidate is made by the reference interpreter; whether its
//! answers can be explained is judged by the history engine, which shares nothing with the search.

use crate::judge::Judge;
use linchpin_engine::{Counterexample, Wrong};
use linchpin_ir::interpreter::{
    Choices, Machine, Memory, Move, Outcome, ScheduledMove, State, Status,
};
use linchpin_ir::program::Program;
use linchpin_ir::run::{End, Run, replay};
use linchpin_spec::Value;
use linchpin_verdict::{Limits, Outcome as Judged};
use std::time::{Duration, Instant};

/// So many candidates are tried at most.
const MOST_TRIED: usize = 4000;

/// A history of a candidate is not judged for longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs longer than this are not shrunk.
const LONGEST: usize = 4000;

/// Makes a counterexample easier to follow, where that can be done.
pub(crate) fn shrink(program: &Program, memory: Memory, found: &mut Counterexample) {
    let is_known = matches!(found.wrong, Wrong::NotLinearizable | Wrong::Fault);
    let crashes = found.schedule.iter().any(|made| made.what.is_crash());
    if !is_known || crashes || found.schedule.len() > LONGEST || found.switches < Some(2) {
        return;
    }
    let Some(mut shrinking) = Shrinking::new(program, memory, found) else { return };
    let script = Script::of(program, &found.schedule[found.preload..]);
    let Some(first) = shrinking.attempt(&script) else { return };
    let best = shrinking.improve(first);
    if Some(switches(&best.script.turns)) >= found.switches {
        return;
    }
    found.switches = Some(switches(&best.script.turns));
    found.schedule = best.run.schedule.clone();
    found.run = Some(best.run);
    // What the object could be was found out along the other run.
    found.possible.clear();
}

/// What the threads call, and whose turn it is.
#[derive(Clone)]
struct Script {
    /// For each thread, its calls.
    calls: Vec<Vec<(usize, Vec<Value>)>>,
    /// For each thread, the choices that its moves make, in order.
    choices: Vec<Vec<Choices>>,
    /// Who moves.
    turns: Vec<usize>,
}

/// A run that goes wrong.
struct Candidate {
    script: Script,
    run: Run,
}

impl Script {
    fn of(program: &Program, moves: &[ScheduledMove]) -> Script {
        let threads = program.threads.len();
        let mut script = Script {
            calls: vec![Vec::new(); threads],
            choices: vec![Vec::new(); threads],
            turns: Vec::new(),
        };
        for made in moves {
            let Some(thread) = made.what.thread().filter(|thread| *thread < threads) else {
                continue;
            };
            if let Move::Invoke { operation, arguments, .. } = &made.what {
                script.calls[thread].push((*operation, arguments.clone()));
            }
            if !made.choices.is_empty() {
                script.choices[thread].push(made.choices.clone());
            }
            script.turns.push(thread);
        }
        script
    }

    /// The turns as stretches of one thread: where each starts and ends.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for (at, thread) in self.turns.iter().enumerate() {
            match blocks.last_mut() {
                Some((start, end)) if self.turns[*start] == *thread => *end = at + 1,
                _ => blocks.push((at, at + 1)),
            }
        }
        blocks
    }

    /// The same with the turns of one block before the turn `to`.
    fn with_block_at(&self, (start, end): (usize, usize), to: usize) -> Script {
        let mut turns = self.turns.clone();
        let block: Vec<usize> = turns.drain(start..end).collect();
        let to = if to > start { to - (end - start) } else { to };
        turns.splice(to..to, block);
        Script { turns, ..self.clone() }
    }
}

/// How often the moving thread changes.
fn switches(turns: &[usize]) -> usize {
    turns.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

struct Shrinking<'a> {
    program: &'a Program,
    memory: Memory,
    machine: Machine,
    judge: Judge<'a>,
    wrong: Wrong,
    /// The moves of the preload, and the state after them.
    preload: Vec<ScheduledMove>,
    start: State,
    tried: usize,
}

impl<'a> Shrinking<'a> {
    fn new(program: &'a Program, memory: Memory, found: &Counterexample) -> Option<Shrinking<'a>> {
        let machine = Machine::new(program, memory);
        let preload = found.schedule.get(..found.preload)?.to_vec();
        let mut start = machine.initial().ok()?;
        for made in &preload {
            let Outcome::Next(next) =
                machine.attempt(&start, &made.what, &made.choices, None).outcome
            else {
                return None;
            };
            start = next;
        }
        let judge = Judge::new(program)?;
        let wrong = found.wrong;
        Some(Shrinking { program, memory, machine, judge, wrong, preload, start, tried: 0 })
    }

    /// Moves blocks and leaves out calls until nothing helps any more.
    fn improve(&mut self, mut best: Candidate) -> Candidate {
        while let Some(better) = self.moved(&best.script).or_else(|| self.shorter(&best.script)) {
            best = better;
        }
        best
    }

    /// The same with a block next to another one of its thread.
    fn moved(&mut self, script: &Script) -> Option<Candidate> {
        let (blocks, before) = (script.blocks(), switches(&script.turns));
        for (at, block) in blocks.iter().enumerate() {
            let is_same = |other: &&(usize, usize)| script.turns[other.0] == script.turns[block.0];
            let earlier = blocks[..at].iter().rev().find(is_same).map(|(_, end)| *end);
            let later = blocks[at + 1..].iter().find(is_same).map(|(start, _)| *start);
            for to in earlier.into_iter().chain(later) {
                let candidate = script.with_block_at(*block, to);
                if switches(&candidate.turns) >= before {
                    continue;
                }
                let found = self.attempt(&candidate);
                if found.as_ref().is_some_and(|found| switches(&found.script.turns) < before) {
                    return found;
                }
            }
        }
        None
    }

    /// The same without one of the calls.
    fn shorter(&mut self, script: &Script) -> Option<Candidate> {
        for thread in 0..script.calls.len() {
            for call in 0..script.calls[thread].len() {
                let mut candidate = script.clone();
                candidate.calls[thread].remove(call);
                let found = self.attempt(&candidate);
                let is_better = |found: &Candidate| {
                    found.script.turns.len() < script.turns.len()
                        && switches(&found.script.turns) <= switches(&script.turns)
                };
                if found.as_ref().is_some_and(is_better) {
                    return found;
                }
            }
        }
        None
    }

    /// The run of a script, if it goes wrong, with the turns that were taken.
    fn attempt(&mut self, script: &Script) -> Option<Candidate> {
        if self.tried >= MOST_TRIED {
            return None;
        }
        self.tried += 1;
        let mut schedule = self.preload.clone();
        schedule.extend(self.play(script)?);
        let run = self.wrong_run(&schedule)?;
        // What comes after the answer that nothing explains is left out.
        let mut run = run;
        while run.schedule.len() > self.preload.len() + 1 {
            let shorter = &run.schedule[..run.schedule.len() - 1];
            let Some(without) = self.wrong_run(shorter) else { break };
            run = without;
        }
        let taken = Script::of(self.program, &run.schedule[self.preload.len()..]);
        Some(Candidate { script: taken, run })
    }

    /// The moves of a script; a thread that has nothing to do, or waits, misses its turn.
    fn play(&self, script: &Script) -> Option<Vec<ScheduledMove>> {
        let mut state = self.start.clone();
        let mut calls: Vec<_> = script.calls.iter().map(|calls| calls.iter()).collect();
        let mut choices: Vec<_> = script.choices.iter().map(|choices| choices.iter()).collect();
        let mut moves = Vec::new();
        for &thread in &script.turns {
            let what = match state.threads.get(thread)?.status {
                Status::Idle => match calls[thread].next() {
                    Some((operation, arguments)) => {
                        let (operation, arguments) = (*operation, arguments.clone());
                        Move::Invoke { thread, operation, arguments }
                    }
                    None => continue,
                },
                Status::Returning { .. } => Move::Respond { thread },
                _ => Move::Step { thread },
            };
            let mut attempt = self.machine.attempt(&state, &what, &[], None);
            if !attempt.choices.is_empty() {
                let given = choices[thread].next().cloned().unwrap_or_default();
                attempt = self.machine.attempt(&state, &what, &given, None);
            }
            let made = ScheduledMove { what, choices: attempt.choices };
            match attempt.outcome {
                Outcome::Next(next) => state = next,
                Outcome::Fault(_) => {
                    moves.push(made);
                    return Some(moves);
                }
                // A call that cannot start is lost with its turn.
                Outcome::Disabled if matches!(made.what, Move::Invoke { .. }) => return None,
                Outcome::Disabled => continue,
            }
            moves.push(made);
        }
        Some(moves)
    }

    /// The run of a schedule, if it goes wrong as the first one did.
    fn wrong_run(&self, schedule: &[ScheduledMove]) -> Option<Run> {
        let run = replay(self.program, self.memory, schedule).ok()?;
        let is_wrong = match (&run.end, self.wrong) {
            (End::Faulted(_), wrong) => wrong == Wrong::Fault,
            (_, Wrong::NotLinearizable) => {
                let deadline = Some(Instant::now() + PATIENCE);
                let limits = Limits { deadline, ..Limits::default() };
                matches!(self.judge.judge(&run, limits)?, Judged::Violated(_))
            }
            _ => false,
        };
        is_wrong.then_some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_lang::{Config, compile};
    use linchpin_refine::{Strategy, VerifyOptions, Walk, Walks, verify};
    use linchpin_space::Bounds;
    use linchpin_verdict::Calls;

    const MODELS: [&str; 4] = [
        include_str!("../../../models/broken/treiber_stack_split_pop_cas.lin"),
        include_str!("../../../models/broken/lazy_set_no_mark.lin"),
        include_str!("../../../models/broken/dglm_queue_split_head_cas.lin"),
        include_str!("../../../models/broken/pair_snapshot_no_reread.lin"),
    ];

    /// What random walks find, as they find it, and the fewest switches that are needed.
    fn found(program: &Program, seed: u64) -> (Counterexample, usize) {
        let bounds = Bounds {
            calls: Calls::Each(3),
            values: linchpin_verdict::Values::UpTo(2),
            objects: None,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        };
        let mut options = VerifyOptions::new(bounds);
        options.strategy = Strategy::Walks(Walks { walk: Walk::Uniform, seed, runs: 1_000_000 });
        options.search.workers = 1;
        let fewest = verify(program, &options, &|_| {}).expect("a report");
        let fewest = fewest.outcome.violation().expect("it is wrong").switches;
        options.shortest_budget = 0;
        let report = verify(program, &options, &|_| {}).expect("a report");
        let wrong = report.outcome.violation().expect("it is wrong");
        let mut found = Counterexample::new(Wrong::NotLinearizable, "");
        found.schedule = wrong.schedule.clone();
        found.run = Some(wrong.run.clone());
        found.switches = Some(wrong.switches);
        (found, fewest)
    }

    #[test]
    fn what_is_shrunk_still_goes_wrong() {
        let (mut before, mut after, mut least) = (0, 0, 0);
        for source in MODELS {
            let program = compile(source, &Config::default()).expect("a model").program;
            for seed in 0..4 {
                let (mut shrunk, fewest) = found(&program, seed);
                before += shrunk.switches.unwrap_or(0);
                shrink(&program, Memory::Collected, &mut shrunk);
                let run = replay(&program, Memory::Collected, &shrunk.schedule).expect("a run");
                assert_eq!(Some(&run), shrunk.run.as_ref());
                let judge = Judge::new(&program).expect("a specification");
                let judged = judge.judge(&run, Limits::default());
                assert!(matches!(judged, Some(Judged::Violated(_))), "seed {seed}\n{source}");
                let turns = Script::of(&program, &run.schedule).turns;
                assert_eq!(shrunk.switches, Some(switches(&turns)));
                assert!(switches(&turns) >= fewest, "seed {seed}\n{source}");
                after += switches(&turns);
                least += fewest;
            }
        }
        println!("{before} switches, {after} after shrinking, {least} are needed");
        assert!(after * 2 < before && after < least * 2, "{before} {after} {least}");
    }
}
