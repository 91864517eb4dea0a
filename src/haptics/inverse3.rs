use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use tungstenite::{Message, WebSocket};

use super::coupling::limited;
use crate::math::Vec3;
use crate::protocol::{HaplyState, haply_command, haply_force};

/// Why there is no Inverse3.
#[derive(Debug, thiserror::Error)]
pub enum Inverse3Error {
    /// The service does not answer.
    #[error("the Haply service at {0} does not answer; start it and try again")]
    NoService(String),
    /// The service closed the connection.
    #[error("the Haply service closed the connection")]
    Closed,
    /// The connection failed.
    #[error("the connection to the Haply service failed: {0}")]
    Socket(String),
}

/// How long a read waits, so that a loop notices a silent service.
const READ_TIMEOUT: Duration = Duration::from_millis(5);

/// A client of the local service of the Haply Inverse3: one state in, one force out.
pub struct Inverse3Client {
    socket: WebSocket<TcpStream>,
    force_limit: f64,
    bad: u64,
}

impl Inverse3Client {
    /// Connects to a service, such as `127.0.0.1:10001`. Forces are cut to `force_limit` newtons.
    pub fn connect(address: &str, force_limit: f64) -> Result<Self, Inverse3Error> {
        let no_service = |_| Inverse3Error::NoService(address.into());
        let stream = TcpStream::connect(address).map_err(no_service)?;
        stream.set_nodelay(true).map_err(no_service)?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).map_err(no_service)?;
        let (socket, _) = tungstenite::client(format!("ws://{address}/"), stream)
            .map_err(|e| Inverse3Error::Socket(e.to_string()))?;
        socket.get_ref().set_read_timeout(Some(READ_TIMEOUT)).map_err(no_service)?;
        Ok(Self { socket, force_limit, bad: 0 })
    }

    /// The next state; `None` if none comes within 5 ms, or the message has none.
    pub fn receive(&mut self) -> Result<Option<HaplyState>, Inverse3Error> {
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let state = HaplyState::decode(text.as_str()).ok();
                self.bad += u64::from(state.is_none());
                Ok(state)
            }
            Ok(Message::Close(_)) => Err(Inverse3Error::Closed),
            Ok(_) => Ok(None),
            Err(e) => quiet(e).map(|()| None),
        }
    }

    /// Sends a force, N.
    pub fn send(&mut self, device: &str, force: &Vec3) -> Result<(), Inverse3Error> {
        let text = haply_force(device, &limited(force, self.force_limit));
        self.socket.send(Message::text(text)).or_else(quiet)
    }

    /// Messages without a state.
    pub fn bad_messages(&self) -> u64 {
        self.bad
    }
}

/// A timeout without data is not an error.
fn quiet(error: tungstenite::Error) -> Result<(), Inverse3Error> {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    match error {
        tungstenite::Error::Io(e) if matches!(e.kind(), WouldBlock | TimedOut) => Ok(()),
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => Err(Inverse3Error::Closed),
        tungstenite::Error::Io(_) | tungstenite::Error::Protocol(_) => Err(Inverse3Error::Closed),
        other => Err(Inverse3Error::Socket(other.to_string())),
    }
}

/// An emulated service, for tests and for clients of others: sends states, receives forces.
pub struct EmulatedInverse3 {
    socket: WebSocket<TcpStream>,
}

impl EmulatedInverse3 {
    /// Waits for a client.
    pub fn accept(listener: &TcpListener) -> Result<Self, Inverse3Error> {
        let failed = |e: String| Inverse3Error::Socket(e);
        let (stream, _) = listener.accept().map_err(|e| failed(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| failed(e.to_string()))?;
        let socket = tungstenite::accept(stream).map_err(|e| failed(e.to_string()))?;
        Ok(Self { socket })
    }

    /// Sends a state and waits for the force that answers it.
    pub fn exchange(&mut self, state: &HaplyState) -> Result<Option<Vec3>, Inverse3Error> {
        self.socket.send(Message::text(state.encode())).or_else(quiet)?;
        match self.socket.read() {
            Ok(Message::Text(text)) => Ok(haply_command(text.as_str()).ok().map(|(_, force)| force)),
            Ok(Message::Close(_)) => Err(Inverse3Error::Closed),
            Ok(_) => Ok(None),
            Err(e) => quiet(e).map(|()| None),
        }
    }

    /// Sends any text.
    pub fn send_text(&mut self, text: &str) -> Result<(), Inverse3Error> {
        self.socket.send(Message::text(text)).or_else(quiet)
    }
}
