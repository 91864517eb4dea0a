//! Sends the simulated hands to other programs by the VMC protocol.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::error::Error;
use super::session::Sink;
use crate::devices::human::HumanHand;
use crate::protocol::{Encoder, Format, Reading, TrackedObject};
use crate::sim::World;
use crate::tracking::{Segment, Side};

/// Least time between two datagrams of a hand.
const DATAGRAM_PERIOD: Duration = Duration::from_micros(16_667);

/// Sends the finger bones of the simulated hands, and each palm as a tracker, `left_hand` and `right_hand`. The arm is not
/// simulated; a receiver can solve for it from the tracker.
pub struct VmcSender {
    socket: UdpSocket,
    address: SocketAddr,
    last: Option<Instant>,
    /// Index of a hand, its side and its bones; the first hand of each side.
    hands: Vec<(usize, Side, HumanHand)>,
    encoders: [Box<dyn Encoder>; 2],
    datagram: Vec<u8>,
}

impl VmcSender {
    /// Opens a socket for the hands of a world. UDP does not tell whether anybody listens.
    pub fn open(address: SocketAddr, world: &World) -> Result<Self, Error> {
        let any: SocketAddr = if address.is_ipv4() {
            (Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
        };
        let failed = |error| Error::Socket { address, error };
        let socket = UdpSocket::bind(any).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let encoders = [(); 2].map(|()| Format::Vmc.encoder());
        let mut out = Self { socket, address, last: None, hands: Vec::new(), encoders, datagram: Vec::new() };
        out.rebind(world);
        Ok(out)
    }
}

impl Sink for VmcSender {
    fn rebind(&mut self, world: &World) {
        self.hands.clear();
        for (place, hand) in world.bodies.hands().enumerate() {
            let (side, skeleton) = (hand.model().description.side, &hand.model().skeleton);
            if !self.hands.iter().any(|(_, other, _)| *other == side) {
                self.hands.push((place, side, HumanHand::new(side, skeleton)));
            }
        }
    }

    fn after_step(&mut self, world: &World) {
        if self.last.is_some_and(|last| last.elapsed() < DATAGRAM_PERIOD) {
            return;
        }
        self.last = Some(Instant::now());
        for (place, side, human) in &self.hands {
            let Some(hand) = world.bodies.hands().nth(*place) else { continue };
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
            // Without a listener or with a full buffer the datagram is lost; the next one is newer.
            let _ = self.socket.send_to(&self.datagram, self.address);
        }
    }
}
