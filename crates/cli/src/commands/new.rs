//! `linchpin new`: a first model, with comments, that verifies.

use crate::args::{LikeArg, NewArgs};
use crate::{Status, output};
use anyhow::{Context, Result, bail};
use linchpin_report::{escaped, json};
use serde_json::{Value as Json, json};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub fn execute(args: &NewArgs) -> Result<Status> {
    let path = path(&args.name)?;
    create(&path, template(args.like))?;
    let shown = path.display().to_string();
    if args.common.json {
        let mut object = json::envelope("new", &shown);
        object.insert("file".to_owned(), json!(shown));
        object.insert("next".to_owned(), json!(next(&shown)));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        return Ok(Status::Holds);
    }
    let mut text = format!("{} is written. Next:\n\n", escaped(&shown));
    for (command, what) in next(&escaped(&shown)) {
        text += &format!("    {command:<44} {what}\n");
    }
    output::write_stdout(&text)?;
    Ok(Status::Holds)
}

/// What one does next, and why.
fn next(file: &str) -> [(String, &'static str); 4] {
    [
        (format!("linchpin verify {file}"), "is it linearizable?"),
        (format!("linchpin verify {file} --threads 3"), "more threads"),
        (format!("linchpin steps {file}"), "what is atomic"),
        (format!("linchpin run {file} --verbose"), "a random run"),
    ]
}

/// Where the model goes: the extension is added where it is missing.
fn path(name: &Path) -> Result<PathBuf> {
    match name.extension() {
        _ if name.file_name().is_none() => bail!("`{}` names no file", name.display()),
        Some(extension) if extension == "lin" => Ok(name.to_path_buf()),
        Some(_) => bail!("`{}`: a model is a `.lin` file", name.display()),
        None => Ok(name.with_extension("lin")),
    }
}

/// Makes the file, which must not exist: looking first would leave time for another to make it.
fn create(path: &Path, text: &str) -> Result<()> {
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{}` exists and is not overwritten: choose another name", path.display())
        }
        opened => opened.with_context(|| format!("cannot write `{}`", path.display()))?,
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))
}

fn template(like: LikeArg) -> &'static str {
    match like {
        LikeArg::Stack => include_str!("new/stack.lin"),
        LikeArg::Queue => include_str!("new/queue.lin"),
        LikeArg::Register => include_str!("new/register.lin"),
        LikeArg::Lock => include_str!("new/lock.lin"),
    }
}
