//! Moves the head and the hands of Monado's remote driver, through its socket on the loopback interface.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fingerpad::math::{Pose, Vec3};
use fingerpad::tracking::Side;

/// Port of the remote driver.
const PORT: u16 = 4242;
/// Bytes of a message (`struct r_remote_data` of Monado 25).
const LENGTH: usize = 376;

/// A hand with its controller.
#[derive(Clone, Copy)]
pub struct Hand {
    /// Grip pose in the room.
    pub grip: Pose,
    /// Curl of little, ring, middle, index finger and thumb, 0 to 1.
    pub curl: [f32; 5],
    /// Whether the hand is tracked.
    pub is_tracked: bool,
    /// Whether it holds a controller although it is not tracked.
    pub holds_controller: bool,
    /// Trigger and grip, 0 to 1.
    pub trigger: f32,
    pub squeeze: f32,
    /// Whether the menu button is pressed.
    pub button: bool,
}

/// The connection to the driver, and what it is told.
pub struct Remote {
    socket: TcpStream,
    pub head: Pose,
    pub hands: [Hand; 2],
}

impl Remote {
    /// Connects to the service that is starting.
    pub fn connect() -> Self {
        let hand = |x: f64| Hand {
            grip: Pose::translation(x, 1.3, -0.4),
            curl: [0.0; 5],
            is_tracked: true,
            holds_controller: false,
            trigger: 0.0,
            squeeze: 0.0,
            button: false,
        };
        let start = Instant::now();
        let mut socket = loop {
            match TcpStream::connect(("127.0.0.1", PORT)) {
                Ok(socket) => break socket,
                Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "the remote driver: {error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        // It sends its initial and its latest state.
        let mut state = [0; 2 * LENGTH];
        socket.read_exact(&mut state).expect("the state of the driver");
        let mut remote = Self { socket, head: Pose::translation(0.0, 1.6, 0.0), hands: [hand(-0.4), hand(0.4)] };
        remote.send();
        remote
    }

    /// Sends everything.
    pub fn send(&mut self) {
        let mut message = b"mndrmt3\0".to_vec();
        for _ in 0..2 {
            // No own views: field of view, pose and display of each eye.
            put(&mut message, &[0.0; 4]);
            put(&mut message, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
            message.extend(0_u32.to_le_bytes());
        }
        put_pose(&mut message, &self.head);
        message.extend([0; 4]);
        for hand in &self.hands {
            put_pose(&mut message, &hand.grip);
            // Velocities.
            put(&mut message, &[0.0; 6]);
            put(&mut message, &hand.curl);
            // Trigger, squeeze and its force; stick; track pad.
            put(&mut message, &[hand.trigger, hand.squeeze, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            let mut flags = [0_u8; 16];
            (flags[0], flags[1]) = (hand.is_tracked.into(), (hand.is_tracked || hand.holds_controller).into());
            // The b button.
            flags[6] = hand.button.into();
            message.extend(flags);
        }
        assert_eq!(message.len(), LENGTH);
        self.socket.write_all(&message).expect("the driver listens");
    }

    pub fn hand(&mut self, side: Side) -> &mut Hand {
        &mut self.hands[side as usize]
    }
}

fn put(message: &mut Vec<u8>, numbers: &[f32]) {
    message.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
}

/// Orientation x, y, z, w, then position.
fn put_pose(message: &mut Vec<u8>, pose: &Pose) {
    let (q, p): (_, Vec3) = (pose.rotation.coords, pose.translation.vector);
    put(message, &[q.x, q.y, q.z, q.w, p.x, p.y, p.z].map(|x| x as f32));
}
