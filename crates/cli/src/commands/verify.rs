//! `linchpin verify`: every engine that applies to a model answers; the strongest answer is the verdict.

mod answer;
mod csp;
mod derived;
mod heap;
mod progress;
mod reduce;
mod refine;

pub use derived::tries;
pub use refine::grouped;

use crate::args::{EngineArg, MemoryArg, ModelArgs, VerifyArgs};
use crate::limits::Stop;
use crate::{Status, json, model, output};
use answer::{Answer, Found, Word};
use anyhow::{Result, bail};
use linchpin_report::{Page, Timeline};
use serde_json::{Value as Json, json};
use std::path::Path;

pub fn execute(args: &VerifyArgs) -> Result<Status> {
    let named: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let json = args.common.json.then(|| json::envelope("verify", &named.join(", ")));
    let stop = Stop::watch(&args.limits, json);
    if args.report.is_some() && args.files.len() > 1 {
        bail!("--report is about one model: name one file");
    }
    let mut worst = Status::Holds;
    for file in &args.files {
        let subject = verify(args, file, &stop)?;
        if let Some(report) = &args.report {
            output::write_file(report, subject.page().as_bytes())?;
        }
        output::write_stdout(&if args.common.json { subject.json() } else { subject.text() })?;
        worst = match (worst, subject.status()) {
            (Status::Violated, _) | (_, Status::Violated) => Status::Violated,
            (Status::Inconclusive, _) | (_, Status::Inconclusive) => Status::Inconclusive,
            _ => Status::Holds,
        };
    }
    Ok(worst)
}

/// A file and what the engines say of it.
struct Subject {
    file: String,
    answers: Vec<Answer>,
    /// Whether the answers are to different questions (the assertions of a `.csp` file): then all of them must hold.
    separate: bool,
}

fn verify(args: &VerifyArgs, file: &Path, stop: &Stop) -> Result<Subject> {
    let shown = file.display().to_string();
    let extension = file.extension().and_then(|extension| extension.to_str());
    let reads: &[EngineArg] = match extension {
        Some("subop") => &[EngineArg::Reduce],
        Some("csp") => &[EngineArg::Refine],
        _ => &[EngineArg::Refine, EngineArg::Reduce],
    };
    if !args.engine.is_empty() && !args.engine.iter().any(|engine| reads.contains(engine)) {
        bail!(
            "`{shown}`: `refine` reads `.lin` and `.csp` files, `reduce` reads `.lin` and `.subop` files"
        );
    }
    let mut answers = match extension {
        Some("subop") => vec![reduce::answer(args, file)?],
        Some("csp") => csp::answers(args, file, stop)?,
        _ => of_model(args, file, stop)?,
    };
    let mut ignored = bounds_given(args);
    if extension == Some("subop") {
        // Sequential executions are tried within these.
        ignored.retain(|flag| !["--ops", "--values"].contains(flag));
    }
    if let (Some("subop" | "csp"), [_, ..], Some(answer)) =
        (extension, &ignored[..], answers.first_mut())
    {
        answer.notes.push(format!("{}: for `.lin` files only, ignored here", ignored.join(", ")));
    }
    Ok(Subject { file: shown, answers, separate: extension == Some("csp") })
}

/// The flags about bounds that were given.
fn bounds_given(args: &VerifyArgs) -> Vec<&'static str> {
    let given = [
        ("--threads", args.threads.is_some()),
        ("--ops", args.ops.is_some()),
        ("--values", args.values.is_some()),
        ("--size", args.size.is_some()),
        ("--memory", args.memory == MemoryArg::Reuse),
    ];
    given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

/// What the engines say of a `.lin` model.
fn of_model(args: &VerifyArgs, file: &Path, stop: &Stop) -> Result<Vec<Answer>> {
    let model = ModelArgs {
        model: file.to_path_buf(),
        threads: args.threads.clone(),
        set: args.set.clone(),
    };
    let compiled = model::load(&model)?;
    if args.progress.is_some() || args.ltl.is_some() {
        return Ok(vec![progress::answer(args, file, &compiled, stop)?]);
    }
    let asked = |engine: EngineArg| args.engine.contains(&engine);
    let mut answers = Vec::new();
    if args.engine.is_empty() || asked(EngineArg::Refine) {
        answers.push(refine::answer(args, file, &compiled, stop)?);
    }
    // A search for violations only, or one of a state space that is reduced in some other way, is not about proofs.
    let proofs = args.lossy.is_none() && args.memory == MemoryArg::Collected;
    if asked(EngineArg::Reduce) || (args.engine.is_empty() && proofs) {
        let answer = derived::answer(args, &compiled)?;
        // Unasked, it speaks only if it has something to say.
        if answer.word != Word::Inconclusive || asked(EngineArg::Reduce) {
            answers.push(answer);
        }
    }
    // Refinement tells a violation from a weakness of the method where a proof fails; and where it does not, the two check each other.
    if answers.iter().all(|answer| answer.engine == "reduce") {
        answers.push(refine::answer(args, file, &compiled, stop)?);
    }
    Ok(answers)
}

impl Subject {
    /// The strongest answer: a violation is one whatever others say, then proofs, then what holds within bounds. Where the
    /// answers are to different questions, the weakest, unless one is violated.
    fn word(&self) -> Word {
        let words = || self.answers.iter().map(|answer| answer.word);
        let violated = words().any(|word| word == Word::Violated);
        let word = if self.separate && !violated { words().min() } else { words().max() };
        word.unwrap_or(Word::Inconclusive)
    }

    fn status(&self) -> Status {
        match self.word() {
            Word::Violated => Status::Violated,
            Word::Proved | Word::ProvedIfSequential | Word::HoldsWithinBounds => Status::Holds,
            Word::Inconclusive => Status::Inconclusive,
        }
    }

    /// Engines that contradict each other: one of them is wrong, which nobody must overlook.
    fn contradiction(&self) -> Option<String> {
        let engine = |is: &dyn Fn(Word) -> bool| {
            self.answers.iter().find(|answer| is(answer.word)).map(|answer| answer.engine)
        };
        let proved = engine(&Word::is_proof)?;
        let violated = engine(&|word| word == Word::Violated)?;
        // A step that fails is no history that is not linearizable, but it is said where steps may fail.
        let is_fault = |answer: &Answer| answer.found.as_ref().is_some_and(|found| found.is_fault);
        let never_fails = |answer: &Answer| answer.stats["never_fails"] == json!(true);
        if self.answers.iter().any(is_fault) && !self.answers.iter().any(never_fails) {
            return None;
        }
        if self.calls_beyond_those_tried().is_some() {
            return None;
        }
        Some(format!(
            "`{proved}` proves what `{violated}` refutes: one of them is wrong. Please report this model."
        ))
    }

    /// How many calls the run that was found has, and with how many in a row sequential executions were tried, if those are fewer: a proof is one as far as
    /// sequential executions are right.
    fn calls_beyond_those_tried(&self) -> Option<(u64, u64)> {
        let tried =
            self.answers.iter().find_map(|answer| answer.stats["sequential_calls"].as_u64())?;
        let found = self.answers.iter().find_map(|answer| answer.found.as_ref())?;
        let calls = found.bars.len() as u64;
        (calls > tried).then_some((calls, tried))
    }

    /// Why a proof beside a violation is no contradiction.
    fn caution(&self) -> Option<String> {
        let is = |is: &dyn Fn(Word) -> bool| self.answers.iter().any(|answer| is(answer.word));
        let (calls, tried) = self.calls_beyond_those_tried()?;
        (is(&Word::is_proof) && is(&|word| word == Word::Violated)).then(|| {
            format!("the proof assumes that sequential executions are right, which was tried with up to {tried} calls in a row; the run found has {calls}")
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.file, self.word().in_words());
        if let Some(contradiction) = self.contradiction() {
            text += &format!("  CONTRADICTION: {contradiction}\n");
        }
        if let Some(caution) = self.caution() {
            text += &format!("  {caution}\n");
        }
        for answer in &self.answers {
            text += &answer.text();
        }
        text
    }

    fn json(&self) -> String {
        let mut object = json::envelope("verify", &self.file);
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("verdict", json!(self.word().in_json()));
        if let Some(contradiction) = self.contradiction() {
            insert("contradiction", json!(contradiction));
        }
        if let Some(caution) = self.caution() {
            insert("caution", json!(caution));
        }
        insert("engines", self.answers.iter().map(Answer::json).collect());
        if let Some(found) = self.answers.iter().find_map(|answer| answer.found.as_ref()) {
            insert("counterexample", found.json.clone());
        }
        format!("{}\n", Json::Object(object))
    }

    fn page(&self) -> String {
        let mut facts = vec![("model".to_owned(), self.file.clone())];
        for answer in &self.answers {
            let words = format!("{}: {}", answer.word.in_words(), answer.reason);
            facts.push((answer.engine.to_owned(), words));
            for assumption in &answer.assumptions {
                facts.push(("assuming".to_owned(), assumption.clone()));
            }
            if !answer.unreached.is_empty() {
                facts.push(("never executed".to_owned(), answer.unreached.join(", ")));
            }
        }
        let found = self.answers.iter().find_map(|answer| answer.found.as_ref());
        let (bars, rows) = found
            .map_or_else(Default::default, |Found { bars, rows, .. }| (bars.clone(), rows.clone()));
        Page {
            title: format!("linchpin verify {}", self.file),
            verdict: match found {
                Some(found) => format!("violated: {}", found.explanation),
                None => self.word().in_words().to_owned(),
            },
            is_bad: self.word() == Word::Violated,
            facts,
            timeline: Timeline::new(bars),
            rows,
        }
        .render()
    }
}
