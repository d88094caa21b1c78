//! The verdict as a page, and its data.

use super::{Presentation, VACUOUS};
use crate::commands::check::recording::property;
use crate::commands::check::view;
use linchpin_history::Judgement;
use linchpin_report::history::HistoryView;
use std::time::Duration;

impl Presentation<'_> {
    /// The verdict as a page.
    pub fn page(&self) -> String {
        self.view().page()
    }

    /// The history and all that was found out about it.
    pub fn view(&self) -> HistoryView {
        let mut facts = vec![
            ("object".to_owned(), self.subject.object.name.clone()),
            ("property".to_owned(), self.property().to_owned()),
            ("method".to_owned(), self.checked.method.clone()),
            ("format".to_owned(), self.recording.format.name().to_owned()),
        ];
        if self.recording.failed > 0 {
            facts.push(("failed".to_owned(), format!("{} did not happen", self.recording.failed)));
        }
        let mut sentences = Vec::new();
        if self.recording.is_vacuous() {
            sentences.push(VACUOUS.to_owned());
        }
        sentences.extend(self.recording.remarks.iter().map(ToString::to_string));
        if let Judgement::Violated(violation) = &self.checked.judgement {
            sentences.push(self.about(self.checked.key, &violation.explanation));
        }
        let words = view::Words {
            title: format!("linchpin check {}", self.args.history.display()),
            about: self.subject_sentence(),
            headline: self.headline(),
            sentences,
            facts,
        };
        let time_left = self
            .args
            .limits
            .time_limit
            .map(|limit| limit.saturating_sub(Duration::from_secs_f64(self.seconds)));
        view::Source {
            subject: self.subject,
            recording: self.recording,
            checked: self.checked,
            property: property(self.args.recording.property),
            time_left,
        }
        .view(words)
    }
}
