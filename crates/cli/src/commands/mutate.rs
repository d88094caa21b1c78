//! `linchpin mutate`: every small change of a model is verified; what survives is shown with its
//! line and its text. Of a model that is wrong, the changes that make it right.

use crate::args::{ModelArgs, MutateArgs};
use crate::limits::Stop;
use crate::progress::Progress;
use crate::{Status, model, output};
use anyhow::Result;
use linchpin_engine::{Request, Stuck};
use linchpin_report::{escaped, json, plain_page};
use linchpin_verdict::{CrashProperty, Values, counted};
use linchpin_verify::campaign::{Campaign, CampaignResult, Fate, Judged};
use linchpin_verify::mutants::DiffLine;
use serde_json::{Value as Json, json};

pub fn execute(args: &MutateArgs) -> Result<Status> {
    let name = args.model.model.display().to_string();
    let json = args.common.json.then(|| json::envelope("mutate", &name));
    let stop = Stop::watch(&args.limits, json);
    let config = ModelArgs { preload: args.preload.clone(), ..args.model.clone() }.config();
    // Its mistakes are said as those of every model.
    let (_, source) = model::load_with(&args.model.model, &config)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.workers.map_or(cores, usize::from);
    let campaign = Campaign { source: &source, config: &config, budget: args.budget, jobs };
    let request = Request {
        calls: args.ops,
        values: args.values.map(Values::UpTo),
        memory: args.memory.into(),
        property: args.property.map(CrashProperty::from),
        limits: stop.share(jobs),
        ..Request::default()
    };
    let progress = Progress::new(&args.common);
    let result = campaign.run(&request, &|done, all| {
        progress.show(|| format!("{done} of {} done", counted(all, "mutant")));
    })?;
    drop(progress);
    let shown = Shown { name: &name, source: &source, result: &result };
    let found = if args.common.json { shown.json() } else { shown.text() };
    output::write_found(args.common.json, &found)?;
    if let Some(report) = &args.report {
        output::write_file(report, shown.page().as_bytes())?;
    }
    Ok(shown.status())
}

/// A campaign, for people and scripts.
struct Shown<'a> {
    name: &'a str,
    source: &'a str,
    result: &'a CampaignResult,
}

impl Shown<'_> {
    fn of<'b>(&'b self, is: impl Fn(&Fate) -> bool + 'b) -> impl Iterator<Item = &'b Judged> {
        self.result.mutants.iter().filter(move |judged| is(&judged.fate))
    }

    fn is_repair(&self) -> bool {
        matches!(self.result.original, Fate::Killed { .. })
    }

    /// Mutants are not wrong or right: only what the campaign is worth decides.
    fn status(&self) -> Status {
        if self.of(|fate| matches!(fate, Fate::Contradiction(_))).next().is_some() {
            return Status::Input;
        }
        match (&self.result.original, self.result.is_cut_short) {
            (Fate::Killed { .. }, _) => Status::Violated,
            (Fate::Contradiction(_), _) => Status::Input,
            (Fate::Undecided(_), _) | (_, true) => Status::Inconclusive,
            _ => Status::Holds,
        }
    }

    fn headline(&self) -> String {
        let count = |is: &dyn Fn(&Fate) -> bool| self.of(is).count();
        let mut parts = vec![counted(self.result.mutants.len(), "mutant")];
        let mut add = |count: usize, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        add(count(&|fate| matches!(fate, Fate::Killed { .. })), "killed");
        add(count(&|fate| matches!(fate, Fate::PointsWrong)), "with wrong points");
        add(count(&|fate| matches!(fate, Fate::Survived { .. })), "survived");
        add(count(&|fate| matches!(fate, Fate::Undecided(_))), "undecided");
        add(count(&|fate| matches!(fate, Fate::Contradiction(_))), "CONTRADICTIONS");
        let cut = if self.result.is_cut_short { "; a limit ended it" } else { "" };
        format!("{}{cut}", parts.join(", "))
    }

    /// The mutants that are shown, under a heading that says what they mean.
    fn sections(&self) -> Vec<(&'static str, Vec<&Judged>)> {
        // Points are for later: a repair that is right is one.
        let is_repair = self.is_repair();
        let passes = move |fate: &Fate| match fate {
            Fate::Survived { .. } => true,
            Fate::PointsWrong => is_repair,
            _ => false,
        };
        let survived = self.of(passes).collect();
        let clashes = self.of(|fate| matches!(fate, Fate::Contradiction(_))).collect();
        let open = self.of(|fate| matches!(fate, Fate::Undecided(_))).collect();
        let heading = match self.is_repair() {
            true => "The model is wrong; these changes make it pass",
            false => {
                "Survived: they do the same, or show a hole in the specification or the bounds"
            }
        };
        vec![
            ("Two engines contradict each other: please report these", clashes),
            (heading, survived),
            ("Not decided within the budget", open),
        ]
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", escaped(self.name), self.headline());
        text += &format!("  the model itself: {}\n", words(&self.result.original));
        for (heading, judged) in self.sections() {
            if judged.is_empty() {
                continue;
            }
            text += &format!("\n{heading}:\n");
            for judged in judged {
                text += &self.row(judged);
            }
        }
        text
    }

    fn row(&self, judged: &Judged) -> String {
        let mutant = &judged.mutant;
        let (line, change) = (mutant.line, mutant.change);
        let head =
            format!("\n  line {line}, {}: {change}: {}\n", mutant.routine, words(&judged.fate));
        let diff = mutant.diff(self.source);
        let lines = diff.iter().map(|line| format!("    {}\n", escaped(&line.to_string())));
        head + &lines.collect::<String>()
    }

    fn json(&self) -> String {
        let mut object = json::envelope("mutate", self.name);
        let one = |judged: &Judged| {
            let diff: Vec<Json> = judged.mutant.diff(self.source).iter().map(diff_json).collect();
            json!({
                "change": judged.mutant.change.id(), "routine": judged.mutant.routine,
                "line": judged.mutant.line, "diff": diff, "fate": judged.fate.id(),
                "detail": words(&judged.fate), "seconds": judged.seconds,
            })
        };
        object.insert("original".to_owned(), json!(self.result.original.id()));
        object.insert("is_cut_short".to_owned(), json!(self.result.is_cut_short));
        object.insert("mutants".to_owned(), self.result.mutants.iter().map(one).collect());
        format!("{}\n", Json::Object(object))
    }

    fn page(&self) -> String {
        plain_page(&format!("linchpin mutate {}", self.name), &self.text())
    }
}

fn diff_json(line: &DiffLine) -> Json {
    match line {
        DiffLine::Out(text) => json!({ "out": text }),
        DiffLine::In(text) => json!({ "in": text }),
    }
}

fn words(fate: &Fate) -> String {
    match fate {
        Fate::Killed { by, wrong } => {
            let wrong = wrong.map_or(String::new(), |wrong| format!(" ({})", wrong.id()));
            format!("killed by {by}{wrong}")
        }
        Fate::PointsWrong => "right, but not at the points that it claims".to_owned(),
        Fate::Survived { by, verdict, stuck } => {
            let open = match stuck {
                Stuck::Open => "; whether operations can get stuck was not decided",
                Stuck::Never => "",
            };
            format!("survived: {verdict}, by {by}{open}")
        }
        Fate::Undecided(reason) => format!("undecided: {reason}"),
        Fate::Contradiction(found) => format!("CONTRADICTION: {found}"),
    }
}
