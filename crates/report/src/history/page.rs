//! The page: the viewer's files and the data in one file that needs nothing else.

use super::HistoryView;
use crate::escaped;
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
        let script = SCRIPT.concat();
        // The text is cut at the places, one after the other, so that nothing in a value is taken
        // for a place.
        let mut page = String::with_capacity(PAGE.len() + STYLE.len() + script.len() + data.len());
        let mut rest = PAGE;
        for (place, text) in [
            ("{{title}}", &*title),
            ("{{style}}", STYLE),
            ("{{data}}", &*data),
            ("{{script}}", &*script),
        ] {
            let Some((before, after)) = rest.split_once(place) else { continue };
            page += before;
            page += text;
            rest = after;
        }
        page + rest
    }
}

/// JSON as the text of a `<script>`: without `<`, which in JSON is only in strings, it can neither
/// end the element nor begin a comment in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}
