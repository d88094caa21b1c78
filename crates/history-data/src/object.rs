//! The object whose history is judged.

use linchpin_spec::{AnySpec, Builtin, BuiltinError, OpaqueState, Spec, Value, erase};

/// The object whose history is judged.
pub struct Object {
    /// The name of a built-in specification, or what the user calls it.
    pub name: String,
    /// The specification.
    pub spec: Box<AnySpec>,
    /// The initial value that the user gave.
    pub init: Option<Value>,
    builtin: Option<Builtin>,
}

impl Object {
    /// An object with the built-in specification of that name.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot start from `init`.
    pub fn builtin(name: &str, init: Option<Value>) -> Result<Object, BuiltinError> {
        Object::new(name.parse()?, init)
    }

    /// An object with a built-in specification.
    ///
    /// # Errors
    ///
    /// If it cannot start from `init`, or needs one and has none.
    pub fn new(builtin: Builtin, init: Option<Value>) -> Result<Object, BuiltinError> {
        let info = builtin.info();
        if init.is_none() && info.needs_initial {
            let (spec, expected) = (info.name, info.initial);
            return Err(BuiltinError::Missing { spec, expected });
        }
        let spec = erase(builtin.spec(init.as_ref())?);
        Ok(Object { name: builtin.name().to_owned(), spec, init, builtin: Some(builtin) })
    }

    /// An object with a specification of its own, which remembers what it likes.
    ///
    /// ```
    /// use linchpin_history_data::Object;
    /// use linchpin_spec::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};
    ///
    /// /// A light that two switches turn on and off.
    /// struct Light([Signature; 2]);
    ///
    /// /// Its state is a type of our own.
    /// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    /// enum Shines { On, Off }
    ///
    /// impl Spec for Light {
    ///     type State = Shines;
    ///     fn operations(&self) -> &[Signature] {
    ///         &self.0
    ///     }
    ///     fn initial(&self) -> Shines {
    ///         Shines::Off
    ///     }
    ///     fn apply(&self, state: &Shines, call: &Call, known: Option<&Value>) -> Outcomes<Shines> {
    ///         let on = *state == Shines::On;
    ///         let (state, response) = match (call.operation, on) {
    ///             (0, true) => (Shines::Off, Value::Null),
    ///             (0, false) => (Shines::On, Value::Null),
    ///             _ => (state.clone(), Value::Bool(on)),
    ///         };
    ///         let fits = call.operation == 0 || known.is_none_or(|known| *known == response);
    ///         fits.then_some(Outcome { state, response }).into_iter().collect()
    ///     }
    /// }
    ///
    /// let press = Signature::new("press", Shape::Unit, Shape::Unit);
    /// let look = Signature::new("look", Shape::Unit, Shape::Bool);
    /// let light = Object::custom("light", Light([press, look]));
    /// assert_eq!(light.spec.initial().get::<Shines>(), Some(&Shines::Off));
    /// ```
    pub fn custom<S>(name: &str, spec: S) -> Object
    where
        S: Spec<State: OpaqueState> + Send + Sync + 'static,
    {
        Object { name: name.to_owned(), spec: erase(spec), init: None, builtin: None }
    }

    /// Which built-in specification it has, if it has one.
    pub fn data_type(&self) -> Option<Builtin> {
        self.builtin
    }
}
