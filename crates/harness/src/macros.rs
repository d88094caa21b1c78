//! The declarative form of a test. Each part becomes one call of the builder
//! [`Test`](crate::Test).

/// A test of a concurrent object.
///
/// ```
/// use std::{collections::VecDeque, sync::Mutex};
///
/// linchpin_harness::test! {
///     fn mutex_queue() {
///         object: Mutex<VecDeque<u64>> = Mutex::default();
///         spec: "queue";
///         mode: native(threads = 2, ops = 4);
///         op enqueue(v: fresh) = |q| q.lock().unwrap().push_back(v);
///         op dequeue() = |q| q.lock().unwrap().pop_front();
///         finally = |q| assert!(q.lock().unwrap().len() <= 8);
///     }
/// }
/// ```
///
/// The parts, of which `object` comes first and the specification second:
///
/// | part | what it is |
/// | --- | --- |
/// | `object: T = expr;` | the type under test, and how to make a new one |
/// | `spec: "queue";` | a built-in specification; `spec: "queue", init = [1];` says what it starts from |
/// | `spec: lin("queue.lin");` | the specification in a `.lin` file; needs the feature `lin` |
/// | `model: M = expr;` | a sequential type instead; each operation has a second closure for it |
/// | `mode: native(threads = 2, ops = 4);` | how to run it: any function of [`Plan`](crate::Plan) |
/// | `op name(v: fresh, k: 0..3u8) = \|o\| …;` | an operation, where its arguments come from, how to call it |
/// | `op name() = \|o\| …, \|m\| …;` | the same with a `model` |
/// | `op name() blocking = …;` | an operation that may wait for other threads |
/// | `op name() async = \|o\| future;` | an operation that is a future, and may wait |
/// | `before { push(1), push(2) }` | what is called before the threads start |
/// | `scenario { push(1), pop } \| { pop };` | these threads, and no others |
/// | `recorded: "run.jsonl";` | the threads of a recording, such as `linchpin run` writes |
/// | `finally = \|o\| …;` | what must hold after each run; it panics if not |
///
/// For objects in persistent memory ([`linchpin_sync::persistent`]) of which the system may crash:
///
/// | part | what it is |
/// | --- | --- |
/// | `object: T = \|pool\| …;` | makes the object in a pool |
/// | `recover = \|pool\| …;` | finds it again after a crash |
/// | `crashes: 1;` | at most so many crashes |
/// | `property: durable;` | what must hold: `durable`, `strict` or `recoverable` |
/// | `after { pop, pop }` | what is called in the end, when all threads have ended |
///
/// An operation that may wait does so where the specification answers `null` (an empty queue) or has
/// no answer; with a `model`, where its closure is `None`, and it answers what is in `Some`. That all
/// threads wait is a failure only if the specification could answer one of them.
///
/// Arguments come from `fresh` (a different value each time), ranges, lists (`[1, 5]`), or whatever
/// implements [`Generate`](crate::Generate). Answers are anything that is [`ToValue`](crate::ToValue).
#[macro_export]
macro_rules! test {
    () => {};
    ($(#[$attribute:meta])* fn $name:ident() { $($part:tt)* } $($rest:tt)*) => {
        #[::core::prelude::v1::test]
        $(#[$attribute])*
        fn $name() {
            $crate::__parts!([::core::concat!(::core::module_path!(), "::", ::core::stringify!($name))] $($part)*)
        }
        $crate::test! { $($rest)* }
    };
}

/// The parts of a test, one after the other: `{ builder so far } the rest`.
///
/// Without a specification nothing can be judged:
///
/// ```compile_fail
/// linchpin_harness::__parts! {
///     ["unspecified"]
///     object: std::sync::Mutex<u64> = std::sync::Mutex::default();
///     op read() = |o| *o.lock().unwrap();
/// }
/// ```
///
/// With one it can:
///
/// ```
/// linchpin_harness::__parts! {
///     ["specified"]
///     object: std::sync::Mutex<u64> = std::sync::Mutex::default();
///     spec: "counter";
///     mode: native(runs = 1);
///     op read() = |o| *o.lock().unwrap();
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __parts {
    ([$name:expr] object: $type:ty = |$pool:pat_param| $make:expr; $($rest:tt)*) => {
        $crate::__parts!(<{ $crate::Test::<$type>::persistent($name, |$pool| $make) }> $($rest)*)
    };
    ([$name:expr] object: $type:ty = $make:expr; $($rest:tt)*) => {
        $crate::__parts!(<{ $crate::Test::<$type>::new($name, || $make) }> $($rest)*)
    };
    ([$name:expr] $($rest:tt)*) => {
        ::core::compile_error!("a test begins with its object: `object: Type = how to make one;`")
    };
    ({ $($test:tt)* }) => {
        $($test)*.run()
    };

    (<{ $($test:tt)* }> spec: $spec:expr, init = $init:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.spec($crate::Specification::from($spec).starting_from($init)) } $($rest)*)
    };
    (<{ $($test:tt)* }> spec: $spec:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.spec({
            #[allow(unused_imports)]
            use $crate::lin;
            $spec
        }) } $($rest)*)
    };
    (<{ $($test:tt)* }> model: $type:ty = $initial:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.model_printed::<$type>($initial, {
            #[allow(unused_imports)]
            use $crate::__private::{Printed as _, Unprinted as _};
            (&$crate::__private::Probe::<$type>::new()).print()
        }) } $($rest)*)
    };

    (<{ $($test:tt)* }> $($rest:tt)*) => {
        ::core::compile_error!(
            "a test needs a specification right after its object: `spec: \"queue\";` or \
             `model: Type = its initial value;`"
        )
    };

    ({ $($test:tt)* } mode: $mode:ident; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.plan($crate::Plan::$mode()) } $($rest)*)
    };
    ({ $($test:tt)* } mode: $mode:ident($($option:ident = $value:expr),* $(,)?); $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.plan($crate::Plan::$mode()$(.$option({
            #[allow(unused_imports)]
            use $crate::{fail, pass};
            $value
        }))*) } $($rest)*)
    };

    ({ $($test:tt)* } before { $($call:tt)* }; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.before($crate::__calls!([] $($call)*)) } $($rest)*)
    };
    ({ $($test:tt)* } before { $($call:tt)* } $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.before($crate::__calls!([] $($call)*)) } $($rest)*)
    };
    ({ $($test:tt)* } scenario $({ $($call:tt)* })|+; $($rest:tt)*) => {
        $crate::__parts!({
            $($test)*.scenario(::std::vec![$($crate::__calls!([] $($call)*)),+])
        } $($rest)*)
    };
    ({ $($test:tt)* } recorded: $path:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.recorded($path) } $($rest)*)
    };

    ({ $($test:tt)* } after { $($call:tt)* }; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.after($crate::__calls!([] $($call)*)) } $($rest)*)
    };
    ({ $($test:tt)* } after { $($call:tt)* } $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.after($crate::__calls!([] $($call)*)) } $($rest)*)
    };
    ({ $($test:tt)* } recover = |$pool:pat_param| $recover:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.recover(|$pool| $recover) } $($rest)*)
    };
    ({ $($test:tt)* } crashes: $crashes:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.crashes($crashes) } $($rest)*)
    };
    ({ $($test:tt)* } property: $property:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.property({
            #[allow(unused_imports)]
            use $crate::{durable, recoverable, strict};
            $property
        }) } $($rest)*)
    };

    ({ $($test:tt)* } finally = |$object:pat_param| $check:expr; $($rest:tt)*) => {
        $crate::__parts!({ $($test)*.finally(|$object| { $check; }) } $($rest)*)
    };

    (
        { $($test:tt)* }
        op $op:ident $arguments:tt async
            = |$object:pat_param| $run:expr $(, |$model:pat_param| $step:expr)?;
        $($rest:tt)*
    ) => {
        $crate::__parts!({ $($test)*.async_op(
            ::core::stringify!($op),
            $crate::__from!($arguments),
            async |$object, $crate::__names!($arguments)| ($run).await
            $(, |$model, #[allow(unused_variables)] $crate::__names!($arguments)| $step)?
        ) } $($rest)*)
    };
    (
        { $($test:tt)* }
        op $op:ident $arguments:tt blocking
            = |$object:pat_param| $run:expr $(, |$model:pat_param| $step:expr)?;
        $($rest:tt)*
    ) => {
        $crate::__parts!({ $($test)*.blocking_op(
            ::core::stringify!($op),
            $crate::__from!($arguments),
            |$object, $crate::__names!($arguments)| $run
            $(, |$model, #[allow(unused_variables)] $crate::__names!($arguments)| $step)?
        ) } $($rest)*)
    };
    (
        { $($test:tt)* }
        op $op:ident $arguments:tt
            = |$object:pat_param| $run:expr $(, |$model:pat_param| $step:expr)?;
        $($rest:tt)*
    ) => {
        $crate::__parts!({ $($test)*.op(
            ::core::stringify!($op),
            $crate::__from!($arguments),
            |$object, $crate::__names!($arguments)| $run
            $(, |$model, #[allow(unused_variables)] $crate::__names!($arguments)| $step)?
        ) } $($rest)*)
    };
    ({ $($test:tt)* } $part:tt $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "this is no part of a test, or not as it must be written: `",
            ::core::stringify!($part $($rest)*),
            "`"
        ))
    };
}

/// Where arguments come from, as a tuple.
#[doc(hidden)]
#[macro_export]
macro_rules! __from {
    (()) => {
        ()
    };
    (($($argument:ident: $from:expr),* $(,)?)) => {{
        #[allow(unused_imports)]
        use $crate::fresh;
        ($($from,)*)
    }};
}

/// The names of arguments, as a pattern.
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    (($($argument:ident: $from:expr),* $(,)?)) => {
        ($($argument,)*)
    };
}

/// Calls of a scenario: `push(1), pop`.
#[doc(hidden)]
#[macro_export]
macro_rules! __calls {
    ([$($done:tt)*]) => {
        ::std::vec![$($done)*]
    };
    ([$($done:tt)*] $op:ident($($argument:expr),* $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__calls!([
            $($done)*
            $crate::NamedCall::new(
                ::core::stringify!($op),
                ::std::vec![$($crate::ToValue::to_value(&$argument)),*],
            ),
        ] $($($rest)*)?)
    };
    ([$($done:tt)*] $op:ident $(, $($rest:tt)*)?) => {
        $crate::__calls!([
            $($done)* $crate::NamedCall::new(::core::stringify!($op), ::std::vec![]),
        ] $($($rest)*)?)
    };
}

/// Fails the test if a recorded history is not linearizable.
///
/// ```
/// use linchpin_harness::{Recorder, assert_linearizable};
/// use linchpin_history_data::Object;
///
/// let recorder = Recorder::new(&Object::builtin("register", None)?);
/// let mut process = recorder.process();
/// process.call("write", 7, || ());
/// process.call("read", (), || 7);
/// assert_linearizable!(recorder, "register");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! assert_linearizable {
    ($history:expr, $spec:expr $(,)?) => {
        $crate::assert_linearizable($history, $spec)
    };
    ($history:expr, $spec:expr, init = $init:expr $(,)?) => {
        $crate::assert_linearizable(
            $history,
            $crate::Specification::from($spec).starting_from($init),
        )
    };
}
