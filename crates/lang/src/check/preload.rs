//! The calls that are made before all others: `preload { }`, or `--preload` in its place.

use super::{Checker, counted};
use crate::hir::Routine;
use crate::limits;
use crate::syntax::ast::{self, Item};
use crate::syntax::parse_calls;
use linchpin_ir::program::PreloadCall;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    /// The calls, in order.
    pub(super) fn preload(
        &mut self,
        model: &ast::Model,
        operations: &[Routine],
    ) -> Vec<PreloadCall> {
        let declared = model.items.iter().find_map(|item| match item {
            Item::Preload(block) => Some(&block.calls),
            _ => None,
        });
        // Mistakes in the model's block are mistakes even where other calls are asked for.
        let own = self.preload_calls(model, operations, declared.map_or(&[], Vec::as_slice));
        match &self.config.preload {
            Some(asked) => self.asked_preload(model, operations, asked),
            None => own,
        }
    }

    /// The calls of `--preload`. They do not stand in the source, so mistakes name the flag.
    fn asked_preload(
        &mut self,
        model: &ast::Model,
        operations: &[Routine],
        asked: &str,
    ) -> Vec<PreloadCall> {
        let (calls, mut mistakes) = parse_calls(asked);
        let mut checked = Vec::new();
        if calls.len() > limits::DECLARATIONS {
            let message = format!("there are at most {} calls", limits::DECLARATIONS);
            mistakes.push(Diagnostic::new(Code::TooLarge, message, Span::default(), ""));
        }
        if mistakes.is_empty() {
            let others = std::mem::take(&mut self.diagnostics);
            checked = self.preload_calls(model, operations, &calls);
            mistakes = std::mem::replace(&mut self.diagnostics, others).into_vec();
        }
        for mistake in mistakes {
            let message = format!("`--preload`: {}", mistake.message);
            let shown = Diagnostic::of_flag(Code::Setting, "--preload", message);
            self.report(shown.maybe_help(mistake.help));
        }
        checked
    }

    fn preload_calls(
        &mut self,
        model: &ast::Model,
        operations: &[Routine],
        calls: &[ast::PreloadCall],
    ) -> Vec<PreloadCall> {
        calls.iter().filter_map(|call| self.preload_call(model, operations, call)).collect()
    }

    fn preload_call(
        &mut self,
        model: &ast::Model,
        operations: &[Routine],
        ast::PreloadCall { operation: name, arguments }: &ast::PreloadCall,
    ) -> Option<PreloadCall> {
        let declared = super::declare::operations(model);
        let Some(declared) = declared.into_iter().find(|of| of.name.name == name.name) else {
            let known: Vec<&str> =
                super::declare::operations(model).map(|of| of.name.name.as_str()).collect();
            self.unknown("operation", name, known);
            return None;
        };
        // What is mistaken in itself has been reported.
        let operation = operations.iter().position(|of| of.name == name.name)?;
        let taken = declared.parameters.len();
        if arguments.len() != taken {
            let message = format!("`{}` takes {}", name.name, counted(taken, "argument"));
            let label = format!("{} given", arguments.len());
            self.report(Diagnostic::new(Code::ArgumentCount, message, name.span, label));
            return None;
        }
        let routine = &operations[operation];
        let types = routine.locals.iter().take(taken).map(|local| &local.ty);
        let values = arguments.iter().zip(types).map(|(argument, ty)| self.constant(argument, ty));
        let values = values.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
        for ((value, range), argument) in values.iter().zip(&routine.ranges).zip(arguments) {
            let (Some(given), Some((from, to))) = (value.as_int(), *range) else { continue };
            if !(from..to).contains(&given) {
                let last = to.saturating_sub(1);
                let message = format!("clients do not pass {given} to `{}`", name.name);
                let label = format!("they pass {from} to {last}");
                let help = format!("write a value from {from} to {last}");
                let mistake = Diagnostic::new(Code::Restriction, message, argument.span, label);
                self.report(mistake.help(help));
                return None;
            }
        }
        Some(PreloadCall { operation, arguments: values })
    }
}
