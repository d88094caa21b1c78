//! Claims of a roadmap (paper 004) shown for any number of threads and any heap.
//!
//! The engine `base` explores its claims within bounds. The views of a proof by `shape` stand for
//! every reachable state, so what operations do alone can be asked of all of them
//! (`linchpin_shape::alone`). Four rules can be answered so: Theorem 2, both conditions, and, where
//! every call takes at most one update step, both halves of Definition 6.1. What resists is named.

use crate::Contradiction;
use linchpin_engine::{
    Answer, Claim, Engine, OperationKind, Request, Roadmap, Rule, Status, WithoutUpdates,
};
use linchpin_ir::program::Program;
use linchpin_shape::alone::is_read_only;
use linchpin_shape::{
    AloneClaim, AloneRule, AloneStatus, GapCause, NotApplicable, Shape, alone_claims,
};
use linchpin_verdict::Limits;

/// What has come of it.
#[derive(Clone, Debug, Default)]
pub struct Beyond {
    /// How many claims are now shown.
    pub shown: usize,
    /// Claims that resist.
    pub open: Vec<Resists>,
    /// Claims that are refuted within bounds and yet shown: one of the two engines is wrong.
    pub clashes: Vec<(Rule, Option<String>)>,
    /// Why nothing could be asked, if so.
    pub not_applicable: Option<NotApplicable>,
}

/// A claim that is explored within bounds, and not shown.
#[derive(Clone, Debug)]
pub struct Resists {
    /// What it is an instance of.
    pub rule: Rule,
    /// The operation that it is about.
    pub operation: String,
    /// The source line where the abstraction cannot say more.
    pub line: u32,
    /// Why.
    pub cause: GapCause,
}

/// Shows what can be shown of the roadmap in an answer, if that is asked for, and says what
/// resists. Two engines that contradict each other, if they do.
pub fn show(
    program: &Program,
    answers: &mut [Answer],
    request: &Request<'_>,
) -> Option<Contradiction> {
    if !request.roadmap.beyond {
        return None;
    }
    for answer in answers {
        let Some(roadmap) = &mut answer.roadmap else { continue };
        let beyond = upgrade(roadmap, program, &request.limits);
        if !beyond.clashes.is_empty() {
            return Some(Contradiction { shows: Shape.name(), refutes: answer.engine });
        }
        if let Some(why) = beyond.not_applicable {
            answer.notes.push(format!("nothing is shown for any number of threads: {why}"));
        }
        for Resists { rule, operation, line, cause } in beyond.open {
            answer.notes.push(format!(
                "not shown for any number of threads: {} of `{operation}`, because of line {line}: {cause}",
                rule.source()
            ));
        }
    }
    None
}

/// Turns claims that were explored within bounds into claims that are shown, where they are.
pub fn upgrade(roadmap: &mut Roadmap, program: &Program, limits: &Limits) -> Beyond {
    let names = roadmap.operations.iter().map(|of| &of.name);
    if !names.eq(program.operations.iter().map(|of| &of.name)) {
        return Beyond::default();
    }
    let is_quiet = |operation: &usize| {
        let of = &roadmap.operations[*operation];
        of.kind == OperationKind::Update && of.without_updates == WithoutUpdates::ReadOnly
    };
    let quiet: Vec<usize> = (0..roadmap.operations.len()).filter(is_quiet).collect();
    let claims = match alone_claims(program, &quiet, limits) {
        Ok(claims) => claims,
        Err(why) => return Beyond { not_applicable: Some(why), ..Beyond::default() },
    };
    let known = Known { program, claims: &claims, same_readers: same_readers(roadmap, program) };
    let mut beyond = Beyond::default();
    for claim in &mut roadmap.claims {
        known.judge(claim, &mut beyond);
    }
    beyond
}

/// Whether the operations that were taken for read-only are those whose code writes nothing: where
/// one writes, but not within the bounds, the claims are about other readers.
fn same_readers(roadmap: &Roadmap, program: &Program) -> bool {
    let pairs = roadmap.operations.iter().zip(&program.operations);
    pairs
        .into_iter()
        .all(|(of, code)| (of.kind == OperationKind::ReadOnly) == is_read_only(&code.body))
}

/// What is known for any number of threads.
struct Known<'a> {
    program: &'a Program,
    claims: &'a [AloneClaim],
    same_readers: bool,
}

impl Known<'_> {
    fn judge(&self, claim: &mut Claim, beyond: &mut Beyond) {
        let Some(name) = claim.operation.clone() else { return };
        let Some(operation) = self.program.operations.iter().position(|of| of.name == name) else {
            return;
        };
        let found = match claim.rule {
            Rule::ReadBasePoint => self.of(AloneRule::ReadBasePoint, operation),
            Rule::OneStep if self.same_readers => self.of(AloneRule::OneStep, operation),
            Rule::Commute | Rule::Preserve => self.single(),
            _ => return,
        };
        match (found, &claim.status) {
            (None, _)
            | (_, Status::NotNeeded { .. } | Status::NotChecked { .. } | Status::Shown { .. }) => {}
            (Some(AloneStatus::Shown), Status::Refuted(_)) => {
                beyond.clashes.push((claim.rule, claim.operation.clone()));
            }
            (Some(AloneStatus::Shown), Status::Explored { .. } | Status::NeverMet) => {
                beyond.shown += 1;
                claim.status = Status::Shown { how: self.how(claim.rule, &name) };
            }
            (Some(AloneStatus::Open(gap)), Status::Explored { .. } | Status::NeverMet) => {
                let (line, cause) = (gap.line, gap.cause.clone());
                beyond.open.push(Resists { rule: claim.rule, operation: name, line, cause });
            }
            (Some(AloneStatus::Open(_)), Status::Refuted(_)) => {}
        }
    }

    fn of(&self, rule: AloneRule, operation: usize) -> Option<&AloneStatus> {
        let is_it = |claim: &&AloneClaim| claim.rule == rule && claim.operation == operation;
        self.claims.iter().find(is_it).map(|claim| &claim.status)
    }

    /// Whether all calls take at most one update step; else one that may take two.
    fn single(&self) -> Option<&AloneStatus> {
        let mut all = self.claims.iter().filter(|claim| claim.rule == AloneRule::OneUpdate);
        let open = all.clone().find(|claim| !claim.status.is_shown());
        open.or_else(|| all.next()).map(|claim| &claim.status)
    }

    fn how(&self, rule: Rule, name: &str) -> String {
        let readers = self.claims.iter().filter(|claim| claim.rule == AloneRule::AnswersAlone);
        let readers: Vec<String> = readers
            .map(|claim| format!("`{}`", self.program.operations[claim.operation].name))
            .collect();
        match rule {
            Rule::ReadBasePoint => format!(
                "from every reachable state `{name}` alone returns what the specification says, \
                 and each of its answers was right at some instant of its call"
            ),
            Rule::OneStep if readers.is_empty() => "no operation is read-only".to_owned(),
            Rule::OneStep => format!(
                "from every reachable state {} alone return{} what the specification says, and \
                 the object changes in at most one step of a call",
                readers.join(", "),
                if readers.len() == 1 { "s" } else { "" }
            ),
            _ => "each call takes at most one update step, so critical sequences never interleave"
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{load, verify};
    use linchpin_engine::{Language, Request};
    use linchpin_lang::Config;
    use linchpin_verdict::Calls;

    /// The roadmap of a bundled model within small bounds, and what comes of it.
    fn upgraded(model: &str) -> (Roadmap, Beyond) {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let source = std::fs::read_to_string(root.join(format!("{model}.lin"))).unwrap();
        let loaded = load(model, &source, Language::Lin, &Config::default()).unwrap();
        let request = Request {
            calls: Some(Calls::Each(2)),
            values: Some(linchpin_verdict::Values::UpTo(1)),
            ..Request::default()
        };
        let found = verify(&loaded, &["base".to_owned()], &request).unwrap();
        let mut roadmap =
            found.answers.into_iter().find_map(|answer| answer.roadmap).map(|of| *of).unwrap();
        let beyond = upgrade(&mut roadmap, loaded.program().unwrap(), &Limits::default());
        assert!(beyond.clashes.is_empty(), "{model}: {:?}", beyond.clashes);
        (roadmap, beyond)
    }

    /// The operations of the claims of a rule, and what is known of them.
    fn known(roadmap: &Roadmap, rule: Rule) -> Vec<(String, &'static str)> {
        let claims = roadmap.claims.iter().filter(|claim| claim.rule == rule);
        let name = |claim: &Claim| claim.operation.clone().unwrap_or_default();
        claims.map(|claim| (name(claim), claim.status.id())).collect()
    }

    fn all_shown(roadmap: &Roadmap, rule: Rule) -> bool {
        let claims = known(roadmap, rule);
        !claims.is_empty() && claims.iter().all(|(_, status)| *status == "shown")
    }

    #[test]
    fn stage_three_of_the_lazy_set_is_shown() {
        let (roadmap, beyond) = upgraded("lazy_set");
        assert!(all_shown(&roadmap, Rule::OneStep), "{:?}", beyond.open);
        assert!(all_shown(&roadmap, Rule::ReadBasePoint), "{:?}", beyond.open);
        // A removal marks, then unlinks: its critical sequence is more than one step.
        let resists = |rule: Rule| beyond.open.iter().find(|open| open.rule == rule).unwrap();
        assert_eq!(resists(Rule::Commute).cause, GapCause::SecondUpdate);
        assert_eq!(resists(Rule::Preserve).cause, GapCause::SecondUpdate);
    }

    #[test]
    fn what_is_shown_of_other_models() {
        for model in ["orvyy_set", "vy_dcas_set", "pessimistic_set", "treiber_stack"] {
            let (roadmap, beyond) = upgraded(model);
            for rule in [Rule::OneStep, Rule::Commute, Rule::Preserve] {
                assert!(all_shown(&roadmap, rule), "{model} {rule:?}: {:?}", beyond.open);
            }
            let reads = known(&roadmap, Rule::ReadBasePoint);
            assert!(reads.iter().all(|(_, of)| *of == "shown"), "{model}: {reads:?}");
        }
    }

    /// Where there is no proof, every claim resists, and none is lost.
    #[test]
    fn without_a_proof_nothing_is_shown() {
        for model in ["broken/lazy_set_ignores_mark", "broken/lazy_set_no_mark"] {
            let (roadmap, beyond) = upgraded(model);
            assert_eq!(beyond.shown, 0, "{model}");
            assert!(!beyond.open.is_empty(), "{model}");
            let is_shown = |claim: &Claim| matches!(claim.status, Status::Shown { .. });
            assert!(!roadmap.claims.iter().any(is_shown), "{model}");
        }
    }
}
