use rhai::{ASTNode, Expr, FnCallExpr, Position, Stmt};

use super::api;
use super::error::{ScriptError, no_function};

/// Compiles a script without running it, and looks whether the functions that it calls exist and take as many values.
pub fn check(name: &str, text: &str) -> Result<(), Vec<ScriptError>> {
    let mut api = api::build();
    // What can never be reached is checked too.
    api.engine.set_optimization_level(rhai::OptimizationLevel::None);
    let ast = api.engine.compile(text).map_err(|error| vec![ScriptError::parsing(name, text, error)])?;
    let own: Vec<&str> = ast.iter_functions().map(|function| function.name).collect();
    let mut found = Vec::new();
    let mut look = |call: &FnCallExpr, position: Position, method: bool| {
        let word = call.name.as_str();
        let known = call.is_qualified()
            || call.op_token.is_some()
            || !word.chars().all(|c| c.is_alphanumeric() || c == '_')
            || own.contains(&word)
            || api::functions().contains_key(word)
            // A map may hold a closure under the name.
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
        }
    };
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => look(call, *position, false),
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => look(call, *position, true),
            Some(ASTNode::Stmt(Stmt::FnCall(call, position))) => look(call, *position, false),
            _ => {}
        }
        true
    });
    found.sort_by_key(|error| (error.line, error.column));
    found.dedup();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

#[cfg(test)]
mod tests {
    use super::super::limits::{EXPRESSION_DEPTH, FUNCTION_EXPRESSION_DEPTH};
    use super::*;

    fn error(text: &str) -> ScriptError {
        check("test.rhai", text).unwrap_err().remove(0)
    }

    #[test]
    fn a_good_script_passes() {
        let script = "let closed = 0.0;\nfn grasp(hand, by) {\n    for i in 0..5 { hand.spread(by, 0.1); }\n}\n";
        assert_eq!(check("grasp.rhai", script), Ok(()));
        assert_eq!(check("empty.rhai", ""), Ok(()));
    }

    #[test]
    fn a_syntax_error_is_shown_where_it_is() {
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
    fn an_expression_too_deep_is_refused() {
        let nested = |depth: usize| format!("{}1{}", "-(".repeat(depth), ")".repeat(depth));
        assert_eq!(check("flat", &nested(EXPRESSION_DEPTH / 4)), Ok(()));
        assert!(error(&nested(EXPRESSION_DEPTH)).message.contains("complexity"));
        let function = format!("fn f() {{ {} }}", nested(FUNCTION_EXPRESSION_DEPTH));
        assert!(error(&function).message.contains("complexity"));
        // Far deeper than the stack would bear.
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
        let said: Vec<_> = errors.iter().map(|e| (e.line, e.message.as_str())).collect();
        assert_eq!(
            said,
            [
                (2, "there is no function `clsoe_until`; did you mean `close_until`?"),
                (3, "there is no function `weit`; did you mean `wait`?"),
                (4, "there is no function `g`"),
            ]
        );
        let text = "wait(1, 2);\nhand(\"right\").move_by(0, 0.1, 0);\n[1].remove(0);\nlet a = [1];\na.push(2);\n";
        let errors = check("test.rhai", text).unwrap_err();
        let said: Vec<_> = errors.iter().map(|e| (e.line, e.message.as_str())).collect();
        assert_eq!(
            said,
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
}
