//! A history drawn in text: one line a process, one bar an operation, time from left to right.

use crate::escaped;

/// An operation on a timeline. Times are positions in the sequence of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The process that called it.
    pub process: usize,
    /// What is written on the bar, such as `push(1)` or `pop() → 2`.
    pub label: String,
    /// When it was called.
    pub from: usize,
    /// When it returned; `None` if it has not.
    pub to: Option<usize>,
}

/// A drawing of a history.
///
/// ```
/// use linchpin_history_data::{Bar, Timeline};
/// let bars = vec![
///     Bar { process: 0, label: "push(1)".into(), from: 0, to: Some(2) },
///     Bar { process: 1, label: "pop() → 1".into(), from: 1, to: None },
/// ];
/// let drawing = Timeline::new(bars).draw(80);
/// assert_eq!(drawing, "thread 0  ├─push(1)─┤\nthread 1    ├─pop() → 1─╌╌\n");
/// ```
#[derive(Clone, Debug)]
pub struct Timeline {
    bars: Vec<Bar>,
    /// What the processes are called; `thread N` where there is no name.
    names: Vec<String>,
}

/// Columns between two events at least.
const GAP: usize = 2;

impl Timeline {
    /// A timeline of these operations. Labels are shown escaped, on one line each.
    pub fn new(mut bars: Vec<Bar>) -> Timeline {
        for bar in &mut bars {
            bar.label = escaped(&bar.label).into_owned();
        }
        Timeline { bars, names: Vec::new() }
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    /// With names for the processes.
    pub fn named(mut self, names: Vec<String>) -> Timeline {
        self.names = names.iter().map(|name| escaped(name).into_owned()).collect();
        self
    }

    /// The drawing, in blocks of at most `width` columns.
    pub fn draw(&self, width: usize) -> String {
        let columns = self.columns();
        let mut processes: Vec<usize> = self.bars.iter().map(|bar| bar.process).collect();
        processes.sort_unstable();
        processes.dedup();
        let name = |process: usize| match self.names.get(process) {
            Some(name) => name.clone(),
            None => format!("thread {process}"),
        };
        let margin = processes.iter().map(|p| name(*p).chars().count()).max().unwrap_or(0) + 2;
        let rows: Vec<(String, Vec<char>)> =
            processes.iter().map(|p| (name(*p), self.row(*p, &columns))).collect();
        let longest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
        let room = width.saturating_sub(margin).max(20);
        let mut out = String::new();
        for start in (0..longest).step_by(room) {
            if start > 0 {
                out.push('\n');
            }
            for (name, row) in &rows {
                let part: String = row.iter().skip(start).take(room).collect();
                out.push_str(format!("{name:<margin$}{part}").trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// The column of each event: as near to each other as the labels allow.
    fn columns(&self) -> Vec<usize> {
        let last = self.bars.iter().map(|bar| bar.to.unwrap_or(bar.from)).max().unwrap_or(0);
        let mut ends: Vec<Option<&Bar>> = vec![None; last + 1];
        // The label of an open operation must not run into the next bar of its process, but there
        // is none.
        for bar in &self.bars {
            if let Some(to) = bar.to {
                ends[to] = Some(bar);
            }
        }
        let mut columns: Vec<usize> = Vec::with_capacity(last + 1);
        for end in ends {
            let after_last = columns.last().map_or(0, |column| column + GAP);
            let after_label =
                end.map_or(0, |bar| columns[bar.from] + bar.label.chars().count() + 3);
            columns.push(after_last.max(after_label));
        }
        columns
    }

    fn row(&self, process: usize, columns: &[usize]) -> Vec<char> {
        let mut row: Vec<char> = Vec::new();
        for bar in self.bars.iter().filter(|bar| bar.process == process) {
            let from = columns[bar.from];
            row.resize(from.max(row.len()), ' ');
            row.truncate(from);
            row.extend("├─".chars());
            row.extend(bar.label.chars());
            match bar.to {
                Some(to) => {
                    row.resize(columns[to].max(row.len()), '─');
                    row.push('┤');
                }
                None => row.extend("─╌╌".chars()),
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn bar(process: usize, label: &str, from: usize, to: Option<usize>) -> Bar {
        Bar { process, label: label.to_owned(), from, to }
    }

    #[test]
    fn bars_keep_the_order_of_events() {
        let bars = vec![
            bar(0, "enqueue(1)", 0, Some(5)),
            bar(1, "dequeue() → none", 1, Some(2)),
            bar(1, "dequeue() → 1", 3, Some(4)),
            bar(2, "enqueue(2)", 6, None),
        ];
        expect![[r#"
            thread 0  ├─enqueue(1)─────────────────────────────┤
            thread 1    ├─dequeue() → none─┤ ├─dequeue() → 1─┤
            thread 2                                             ├─enqueue(2)─╌╌
        "#]]
        .assert_eq(&Timeline::new(bars).draw(100));
    }

    #[test]
    fn long_histories_go_on_below() {
        let bars = (0..6).map(|at| bar(at % 2, "read() → 0", 2 * at, Some(2 * at + 1))).collect();
        let drawing = Timeline::new(bars).draw(60);
        assert!(drawing.lines().all(|line| line.chars().count() <= 60), "{drawing}");
        assert_eq!(drawing.matches("thread 0").count(), 2, "{drawing}");
    }
}
