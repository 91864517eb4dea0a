//! The simulated hands, to other programs by the VMC protocol.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::devices::human::HumanHand;
use crate::protocol::{Encoder, Format, Reading, TrackedObject};
use crate::sim::World;
use crate::tracking::{Segment, Side};

/// The least time between two datagrams of a hand.
const PERIOD: Duration = Duration::from_micros(16_667);

/// Where to send to: an address with a port, or a port of this machine.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = || text.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let parsed = text.parse().ok().or_else(port).filter(|address: &SocketAddr| address.port() != 0);
    parsed.ok_or_else(|| "expected ADDRESS:PORT or a port of this machine, as in 127.0.0.1:39540".into())
}

/// Sends the bones of the simulated hands' fingers, and each palm as a tracker, `left_hand` and `right_hand`: the arm that would lead
/// to the hand is not simulated, and who receives a tracker can bend one to it.
pub struct BonesOut {
    socket: UdpSocket,
    address: SocketAddr,
    last: Option<Instant>,
    /// Place among the hands of the scene, side and bones; of the first hand of each side.
    hands: Vec<(usize, Side, HumanHand)>,
    encoders: [Box<dyn Encoder>; 2],
    datagram: Vec<u8>,
}

impl BonesOut {
    /// Opens a socket for the hands of a world. Nothing is said of whether anybody listens.
    pub fn open(address: SocketAddr, world: &World) -> anyhow::Result<Self> {
        let any: SocketAddr = if address.is_ipv4() {
            (Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
        };
        let socket = UdpSocket::bind(any).with_context(|| format!("no socket could be opened to send to {address}"))?;
        socket.set_nonblocking(true).with_context(|| format!("the socket to {address} would block"))?;
        let encoders = [(); 2].map(|()| Format::Vmc.encoder());
        let mut out = Self { socket, address, last: None, hands: Vec::new(), encoders, datagram: Vec::new() };
        out.move_to(world);
        Ok(out)
    }

    /// Another world is played from now on.
    pub fn move_to(&mut self, world: &World) {
        self.hands.clear();
        for (place, hand) in world.bodies.hands.iter().enumerate() {
            let (side, skeleton) = (hand.model().description.side, &hand.model().skeleton);
            if !self.hands.iter().any(|(_, other, _)| *other == side) {
                self.hands.push((place, side, HumanHand::new(side, skeleton)));
            }
        }
    }

    /// Sends the hands as they are, unless that was done just now.
    pub fn send(&mut self, world: &World) {
        if self.last.is_some_and(|last| last.elapsed() < PERIOD) {
            return;
        }
        self.last = Some(Instant::now());
        for (place, side, human) in &self.hands {
            let Some(hand) = world.bodies.hands.get(*place) else { continue };
            let state = hand.skeleton.state();
            let encoder = &mut self.encoders[*side as usize];
            for (bone, pose) in human.bones(&state.palm, &state.angles) {
                if bone.hand().is_some_and(|(_, segment)| segment != Segment::PALM) {
                    encoder.set(&Reading::Bone { bone, pose });
                }
            }
            let (object, serial) = (TrackedObject::Tracker, format!("{}_hand", side.name()));
            encoder.set(&Reading::Tracked { object, serial, pose: state.palm });
            self.datagram.clear();
            encoder.packet(&mut self.datagram);
            // Nobody listening, or a full buffer: the next one is newer.
            let _ = self.socket.send_to(&self.datagram, self.address);
        }
    }
}
