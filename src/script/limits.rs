use std::cell::Cell;
use std::time::{Duration, Instant};

use rhai::{AST, Engine, LexError, ParseError, Token};

/// Nesting depth of expressions outside of functions.
pub(super) const EXPRESSION_DEPTH: usize = 64;
/// Nesting depth of expressions in a function.
pub(super) const FUNCTION_EXPRESSION_DEPTH: usize = 32;
/// Call depth of script functions.
const CALL_LEVELS: usize = 32;
/// Operations of a script between two steps, all tracks together; about 20 ms.
pub(super) const OPERATIONS: u64 = 200_000;
/// Script time between two steps.
pub(super) const SCRIPT_TIME_LIMIT: Duration = Duration::from_millis(50);
/// Maximum script time counted between two clock reads: more means that the machine is busy otherwise.
pub(super) const SLICE: Duration = Duration::from_millis(2);
/// Without a response or an operation for this time all tracks are cancelled: one of them waits for a variable that
/// another one holds. On a busy machine a track may get no processor for a second or two.
pub(super) const STUCK: Duration = Duration::from_secs(3);
/// Time for a cancelled track to end.
pub(super) const FAREWELL: Duration = Duration::from_secs(10);
/// Loading does not count as script time, but is limited to this between two steps.
pub(super) const LOADING: Duration = Duration::from_secs(10);
/// Parallel tracks.
pub(super) const TRACKS: usize = 32;
/// Tracks of a run.
pub(super) const TRACKS_EVER: usize = 4096;
/// Default limit of simulated time of a run, s; of all trials together.
pub(super) const RUN_SECONDS: f64 = 300.0;
/// Computing time of a run: seconds per second of the simulated time limit, with the default limit as the minimum.
pub(super) const COMPUTING: f64 = 2.0;
/// Bytes of all values of a script.
pub(super) const MEMORY: isize = 256 << 20;
/// Variables declared in a file, and cases of all its `switch`es, each: the time to parse them is quadratic.
pub(super) const DECLARATIONS: usize = 1000;
/// Time to parse a file.
pub(super) const PARSING: Duration = Duration::from_secs(5);
/// Materials in the world of a script.
pub(super) const MATERIALS: usize = 256;
/// Trials of a task.
pub(super) const TRIALS: i64 = 1000;
/// Bodies in the world of a script.
pub(super) const SCRIPT_BODIES: usize = 1000;
/// Attachments in the world of a script.
pub(super) const ATTACHMENTS: usize = 1000;
/// Goals, failure conditions, event handlers, metrics and phases of a task, each.
pub(super) const RULES: usize = 256;
/// Printed lines; further ones are dropped.
pub(super) const PRINTED_LINES: usize = 1000;
/// Functions of a script, and variables in scope.
const NAMES: usize = 256;
/// Files that a script imports.
const MODULES: usize = 16;
/// Bytes of a string.
const STRING_BYTES: usize = 64 * 1024;
/// Elements of an array.
const ARRAY_ELEMENTS: usize = 4 * 1024;
/// Entries of a map.
const MAP_ENTRIES: usize = 1024;
/// Disabled keywords: text from elsewhere is not run.
pub(super) const DISABLED: [&str; 1] = ["eval"];

/// An engine with limits against endless loops, overflow and escapes. Operations and time are counted by the tracks,
/// between two steps.
pub(super) fn engine() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_expr_depths(EXPRESSION_DEPTH, FUNCTION_EXPRESSION_DEPTH)
        .set_max_call_levels(CALL_LEVELS)
        .set_max_functions(NAMES)
        .set_max_variables(NAMES)
        .set_max_modules(MODULES)
        .set_max_string_size(STRING_BYTES)
        .set_max_array_size(ARRAY_ELEMENTS)
        .set_max_map_size(MAP_ENTRIES)
        .set_module_resolver(rhai::module_resolvers::DummyModuleResolver::new());
    for keyword in DISABLED {
        engine.disable_symbol(keyword);
    }
    #[expect(deprecated, reason = "not deprecated but volatile, says its documentation; the version is pinned")]
    engine.on_parse_token(|token, _, _| count(token));
    engine
}

/// Parsing progress of the current thread.
#[derive(Clone, Copy)]
struct Parsed {
    start: Instant,
    variables: usize,
    cases: usize,
}

thread_local! {
    static PARSED: Cell<Option<Parsed>> = const { Cell::new(None) };
}

/// Parses a script.
pub(super) fn compile(engine: &Engine, text: &str) -> Result<AST, ParseError> {
    PARSED.set(Some(Parsed { start: Instant::now(), variables: 0, cases: 0 }));
    let parsed = engine.compile(text);
    PARSED.set(None);
    parsed
}

/// Aborts the parsing of a text that exceeds the limits.
fn count(token: Token) -> Token {
    let Some(mut parsed) = PARSED.get() else { return token };
    match token {
        Token::Let | Token::Const => parsed.variables += 1,
        Token::DoubleArrow => parsed.cases += 1,
        _ => {}
    }
    PARSED.set(Some(parsed));
    let message = if parsed.variables > DECLARATIONS {
        format!("more than {DECLARATIONS} variables are declared in one file")
    } else if parsed.cases > DECLARATIONS {
        format!("more than {DECLARATIONS} cases of `switch` in one file")
    } else if parsed.start.elapsed() > PARSING {
        format!("parsing takes longer than {} s", PARSING.as_secs())
    } else {
        return token;
    };
    Token::LexError(LexError::Runtime(message).into())
}
