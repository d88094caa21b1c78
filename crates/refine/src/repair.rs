//! Which flush or fence is missing, and which ones are superfluous: each is tried.
//!
//! For a violation, every store to a line that lost something gets a flush, a fence or both right
//! after it, one store at a time, and the whole check is made again: what is said to repair the
//! model does. Where that repairs nothing, every flush gets a fence, and then every read of
//! persistent memory a persist. For a pass, every flush, fence and persist is left out, one at a
//! time.

use crate::counterexample::Counterexample;
use crate::durability::product;
use crate::options::VerifyOptions;
use crate::search::{Exploration, explore};
use linchpin_ir::interpreter::{Line, Machine, Move, Outcome, State, Status};
use linchpin_ir::persistence::Persistence;
use linchpin_ir::print::Names;
use linchpin_ir::program::{
    Action, Body, Edge, Expr, LocalId, Node, NodeId, Place, Program, Target, UnaryOp,
};
use linchpin_space::{Bounds, Calls};
use linchpin_spec::Value;
use linchpin_verdict::CrashProperty;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// All trials together may take so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many stores are tried, so many flushes and so many reads.
const MOST_SITES: usize = 24;

/// A flush, a fence or a persist, put in or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What: `persist(x.next)`, `fence`.
    pub action: String,
    /// The operation that it is in, or `recover`.
    pub operation: String,
    /// The source line: where it stands, or of the store that it comes right after.
    pub line: u32,
}

/// What a change comes right after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// A store of which a crash lost something.
    Store,
    /// A flush.
    Flush,
    /// A read of persistent memory.
    Read,
}

/// What was tried to repair a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repairs {
    /// What the changes come right after.
    pub after: After,
    /// Those that repair it, each by itself.
    pub works: Vec<Change>,
    /// How many changed models were checked.
    pub tried: usize,
    /// Whether there was time for all.
    pub is_all: bool,
}

/// A place in a body: which body, which source line.
#[derive(Clone, Debug, PartialEq)]
struct Site {
    body: usize,
    line: u32,
    after: After,
    /// What is stored to, flushed or read.
    place: Place,
}

/// The bodies of a program with their names: operations, `recover`, `recover(t)`.
fn bodies(program: &Program) -> Vec<(&str, &Body)> {
    let operations = program.operations.iter().map(|of| (&of.name[..], &of.body));
    let recover = program.persistence.iter().flat_map(|of| &of.recover);
    let resolve = program.persistence.iter().flat_map(|of| &of.resolve);
    let recover = recover.map(|body| ("recover", body));
    operations.chain(recover).chain(resolve.map(|of| ("recover", &of.body))).collect()
}

fn body_mut(program: &mut Program, body: usize) -> Option<&mut Body> {
    let operations = program.operations.iter_mut().map(|of| &mut of.body);
    let (mut recover, mut resolve) = (None, None);
    if let Some(Persistence { recover: r, resolve: s, .. }) = &mut program.persistence {
        (recover, resolve) = (r.as_mut(), s.as_mut().map(|of| &mut of.body));
    }
    operations.chain(recover).chain(resolve).nth(body)
}

/// What would repair a model, each by itself; `None` if time ran out before all stores were tried.
pub(crate) fn repairs(
    program: &Program,
    options: &VerifyOptions,
    property: CrashProperty,
    found: &Counterexample,
) -> Option<Repairs> {
    let mut trials = Trials { program, options, property, deadline: deadline(options), tried: 0 };
    let lost = lost(program, options, found)?;
    let persist_first = |place: Place| {
        // A persist keeps all that a flush or a fence there keeps: where it repairs nothing, they
        // do not either.
        (Action::Persist(place.clone()), vec![Action::Flush(place), Action::Fence])
    };
    let works = trials.of(&lost, persist_first)?;
    let repairs = |after, works, trials: &Trials<'_>, is_all| {
        Some(Repairs { after, works, tried: trials.tried, is_all })
    };
    // Without a crash that lost something, nothing that keeps more would help.
    if !works.is_empty() || lost.is_empty() {
        return repairs(After::Store, works, &trials, true);
    }
    for after in [After::Flush, After::Read] {
        let works = trials.of(&all_sites(program, after), |place| match after {
            After::Flush => (Action::Fence, vec![]),
            After::Store | After::Read => (Action::Persist(place), vec![]),
        });
        match works {
            Some(works) if works.is_empty() => {}
            Some(works) => return repairs(after, works, &trials, true),
            None => return repairs(after, vec![], &trials, false),
        }
    }
    repairs(After::Read, vec![], &trials, true)
}

/// Changed models, checked one after the other.
struct Trials<'a> {
    program: &'a Program,
    options: &'a VerifyOptions,
    property: CrashProperty,
    deadline: Instant,
    tried: usize,
}

impl Trials<'_> {
    /// The changes right after these sites that repair the model: `what` gives the strongest, and
    /// the lesser ones that are tried where it works. `None` if time ran out.
    fn of(
        &mut self,
        sites: &[Site],
        what: impl Fn(Place) -> (Action, Vec<Action>),
    ) -> Option<Vec<Change>> {
        let mut works = Vec::new();
        for site in sites.iter().take(MOST_SITES) {
            let (mut least, lesser) = what(site.place.clone());
            if !self.repairs(site, &least)? {
                continue;
            }
            for action in lesser {
                if self.repairs(site, &action)? {
                    least = action;
                    break;
                }
            }
            works.push(described(self.program, site.body, site.line, &least));
        }
        Some(works)
    }

    fn repairs(&mut self, site: &Site, action: &Action) -> Option<bool> {
        let Some(changed) = with(self.program, site, action) else { return Some(false) };
        self.tried += 1;
        holds(&changed, self.options, self.property, self.deadline)
    }
}

/// All flushes, or all reads of persistent memory.
fn all_sites(program: &Program, after: After) -> Vec<Site> {
    let Some(persistence) = &program.persistence else { return Vec::new() };
    let mut all: Vec<Site> = Vec::new();
    for (body, (_, of)) in bodies(program).into_iter().enumerate() {
        for (action, line) in actions(of) {
            for site in sites(action, *line, body, persistence, after) {
                if !all.contains(&site) {
                    all.push(site);
                }
            }
        }
    }
    all
}

/// The flushes, fences and persists without which the conditions still hold; `None` if time ran out
/// before all were tried.
pub(crate) fn superfluous(
    program: &Program,
    options: &VerifyOptions,
    properties: &[CrashProperty],
) -> Option<Vec<Change>> {
    let deadline = options.search.limits.deadline.unwrap_or(Instant::now() + 6 * PATIENCE);
    let mut seen: Vec<(usize, u32, Action)> = Vec::new();
    for (body, (_, of)) in bodies(program).into_iter().enumerate() {
        for (action, line) in actions(of) {
            let found = (body, *line, action.clone());
            if keeps(action) && !seen.contains(&found) {
                seen.push(found);
            }
        }
    }
    let mut all = Vec::new();
    for (body, line, action) in seen {
        let mut changed = program.clone();
        let nodes = &mut body_mut(&mut changed, body)?.nodes;
        for edge in nodes.iter_mut().flat_map(|node| &mut node.edges) {
            for (other, at) in &mut edge.actions {
                if *at == line && *other == action {
                    *other = Action::Guard(Expr::Const(Value::Bool(true)));
                }
            }
        }
        let mut needless = true;
        for property in properties {
            needless = needless && holds(&changed, options, *property, deadline)?;
        }
        if needless {
            all.push(described(program, body, line, &action));
        }
    }
    Some(all)
}

fn deadline(options: &VerifyOptions) -> Instant {
    let patience = Instant::now() + PATIENCE;
    options.search.limits.deadline.map_or(patience, |given| given.min(patience))
}

/// Whether the condition holds of a changed program; `None` if time ran out.
fn holds(
    program: &Program,
    options: &VerifyOptions,
    property: CrashProperty,
    deadline: Instant,
) -> Option<bool> {
    let mut search = options.search.clone();
    search.limits.deadline = Some(deadline);
    let all = options.bounds.calls;
    // What goes wrong with few calls is found soon.
    let most = if let Calls::Each(most) = all { most } else { 1 };
    let fewer = (1..most).map(Calls::Each);
    for calls in fewer.chain([all]) {
        let bounds = Bounds { calls, ..options.bounds };
        let fewer = VerifyOptions { bounds, ..options.clone() };
        let product = product(program, &fewer, property).ok()?;
        match explore(&product, &search, &|_| {}).0 {
            Exploration::Complete => {}
            Exploration::Found { .. } => return Some(false),
            Exploration::Stopped(_) => return None,
        }
    }
    Some(true)
}

fn keeps(action: &Action) -> bool {
    matches!(action, Action::Flush(_) | Action::Fence | Action::Persist(_))
}

fn actions(body: &Body) -> impl Iterator<Item = &(Action, u32)> {
    body.nodes.iter().flat_map(|node| &node.edges).flat_map(|edge| &edge.actions)
}

fn described(program: &Program, body: usize, line: u32, action: &Action) -> Change {
    let (name, of) = bodies(program)[body];
    let names = Names { program, body: of };
    Change { action: names.action(action), operation: name.to_owned(), line }
}

/// The stores to lines of which a crash of the run lost something, the earliest first.
fn lost(program: &Program, options: &VerifyOptions, found: &Counterexample) -> Option<Vec<Site>> {
    let persistence = program.persistence.as_ref()?;
    let machine = Machine::with_crashes(program, options.bounds.memory);
    let mut state = machine.initial().ok()?;
    let mut writers: BTreeMap<Line, Vec<Site>> = BTreeMap::new();
    let mut lost: Vec<Site> = Vec::new();
    for made in &found.schedule {
        let attempt = machine.attempt(&state, &made.what, &made.choices, None);
        let Outcome::Next(next) = attempt.outcome else { break };
        if made.what == Move::Crash {
            let lengths = state.pending.iter().map(|(line, stores)| (*line, stores.len()));
            for ((line, stores), survived) in lengths.zip(&attempt.choices) {
                if usize::try_from(*survived).is_ok_and(|survived| survived < stores) {
                    lost.extend(writers.remove(&line).unwrap_or_default());
                }
            }
            writers.clear();
        } else if let Some(body) = body_of(program, &state, &made.what) {
            let of = bodies(program)[body].1;
            let edges =
                attempt.path.iter().map(|(node, edge)| &of.nodes[node.0 as usize].edges[*edge]);
            let sites: Vec<Site> = edges
                .flat_map(|edge| &edge.actions)
                .flat_map(|(action, line)| sites(action, *line, body, persistence, After::Store))
                .collect();
            for (line, pending) in &next.pending {
                let before = state.pending.get(line);
                if before != Some(pending) && !sites.is_empty() {
                    writers.entry(*line).or_default().extend(sites.clone());
                }
            }
        }
        state = next;
    }
    let mut distinct: Vec<Site> = Vec::new();
    for site in lost {
        if !distinct.contains(&site) {
            distinct.push(site);
        }
    }
    Some(distinct)
}

/// The body that a move is in.
fn body_of(program: &Program, state: &State, what: &Move) -> Option<usize> {
    let operations = program.operations.len();
    let recover = program.persistence.as_ref().is_some_and(|of| of.recover.is_some());
    match what {
        Move::Invoke { operation, .. } => Some(*operation),
        Move::Recover => Some(operations),
        Move::Step { thread } => match &state.threads.get(*thread)?.status {
            Status::Running { operation, .. } => Some(*operation),
            Status::Interrupted { .. } | Status::Resolving { .. } => {
                Some(operations + usize::from(recover))
            }
            _ => None,
        },
        Move::Respond { .. } | Move::Crash | Move::CrashThread { .. } => None,
    }
}

/// The persistent places that an action stores to, flushes or reads.
fn sites(
    action: &Action,
    line: u32,
    body: usize,
    persistence: &Persistence,
    after: After,
) -> Vec<Site> {
    let places: Vec<Place> = match (after, action) {
        (After::Flush, Action::Flush(place)) => vec![place.clone()],
        (After::Read, Action::Read { place, .. }) => vec![place.clone()],
        (After::Store, _) => stored(action),
        (After::Flush | After::Read, _) => vec![],
    };
    let kept = places.into_iter().filter(|place| persistence.covers(place));
    kept.map(|place| Site { body, line, after, place }).collect()
}

fn stored(action: &Action) -> Vec<Place> {
    match action {
        Action::Write { place, .. }
        | Action::Swap { place, .. }
        | Action::FetchAdd { place, .. }
        | Action::StoreConditional { place, .. } => vec![place.clone()],
        Action::Cas { cells, .. } => cells.iter().map(|cell| cell.place.clone()).collect(),
        Action::New { into, object, .. } => {
            vec![Place::Field { object: Expr::Local(*into), of: *object, field: 0 }]
        }
        _ => vec![],
    }
}

/// The program with an action right after a site, as a step of its own. `None` if the place cannot
/// be named there.
fn with(program: &Program, site: &Site, action: &Action) -> Option<Program> {
    let persistence = program.persistence.as_ref()?;
    let mut changed = program.clone();
    let body = body_mut(&mut changed, site.body)?;
    let yields: Vec<bool> = body.nodes.iter().map(|node| node.yields).collect();
    let needed: BTreeSet<LocalId> = locals(&site.place);
    let mut added = Vec::new();
    let first = body.nodes.len();
    for edge in body.nodes.iter_mut().flat_map(|node| &mut node.edges) {
        let is_here = |(action, line): &(Action, u32)| {
            sites(action, *line, site.body, persistence, site.after).contains(site)
        };
        let Some(at) = edge.actions.iter().position(is_here) else { continue };
        if failed(edge, at) {
            continue;
        }
        // What a read gives may decide which word was read: `t = t.next`.
        let from = at + usize::from(site.after != After::Read);
        let after = edge.actions[from..].iter().filter_map(|(action, _)| action.answer());
        if after.into_iter().any(|local| needed.contains(&local)) {
            return None;
        }
        let id = NodeId(u32::try_from(first + added.len()).ok()?);
        let target = std::mem::replace(&mut edge.target, Target::Node(id));
        // Inside an atomic block the step goes on.
        let apart = match &target {
            Target::Node(next) => yields.get(next.0 as usize).copied().unwrap_or(true),
            Target::Return(_) => true,
        };
        let returns_at = edge.returns_at.take();
        let actions = vec![(action.clone(), site.line)];
        let on = Edge { actions, target, returns_at, points: vec![], bases: vec![] };
        added.push(Node { yields: apart, edges: vec![on], line: site.line });
    }
    let any = !added.is_empty();
    body.nodes.extend(added);
    any.then_some(changed)
}

/// Whether an edge is the one on which a compare-and-swap, or a store-conditional, failed.
fn failed(edge: &Edge, at: usize) -> bool {
    let (Action::Cas { into, .. } | Action::StoreConditional { into, .. }) = &edge.actions[at].0
    else {
        return false;
    };
    let not = Expr::Unary(UnaryOp::Not, Box::new(Expr::Local(*into)));
    edge.actions[at + 1..].iter().any(|(action, _)| *action == Action::Guard(not.clone()))
}

/// The locals that decide which word a place is.
fn locals(place: &Place) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    for expression in place.expressions() {
        expression.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                found.insert(*local);
            }
        });
    }
    found
}
