//! `linchpin run`: execute a model, judge the history it produced, and write it.

mod again;
mod finding;
mod present;
mod schedule;
mod search;

use crate::args::{ModelArgs, RunArgs};
use crate::limits::Stop;
use crate::{Status, model, output};
use anyhow::Result;
use linchpin_report::json;
use present::Presentation;

pub fn execute(args: &RunArgs) -> Result<Status> {
    let subject = args.model.model.display().to_string();
    let json = args.common.json.then(|| json::envelope("run", &subject));
    let stop = Stop::watch(&args.limits, json);
    let asked = ModelArgs { preload: args.preload.clone(), ..args.model.clone() };
    let compiled = stop.ending_at_once(|| model::load(&asked))?;
    if !args.common.quiet && compiled.crashes_without_persistence(args.crashes) {
        output::say("remark: nothing is persistent in this model, so there are no crashes\n");
    }
    let shown = match &args.replay {
        Some(file) => search::replayed(args, &compiled.program, file, &stop)?,
        None => search::search(args, &compiled, &stop)?,
    };
    let presentation = Presentation { args, program: &compiled.program, shown: &shown };
    let written = write(args, &presentation);
    // The verdict is said whatever becomes of the files.
    if !args.common.quiet {
        output::say(&presentation.summary());
    }
    written?;
    Ok(shown.verdict().into())
}

/// Writes the history or the object, and the page. All are tried before the first error is
/// returned.
fn write(args: &RunArgs, presentation: &Presentation<'_>) -> Result<()> {
    let text = match args.common.json {
        true => presentation.json(),
        false => presentation.history(),
    };
    let written = match &args.output {
        Some(file) => output::write_file(file, text.as_bytes()),
        None => output::write_stdout(&text),
    };
    let report = args.report.as_ref();
    let page = report.map(|file| output::write_file(file, presentation.page().as_bytes()));
    written.and(page.unwrap_or(Ok(())))
}
