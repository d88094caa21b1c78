//! The pictures of an answer.

use crate::{Figure, Figures};
use linchpin_engine::{Answer, Picture};

/// The pictures of an answer: the way to what stopped a proof, or what a proof kept.
pub fn figures(answer: &Answer) -> Option<Figures> {
    let last = answer.pictures.last()?;
    let failed = last.failure.as_ref();
    let caption = |picture: &Picture| match &picture.next {
        Some(next) => next.caption(),
        None => {
            let shown = picture.threads.iter().map(|thread| match &thread.at {
                Some((operation, line)) => {
                    format!("thread {} · {operation} · line {line}", thread.thread)
                }
                None => format!("thread {} · between two operations", thread.thread),
            });
            shown.collect::<Vec<_>>().join("; ")
        }
    };
    let figure = |picture: &Picture| Figure { caption: caption(picture), picture: picture.clone() };
    let (heading, about) = match failed {
        Some(_) => (
            format!("{}: the way to what could not be explained", answer.engine),
            "Each picture is the abstract state before the step above it. The way need not be one \
             of the program's: the abstraction may have lost something on it.",
        ),
        None => (
            format!("{}: what the proof kept", answer.engine),
            "Whatever the threads do, every state is one of those that the abstract states stand for.",
        ),
    };
    Some(Figures {
        heading,
        about: about.to_owned(),
        all: answer.pictures.iter().map(figure).collect(),
        end: failed.map(|failure| format!("{}: {failure}", caption(last))),
    })
}
