use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use super::coupling::Wrench;
use super::guard::DeviceSample;
use crate::protocol::{BridgePose, BridgeWrench};

/// Why the bridge does not work.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The address cannot be used.
    #[error("the haptic bridge cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// The program's end of the haptic bridge: receives poses on a UDP port, answers with wrenches. It never waits.
#[derive(Debug)]
pub struct BridgeServer {
    socket: UdpSocket,
    /// The client, and the sequence number and time of its newest pose.
    client: Option<(SocketAddr, u64, u64)>,
    buttons: u32,
    sent: u64,
    refused: u64,
}

impl BridgeServer {
    /// Listens on an address, such as `127.0.0.1:10020`.
    pub fn bind(address: &str) -> Result<Self, BridgeError> {
        let failed = |source| BridgeError::Bind { address: address.into(), source };
        let socket = UdpSocket::bind(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self { socket, client: None, buttons: 0, sent: 0, refused: 0 })
    }

    /// The address that it listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// The newest pose that has come since the last call. Older ones, repeated ones and bad datagrams are dropped. The first client keeps the bridge;
    /// another one takes it over with a sequence number of zero.
    pub fn receive(&mut self) -> Option<DeviceSample> {
        let mut newest = None;
        let mut buffer = [0; 256];
        // A flood must not hold the loop up.
        for _ in 0..64 {
            let (length, from) = match self.socket.recv_from(&mut buffer) {
                Ok(got) => got,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                // On some systems the answer to a vanished client is reported here.
                Err(_) => continue,
            };
            let Ok(pose) = BridgePose::decode(&buffer[..length]) else {
                self.refused += 1;
                continue;
            };
            let known = match self.client {
                Some((address, sequence, _)) => (address == from && pose.sequence > sequence) || pose.sequence == 0,
                None => true,
            };
            if !known {
                self.refused += 1;
                continue;
            }
            self.client = Some((from, pose.sequence, pose.time));
            self.buttons = pose.buttons;
            newest = Some(DeviceSample { time: pose.time as f64 * 1e-9, pose: pose.pose });
        }
        newest
    }

    /// Sends a wrench to the client. One that is not finite is sent as zero.
    pub fn send(&mut self, wrench: &Wrench) {
        let Some((address, answers, time)) = self.client else { return };
        let Wrench { force, torque } = if wrench.is_finite() { *wrench } else { Wrench::default() };
        self.sent += 1;
        let bytes = BridgeWrench { sequence: self.sent, time, force, torque, answers }.encode();
        // A lost client is detected by its silence.
        let _ = self.socket.send_to(&bytes, address);
    }

    /// Buttons of the newest pose.
    pub fn buttons(&self) -> u32 {
        self.buttons
    }

    /// Datagrams that were dropped.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}
