//! Functions for scripts, one file per subject. Every function is registered with its signature and a line of
//! documentation; the definition file for editors, the reference page and the suggestions in error messages are
//! generated from these.

mod arguments;
mod beam;
mod body;
mod grasp;
mod grip;
mod hand;
mod joints;
mod maths;
mod motion;
mod task;
mod toml;
mod tool;
mod tracks;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rhai::{Dynamic, Engine, EvalContext, ImmutableString, RhaiNativeFunc, Variant};

pub use self::arguments::found;
use super::track::{Fault, fault, progress, with};
use super::{limits, memory};

/// A hand by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandRef(pub ImmutableString);

/// A body by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyRef(pub ImmutableString);

/// A parallel track by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackRef(pub usize);

/// Documentation of a function.
#[derive(Clone, Debug)]
pub struct FunctionDoc {
    /// The subject it belongs to.
    pub subject: &'static str,
    /// Name, parameters with their types, and return type.
    pub signature: &'static str,
    /// Description.
    pub doc: &'static str,
}

impl FunctionDoc {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.signature.split(['(', ' ']).next().unwrap_or_default()
    }

    /// Whether it is a property instead of a function.
    pub fn is_property(&self) -> bool {
        !self.signature.contains('(')
    }
}

/// Registers functions with their documentation.
pub struct Api {
    /// What runs scripts.
    pub engine: Engine,
    /// The registered functions.
    pub entries: Vec<FunctionDoc>,
    subject: &'static str,
}

impl Api {
    /// Starts a subject.
    fn subject(&mut self, subject: &'static str) {
        self.subject = subject;
    }

    /// Registers a function under the name of its signature.
    fn add<A: 'static, const N: usize, const X: bool, R: Variant + Clone, const F: bool>(
        &mut self,
        signature: &'static str,
        doc: &'static str,
        function: impl RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    ) {
        let entry = FunctionDoc { subject: self.subject, signature, doc };
        debug_assert_eq!(parameters(signature), N, "{signature}");
        self.engine.register_fn(entry.name(), function);
        self.entries.push(entry);
    }

    /// Documents something that is registered in another way.
    fn note(&mut self, signature: &'static str, doc: &'static str) {
        self.entries.push(FunctionDoc { subject: self.subject, signature, doc });
    }
}

/// Number of parameters of a signature.
pub fn parameters(signature: &str) -> usize {
    let inner = signature.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    if inner.is_empty() { 0 } else { inner.split(',').count() }
}

/// An engine with all functions for scripts.
pub fn build() -> Api {
    let mut api = Api { engine: limits::engine(), entries: Vec::new(), subject: "" };
    api.engine
        .register_type_with_name::<HandRef>("Hand")
        .register_type_with_name::<BodyRef>("Body")
        .register_type_with_name::<TrackRef>("Track");
    tracks::register(&mut api);
    world::register(&mut api);
    hand::register(&mut api);
    motion::register(&mut api);
    grip::register(&mut api);
    grasp::register(&mut api);
    body::register(&mut api);
    beam::register(&mut api);
    joints::register(&mut api);
    tool::register(&mut api);
    task::register(&mut api);
    maths::register(&mut api);
    api.engine.on_progress(progress);
    api.engine.on_print(|line| say(line.into()));
    api.engine.on_debug(|line, _, place| say(format!("{place}: {line}")));
    #[expect(deprecated, reason = "not deprecated but volatile, says its documentation; the version is pinned")]
    api.engine.on_var(resolve);
    api
}

/// The registered functions in the order of the subjects.
pub fn entries() -> &'static [FunctionDoc] {
    static ENTRIES: OnceLock<Vec<FunctionDoc>> = OnceLock::new();
    ENTRIES.get_or_init(|| build().entries)
}

/// Names of all functions, including those of the language, with their signatures.
pub fn functions() -> &'static BTreeMap<String, Vec<String>> {
    static FUNCTIONS: OnceLock<BTreeMap<String, Vec<String>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for signature in build().engine.gen_fn_signatures(true) {
            let name = signature.split('(').next().unwrap_or_default().to_string();
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                functions.entry(name).or_default();
            }
        }
        for entry in entries().iter().filter(|entry| !entry.is_property()) {
            functions.entry(entry.name().into()).or_default().push(entry.signature.into());
        }
        for keyword in ["print", "debug", "type_of", "Fn", "call", "curry", "is_shared", "is_def_var", "is_def_fn"] {
            functions.entry(keyword.into()).or_default();
        }
        functions
    })
}

/// Signatures of a function that the language does not define too; empty for others.
pub fn signatures(name: &str) -> Vec<&'static str> {
    static LANGUAGE: OnceLock<BTreeSet<String>> = OnceLock::new();
    let of_language = LANGUAGE.get_or_init(|| {
        let signatures = Engine::new().gen_fn_signatures(true).into_iter();
        signatures.filter_map(|signature| signature.split('(').next().map(String::from)).collect()
    });
    let own = entries().iter().filter(|entry| !entry.is_property() && entry.name() == name);
    if of_language.contains(name) { Vec::new() } else { own.map(|entry| entry.signature).collect() }
}

fn say(line: String) {
    // Without a running simulation there is no recipient.
    let _ = with(|state| {
        memory::hand_over(line.capacity());
        state.say(line);
        Ok(())
    });
}

/// Handles are passed by value: a closure that captures one does not share the variable, so a track that waits inside
/// `hand.move_by(…)` does not block others from using the hand. An undeclared name is that of a hand or a body.
fn resolve(name: &str, _: usize, context: EvalContext<'_, '_, '_, '_, '_, '_>) -> Result<Option<Dynamic>, Fault> {
    if let Some(value) = context.scope().get(name) {
        // Handles are never shared, and the type of a shared value cannot be read while it is locked.
        if value.is_shared() {
            let free = value.read_lock::<Dynamic>().is_some();
            let held = || fault(format!("`{name}` is in use: a track waits inside a call on it"));
            return if free { Ok(None) } else { Err(held()) };
        }
        let handle = value.is::<HandRef>() || value.is::<BodyRef>() || value.is::<TrackRef>();
        return Ok(handle.then(|| value.clone()));
    }
    let known = with(|state| {
        let hand = state.scene.hand(name).map(|_| Dynamic::from(HandRef(name.into())));
        Ok(hand.or_else(|| state.find_body(name).map(|_| Dynamic::from(BodyRef(name.into())))))
    });
    Ok(known.unwrap_or(None))
}
