//! Values as arguments and answers of operations of a window.

use linchpin_history_data::{Argument, History, ValueId};
use linchpin_spec::{Shape, Value};

/// A value as an argument of this shape, in the table of this history.
pub(super) fn argument(history: &mut History, value: Value, shape: &Shape) -> Argument {
    match (shape, &value) {
        (Shape::Unit, _) => Argument::None,
        (Shape::Tuple(shapes), Value::List(items)) if shapes.len() == 2 && items.len() == 2 => {
            let [one, two] = [0, 1].map(|at| history.values.intern(items[at].clone()));
            Argument::Two(one, two)
        }
        (Shape::List(item), Value::List(items)) if matches!(&**item, Shape::Tuple(_)) => {
            words(history, items).unwrap_or_else(|| Argument::One(history.values.intern(value)))
        }
        _ => Argument::One(history.values.intern(value)),
    }
}

/// Lists of two or three values each as words, if they are that.
fn words(history: &mut History, items: &[Value]) -> Option<Argument> {
    let width = items.first().and_then(Value::as_list).map_or(3, <[Value]>::len);
    let is_word = |item: &Value| item.as_list().is_some_and(|item| item.len() == width);
    if !(2..=3).contains(&width) || !items.iter().all(is_word) {
        return None;
    }
    let (start, count) = (history.words.len() as u32, u16::try_from(items.len()).ok()?);
    for item in items {
        let mut word = [ValueId::NULL; 3];
        for (slot, value) in word.iter_mut().zip(item.as_list().unwrap_or_default()) {
            *slot = history.values.intern(value.clone());
        }
        history.words.push(word);
    }
    Some(Argument::Words { start, count, width: width as u8 })
}
