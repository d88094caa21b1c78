//! What the engines say of a model, as text, as JSON, as a page.

use crate::changes::changes;
use crate::json;
use crate::roadmap;
use crate::run::{RunView, line_of_memory};
use crate::schedule;
use crate::{Row, Tone, escaped, escaped_lines};
use linchpin_engine::{Answer, Counterexample, CrashChange, Crashes, Stat};
use linchpin_ir::interpreter::{LineRecord, Memory, StepRecord};
use linchpin_ir::program::Program;
use linchpin_ir::run::Run;
use linchpin_verdict::{Assumption, Bound, Calls, CrashProperty, Values, Verdict, counted};
use serde_json::{Map, Value as Json, json};

/// How many possible states of the object are shown.
const SHOWN_STATES: usize = 6;

/// Everything that is said about a model.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// The file.
    pub subject: &'a str,
    /// The steps of a `.lin` model, to show runs of it.
    pub program: Option<&'a Program>,
    /// What `free` means in those runs.
    pub memory: Memory,
    /// The verdict.
    pub verdict: Verdict,
    /// The answer that decides, if one does.
    pub deciding: Option<&'a Answer>,
    /// Every answer.
    pub answers: &'a [Answer],
    /// Engines that contradict each other, in a sentence.
    pub contradiction: Option<&'a str>,
    /// Whether answers that decide nothing are shown with all their details too.
    pub in_detail: bool,
    /// Columns of a drawing in the text.
    pub columns: usize,
}

impl Findings<'_> {
    /// What people read; `word` shows the verdict, perhaps coloured.
    pub fn text(&self, word: &dyn Fn(Verdict) -> String) -> String {
        let mut text = match (self.contradiction, self.deciding) {
            (Some(contradiction), _) => format!(": {contradiction}\n"),
            (None, Some(deciding)) => format!(": {}\n", deciding.reason),
            (None, None) => "\n".to_owned(),
        };
        for answer in self.answers {
            let decides = self.deciding.is_some_and(|deciding| std::ptr::eq(deciding, answer));
            text += &self.answer_text(answer, decides);
        }
        // Colours are control characters too: everything else is escaped first.
        let word = match self.contradiction {
            // Neither of the two answers is the verdict.
            Some(_) => "INTERNAL ERROR".to_owned(),
            None => word(self.verdict),
        };
        format!("{}: {word}{}", escaped(self.subject), escaped_lines(&text))
    }

    fn answer_text(&self, answer: &Answer, decides: bool) -> String {
        let mut text = format!("  {}: {}", answer.engine, answer.word());
        // The reason of the answer that decides is on the first line.
        if !decides {
            text += &format!(": {}", answer.reason);
        }
        if let Some(seconds) = answer.seconds {
            text += &format!(" ({seconds:.2} s)");
        }
        text.push('\n');
        let is_open = answer.verdict == Verdict::Inconclusive;
        let brief = !answer.is_asked || !decides && !self.in_detail && is_open;
        if brief {
            return text;
        }
        for note in &answer.notes {
            text += &format!("    {note}\n");
        }
        for assumption in &answer.assumptions {
            text += &format!("    assuming: {assumption}\n");
        }
        if !answer.unreached.is_empty() {
            text += &format!("    never executed: {}\n", answer.unreached.join(", "));
        }
        if let Some(roadmap) = &answer.roadmap {
            text += &roadmap::brief(roadmap);
        }
        if let Some(found) = &answer.counterexample {
            text += &format!("\n{}", self.counterexample_text(found));
        }
        text
    }

    /// The reason for the verdict; empty in a contradiction.
    pub(crate) fn reason(&self) -> &str {
        self.deciding.map_or("", |deciding| deciding.reason.as_str())
    }

    /// How the verdict is meant.
    pub(crate) fn tone(&self) -> Tone {
        match self.contradiction {
            Some(_) => Tone::Bad,
            None => Tone::of_verdict(self.verdict),
        }
    }

    /// What goes wrong, if something does.
    pub(crate) fn counterexample(&self) -> Option<&Counterexample> {
        self.answers.iter().find_map(|answer| answer.counterexample.as_deref())
    }

    /// The verdict with its reason.
    pub(crate) fn sentence(&self) -> String {
        match (self.contradiction, self.counterexample(), self.deciding) {
            (Some(contradiction), ..) => format!("internal error: {contradiction}"),
            (None, Some(found), _) => format!("violated: {}", found.explanation),
            (None, None, Some(deciding)) => format!("{}: {}", self.verdict, deciding.reason),
            (None, None, None) => self.verdict.to_string(),
        }
    }

    /// A counterexample as people see it: the calls and answers, why nothing explains them, and the
    /// steps.
    pub(crate) fn counterexample_text(&self, found: &Counterexample) -> String {
        let (Some(program), Some(run)) = (self.program, &found.run) else {
            return found.text.clone();
        };
        let view = RunView { program, run };
        let mut text = String::new();
        if let Some(timeline) = view.timeline() {
            text += &format!("{}\n", timeline.draw(self.columns));
        }
        text += &format!("{}\n", found.explanation);
        if !found.possible.is_empty() {
            let shown: Vec<&str> =
                found.possible.iter().take(SHOWN_STATES).map(String::as_str).collect();
            let more = found.possible.len().saturating_sub(shown.len());
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let before = match run.events.is_empty() {
                true => "at the start",
                false => "before the last response",
            };
            text += &format!("The object could be, {before}: {}{more}\n", shown.join("; "));
        }
        text += &found.text;
        let switches = match found.switches {
            Some(1) => ", with 1 context switch".to_owned(),
            Some(count) => format!(", with {count} context switches"),
            None => String::new(),
        };
        text += &format!("\nThe steps{switches}, and what they changed:\n\n");
        if let (1.., Some(calls)) = (found.preload, program.preload_shown()) {
            let steps = counted(found.preload, "step");
            text += &format!("    the preload, {steps}: {}\n", escaped(&calls));
        }
        // Where the preload itself is wrong, its steps are what there is to see.
        let is_wrong_itself = found.preload >= found.schedule.len();
        let known = if is_wrong_itself { 0 } else { found.preload };
        for (row, changed) in self.rows(found).into_iter().skip(known) {
            text += &format!("{}\n", row.text());
            if !changed.is_empty() {
                text += &format!("{:>27}{changed}\n", "→ ");
            }
        }
        text
    }

    /// The moves of a counterexample, each with what it changed in shared memory.
    fn rows(&self, found: &Counterexample) -> Vec<(Row, String)> {
        let (Some(program), Some(run)) = (self.program, &found.run) else {
            let steps = found.steps.iter().enumerate();
            let row = |(at, step): (usize, &linchpin_engine::Step)| Row {
                time: at as u64,
                process: step.thread,
                operation: step.operation.clone(),
                line: step.line,
                text: step.text.clone(),
            };
            return steps.map(row).map(|row| (row, String::new())).collect();
        };
        let changes = changes(program, self.memory, &found.schedule);
        let rows = RunView { program, run }.rows();
        let with_changes = |(at, mut row): (usize, Row)| {
            if row.text.is_empty() {
                row.text = format!("{} returns", row.operation);
            }
            let changed = changes.get(at).map_or(String::new(), |changed| changed.join(", "));
            (row, changed)
        };
        rows.into_iter().enumerate().map(with_changes).collect()
    }

    /// The object that scripts read.
    pub fn json(&self) -> Map<String, Json> {
        self.object("verify")
    }

    /// The same, and the counterexample step by step with every state, as the page shows it.
    pub fn json_with_run(&self) -> Map<String, Json> {
        let mut object = self.json();
        let found = self.counterexample();
        let run = found.and_then(|found| self.interleaving(found));
        if let (Some(counterexample), Some(run)) = (object.get_mut("counterexample"), run) {
            counterexample["run"] = run.to_json();
        }
        object
    }

    /// The same of another command, as a line.
    pub fn json_of(&self, command: &str) -> String {
        format!("{}\n", Json::Object(self.object(command)))
    }

    fn object(&self, command: &str) -> Map<String, Json> {
        let mut object = json::envelope(command, self.subject);
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("verdict", json!(self.verdict.id()));
        if let Some(deciding) = self.deciding {
            insert("reason", json!(deciding.reason));
        }
        if let Some(contradiction) = self.contradiction {
            insert("contradiction", json!(contradiction));
        }
        insert("engines", self.answers.iter().map(answer_json).collect());
        if let Some(found) = self.counterexample() {
            insert("counterexample", self.counterexample_json(found));
        }
        object
    }

    pub(crate) fn counterexample_json(&self, found: &Counterexample) -> Json {
        let mut object = Map::new();
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("kind", json!(found.wrong.id()));
        insert("explanation", json!(found.explanation));
        let events = match (self.program, &found.run) {
            (Some(program), Some(run)) => RunView { program, run }.history(),
            _ => Vec::new(),
        };
        insert("history", Json::Array(events));
        if let Some(lines) = found.run.as_ref().map(lines_of).filter(|lines| !lines.is_empty()) {
            insert("lines", Json::Array(lines));
        }
        let moves = |moves| match self.program {
            Some(program) => schedule::to_json(program, moves),
            None => json!([]),
        };
        insert("schedule", moves(&found.schedule));
        if found.preload > 0 {
            insert("preload", json!(found.preload));
        }
        insert("core", json!(found.core));
        if !found.cycle.is_empty() {
            insert("cycle", moves(&found.cycle));
        }
        if !found.trace.is_empty() {
            insert("trace", json!(found.trace));
        }
        if let Some(switches) = found.switches {
            insert("switches", json!(switches));
        }
        if !found.possible.is_empty() {
            insert("possible", json!(found.possible));
        }
        Json::Object(object)
    }
}

/// What the crashes of a run did to lines of persistent memory, with the time of each.
fn lines_of(run: &Run) -> Vec<Json> {
    let of = |(time, record): (usize, &StepRecord)| {
        let line = |line: &LineRecord| {
            let mut line = line_of_memory(line);
            line["time"] = json!(time);
            line
        };
        record.lines.iter().map(line).collect::<Vec<_>>()
    };
    run.trace.iter().enumerate().flat_map(of).collect()
}

fn answer_json(answer: &Answer) -> Json {
    let stats: Map<String, Json> =
        answer.stats.iter().map(|(name, stat)| ((*name).to_owned(), stat_json(*stat))).collect();
    let assumptions: Vec<String> = answer.assumptions.iter().map(ToString::to_string).collect();
    let mut object = json!({
        "engine": answer.engine, "verdict": answer.verdict.id(), "reason": answer.reason,
        "bounds": bounds_json(&answer.bounds, &answer.assumptions), "assumptions": assumptions, "unreached": answer.unreached,
        "stats": stats, "notes": answer.notes, "seconds": answer.seconds,
    });
    if !answer.is_asked {
        object["asked"] = json!(false);
    }
    if answer.is_unfinished {
        object["unfinished"] = json!(true);
    }
    if let Some(crashes) = &answer.crashes {
        object["crashes"] = crashes_json(crashes);
    }
    object
}

/// What is known about runs with crashes. What was not found out is left out.
fn crashes_json(crashes: &Crashes) -> Json {
    let ids = |all: &[CrashProperty]| all.iter().map(|of| of.id()).collect::<Vec<_>>();
    let changes = |all: &[CrashChange]| {
        let one = |of: &CrashChange| json!({ "action": of.action, "operation": of.operation, "line": of.line });
        all.iter().map(one).collect::<Json>()
    };
    let mut object = json!({
        "property": crashes.property.id(), "fails": ids(&crashes.fails),
        "lost_a_store": crashes.lost_a_store,
    });
    if let Some(strongest) = crashes.strongest {
        object["strongest"] = json!(strongest.id());
    }
    if let Some(detectable) = crashes.detectable {
        object["detectable"] = json!(detectable);
    }
    if let Some(repairs) = &crashes.repairs {
        object["repairs"] = changes(repairs);
    }
    if let Some(superfluous) = &crashes.superfluous {
        object["superfluous"] = changes(superfluous);
    }
    object
}

fn stat_json(stat: Stat) -> Json {
    match stat {
        Stat::Count(count) => json!(count),
        Stat::Seconds(seconds) => json!(seconds),
        Stat::Flag(flag) => json!(flag),
        Stat::Word(word) => json!(word),
    }
}

/// Bounds as scripts read them.
pub(crate) fn bounds_json(bounds: &[Bound], assumptions: &[Assumption]) -> Json {
    let mut object = Map::new();
    for bound in bounds {
        let of_role;
        let (key, value) = match bound {
            Bound::RoleCalls(role, calls) => {
                of_role = format!("ops({role})");
                (
                    of_role.as_str(),
                    match calls {
                        Calls::Each(count) => json!(count),
                        Calls::Unlimited => json!("unlimited"),
                    },
                )
            }
            Bound::Threads(count) => ("threads", json!(count)),
            Bound::Calls(Calls::Each(count)) => ("ops", json!(count)),
            Bound::Calls(Calls::Unlimited) => ("ops", json!("unlimited")),
            Bound::Values(Values::UpTo(last)) => ("values", json!(last)),
            Bound::Values(Values::Any) => ("values", json!("any")),
            Bound::Objects(count) => ("size", json!(count)),
            Bound::Crashes(count) => ("crashes", json!(count)),
            Bound::ThreadCrashes(count) => ("thread_crashes", json!(count)),
            Bound::Preemptions(count) => {
                // A run has no more preemptions than context switches.
                object.insert("switches".to_owned(), json!(count));
                ("preemptions", json!(count))
            }
            Bound::Preload(calls) => ("preload", json!(calls)),
            Bound::Constant(name, value) => (name.as_str(), json!(value)),
        };
        object.insert(key.to_owned(), value);
    }
    if object.contains_key("threads") {
        object.entry("size").or_insert(Json::Null);
        let memory = if assumptions.contains(&Assumption::Reuse) {
            "reuse"
        } else if assumptions.contains(&Assumption::TypeStable) {
            "type-stable"
        } else {
            "collected"
        };
        object.insert("memory".to_owned(), json!(memory));
    }
    Json::Object(object)
}
