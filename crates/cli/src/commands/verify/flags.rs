//! Which engine, or which question, a flag belongs to. A flag that would do nothing is refused: it
//! was given for a reason.

use crate::args::{DomainArg, ReferenceArg, VerifyArgs};
use anyhow::{Result, bail};
use linchpin_engine::Source;
use linchpin_verify::{Loaded, Verification};

/// A flag of one or a few engines.
struct Flag {
    name: &'static str,
    is_given: bool,
    /// The engines that it tells something. No `--progress` or `--ltl` looks at it.
    engines: &'static [&'static str],
}

fn flags(args: &VerifyArgs) -> Vec<Flag> {
    let flag = |name, is_given, engines| Flag { name, is_given, engines };
    vec![
        flag("--search", args.search.is_some(), &["refine"]),
        flag("--disk", args.disk.is_some(), &["refine"]),
        flag("--cluster", args.cluster.is_some(), &["refine"]),
        flag("--lossy", args.lossy.is_some(), &["refine"]),
        flag("--no-points", args.no_points, &["refine"]),
        flag("--safety-only", args.safety_only, &["refine"]),
        flag("--suggest-points", args.suggest_points.is_some(), &["refine"]),
        flag("--property", args.property.is_some(), &["refine"]),
        flag("--superfluous", args.superfluous, &["refine"]),
        flag("--thread-crashes", args.thread_crashes > 0, &["refine"]),
        flag("--without", !args.without.is_empty(), &["refine", "base"]),
        flag("--table", args.table, &["reduce"]),
        flag("--facts", args.facts, &["reduce"]),
        flag("--smt2", args.smt2.is_some(), &["reduce"]),
        flag("--certificate", args.certificate.is_some(), &["reduce", "shape"]),
        flag("--reference", args.reference != ReferenceArg::Spec, &["shape"]),
        flag("--domain", args.domain != DomainArg::Targets, &["shape"]),
        flag("--answers", args.answers.is_some(), &["shape"]),
        flag("--pictures", args.pictures.is_some(), &["shape"]),
    ]
}

/// Refuses flags that tell nothing to what is asked.
pub fn check(args: &VerifyArgs) -> Result<()> {
    let asked = args.engines_named();
    let other = match (&args.progress, &args.ltl) {
        (Some(_), _) => Some("--progress"),
        (None, Some(_)) => Some("--ltl"),
        (None, None) => None,
    };
    if let (Some(other), true) = (other, !args.engine.is_empty()) {
        bail!("--engine: {other} asks an engine of its own; leave out one of the two");
    }
    for Flag { name, engines, .. } in flags(args).iter().filter(|flag| flag.is_given) {
        let quoted: Vec<String> = engines.iter().map(|engine| format!("`{engine}`")).collect();
        let whose = quoted.join(" and ");
        if let Some(other) = other {
            bail!("{name} is for {whose}: {other} does not look at it; leave out one of the two");
        }
        if !asked.is_empty() && !asked.iter().any(|of| engines.contains(&of.as_str())) {
            let only = asked.join("`, `");
            let add = engines.join(" --engine ");
            bail!("{name} is for {whose}, and only `{only}` is asked; add --engine {add}");
        }
    }
    if args.crashes.is_some_and(|crashes| crashes > 0)
        && let Some(other) = other
    {
        bail!("--crashes: {other} is about runs without crashes; leave out one of the two");
    }
    Ok(())
}

/// What is asked about crashes of a model that has none.
enum NoCrashes {
    /// A flag that is about them does nothing, for this reason.
    Flag(&'static str, &'static str),
    /// The model's own bounds ask for crashes, and nothing is persistent.
    Bounds,
}

impl NoCrashes {
    fn of(args: &VerifyArgs, loaded: &Loaded) -> Option<NoCrashes> {
        let Source::Lin { program, bounds } = loaded.subject().source else { return None };
        let crashes = args.crashes.unwrap_or(bounds.crashes);
        let is_persistent = program.persistence.is_some();
        let nothing = "nothing is persistent in this model, so there are no crashes of the system";
        let none = "it is about runs with crashes, and there are none: say --crashes 1";
        let none = if is_persistent { none } else { nothing };
        let has_any = (crashes > 0 && is_persistent) || args.thread_crashes > 0;
        if args.crashes.is_some_and(|crashes| crashes > 0) && !is_persistent {
            Some(NoCrashes::Flag("--crashes", nothing))
        } else if args.superfluous && !(has_any && is_persistent) {
            Some(NoCrashes::Flag("--superfluous", none))
        } else if args.property.is_some() && !has_any {
            Some(NoCrashes::Flag("--property", none))
        } else if crashes > 0 && !is_persistent {
            Some(NoCrashes::Bounds)
        } else {
            None
        }
    }
}

/// Refuses flags about crashes of a model that has none. Files of a batch may differ.
pub fn check_model(args: &VerifyArgs, loaded: &Loaded, is_batch: bool) -> Result<()> {
    match NoCrashes::of(args, loaded) {
        Some(NoCrashes::Flag(flag, why)) if !is_batch => bail!("{flag}: {why}"),
        _ => Ok(()),
    }
}

/// Says what was asked about crashes and came to nothing.
pub fn note_crashes(args: &VerifyArgs, loaded: &Loaded, found: &mut Verification) {
    let note = match NoCrashes::of(args, loaded) {
        Some(NoCrashes::Flag(flag, why)) => format!("{flag}: ignored; {why}"),
        Some(NoCrashes::Bounds) => {
            "`bounds` asks for crashes, but nothing is persistent, so there are none".to_owned()
        }
        None => return,
    };
    if let Some(answer) = found.answers.first_mut() {
        answer.notes.push(note);
    }
}
