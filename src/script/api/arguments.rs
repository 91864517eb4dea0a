//! Converts script arguments, with an error message on failure.

use rhai::{Array, Dynamic};

use super::{BodyRef, HandRef};
use crate::math::{Quat, Range, Vec3};
use crate::script::track::{Fault, fault};
use crate::text::unknown;
use crate::tracking::Finger;

/// Description of a value for messages.
pub fn found(value: &Dynamic) -> String {
    match value.type_name() {
        "i64" => format!("the whole number {value}"),
        "f64" => format!("the number {value}"),
        "string" | "&str" | "alloc::string::String" => format!("the string \"{value}\""),
        "bool" => format!("{value}"),
        "()" => "nothing".into(),
        "array" => format!("an array of {}", value.read_lock::<Array>().map_or(0, |array| array.len())),
        "map" => "a map".into(),
        "Fn" => "a closure".into(),
        _ if value.is::<HandRef>() => "a Hand".into(),
        _ if value.is::<BodyRef>() => "a Body".into(),
        _ if value.is::<Vec3>() => "a Vec3".into(),
        _ if value.is::<Quat>() => "a Rotation".into(),
        other => format!("a {other}"),
    }
}

/// A finite number.
pub fn number(value: &Dynamic, what: &str) -> Result<f64, Fault> {
    let number = value.as_float().or_else(|_| value.as_int().map(|whole| whole as f64)).ok();
    let kind = if number.is_some() { "a finite number" } else { "a number" };
    let wrong = || fault(format!("`{what}`: expected {kind}, found {}", found(value)));
    number.filter(|x| x.is_finite()).ok_or_else(wrong)
}

/// A number in a range.
pub fn number_in(value: &Dynamic, what: &str, low: f64, high: f64) -> Result<f64, Fault> {
    let (x, range) = (number(value, what)?, Range::new(low, high, ""));
    if range.contains(x) { Ok(x) } else { Err(fault(format!("`{what}`: expected {range}, found {x}"))) }
}

/// A duration, s.
pub fn seconds(value: &Dynamic) -> Result<f64, Fault> {
    number_in(value, "seconds", 0.0, 3600.0)
}

/// A vector, or an array of three numbers.
pub fn vector(value: &Dynamic, what: &str) -> Result<Vec3, Fault> {
    if let Some(vector) = value.clone().try_cast::<Vec3>() {
        let is_finite = vector.iter().all(|x| x.is_finite());
        return if is_finite { Ok(vector) } else { Err(fault(format!("`{what}`: the vector is not finite"))) };
    }
    let wrong = || fault(format!("`{what}`: expected a Vec3 or an array of three numbers, found {}", found(value)));
    let array = value.read_lock::<Array>().ok_or_else(wrong)?;
    match array.as_slice() {
        [x, y, z] => Ok(Vec3::new(number(x, what)?, number(y, what)?, number(z, what)?)),
        _ => Err(wrong()),
    }
}

/// A position in the world, m.
pub fn place(value: &Dynamic, what: &str) -> Result<Vec3, Fault> {
    within(vector(value, what)?, what, MAX_PLACE, "m")
}

/// A velocity, m/s.
pub fn velocity(value: &Dynamic, what: &str) -> Result<Vec3, Fault> {
    bounded_velocity(vector(value, what)?, what)
}

/// A velocity within the limits of bodies, m/s.
pub fn bounded_velocity(velocity: Vec3, what: &str) -> Result<Vec3, Fault> {
    within(velocity, what, MAX_VELOCITY, "m/s")
}

/// Maximum coordinate, m, and velocity component, m/s; as in scene files.
const MAX_PLACE: f64 = 100.0;
const MAX_VELOCITY: f64 = 100.0;

fn within(vector: Vec3, what: &str, most: f64, unit: &str) -> Result<Vec3, Fault> {
    if vector.amax() <= most {
        return Ok(vector);
    }
    let [x, y, z] = [vector.x, vector.y, vector.z];
    Err(fault(format!("`{what}`: expected numbers from -{most} to {most} {unit}, found [{x:e}, {y:e}, {z:e}]")))
}

/// A rotation, or three angles about the world axes in degrees.
pub fn rotation(value: &Dynamic, what: &str) -> Result<Quat, Fault> {
    if let Some(rotation) = value.clone().try_cast::<Quat>() {
        // The product of many rotations has rounding errors.
        let is_sound = (rotation.as_ref().norm() - 1.0).abs() < 1e-6;
        return if is_sound { Ok(rotation) } else { Err(fault(format!("`{what}`: this is not a rotation"))) };
    }
    let angles = vector(value, what).map_err(|_| {
        fault(format!("`{what}`: expected a Rotation or three angles in degrees, found {}", found(value)))
    })?;
    let [x, y, z] = [angles.x, angles.y, angles.z].map(f64::to_radians);
    Ok(Quat::from_euler_angles(x, y, z))
}

/// A string.
pub fn text(value: &Dynamic, what: &str) -> Result<String, Fault> {
    let wrong = || fault(format!("`{what}`: expected a string, found {}", found(value)));
    value.clone().into_string().map_err(|_| wrong())
}

/// A string, or an array of strings.
pub fn texts(value: &Dynamic, what: &str) -> Result<Vec<String>, Fault> {
    match value.read_lock::<Array>() {
        Some(array) => array.iter().map(|one| text(one, what)).collect(),
        None => Ok(vec![text(value, what)?]),
    }
}

/// A finger by name, several, or all.
pub fn fingers(value: &Dynamic) -> Result<Vec<Finger>, Fault> {
    let mut found = Vec::new();
    for name in texts(value, "fingers")? {
        if name == "all" {
            return Ok(Finger::ALL.to_vec());
        }
        let known: Vec<String> = Finger::ALL.iter().map(|finger| finger.name().to_string()).collect();
        let finger = Finger::ALL.into_iter().find(|finger| finger.name() == name);
        found.push(finger.ok_or_else(|| fault(unknown("finger", &name, known.iter())))?);
    }
    Ok(found)
}

/// A body, or its name.
pub fn body_name(value: &Dynamic) -> Result<String, Fault> {
    if let Some(body) = value.clone().try_cast::<BodyRef>() {
        return Ok(body.0.into());
    }
    value.clone().into_string().map_err(|_| fault(format!("expected a Body or its name, found {}", found(value))))
}

/// A hand, or its name; or several.
pub fn hand_names(value: &Dynamic) -> Result<Vec<String>, Fault> {
    let one = |value: &Dynamic| -> Result<String, Fault> {
        if let Some(hand) = value.clone().try_cast::<HandRef>() {
            return Ok(hand.0.into());
        }
        value.clone().into_string().map_err(|_| fault(format!("expected a Hand or its name, found {}", found(value))))
    };
    match value.read_lock::<Array>() {
        Some(array) => array.iter().map(one).collect(),
        None => Ok(vec![one(value)?]),
    }
}
