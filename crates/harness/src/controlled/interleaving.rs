//! The steps of an execution as a person follows them: who, where in the source, what.

use super::observe::RealTime;
use super::points::is_point;
use super::program::{Mark, calls};
use super::sequence::linearized;
use super::words::synchronizes;
use crate::definition::Subject;
use crate::scenario::Scenario;
use linchpin_explore::{EventKind, Execution};
use linchpin_spec::Value;
use linchpin_sync::runtime::{CellAccess, PlaceKind, Site};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Longer executions are not printed whole.
const MOST_STEPS: usize = 200;

/// Columns for the source.
const SOURCE_WIDTH: usize = 48;

/// The steps of an execution, a line each. Under weak memory a read says which step it reads from.
pub(super) struct Steps<'a> {
    pub(super) subject: &'a Subject,
    pub(super) scenario: &'a Scenario,
    pub(super) execution: &'a Execution,
    pub(super) answers: &'a [Option<Value>],
    pub(super) weak: bool,
}

/// A step that is shown.
struct Line {
    who: String,
    site: String,
    source: String,
    what: String,
}

impl Steps<'_> {
    /// The steps in an order that agrees with this real-time order of the calls.
    pub(super) fn text(&self, real_time: &RealTime) -> String {
        let lines = self.lines(real_time);
        let title = match self.weak {
            true => "The steps, in an order that explains what each read:",
            false => "The steps, as they can be interleaved:",
        };
        let mut text = format!("{title}\n");
        let width = |of: fn(&Line) -> &str| {
            lines.iter().map(|line| of(line).chars().count()).max().unwrap_or(0)
        };
        let (who, site, source) =
            (width(|line| &line.who), width(|line| &line.site), width(|line| &line.source));
        for (number, line) in (1..).zip(lines.iter().take(MOST_STEPS)) {
            let Line { who: name, site: place, source: code, what } = line;
            let row = format!("{number:>4}  {name:who$}  {place:site$}  {code:source$}  {what}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
        if lines.len() > MOST_STEPS {
            let _ = writeln!(text, "      … and {} more", lines.len() - MOST_STEPS);
        }
        text
    }

    fn lines(&self, real_time: &RealTime) -> Vec<Line> {
        let addresses = addresses(self.execution);
        let names = Names::new(self.scenario, self.execution);
        let mut sources = Sources::default();
        // The number of each step that is shown, by event.
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut lines: Vec<Line> = Vec::new();
        let order = match self.weak {
            true => with_late_calls(self.execution),
            false => linearized(self.scenario, self.execution, self.answers, real_time),
        };
        for at in order {
            let event = &self.execution.events[at];
            let Some(what) = self.what(at, &addresses, &numbers) else { continue };
            numbers.insert(at, lines.len() + 1);
            let site = event.site.map_or_else(String::new, shown_site);
            let source = event.site.and_then(|site| sources.line(site)).unwrap_or_default();
            lines.push(Line { who: names.of(event.thread), site, source, what });
        }
        lines
    }

    /// What a step does, if it is shown. Of the first thread only its calls are.
    fn what(
        &self,
        at: usize,
        addresses: &FxHashMap<u64, usize>,
        numbers: &FxHashMap<usize, usize>,
    ) -> Option<String> {
        let event = &self.execution.events[at];
        let value = |word: u64| match addresses.get(&word) {
            Some(name) => format!("@{name}"),
            None => (word as i64).to_string(),
        };
        match &event.kind {
            EventKind::Mark(word) => self.call(Mark::of(*word)),
            _ if event.thread == 0 || is_point(event) => None,
            EventKind::Access { place, read, wrote, order, from } => {
                let kind = self.execution.places.get(*place).copied();
                if kind == Some(PlaceKind::Join) {
                    return None;
                }
                let known = synchronizes(self.execution, at).map(str::to_owned);
                let mut what = known.unwrap_or_else(|| match (read, wrote) {
                    (Some(read), Some(wrote)) => format!("{} → {}", value(*read), value(*wrote)),
                    (Some(read), None) => format!("reads {}", value(*read)),
                    (None, Some(wrote)) => format!("writes {}", value(*wrote)),
                    (None, None) => "waits".to_owned(),
                });
                if self.weak {
                    let _ = write!(what, "  {order:?}");
                    if read.is_some() {
                        match from.and_then(|from| numbers.get(&from)) {
                            Some(step) => write!(what, ", from step {step}").ok()?,
                            None => what.push_str(", as it was at first"),
                        }
                    }
                }
                Some(what)
            }
            EventKind::Fence(order) => self.weak.then(|| format!("fence {order:?}")),
            EventKind::Cell { access, .. } => Some(match access {
                CellAccess::Read => "reads a cell".to_owned(),
                CellAccess::Write => "writes a cell".to_owned(),
            }),
            EventKind::Choose { taken, alternatives } => {
                Some(format!("takes alternative {} of {alternatives}", taken + 1))
            }
            EventKind::Spawn { .. } | EventKind::Pause => None,
        }
    }

    fn call(&self, mark: Mark) -> Option<String> {
        let shown = |number: usize| {
            let (_, call) = *calls(self.scenario).get(number)?;
            let one = Scenario { before: Vec::new(), threads: vec![vec![call.clone()]] };
            let text = one.shown(&self.subject.operations).to_string();
            Some(text.trim_start_matches("{ ").trim_end_matches(" }").to_owned())
        };
        match mark {
            Mark::Called(number) => Some(format!("calls {}", shown(number)?)),
            Mark::Returned(number) => {
                let answer = self.answers.get(number).cloned().flatten();
                let answer = answer.filter(|answer| !answer.is_null()).map(|it| it.to_string());
                let answer = answer.map_or_else(String::new, |answer| format!(" {answer}"));
                Some(format!("{} returns{answer}", shown(number)?))
            }
            Mark::Dropped(number) => Some(format!("drops the future of {}", shown(number)?)),
            Mark::Quiet | Mark::Made => None,
        }
    }
}

/// What the threads of an execution are called.
pub(super) struct Names(Vec<Option<usize>>);

impl Names {
    /// Threads of the scenario have the numbers of the processes of the history; others, which the
    /// object started itself, are threads.
    pub(super) fn new(scenario: &Scenario, execution: &Execution) -> Names {
        let calls = calls(scenario);
        let mut processes = vec![None; execution.threads];
        for event in &execution.events {
            let EventKind::Mark(word) = event.kind else { continue };
            let Mark::Called(number) = Mark::of(word) else { continue };
            if let (Some(process), Some((of, _))) =
                (processes.get_mut(event.thread), calls.get(number))
            {
                *process = *of;
            }
        }
        Names(processes)
    }

    pub(super) fn of(&self, thread: usize) -> String {
        match self.0.get(thread) {
            Some(Some(process)) => format!("process {process}"),
            _ if thread == 0 => "before".to_owned(),
            _ => format!("thread {thread}"),
        }
    }
}

/// The events as they are, but each call right before what it does first: it can be delayed until
/// then, and what happens before that comes before it so.
fn with_late_calls(execution: &Execution) -> Vec<usize> {
    let mut order = Vec::with_capacity(execution.events.len());
    // The call of each thread that is still to be shown.
    let mut called: Vec<Option<usize>> = vec![None; execution.threads];
    for (at, event) in execution.events.iter().enumerate() {
        order.extend(called[event.thread].take());
        let is_call = match event.kind {
            EventKind::Mark(word) => matches!(Mark::of(word), Mark::Called(_)),
            _ => false,
        };
        if is_call {
            called[event.thread] = Some(at);
        } else {
            order.push(at);
        }
    }
    order.extend(called.into_iter().flatten());
    order
}

/// Large words are addresses: they get short names, in the order in which they occur.
fn addresses(execution: &Execution) -> FxHashMap<u64, usize> {
    let mut names = FxHashMap::default();
    for event in &execution.events {
        let EventKind::Access { read, wrote, .. } = &event.kind else { continue };
        for word in read.iter().chain(wrote) {
            let is_address = *word > 0xffff && (*word as i64) > 0;
            if is_address {
                let next = names.len() + 1;
                names.entry(*word).or_insert(next);
            }
        }
    }
    names
}

/// A place in the source: of a crate from a registry, where it is in that crate.
pub(super) fn shown_site(site: Site) -> String {
    let file = site.file();
    let in_crate = file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    format!("{}:{}", in_crate.map_or(file, |(_, file)| file), site.line())
}

/// Lines of source files, where these are found.
#[derive(Default)]
pub(super) struct Sources(FxHashMap<&'static str, Option<Vec<String>>>);

impl Sources {
    pub(super) fn line(&mut self, site: Site) -> Option<String> {
        let lines = self.0.entry(site.file()).or_insert_with(|| read(site.file()));
        let line = lines.as_ref()?.get(usize::try_from(site.line()).ok()?.checked_sub(1)?)?;
        let line = line.trim();
        if line.chars().count() <= SOURCE_WIDTH {
            return Some(line.to_owned());
        }
        Some(line.chars().take(SOURCE_WIDTH - 1).chain(['…']).collect())
    }
}

/// Paths are relative to the workspace, and tests run in the folder of their package.
fn read(file: &str) -> Option<Vec<String>> {
    let here = std::env::current_dir().ok()?;
    let path = |folder: &Path| -> PathBuf { folder.join(file) };
    let text = here.ancestors().find_map(|folder| std::fs::read_to_string(path(folder)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}
