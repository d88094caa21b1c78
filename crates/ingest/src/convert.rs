//! Tokens to arguments of a history, as the shape of the operation has them.

use crate::token::{Bracket, Token, Unsupported, View};
use linchpin_history::{Argument, Builder, ValueId};
use linchpin_spec::{Shape, Value};
use rustc_hash::FxHashMap;

/// A value that is not of the shape.
#[derive(Debug)]
pub(crate) struct Unfit;

impl From<Unsupported> for Unfit {
    fn from(_: Unsupported) -> Unfit {
        Unfit
    }
}

/// Makes arguments, and remembers what is found often so that it is not built again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Converter {
    /// For each address the id of `{"failed": address}`.
    failures: FxHashMap<ValueId, ValueId>,
    words: Vec<[ValueId; 3]>,
}

impl Converter {
    /// A value of this shape as an argument. What an operation that takes nothing is given is
    /// ignored.
    pub fn argument(
        &mut self,
        view: View<'_>,
        shape: &Shape,
        builder: &mut Builder,
    ) -> Result<Argument, Unfit> {
        match shape {
            Shape::Unit => Ok(Argument::None),
            Shape::Tuple(shapes) if shapes.len() == 2 => {
                let (one, other) = view.pair().ok_or(Unfit)?;
                let one = self.element(one, &shapes[0], builder)?;
                Ok(Argument::Two(one, self.element(other, &shapes[1], builder)?))
            }
            Shape::List(item) => match &**item {
                Shape::Tuple(shapes) if (2..=3).contains(&shapes.len()) => {
                    self.word_list(view, shapes, builder)
                }
                _ => self.element(view, shape, builder).map(Argument::One),
            },
            _ => self.element(view, shape, builder).map(Argument::One),
        }
    }

    /// The id of a value of this shape. Inside a list, [`Shape::Unit`] is `null`, whatever a
    /// recorder echoes there.
    fn element(
        &mut self,
        view: View<'_>,
        shape: &Shape,
        builder: &mut Builder,
    ) -> Result<ValueId, Unfit> {
        match shape {
            Shape::Unit => Ok(ValueId::NULL),
            Shape::Record(fields) => {
                let values = record(view, fields).ok_or(Unfit)?;
                let values: Result<Vec<_>, _> = values.into_iter().map(View::to_value).collect();
                Ok(builder.values().intern(Value::list(values?)))
            }
            shape if fits(view, shape) => self.intern(view, builder),
            _ => Err(Unfit),
        }
    }

    fn word_list(
        &mut self,
        view: View<'_>,
        shapes: &[Shape],
        builder: &mut Builder,
    ) -> Result<Argument, Unfit> {
        let is_map = view.first() == Token::Open(Bracket::Map) && shapes.len() == 2;
        if view.first() != Token::Open(Bracket::List) && !is_map {
            return Err(Unfit);
        }
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        let mut items = view.items();
        let all = match is_map {
            // The pairs of a map are words.
            true => pairs(view).try_for_each(|(key, value)| {
                let key = self.element(key, &shapes[0], builder)?;
                words.push([key, self.element(value, &shapes[1], builder)?, ValueId::NULL]);
                Ok(())
            }),
            false => items.try_for_each(|item| {
                words.push(self.word(item, shapes, builder)?);
                Ok(())
            }),
        };
        let argument = all.and_then(|()| match u16::try_from(words.len()) {
            Ok(_) => Ok(builder.words(&words, shapes.len() as u8)),
            Err(_) => Ok(Argument::One(self.intern(view, builder)?)),
        });
        self.words = words;
        argument
    }

    fn word(
        &mut self,
        item: View<'_>,
        shapes: &[Shape],
        builder: &mut Builder,
    ) -> Result<[ValueId; 3], Unfit> {
        if item.first() != Token::Open(Bracket::List) {
            return Err(Unfit);
        }
        let mut word = [ValueId::NULL; 3];
        let mut items = item.items();
        for (slot, shape) in word.iter_mut().zip(shapes) {
            *slot = self.element(items.next().ok_or(Unfit)?, shape, builder)?;
        }
        items.next().is_none().then_some(word).ok_or(Unfit)
    }

    /// The id of a value.
    pub fn intern(&mut self, view: View<'_>, builder: &mut Builder) -> Result<ValueId, Unfit> {
        match view.first() {
            Token::Null => Ok(ValueId::NULL),
            Token::Bool(false) => Ok(ValueId::FALSE),
            Token::Bool(true) => Ok(ValueId::TRUE),
            Token::Int(int) => Ok(builder.values().intern_int(int)),
            Token::Text(span) => Ok(builder.values().intern_text(span.of(view.text))),
            Token::Open(Bracket::Map) => self.map(view, builder),
            _ => Ok(builder.values().intern(view.to_value()?)),
        }
    }

    fn map(&mut self, view: View<'_>, builder: &mut Builder) -> Result<ValueId, Unfit> {
        let address = match view.tokens {
            [_, Token::Text(name), address, Token::Close] if name.of(view.text) == "failed" => {
                View { tokens: std::slice::from_ref(address), text: view.text }
            }
            _ => return Ok(builder.values().intern(view.to_value()?)),
        };
        let address = self.intern(address, builder)?;
        if let Some(id) = self.failures.get(&address) {
            return Ok(*id);
        }
        let id = builder.values().intern(view.to_value()?);
        self.failures.insert(address, id);
        Ok(id)
    }
}

/// Which scalars an operation takes or answers: its shape, made ready for the usual case.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalars {
    /// Whatever is given is ignored.
    Ignored,
    /// Those of these kinds are taken. Texts are not among the usual ones.
    Taken { null: bool, bool: bool, int: bool },
}

impl Scalars {
    pub fn of(shape: &Shape) -> Scalars {
        let takes = |token| fits(View { tokens: &[token], text: "" }, shape);
        match shape {
            Shape::Unit => Scalars::Ignored,
            _ => Scalars::Taken {
                null: takes(Token::Null),
                bool: takes(Token::Bool(true)),
                int: takes(Token::Int(0)),
            },
        }
    }

    /// Of these only truth values.
    pub fn only_bool(self) -> Scalars {
        match self {
            Scalars::Taken { bool, .. } => Scalars::Taken { null: false, bool, int: false },
            Scalars::Ignored => Scalars::Taken { null: false, bool: false, int: false },
        }
    }

    /// Of these all but `null`.
    pub fn without_null(self) -> Scalars {
        match self {
            Scalars::Taken { bool, int, .. } => Scalars::Taken { null: false, bool, int },
            Scalars::Ignored => Scalars::Ignored,
        }
    }

    /// What [`Converter::argument`] makes of this token; nothing if it has to be asked.
    #[inline]
    pub fn argument(self, token: Token, builder: &mut Builder) -> Option<Argument> {
        let Scalars::Taken { null, bool, int } = self else {
            return Some(Argument::None);
        };
        Some(Argument::One(match token {
            Token::Null if null => ValueId::NULL,
            Token::Bool(false) if bool => ValueId::FALSE,
            Token::Bool(true) if bool => ValueId::TRUE,
            Token::Int(value) if int => builder.values().intern_int(value),
            _ => return None,
        }))
    }
}

/// The keys of a map, each with its value.
fn pairs<'t>(view: View<'t>) -> impl Iterator<Item = (View<'t>, View<'t>)> {
    let mut items = view.items();
    std::iter::from_fn(move || Some((items.next()?, items.next()?)))
}

/// The values of these fields, each of its shape: a map with their names, or a list in their order.
fn record<'t>(view: View<'t>, fields: &[(&str, Shape)]) -> Option<Vec<View<'t>>> {
    let values: Vec<View<'t>> = match view.first() {
        Token::Open(Bracket::List) => view.items().collect(),
        Token::Open(Bracket::Map) => {
            let named = |name: &str| pairs(view).find(|(key, _)| key.as_text() == Some(name));
            let found = fields.iter().map(|(name, _)| named(name).map(|(_, value)| value));
            found.collect::<Option<_>>()?
        }
        _ => return None,
    };
    let is_right = values.len() == fields.len();
    let fit = |(value, (_, shape)): (&View<'t>, &(&str, Shape))| fits(*value, shape);
    (is_right && values.iter().zip(fields).all(fit)).then_some(values)
}

/// Whether a value has this shape.
pub(crate) fn fits(view: View<'_>, shape: &Shape) -> bool {
    let first = view.first();
    match shape {
        Shape::Unit | Shape::Any => true,
        Shape::Bool => matches!(first, Token::Bool(_)),
        Shape::Int => matches!(first, Token::Int(_)),
        Shape::Str => matches!(first, Token::Text(_)),
        Shape::Word(words) => view.as_text().is_some_and(|text| words.contains(&text)),
        Shape::Optional(inner) => first == Token::Null || fits(view, inner),
        Shape::Tuple(shapes) => {
            let mut items = view.items();
            first == Token::Open(Bracket::List)
                && shapes.iter().all(|shape| items.next().is_some_and(|item| fits(item, shape)))
                && items.next().is_none()
        }
        Shape::Record(fields) => record(view, fields).is_some(),
        // Sets are kept as sorted lists.
        Shape::List(item) => {
            matches!(first, Token::Open(Bracket::List | Bracket::Set))
                && view.items().all(|view| fits(view, item))
        }
    }
}
