//! The fast path and the complete parser on the same random lines.

use super::*;
use crate::event::RawEvent;
use crate::token::View;

/// An event, owned and comparable.
fn summary(event: Result<RawEvent<'_>, crate::event::Missing>) -> Result<String, String> {
    let show = |view: View<'_>| match view.to_value() {
        Ok(value) => format!("{value:?}"),
        Err(_) => format!("unsupported {view}"),
    };
    match event {
        Ok(event) => Ok(format!(
            "{:?} {:?} {:?} {:?} {}",
            event.kind,
            event.process.map(show),
            event.f,
            event.key.map(show),
            show(event.value)
        )),
        Err(missing) => Err(format!("{} {}", missing.expected, missing.found)),
    }
}

/// What the fast path says; nothing if it gives up.
fn fast(line: &[u8], layout: &mut Layout) -> Option<Result<String, String>> {
    let (mut tokens, mut fields) = (Vec::new(), Fields::default());
    let text = std::str::from_utf8(line).ok()?;
    let end = json_scan::scan(text, layout, &mut tokens, &mut fields)?;
    if !line[end..].iter().all(is_blank) {
        return None;
    }
    Some(summary(fields.event(1, &tokens, text)))
}

/// What the complete parser says; nothing if this is no JSON object.
fn complete(line: &[u8]) -> Option<Result<String, String>> {
    let json: Json = serde_json::from_slice(line).ok()?;
    let mut lines = JsonLines::default();
    let fields = lines.parse(1, &json).ok()?;
    Some(summary(fields.event(1, &lines.tokens, &lines.scratch)))
}

fn random_line(rng: &mut fastrand::Rng) -> Vec<u8> {
    let names = ["process", "type", "f", "value", "time", "key", "index", "error", "x\\u0079", "é"];
    let mut chosen = vec![0, 1, 2, 3];
    for _ in 0..rng.usize(..3) {
        chosen.push(rng.usize(..names.len()));
    }
    if rng.u8(..4) == 0 {
        chosen.remove(rng.usize(..chosen.len()));
    }
    if rng.bool() {
        rng.shuffle(&mut chosen);
    }
    let blank = |rng: &mut fastrand::Rng| match rng.u8(..12) {
        0 => " ",
        1 => "\t ",
        _ => "",
    };
    let mut line = format!("{}{{{}", blank(rng), blank(rng));
    for (at, name) in chosen.into_iter().enumerate() {
        if at > 0 {
            line += ",";
        }
        let value = match name {
            0 => {
                rng.choice(["0", "1", "12", "\"a\"", "\"nemesis\"", "-1", "3.5"]).map(str::to_owned)
            }
            1 => rng
                .choice([
                    "\"invoke\"",
                    "\"ok\"",
                    "\"fail\"",
                    "\"info\"",
                    "\"crash\"",
                    "\"step\"",
                    "7",
                ])
                .map(str::to_owned),
            2 => rng.choice(["\"read\"", "\"enqueue\"", "null", "\"w\\n\""]).map(str::to_owned),
            _ => Some(random_value(rng, 0)),
        };
        let (name, value) = (names[name], value.unwrap_or_default());
        line += &format!("{}\"{name}\"{}:{}{value}", blank(rng), blank(rng), blank(rng));
    }
    line += &format!("{}}}{}", blank(rng), blank(rng));
    let mut line = line.into_bytes();
    if rng.u8(..3) == 0 {
        let bytes = b"\"\\{}[]:,0123456789-+.eEtfn \r\x00\xff\xc3";
        for _ in 0..=rng.usize(..2) {
            let at = rng.usize(..line.len());
            match rng.u8(..3) {
                0 => line[at] = bytes[rng.usize(..bytes.len())],
                1 => drop(line.remove(at)),
                _ => line.insert(at, bytes[rng.usize(..bytes.len())]),
            }
        }
    }
    line
}

fn random_value(rng: &mut fastrand::Rng, depth: u32) -> String {
    let scalars = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "-7",
        "007",
        "123456789012345678",
        "1234567890123456789",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "1.5",
        "1e3",
        "1E400",
        "\"\"",
        "\"a\"",
        "\"exactly8\"",
        "\"longer than eight bytes\"",
        "\"q\\\"uote\"",
        "\"é\"",
        "\"tab\there\"",
        "\"\\ud83d\\ude00\"",
    ];
    match rng.u8(..10) {
        0..7 => scalars[rng.usize(..scalars.len())].to_owned(),
        _ if depth > 10 => "[]".to_owned(),
        7 => format!("{{\"failed\":{}}}", random_value(rng, depth + 1)),
        8 if rng.u8(..4) == 0 => {
            format!("{{\"a\":1, \"read\" : {}}}", random_value(rng, depth + 1))
        }
        _ => {
            let count = rng.usize(..4);
            let items: Vec<_> = (0..count).map(|_| random_value(rng, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

#[test]
fn the_fast_way_says_what_the_complete_parser_says() {
    let seed = std::env::var("LINCHPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let cases = std::env::var("LINCHPIN_CASES").ok().and_then(|it| it.parse().ok());
    let cases = cases.unwrap_or(200_000);
    println!("seed {seed}, {cases} cases");
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut taken, mut left, mut wrong) = (0, 0, 0);
    // One layout for all lines, so that lines unlike the last one are tried too.
    let mut layout = Layout::default();
    for _ in 0..cases {
        let line = random_line(&mut rng);
        let complete = complete(&line);
        match (fast(&line, &mut layout), &complete) {
            (Some(fast), complete) => {
                let shown = String::from_utf8_lossy(&line);
                assert_eq!(Some(&fast), complete.as_ref(), "seed {seed}: {shown}");
                taken += 1;
            }
            (None, Some(_)) => left += 1,
            (None, None) => wrong += 1,
        }
    }
    println!("fast {taken}, complete parser only {left}, neither {wrong}");
    for share in [taken, left, wrong] {
        assert!(share * 10 >= cases, "fast {taken}, complete parser only {left}, neither {wrong}");
    }
}
