use rhai::Engine;

/// Nesting of expressions outside of functions.
pub(super) const EXPRESSION_DEPTH: usize = 64;
/// Nesting of expressions in a function.
pub(super) const FUNCTION_EXPRESSION_DEPTH: usize = 32;
/// Script functions that call each other.
const CALL_LEVELS: usize = 32;
/// Operations of one call into a script; about 20 ms.
const OPERATIONS: u64 = 200_000;
/// Functions of a script, and variables in scope.
const NAMES: usize = 256;
/// Bytes of a string.
const STRING_BYTES: usize = 64 * 1024;
/// Elements of an array.
const ARRAY_ELEMENTS: usize = 16 * 1024;
/// Entries of a map.
const MAP_ENTRIES: usize = 1024;
/// Keywords that scripts cannot use: text that comes from elsewhere is not run, and no files are read.
pub(super) const DISABLED: [&str; 2] = ["eval", "import"];

/// An engine that a script cannot hang, overflow or leave.
pub(super) fn engine() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_expr_depths(EXPRESSION_DEPTH, FUNCTION_EXPRESSION_DEPTH)
        .set_max_call_levels(CALL_LEVELS)
        .set_max_operations(OPERATIONS)
        .set_max_functions(NAMES)
        .set_max_variables(NAMES)
        .set_max_modules(0)
        .set_max_string_size(STRING_BYTES)
        .set_max_array_size(ARRAY_ELEMENTS)
        .set_max_map_size(MAP_ENTRIES);
    for keyword in DISABLED {
        engine.disable_symbol(keyword);
    }
    engine
}
