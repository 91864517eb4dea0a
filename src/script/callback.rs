use std::sync::Arc;

use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, FuncArgs, GlobalRuntimeState, NativeCallContext, Position};

use super::track::Fault;

/// A closure that is called later, outside of the script, with the functions and imports of its file. Errors without a
/// position get that of the closure's call.
pub struct Callback {
    closure: FnPtr,
    seen: GlobalRuntimeState,
    place: Position,
}

impl Callback {
    /// A closure that a script names in a call.
    pub fn new(context: &NativeCallContext<'_>, closure: FnPtr) -> Arc<Self> {
        let mut seen = context.global_runtime_state().clone();
        // It is called at the top level, not at the call depth of its definition.
        seen.level = 0;
        Arc::new(Self { closure, seen, place: context.call_position() })
    }

    /// Calls it with some values.
    pub fn call(&self, engine: &Engine, values: impl FuncArgs) -> Result<Dynamic, Fault> {
        let context =
            NativeCallContext::new_with_all_fields(engine, self.closure.fn_name(), None, &self.seen, self.place);
        self.closure.call_within_context(&context, values).map_err(|error| self.named_here(error))
    }

    /// An error in it or of its result, with its position.
    pub fn named_here(&self, error: Fault) -> Fault {
        let source = self.seen.source.as_deref().unwrap_or_default().to_string();
        EvalAltResult::ErrorInFunctionCall(String::new(), source, error, self.place).into()
    }
}
