//! A failure as a person reads it: the sentence, a column for each process, the core in time, and
//! how to see it again.

use crate::execution::{AFTER, BEFORE};
use crate::failure::{Failure, Kind, Repair, Repairs};
use crate::persistent;
use crate::plan::Mode;
use crate::specification::Source;
use linchpin_explore::crash::Instruction;
use linchpin_history_data::{Bar, OpId, Precedence, Property, Rank, Sentences, Timeline, escaped};
use linchpin_spec::{Shape, Value};
use linchpin_verdict::counted;
use std::ffi::OsString;
use std::fmt::{self, Write};

/// Columns of the drawing.
const WIDTH: usize = 100;

/// A history with more operations is not printed as a whole.
const MOST: usize = 40;

/// So many possible states are named.
const STATES: usize = 8;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.test, self.headline())?;
        if let Some(violation) = &self.violation {
            writeln!(f, "\n{}", violation.explanation)?;
        }
        let shown = self.shown();
        if !shown.is_empty() {
            write!(f, "\n{}{}", self.table(&shown), self.left_out(&shown))?;
            match &self.order {
                Some(order) => write!(f, "\n{}", self.happens_before(order, &shown))?,
                None => write!(f, "\n{}", self.timeline())?,
            }
        }
        if !self.possible.is_empty() {
            let named = &self.possible[..self.possible.len().min(STATES)];
            writeln!(f, "\nPossible states just before: {}", named.join(", "))?;
        }
        if let Some(interleaving) = &self.interleaving {
            write!(f, "\n{interleaving}")?;
        }
        if let Some(repairs) = &self.repairs {
            f.write_str(&repaired(repairs))?;
        }
        self.repeat(f)
    }
}

impl Failure {
    fn headline(&self) -> String {
        match &self.kind {
            Kind::NotLinearizable if self.order.is_some() => {
                "not linearizable with respect to happens-before".to_owned()
            }
            Kind::NotLinearizable => match self.property {
                Some(Property::Durable) => "not durably linearizable".to_owned(),
                Some(Property::Detectable) => "not detectably linearizable".to_owned(),
                Some(Property::Strict) => "not strictly linearizable".to_owned(),
                Some(Property::Recoverable) => "not recoverably linearizable".to_owned(),
                Some(Property::Linearizable) | None => "not linearizable".to_owned(),
            },
            Kind::Panicked(message) => format!("an operation panicked: {message}"),
            Kind::Stuck => format!("stuck: {}", self.stuck()),
            Kind::FinallyFailed(message) => {
                format!("`finally` failed after the run: {message}")
            }
            Kind::Race(message)
            | Kind::Memory(message)
            | Kind::Deadlock(message)
            | Kind::Endless(message)
            | Kind::Hung(message)
            | Kind::Unseen(message)
            | Kind::Nondeterministic(message) => message.clone(),
            Kind::Limit(so_far) => format!("stopped by a limit before it was done: {so_far}"),
            Kind::Mistake(mistake) => format!("the test cannot be run: {mistake}"),
        }
    }

    /// What does not return.
    fn stuck(&self) -> String {
        let sentences = Sentences::new(&self.history, &self.signatures);
        let pending = self.history.ids().filter(|id| !self.history[*id].completed);
        let pending: Vec<String> = pending.map(|id| sentences.caller(id)).collect();
        match pending.as_slice() {
            [one] => format!("{one} does not return, and could be answered"),
            several => {
                format!("{} do not return, and one could be answered", several.join(" and "))
            }
        }
    }

    /// The operations that are printed: all if they are few, otherwise those that matter.
    fn shown(&self) -> Vec<OpId> {
        if self.history.operations.len() <= MOST {
            return self.history.ids().collect();
        }
        let mut shown: Vec<OpId> = match &self.violation {
            Some(violation) => violation.core.iter().chain(&violation.blamed).copied().collect(),
            None => self.history.ids().filter(|id| !self.history[*id].completed).collect(),
        };
        shown.sort_unstable();
        shown.dedup();
        shown.split_off(shown.len().saturating_sub(MOST))
    }

    fn left_out(&self, shown: &[OpId]) -> String {
        let all = self.history.operations.len();
        if shown.len() == all {
            return String::new();
        }
        format!("({} of {})\n", shown.len(), counted(all, "operation"))
    }

    /// An operation with its answer: `pop → 3`.
    fn label(&self, id: OpId) -> String {
        let call = Sentences::new(&self.history, &self.signatures).call(id);
        let operation = usize::from(self.history[id].operation);
        let signature = self.signatures.get(operation);
        let answers = signature.is_some_and(|signature| signature.response != Shape::Unit);
        let label = match self.history.response(id) {
            None => format!("{call} does not return"),
            Some(response) if answers => format!("{call} → {response}"),
            Some(_) => call,
        };
        escaped(&label).into_owned()
    }

    /// A column for each process, and its operations below each other.
    fn table(&self, shown: &[OpId]) -> String {
        let mut columns: Vec<Vec<String>> = Vec::new();
        for (process, name) in self.history.processes.iter().enumerate() {
            let of = shown.iter().filter(|id| self.history[**id].process as usize == process);
            let mut column = vec![process_name(name)];
            column.extend(of.map(|id| self.label(*id)));
            if column.len() > 1 {
                columns.push(column);
            }
        }
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for row in 0..rows {
            text.push('|');
            for column in &columns {
                let width = column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
                let cell = column.get(row).map_or("", String::as_str);
                let _ = write!(text, " {cell:width$} |");
            }
            text.push('\n');
        }
        text
    }

    /// The core in time; everything if there is no core.
    fn timeline(&self) -> String {
        let (title, ids) = match &self.violation {
            Some(violation) => {
                let mut core = violation.core.clone();
                core.sort_unstable();
                let from = core.len().saturating_sub(MOST);
                ("The core, which no order explains:", core.split_off(from))
            }
            None => ("In time:", self.shown()),
        };
        let mut ranks: Vec<Rank> = Vec::new();
        for id in &ids {
            let operation = &self.history[*id];
            ranks.push(operation.invoked);
            ranks.extend(operation.completed.then_some(operation.returned));
        }
        ranks.sort_unstable();
        let position = |rank: Rank| ranks.partition_point(|known| *known < rank);
        let bar = |id: &OpId| {
            let operation = &self.history[*id];
            Bar {
                process: operation.process as usize,
                label: self.label(*id),
                from: position(operation.invoked),
                to: operation.completed.then(|| position(operation.returned)),
            }
        };
        let names = self.history.processes.iter().map(|name| process_name(name)).collect();
        let drawing = Timeline::new(ids.iter().map(bar).collect()).named(names).draw(WIDTH);
        format!("{title}\n{drawing}")
    }

    /// What comes before what across processes, where there are no times.
    fn happens_before(&self, order: &Precedence, shown: &[OpId]) -> String {
        let sentences = Sentences::new(&self.history, &self.signatures);
        let across = order.steps().filter(|(first, second)| {
            let process = |id: OpId| self.history[id].process;
            process(*first) != process(*second) && shown.contains(first) && shown.contains(second)
        });
        let pairs: Vec<String> = across
            .map(|(first, second)| {
                let (first, second) = (sentences.caller(first), sentences.caller(second));
                format!("  {first} happens before {second}")
            })
            .collect();
        match pairs.is_empty() {
            true => "No operation happens before one of another process.\n".to_owned(),
            false => format!("Across processes:\n{}\n", pairs.join("\n")),
        }
    }

    /// How to see it again.
    fn repeat(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(mode) = self.mode else { return Ok(()) };
        if let Kind::Limit(_) = self.kind {
            return Ok(());
        }
        f.write_str("\n")?;
        if !self.shown_scenario.is_empty() {
            writeln!(f, "scenario: {}", self.shown_scenario)?;
        }
        let runs = if mode == Mode::Native { "round" } else { "execution" };
        let rounds = counted(self.rounds, runs);
        writeln!(f, "found by: {mode}, after {rounds}, seed {}", self.seed)?;
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        let Some(files) = &self.files else { return Ok(()) };
        let history = files.history.display();
        writeln!(f, "history: {history}")?;
        match self.command() {
            Some(mut options) => {
                if let Some(property) = self.property {
                    let _ = write!(options, " --property {}", persistent::word(property));
                }
                writeln!(f, "judge it: linchpin check {history} {options}")?;
                writeln!(
                    f,
                    "look at it: the same with --report page.html, or LINCHPIN_REPORT=page.html \
                     cargo test"
                )?;
            }
            None => writeln!(f, "its specification is Rust code, which `linchpin check` lacks")?,
        }
        if let Some(regression) = &files.regression {
            let path = regression.display();
            writeln!(f, "tried first the next time: {path}")?;
            if self.decisions.is_some() {
                writeln!(
                    f,
                    "repeat it: LINCHPIN_REPLAY={path} cargo test {}",
                    self.name_in_crate()
                )?;
            }
        }
        Ok(())
    }

    /// The name of the test as `cargo test` knows it: without the crate. Its modules are needed, or
    /// tests of the same name in other modules would be given a failure that is not theirs.
    fn name_in_crate(&self) -> &str {
        self.test.split_once("::").map_or(&self.test, |(_, name)| name)
    }

    /// The options of `linchpin check` that name the specification, for a shell.
    fn command(&self) -> Option<String> {
        match &self.source {
            Source::Builtin { name, init: None } => Some(format!("--spec {name}")),
            Source::Builtin { name, init: Some(init) } => {
                Some(format!("--spec {name} --init '{}'", quoted(init)))
            }
            Source::Lin(path) => Some(format!("--spec {}", path.display())),
            Source::Rust(_) => None,
        }
    }

    /// The same, one after the other.
    pub(crate) fn arguments(&self) -> Option<Vec<OsString>> {
        let (spec, init) = match &self.source {
            Source::Builtin { name, init } => (OsString::from(name.to_string()), init.as_ref()),
            Source::Lin(path) => (path.clone().into_os_string(), None),
            Source::Rust(_) => return None,
        };
        let mut arguments = vec!["--spec".into(), spec];
        if let Some(init) = init {
            arguments.extend(["--init".into(), init.to_string().into()]);
        }
        Some(arguments)
    }
}

/// What would have kept what was lost.
fn repaired(repairs: &Repairs) -> String {
    let Repairs { found, tried_in_vain, undecided } = repairs;
    let mut text = match (found.len(), tried_in_vain) {
        (0, 0) => String::new(),
        (0, 1) => "A `persist` right after the access to what was lost does not repair this \
                   scenario (tried).\n"
            .to_owned(),
        (0, tried) => format!(
            "No single `persist` right after one of the {tried} accesses to what was lost repairs \
             this scenario (each was tried).\n"
        ),
        _ => "Right after this access, this repairs the scenario (tried, the weakest is named):\n"
            .to_owned(),
    };
    for Repair { instruction, place, source } in found {
        let what = match instruction {
            Instruction::Flush => "a `flush` of what it accesses",
            Instruction::Fence => "a `fence`",
            Instruction::Persist => "a `persist` of what it accesses",
        };
        let source = source.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  {what}: {place}  {source}");
    }
    if *undecided > 0 {
        let others = counted(*undecided, "access").replace("accesss", "accesses");
        let _ = writeln!(text, "({others} could not be tried in time)");
    }
    text
}

fn process_name(name: &str) -> String {
    if name == BEFORE || name == AFTER { name.to_owned() } else { format!("process {name}") }
}

/// A value inside the single quotes of a shell.
fn quoted(value: &Value) -> String {
    value.to_string().replace('\'', "'\\''")
}
