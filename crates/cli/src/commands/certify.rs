//! `linchpin certify`: confirm what `linchpin check` claims.

use super::check::certificate::{Certificate, Claim};
use super::check::recording::{Subject, property};
use crate::args::CertifyArgs;
use crate::limits::Stop;
use crate::{Status, json, model, output};
use anyhow::{Context, Result, bail};
use linchpin_certify::{
    CoreError, Operation, ReductionError, confirm_core, confirm_reduction, confirm_witness,
};
use linchpin_history::{History, NEVER, OpId, ValueId, crash};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a certificate may take where no limit is given.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn execute(args: &CertifyArgs) -> Result<Status> {
    let path = args.certificate.display();
    // Checking may take longer than finding: nobody should have to wait for ever.
    let mut limits = args.limits.clone();
    limits.time_limit = limits.time_limit.or(Some(PATIENCE));
    let json = args.common.json.then(|| json::envelope("certify", &path.to_string()));
    let _watched = Stop::watch(&limits, json);
    let text = model::read(&args.certificate)?;
    if let Ok(proof) = serde_json::from_str::<Json>(&text)
        && proof["format"] == "linchpin-reduction/1"
    {
        return reduction(args, &proof);
    }
    let certificate = Certificate::parse(&text).with_context(|| format!("`{path}`"))?;
    let subject = Subject::new(&certificate.recording)?;
    let file = args.history.as_ref().unwrap_or(&certificate.history);
    let mut history = subject.read(file, None)?.history;
    if history.operations.len() != certificate.operations {
        bail!(
            "`{path}` is about a history of {} operations, but `{}` has {}",
            certificate.operations,
            file.display(),
            history.operations.len()
        );
    }
    let property = property(certificate.recording.property);
    let applied = crash::apply(&mut history, property)?;
    let is_witness = matches!(certificate.claim, Claim::Witness(_));
    if !applied.interrupted.is_empty() && is_witness {
        // Before the next call is stricter than before its effect, and a plain deadline. What explains this explains the history;
        // but that nothing explains it would say nothing.
        applied.tighten(&mut history);
    }
    let (mut status, mut sentence) = judge(&subject, &history, &certificate.claim);
    if !applied.interrupted.is_empty() && !is_witness && status == Status::Violated {
        status = Status::Inconclusive;
        sentence +=
            "; that interrupted operations come before what their processes did next was not used";
    }
    if args.common.json {
        let mut object = json::envelope("certify", &path.to_string());
        let confirmed = match status {
            Status::Holds => json!(true),
            Status::Inconclusive => Json::Null,
            _ => json!(false),
        };
        object.insert("confirmed".to_owned(), confirmed);
        object.insert("reason".to_owned(), json!(sentence));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
    } else {
        output::write_stdout(&format!("{sentence}\n"))?;
    }
    Ok(status)
}

/// Confirms a proof of the `reduce` engine.
fn reduction(args: &CertifyArgs, proof: &Json) -> Result<Status> {
    let (status, sentence) = match confirm_reduction(proof) {
        Ok(cases) => (
            Status::Holds,
            format!(
                "confirmed: every sub-operation keeps the facts, and every pair can be reversed where \
                 the proof says so ({cases} cases looked at)"
            ),
        ),
        Err(error @ ReductionError::Malformed(_)) => {
            bail!("`{}`: {error}", args.certificate.display())
        }
        Err(error @ ReductionError::TooLarge(_)) => (Status::Inconclusive, error.to_string()),
        Err(error) => (Status::Violated, error.to_string()),
    };
    if args.common.json {
        let mut object = json::envelope("certify", &args.certificate.display().to_string());
        let confirmed = match status {
            Status::Inconclusive => Json::Null,
            status => json!(status == Status::Holds),
        };
        object.insert("confirmed".to_owned(), confirmed);
        object.insert("reason".to_owned(), json!(sentence));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
    } else {
        output::write_stdout(&format!("{sentence}\n"))?;
    }
    Ok(status)
}

/// Whether the claim is confirmed, and in a sentence why.
fn judge(subject: &Subject<'_>, history: &History, claim: &Claim) -> (Status, String) {
    match claim {
        Claim::Witness(order) => {
            for (key, part) in parts(history, order) {
                if let Err(error) =
                    confirm_witness(&*subject.object.spec, &part.operations, &part.claimed)
                {
                    return (Status::Violated, format!("not confirmed{key}: {error}"));
                }
            }
            let count = order.len();
            (
                Status::Holds,
                format!("confirmed: these {count} operations in this order explain the history"),
            )
        }
        Claim::Core(core, at) => {
            let parts = parts(history, core);
            // One object is enough to make the history wrong.
            let Some((key, part)) = parts.into_iter().find(|(_, part)| !part.claimed.is_empty())
            else {
                return (Status::Violated, "not confirmed: the core is empty".to_owned());
            };
            let (spec, name) = (&*subject.object.spec, subject.object.name.as_str());
            match confirm_core(spec, name, &part.operations, &part.claimed, at.map(u64::from)) {
                Ok(()) => {
                    let count = core.len();
                    let what =
                        format!("confirmed{key}: no order explains these {count} operations");
                    (Status::Holds, what)
                }
                Err(error @ CoreError::TooLarge) => {
                    (Status::Inconclusive, format!("cannot tell{key}: {error}"))
                }
                Err(error) => (Status::Violated, format!("not confirmed{key}: {error}")),
            }
        }
    }
}

/// The operations on one object, and those of them that the claim is about.
#[derive(Default)]
struct Part {
    operations: Vec<Operation>,
    claimed: Vec<usize>,
}

/// The history by key, with a word about the key for messages.
fn parts(history: &History, claimed: &[OpId]) -> Vec<(String, Part)> {
    let mut parts: BTreeMap<ValueId, Part> = BTreeMap::new();
    let mut places = Vec::with_capacity(history.operations.len());
    for (id, operation) in history.operations.iter().enumerate() {
        let part = parts.entry(operation.key).or_default();
        places.push(part.operations.len());
        part.operations.push(Operation {
            call: history.call(OpId::new(id)),
            response: history.response(OpId::new(id)),
            invoked: operation.invoked.into(),
            returned: if operation.returned == NEVER {
                u64::MAX
            } else {
                operation.returned.into()
            },
        });
    }
    for id in claimed {
        match history.operations.get(id.index()) {
            Some(operation) => {
                let part = parts.entry(operation.key).or_default();
                part.claimed.push(places[id.index()]);
            }
            // Beyond the end: every part refuses it.
            None => parts.entry(ValueId::NULL).or_default().claimed.push(usize::MAX),
        }
    }
    let name = |key: ValueId| match key {
        ValueId::NULL => String::new(),
        key => format!(" (key {})", history.values.get(key)),
    };
    parts.into_iter().map(|(key, part)| (name(key), part)).collect()
}
