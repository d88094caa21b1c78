//! `linchpin certify`: confirm what `linchpin check` and `linchpin verify` claim, and say what is
//! not confirmed.

use super::check::certificate::{self, Certificate, Evidence};
use super::check::confirm::{operation, unexplained};
use super::check::partial;
use super::check::recording::{Subject, property};
use crate::args::CertifyArgs;
use crate::limits::Stop;
use crate::{Status, model, output};
use anyhow::{Context, Result, bail};
use linchpin_certify::{
    Before, Budget, Claim, ComparedWith, Confirmed, CoreError, FileHash, Operation,
    ReductionCertificate, ReductionError, Sha256, ShapeCertificate, ShapeError, ShapeThreads,
    confirm_core_ordered, confirm_witness, read_header,
};
use linchpin_history::crash::Applied;
use linchpin_history::{History, OpId, Rank, ValueId, crash};
use linchpin_report::{escaped, json};
use linchpin_verdict::Sequential;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

/// How long a certificate may take where no limit is given.
const PATIENCE: Duration = Duration::from_secs(120);

/// What may be confirmed or not.
#[derive(Clone, Copy)]
enum Point {
    Interleavings,
    SequentialExecutions,
    SubOperations,
    Linearizable,
    Model,
    FrontEnd,
    Witness,
    Core,
    Recording,
}

impl Point {
    const fn id(self) -> &'static str {
        match self {
            Point::Interleavings => "interleavings-are-sequential",
            Point::SequentialExecutions => "sequential-executions",
            Point::SubOperations => "sub-operations",
            Point::Linearizable => "linearizable",
            Point::Model => "model",
            Point::FrontEnd => "front-end",
            Point::Witness => "witness",
            Point::Core => "core",
            Point::Recording => "recording",
        }
    }
}

/// What came of checking a certificate.
struct Findings {
    claim: Claim,
    status: Status,
    /// Why the claim is not confirmed.
    reason: Option<String>,
    confirmed: Vec<(Point, String)>,
    not_confirmed: Vec<(Point, String)>,
    /// What the certificate is about, each with the hash that it states.
    hashes: Vec<(&'static str, String, Sha256)>,
}

impl Findings {
    fn of(claim: Claim) -> Findings {
        Findings {
            claim,
            status: Status::Holds,
            reason: None,
            confirmed: Vec::new(),
            not_confirmed: Vec::new(),
            hashes: Vec::new(),
        }
    }

    fn refuse(mut self, status: Status, reason: String) -> Findings {
        (self.status, self.reason) = (status, Some(reason));
        self
    }

    /// One line for each point: names come from the certificate, which may be forged, and must not
    /// begin lines of their own.
    fn text(&self) -> String {
        let reason = self.reason.iter().map(|reason| format!("{}\n", escaped(reason)));
        let line =
            |word: &str, (_, words): &(Point, String)| format!("{word}: {}\n", escaped(words));
        let confirmed = self.confirmed.iter().map(|point| line("confirmed", point));
        let not = self.not_confirmed.iter().map(|point| line("not confirmed", point));
        reason.chain(confirmed).chain(not).collect()
    }

    fn json(&self, file: &str) -> String {
        let mut object = json::envelope("certify", file);
        let points = |points: &[(Point, String)]| -> Json {
            points.iter().map(|(id, words)| json!({ "id": id.id(), "words": words })).collect()
        };
        let hashes: Vec<Json> = self
            .hashes
            .iter()
            .map(|(what, name, hash)| json!({ "of": what, "name": name, "sha256": hash.to_string() }))
            .collect();
        let outcome = match self.status {
            Status::Holds => "confirmed",
            Status::Inconclusive => "inconclusive",
            _ => "refused",
        };
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("claim", json!(self.claim.id()));
        insert("claim_in_words", json!(self.claim.to_string()));
        insert("outcome", json!(outcome));
        insert("confirmed", points(&self.confirmed));
        insert("not_confirmed", points(&self.not_confirmed));
        insert("reason", json!(self.reason));
        insert("hashes", json!(hashes));
        format!("{}\n", Json::Object(object))
    }
}

pub fn execute(args: &CertifyArgs) -> Result<Status> {
    let path = args.certificate.display().to_string();
    // Checking may take longer than finding: it must end even if no limit is given.
    let mut limits = args.limits.clone();
    limits.time_limit = limits.time_limit.or(Some(PATIENCE));
    let json = args.common.json.then(|| json::envelope("certify", &path));
    let _watched = Stop::watch(&limits, json);
    let text = model::read_at_most(&args.certificate, model::MOST_RECORDED)?;
    let in_file = || format!("`{path}`");
    let (claim, json) = read_header(&text).with_context(in_file)?;
    let findings = match claim {
        Claim::LinearizableIfSequential => {
            reduction(&ReductionCertificate::read(&json).with_context(in_file)?)
                .with_context(in_file)?
        }
        Claim::Linearizable => {
            shape(&ShapeCertificate::read(&json).with_context(in_file)?).with_context(in_file)?
        }
        Claim::Witness | Claim::Core => {
            recorded(args, claim, &Certificate::read(claim, &json).with_context(in_file)?)?
        }
    };
    let found = if args.common.json { findings.json(&path) } else { findings.text() };
    output::write_found(args.common.json, &found)?;
    Ok(findings.status)
}

/// What became of a file that a certificate is about.
enum Found {
    Same,
    Missing,
    Changed(Sha256),
}

fn compared(stated: &FileHash, at: &Path) -> Found {
    match certificate::hash_of(at) {
        Ok(now) if now.sha256 == stated.sha256 => Found::Same,
        Ok(now) => Found::Changed(now.sha256),
        Err(_) => Found::Missing,
    }
}

/// Confirms a proof of the `reduce` engine.
fn reduction(certificate: &ReductionCertificate) -> Result<Findings> {
    let ReductionCertificate { name, sha256, source, .. } = certificate;
    let mut findings = Findings::of(Claim::LinearizableIfSequential);
    findings.hashes.push(("sub-operations", name.clone(), *sha256));
    findings.hashes.extend(source.iter().map(|from| ("source", from.file.clone(), from.sha256)));
    let source = source.as_ref().map(|from| (from, compared(from, Path::new(&from.file))));
    if let Some((from, Found::Changed(now))) = &source {
        let reason = changed(from, now);
        return Ok(findings.refuse(Status::Violated, reason));
    }
    let confirmed = match certificate.confirm() {
        Ok(confirmed) => confirmed,
        Err(error @ ReductionError::Malformed(_)) => bail!("{error}"),
        Err(error @ ReductionError::TooLarge(_)) => {
            return Ok(findings.refuse(Status::Inconclusive, error.to_string()));
        }
        Err(error) => return Ok(findings.refuse(Status::Violated, error.to_string())),
    };
    let words = format!(
        "every interleaving of the sub-operations of {} (sha256 {}) is equivalent to a sequential one, \
         for any number of threads ({} cases looked at)",
        quoted(name),
        sha256.short(),
        confirmed.cases
    );
    findings.confirmed.push((Point::Interleavings, words));
    findings.not_confirmed.push((Point::SequentialExecutions, sequential(&confirmed)));
    if let Some((from, found)) = source {
        let words = format!(
            "the sub-operations are those of {} (sha256 {})",
            quoted(&from.file),
            from.sha256.short()
        );
        match found {
            Found::Same if is_printed(certificate, &from.file) => {
                findings.confirmed.push((Point::SubOperations, words));
            }
            Found::Same => {
                let words = format!("that {words}, which has not changed");
                findings.not_confirmed.push((Point::SubOperations, words));
            }
            _ => {
                let words = format!("that {words}, which is not there");
                findings.not_confirmed.push((Point::SubOperations, words));
            }
        }
    }
    Ok(findings)
}

/// Confirms a proof of the `shape` engine.
fn shape(certificate: &ShapeCertificate) -> Result<Findings> {
    let ShapeCertificate { name, sha256, source, .. } = certificate;
    let mut findings = Findings::of(Claim::Linearizable);
    findings.hashes.push(("model", name.clone(), *sha256));
    findings.hashes.extend(source.iter().map(|from| ("source", from.file.clone(), from.sha256)));
    let source = source.as_ref().map(|from| (from, compared(from, Path::new(&from.file))));
    if let Some((from, Found::Changed(now))) = &source {
        let reason = changed(from, now);
        return Ok(findings.refuse(Status::Violated, reason));
    }
    let confirmed = match certificate.confirm() {
        Ok(confirmed) => confirmed,
        Err(error @ ShapeError::Malformed(_)) => bail!("{error}"),
        Err(error @ ShapeError::TooLarge) => {
            return Ok(findings.refuse(Status::Inconclusive, error.to_string()));
        }
        Err(error) => return Ok(findings.refuse(Status::Violated, error.to_string())),
    };
    let words = format!(
        "every execution of {} (sha256 {}) answers as {} does, run sequentially, with any heap and any \
         number of calls, for {} ({} states, {} moves and {} pairs of threads looked at)",
        quoted(name),
        sha256.short(),
        match confirmed.with {
            ComparedWith::Specification => "the specification",
            ComparedWith::Block => "its `reference`",
            ComparedWith::OwnCode => "its own code",
        },
        threads(certificate),
        confirmed.states,
        confirmed.moves,
        confirmed.pairs
    );
    findings.confirmed.push((Point::Linearizable, words));
    if confirmed.with != ComparedWith::Specification {
        let words =
            "that sequential executions of what it is compared with are those of the specification";
        findings.not_confirmed.push((Point::SequentialExecutions, words.to_owned()));
    }
    if let Some((from, found)) = source {
        let words = format!("the model is the text of {}", quoted(&from.file));
        match found {
            Found::Same if from.sha256 == *sha256 => {
                findings.confirmed.push((Point::Model, words));
            }
            _ => findings.not_confirmed.push((Point::Model, format!("that {words}"))),
        }
    }
    let words = "that its steps are what the text means: they come from the same front end";
    findings.not_confirmed.push((Point::FrontEnd, words.to_owned()));
    Ok(findings)
}

/// The threads that a certificate is about, in words.
fn threads(certificate: &ShapeCertificate) -> String {
    let role = |at: usize| {
        let names = certificate.roles.get(at).into_iter().flatten();
        names.map(|name| quoted(name)).collect::<Vec<_>>().join(" and ")
    };
    match &certificate.threads {
        ShapeThreads::Any => {
            let roles: Vec<String> = (0..certificate.roles.len()).map(role).collect();
            format!("any number of threads that call {}", roles.join(", or "))
        }
        ShapeThreads::These(roles) => {
            let all: Vec<String> = roles.iter().map(|at| role(*at)).collect();
            format!("{} threads, that call {}", all.len(), all.join("; "))
        }
    }
}

/// A name that a certificate gives; no hash covers it, so it must not look like words of ours.
fn quoted(name: &str) -> String {
    format!("`{}`", escaped(name).replace('`', "\\u{60}"))
}

/// That sequential executions are right is not confirmed, but some were tried.
fn sequential(confirmed: &Confirmed) -> String {
    let spec = confirmed.spec.as_deref();
    let spec = spec.map_or_else(|| "the specification".to_owned(), |spec| format!("`{spec}`"));
    let tried = match &confirmed.sequential {
        Sequential::Tried { .. } => format!("{}; none is wrong", confirmed.sequential),
        Sequential::NotTried { .. } => confirmed.sequential.to_string(),
    };
    format!("that sequential executions are those of {spec} ({tried})")
}

/// Whether a `.subop` file has these sub-operations. From other files they are derived, which is
/// not repeated here.
fn is_printed(certificate: &ReductionCertificate, file: &str) -> bool {
    let read = || linchpin_subop::parse(&std::fs::read_to_string(file).ok()?).ok();
    file.ends_with(".subop")
        && read().is_some_and(|model| linchpin_subop::print(&model) == certificate.text)
}

fn changed(stated: &FileHash, now: &Sha256) -> String {
    format!(
        "not confirmed: {} is not the file that the certificate is about: its hash is {}, that of the \
         certificate {}",
        quoted(&stated.file),
        now.short(),
        stated.sha256.short()
    )
}

/// Confirms a witness or a core.
fn recorded(args: &CertifyArgs, claim: Claim, certificate: &Certificate) -> Result<Findings> {
    let mut findings = Findings::of(claim);
    let file = args.history.clone().unwrap_or_else(|| certificate.file());
    let stated = FileHash { file: file.display().to_string(), ..certificate.history.clone() };
    findings.hashes.push(("history", stated.file.clone(), stated.sha256));
    let spec = certificate.spec.iter();
    findings.hashes.extend(spec.map(|spec| ("specification", spec.file.clone(), spec.sha256)));
    let spec = certificate.spec.as_ref().map(|spec| (spec, Path::new(&spec.file)));
    for (stated, at) in [(&stated, file.as_path())].into_iter().chain(spec) {
        if let Found::Changed(now) = compared(stated, at) {
            return Ok(findings.refuse(Status::Violated, changed(stated, &now)));
        }
    }
    let subject = Subject::new(&certificate.recording)?;
    let recording = subject.read(&file, None)?.recording;
    let (mut history, order) = (recording.history, recording.precedence);
    // What recovery said to have no effect is in no history that was judged.
    let applied = crash::apply(&mut history, property(certificate.recording.property))?;
    if history.operations.len() != certificate.operations {
        let reason = format!(
            "not confirmed: the certificate is about a history of {} operations, but `{}` has {}",
            certificate.operations,
            file.display(),
            history.operations.len()
        );
        return Ok(findings.refuse(Status::Violated, reason));
    }
    let is_witness = claim == Claim::Witness;
    let (status, words) = match &order {
        Some(order) => partial::certify(&subject, &history, order, &certificate.evidence),
        None => judge(&subject, &history, &applied, &certificate.evidence),
    };
    if let Evidence::Witness(order) = &certificate.evidence
        && let Some(late) = too_late(&history, &applied, order)
    {
        let reason = format!(
            "not confirmed: operation {late} was interrupted, but takes effect after what its process did later"
        );
        return Ok(findings.refuse(Status::Violated, reason));
    }
    if status != Status::Holds {
        return Ok(findings.refuse(status, words));
    }
    let named = certificate::name(&certificate.recording.property).unwrap_or_default();
    let words = format!(
        "{words} (history {}, sha256 {}, specification {}, property {named})",
        file.display(),
        stated.sha256.short(),
        certificate.recording.spec
    );
    let point = if is_witness { Point::Witness } else { Point::Core };
    findings.confirmed.push((point, words));
    let words = format!("that {} is what the system did, and means what was read", file.display());
    findings.not_confirmed.push((Point::Recording, words));
    Ok(findings)
}

/// Whether the evidence is right, and in words why.
fn judge(
    subject: &Subject<'_>,
    history: &History,
    applied: &Applied,
    evidence: &Evidence,
) -> (Status, String) {
    match evidence {
        Evidence::Witness(order) => {
            for (key, part) in parts(history, applied, order) {
                if let Err(error) =
                    confirm_witness(&*subject.object.spec, &part.operations, &part.claimed)
                {
                    return (Status::Violated, format!("not confirmed{key}: {error}"));
                }
            }
            let count = order.len();
            (Status::Holds, format!("these {count} operations, in this order, explain the history"))
        }
        Evidence::Core { core, at, key } => {
            let of_key = |id: &OpId| match (history.operations.get(id.index()), key) {
                (Some(operation), Some(key)) => history.values.get(operation.key) == *key,
                _ => true,
            };
            if let Some(other) = core.iter().find(|id| !of_key(id)) {
                let words = format!("not confirmed: operation {} has another key", other.number());
                return (Status::Violated, words);
            }
            let parts = parts(history, applied, core);
            // One object is enough to make the history wrong.
            let Some((key, part)) = parts.into_iter().find(|(_, part)| !part.claimed.is_empty())
            else {
                return (Status::Violated, "not confirmed: the core is empty".to_owned());
            };
            let (spec, name) = (&*subject.object.spec, subject.object.name.as_str());
            let Part { operations, claimed, before } = &part;
            let (at, budget) = (at.map(u64::from), Budget::default());
            match confirm_core_ordered(spec, name, operations, claimed, before, at, &budget) {
                Ok(()) => (Status::Holds, format!("{}{key}", unexplained(core.len()))),
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
    /// The interrupted ones, with what their process did next.
    before: Vec<Before>,
}

/// The history by key, with a word about the key for messages.
fn parts(history: &History, applied: &Applied, claimed: &[OpId]) -> Vec<(String, Part)> {
    let mut parts: BTreeMap<ValueId, Part> = BTreeMap::new();
    let mut places = Vec::with_capacity(history.operations.len());
    for (id, recorded) in history.iter() {
        let part = parts.entry(recorded.key).or_default();
        places.push(part.operations.len());
        part.operations.push(operation(history, id));
    }
    for id in claimed {
        match (history.operations.get(id.index()), places.get(id.index())) {
            (Some(operation), Some(place)) => {
                parts.entry(operation.key).or_default().claimed.push(*place);
            }
            // Beyond the end: every part refuses it.
            _ => parts.entry(ValueId::NULL).or_default().claimed.push(usize::MAX),
        }
    }
    for pair in &applied.interrupted {
        let place = |id: OpId| places.get(id.index()).copied();
        if let (Some(operation), Some(next)) = (place(pair.operation), place(pair.next)) {
            // INVARIANT: the next one is on the same object.
            let part = parts.entry(history[pair.operation].key).or_default();
            part.before.push(Before { operation, next });
        }
    }
    let name = |key: ValueId| match key {
        ValueId::NULL => String::new(),
        key => format!(" (key {})", history.values.get(key)),
    };
    parts.into_iter().map(|(key, part)| (name(key), part)).collect()
}

/// An interrupted operation that takes effect after a later one of its process
/// (recoverable linearizability forbids it).
fn too_late(history: &History, applied: &Applied, order: &[OpId]) -> Option<OpId> {
    let interrupted: HashSet<OpId> =
        applied.interrupted.iter().map(|pair| pair.operation).collect();
    // The operation called last, of each process, that has taken effect.
    let mut latest: HashMap<u32, Rank> = HashMap::new();
    for &id in order {
        let operation = history.operations.get(id.index())?;
        let last = latest.entry(operation.process).or_insert(operation.invoked);
        if interrupted.contains(&id) && operation.invoked < *last {
            return Some(id);
        }
        *last = operation.invoked.max(*last);
    }
    None
}
