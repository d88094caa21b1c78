//! `linchpin verify`: every engine that applies to a model answers; the strongest answer is the
//! verdict.

use crate::args::{
    AnswersArg, Clients, CrashPropertyArg, DomainArg, MemoryArg, ReductionArg, ReferenceArg,
    ThreadsArg, VerifyArgs,
};
use crate::limits::Stop;
use crate::progress::Progress;
use crate::{Status, errors, model, output};
use anyhow::{Context, Result, bail};
use linchpin_engine::{
    Answer, Artifact, DomainAsked, Extras, Language, PureAsked, Reduction, ReferenceAsked, Request,
    RoadmapRequest, ShapeRequest, ThreadsAsked,
};
use linchpin_ir::interpreter::Memory;
use linchpin_report::{Findings, json, summary, svg};
use linchpin_verdict::{CrashProperty, Verdict, counted};
use linchpin_verify::{
    ClientError, Loaded, ProgressQuestion, Verification, verify, verify_progress, with_clients,
};
use std::path::Path;

pub fn execute(args: &VerifyArgs) -> Result<Status> {
    let named: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let json = args.common.json.then(|| json::envelope("verify", &named.join(", ")));
    let is_batch = args.files.len() > 1;
    let outputs = [("--report", &args.report), ("--certificate", &args.certificate)];
    if is_batch && args.pictures.is_some() {
        bail!("--pictures is about one model: name one file");
    }
    if let (true, Some((flag, _))) = (is_batch, outputs.iter().find(|(_, path)| path.is_some())) {
        bail!("{flag} is about one model: name one file");
    }
    let stop = Stop::watch(&args.limits, json);
    stop.affords("--lossy", args.lossy.unwrap_or(0))?;
    let mut rows = Vec::new();
    let mut worst = Status::Holds;
    for (file, name) in args.files.iter().zip(named) {
        let (status, word) = match one(args, file, &stop) {
            Ok(verdict) => (Status::from(verdict), verdict.to_string()),
            // One bad file does not end a batch.
            Err(error) if is_batch => {
                errors::report(&error, "verify", args.common.json, args.common.quiet);
                (errors::status(&error), "not verified: see the error".to_owned())
            }
            Err(error) => return Err(error),
        };
        rows.push((name, word));
        worst = worst.worse(status);
    }
    if is_batch && !args.common.json {
        output::write_stdout(&summary(&rows))?;
    }
    Ok(worst)
}

/// Verifies a file and says what was found.
fn one(args: &VerifyArgs, file: &Path, stop: &Stop) -> Result<Verdict> {
    let name = file.display().to_string();
    let loaded = read(args, file)?;
    let mut found = ask(args, &loaded, stop).with_context(|| format!("`{name}`"))?;
    note_ignored(args, &loaded, &mut found);
    let contradiction = found.contradiction.map(|contradiction| contradiction.to_string());
    let findings = Findings {
        subject: &name,
        program: loaded.program(),
        memory: memory(args),
        verdict: found.verdict(),
        deciding: found.deciding(),
        answers: &found.answers,
        contradiction: contradiction.as_deref(),
        in_detail: !args.engine.is_empty(),
    };
    // The verdict first: it is never lost because a file cannot be written.
    output::write_stdout(&match args.common.json {
        true if args.with_run => findings.json_with_run(),
        true => findings.json(),
        false => findings.text(&output::verdict_on_stdout),
    })?;
    if let Some(report) = &args.report {
        output::write_file(report, findings.page(loaded.subject().text).as_bytes())?;
    }
    write_pictures(args, &found)?;
    write_artifacts(args, &found)?;
    Ok(findings.verdict)
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
fn ask(args: &VerifyArgs, loaded: &Loaded, stop: &Stop) -> Result<Verification> {
    let progress = Progress::new(&args.common);
    let observe = |at: linchpin_engine::Progress| {
        let states = || counted(at.states, "state");
        progress.show(|| format!("{}: {}, depth {}", at.engine, states(), at.depth));
    };
    let request = request(args, stop, &observe);
    let question = match (&args.ltl, args.progress) {
        (Some(text), _) => ProgressQuestion::Formula { text: text.clone(), fair: args.fair },
        (None, Some(property)) => ProgressQuestion::Property(property),
        (None, None) => return Ok(verify(loaded, &args.engine, &request)?),
    };
    match verify_progress(loaded, &question, &request)? {
        Some(found) => Ok(found),
        None => bail!("--progress and --ltl are about `.lin` models"),
    }
}

fn memory(args: &VerifyArgs) -> Memory {
    match args.memory {
        MemoryArg::Collected => Memory::Collected,
        MemoryArg::Reuse => Memory::Reuse,
    }
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
        memory: memory(args),
        crashes: args.crashes,
        thread_crashes: args.thread_crashes,
        property: args.property.map(property),
        superfluous: args.superfluous,
        roadmap: RoadmapRequest { stated: true, ..RoadmapRequest::default() },
        // Time and memory are watched for the whole process; the engines are only told to stop.
        limits: stop.limits(),
        workers: args.workers.map(usize::from),
        points: !args.no_points,
        suggest_points: args.suggest_points,
        stuck: !args.safety_only,
        without: args.without.iter().flat_map(|without| left_out(*without)).copied().collect(),
        lossy: args.lossy,
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

fn property(of: CrashPropertyArg) -> CrashProperty {
    match of {
        CrashPropertyArg::Strict => CrashProperty::Strict,
        CrashPropertyArg::Recoverable => CrashProperty::Recoverable,
        CrashPropertyArg::Durable => CrashProperty::Durable,
        CrashPropertyArg::Buffered => CrashProperty::Buffered,
        CrashPropertyArg::Detectable => CrashProperty::Detectable,
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

fn left_out(without: ReductionArg) -> &'static [Reduction] {
    use Reduction::*;
    match without {
        ReductionArg::CanonicalHeap => &[CanonicalHeap],
        ReductionArg::DeadLocals => &[DeadLocals],
        ReductionArg::ThreadSymmetry => &[ThreadSymmetry],
        ReductionArg::ValueSymmetry => &[ValueSymmetry],
        ReductionArg::PartialOrder => &[PartialOrder],
        ReductionArg::MergedEvents => &[MergedEvents],
        ReductionArg::DistinctImages => &[DistinctImages],
        ReductionArg::ReachableImages => &[ReachableImages],
        ReductionArg::CrashPoints => &[CrashPoints],
        ReductionArg::JustInTime => &[JustInTime],
        ReductionArg::Antichain => &[Antichain],
        ReductionArg::All => &[
            CanonicalHeap,
            DeadLocals,
            ThreadSymmetry,
            ValueSymmetry,
            PartialOrder,
            MergedEvents,
            DistinctImages,
            ReachableImages,
            CrashPoints,
            JustInTime,
            Antichain,
        ],
    }
}

/// Flags that mean nothing for this file are said to be ignored.
fn note_ignored(args: &VerifyArgs, loaded: &Loaded, found: &mut Verification) {
    let given: &[(&str, bool)] = match loaded.subject().language() {
        Language::Lin => return,
        Language::Subop => &[
            ("--threads", args.threads.is_some()),
            ("--size", args.size.is_some()),
            ("--memory", args.memory == MemoryArg::Reuse),
        ],
        Language::Csp => &[
            ("--threads", args.threads.is_some()),
            ("--ops", args.ops.is_some()),
            ("--values", args.values.is_some()),
            ("--size", args.size.is_some()),
            ("--memory", args.memory == MemoryArg::Reuse),
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
