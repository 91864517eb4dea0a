use std::cell::Cell;
use std::time::{Duration, Instant};

use rhai::{AST, Engine, LexError, ParseError, Token};

/// Nesting of expressions outside of functions.
pub(super) const EXPRESSION_DEPTH: usize = 64;
/// Nesting of expressions in a function.
pub(super) const FUNCTION_EXPRESSION_DEPTH: usize = 32;
/// Script functions that call each other.
const CALL_LEVELS: usize = 32;
/// Operations of a script between two steps, all tracks together; about 20 ms.
pub(super) const OPERATIONS: u64 = 200_000;
/// Time that a script may take between two steps.
pub(super) const WALL: Duration = Duration::from_millis(50);
/// The most that is taken for the script's time between two looks at the clock: more is a machine that is busy with other things.
pub(super) const SLICE: Duration = Duration::from_millis(2);
/// After this time without an answer or an operation all tracks are called off: one of them waits for a variable that
/// another one holds. On a machine that is busy with other things a track may get no turn for a second or two.
pub(super) const STUCK: Duration = Duration::from_secs(3);
/// Time that a track which was called off gets to come to its end.
pub(super) const FAREWELL: Duration = Duration::from_secs(10);
/// Reading files and making meshes is not the script's time, but after so much of it between two steps there is no more.
pub(super) const LOADING: Duration = Duration::from_secs(10);
/// Tracks that run at the same time.
pub(super) const TRACKS: usize = 32;
/// Tracks of a run.
pub(super) const TRACKS_EVER: usize = 4096;
/// Simulated time of a run that names no other limit, s; of all trials together.
pub(super) const RUN_SECONDS: f64 = 300.0;
/// Computing time of a run: so many seconds for each second that may be simulated, and no less than those of a run that names no limit.
pub(super) const COMPUTING: f64 = 2.0;
/// Bytes that all values of a script may take.
pub(super) const MEMORY: isize = 256 << 20;
/// Variables that a file declares, and cases of all its `switch`es, each: the time to parse them grows with the square of their number.
pub(super) const DECLARATIONS: usize = 1000;
/// Time that parsing a file may take, whatever it is full of.
pub(super) const PARSING: Duration = Duration::from_secs(5);
/// Materials of the world of a script.
pub(super) const MATERIALS: usize = 256;
/// Repeated trials of a task.
pub(super) const TRIALS: i64 = 1000;
/// Bodies that a script may have in its world.
pub(super) const BODIES: usize = 1000;
/// Goals, failure conditions, event handlers, metrics and phases of a task, each.
pub(super) const RULES: usize = 256;
/// Lines that a script prints; what comes after is not kept.
pub(super) const MESSAGES: usize = 1000;
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
/// Keywords that scripts cannot use: text that comes from elsewhere is not run.
pub(super) const DISABLED: [&str; 1] = ["eval"];

/// An engine that a script cannot hang, overflow or leave. Operations and time are counted by the tracks, between two
/// steps.
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

/// How far the text is parsed that a thread parses.
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

/// Ends the parsing of a text that holds too much.
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
