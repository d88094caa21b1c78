//! The mutation campaign: every mutant of a model is verified by every engine. One that survives
//! does the same as the model, or shows a hole in the specification or in the bounds. Of a model
//! that is wrong, mutants that are right are hints how to repair it.

use crate::climb::{Climb, climb, sooner};
use crate::ladder::{Free, Ladder};
use crate::load::load;
use crate::mutants::{Mutant, mutants};
use crate::{Contradiction, ENGINES, Verification, VerifyError};
use linchpin_engine::{Answer, Language, Request, Stat, Stuck, Wrong};
use linchpin_lang::Config;
use linchpin_verdict::Verdict;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Something is wrong with it.
    Killed {
        /// The engine that found it.
        by: &'static str,
        /// What is wrong.
        wrong: Option<Wrong>,
    },
    /// It is right, but not at the points that it claims.
    PointsWrong,
    /// Nothing is wrong with it.
    Survived {
        /// The engine with the strongest answer.
        by: &'static str,
        /// That answer.
        verdict: Verdict,
        /// Whether its operations can get stuck, which no proof is about.
        stuck: Stuck,
    },
    /// Not decided within the budget, for this reason.
    Undecided(String),
    /// Two engines contradict each other: one of them is wrong.
    Contradiction(Contradiction),
}

impl Fate {
    /// Its name in JSON.
    pub const fn id(&self) -> &'static str {
        match self {
            Fate::Killed { .. } => "killed",
            Fate::PointsWrong => "points-wrong",
            Fate::Survived { .. } => "survived",
            Fate::Undecided(_) => "undecided",
            Fate::Contradiction(_) => "contradiction",
        }
    }
}

/// A mutant and what became of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The mutant.
    pub mutant: Mutant,
    /// What became of it.
    pub fate: Fate,
    /// How long that took.
    pub seconds: f64,
}

/// How mutants are verified.
#[derive(Clone, Copy, Debug)]
pub struct Campaign<'a> {
    /// The model.
    pub source: &'a str,
    /// Its threads and parameters.
    pub config: &'a Config,
    /// How long the engines may work on a mutant.
    pub budget: Duration,
    /// How many are verified at a time.
    pub jobs: usize,
}

/// What came of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignResult {
    /// What became of the model itself.
    pub original: Fate,
    /// What became of its mutants, in the order of the text.
    pub mutants: Vec<Judged>,
    /// Whether a limit ended it before all were judged.
    pub is_cut_short: bool,
}

impl Campaign<'_> {
    /// Makes the mutants and verifies them. `progress` is told how many of how many are done.
    pub fn run(
        &self,
        request: &Request<'_>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<CampaignResult, VerifyError> {
        // Where the points of the model itself do not explain all runs, those of a mutant need not.
        let mut points = true;
        let mut original = self.judge(self.source, points, request)?;
        if original == Fate::PointsWrong {
            points = false;
            original = self.judge(self.source, points, request)?;
        }
        let all = mutants(self.source, self.config);
        let judged: Vec<Mutex<Option<Judged>>> = all.iter().map(|_| Mutex::default()).collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(mutant) = all.get(at) else { return };
                if request.limits.exceeded(0).is_some() {
                    return;
                }
                let start = Instant::now();
                let fate = self
                    .judge(&mutant.text, points, request)
                    .unwrap_or_else(|error| Fate::Undecided(error.to_string()));
                let seconds = start.elapsed().as_secs_f64();
                let said = Judged { mutant: mutant.clone(), fate, seconds };
                *judged[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, all.len());
            }
        };
        std::thread::scope(|scope| {
            // Where no thread can be made, this one does the work of all.
            for _ in 1..self.jobs.max(1) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let taken = judged.into_iter().map(|of| of.into_inner());
        let mutants: Vec<Judged> =
            taken.filter_map(|of| of.unwrap_or_else(PoisonError::into_inner)).collect();
        let is_cut_short = mutants.len() < all.len();
        Ok(CampaignResult { original, mutants, is_cut_short })
    }

    fn judge(
        &self,
        source: &str,
        points: bool,
        request: &Request<'_>,
    ) -> Result<Fate, VerifyError> {
        let Ok(loaded) = load("model", source, Language::Lin, self.config) else {
            return Ok(Fate::Undecided("it is no model".to_owned()));
        };
        let limits = sooner(&request.limits, Instant::now() + self.budget);
        let request = Request { limits, workers: Some(1), ..request.clone() };
        let ladder = Ladder::EVERY_ENGINE.within(self.budget);
        let how = Climb { ladder, engines: ENGINES, cores: 1, free: Free::NOTHING };
        Ok(fate(&climb(&loaded, &request, &how)?, points))
    }
}

/// What an answer means for a mutant; `points` says whether its claimed points count.
fn fate(found: &Verification, points: bool) -> Fate {
    if let Some(contradiction) = found.contradiction {
        return Fate::Contradiction(contradiction);
    }
    let Some(answer) = found.deciding() else { return Fate::Undecided("no answer".to_owned()) };
    match answer.verdict {
        Verdict::Violated => Fate::Killed {
            by: answer.engine,
            wrong: answer.counterexample.as_ref().map(|found| found.wrong),
        },
        Verdict::Inconclusive => Fate::Undecided(answer.reason.clone()),
        _ if points && found.answers.iter().any(points_fail) => Fate::PointsWrong,
        verdict => Fate::Survived { by: answer.engine, verdict, stuck: stuck(found) },
    }
}

/// What is known about operations that never return.
fn stuck(found: &Verification) -> Stuck {
    found.answers.iter().map(|answer| answer.stuck).max().unwrap_or_default()
}

/// Whether the points that are claimed do not explain every run.
fn points_fail(answer: &Answer) -> bool {
    let is_it = |(name, stat): &(&str, Stat)| *name == "points" && *stat == Stat::Word("fail");
    answer.stats.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Change;
    use linchpin_verdict::Calls;

    fn campaign(source: &str) -> CampaignResult {
        let config = Config::default();
        let budget = Duration::from_secs(10);
        let campaign = Campaign { source, config: &config, budget, jobs: 2 };
        campaign.run(&Request::default(), &|_, _| {}).expect("a result")
    }

    /// A counter that adds by compare and swap.
    const COUNTER: &str = "spec counter; shared n: int = 0;
        op fetch_add(k: int) -> int {
            loop {
                let old = n;
                if cas(n, old, old + k) { return old; }
            }
        }
        bounds { threads: 2, ops: 1, values: 1 }";

    #[test]
    fn a_split_cas_is_killed_and_no_engine_contradicts_another() {
        let found = campaign(COUNTER);
        assert!(matches!(found.original, Fate::Survived { .. }), "{:?}", found.original);
        let fate = |change| {
            let of = |judged: &&Judged| judged.mutant.change == change;
            &found.mutants.iter().find(of).expect("a mutant").fate
        };
        assert!(matches!(fate(Change::SplitCas), Fate::Killed { by: "refine", .. }));
        assert!(matches!(fate(Change::NegatedCondition), Fate::Killed { .. }));
        assert_no_contradiction(&found);
    }

    fn assert_no_contradiction(found: &CampaignResult) {
        for judged in &found.mutants {
            let is_clash = matches!(judged.fate, Fate::Contradiction(_));
            assert!(!is_clash, "{:?} of:\n{}", judged.fate, judged.mutant.text);
        }
    }

    /// Small models that every engine knows something about: what one proves of a mutant, no other
    /// refutes. The campaign over all models is in `docs/measurements/mutants.md`.
    #[test]
    fn no_mutant_is_proved_by_one_engine_and_refuted_by_another() {
        let (mut killed, mut proved) = (0, 0);
        for source in [
            include_str!("../../../models/treiber_stack.lin"),
            include_str!("../../../models/two_lock_queue.lin"),
            include_str!("../../../models/pair_snapshot.lin"),
            include_str!("../../../models/guide/locked_register.lin"),
        ] {
            let config = Config::default();
            let budget = Duration::from_secs(20);
            let campaign = Campaign { source, config: &config, budget, jobs: 2 };
            let request = Request { calls: Some(Calls::Each(2)), ..Request::default() };
            let found = campaign.run(&request, &|_, _| {}).expect("a result");
            assert_no_contradiction(&found);
            let is_proved = |fate: &Fate| {
                matches!(fate, Fate::Survived { verdict: Verdict::Proved, .. } | Fate::PointsWrong)
            };
            let fates = || found.mutants.iter().map(|judged| &judged.fate);
            killed += fates().filter(|fate| matches!(fate, Fate::Killed { .. })).count();
            proved += fates().filter(|fate| is_proved(fate)).count();
        }
        // Both verdicts are well represented.
        assert!(killed >= 20 && proved >= 5, "{killed} killed, {proved} proved");
    }

    #[test]
    fn a_wrong_model_is_repaired() {
        let split = COUNTER
            .replace("if cas(n, old, old + k) { return", "if n == old { n = old + k; return");
        let found = campaign(&split);
        assert!(matches!(found.original, Fate::Killed { .. }), "{:?}", found.original);
        let repairs: Vec<Change> = found
            .mutants
            .iter()
            .filter(|judged| matches!(judged.fate, Fate::Survived { .. }))
            .map(|judged| judged.mutant.change)
            .collect();
        assert!(repairs.contains(&Change::JoinCas), "{repairs:?}");
    }
}
