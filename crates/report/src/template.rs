//! Pages: the files under `assets`, with what is said put into their places.

use crate::escaped;
use maud::html;

/// The colours of every page.
pub const THEME: &str = include_str!("../assets/theme.css");

const PAGE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");

/// What a page has beside its title.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// More rules for its looks.
    pub style: &'a str,
    /// The body, as markup.
    pub body: &'a str,
    /// Its data as JSON and the script that shows them, if it has any.
    pub script: Option<(&'a str, &'a str)>,
}

/// A page as HTML that needs nothing else.
pub fn page(title: &str, parts: &Parts<'_>) -> String {
    let title = html! { (escaped(title)) }.into_string();
    let style = format!("{THEME}{STYLE}{}", parts.style);
    let script = parts.script.map_or(String::new(), |(data, script)| {
        let data = in_script(data);
        format!(
            "<script id=\"data\" type=\"application/json\">{data}</script>\n\
             <script type=\"module\">\n{script}</script>\n"
        )
    });
    filled(
        PAGE.trim_end(),
        &[
            ("{{title}}", &title),
            ("{{style}}", &style),
            ("{{body}}", parts.body),
            ("{{script}}", &script),
        ],
    )
}

/// A text with its places filled, one after the other, in the order in which they come: so nothing
/// that is put in is taken for a place.
pub fn filled(text: &str, places: &[(&str, &str)]) -> String {
    let more: usize = places.iter().map(|(_, with)| with.len()).sum();
    let mut page = String::with_capacity(text.len() + more);
    let mut rest = text;
    for (place, with) in places {
        let Some((before, after)) = rest.split_once(place) else { continue };
        page += before;
        page += with;
        rest = after;
    }
    page + rest
}

/// JSON as the text of a `<script>`: without `<`, which in JSON is only in strings, it can neither
/// end the element nor begin a comment in it.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_no_place() {
        let text = filled("a{{one}}b{{two}}c", &[("{{one}}", "{{two}}"), ("{{two}}", "2")]);
        assert_eq!(text, "a{{two}}b2c");
    }

    #[test]
    fn data_end_no_script() {
        let parts = Parts { script: Some(("[\"</script>\"]", "1;")), ..Parts::default() };
        let page = page("<t>", &parts);
        assert!(page.contains("[\"\\u003c/script>\"]") && page.contains("&lt;t&gt;"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
