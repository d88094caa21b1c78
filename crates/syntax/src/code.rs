//! The kinds of mistakes, each with a code that stays the same from version to version.
//!
//! A code says what kind of mistake it is, not where the front ends notice it: three languages
//! share most of them. A code that is no longer used is not given to another kind.

use std::fmt;

/// Makes the enum, its numbers, and the explanation of each from `explanations/L….md`.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// Which kind of mistake something is; see `linchpin explain`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// How it is written: `L` and three digits.
            pub fn id(self) -> &'static str {
                match self {
                    $(Code::$name => $id,)*
                }
            }

            /// What it means, in Markdown: a title, a few sentences, a wrong and a right example.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Code::$name => include_str!(concat!("../explanations/", $id, ".md")),)*
                }
            }
        }
    };
}

codes! {
    // Writing.
    /// Something else was expected here.
    Unexpected = "L001",
    /// Something that was opened is not closed.
    Unclosed = "L002",
    /// A keyword where a name is expected.
    Keyword = "L003",
    /// A number that is too large, or not decimal.
    Number = "L004",
    /// Written as in another language.
    OtherLanguage = "L005",
    /// Comparisons in a chain.
    Chained = "L006",
    /// A record right before a block.
    RecordBeforeBlock = "L007",
    /// Something in a place where it cannot stand.
    Misplaced = "L008",
    /// More than there may be.
    TooLarge = "L009",

    // Names.
    /// A name that is not declared.
    UnknownName = "L010",
    /// A field that the type does not have.
    UnknownField = "L011",
    /// Something declared or given twice.
    Repeated = "L012",
    /// A name that is built in.
    BuiltIn = "L013",
    /// An operation called by the model.
    OperationCalled = "L014",
    /// A wrong number of arguments.
    ArgumentCount = "L015",
    /// A function that calls itself.
    Recursion = "L016",

    // Types.
    /// A value of another type than expected.
    WrongType = "L020",
    /// Values that cannot be compared.
    NotComparable = "L021",
    /// A type that nothing tells.
    TypeNotKnown = "L022",
    /// A value that is missing and has no default.
    NoDefault = "L023",
    /// A tuple taken apart wrongly.
    Parts = "L024",
    /// A struct where a record is meant, or the other way round.
    StructOrRecord = "L025",
    /// Something that a record cannot hold.
    RecordContents = "L026",
    /// A type in a place where it cannot stand.
    TypeNotHere = "L027",
    /// An `int % N` that cannot be, or wraps at another number.
    Wrapping = "L028",

    // Shared memory.
    /// More, or less, than one word at once.
    NotOneWord = "L030",
    /// A lock used like a value.
    Lock = "L031",
    /// A primitive on something that is not shared.
    NotShared = "L032",
    /// Lists of `cas` that differ in length.
    UnevenLists = "L033",
    /// Something that is not constant where it must be.
    NotConstant = "L034",
    /// A thread where there is none.
    NoThread = "L035",
    /// Something that cannot be assigned.
    NotAssignable = "L036",
    /// A length that no array can have.
    ArrayLength = "L037",
    /// A parameter that takes a place, or what is passed for it.
    PlaceParameter = "L038",

    // Control.
    /// An end that is reached without a result.
    NoReturn = "L040",
    /// A result where none is declared, or none where one is.
    ResultDiffers = "L041",
    /// `break` or `continue` outside a loop.
    OutsideLoop = "L042",
    /// A statement without effect.
    NoEffect = "L043",
    /// Something without a value, used like one.
    NoValue = "L044",

    // Specifications.
    /// No specification.
    NoSpec = "L050",
    /// A specification that does not exist, or cannot start so.
    UnknownSpec = "L051",
    /// An operation that the specification does not have.
    NotSpecified = "L052",
    /// An operation whose parameters or result differ from what is specified.
    Signature = "L053",
    /// Something that has no place in a specification.
    NotInSpec = "L054",

    // References.
    /// Operations that only the model or only its reference has.
    ReferenceOperations = "L060",
    /// Something that has no place in a reference.
    NotInReference = "L061",

    // Clients.
    /// No operation.
    NoOperation = "L070",
    /// Bounds, roles or numbers of threads that do not fit.
    Bounds = "L071",
    /// `--set` that does not fit.
    Setting = "L072",
    /// `in` or `requires` that cannot restrict the clients.
    Restriction = "L073",

    // Annotations.
    /// An annotation that does not exist.
    UnknownAnnotation = "L080",
    /// An annotation where none can stand.
    MisplacedAnnotation = "L081",
    /// An annotation that touches shared memory.
    AnnotationShared = "L082",
    /// Something that belongs to, or cannot stand in, a base condition.
    BaseCondition = "L083",

    // Persistent memory.
    /// Something that does not survive a crash where it should, or the other way round.
    Volatile = "L090",
    /// A `recover` that is not declared as it must be.
    Recover = "L091",

    // `.subop` only.
    /// A sub-operation without its mark.
    Mark = "L100",
    /// Something that is never executed.
    Unreachable = "L101",
    /// `then`, `either` and what follows.
    Next = "L102",
    /// An operation that may do nothing.
    EmptyOperation = "L103",
    /// A claim about a boundary that is none.
    Claim = "L104",
    /// A line of `spec { }` that is missing or says what cannot be said.
    SpecLine = "L105",
    /// Which instance of an operation is meant.
    Instance = "L106",
    /// The start of the shared variables.
    Initially = "L107",

    // `.csp` only.
    /// A range that is empty, or does not contain its value.
    Range = "L200",
    /// An event that carries other data than elsewhere.
    EventData = "L201",
    /// Initial values that do not fit their variable.
    InitialValues = "L202",
}

impl Code {
    /// The code that is written so, in capitals or not.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(text))
    }

    /// The first line of its explanation.
    pub fn title(self) -> &'static str {
        self.explanation().lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
