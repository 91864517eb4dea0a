//! Force-feedback devices for the haptic loop of a session.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::elastic_thread::ElasticThread;
use super::error::Error;
use super::haptic_thread::{HapticLink, HapticThread};
use crate::assets::Scene;
use crate::haptics::{BridgeServer, DeviceMap, DeviceSample, Inverse3Client, Reader, Wrench, Writer, latest};
use crate::math::{Pose, Quat};
use crate::sim::two_rate::{AnyLockstep, LiveLoop};

/// A force the loop has not confirmed for this long is replaced by zero, s.
const STALE: f64 = 0.01;

/// Force limit of an Inverse3, N. The coupling of the scene has its own.
const INVERSE3_FORCE: f64 = 8.0;

/// Time between two attempts to reach a service that went away.
const RETRY: Duration = Duration::from_millis(250);

/// A force-feedback device by name: `bridge` or `inverse3`, optionally with `@ADDRESS:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HapticPort {
    /// Any device, through the UDP bridge that listens on this address (`docs/haptic_bridge.md`).
    Bridge(String),
    /// A Haply Inverse3, through its local service at this address.
    Inverse3(String),
}

/// A name that is not one of a force-feedback device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no force-feedback device; expected `bridge` or `inverse3`")]
pub struct UnknownHapticPort(pub String);

impl FromStr for HapticPort {
    type Err = UnknownHapticPort;

    fn from_str(text: &str) -> Result<Self, UnknownHapticPort> {
        let (kind, address) = text.split_once('@').map_or((text, None), |(kind, address)| (kind, Some(address)));
        // A number is a port of this machine.
        let address = |default: &str| match address {
            None => default.to_string(),
            Some(port) if port.parse::<u16>().is_ok() => format!("127.0.0.1:{port}"),
            Some(address) => address.to_string(),
        };
        match kind {
            "bridge" => Ok(Self::Bridge(address("127.0.0.1:10020"))),
            "inverse3" => Ok(Self::Inverse3(address("127.0.0.1:10001"))),
            _ => Err(UnknownHapticPort(kind.into())),
        }
    }
}

impl std::fmt::Display for HapticPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bridge(address) => write!(f, "haptic bridge on {address}"),
            Self::Inverse3(address) => write!(f, "Inverse3 at {address}"),
        }
    }
}

impl HapticPort {
    /// Opens the link to the device.
    pub fn open(&self) -> Result<Box<dyn HapticLink>, Error> {
        let failed = |message: String| Error::Haptic { name: self.to_string(), message };
        match self {
            Self::Bridge(address) => match BridgeServer::bind(address) {
                Ok(server) => Ok(Box::new(server)),
                Err(error) => Err(failed(error.to_string())),
            },
            Self::Inverse3(address) => Ok(Box::new(Inverse3Link::open(address)?)),
        }
    }

    /// Starts the loop of a scene's `[haptic]` section with this device, if it is not running.
    pub fn couple(&self, scene: &mut Scene) -> Result<(), Error> {
        let missing = |message: &str| Error::Haptic { name: self.to_string(), message: message.into() };
        let Some(haptic) = &mut scene.haptic else {
            return Err(missing("the scene has no `[haptic]` section, which names the tool of the device"));
        };
        if haptic.is_live() {
            return Ok(());
        }
        let mapped = |pose: Pose| -> Result<Mapped, Error> {
            Ok(Mapped { link: self.open()?, map: DeviceMap::new(haptic.frame, pose) })
        };
        let options = match &haptic.lockstep {
            AnyLockstep::Body(lockstep) => lockstep.coupled().2,
            AnyLockstep::ElasticTool(lockstep) => lockstep.coupled().1,
        };
        if options.admittance.is_some() {
            return Err(missing(
                "it measures no force; admittance control needs that of the hand, so use `control = \"impedance\"`",
            ));
        }
        let live: Option<Box<dyn LiveLoop>> = match &haptic.lockstep {
            AnyLockstep::Body(lockstep) => {
                let (tool, frame, _) = lockstep.coupled();
                let link = mapped(lockstep.tool().frame().0)?;
                HapticThread::start(&mut scene.world, tool, frame, options, link)?.map(|thread| Box::new(thread) as _)
            }
            AnyLockstep::ElasticTool(lockstep) => {
                let (body, _) = lockstep.coupled();
                let link = mapped(lockstep.device().pose())?;
                ElasticThread::start(&mut scene.world, body, options, link)?.map(|thread| Box::new(thread) as _)
            }
        };
        haptic.set_live(Some(live.ok_or_else(|| missing("the tool is gone"))?));
        Ok(())
    }
}

/// A link whose samples and wrenches are mapped between device and scene.
struct Mapped {
    link: Box<dyn HapticLink>,
    map: DeviceMap,
}

impl HapticLink for Mapped {
    fn receive(&mut self, now: f64) -> Option<DeviceSample> {
        let sample = self.link.receive(now)?;
        Some(self.map.to_scene(&sample))
    }

    fn send(&mut self, wrench: &Wrench) {
        self.link.send(&self.map.to_device(wrench));
    }
}

/// An Inverse3 whose socket is read in a thread of its own, since a read waits. A service that goes away is tried again; meanwhile nothing new
/// comes, so the loop sets its force to zero.
struct Inverse3Link {
    samples: Reader<Option<DeviceSample>>,
    wrenches: Writer<(f64, Wrench)>,
    clock: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Inverse3Link {
    fn open(address: &str) -> Result<Self, Error> {
        let failed = |e: crate::haptics::Inverse3Error| Error::Haptic {
            name: format!("Inverse3 at {address}"),
            message: e.to_string(),
        };
        let client = Inverse3Client::connect(address, INVERSE3_FORCE).map_err(failed)?;
        let (sampler, samples) = latest(&None);
        let (wrenches, commands) = latest(&(0.0, Wrench::default()));
        let (stop, clock) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let (asked, address) = (Arc::clone(&stop), address.to_string());
        let thread = std::thread::Builder::new()
            .name("inverse3".into())
            .spawn(move || exchange(client, &address, sampler, commands, clock, &asked))
            .map_err(|error| Error::Thread { name: "the Inverse3".into(), error })?;
        Ok(Self { samples, wrenches, clock, stop, thread: Some(thread) })
    }
}

impl HapticLink for Inverse3Link {
    fn receive(&mut self, _now: f64) -> Option<DeviceSample> {
        self.samples.read_new().copied().flatten()
    }

    fn send(&mut self, wrench: &Wrench) {
        self.wrenches.write((self.clock.elapsed().as_secs_f64(), *wrench));
    }
}

impl Drop for Inverse3Link {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers every state of the service with the newest force, until asked to stop; the last force is zero.
fn exchange(
    mut client: Inverse3Client,
    address: &str,
    mut samples: Writer<Option<DeviceSample>>,
    mut wrenches: Reader<(f64, Wrench)>,
    clock: Instant,
    stop: &AtomicBool,
) {
    let mut device = None;
    while !stop.load(Ordering::Acquire) {
        let answered = match client.receive() {
            Ok(None) => continue,
            Ok(Some(state)) => {
                let now = clock.elapsed().as_secs_f64();
                // Without a grip there is no orientation; the tool then keeps its own.
                let rotation = state.orientation.unwrap_or_else(Quat::identity);
                samples
                    .write(Some(DeviceSample { time: now, pose: Pose::from_parts(state.position.into(), rotation) }));
                let (at, wrench) = *wrenches.read();
                let wrench = if now - at > STALE { Wrench::default() } else { wrench };
                let answered = client.send(&state.device, &wrench.force);
                device = Some(state.device);
                answered
            }
            Err(error) => Err(error),
        };
        if answered.is_err() {
            std::thread::sleep(RETRY);
            if let Ok(again) = Inverse3Client::connect(address, INVERSE3_FORCE) {
                client = again;
            }
        }
    }
    if let Some(device) = device {
        let _ = client.send(&device, &Wrench::default().force);
    }
}
