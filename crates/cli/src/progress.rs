//! How far the work has come, on standard error: a spinner on a terminal; elsewhere, with
//! `--verbose`, a line every ten seconds.

use crate::args::Common;
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// Shows how far the work has come until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    lines: Option<Lines>,
}

impl Progress {
    /// What the command line asks for.
    pub fn new(common: &Common) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        if common.quiet || !is_terminal {
            let lines =
                (common.verbose && !common.quiet).then(|| Lines::start(INTERVAL, output::say));
            return Progress { bar: ProgressBar::hidden(), lines: lines.flatten() };
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, lines: None }
    }

    /// How far it is now, such as `1,200 states, depth 7`.
    pub fn show(&self, words: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            lines.show(words());
        } else if !self.bar.is_hidden() {
            self.bar.set_message(words());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Lines at a steady pace, also while the work says nothing new.
struct Lines {
    last: Arc<Mutex<String>>,
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    /// `None` if there is no room for a thread: then there are no lines.
    fn start(interval: Duration, say: impl Fn(&str) + Send + 'static) -> Option<Lines> {
        let last = Arc::new(Mutex::new("working".to_owned()));
        let (end, ended) = channel::<()>();
        let (start, shown) = (Instant::now(), last.clone());
        let speak = move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let words = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                say(&format!("{words}, {} s\n", start.elapsed().as_secs()));
            }
        };
        let thread = std::thread::Builder::new().spawn(speak).ok()?;
        Some(Lines { last, end: Some(end), thread: Some(thread) })
    }

    fn show(&self, words: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_the_last_words_until_the_end() {
        let (said, heard) = channel();
        let lines = Lines::start(Duration::from_millis(1), move |line: &str| {
            let _ = said.send(line.to_owned());
        });
        let lines = lines.expect("a thread");
        assert_eq!(heard.recv().as_deref(), Ok("working, 0 s\n"));
        lines.show("7 states".to_owned());
        assert!(heard.iter().any(|line| line.starts_with("7 states, ")));
        drop(lines);
        // The thread has ended, so nothing more can come.
        assert!(heard.iter().all(|line| line.starts_with("7 states, ")));
    }
}
