use std::collections::BTreeSet;
use std::path::Path;

use rhai::{AST, ASTNode, Expr, FnCallExpr, Position, Stmt};

use super::api;
use super::error::{self, ScriptError, no_function, no_variable};
use super::run::{ScriptOptions, ScriptRun};
use super::state::{Origin, State};
use super::{limits, load};
use crate::assets::{Files, Scene, TextKind};
use crate::text::unknown;
use crate::tracking::{Angle, Driven, Finger};

/// Compiles a script without running it, and checks that the functions it calls exist with that number of arguments,
/// and that the joints, fingers and segments it names exist.
pub fn check(name: &str, text: &str) -> Result<(), Vec<ScriptError>> {
    let (ast, _) = compile(name, text).map_err(|error| vec![error])?;
    in_order(calls(name, text, &ast))
}

/// Checks the script of a file, and runs its set-up up to the first pause. All errors are reported, those of the set-up
/// after those of names.
pub fn check_file(file: &Path) -> Result<ScriptRun, Vec<ScriptError>> {
    let name = file.display().to_string();
    let files = Files::default();
    let text = files.read_text(file, TextKind::Script).map_err(|problems| {
        let message = problems.0.first().map(|problem| problem.message.clone());
        vec![ScriptError::whole(&name, message.unwrap_or_default())]
    })?;
    let (ast, scenes) = compile(&name, &text).map_err(|error| vec![error])?;
    let mut found = calls(&name, &text, &ast);
    let files = files.of_script(file);
    let set_up = ScriptRun::load(file, &ScriptOptions::default());
    let mut known = Known::default();
    match &set_up {
        Ok(run) => known.take(&run.scene()),
        // Without the set-up, the names in the scenes that the script refers to.
        Err(_) => {
            let origin =
                Origin { file: file.into(), files, settings: Vec::new(), seed: None, device: Driven::default() };
            let paths = scenes.iter().filter_map(|scene| load::find(&origin, "scenes", scene).ok());
            paths.filter_map(|path| origin.files.load_scene(&path, &[]).ok()).for_each(|scene| known.take(&scene));
        }
    }
    if !known.names.is_empty() {
        found.extend(variables(&name, &text, &ast, &known));
        found.extend(poses(&name, &text, &ast, &known));
    }
    match set_up {
        Ok(run) => in_order(found).map(|()| run),
        Err(error) => {
            // The same error may have been found by name.
            if !found.iter().any(|other| (other.line, &other.script) == (error.line, &error.script)) {
                found.push(error);
            }
            Err(in_order(found).err().unwrap_or_default())
        }
    }
}

/// Names available to a script besides its variables.
#[derive(Default)]
struct Known {
    /// Hands and bodies.
    names: Vec<String>,
    /// Poses of the hands.
    poses: Vec<String>,
}

impl Known {
    fn take(&mut self, scene: &Scene) {
        let bodies = &scene.world.bodies;
        self.names.extend(bodies.ids().map(|id| bodies.name(id).to_string()));
        let poses = scene.models().flat_map(|model| &model.description.poses);
        self.poses.extend(poses.map(|pose| pose.name.clone()));
    }
}

/// The script and the scenes that it refers to.
fn compile(name: &str, text: &str) -> Result<(AST, Vec<String>), ScriptError> {
    let mut api = api::build();
    // Unreachable code is checked too.
    api.engine.set_optimization_level(rhai::OptimizationLevel::None);
    let ast = limits::compile(&api.engine, text).map_err(|error| ScriptError::parsing(name, text, error))?;
    let mut scenes = Vec::new();
    each_call(&ast, |call, _, _| {
        if let ("scene", [Expr::StringConstant(scene, _)]) = (call.name.as_str(), call.args.as_slice()) {
            scenes.push(scene.to_string());
        }
    });
    Ok((ast, scenes))
}

fn in_order(mut found: Vec<ScriptError>) -> Result<(), Vec<ScriptError>> {
    found.sort_by_key(|error| (error.line, error.column));
    found.dedup();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Visits every call, with its position and whether it is a method call.
fn each_call(ast: &AST, mut visit: impl FnMut(&FnCallExpr, Position, bool)) {
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => visit(call, *position, false),
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => visit(call, *position, true),
            Some(ASTNode::Stmt(Stmt::FnCall(call, position))) => visit(call, *position, false),
            _ => {}
        }
        true
    });
}

/// Calls of functions that do not exist or take other arguments.
fn calls(name: &str, text: &str, ast: &AST) -> Vec<ScriptError> {
    let own: Vec<&str> = ast.iter_functions().map(|function| function.name).collect();
    let mut found = Vec::new();
    each_call(ast, |call, position, method| {
        let word = call.name.as_str();
        let known = call.is_qualified()
            || call.op_token.is_some()
            || !word.chars().all(|c| c.is_alphanumeric() || c == '_')
            || own.contains(&word)
            || api::functions().contains_key(word)
            // A map may have a closure with this name.
            || (method && (text.contains(&format!("{word}:")) || text.contains(&format!("{word} ="))));
        if !known {
            found.push(ScriptError::at(name, text, position, no_function(word)));
            return;
        }
        let count = call.args.len() + usize::from(method);
        let expected = if own.contains(&word) || call.is_qualified() { Vec::new() } else { api::signatures(word) };
        if !expected.is_empty() && expected.iter().all(|signature| api::parameters(signature) != count) {
            let given =
                if method { format!("{} values after the point", count - 1) } else { format!("{count} values") };
            let expected: Vec<String> = expected.iter().map(|signature| format!("`{signature}`")).collect();
            let message = format!("`{word}` does not take {given}; expected {}", expected.join(" or "));
            found.push(ScriptError::at(name, text, position, message));
            return;
        }
        for (parameter, value) in arguments(&expected, call, method) {
            let wrong = |(position, message)| ScriptError::at(name, text, position, message);
            found.extend(misspelt(parameter, value).into_iter().map(wrong));
        }
    });
    found
}

/// The arguments of a call with their parameter names, if all signatures with that number of arguments agree.
fn arguments<'c>(signatures: &[&'static str], call: &'c FnCallExpr, method: bool) -> Vec<(&'static str, &'c Expr)> {
    let count = call.args.len() + usize::from(method);
    let names = |signature: &'static str| -> Vec<&'static str> {
        let inner = signature.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
        inner.split(',').map(|parameter| parameter.split(':').next().unwrap_or_default().trim()).collect()
    };
    let mut fitting = signatures.iter().filter(|signature| api::parameters(signature) == count).map(|s| names(s));
    let Some(first) = fitting.next().filter(|_| count > 0) else { return Vec::new() };
    let others: Vec<Vec<&str>> = fitting.collect();
    let agreed = |place: &usize| others.iter().all(|other| other[*place] == first[*place]);
    let own = usize::from(method)..count;
    own.filter(agreed).map(|place| (first[place], &call.args[place - usize::from(method)])).collect()
}

/// Unknown names of joints, fingers and segments in literals.
fn misspelt(parameter: &str, value: &Expr) -> Vec<(Position, String)> {
    let known: Vec<String> = match parameter {
        "joint" | "angles" => Angle::all().map(Angle::name).collect(),
        "fingers" | "finger" => Finger::ALL.iter().map(|f| f.name().to_string()).chain(["all".into()]).collect(),
        "part" => {
            let wrong = |(word, position): (&str, Position)| {
                State::segments(&[word.into()]).err().map(|fault| (position, error::message(&fault, &[])))
            };
            return words(value).into_iter().filter_map(wrong).collect();
        }
        // Keyframes have joint names in `angles`.
        "keys" => {
            let Expr::Array(keys, _) = value else { return Vec::new() };
            let maps = keys.iter().filter_map(|key| if let Expr::Map(map, _) = key { Some(&map.0) } else { None });
            let angles = maps.flatten().filter(|(key, _)| key.name == "angles");
            return angles.flat_map(|(_, angles)| misspelt("angles", angles)).collect();
        }
        _ => return Vec::new(),
    };
    let kind = if matches!(parameter, "joint" | "angles") { "joint" } else { "finger" };
    let wrong = words(value).into_iter().filter(|(word, _)| !known.iter().any(|own| own == word));
    wrong.map(|(word, position)| (position, unknown(kind, word, known.iter()))).collect()
}

/// The string literals of an expression: itself, those of an array, or the keys of a map.
fn words(value: &Expr) -> Vec<(&str, Position)> {
    match value {
        Expr::StringConstant(word, position) => vec![(word.as_str(), *position)],
        Expr::Array(values, _) => values.iter().flat_map(words).collect(),
        Expr::Map(map, _) => map.0.iter().map(|(key, _)| (key.name.as_str(), key.pos)).collect(),
        _ => Vec::new(),
    }
}

/// Variables that are not declared in the script and are not hands or bodies. A string of the script may be the name of
/// a body that it adds later.
fn variables(name: &str, text: &str, ast: &AST, known: &Known) -> Vec<ScriptError> {
    let mut declared: BTreeSet<String> = known.names.iter().cloned().collect();
    declared.extend(ast.iter_functions().flat_map(|function| function.params).map(String::from));
    let mut used = Vec::new();
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Var(var, ..))) => declared.extend([var.0.name.to_string()]),
            Some(ASTNode::Stmt(Stmt::For(parts, _))) => {
                declared.insert(parts.0.name.to_string());
                declared.extend(parts.1.iter().map(|ident| ident.name.to_string()));
            }
            Some(ASTNode::Stmt(Stmt::TryCatch(parts, _))) => {
                if let Expr::Variable(caught, ..) = &parts.expr {
                    declared.insert(caught.1.to_string());
                }
            }
            Some(ASTNode::Stmt(Stmt::Import(parts, _))) => declared.extend([parts.1.name.to_string()]),
            Some(ASTNode::Expr(Expr::StringConstant(word, _))) => declared.extend([word.to_string()]),
            Some(ASTNode::Expr(Expr::Map(map, _))) => {
                declared.extend(map.0.iter().map(|(key, _)| key.name.to_string()));
            }
            Some(ASTNode::Expr(Expr::Variable(variable, _, position))) if variable.2.is_empty() => {
                used.push((variable.1.to_string(), *position));
            }
            _ => {}
        }
        true
    });
    let wrong = used.into_iter().filter(|(word, _)| !declared.contains(word));
    wrong.map(|(word, at)| ScriptError::at(name, text, at, no_variable(&word, &known.names))).collect()
}

/// Names of unknown poses.
fn poses(name: &str, text: &str, ast: &AST, known: &Known) -> Vec<ScriptError> {
    let mut found = Vec::new();
    each_call(ast, |call, _, method| {
        for (parameter, value) in arguments(&api::signatures(call.name.as_str()), call, method) {
            let Expr::StringConstant(word, position) = value else { continue };
            let is_pose = parameter == "pose" || (parameter == "name" && ["pose", "start_pose"].contains(&&*call.name));
            if is_pose && !known.poses.iter().any(|own| own == word.as_str()) {
                found.push(ScriptError::at(name, text, *position, unknown("pose", word, known.poses.iter())));
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::super::limits::{EXPRESSION_DEPTH, FUNCTION_EXPRESSION_DEPTH};
    use super::*;

    fn error(text: &str) -> ScriptError {
        check("test.rhai", text).unwrap_err().remove(0)
    }

    #[test]
    fn a_valid_script_passes() {
        let script = "let closed = 0.0;\nfn grasp(hand, by) {\n    for i in 0..5 { hand.spread(by, 0.1); }\n}\n";
        assert_eq!(check("grasp.rhai", script), Ok(()));
        assert_eq!(check("empty.rhai", ""), Ok(()));
    }

    #[test]
    fn a_syntax_error_is_shown_at_its_position() {
        let error = error("let a = 1;\n\tlet b /*µ*/ = = 2;\n");
        assert_eq!((error.line, error.column, error.source_line.as_str()), (2, 16, "\tlet b /*µ*/ = = 2;"));
        assert_eq!(
            error.to_string(),
            "test.rhai:2:16: Unexpected '='\n    2 | \tlet b /*µ*/ = = 2;\n      | \t              ^"
        );
    }

    #[test]
    fn a_script_that_ends_too_early_is_refused_at_its_end() {
        for text in ["let x =", "fn f() {\n", "`never closed\n\n"] {
            let error = error(text);
            assert!(error.line >= 1 && error.column >= 1, "{error}");
        }
        assert_eq!(error("fn f() {\n  g();\n").line, 3);
    }

    #[test]
    fn a_deep_expression_is_rejected() {
        let nested = |depth: usize| format!("{}1{}", "-(".repeat(depth), ")".repeat(depth));
        assert_eq!(check("flat", &nested(EXPRESSION_DEPTH / 4)), Ok(()));
        assert!(error(&nested(EXPRESSION_DEPTH)).message.contains("complexity"));
        let function = format!("fn f() {{ {} }}", nested(FUNCTION_EXPRESSION_DEPTH));
        assert!(error(&function).message.contains("complexity"));
        // Far deeper than the stack allows.
        for open in ["(", "[", "{", "!", "#{a:", "if true {", "f(", "x[", "`${", "1 + ", "x.y(", "switch x { _ => "] {
            assert!(error(&open.repeat(100_000)).message.contains("complexity"), "{open}");
        }
    }

    #[test]
    fn eval_is_refused() {
        let eval = error("let x = 1;\nlet y = eval(\"x\");");
        assert_eq!((eval.line, eval.column), (2, 9));
        assert_eq!(eval.message, "`eval` is not allowed in scripts");
    }

    #[test]
    fn functions_that_do_not_exist_are_found_without_running() {
        let text =
            "let h = hand(\"right\");\nh.clsoe_until([\"index\"], 2.0);\nif false { weit(1); }\nfn f() { g() }\nf();\n";
        let errors = check("test.rhai", text).unwrap_err();
        let message: Vec<_> = errors.iter().map(|e| (e.line, e.message.as_str())).collect();
        assert_eq!(
            message,
            [
                (2, "there is no function `clsoe_until`; did you mean `close_until`?"),
                (3, "there is no function `weit`; did you mean `wait`?"),
                (4, "there is no function `g`"),
            ]
        );
        let text = "wait(1, 2);\nhand(\"right\").move_by(0, 0.1, 0);\n[1].remove(0);\nlet a = [1];\na.push(2);\n";
        let errors = check("test.rhai", text).unwrap_err();
        let message: Vec<_> = errors.iter().map(|e| (e.line, e.message.as_str())).collect();
        assert_eq!(
            message,
            [
                (1, "`wait` does not take 2 values; expected `wait(seconds: number)`"),
                (
                    2,
                    "`move_by` does not take 3 values after the point; expected `move_by(hand: Hand, way: Vec3, seconds: number)`"
                ),
            ]
        );
        let text =
            "let m = #{ say: |x| print(x) };\nm.say(1);\nlet a = [1, 2].map(|x| x + 1);\nimport \"lib\" as l;\nl::f();";
        assert_eq!(check("test.rhai", text), Ok(()));
    }

    #[test]
    fn misspelt_joints_fingers_and_segments_are_found_without_running() {
        let text = "let h = hand(\"right\");\nif false { h.bend(\"index_base_flexon\", 20, 1.0); }\n\
            h.bend(#{ thumb_tip_flexion: 1, rign_tip_flexion: 2 }, 1.0);\nh.squeeze([\"thumb\", \"indx\"], 2.0);\n\
            print(h.force(\"palmm\"));\nh.play([#{ seconds: 1, angles: #{ litle_tip_flexion: 3 } }]);\n";
        let errors = check("test.rhai", text).unwrap_err();
        let message: Vec<_> = errors.iter().map(|e| (e.line, e.message.as_str())).collect();
        assert_eq!(
            message,
            [
                (2, "there is no joint `index_base_flexon`; did you mean `index_base_flexion`?"),
                (3, "there is no joint `rign_tip_flexion`; did you mean `ring_tip_flexion`?"),
                (4, "there is no finger `indx`; did you mean `index`?"),
                (5, "there is no finger or segment `palmm`; did you mean `palm`?"),
                (6, "there is no joint `litle_tip_flexion`; did you mean `little_tip_flexion`?"),
            ]
        );
    }
}
