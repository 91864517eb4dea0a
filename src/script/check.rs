use std::fmt;

use rhai::ParseError;

use super::limits::{self, DISABLED};

/// What is wrong with a script, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Name of the script, as it was given.
    pub script: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The line itself.
    pub source_line: String,
}

/// Compiles a script without running it.
pub fn check(name: &str, text: &str) -> Result<(), ScriptError> {
    limits::engine().compile(text).map(drop).map_err(|error| ScriptError::new(name, text, error))
}

impl ScriptError {
    fn new(name: &str, text: &str, ParseError(kind, position): ParseError) -> Self {
        let mut message = kind.to_string();
        if let Some(keyword) = DISABLED.iter().find(|keyword| message.contains(&format!("'{keyword}'"))) {
            message = format!("`{keyword}` is not allowed in scripts");
        }
        // An error without a position is one of the whole script.
        let line = position.line().unwrap_or(1).max(1);
        let column = position.position().unwrap_or(1);
        let source_line = text.lines().nth(line - 1).unwrap_or_default().into();
        Self { script: name.into(), line, column, message, source_line }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, line, column, message, source_line } = self;
        writeln!(f, "{script}:{line}:{column}: {message}")?;
        writeln!(f, "{line:>5} | {source_line}")?;
        // Tabs stay tabs, so that the caret stands under its character.
        let before = source_line.chars().chain(std::iter::repeat(' ')).take(column.saturating_sub(1));
        let indent: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        write!(f, "      | {indent}^")
    }
}

impl std::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::super::limits::{EXPRESSION_DEPTH, FUNCTION_EXPRESSION_DEPTH};
    use super::*;

    fn error(text: &str) -> ScriptError {
        check("test.rhai", text).unwrap_err()
    }

    #[test]
    fn a_good_script_passes() {
        let script = "let closed = 0.0;\nfn grasp(hand, by) {\n    for i in 0..5 { hand.bend(i, by); }\n}\n";
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
    fn eval_and_import_are_refused() {
        let eval = error("let x = 1;\nlet y = eval(\"x\");");
        assert_eq!((eval.line, eval.column), (2, 9));
        assert_eq!(eval.message, "`eval` is not allowed in scripts");
        assert_eq!(error("import \"/etc/passwd\" as p;").message, "`import` is not allowed in scripts");
    }
}
