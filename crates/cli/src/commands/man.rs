//! `linchpin man`: manual pages, made from the arguments themselves.

use crate::args::{Cli, ManArgs};
use crate::{Status, output};
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use linchpin_report::json;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

pub fn execute(args: &ManArgs) -> Result<Status> {
    let mut root = Cli::command();
    root.build();
    let mut object = json::envelope("man", "linchpin");
    let text = match &args.dir {
        None => {
            let page = String::from_utf8_lossy(&page(root)?).into_owned();
            object.insert("page".to_owned(), json!(page));
            page
        }
        Some(folder) => {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make `{}`", folder.display()))?;
            object.insert("files".to_owned(), json!(write(&root, folder)?));
            String::new()
        }
    };
    output::write_stdout(&match args.common.json {
        true => format!("{}\n", Json::Object(object)),
        false => text,
    })?;
    Ok(Status::Holds)
}

/// A page for the command and one for each of its own; answers their names.
fn write(root: &Command, folder: &Path) -> Result<Vec<String>> {
    let commands = root.get_subcommands().filter(|command| command.get_name() != "help");
    let mut files = Vec::new();
    for command in std::iter::once(root).chain(commands) {
        let file = format!("{}.1", command.get_display_name().unwrap_or(command.get_name()));
        output::write_file(&folder.join(&file), &page(command.clone())?)?;
        files.push(file);
    }
    Ok(files)
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    page.extend_from_slice(EXIT_STATUS.as_bytes());
    Ok(page)
}

/// What no argument says.
const EXIT_STATUS: &str = r#".SH "EXIT STATUS"
.TP
0
It holds, or the work is done.
.TP
1
It is violated.
.TP
2
The command line or a file has a mistake, or two engines contradict each other.
.TP
3
Inconclusive, or a limit or Ctrl\-C ended it: what is known so far is said.
"#;
