//! `linchpin verify`: the engines are asked in the order of the ladder; the strongest answer is the
//! verdict. Several models are verified side by side (`batch.rs`), again when they change
//! (`watch.rs`), and not again if the answer is known (`memory.rs`).

use crate::args::{
    AnswersArg, Clients, DomainArg, LimitArgs, MemoryArg, ReferenceArg, ThreadsArg, VerifyArgs,
};
use crate::limits::Stop;
use crate::progress::Progress;
use crate::{Status, model, output};
use anyhow::{Context, Result, bail};
use linchpin_engine::{
    Answer, Artifact, DiskAsked, DomainAsked, Extras, Language, PureAsked, ReferenceAsked, Request,
    RoadmapRequest, ShapeRequest, ThreadsAsked,
};
use linchpin_report::{Findings, json, svg};
use linchpin_verdict::{CrashProperty, Verdict, counted, grouped};
use linchpin_verify::ladder::SHORTEST_PATIENCE;
use linchpin_verify::{
    ClientError, Climb, Expectation, Ladder, Loaded, ProgressQuestion, Verification, verify,
    verify_progress, with_clients,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

mod batch;
mod cluster;
mod contradiction;
mod files;
mod flags;
mod memory;
mod outcome;
mod watch;

use batch::verify_all;
use contradiction::folders;
use files::Models;
use memory::{Key, Memory};
use outcome::{FileOutcome, Shown};
use watch::watch;

pub fn execute(args: &VerifyArgs) -> Result<Status> {
    flags::check(args)?;
    let models = Models::find(&args.files)?;
    let named: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let json = args.common.json.then(|| json::envelope("verify", &named.join(", ")));
    let outputs = [
        ("--certificate", args.certificate.is_some()),
        ("--pictures", args.pictures.is_some()),
        ("--smt2", args.smt2.is_some()),
        ("--disk", args.disk.is_some()),
        ("--cluster", args.cluster.is_some()),
    ];
    let given = outputs.iter().find(|(_, given)| *given);
    if let (true, Some((flag, _))) = (models.is_batch(), given) {
        bail!("{flag} is about one model: name one file");
    }
    let limits = match args.watch {
        // The time limit is for each time.
        true => LimitArgs { time_limit: None, ..args.limits.clone() },
        false => args.limits.clone(),
    };
    let stop = Stop::watch(&limits, json);
    stop.affords("--lossy", args.lossy.unwrap_or(0))?;
    let all = |models: &Models| all(args, models, &stop);
    if args.watch { watch(args, &stop, all) } else { all(&models) }
}

/// Verifies the models and says what was found.
fn all(args: &VerifyArgs, models: &Models, stop: &Stop) -> Result<Status> {
    let memory = Memory::of_user();
    let one = |file: &Path, jobs: usize| {
        let work = Work { args, stop, memory: memory.as_ref(), is_batch: models.is_batch(), jobs };
        work.one(file)
    };
    let [file] = &models.files[..] else { return verify_all(args, models, stop, &one) };
    if models.is_batch() {
        return verify_all(args, models, stop, &one);
    }
    let outcome = one(file, 1)?;
    if let Some(process @ 1..) = args.process {
        output::say(&cluster::told(process, &outcome));
        return Ok(outcome.status());
    }
    // The verdict first: it is never lost because a file cannot be written.
    output::write_found(args.common.json, &outcome.printed())?;
    if outcome.is_remembered && !args.common.quiet {
        output::say("remembered from an earlier run: --no-cache verifies again\n");
    }
    if let (Some(report), Some(page)) = (&args.report, &outcome.page) {
        output::write_file(report, page.as_bytes())?;
    }
    Ok(outcome.status())
}

/// How files are verified.
struct Work<'a> {
    args: &'a VerifyArgs,
    stop: &'a Stop,
    memory: Option<&'a Memory>,
    /// Whether it is one of several.
    is_batch: bool,
    /// How many are verified at a time.
    jobs: usize,
}

impl Work<'_> {
    /// Verifies a file, or remembers what came of that.
    fn one(&self, file: &Path) -> Result<FileOutcome> {
        let args = self.args;
        let start = Instant::now();
        let name = file.display().to_string();
        let loaded = read(args, file)?;
        flags::check_model(args, &loaded, self.is_batch).with_context(|| format!("`{name}`"))?;
        let text = loaded.subject().text;
        let expected = Expectation::read(text, args.memory.into(), args.crashes != Some(0));
        let key = Key::of(args, &name, text, self.is_batch);
        let known = || self.memory?.recall(key.as_ref()?);
        if let Some(known) = known() {
            return Ok(FileOutcome { expected, ..known });
        }
        let mut found = ask(self, &loaded).with_context(|| format!("`{name}`"))?;
        note_ignored(args, &loaded, &mut found);
        flags::note_crashes(args, &loaded, &mut found);
        let seconds = start.elapsed().as_secs_f64();
        let outcome = FileOutcome { expected, seconds, ..shown(args, &loaded, &found, &folders()) };
        // What was cut short is not remembered.
        let is_decided = match outcome.verdict {
            Verdict::Inconclusive => {
                args.limits.time_limit.is_none() && start.elapsed() < SHORTEST_PATIENCE
            }
            _ => !outcome.is_contradiction && !outcome.is_unfinished,
        };
        let is_finished = is_decided && self.stop.reason().is_none();
        if let (true, Some(memory), Some(key)) = (is_finished, self.memory, &key) {
            memory.remember(key, &outcome);
        }
        write_pictures(args, &found)?;
        write_artifacts(args, &found)?;
        Ok(outcome)
    }
}

/// What is said about a file; engines that contradict each other are reported in one of these
/// folders.
fn shown(
    args: &VerifyArgs,
    loaded: &Loaded,
    found: &Verification,
    folders: &[PathBuf],
) -> FileOutcome {
    let mut findings = Findings {
        subject: loaded.subject().name,
        program: loaded.program(),
        memory: args.memory.into(),
        verdict: found.verdict(),
        deciding: found.deciding(),
        answers: &found.answers,
        contradiction: None,
        in_detail: !args.engines_named().is_empty(),
        columns: output::drawing_columns(),
    };
    let text = loaded.subject().text;
    let contradiction = found
        .contradiction
        .map(|found| contradiction::report(args, found, text, &findings, folders));
    findings.contradiction = contradiction.as_deref();
    FileOutcome {
        verdict: findings.verdict,
        reason: found.deciding().map_or_else(String::new, |answer| answer.reason.clone()),
        by: found.deciding().map(|answer| answer.engine.to_owned()),
        seconds: 0.0,
        shown: match args.common.json {
            true if args.with_run => Shown::Json(findings.json_with_run()),
            true => Shown::Json(findings.json()),
            false => Shown::Text(findings.text(&output::verdict_on_stdout)),
        },
        page: args.report.is_some().then(|| findings.page(text)),
        expected: None,
        is_contradiction: found.contradiction.is_some(),
        is_unfinished: found.answers.iter().any(|answer| answer.is_unfinished),
        is_remembered: false,
    }
}

/// The model with the threads that the command line gives it.
fn read(args: &VerifyArgs, file: &Path) -> Result<Loaded> {
    let config = args.config();
    let Some(Clients(clients)) = &args.client else { return model::load_any(file, &config) };
    if matches!(args.threads, Some(ThreadsArg::These(_))) {
        bail!("--client says how many threads there are: leave out --threads, or say `any`");
    }
    let loaded = model::load_any(file, &config)?;
    match with_clients(loaded, &config, clients) {
        Ok(loaded) => Ok(loaded),
        Err(ClientError::Load(error)) => Err(model::mistakes(error)),
        Err(error) => Err(error).with_context(|| format!("--client, `{}`", file.display())),
    }
}

/// Asks for what the command line asks for: linearizability, or a progress or temporal property.
fn ask(work: &Work<'_>, loaded: &Loaded) -> Result<Verification> {
    let Work { args, stop, .. } = *work;
    // Of several files, how many are done is shown instead.
    let progress = (!work.is_batch).then(|| Progress::new(&args.common));
    let observe = |at: linchpin_engine::Progress| {
        let Some(progress) = &progress else { return };
        progress.show(|| {
            let states = counted(at.states, "state");
            let to_come = at.to_come.map(|more| format!(", about {} to come", grouped(more)));
            let to_come = to_come.unwrap_or_default();
            format!("{}: {states}, depth {}{to_come}", at.engine, at.depth)
        });
    };
    if args.disk.is_some() && loaded.subject().language() != Language::Lin {
        bail!("--disk is about `.lin` models");
    }
    let request = request(args, stop, &observe);
    if let Some(hosts) = &args.cluster {
        return cluster::verified(args, hosts, loaded, &request);
    }
    let question = match (&args.ltl, args.progress) {
        (Some(text), _) => ProgressQuestion::Formula { text: text.clone(), fair: args.fair },
        (None, Some(property)) => ProgressQuestion::Property(property),
        (None, None) if args.engines_named().is_empty() => return climbed(work, loaded, request),
        (None, None) => return Ok(verify(loaded, &args.engines_named(), &request)?),
    };
    match verify_progress(loaded, &question, &request)? {
        Some(found) => Ok(found),
        None => bail!("--progress and --ltl are about `.lin` models"),
    }
}

/// Asks the engines in the order of the ladder.
fn climbed(work: &Work<'_>, loaded: &Loaded, request: Request<'_>) -> Result<Verification> {
    let Work { args, stop, is_batch, jobs, .. } = *work;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = args.workers.map_or(cores, usize::from) / jobs.max(1);
    let ladder = match (args.wants_details(), is_batch) {
        (true, _) => Ladder::EVERY_ENGINE,
        (false, true) => Ladder::MANY,
        (false, false) => Ladder::ONE,
    };
    let ladder = args.limits.time_limit.map_or(ladder, |time| ladder.within(time));
    let climb =
        Climb { ladder, engines: linchpin_verify::ENGINES, cores: cores.max(1), free: args.free() };
    let request = Request { limits: stop.share(jobs), workers: Some(cores.max(1)), ..request };
    Ok(linchpin_verify::climb(loaded, &request, &climb)?)
}

fn request<'a>(
    args: &VerifyArgs,
    stop: &Stop,
    progress: &'a (dyn Fn(linchpin_engine::Progress) + Sync),
) -> Request<'a> {
    Request {
        calls: args.ops,
        values: args.values,
        objects: args.size.map(usize::from),
        memory: args.memory.into(),
        crashes: args.crashes,
        thread_crashes: args.thread_crashes,
        property: args.property.map(CrashProperty::from),
        superfluous: args.superfluous,
        roadmap: RoadmapRequest { stated: true, ..RoadmapRequest::default() },
        // Time and memory are watched for the whole process; the engines are only told to stop.
        // What is kept on disk, too, depends on how much memory there is.
        limits: if args.disk.is_some() { stop.share(1) } else { stop.limits() },
        workers: args.workers.map(usize::from),
        points: !args.no_points,
        suggest_points: args.suggest_points,
        stuck: !args.safety_only,
        without: args.without.iter().flat_map(|without| without.left_out()).collect(),
        lossy: args.lossy,
        disk: args
            .disk
            .as_ref()
            .map(|folder| DiskAsked { folder: folder.clone(), resume: args.resume }),
        search: args.search_asked(),
        extras: Extras {
            table: args.table,
            facts: args.facts,
            obligations: args.smt2.is_some(),
            certificate: args.certificate.is_some(),
            shown: args.report.is_some(),
        },
        shape: shape(args),
        progress,
    }
}

fn shape(args: &VerifyArgs) -> ShapeRequest {
    ShapeRequest {
        threads: match args.fixes_threads() {
            true => ThreadsAsked::OfProgram,
            false => ThreadsAsked::Any,
        },
        reference: match args.reference {
            ReferenceArg::Spec => ReferenceAsked::Specification,
            ReferenceArg::Own => ReferenceAsked::Own,
        },
        domain: match args.domain {
            DomainArg::Targets => DomainAsked::Targets,
            DomainArg::Kleene => DomainAsked::Kleene,
        },
        pure_answers: match (args.answers, args.domain) {
            (Some(AnswersArg::Seen), _) | (None, DomainArg::Targets) => PureAsked::Seen,
            (Some(AnswersArg::Claimed), _) | (None, DomainArg::Kleene) => PureAsked::Claimed,
        },
    }
}

/// Flags that mean nothing for this file are said to be ignored.
fn note_ignored(args: &VerifyArgs, loaded: &Loaded, found: &mut Verification) {
    let given: &[(&str, bool)] = match loaded.subject().language() {
        Language::Lin => return,
        Language::Subop => &[
            ("--threads", args.threads.is_some()),
            ("--preload", args.preload.is_some()),
            ("--size", args.size.is_some()),
            ("--memory", args.memory != MemoryArg::Collected),
        ],
        Language::Csp => &[
            ("--threads", args.threads.is_some()),
            ("--preload", args.preload.is_some()),
            ("--ops", args.ops.is_some()),
            ("--values", args.values.is_some()),
            ("--size", args.size.is_some()),
            ("--memory", args.memory != MemoryArg::Collected),
        ],
    };
    let ignored: Vec<&str> =
        given.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    if let (Some(answer), [_, ..]) = (found.answers.first_mut(), &ignored[..]) {
        answer.notes.push(format!("{}: means nothing for this file, ignored", ignored.join(", ")));
    }
}

/// Writes the pictures that were asked for.
fn write_pictures(args: &VerifyArgs, found: &Verification) -> Result<()> {
    let Some(folder) = &args.pictures else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    let mut written = 0;
    for picture in found.answers.iter().flat_map(|answer| &answer.pictures) {
        written += 1;
        let file = folder.join(format!("{written:02}.svg"));
        output::write_file(&file, svg(picture).as_bytes())?;
    }
    let written = counted(written, "picture");
    output::say(&format!("--pictures: {written} written to `{}`\n", folder.display()));
    Ok(())
}

/// Writes the certificate and the SMT-LIB files that were asked for.
fn write_artifacts(args: &VerifyArgs, found: &Verification) -> Result<()> {
    let artifacts = || found.answers.iter().flat_map(|answer: &Answer| &answer.artifacts);
    if let Some(path) = &args.certificate {
        let certificate = artifacts().find_map(|artifact| match artifact {
            Artifact::Certificate(text) => Some(text),
            Artifact::Obligation { .. } => None,
        });
        match (certificate, found.verdict()) {
            (_, Verdict::Violated) => {
                output::say("--certificate: not written, the model is violated\n");
            }
            (Some(text), _) => output::write_file(path, text.as_bytes())?,
            (None, _) => output::say("--certificate: there is no proof to write\n"),
        }
    }
    let Some(folder) = &args.smt2 else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    let questions = artifacts().filter_map(|artifact| match artifact {
        Artifact::Obligation { name, text } => Some((name, text)),
        Artifact::Certificate(_) => None,
    });
    let mut written = 0;
    for (name, text) in questions {
        let file = folder.join(format!("{written:04}_{name}.smt2"));
        output::write_file(&file, text.as_bytes())?;
        written += 1;
    }
    output::say(&format!(
        "--smt2: {} written to `{}`\n",
        counted(written, "question"),
        folder.display()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use linchpin_engine::{Counterexample, Wrong};

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        verify: VerifyArgs,
        #[command(flatten)]
        _common: crate::args::Common,
    }

    /// One engine shows what another refutes: neither is the verdict, and all that is needed to see
    /// it again is saved.
    #[test]
    fn a_contradiction_is_an_internal_error_with_a_reproducer() {
        let source = "spec register; shared x: int? = none; op write(v: int) { x = v; } \
                      op read() -> int? { return x; } bounds { threads: 1, ops: 1 }";
        let loaded = linchpin_verify::load("m.lin", source, Language::Lin, &Default::default())
            .expect("a model");
        let mut refuted = Answer::new("refine", Verdict::Violated, "a run is wrong");
        let wrong = Counterexample::new(Wrong::NotLinearizable, "it is");
        refuted.counterexample = Some(Box::new(wrong));
        let shows = Answer::new("shape", Verdict::Proved, "all runs are right");
        let found = Verification::new(vec![refuted, shows], false);
        assert!(found.contradiction.is_some());
        let Arguments { verify: args, .. } = Arguments::parse_from(["verify", "m.lin"]);
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing");
        let outcome = shown(&args, &loaded, &found, &[missing, folder.path().to_owned()]);
        assert_eq!(outcome.status(), Status::Input);
        let printed = outcome.printed();
        let first = printed.lines().next().expect("a line");
        assert!(first.starts_with("m.lin: INTERNAL ERROR: `shape` shows what `refine`"), "{first}");
        assert!(first.contains("Please report this model, with the file `"), "{first}");
        let saved: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        let [Ok(file)] = &saved[..] else { panic!("{saved:?}") };
        let text = std::fs::read_to_string(file.path()).expect("a reproducer");
        let saved: serde_json::Value = serde_json::from_str(&text).expect("an object");
        assert_eq!((&saved["shows"], &saved["refutes"]), (&"shape".into(), &"refine".into()));
        assert_eq!(saved["model"], source);
        assert_eq!(saved["answers"]["engines"][1]["verdict"], "proved");
    }
}
