//! The same in every format: what is written of a random history is read and judged, the verdict is
//! that of brute force on the history before it was written, and what is said is confirmed.

use crate::random;
use crate::written::{Written, common, special};
use crate::{holds, keys, mistake, number, part};
use linchpin_history::{CheckOptions, History, Judgement, Object, check};
use linchpin_ingest::{Format, NilReads, ReadOptions, read_bytes};
use linchpin_spec::{BUILTINS, Builtin, Shape, Value};
use std::collections::BTreeMap;

/// The object as the text means it: TiPocket's lines say themselves what was there at the start.
fn as_written(builtin: Builtin, object: &Object, format: Format) -> Object {
    match format {
        Format::Tipocket => Object::new(Builtin::Register, None).expect("no initial value"),
        _ => Object::new(builtin, object.init.clone()).expect("the same initial value"),
    }
}

/// What is wrong with what is said of a text, if anything is.
fn wrong(
    builtin: Builtin,
    object: &Object,
    text: &Written,
    is_keyed: bool,
    expected: bool,
) -> Option<String> {
    let object = as_written(builtin, object, text.format);
    let detected = Format::detect(&text.bytes);
    if detected.is_some_and(|format| format != text.format) {
        return Some(format!("it is taken for {detected:?}"));
    }
    let mut options = ReadOptions::new(&object.name, object.spec.operations());
    options.format = Some(text.format);
    options.nil_reads = Some(NilReads::Value);
    // That values are pairs is found out; that lists of two are none cannot be, of one call alone.
    options.keyed = (!is_keyed).then_some(false);
    let mut recording = match read_bytes(&text.bytes, &options) {
        Ok(recording) => recording,
        Err(error) => return Some(error.to_string()),
    };
    let history = &mut recording.history;
    let checked = check(&object, history, &CheckOptions::default()).expect("there is no crash");
    let said = matches!(checked.judgement, Judgement::Holds(_));
    match mistake(&object, history, &checked) {
        None if said == expected => None,
        None => Some(format!("holds: {said}, but brute force says {expected}")),
        mistake => mistake,
    }
}

/// Whether a value is of a shape: others mean nothing to the object, and readers refuse them.
fn fits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Unit, Value::Null) | (Shape::Any, _) | (Shape::Bool, Value::Bool(_)) => true,
        (Shape::Int, Value::Int(_)) | (Shape::Str, Value::Str(_)) => true,
        (Shape::Word(words), Value::Str(text)) => words.contains(&&**text),
        (Shape::Optional(inner), value) => value.is_null() || fits(inner, value),
        (Shape::List(item), Value::List(items)) => items.iter().all(|value| fits(item, value)),
        (Shape::Tuple(shapes), Value::List(items)) => {
            shapes.len() == items.len()
                && shapes.iter().zip(items.iter()).all(|(shape, item)| fits(shape, item))
        }
        (Shape::Record(fields), Value::List(items)) => {
            fields.len() == items.len()
                && fields.iter().zip(items.iter()).all(|((_, shape), item)| fits(shape, item))
        }
        _ => false,
    }
}

fn can_be_written(object: &Object, history: &History) -> bool {
    history.iter().all(|(id, operation)| {
        let signature = &object.spec.operations()[usize::from(operation.operation)];
        let answer = history.response(id);
        fits(&signature.argument, &history.call(id).argument)
            && answer.is_none_or(|answer| fits(&signature.response, &answer))
    })
}

fn explained(object: &Object, history: &History) -> bool {
    keys(history).into_iter().all(|key| holds(object, &part(history, key).1, u64::MAX))
}

#[test]
fn every_format_is_judged_as_what_was_written() {
    let (seed, cases) = (number("LINCHPIN_SEED", 5), number("LINCHPIN_CASES", 40));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut mistakes = Vec::new();
    let mut counts: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    // Random calls of etcd mean nothing to it; its format has a test of its own.
    for info in BUILTINS.iter().filter(|info| info.name != "etcd") {
        for case in 0..cases {
            let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(2_000_003) + case);
            let object = random::object(info.builtin, &mut random);
            let history = random::history(&object, &mut random);
            let is_keyed = keys(&history).iter().any(|key| !history.values.get(*key).is_null());
            let is_empty = history.operations.is_empty();
            if is_empty || is_keyed && info.name == "kv" || !can_be_written(&object, &history) {
                continue;
            }
            let expected = explained(&object, &history);
            let mut texts = common(&object, &history, &mut random);
            texts.extend(special(&object, &history, &mut random));
            for text in texts {
                let is_single = matches!(text.format, Format::Fastlin | Format::Limo | Format::S2);
                if is_single && is_keyed {
                    continue;
                }
                let count = counts.entry(format!("{:?}, {}", text.format, text.how)).or_default();
                count[usize::from(expected)] += 1;
                if let Some(mistake) = wrong(info.builtin, &object, &text, is_keyed, expected) {
                    let (name, shown) = (&object.name, String::from_utf8_lossy(&text.bytes));
                    let (format, how) = (text.format, text.how);
                    mistakes.push(format!(
                        "{name}, case {case}, {format:?}, {how}: {mistake}\n{shown}"
                    ));
                }
            }
        }
    }
    for (format, [violated, held]) in &counts {
        println!("{format}: {violated} violated, {held} hold");
        assert!(cases < 40 || *violated > 2 && *held > 2, "{format}: {violated}, {held}");
    }
    let shown = mistakes.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(mistakes.is_empty(), "{} mistakes:\n{shown}", mistakes.len());
}
