//! A device of your own in one file: a thread that sends joint angles and receives contact forces.
//!
//! Replace the cosine by what your hardware measures. Angles that are `None` stay as they are.

use std::path::Path;
use std::time::{Duration, Instant};

use fingerpad::assets::{DeviceProfile, Parts};
use fingerpad::devices::{SourceHandle, SourceRequest, SourceSample, SourceState};
use fingerpad::runtime::{DeviceSet, Session, driven_by};
use fingerpad::tracking::{ANGLES, Side};

/// Starts the device; `epoch` is time zero of its samples.
fn start(epoch: Instant) -> std::io::Result<SourceHandle> {
    SourceHandle::start("squeeze", move |feed| {
        feed.set_state(SourceState::Connected);
        let mut next = Instant::now();
        let mut strongest = 0.0_f64;
        loop {
            let time = epoch.elapsed().as_secs_f64();
            let bend = 0.4 - 0.4 * (2.0 * time).cos();
            feed.send(SourceSample { angles: [Some(bend); ANGLES], ..SourceSample::new(time, Side::Right) });
            next += Duration::from_millis(10);
            // Wait for the next sample; meanwhile the simulation sends forces.
            loop {
                match feed.wait_until(next) {
                    SourceRequest::None => break,
                    SourceRequest::Feel(touch) => strongest = touch.fingers.into_iter().fold(strongest, f64::max),
                    SourceRequest::Vibrate(_) => {}
                    SourceRequest::Stop => return println!("strongest force on a finger: {strongest:.2} N"),
                }
            }
        }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // It gives the fingers of the right hand; the palm follows the motion of the scene.
    let gives = Parts { fingers: true, ..Parts::default() };
    let profile = DeviceProfile::custom("squeeze", Some(Side::Right), gives);
    let driven = driven_by(std::slice::from_ref(&profile));
    let mut session = Session::load_with_devices(Path::new("ball"), &[], driven)?;
    let mut devices = DeviceSet::empty(&session.scene().world);
    devices.add(&profile, start(devices.epoch())?);
    devices.wait(Duration::from_secs(5), |_| true)?;
    session.attach_devices(devices);
    for _ in 0..100 {
        session.step()?;
        std::thread::sleep(Duration::from_millis(10));
    }
    let angle = session.scene().world.bodies.hand(0).skeleton.tracked.angles()[4];
    println!("after {} steps the index finger is tracked at {:.1} degrees", session.steps(), angle.to_degrees());
    Ok(())
}
