//! The command line. Every flag is documented here, where it is declared.

use crate::files::Files;
use clap::builder::PossibleValuesParser;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use linchpin_ingest::Format;
use linchpin_lang::{Config, Threads};
use linchpin_progress::Property;
use linchpin_space::Calls;
use linchpin_spec::Value;
use linchpin_verify::Client;
use std::env::ArgsOs;
use std::path::PathBuf;
use std::time::Duration;

/// Tells whether a concurrent object is linearizable: whether every operation appears to take
/// effect at one instant between its call and its return.
#[derive(Debug, Parser)]
#[command(name = "linchpin", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    limits: LimitArgs,
}

impl Cli {
    /// The command with what every command understands, or what is wrong with the arguments.
    pub fn read(raw: ArgsOs, shown: &[String]) -> Result<Command, clap::Error> {
        let color = shown.windows(2).fold(ColorChoice::Auto, |color, pair| {
            match (pair[0].as_str(), pair[1].as_str()) {
                ("--color", "never") | (_, "--color=never") => ColorChoice::Never,
                ("--color", "always") | (_, "--color=always") => ColorChoice::Always,
                _ => color,
            }
        });
        let matches = Cli::command().color(color).try_get_matches_from(raw)?;
        let Cli { mut command, common, limits } = Cli::from_arg_matches(&matches)?;
        command.set(common, limits);
        Ok(command)
    }
}

const EXIT_CODES: &str =
    "Exit codes: 0 holds (or done), 1 violated, 2 usage or input error, 3 inconclusive.";

const RUN_EXIT_CODES: &str = "Exit codes: 0 every run was linearizable; 1 a run was not, a step failed, or threads block each \
     other for ever; 2 usage or input error; 3 a limit ended the search, or a run was not decided \
     (--step-limit, or threads wait for what a further call might do).";

const ROADMAP_EXIT_CODES: &str = "Exit codes: 0 every condition holds within the bounds; 1 one does not, and a run within the \
     bounds is not linearizable; 2 usage or input error; 3 a condition does not hold and no such run \
     was found, the method does not apply, or a limit ended the search.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Verify models: every engine that applies answers, the strongest answer is the verdict.
    Verify(VerifyArgs),
    /// Judge a recorded history: is it linearizable?
    Check(CheckArgs),
    /// Confirm a witness, a core or a proof with small code that shares nothing with the engines.
    Certify(CertifyArgs),
    /// Execute a model under a random scheduler, judge the history it produced and write it.
    Run(RunArgs),
    /// Measure the papers' tables again, theirs beside ours.
    Reproduce(ReproduceArgs),
    /// Print the atomic steps of a model with their source lines.
    Steps(StepsArgs),
    /// Print the sub-operations derived from a model's code, with the reason for every merge.
    Subops(SubopsArgs),
    /// Write the proof roadmap of a model: what a base point proof of it has to show, and how far
    /// that is known.
    Roadmap(RoadmapArgs),
    /// Format models.
    Fmt(FmtArgs),
    /// List the built-in specifications and their operations.
    Specs(SpecsArgs),
}

/// Does the same with whatever the arguments of the command are.
macro_rules! each {
    ($command:expr, $args:ident => $result:expr) => {
        match $command {
            Command::Verify($args) => $result,
            Command::Check($args) => $result,
            Command::Certify($args) => $result,
            Command::Run($args) => $result,
            Command::Reproduce($args) => $result,
            Command::Steps($args) => $result,
            Command::Subops($args) => $result,
            Command::Roadmap($args) => $result,
            Command::Fmt($args) => $result,
            Command::Specs($args) => $result,
        }
    };
}

impl Command {
    pub fn common(&self) -> &Common {
        each!(self, args => &args.common)
    }

    fn set(&mut self, common: Common, limits: LimitArgs) {
        each!(self, args => {
            args.common = common;
            args.limits = limits;
        });
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Verify(_) => "verify",
            Command::Check(_) => "check",
            Command::Certify(_) => "certify",
            Command::Run(_) => "run",
            Command::Reproduce(_) => "reproduce",
            Command::Steps(_) => "steps",
            Command::Subops(_) => "subops",
            Command::Roadmap(_) => "roadmap",
            Command::Fmt(_) => "fmt",
            Command::Specs(_) => "specs",
        }
    }

    /// What it reads and writes. `fmt` is not here: it writes what it reads.
    pub fn files(&self) -> Files {
        let (inputs, outputs) = match self {
            Command::Verify(args) => (
                args.files.clone(),
                vec![("--report", &args.report), ("--certificate", &args.certificate)],
            ),
            Command::Check(args) => (
                args.paths().cloned().chain(args.recording.model()).collect(),
                vec![
                    ("--witness", &args.witness),
                    ("--core", &args.core),
                    ("--report", &args.report),
                ],
            ),
            Command::Run(args) => (
                args.replay.iter().chain([&args.model.model]).cloned().collect(),
                vec![("--output", &args.output), ("--report", &args.report)],
            ),
            Command::Subops(args) => {
                (vec![args.model.model.clone()], vec![("--output", &args.output)])
            }
            Command::Roadmap(args) => (
                vec![args.model.model.clone()],
                vec![("--out", &args.out), ("--report", &args.report)],
            ),
            Command::Certify(_)
            | Command::Reproduce(_)
            | Command::Steps(_)
            | Command::Fmt(_)
            | Command::Specs(_) => Default::default(),
        };
        let given = |(flag, path): (_, &Option<PathBuf>)| path.clone().map(|path| (flag, path));
        Files { inputs, outputs: outputs.into_iter().filter_map(given).collect() }
    }
}

/// What every command understands.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// Write one JSON object to standard output instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing on standard error but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Say more: which methods were tried; how far the work is, every ten seconds where there is no
    /// terminal.
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Whether to use colours; `auto`: on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorArg,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    #[default]
    Auto,
    Always,
    Never,
}

/// Limits on what a command may use. Every command understands them too.
#[derive(Args, Clone, Debug, Default)]
pub struct LimitArgs {
    /// Stop after this time, such as `30`, `30s`, `5m`, `1h`, with what is known then (exit code
    /// 3).
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Stop when this much memory is in use, such as `500M`, `4G`, with what is known then (exit
    /// code 3). [default: half of the memory that is free at the start]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<u64>,
}

/// A model and what the user decides about it.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The model: a `.lin` file, or `-` for standard input.
    pub model: PathBuf,
    /// How many threads: `3`, or one number a role: `writer=1,reader=2`.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<Threads>,
    /// Give a parameter of the model another value: `K=4`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, Value)>,
}

impl ModelArgs {
    pub fn config(&self) -> Config {
        Config { params: self.set.clone(), threads: self.threads.clone().unwrap_or_default() }
    }
}

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// The models: `.lin` files, `.subop` files (operations as lists of sub-operations), `.csp`
    /// files (processes).
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Only this engine. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(engines()))]
    pub engine: Vec<String>,
    /// How many threads: `3`, one number a role: `writer=1,reader=2`, or `any`. With a number,
    /// `shape` looks at exactly that many; without, or with `any`, at any number of each kind,
    /// while engines that need a number take the model's own.
    #[arg(long, value_name = "N", value_parser = threads_or_any)]
    pub threads: Option<ThreadsArg>,
    /// Threads that call only some operations, of a model without roles: `push=2,pop=1` for two
    /// producers and one consumer, `push,pop=3` for three threads that call both.
    #[arg(long, value_name = "OPS=N", value_parser = clients)]
    pub client: Option<Clients>,
    /// Give a parameter of the model another value: `K=4`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, Value)>,
    /// How many operations each thread calls, or `unlimited`. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = calls)]
    pub ops: Option<Calls>,
    /// How many different values clients pass for an `int`: 1, 2, …, N. [default: the model's
    /// bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=255))]
    pub values: Option<i64>,
    /// At most so many heap objects at a time; without `--ops`, threads then call without end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub size: Option<u16>,
    /// What `free` means: nothing, or that the object may come back.
    #[arg(long, value_enum, default_value_t = MemoryArg::Collected)]
    pub memory: MemoryArg,
    /// Do not try the claimed linearization points first.
    #[arg(long)]
    pub no_points: bool,
    /// Do not look for operations that get stuck: only for wrong answers and steps that fail.
    #[arg(long)]
    pub safety_only: bool,
    /// Say for each operation where linearization points could be.
    #[arg(long)]
    pub suggest_points: bool,
    /// Check this progress property of a `.lin` model instead of linearizability: `no-deadlock`,
    /// `obstruction-free`, `lock-free`, `wait-free`, `livelock-free` or `starvation-free`.
    #[arg(long, value_name = "PROPERTY")]
    pub progress: Option<Property>,
    /// Check this formula of linear temporal logic over events instead, such as
    /// `always (read_inv implies eventually read_res)`.
    #[arg(long, value_name = "FORMULA", conflicts_with = "progress")]
    pub ltl: Option<String>,
    /// For `--ltl`: only runs in which every thread that can always move does move.
    #[arg(long, requires = "ltl")]
    pub fair: bool,
    /// For `shape`: what the model is compared with.
    #[arg(long, value_enum, default_value_t = ReferenceArg::Spec)]
    pub reference: ReferenceArg,
    /// For `shape`: how heaps are abstracted.
    #[arg(long, value_enum, default_value_t = DomainArg::Targets)]
    pub domain: DomainArg,
    /// For `shape`: how answers that change nothing are explained, such as that of a `pop` that
    /// finds nothing. Without it `seen`, or `claimed` for the domain of the paper.
    #[arg(long, value_enum)]
    pub answers: Option<AnswersArg>,
    /// For `reduce`: print which pairs of sub-operations are orderable and reversible, and in which
    /// alias cases.
    #[arg(long)]
    pub table: bool,
    /// For `reduce`: print the facts that were found, and what killed the candidates that are none.
    #[arg(long)]
    pub facts: bool,
    /// For `reduce`: write the questions about pairs of sub-operations to this folder, one SMT-LIB
    /// file each; its comment says the answer that was found.
    #[arg(long, value_name = "FOLDER")]
    pub smt2: Option<PathBuf>,
    /// For `reduce`: write the proof to this file, for `linchpin certify`.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Leave out a reduction of the state space. May be repeated.
    #[arg(long, value_enum, value_name = "REDUCTION")]
    pub without: Vec<ReductionArg>,
    /// Search with a table of this size instead of remembering states: finds violations in huge
    /// spaces, proves nothing.
    #[arg(long, value_name = "SIZE", value_parser = size, num_args = 0..=1, default_missing_value = "1G")]
    pub lossy: Option<u64>,
    /// How many cores to use. [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// Write a self-contained page about the verdict.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// For `shape`: write the abstract states to this folder, one SVG file each: those on the way to
    /// what stopped the proof, or some of those that the proof kept.
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

/// What `--engine` takes: one engine may read several languages under one name.
fn engines() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        linchpin_verify::ENGINES.iter().map(|engine| engine.name()).collect();
    names.dedup();
    names
}

impl VerifyArgs {
    pub fn config(&self) -> Config {
        let threads = match &self.threads {
            Some(ThreadsArg::These(threads)) => threads.clone(),
            Some(ThreadsArg::Any) | None => Threads::AsDeclared,
        };
        Config { params: self.set.clone(), threads }
    }

    /// Whether the command line says how many threads there are.
    pub fn fixes_threads(&self) -> bool {
        match &self.threads {
            Some(ThreadsArg::These(_)) => true,
            Some(ThreadsArg::Any) => false,
            None => self.client.is_some(),
        }
    }
}

/// What `--threads` takes.
#[derive(Clone, Debug)]
pub enum ThreadsArg {
    /// Any number of each kind.
    Any,
    /// These.
    These(Threads),
}

/// What `--client` takes.
#[derive(Clone, Debug)]
pub struct Clients(pub Vec<Client>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReferenceArg {
    /// Its `reference` block if it has one, else the specification as a small list.
    Spec,
    /// Its own code, run alone.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DomainArg {
    /// Links as sets of targets: the fast one.
    Targets,
    /// Three-valued structures with instrumentation predicates: as the paper has it.
    Kleene,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswersArg {
    /// At some instant since the call the reference would have answered so.
    Seen,
    /// At the claimed linearization points, which are judged by that.
    Claimed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReductionArg {
    /// Dropping garbage and renaming objects.
    CanonicalHeap,
    /// Dropping locals that nothing reads any more.
    DeadLocals,
    /// Threads that are interchangeable.
    ThreadSymmetry,
    /// Values that are interchangeable.
    ValueSymmetry,
    /// Taking steps that no other thread notices together with the step before.
    PartialOrder,
    /// Taking invocations and responses together with the first and last step.
    MergedEvents,
    /// Linearizing only when a response needs it.
    JustInTime,
    /// Leaving out states that can do no more than others.
    Antichain,
    /// All of them.
    All,
}

/// How a history was recorded, and of what.
#[derive(Args, Clone, Debug)]
pub struct RecordingArgs {
    /// What was recorded: a built-in specification (`linchpin specs` lists them), or a `.lin` file
    /// with a `spec`.
    #[arg(long, value_name = "NAME|FILE.lin")]
    pub spec: String,
    /// The initial value of the object, as JSON.
    #[arg(long, value_name = "JSON", value_parser = json_value, allow_negative_numbers = true)]
    pub init: Option<Value>,
    /// The format of the file. [default: detected]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// What the recorder means by a `fail` of `cas`.
    #[arg(long, value_enum, default_value_t = FailedCasArg::DidNotHappen)]
    pub failed_cas: FailedCasArg,
    /// Whether every value is a pair `[key, value]` of an independent object. [default: detected]
    #[arg(long, value_name = "true|false")]
    pub keyed: Option<bool>,
    /// What an `ok` read of `null` says of a register. [default: unknown in Jepsen's EDN, a value in
    /// all other formats]
    #[arg(long, value_enum)]
    pub nil_reads: Option<NilReadsArg>,
    /// What tells in which order events happened.
    #[arg(long, value_enum, default_value_t = OrderArg::Lines)]
    pub order: OrderArg,
    /// What must hold. The properties differ in what a crashed operation may still do.
    #[arg(long, value_enum, default_value_t = PropertyArg::Linearizable)]
    pub property: PropertyArg,
}

impl RecordingArgs {
    /// The file that the specification is in, if it is in one.
    pub fn model(&self) -> Option<PathBuf> {
        self.spec.ends_with(".lin").then(|| PathBuf::from(&self.spec))
    }
}

#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// The history: JSON lines, Jepsen EDN, log or `test.jepsen`, porcupine, fastlin or LiMo text,
    /// etcd's, TiPocket's or S2's recordings, gzip or zstd of those; `-` for standard input; a
    /// folder for every history in it, one line each.
    #[arg(required_unless_present = "store", default_value = "-", hide_default_value = true)]
    pub history: PathBuf,
    /// More histories or folders, one line each.
    #[arg(value_name = "HISTORY")]
    pub more: Vec<PathBuf>,
    /// Judge the latest run in this store of Jepsen or Maelstrom.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["history", "more"])]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub recording: RecordingArgs,
    /// Write the order that explains the history to this file, if there is one.
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write the operations that nothing explains to this file, if there are some.
    #[arg(long, value_name = "FILE")]
    pub core: Option<PathBuf>,
    /// Use the general search even where a monitor applies.
    #[arg(long)]
    pub no_monitors: bool,
    /// Judge events as they arrive, and wait for more at the end of the file.
    #[arg(long, conflicts_with_all = ["witness", "core", "report", "with_history"])]
    pub follow: bool,
    /// Write a self-contained page that shows the whole history, and why the verdict is what it is.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Add what the page shows to the object of `--json`, as `view`.
    #[arg(long, requires = "json")]
    pub with_history: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

impl CheckArgs {
    /// The histories and folders that are named.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.history).chain(&self.more)
    }
}

#[derive(Args, Clone, Debug)]
pub struct CertifyArgs {
    /// What `linchpin check` wrote with `--witness` or `--core`, or `linchpin verify` with
    /// `--certificate`.
    pub certificate: PathBuf,
    /// The history, if it is not where the certificate says.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailedCasArg {
    /// The operation had no effect, like any other that failed.
    DidNotHappen,
    /// The `cas` took place and answered false.
    ReturnedFalse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NilReadsArg {
    /// What was read is not known.
    Unknown,
    /// The object held `null`.
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// The order of the lines.
    Lines,
    /// The `time` of each event; events of one time overlap.
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PropertyArg {
    /// A pending operation may take effect at any later time, or never.
    Linearizable,
    /// An operation interrupted by a crash takes effect before the crash, or never.
    Strict,
    /// … before the next operation of the same process takes effect, or never.
    Recoverable,
    /// … at any later time, or never; what returned before a crash survives it.
    Durable,
}

#[derive(Args, Clone, Debug)]
#[command(after_help = RUN_EXIT_CODES)]
pub struct RunArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many operations each thread calls. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub ops: Option<u32>,
    /// How many different values clients pass for an `int`: 1, 2, …, N. [default: the model's
    /// bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub values: Option<i64>,
    /// Decides everything random: the same seed gives the same bytes.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Try so many seeds, from `--seed` on, and report the first run that goes wrong, or else the
    /// last. Every run is judged against the specification.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub tries: u64,
    /// Who moves next.
    #[arg(long, value_enum, default_value_t = Schedule::Random)]
    pub schedule: Schedule,
    /// How many ordering constraints `--schedule pct` aims at.
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub depth: u32,
    /// What `free` means: nothing, or that the object may come back.
    #[arg(long, value_enum, default_value_t = MemoryArg::Collected)]
    pub memory: MemoryArg,
    /// End a run after so many moves: threads may spin for ever.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub step_limit: u64,
    /// Write every step too: a line with `"type":"step"` between the events.
    #[arg(long)]
    pub trace: bool,
    /// Execute the schedule in this file (what `linchpin run --json` or `linchpin verify --json`
    /// wrote) instead of a random one, and judge the run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "tries", "schedule", "ops", "values"])]
    pub replay: Option<PathBuf>,
    /// Write the history to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a self-contained page about the run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// Any thread that can move, each with the same probability.
    Random,
    /// Probabilistic concurrency testing: random priorities that change at a few random moves.
    Pct,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryArg {
    /// Garbage collected: `free` changes nothing.
    Collected,
    /// Explicit: a freed object may come back, and using it after `free` is an error.
    Reuse,
}

#[derive(Args, Clone, Debug)]
pub struct ReproduceArgs {
    /// Which tables. [default: all]
    #[arg(value_enum)]
    pub tables: Vec<TableArg>,
    /// Give up a measurement that is only there for comparison after this time.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s")]
    pub patience: Duration,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableArg {
    /// Refinement model checking: Table 1 of "Model Checking Linearizability via Refinement".
    #[value(name = "002")]
    Refinement,
    /// Comparison under abstraction: Tables 5.1 and A.1 of "Comparison Under Abstraction for
    /// Verifying Linearizability".
    #[value(name = "001")]
    Shape,
    /// Base points: the claims of Section 5 of "A Constructive Approach for Proving Data Structures'
    /// Linearizability", for the lazy list.
    #[value(name = "004")]
    Base,
    /// Sub-operation reversal: Table I of "Proving Concurrent Data Structures Linearizable".
    #[value(name = "000")]
    Reduction,
}

#[derive(Args, Clone, Debug)]
pub struct StepsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct SubopsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Keep every step that only looks, even if the proof does not need it.
    #[arg(long)]
    pub whole: bool,
    /// Write the `.subop` file here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
#[command(after_help = ROADMAP_EXIT_CODES)]
pub struct RoadmapArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many operations each thread calls, or `unlimited`. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = calls)]
    pub ops: Option<Calls>,
    /// How many different values clients pass for an `int`: 1, 2, …, N. [default: the model's
    /// bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=255))]
    pub values: Option<i64>,
    /// At most so many heap objects at a time; without `--ops`, threads then call without end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub size: Option<u16>,
    /// Write the roadmap, as Markdown, to this file instead of standard output.
    #[arg(long, short, visible_alias = "output", value_name = "FILE.md")]
    pub out: Option<PathBuf>,
    /// Write a self-contained page with the roadmap, its states drawn.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Put the base conditions that were found into the model, as `#[base(…)]` before the steps
    /// that have none.
    #[arg(long)]
    pub write: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct FmtArgs {
    /// The models; `-` reads standard input and writes standard output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file would change.
    #[arg(long)]
    pub check: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct SpecsArgs {
    /// Only this specification.
    pub name: Option<String>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

fn json_value(text: &str) -> Result<Value, String> {
    let json = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    linchpin_report::json::parse_value(&json).ok_or_else(|| "a number is too large".to_owned())
}

fn threads(text: &str) -> Result<Threads, String> {
    let number = |text: &str| match text.parse::<usize>() {
        Ok(n) if n <= 256 => Ok(n),
        Ok(_) => Err("at most 256 threads".to_owned()),
        Err(_) => Err(format!("`{text}` is not a number of threads")),
    };
    if !text.contains('=') {
        return number(text).map(Threads::Count);
    }
    let role = |part: &str| match part.split_once('=') {
        Some((role, count)) => Ok((role.trim().to_owned(), number(count.trim())?)),
        None => Err(format!("`{part}` is not `role=number`")),
    };
    text.split(',').map(role).collect::<Result<_, _>>().map(Threads::PerRole)
}

fn threads_or_any(text: &str) -> Result<ThreadsArg, String> {
    match text {
        "any" => Ok(ThreadsArg::Any),
        other => threads(other).map(ThreadsArg::These),
    }
}

/// `push=2,pop=1`: a number ends the operations of a kind of threads.
fn clients(text: &str) -> Result<Clients, String> {
    let (mut all, mut operations, mut total) = (Vec::new(), Vec::new(), 0usize);
    for part in text.split(',') {
        let (name, count) = match part.split_once('=') {
            Some((name, count)) => (name.trim(), Some(count.trim())),
            None => (part.trim(), None),
        };
        if name.is_empty() {
            return Err("write OPERATION=NUMBER, such as push=2,pop=1".to_owned());
        }
        operations.push(name.to_owned());
        if let Some(count) = count {
            let threads: usize =
                count.parse().map_err(|_| format!("`{count}` is not a number of threads"))?;
            total = total.saturating_add(threads);
            all.push(Client { operations: std::mem::take(&mut operations), threads });
        }
    }
    match (operations.last(), total) {
        (Some(name), _) => Err(format!("how many threads call `{name}`? Write {name}=2")),
        (None, 0) => Err("there must be at least one thread".to_owned()),
        (None, 257..) => Err("at most 256 threads".to_owned()),
        (None, _) => Ok(Clients(all)),
    }
}

fn calls(text: &str) -> Result<Calls, String> {
    match text {
        "unlimited" => Ok(Calls::Unlimited),
        number => match number.parse() {
            Ok(calls @ 1..=1000) => Ok(Calls::Each(calls)),
            _ => Err(format!("`{number}` is neither a number from 1 to 1000 nor `unlimited`")),
        },
    }
}

fn setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as K=4")?;
    let value = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        number => match number.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => return Err(format!("`{number}` is neither a number nor `true` or `false`")),
        },
    };
    Ok((name.to_owned(), value))
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = split_unit(text);
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is not a time"))?;
    let seconds = match unit {
        "" | "s" => number,
        "ms" => number / 1000.0,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is not a unit of time: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is not a time"))
}

fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = split_unit(text);
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is not a size"))?;
    let shift = match unit.trim_end_matches('B').trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("`{unit}` is not a unit of memory: use K, M or G")),
    };
    let bytes = number * (1u64 << shift) as f64;
    match bytes.is_finite() && bytes >= 1.0 {
        true => Ok(bytes as u64),
        false => Err(format!("`{text}` is not a size")),
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(at)
}
