/// A number as usual, or with an exponent if that is shorter.
pub fn short(x: f64) -> String {
    if x != 0.0 && !(1e-9..1e15).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}
