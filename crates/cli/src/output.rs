//! Writing: files whole or not at all, standard output without a fuss about closed pipes, colours
//! where they are wanted.

use crate::allocator;
use crate::args::ColorArg;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use linchpin_report::Tone;
use linchpin_verdict::Verdict;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Columns of a drawing where there is no terminal.
const DRAWING: usize = 100;

/// No drawing is wider, however wide the terminal.
const WIDEST_DRAWING: usize = 160;

/// A terminal that says it has fewer columns is not believed.
const NARROWEST: usize = 40;

/// Symbolic links that are followed at most.
const MAX_LINKS: usize = 40;

/// Writes a file whole or not at all. A symbolic link stays one: what it points to is written.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<()> {
    write_whole(path, contents).with_context(|| format!("cannot write `{}`", path.display()))
}

/// An error if the file could not be written, found before the work whose result it is to hold.
pub fn probe_file(path: &Path) -> Result<()> {
    probe(path).with_context(|| format!("cannot write `{}`", path.display()))
}

fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    if is_device(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(contents);
    }
    let target = target(path);
    let mut file = temporary_beside(&target)?;
    file.write_all(contents)?;
    match fs::metadata(&target) {
        Ok(old) => file.as_file().set_permissions(old.permissions())?,
        Err(_) => set_default_permissions(file.as_file())?,
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

fn probe(path: &Path) -> io::Result<()> {
    if is_device(path) {
        return Ok(());
    }
    let target = target(path);
    match fs::metadata(&target) {
        Ok(old) if old.is_dir() => return Err(io::Error::other("it is a directory")),
        // A file that is protected must not be replaced, though its folder would allow it.
        Ok(_) => drop(OpenOptions::new().write(true).open(&target)?),
        Err(_) => {}
    }
    temporary_beside(&target).map(drop)
}

/// Whether it is a device or a pipe, such as `/dev/null`: there is nothing to replace.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// What a path stands for: symbolic links are followed, also to what does not exist yet.
pub fn target(path: &Path) -> PathBuf {
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&at) {
            Ok(next) => at = folder(&at).join(next),
            Err(_) => break,
        }
    }
    at
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that will be renamed.
fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = folder(path);
    if !fs::metadata(folder)?.is_dir() {
        return Err(io::Error::other(format!("`{}` is no folder", folder.display())));
    }
    // The error would name a file that no one has heard of: only its kind is kept.
    tempfile::NamedTempFile::new_in(folder).map_err(|error| io::Error::from(error.kind()))
}

/// Temporary files are private; what we leave behind should be as readable as other files.
#[cfg(unix)]
fn set_default_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &File) -> io::Result<()> {
    Ok(())
}

/// Writes to standard output. A reader who has gone away has seen enough: that is no error.
pub fn write_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written =
        allocator::while_answering(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Writes text for people to standard output: on a terminal, lines that are too long for it are
/// broken between words. What is read by another program is as it is.
fn write_text(text: &str) -> Result<()> {
    match columns() {
        Some(columns) => write_stdout(&fitted(text, columns)),
        None => write_stdout(text),
    }
}

/// Writes what a command found: an object for scripts as it is, text for people as it fits.
pub fn write_found(is_json: bool, shown: &str) -> Result<()> {
    if is_json { write_stdout(shown) } else { write_text(shown) }
}

/// Columns of a drawing: those of the terminal, if it is one.
pub fn drawing_columns() -> usize {
    columns().map_or(DRAWING, |columns| columns.clamp(NARROWEST, WIDEST_DRAWING))
}

/// The columns of the terminal that standard output is, if it is one.
fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(columns).max(NARROWEST))
}

/// Lines of at most so many columns: what is left of a longer one stands below it, indented.
/// Colours take no room.
fn fitted(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let words = line.trim_end_matches('\n');
        let indent = words.len() - words.trim_start_matches(' ').len();
        let (first, rest) = (" ".repeat(indent), " ".repeat((indent + 4).min(columns / 2)));
        let options = Options::new(columns)
            .initial_indent(&first)
            .subsequent_indent(&rest)
            .break_words(false)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation);
        match display_width(words) <= columns {
            true => out += line,
            false => {
                out += &textwrap::fill(words.trim_start_matches(' '), options);
                out.push('\n');
            }
        }
    }
    out
}

/// Says something to people on standard error; there is no one to tell if that fails.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Obeys `--color`; without it, `NO_COLOR` and the terminal decide.
pub fn choose_color(color: ColorArg) {
    match color {
        ColorArg::Auto => ColorChoice::Auto,
        ColorArg::Always => ColorChoice::Always,
        ColorArg::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Whether messages on standard error may be coloured.
pub fn color_on_stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Whether standard output may be coloured.
pub fn color_on_stdout() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// The verdict as people read it on standard output, coloured if that is wanted.
pub fn verdict_on_stdout(verdict: Verdict) -> String {
    painted(&verdict.to_string(), verdict, color_on_stdout())
}

/// A text that begins with a verdict and a colon, for standard output: the verdict coloured if that
/// is wanted.
pub fn with_verdict(verdict: Verdict, text: &str) -> String {
    match text.split_once(':') {
        Some((word, rest)) => format!("{}:{rest}", painted(word, verdict, color_on_stdout())),
        None => text.to_owned(),
    }
}

/// The verdict as people read it on standard error.
pub fn verdict_on_stderr(verdict: Verdict) -> String {
    painted(&verdict.to_string(), verdict, color_on_stderr())
}

fn painted(text: &str, verdict: Verdict, is_coloured: bool) -> String {
    // Green is what rests on nothing that was only tried, as on pages.
    let color = match Tone::of_verdict(verdict) {
        Tone::Good => AnsiColor::Green,
        Tone::Within => AnsiColor::Cyan,
        Tone::Bad => AnsiColor::Red,
        Tone::Open => AnsiColor::Yellow,
    };
    let style = match is_coloured {
        true => Style::new().bold().fg_color(Some(color.into())),
        false => Style::new(),
    };
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        let text = "model.lin: proved: for any number of threads and operations\n  \
                    refine: holds within bounds: every run is linearizable\n\n  short\n";
        expect![[r#"
            model.lin: proved: for any number
                of threads and operations
              refine: holds within bounds:
                  every run is linearizable

              short
        "#]]
        .assert_eq(&fitted(text, 34));
    }

    #[test]
    fn colours_take_no_room_and_long_words_stay_whole() {
        let coloured = painted("PROVED", Verdict::Proved, true);
        assert_eq!(fitted(&format!("{coloured} x\n"), 8), format!("{coloured} x\n"));
        assert_eq!(fitted("aaaaaaaaaa bb", 8), "aaaaaaaaaa\n    bb\n");
    }

    #[test]
    fn only_what_is_proved_is_green() {
        let green = |verdict: Verdict| {
            let as_green = Style::new().bold().fg_color(Some(AnsiColor::Green.into()));
            painted("x", verdict, true).starts_with(&as_green.to_string())
        };
        let greens: Vec<Verdict> = Verdict::ALL.into_iter().filter(|of| green(*of)).collect();
        assert_eq!(greens.len(), 2);
        assert!(greens.contains(&Verdict::Proved) && greens.contains(&Verdict::Holds));
    }
}
