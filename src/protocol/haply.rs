//! JSON messages of the service of the Haply Inverse3, on `ws://localhost:10001`. The layout was read from a public client of the service.
//!
//! The service sends the state of every device; the client answers with a force in newtons for each Inverse3. The Inverse3 has three degrees of
//! freedom; the grip in the hand adds the orientation.

use serde_json::{Value, json};

use crate::math::{Quat, Vec3};

/// Status of one Inverse3 and its grip, as reported by the service.
#[derive(Clone, Debug, PartialEq)]
pub struct HaplyState {
    /// Name of the Inverse3, to be repeated in commands.
    pub device: String,
    /// Place of the handle in the frame of the device, m.
    pub position: Vec3,
    /// Orientation of the grip, if there is one.
    pub orientation: Option<Quat>,
    /// Buttons a, b, c of the grip.
    pub buttons: [bool; 3],
}

/// Why a message has no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HaplyFault {
    /// It is not JSON.
    #[error("the message is not JSON: {0}")]
    Json(String),
    /// It names no Inverse3.
    #[error("the message names no Inverse3")]
    NoDevice,
    /// A field is missing or is not a finite number.
    #[error("`{0}` is missing or not a number")]
    Field(&'static str),
}

fn number(value: &Value, key: &str, field: &'static str) -> Result<f64, HaplyFault> {
    value.get(key).and_then(Value::as_f64).filter(|x| x.is_finite()).ok_or(HaplyFault::Field(field))
}

fn vector(value: &Value, field: &'static str) -> Result<Vec3, HaplyFault> {
    Ok(Vec3::new(number(value, "x", field)?, number(value, "y", field)?, number(value, "z", field)?))
}

impl HaplyState {
    /// The state of the first Inverse3 of a message, with the first grip.
    pub fn decode(text: &str) -> Result<Self, HaplyFault> {
        let message: Value = serde_json::from_str(text).map_err(|e| HaplyFault::Json(e.to_string()))?;
        let inverse = message.get("inverse3").and_then(|l| l.get(0)).ok_or(HaplyFault::NoDevice)?;
        let device = inverse.get("device_id").and_then(Value::as_str).ok_or(HaplyFault::Field("device_id"))?;
        let state = inverse.get("state").ok_or(HaplyFault::Field("state"))?;
        let place = state.get("cursor_position").ok_or(HaplyFault::Field("cursor_position"))?;
        let position = vector(place, "cursor_position")?;
        let grip = message.get("wireless_verse_grip").and_then(|l| l.get(0)).and_then(|g| g.get("state"));
        let orientation = grip.and_then(|g| g.get("orientation")).map(orientation).transpose()?;
        let pressed = |key| grip.and_then(|g| g.get("buttons")?.get(key)?.as_bool()).unwrap_or(false);
        Ok(Self { device: device.into(), position, orientation, buttons: ["a", "b", "c"].map(pressed) })
    }

    /// The message that the service would send.
    pub fn encode(&self) -> String {
        let p = &self.position;
        let mut message = json!({
            "inverse3": [{
                "device_id": self.device,
                "state": {"cursor_position": {"x": p.x, "y": p.y, "z": p.z}}
            }],
            "wireless_verse_grip": []
        });
        if let Some(q) = &self.orientation {
            let [a, b, c] = self.buttons;
            message["wireless_verse_grip"] = json!([{
                "device_id": "grip",
                "state": {
                    "orientation": {"x": q.i, "y": q.j, "z": q.k, "w": q.w},
                    "buttons": {"a": a, "b": b, "c": c}
                }
            }]);
        }
        message.to_string()
    }
}

fn orientation(value: &Value) -> Result<Quat, HaplyFault> {
    let v = vector(value, "orientation")?;
    let q = nalgebra::Quaternion::new(number(value, "w", "orientation")?, v.x, v.y, v.z);
    if (q.norm() - 1.0).abs() > 0.01 { Err(HaplyFault::Field("orientation")) } else { Ok(Quat::from_quaternion(q)) }
}

/// The command that sets the force of a device, N. A force that is not finite becomes zero.
pub fn haply_force(device: &str, force: &Vec3) -> String {
    let sound = if force.iter().all(|x| x.is_finite()) { *force } else { Vec3::zeros() };
    json!({"inverse3": [{
        "device_id": device,
        "commands": {"set_cursor_force": {"values": {"x": sound.x, "y": sound.y, "z": sound.z}}}
    }]})
    .to_string()
}

/// Device and force of a command.
pub fn haply_command(text: &str) -> Result<(String, Vec3), HaplyFault> {
    let message: Value = serde_json::from_str(text).map_err(|e| HaplyFault::Json(e.to_string()))?;
    let inverse = message.get("inverse3").and_then(|l| l.get(0)).ok_or(HaplyFault::NoDevice)?;
    let device = inverse.get("device_id").and_then(Value::as_str).ok_or(HaplyFault::Field("device_id"))?;
    let values = inverse.pointer("/commands/set_cursor_force/values").ok_or(HaplyFault::Field("set_cursor_force"))?;
    Ok((device.into(), vector(values, "set_cursor_force")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = r#"{"inverse3":[{"device_id":"049D","state":{"cursor_position":{"x":0.04,"y":-0.12,"z":0.2}}}],
        "wireless_verse_grip":[{"device_id":"61","state":{"orientation":{"x":0,"y":0.6,"z":0,"w":0.8},"buttons":{"a":false,"b":true,"c":false}}}]}"#;

    #[test]
    fn a_state_is_read() {
        let state = HaplyState::decode(STATE).expect("a state");
        assert_eq!((state.device.as_str(), state.position), ("049D", Vec3::new(0.04, -0.12, 0.2)));
        assert!((state.orientation.expect("a grip").j - 0.6).abs() < 1e-12);
        assert_eq!(state.buttons, [false, true, false]);
        assert_eq!(HaplyState::decode(&state.encode()).expect("ours").position, state.position);
    }

    #[test]
    fn a_force_is_this_text() {
        let text = haply_force("049D", &Vec3::new(1.0, 0.0, -0.5));
        let expected = r#"{"inverse3":[{"commands":{"set_cursor_force":{"values":{"x":1.0,"y":0.0,"z":-0.5}}},"device_id":"049D"}]}"#;
        assert_eq!(text, expected);
        assert_eq!(haply_command(&text), Ok(("049D".into(), Vec3::new(1.0, 0.0, -0.5))));
        assert_eq!(haply_command(&haply_force("x", &Vec3::repeat(f64::NAN))), Ok(("x".into(), Vec3::zeros())));
    }

    #[test]
    fn bad_messages_are_refused() {
        assert!(matches!(HaplyState::decode("{"), Err(HaplyFault::Json(_))));
        assert_eq!(HaplyState::decode("{}"), Err(HaplyFault::NoDevice));
        assert_eq!(HaplyState::decode(r#"{"inverse3":[]}"#), Err(HaplyFault::NoDevice));
        let no_number = r#"{"inverse3":[{"device_id":"a","state":{"cursor_position":{"x":null,"y":0,"z":0}}}]}"#;
        assert_eq!(HaplyState::decode(no_number), Err(HaplyFault::Field("cursor_position")));
        assert!(HaplyState::decode(&"[".repeat(100_000)).is_err());
    }
}
