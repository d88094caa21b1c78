//! The arguments of `linchpin check`, and how a history was recorded.

use super::{Common, LimitArgs};
use clap::{Args, ValueEnum};
use linchpin_ingest::Format;
use linchpin_spec::Value;
use std::path::PathBuf;

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
    /// … as `recovered-ok` and `recovered-fail` say; if they do not, as `durable`.
    Detectable,
}

fn json_value(text: &str) -> Result<Value, String> {
    let json = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    linchpin_report::json::parse_value(&json).ok_or_else(|| "a number is too large".to_owned())
}
