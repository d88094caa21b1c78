//! The steps of a run with crashes, as a person follows them: who did what where, what had been
//! stored when the system crashed, and what was left of it.

use super::super::interleaving::{Sources, shown_site};
use super::super::program::Mark;
use super::again::Shown;
use super::era::{Caller, calls};
use super::segment::mark;
use crate::definition::Subject;
use crate::scenario::{Call, Scenario};
use linchpin_explore::crash::{LineAfter, Noted};
use linchpin_explore::{Event, EventKind};
use linchpin_sync::persistent::LINE_BYTES;
use linchpin_sync::persistent::simulation::Allocation;
use linchpin_sync::runtime::{PlaceKind, Site};
use linchpin_verdict::counted;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Longer executions are not printed whole.
const MOST_STEPS: usize = 200;

/// The steps of a run.
pub(super) struct Steps<'a> {
    pub(super) subject: &'a Subject,
    pub(super) scenario: &'a Scenario,
    pub(super) after: &'a [Call],
    pub(super) eras: &'a [Shown],
}

/// A step that is shown.
struct Line {
    who: String,
    site: String,
    source: String,
    what: String,
}

impl Steps<'_> {
    /// All of it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut number = 1;
        let mut sources = Sources::default();
        for at in 0..self.eras.len() {
            let title = match (at, self.eras.len()) {
                (0, 1) => "The steps:",
                (0, _) => "The steps before the crash:",
                (_, count) if at + 1 < count => "The steps between the crashes:",
                _ => "The steps after the crash:",
            };
            let _ = writeln!(text, "{title}");
            let lines = self.lines(at, &mut sources);
            rows(&lines, &mut number, &mut text);
            text.push('\n');
            if let Some(next) = self.eras.get(at + 1) {
                text.push_str(&self.crash(at, next));
                text.push('\n');
            }
        }
        text
    }

    fn lines(&self, at: usize, sources: &mut Sources) -> Vec<Line> {
        let era = &self.eras[at];
        let who = self.threads(at);
        let mut lines = Vec::new();
        let mut quiet = false;
        for (number, event) in era.execution.events.iter().enumerate() {
            quiet |= mark(&event.kind) == Some(Mark::Quiet);
            if !era.before[number] {
                continue;
            }
            let Some(what) = self.what(at, event) else { continue };
            let name = match (event.thread, quiet) {
                (0, true) => "after".to_owned(),
                (thread, _) => who.get(&thread).cloned().unwrap_or_else(|| "?".to_owned()),
            };
            let site = event.site.map_or_else(String::new, shown_site);
            let source = event.site.and_then(|site| sources.line(site)).unwrap_or_default();
            lines.push(Line { who: name, site, source, what });
        }
        lines
    }

    /// Who the threads of an era are.
    fn threads(&self, at: usize) -> FxHashMap<usize, String> {
        let all = calls(self.scenario, self.after);
        let mut names = FxHashMap::default();
        for event in &self.eras[at].execution.events {
            if let Some(Mark::Called(number)) = mark(&event.kind)
                && let Some((Caller::Thread(thread), _)) = all.get(number)
            {
                names.insert(event.thread, format!("process {thread}"));
            }
        }
        names.insert(0, if at == 0 { "before" } else { "recovery" }.to_owned());
        names
    }

    /// What a step does, if it is shown.
    fn what(&self, at: usize, event: &Event) -> Option<String> {
        let era = &self.eras[at];
        if let Some(mark) = mark(&event.kind) {
            return self.call(at, mark);
        }
        // The object is made before anything is shown.
        if at == 0 && event.thread == 0 && !self.is_after(at, event) {
            return None;
        }
        match &event.kind {
            EventKind::Access { place, read, wrote, .. } => {
                let kind = era.execution.places.get(*place).copied();
                let in_line = era.execution.lines.get(*place).copied().flatten();
                let name = in_line.map_or_else(String::new, |it| {
                    format!("{}: ", place_name(it.address - era.base, &self.objects(at)))
                });
                match (kind, read, wrote) {
                    (Some(PlaceKind::Join), ..) => None,
                    (Some(PlaceKind::Line), ..) => {
                        Some(format!("flushes {}", name.trim_end_matches(": ")))
                    }
                    (_, Some(read), Some(wrote)) => {
                        Some(format!("{name}{} → {}", value(*read), value(*wrote)))
                    }
                    (_, Some(read), None) => Some(format!("{name}reads {}", value(*read))),
                    (_, None, Some(wrote)) => Some(format!("{name}writes {}", value(*wrote))),
                    (_, None, None) => Some(format!("{name}waits")),
                }
            }
            EventKind::Fence(_) => Some("waits for what it flushed".to_owned()),
            EventKind::Cell { .. }
            | EventKind::Choose { .. }
            | EventKind::Mark(_)
            | EventKind::Spawn { .. }
            | EventKind::Pause => None,
        }
    }

    fn is_after(&self, at: usize, event: &Event) -> bool {
        let events = &self.eras[at].execution.events;
        let quiet = events.iter().position(|event| mark(&event.kind) == Some(Mark::Quiet));
        quiet.is_some_and(|quiet| events[quiet..].iter().any(|other| std::ptr::eq(other, event)))
    }

    fn call(&self, at: usize, mark: Mark) -> Option<String> {
        let all = calls(self.scenario, self.after);
        let shown = |number: usize| {
            let (_, call) = *all.get(number)?;
            let one = Scenario { before: Vec::new(), threads: vec![vec![call.clone()]] };
            let text = one.shown(&self.subject.operations).to_string();
            Some(text.trim_start_matches("{ ").trim_end_matches(" }").to_owned())
        };
        match mark {
            Mark::Called(number) => Some(format!("calls {}", shown(number)?)),
            Mark::Returned(number) => {
                let answer = self.eras[at].answers.get(number).cloned().flatten();
                let answer = answer.filter(|answer| !answer.is_null());
                let answer = answer.map_or_else(String::new, |answer| format!(" {answer}"));
                Some(format!("{} returns{answer}", shown(number)?))
            }
            // With crashes no future is dropped.
            Mark::Dropped(_) | Mark::Quiet | Mark::Made => None,
        }
    }

    /// The objects that were allocated up to and in an era.
    fn objects(&self, at: usize) -> Vec<&Allocation> {
        self.eras[..=at].iter().flat_map(|era| &era.allocations).collect()
    }

    /// What the crash after an era left, as the next one found out.
    fn crash(&self, at: usize, next: &Shown) -> String {
        let mut text = String::from("The system crashes here.");
        let lines = self.eras[at].after.as_ref().map_or(&[][..], |after| &after.lines);
        let mut lost = Vec::new();
        let mut unread = 0;
        for line in lines {
            match next.resolved.iter().find(|resolved| resolved.line == line.line) {
                Some(resolved) => lost.push(self.line(at, line, resolved.taken)),
                None if line.kept.len() > 1 => unread += 1,
                None => {}
            }
        }
        if lost.is_empty() {
            text.push_str(" Everything that is read again was written back.");
        } else {
            text.push_str(" Stores that were not written back for certain:");
        }
        text.push('\n');
        lost.iter().for_each(|line| text.push_str(line));
        if unread > 0 {
            let unread = counted(unread, "line");
            let _ = writeln!(text, "  ({unread} that no one reads again left out)");
        }
        text
    }

    /// The stores to a line since its last guaranteed write-back, and which of them were lost.
    fn line(&self, at: usize, line: &LineAfter, taken: usize) -> String {
        let objects = self.objects(at);
        let who = self.threads(at);
        let kept = line.kept.get(taken).copied().unwrap_or(line.stores.len());
        let mut text = format!("  line {}\n", place_name(line.line, &objects));
        for (number, noted) in line.stores.iter().enumerate().skip(line.guaranteed) {
            let Noted { event, store, site } = noted;
            let thread = self.eras[at].execution.events[*event].thread;
            let name = who.get(&thread).map_or("?", String::as_str);
            let place = place_name(store.offset, &objects);
            let value = value(store.word);
            let fate = if number < kept { "survived" } else { "LOST" };
            let where_ = site.map_or_else(String::new, |site: Site| shown_site(site));
            let _ = writeln!(text, "    {fate:8}  {place} = {value}, by {name} at {where_}");
        }
        text
    }
}

/// Words that are no small numbers are references and flags: these are read in hexadecimal.
fn value(word: u64) -> String {
    match word as i64 {
        small @ -0xffff..=0xffff => small.to_string(),
        _ => format!("{word:#x}"),
    }
}

/// Where a place is: in the root, or in which object.
fn place_name(offset: usize, objects: &[&Allocation]) -> String {
    let object = objects.iter().enumerate().filter(|(_, object)| object.offset <= offset);
    match object.max_by_key(|(_, object)| object.offset) {
        Some((number, object)) => format!("object {number}+{}", offset - object.offset),
        None => format!("root+{}", offset.saturating_sub(LINE_BYTES)),
    }
}

fn rows(lines: &[Line], number: &mut usize, text: &mut String) {
    let width = |of: fn(&Line) -> &str| {
        lines.iter().map(|line| of(line).chars().count()).max().unwrap_or(0)
    };
    let (who, site, source) =
        (width(|line| &line.who), width(|line| &line.site), width(|line| &line.source));
    for line in lines.iter().take(MOST_STEPS) {
        let Line { who: name, site: place, source: code, what } = line;
        let row = format!("{number:>4}  {name:who$}  {place:site$}  {code:source$}  {what}");
        let _ = writeln!(text, "{}", row.trim_end());
        *number += 1;
    }
    if lines.len() > MOST_STEPS {
        let _ = writeln!(text, "      … and {} more", lines.len() - MOST_STEPS);
    }
}
