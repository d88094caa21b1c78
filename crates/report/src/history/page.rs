//! The page: the viewer's files and the data in one file that needs nothing else.

use super::HistoryView;
use crate::escaped;
use crate::template::{THEME, filled, in_script};
use maud::html;

const PAGE: &str = include_str!("../../assets/history/viewer.html");
const STYLE: &str = include_str!("../../assets/history/viewer.css");

/// The script, in the order in which its parts build on each other.
const SCRIPT: [&str; 6] = [
    include_str!("../../assets/history/model.js"),
    include_str!("../../assets/history/axis.js"),
    include_str!("../../assets/history/draw.js"),
    include_str!("../../assets/history/around.js"),
    include_str!("../../assets/history/panel.js"),
    include_str!("../../assets/history/viewer.js"),
];

impl HistoryView {
    /// The page as HTML that needs nothing else.
    pub fn page(&self) -> String {
        let title = html! { (escaped(&self.title)) }.into_string();
        let data = in_script(&self.to_json().to_string());
        let style = format!("{THEME}{STYLE}");
        filled(
            PAGE,
            &[
                ("{{title}}", &title),
                ("{{style}}", &style),
                ("{{data}}", &data),
                ("{{script}}", &SCRIPT.concat()),
            ],
        )
    }
}
