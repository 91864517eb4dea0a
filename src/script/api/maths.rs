use nalgebra::Unit;
use rhai::{Array, Dynamic};

use super::Api;
use super::arguments::{number, number_in, vector};
use crate::math::{Quat, Vec3};
use crate::script::track::{Fault, fault};

pub fn register(api: &mut Api) {
    api.subject("Vectors and rotations");
    api.engine.register_type_with_name::<Vec3>("Vec3").register_type_with_name::<Quat>("Rotation");
    construction(api);
    operators(api);
    vectors(api);
    rotations(api);
    numbers(api);
}

fn construction(api: &mut Api) {
    api.add("vec(x: number, y: number, z: number) -> Vec3", "A vector.", |x: Dynamic, y: Dynamic, z: Dynamic| {
        Ok::<_, Fault>(Vec3::new(number(&x, "x")?, number(&y, "y")?, number(&z, "z")?))
    });
    api.add("vec(numbers: array) -> Vec3", "A vector from an array of three numbers.", |numbers: Array| {
        vector(&numbers.into(), "numbers")
    });
    for (place, name) in ["x", "y", "z"].into_iter().enumerate() {
        api.engine.register_get(name, move |v: &mut Vec3| v[place]);
        api.engine.register_set(name, move |v: &mut Vec3, value: Dynamic| -> Result<(), Fault> {
            v[place] = number(&value, name)?;
            Ok(())
        });
    }
    api.note("x -> number", "The first number of a vector.");
    api.note("y -> number", "The second number of a vector; upward.");
    api.note("z -> number", "The third number of a vector.");
}

fn operators(api: &mut Api) {
    api.engine
        .register_fn("+", |a: Vec3, b: Vec3| a + b)
        .register_fn("+", |a: Vec3, b: Array| Ok::<_, Fault>(a + vector(&b.into(), "sum")?))
        .register_fn("+", |a: Array, b: Vec3| Ok::<_, Fault>(vector(&a.into(), "sum")? + b))
        .register_fn("-", |a: Vec3, b: Vec3| a - b)
        .register_fn("-", |a: Vec3, b: Array| Ok::<_, Fault>(a - vector(&b.into(), "difference")?))
        .register_fn("-", |a: Array, b: Vec3| Ok::<_, Fault>(vector(&a.into(), "difference")? - b))
        .register_fn("-", |a: Vec3| -a)
        .register_fn("*", |a: Vec3, s: f64| a * s)
        .register_fn("*", |a: Vec3, s: i64| a * s as f64)
        .register_fn("*", |s: f64, a: Vec3| a * s)
        .register_fn("*", |s: i64, a: Vec3| a * s as f64)
        .register_fn("/", |a: Vec3, s: f64| a / s)
        .register_fn("/", |a: Vec3, s: i64| a / s as f64)
        .register_fn("==", |a: Vec3, b: Vec3| a == b)
        .register_fn("!=", |a: Vec3, b: Vec3| a != b)
        .register_fn("*", |a: Quat, b: Quat| a * b)
        .register_fn("*", |a: Quat, v: Vec3| a * v)
        .register_fn("*", |a: Quat, v: Array| Ok::<_, Fault>(a * vector(&v.into(), "vector")?))
        .register_fn("==", |a: Quat, b: Quat| a == b);
}

fn vectors(api: &mut Api) {
    api.add("length(v: Vec3) -> number", "Its length.", |v: Vec3| v.norm());
    api.add("normalized(v: Vec3) -> Vec3", "The unit vector in its direction; zero stays zero.", |v: Vec3| {
        v.try_normalize(0.0).unwrap_or_else(Vec3::zeros)
    });
    api.add("dot(a: Vec3, b: Vec3) -> number", "Dot product.", |a: Vec3, b: Dynamic| {
        Ok::<_, Fault>(a.dot(&vector(&b, "b")?))
    });
    api.add("cross(a: Vec3, b: Vec3) -> Vec3", "Cross product.", |a: Vec3, b: Dynamic| {
        Ok::<_, Fault>(a.cross(&vector(&b, "b")?))
    });
    api.add("distance(a: Vec3, b: Vec3) -> number", "Distance between two positions.", |a: Dynamic, b: Dynamic| {
        Ok::<_, Fault>((vector(&a, "a")? - vector(&b, "b")?).norm())
    });
    api.add("to_string(v: Vec3) -> string", "As text.", |v: Vec3| {
        let [x, y, z] = [v.x, v.y, v.z].map(|x| rounded(x, 4));
        format!("[{x:.4}, {y:.4}, {z:.4}]")
    });
    api.engine.register_fn("to_debug", |v: Vec3| format!("{:?}", [v.x, v.y, v.z]));
}

fn rotations(api: &mut Api) {
    api.add(
        "degrees(x: number, y: number, z: number) -> Rotation",
        "Rotation about X, then Y, then Z, with axes fixed in the world.",
        |x: Dynamic, y: Dynamic, z: Dynamic| {
            let [x, y, z] = [number(&x, "x")?, number(&y, "y")?, number(&z, "z")?].map(f64::to_radians);
            Ok::<_, Fault>(Quat::from_euler_angles(x, y, z))
        },
    );
    api.add(
        "about(axis: Vec3, degrees: number) -> Rotation",
        "Rotation about an axis.",
        |axis: Dynamic, degrees: Dynamic| axis_angle(&vector(&axis, "axis")?, number(&degrees, "degrees")?),
    );
    api.add("inverse(rotation: Rotation) -> Rotation", "Inverse rotation.", |rotation: Quat| rotation.inverse());
    api.add("angle(rotation: Rotation) -> number", "Rotation angle, in degrees.", |rotation: Quat| {
        rotation.angle().to_degrees()
    });
    api.add("axis(rotation: Rotation) -> Vec3", "Rotation axis; Y for the identity.", |rotation: Quat| {
        rotation.axis().map_or_else(Vec3::y, Unit::into_inner)
    });
    api.add("to_string(rotation: Rotation) -> string", "As text: the three angles in degrees.", |rotation: Quat| {
        let (x, y, z) = rotation.euler_angles();
        let [x, y, z] = [x, y, z].map(|angle| rounded(angle.to_degrees(), 2));
        format!("degrees({x:.2}, {y:.2}, {z:.2})")
    });
}

fn numbers(api: &mut Api) {
    api.add(
        "round(x: number, digits: number) -> number",
        "Rounds to a number of decimal places: `print(round(time(), 2))`.",
        |x: Dynamic, digits: Dynamic| {
            let digits = number_in(&digits, "digits", 0.0, 15.0)?;
            Ok::<_, Fault>(rounded(number(&x, "x")?, digits as i32))
        },
    );
    api.add(
        "clamp(x: number, low: number, high: number) -> number",
        "Clamps a number to a range.",
        |x: Dynamic, low: Dynamic, high: Dynamic| {
            Ok::<_, Fault>(number(&x, "x")?.min(number(&high, "high")?).max(number(&low, "low")?))
        },
    );
    api.add(
        "mix(a: number, b: number, part: number) -> number",
        "Linear interpolation between two numbers.",
        |a: Dynamic, b: Dynamic, part: Dynamic| {
            let (a, b) = (number(&a, "a")?, number(&b, "b")?);
            Ok::<_, Fault>(a + number(&part, "part")? * (b - a))
        },
    );
}

/// Rounds to some decimal places, without a negative zero.
fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    let rounded = (x * scale).round() / scale;
    // Such large numbers have no decimal places.
    if rounded.is_finite() { rounded + 0.0 } else { x }
}

/// The rotation about an axis of any length.
pub fn axis_angle(axis: &Vec3, degrees: f64) -> Result<Quat, Fault> {
    Ok(Quat::from_axis_angle(&Unit::new_unchecked(unit(axis)?), degrees.to_radians()))
}

/// An axis of any length with length one.
pub fn unit(axis: &Vec3) -> Result<Vec3, Fault> {
    // Scaled by the largest component: the squared length may overflow.
    let scaled = axis.unscale(axis.amax().max(1e-9));
    let axis = Unit::try_new(scaled, 1e-9).ok_or_else(|| fault("the axis must not be zero"))?;
    Ok(axis.into_inner())
}
