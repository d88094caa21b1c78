//! The outline of a `.lin` model.

use crate::document::Document;
use linchpin_lang::syntax::ast::{Ident, Item, Routine, Variable};
use linchpin_lang::syntax::parse;
use linchpin_syntax::Span;
use lsp_types::{DocumentSymbol, SymbolKind};

/// What a model declares, in order.
pub fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let (model, _) = parse(&document.text);
    let outline = Outline { document };
    model.items.iter().filter_map(|item| outline.item(item)).collect()
}

struct Outline<'d> {
    document: &'d Document,
}

impl Outline<'_> {
    fn item(&self, item: &Item) -> Option<DocumentSymbol> {
        match item {
            Item::SpecName(name, _) => {
                self.symbol(&format!("spec {}", name.name), SymbolKind::INTERFACE, name.span, None)
            }
            Item::SpecBlock(block) => {
                let state = block.state.iter().filter_map(|state| self.variable(state));
                let routines = block.operations.iter().chain(&block.functions);
                let routines = routines.filter_map(|routine| self.routine(routine));
                let children = state.chain(routines).collect();
                self.symbol("spec", SymbolKind::INTERFACE, block.span, Some(children))
            }
            Item::Reference(block) => {
                let shared = block.shared.iter().filter_map(|shared| self.variable(shared));
                let routines = block.operations.iter().filter_map(|routine| self.routine(routine));
                let children = shared.chain(routines).collect();
                self.symbol("reference", SymbolKind::MODULE, block.span, Some(children))
            }
            Item::Param(variable) => self.named(&variable.name, SymbolKind::CONSTANT),
            Item::Struct(fields) | Item::Record(fields) => {
                let field = |(name, _): &(Ident, _)| self.named(name, SymbolKind::FIELD);
                let children = fields.fields.iter().filter_map(field).collect();
                let name = &fields.name;
                self.symbol(&name.name, SymbolKind::STRUCT, name.span, Some(children))
            }
            Item::Shared(variable) | Item::Local(variable) => self.variable(variable),
            Item::Init(block, span) => {
                self.symbol("init", SymbolKind::CONSTRUCTOR, span.to(block.span), None)
            }
            Item::Preload(block) => {
                self.symbol("preload", SymbolKind::CONSTRUCTOR, block.span, None)
            }
            Item::Recover(block, span) => {
                self.symbol("recover", SymbolKind::CONSTRUCTOR, span.to(block.span), None)
            }
            Item::Op(routine) | Item::Fn(routine) | Item::Resolve(routine) => self.routine(routine),
            Item::Role(name, _) => self.named(name, SymbolKind::ENUM_MEMBER),
            Item::Bounds(_, span) => self.symbol("bounds", SymbolKind::OBJECT, *span, None),
        }
    }

    fn variable(&self, variable: &Variable) -> Option<DocumentSymbol> {
        self.named(&variable.name, SymbolKind::VARIABLE)
    }

    fn routine(&self, routine: &Routine) -> Option<DocumentSymbol> {
        let mut symbol = self.named(&routine.name, SymbolKind::FUNCTION)?;
        let whole = routine.name.span.to(routine.body.span);
        symbol.range = self.document.lines.range(&self.document.text, whole);
        Some(symbol)
    }

    fn named(&self, name: &Ident, kind: SymbolKind) -> Option<DocumentSymbol> {
        self.symbol(&name.name, kind, name.span, None)
    }

    /// A symbol; one without a name, which editors reject, is left out.
    #[expect(deprecated, reason = "the type has a field that must be given")]
    fn symbol(
        &self,
        name: &str,
        kind: SymbolKind,
        span: Span,
        children: Option<Vec<DocumentSymbol>>,
    ) -> Option<DocumentSymbol> {
        let range = self.document.lines.range(&self.document.text, span);
        (!name.is_empty()).then(|| DocumentSymbol {
            name: name.to_owned(),
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range: range,
            children,
        })
    }
}
