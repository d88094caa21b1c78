//! What would have kept what a crash took: a `persist` right after an access to a line of which
//! stores were lost, one place in the code at a time. Each is tried: all executions of the scenario,
//! all crashes and all that they may leave are explored again, as if it were there.
//!
//! It is not executed, for it changes nothing but what a crash may leave: see
//! [`Crashable::new`](linchpin_explore::crash::Crashable::new).

use super::super::interleaving::{Sources, shown_site};
use super::again::{Again, Shown};
use super::{MOST_RUNS, Session};
use crate::failure::{Repair, Repairs};
use crate::scenario::Scenario;
use linchpin_explore::{EventKind, Strategy};
use linchpin_sync::persistent::LINE_BYTES;
use linchpin_sync::runtime::{PlaceKind, Site};
use linchpin_verdict::Limits;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long repairs are tried.
const REPAIRING: Duration = Duration::from_secs(5);

impl<T: Send + Sync + 'static> Session<'_, T> {
    /// What repairs the scenario of a failure; nothing if no store was lost in it.
    pub(super) fn repairs(&self, scenario: &Arc<Scenario>, again: &Again) -> Option<Repairs> {
        let lost = lost_lines(&again.eras);
        if lost.is_empty() {
            return None;
        }
        let deadline = Instant::now().checked_add(REPAIRING);
        let limits = Limits { deadline, ..Limits::default() };
        let mut repairs = Repairs::default();
        let mut sources = Sources::default();
        for site in sites(&again.eras, &lost) {
            let runs = Some(MOST_RUNS);
            let exhaustive = Strategy::Exhaustive;
            let (found, tally) = self.explore(scenario, exhaustive, &limits, runs, Some(site));
            let is_whole = tally.stopped.is_none() && tally.partly + tally.undecided == 0;
            match (found, is_whole) {
                (None, true) => repairs
                    .persists
                    .push(Repair { place: shown_site(site), source: sources.line(site) }),
                (Some(_), _) => repairs.tried_in_vain += 1,
                (None, false) => repairs.undecided += 1,
            }
        }
        Some(repairs)
    }
}

/// The lines of which a crash of the run took stores, by their offsets.
fn lost_lines(eras: &[Shown]) -> BTreeSet<usize> {
    let mut lost = BTreeSet::new();
    for pair in eras.windows(2) {
        let [era, next] = pair else { continue };
        let Some(after) = &era.after else { continue };
        for line in &after.lines {
            let resolved = next.resolved.iter().find(|resolved| resolved.line == line.line);
            let kept = resolved.and_then(|resolved| line.kept.get(resolved.taken));
            if kept.is_some_and(|kept| *kept < line.stores.len()) {
                lost.insert(line.line);
            }
        }
    }
    lost
}

/// Where these lines were accessed before a crash: where they were stored to first.
fn sites(eras: &[Shown], lost: &BTreeSet<usize>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut add = |site: Option<Site>| {
        if let Some(site) = site.filter(|site| !sites.contains(site)) {
            sites.push(site);
        }
    };
    for after in eras.iter().filter_map(|era| era.after.as_ref()) {
        let lines = after.lines.iter().filter(|line| lost.contains(&line.line));
        lines.flat_map(|line| &line.stores).for_each(|noted| add(noted.site));
    }
    for era in eras.iter().filter(|era| era.after.is_some()) {
        for (event, _) in
            era.execution.events.iter().zip(&era.before).filter(|(_, before)| **before)
        {
            let EventKind::Access { place, .. } = &event.kind else { continue };
            let is_flush = era.execution.places.get(*place) == Some(&PlaceKind::Line);
            let in_line = era.execution.lines.get(*place).copied().flatten();
            let Some(in_line) = in_line.filter(|_| !is_flush) else { continue };
            let offset = in_line.address - era.base;
            if lost.contains(&(offset / LINE_BYTES * LINE_BYTES)) {
                add(event.site);
            }
        }
    }
    sites
}
