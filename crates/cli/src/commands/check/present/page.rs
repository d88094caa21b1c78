//! The verdict as a page, and its data.

use super::{Presentation, VACUOUS};
use crate::commands::check::recording::property;
use crate::commands::check::{partial, view};
use linchpin_history::{Judgement, OpId, Precedence};
use linchpin_report::history::HistoryView;
use linchpin_report::{Listed, Listing, Tone};
use std::time::Duration;

impl Presentation<'_> {
    /// The verdict as a page.
    pub fn page(&self) -> String {
        match &self.recording.precedence {
            Some(order) => self.listing(order).render(),
            None => self.view().page(),
        }
    }

    /// The operations as a list: there are no intervals to draw.
    fn listing(&self, order: &Precedence) -> Listing {
        let numbers = |ids: Vec<OpId>| ids.into_iter().map(OpId::index).collect::<Vec<usize>>();
        let (mut core, mut witness) = (&[][..], None);
        match &self.checked.judgement {
            Judgement::Violated(violation) => core = &violation.core,
            Judgement::Holds(found) => witness = Some(numbers(found.order.clone())),
            Judgement::Inconclusive(_) => {}
        }
        let listed = |id: OpId| Listed {
            process: self.process(id).to_owned(),
            call: self.label(id),
            place: self.span(id),
            after: numbers(partial::before(order, id).collect()),
            in_core: core.contains(&id),
        };
        Listing {
            title: self.title(),
            about: self.subject_sentence(),
            verdict: self.headline(),
            tone: match self.checked.judgement {
                Judgement::Holds(_) => Tone::Good,
                Judgement::Violated(_) => Tone::Bad,
                Judgement::Inconclusive(_) => Tone::Open,
            },
            sentences: self.sentences(),
            facts: self.facts(),
            operations: self.recording.history.ids().map(listed).collect(),
            order: witness,
        }
    }

    fn title(&self) -> String {
        format!("linchpin check {}", self.args.history.display())
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.recording.is_vacuous() {
            sentences.push(VACUOUS.to_owned());
        }
        sentences.extend(self.remarks());
        if let Judgement::Violated(violation) = &self.checked.judgement {
            sentences.push(self.about(self.checked.key, &violation.explanation));
        }
        sentences
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![
            ("object".to_owned(), self.subject.object.name.clone()),
            ("property".to_owned(), self.property().to_owned()),
            ("method".to_owned(), self.checked.method.clone()),
            ("format".to_owned(), self.recording.format.name().to_owned()),
        ];
        if self.recording.failed > 0 {
            facts.push(("failed".to_owned(), format!("{} did not happen", self.recording.failed)));
        }
        facts
    }

    /// The history and all that was found out about it.
    pub fn view(&self) -> HistoryView {
        let words = view::Words {
            title: self.title(),
            about: self.subject_sentence(),
            headline: self.headline(),
            sentences: self.sentences(),
            facts: self.facts(),
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
