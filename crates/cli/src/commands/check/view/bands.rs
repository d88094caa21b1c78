//! What went on beside the history: faults that were injected, from their start to their end.

use linchpin_ingest::Annotation;
use linchpin_report::history::{BandView, Moment};

/// Words that begin something, and those that end it.
const PAIRS: [(&str, &str); 6] = [
    ("start", "stop"),
    ("start", "heal"),
    ("pause", "resume"),
    ("partition", "heal"),
    ("kill", "restart"),
    ("begin", "end"),
];

/// Annotations, each start with its end. An event that is said twice, at its call and at its
/// return, is one.
pub fn bands(annotations: &[Annotation]) -> Vec<BandView> {
    let mut all: Vec<(BandView, &Annotation)> = Vec::new();
    for annotation in annotations {
        let at = moment(annotation);
        let is_open = |band: &BandView| !band.instant && band.to.is_none();
        let same = |other: &Annotation| {
            other.process == annotation.process && other.name == annotation.name
        };
        if let Some((band, _)) =
            all.iter_mut().rev().find(|(band, start)| is_open(band) && same(start))
        {
            if !annotation.value.is_empty() {
                band.text = text(annotation);
            }
            continue;
        }
        let ended = all.iter_mut().rev().find(|(band, start)| {
            is_open(band)
                && start.process == annotation.process
                && ends(&start.name, &annotation.name)
        });
        if let Some((band, _)) = ended {
            band.to = Some(at);
            continue;
        }
        if let Some((last, start)) = all.last_mut()
            && last.instant
            && same(start)
        {
            continue;
        }
        let repeated_end = all
            .iter()
            .rev()
            .any(|(band, start)| band.to.is_some() && ends(&start.name, &annotation.name));
        if repeated_end {
            continue;
        }
        let instant = !begins(&annotation.name);
        all.push((BandView { text: text(annotation), from: at, to: None, instant }, annotation));
    }
    all.into_iter().map(|(band, _)| band).collect()
}

fn moment(annotation: &Annotation) -> Moment {
    Moment { rank: annotation.before.number(), line: Some(annotation.line), time: annotation.time }
}

/// What a word is about: `partition` of `start-partition` and of `partition-start`.
fn rest<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    let name = name.trim_start_matches(':');
    let after = name.strip_prefix(word).map(|rest| rest.trim_start_matches(['-', '_', ' ']));
    let before = || name.strip_suffix(word).map(|rest| rest.trim_end_matches(['-', '_', ' ']));
    after.or_else(before)
}

fn begins(name: &str) -> bool {
    PAIRS.iter().any(|(start, _)| rest(name, start).is_some())
}

fn ends(start: &str, end: &str) -> bool {
    PAIRS.iter().any(|(first, last)| {
        matches!((rest(start, first), rest(end, last)), (Some(one), Some(other)) if one == other)
    })
}

fn text(annotation: &Annotation) -> String {
    let name = annotation.name.trim_start_matches(':');
    match annotation.value.as_str() {
        "" | "null" => name.to_owned(),
        value => super::shortened(format!("{name} {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_history::Rank;

    fn annotation(at: u32, name: &str, value: &str) -> Annotation {
        Annotation {
            before: Rank::new(at),
            line: u64::from(at) + 1,
            time: None,
            process: "nemesis".to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        }
    }

    fn told(annotations: &[Annotation]) -> Vec<(String, u32, Option<u32>, bool)> {
        let told =
            |band: BandView| (band.text, band.from.rank, band.to.map(|to| to.rank), band.instant);
        bands(annotations).into_iter().map(told).collect()
    }

    #[test]
    fn a_start_and_its_stop_are_one_band() {
        let log = [
            annotation(3, "start-partition", ""),
            annotation(4, "start-partition", "\"n1 alone\""),
            annotation(5, "kill-n2", ""),
            annotation(9, "stop-partition", ""),
            annotation(9, "stop-partition", "\"healed\""),
            annotation(12, "start", ""),
            annotation(20, "bump-clock", ""),
        ];
        let expected = [
            ("start-partition \"n1 alone\"".to_owned(), 3, Some(9), false),
            ("kill-n2".to_owned(), 5, None, false),
            ("start".to_owned(), 12, None, false),
            ("bump-clock".to_owned(), 20, None, true),
        ];
        assert_eq!(told(&log), expected);
    }
}
