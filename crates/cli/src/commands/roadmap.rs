//! `linchpin roadmap`: what a base point proof of a model has to show, and how far that is known.

use crate::args::RoadmapArgs;
use crate::limits::Stop;
use crate::model::{self, Mistakes};
use crate::progress::Progress;
use crate::{Status, output};
use anyhow::{Context, Result, bail};
use linchpin_engine::{Language, Origin, Request, Roadmap, RoadmapRequest};
use linchpin_engine::{Status as Known, StepCondition};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{NewBase, add_bases};
use linchpin_report::{Findings, RoadmapView, escaped, json};
use linchpin_verdict::{Values, counted};
use linchpin_verify::{Loaded, Verification, verify};
use std::path::Path;

/// The engine that makes roadmaps.
const BASE: &str = "base";

pub fn execute(args: &RoadmapArgs) -> Result<Status> {
    let subject = args.model.model.display().to_string();
    if args.write {
        can_write(&args.model.model)?;
    }
    let json = args.common.json.then(|| json::envelope("roadmap", &subject));
    let stop = Stop::watch(&args.limits, json);
    let source = model::read(&args.model.model)?;
    let loaded = load(args, &subject, &source)?;
    let found = ask(args, &loaded, &stop).with_context(|| format!("`{subject}`"))?;
    let findings = Findings {
        subject: &subject,
        program: loaded.program(),
        memory: Memory::Collected,
        verdict: found.verdict(),
        deciding: found.deciding(),
        answers: &found.answers,
        contradiction: None,
        in_detail: true,
        columns: output::drawing_columns(),
    };
    let Some(roadmap) = found.answers.iter().find_map(|answer| answer.roadmap.as_deref()) else {
        let found = match args.common.json {
            true => findings.json_of("roadmap"),
            false => findings.text(&output::verdict_on_stdout),
        };
        output::write_found(args.common.json, &found)?;
        return Ok(Status::from(findings.verdict));
    };
    let view = RoadmapView { findings, roadmap };
    write_out(args, &view)?;
    if args.write {
        write_conditions(args, &source, roadmap)?;
    }
    Ok(Status::from(findings.verdict))
}

/// An error if the model cannot be changed, before any work.
fn can_write(model: &Path) -> Result<()> {
    if model == Path::new("-") {
        bail!("--write changes a file: name one");
    }
    output::probe_file(model)
}

fn load(args: &RoadmapArgs, subject: &str, source: &str) -> Result<Loaded> {
    let extension = args.model.model.extension().filter(|extension| *extension != "lin");
    if let Some(other) = extension {
        bail!("`{subject}`: a model is a `.lin` file, not `.{}`", other.to_string_lossy());
    }
    let config = args.model.config();
    linchpin_verify::load(subject, source, Language::Lin, &config).map_err(model::mistakes)
}

/// Asks for the roadmap; where a condition does not hold, refinement says whether a run is wrong.
fn ask(args: &RoadmapArgs, loaded: &Loaded, stop: &Stop) -> Result<Verification> {
    let progress = Progress::new(&args.common);
    let observe = |at: linchpin_engine::Progress| {
        progress.show(|| format!("{}: {}", at.engine, counted(at.states, "state")));
    };
    let request = Request {
        calls: args.ops,
        values: args.values.map(Values::UpTo),
        objects: args.size.map(usize::from),
        limits: stop.limits(),
        stuck: false,
        roadmap: RoadmapRequest::ALL,
        progress: &observe,
        ..Request::default()
    };
    Ok(verify(loaded, &[BASE.to_owned()], &request)?)
}

/// The roadmap, where it is wanted.
fn write_out(args: &RoadmapArgs, view: &RoadmapView<'_>) -> Result<()> {
    if args.common.json {
        output::write_stdout(&view.json())?;
    } else if args.out.is_none() {
        output::write_stdout(&view.markdown())?;
    }
    if let Some(file) = &args.out {
        output::write_file(file, view.markdown().as_bytes())?;
    }
    if let Some(file) = &args.report {
        output::write_file(file, view.page().as_bytes())?;
    }
    Ok(())
}

/// Puts the conditions that were found into the model.
fn write_conditions(args: &RoadmapArgs, source: &str, roadmap: &Roadmap) -> Result<()> {
    let is_wanted = |condition: &&StepCondition| {
        condition.origin == Origin::Suggested && !matches!(condition.status, Known::Refuted(_))
    };
    let bases: Vec<NewBase<'_>> = roadmap
        .operations
        .iter()
        .flat_map(|operation| {
            operation.conditions.iter().filter(is_wanted).map(|condition| NewBase {
                operation: &operation.name,
                line: condition.line,
                step: &condition.step,
                formula: &condition.condition,
            })
        })
        .collect();
    let file = &args.model.model;
    let mistakes = |source: &str, diagnostics| Mistakes {
        file: file.display().to_string(),
        source: source.to_owned(),
        diagnostics,
    };
    let annotated = add_bases(source, &bases).map_err(|found| mistakes(source, found))?;
    // A model that was one must stay one.
    linchpin_lang::compile(&annotated.source, &args.model.config())
        .map_err(|found| mistakes(&annotated.source, found))
        .context("--write: the conditions that were found do not fit")?;
    if annotated.added > 0 {
        output::write_file(file, annotated.source.as_bytes())?;
    }
    if !args.common.quiet {
        let unplaced = annotated.unplaced.iter().filter_map(|at| bases.get(*at));
        for base in unplaced {
            let NewBase { operation, line, step, formula } = base;
            output::say(&escaped(&format!(
                "--write: not clear where in line {line} of `{operation}` is `{step}`: #[base({formula})]"
            )));
            output::say("\n");
        }
        let added = counted(annotated.added, "base condition");
        output::say(&format!(
            "--write: {added} added to `{}`\n",
            escaped(&file.display().to_string())
        ));
    }
    Ok(())
}
