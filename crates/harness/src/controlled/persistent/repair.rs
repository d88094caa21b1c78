//! What would have kept what a crash took: a `persist` right after an access to a line of which
//! stores were lost, one place in the code at a time, or only a `flush` or a `fence`. Each is
//! tried: all executions of the scenario, all crashes and all that they may leave are explored
//! again, as if it were there.
//!
//! It is not executed, for it changes nothing but what a crash may leave: see
//! [`Crashable::new`](linchpin_explore::crash::Crashable::new).

use super::super::interleaving::{Sources, shown_site};
use super::again::{Again, Shown};
use super::{MOST_RUNS, Session};
use crate::failure::{Repair, Repairs};
use crate::scenario::Scenario;
use linchpin_explore::crash::{Inserted, Instruction};
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
        let helps = |site, instruction| {
            let inserted = Some(Inserted { site, instruction });
            let (runs, exhaustive) = (Some(MOST_RUNS), Strategy::Exhaustive);
            let (found, tally) = self.explore(scenario, exhaustive, &limits, runs, inserted);
            let is_whole = tally.stopped.is_none() && tally.partly + tally.undecided == 0;
            match (found, is_whole) {
                (None, true) => Some(true),
                (Some(_), _) => Some(false),
                (None, false) => None,
            }
        };
        for Place { site, is_flush } in sites(&again.eras, &lost) {
            // A persist is both others, and after a flush it is no more than a fence.
            let strongest = if is_flush { Instruction::Fence } else { Instruction::Persist };
            match helps(site, strongest) {
                Some(true) => {
                    let weaker = [Instruction::Flush, Instruction::Fence].into_iter();
                    let mut weaker = weaker.filter(|weaker| !is_flush && *weaker < strongest);
                    let weakest = weaker.find(|weaker| helps(site, *weaker) == Some(true));
                    let instruction = weakest.unwrap_or(strongest);
                    let (place, source) = (shown_site(site), sources.line(site));
                    repairs.found.push(Repair { instruction, place, source });
                }
                Some(false) => repairs.tried_in_vain += 1,
                None => repairs.undecided += 1,
            }
        }
        Some(repairs)
    }
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    site: Site,
    /// Whether the line is flushed there.
    is_flush: bool,
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
fn sites(eras: &[Shown], lost: &BTreeSet<usize>) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut add = |site: Option<Site>, is_flush: bool| {
        let Some(site) = site else { return };
        if places.iter().all(|place| place.site != site) {
            places.push(Place { site, is_flush });
        }
    };
    for after in eras.iter().filter_map(|era| era.after.as_ref()) {
        let lines = after.lines.iter().filter(|line| lost.contains(&line.line));
        lines.flat_map(|line| &line.stores).for_each(|noted| add(noted.site, false));
    }
    for era in eras.iter().filter(|era| era.after.is_some()) {
        for (event, _) in
            era.execution.events.iter().zip(&era.before).filter(|(_, before)| **before)
        {
            let EventKind::Access { place, .. } = &event.kind else { continue };
            let is_flush = era.execution.places.get(*place) == Some(&PlaceKind::Line);
            let Some(in_line) = era.execution.lines.get(*place).copied().flatten() else {
                continue;
            };
            let offset = in_line.address - era.base;
            if lost.contains(&(offset / LINE_BYTES * LINE_BYTES)) {
                add(event.site, is_flush);
            }
        }
    }
    places
}
