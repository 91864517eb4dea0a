use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use kiss3d::context::Context;

use super::clock::{FrameClock, FrameStage};
use super::depth::DepthImages;
use super::geometry::{fov, pose};
use super::menu::Wish;
use super::mirror::Mirror;
use super::overlay::{Overlay, Seeing};
use super::pictures::{self, Pictures};
use super::sampler::Sampler;
use super::session::{GraphicsSession, STEREO};
use super::{DrawnFrame, EyeView, HandOutput, HeadsetError, HeadsetOptions, HeadsetSummary, Placement, TrackedInput};
use crate::math::{Pose, Vec3};
use crate::tracking::Side;
use crate::viewer::window::{Command, Report, WindowLink};
use crate::viewer::{Layers, Stage, adapter};

/// Rest between looks at the events while there are no frames to make.
const IDLE: Duration = Duration::from_millis(10);

/// Draws until the session ends.
pub async fn run(
    mut session: GraphicsSession,
    link: &WindowLink,
    mut options: HeadsetOptions<'_>,
) -> Result<HeadsetSummary, HeadsetError> {
    // Before kiss3d's objects: it panics when they are dropped without having drawn.
    let depths = DepthImages::new(&session)?;
    let mirror = options.mirror.then(|| Mirror::open(&session.graphics, session.size)).transpose()?;
    let g = &session.graphics;
    let in_software = g.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    let fault = adapter::watch(&g.device);
    let (instance, device, queue) = (g.instance.clone(), g.device.clone(), g.queue.clone());
    Context::init(instance, device, queue, g.adapter.clone(), wgpu::TextureFormat::Rgba8Unorm);
    let pictures = Pictures::new(session.size, in_software).await;
    let overlay = Overlay::new(&session)?;
    let sampler = Sampler::start(&session, options.inputs.clone())?;
    let mut theatre = Theatre {
        link,
        sampler,
        pictures,
        overlay,
        depths,
        mirror,
        wants_to_quit: false,
        placement: None,
        anchor: Vec3::zeros(),
        report: None,
        held: false,
        advice: None,
        started: Instant::now(),
        layers: Layers::default(),
        inputs: [None, None],
        clock: FrameClock::new(),
        summary: HeadsetSummary::default(),
    };
    theatre.hold(true);
    let start = Instant::now();
    let ended = theatre.play(&mut session, &mut options).await;
    let mut summary = theatre.summary;
    summary.samples = theatre.sampler.cost();
    summary.costs = theatre.clock.costs();
    summary.mirrored = theatre.mirror.as_ref().map_or(0, |mirror| mirror.pictures);
    summary.seconds = start.elapsed().as_secs_f64();
    summary.placement = theatre.placement.unwrap_or_default();
    (summary.runtime, summary.headset) = (session.runtime.clone(), session.headset.clone());
    (summary.space, summary.size) = (session.space_name, session.size);
    // kiss3d's objects are dropped while the device exists.
    drop((theatre.sampler, theatre.pictures, theatre.overlay, theatre.depths, theatre.mirror));
    if let Some(message) = fault.lock().ok().and_then(|fault| fault.clone()) {
        return Err(HeadsetError::Drawing(message));
    }
    match ended {
        Ok(()) => Ok(summary),
        Err(error) if error.is_loss() => Ok(HeadsetSummary { lost: Some(error), ..summary }),
        Err(error) => Err(error),
    }
}

struct Theatre<'l> {
    link: &'l WindowLink,
    sampler: Sampler,
    pictures: Pictures,
    overlay: Overlay,
    /// `None` if the runtime takes no depth.
    depths: Option<DepthImages>,
    mirror: Option<Mirror>,
    /// Whether the user chose to quit.
    wants_to_quit: bool,
    /// `None` until the head is located, and after a request to recentre.
    placement: Option<Placement>,
    /// The point of the scene that was placed.
    anchor: Vec3,
    report: Option<Box<Report>>,
    /// Whether the simulation is paused from here.
    held: bool,
    /// What the user should do.
    advice: Option<Arc<str>>,
    started: Instant,
    layers: Layers,
    /// What was tracked for this frame, left and right.
    inputs: [Option<TrackedInput>; 2],
    clock: FrameClock,
    summary: HeadsetSummary,
}

impl Theatre<'_> {
    async fn play(
        &mut self,
        session: &mut GraphicsSession,
        options: &mut HeadsetOptions<'_>,
    ) -> Result<(), HeadsetError> {
        let mut asked_to_exit = false;
        loop {
            let news = session.follow_events()?;
            if news.exits {
                return Ok(());
            }
            if news.recentres {
                self.placement = None;
            }
            let has_all = options.frames.is_some_and(|most| self.summary.frames >= most);
            let is_done = has_all || self.wants_to_quit || (options.is_over)();
            if is_done && !asked_to_exit {
                asked_to_exit = true;
                if !session.life.is_running {
                    return Ok(());
                }
                session.session.request_exit().map_err(HeadsetError::of("xrRequestExitSession"))?;
            }
            self.hold(!session.life.is_focused || is_done);
            if session.life.is_running {
                self.frame(session, options).await?;
            } else {
                self.sampler.set_placement(None);
                std::thread::sleep(IDLE);
            }
        }
    }

    /// Pauses the simulation, or lets it go on.
    fn hold(&mut self, held: bool) {
        if held != self.held {
            self.held = held;
            self.link.send(Command::Hold(held));
        }
    }

    /// One frame: wait, begin, locate at the predicted time, draw, end.
    async fn frame(
        &mut self,
        session: &mut GraphicsSession,
        options: &mut HeadsetOptions<'_>,
    ) -> Result<(), HeadsetError> {
        self.clock.start();
        let state = session.waiter.wait().map_err(HeadsetError::of("xrWaitFrame"))?;
        self.clock.lap(FrameStage::Wait);
        session.frames.begin().map_err(HeadsetError::of("xrBeginFrame"))?;
        let time = state.predicted_display_time;
        self.sampler.begin_frame(time);
        self.take_report();
        let eyes = if state.should_render { self.locate(session, time)? } else { None };
        self.clock.lap(FrameStage::Locate);
        self.sampler.set_placement(self.placement.filter(|_| session.life.is_focused));
        if session.life.is_focused {
            self.track(session, &options.outputs)?;
        }
        self.clock.lap(FrameStage::Hands);
        // As new as possible.
        self.take_report();
        let Some((room, eyes)) = eyes.filter(|_| self.report.as_ref().is_some_and(|r| r.stage.is_some())) else {
            return session.frames.end(time, session.blend, &[]).map_err(HeadsetError::of("xrEndFrame"));
        };
        self.link.draws(true);
        let drawn = self.draw(session, &eyes, options.keeps_pictures).await;
        self.clock.start();
        let chosen = drawn.and_then(|()| self.menu(session, &eyes, time));
        self.link.draws(false);
        chosen?;
        self.clock.lap(FrameStage::Menu);
        self.show(session, time, &room, &head(&eyes))?;
        self.clock.lap(FrameStage::Submit);
        self.mirror(session);
        self.clock.lap(FrameStage::Mirror);
        self.clock.frame();
        self.summary.frames += 1;
        if let Ok(eyes) = <[EyeView; 2]>::try_from(eyes.as_slice()) {
            self.link.send(Command::Eyes(Box::new(eyes)));
        }
        self.summary.eyes = eyes;
        if let (Some(watch), Some(report), Some(placement)) = (&mut options.watch, &self.report, &self.placement) {
            let (number, eyes, inputs) = (self.summary.frames, &self.summary.eyes, &self.inputs);
            watch(&DrawnFrame { number, report, eyes, placement, inputs, menu: self.overlay.open_menu() });
        }
        Ok(())
    }

    /// Takes the newest report, if there is one.
    fn take_report(&mut self) {
        if let Some(report) = self.link.reports.take() {
            self.report.replace(report).into_iter().for_each(|used| self.link.reports.give_back(used));
        }
    }

    /// The eyes in the reference space and in the world; `None` while the head is lost.
    fn locate(&mut self, session: &GraphicsSession, time: openxr::Time) -> Result<Option<Eyes>, HeadsetError> {
        let located = session.session.locate_views(STEREO, time, &session.space);
        let (flags, views) = located.map_err(HeadsetError::of("xrLocateViews"))?;
        let valid = openxr::ViewStateFlags::POSITION_VALID | openxr::ViewStateFlags::ORIENTATION_VALID;
        if !flags.contains(valid) || views.len() != 2 {
            return Ok(None);
        }
        if self.placement.is_none() {
            let placed = self.place(session, time)?;
            self.anchor = placed.map_or(self.anchor, |(_, anchor)| anchor);
            self.placement = placed.map(|(placement, _)| placement);
        }
        let Some(placement) = self.placement else { return Ok(None) };
        let eye = |view: &openxr::View| {
            let own = EyeView { pose: placement.pose(&pose(&view.pose)?), fov: fov(&view.fov) };
            own.fov.is_sound().then_some(own)
        };
        let eyes: Option<Vec<EyeView>> = views.iter().map(eye).collect();
        Ok(eyes.map(|eyes| (views, eyes)))
    }

    /// Places the hands of the scene in front of the head; `None` before there is a scene or a head.
    fn place(&self, session: &GraphicsSession, time: openxr::Time) -> Result<Option<(Placement, Vec3)>, HeadsetError> {
        let Some((report, stage)) = self.report.as_ref().and_then(|r| r.stage.as_ref().map(|s| (r, s))) else {
            return Ok(None);
        };
        let head = session.head.locate(&session.space, time).map_err(HeadsetError::of("xrLocateSpace"))?;
        let anchor = anchor(report, stage);
        let from_floor = session.space_name == "stage";
        Ok(pose(&head.pose).map(|head| (Placement::before(&head, &anchor, from_floor), anchor)))
    }

    /// Takes what was tracked, and sends vibrations.
    fn track(&mut self, session: &GraphicsSession, outputs: &Receiver<HandOutput>) -> Result<(), HeadsetError> {
        self.inputs = self.sampler.inputs()?;
        for input in self.inputs.iter().flatten() {
            if let Some(joints) = &input.joints {
                self.summary.hands[input.side as usize] = Some((joints.source, joints.confidence));
            }
        }
        for output in outputs.try_iter() {
            match output {
                HandOutput::Advice(text) => self.advice = Some(text).filter(|text| !text.is_empty()),
                output => feel(session, &output)?,
            }
        }
        Ok(())
    }

    /// Follows the menu, and does what was chosen.
    fn menu(&mut self, session: &GraphicsSession, eyes: &[EyeView], time: openxr::Time) -> Result<(), HeadsetError> {
        let (Some(report), Some(placement)) = (&self.report, &self.placement) else { return Ok(()) };
        let Some(stage) = &report.stage else { return Ok(()) };
        let (mut aims, mut button) = ([None, None], false);
        if let Some(actions) = session.actions.as_ref().filter(|_| session.life.is_focused) {
            for side in [Side::Left, Side::Right] {
                let ray = actions.ray(&session.session, side, &session.space, time, placement);
                aims[side as usize] = ray.map_err(HeadsetError::of("xrLocateSpace"))?;
            }
            button = self.sampler.takes_menu_press();
        }
        let seeing = Seeing {
            time: self.started.elapsed().as_secs_f64(),
            head: head(eyes),
            report,
            stage,
            layers: &self.layers,
            inputs: &self.inputs,
            aims,
            button,
            cost: self.clock.recent(),
            advice: self.advice.as_deref(),
        };
        let wishes = self.overlay.follow(session, &seeing)?;
        wishes.into_iter().for_each(|wish| self.grant(wish));
        Ok(())
    }

    /// Does what was chosen in the menu or in the mirror window.
    fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::Send(command) => self.link.send(command),
            Wish::Switch(number) => {
                if let Some((_, switch)) = Layers::SWITCHES.get(number) {
                    let layer = switch(&mut self.layers);
                    *layer = !*layer;
                }
            }
            Wish::Recentre => self.placement = None,
            Wish::Quit => self.wants_to_quit = true,
            Wish::Close => {}
        }
    }

    /// Shows the drawn eye on the desktop.
    fn mirror(&mut self, session: &GraphicsSession) {
        let Some(mirror) = &mut self.mirror else { return };
        let wishes = mirror.follow(&session.graphics, &self.pictures.view(), self.clock.recent());
        wishes.into_iter().for_each(|wish| self.grant(wish));
    }

    /// Submits the drawn image, with the menu and the sign over it.
    fn show(
        &self,
        session: &mut GraphicsSession,
        time: openxr::Time,
        views: &[openxr::View],
        head: &Pose,
    ) -> Result<(), HeadsetError> {
        let extent = openxr::Extent2Di { width: session.size.0 as i32, height: session.size.1 as i32 };
        let rect = openxr::Rect2Di { offset: openxr::Offset2Di::default(), extent };
        let view = |layer: usize| {
            let part = openxr::SwapchainSubImage::new()
                .swapchain(&session.swapchain)
                .image_array_index(layer as u32)
                .image_rect(rect);
            openxr::CompositionLayerProjectionView::new().pose(views[layer].pose).fov(views[layer].fov).sub_image(part)
        };
        let depths = self.depths.as_ref().map(|depths| [depths.info(0), depths.info(1)]);
        let with_depth = |eye: usize| {
            let mut raw = view(eye).into_raw();
            raw.next = depths.as_ref().map_or(std::ptr::null(), |infos| (&raw const infos[eye]).cast());
            // SAFETY: the image and the depth outlive the call that ends the frame.
            unsafe { openxr::CompositionLayerProjectionView::from_raw(raw) }
        };
        let views = [with_depth(0), with_depth(1)];
        let projection = openxr::CompositionLayerProjection::new().space(&session.space).views(&views);
        let overlay = &self.overlay;
        let panels = self.placement.map(|placement| overlay.layers(&session.space, &placement, &self.anchor, head));
        let panels = panels.unwrap_or_default();
        let mut layers: Vec<&openxr::CompositionLayerBase<'_, openxr::Vulkan>> = vec![&projection];
        layers.extend(panels.iter().map(|panel| &**panel));
        session.frames.end(time, session.blend, &layers).map_err(HeadsetError::of("xrEndFrame"))
    }

    /// Draws both eyes into an image of the runtime.
    async fn draw(&mut self, session: &mut GraphicsSession, eyes: &[EyeView], keep: bool) -> Result<(), HeadsetError> {
        let Some((report, stage)) = self.report.as_ref().and_then(|r| r.stage.as_ref().map(|s| (r, s))) else {
            return Ok(());
        };
        self.clock.start();
        let between = EyeView { pose: head(eyes), ..eyes[0] };
        let figure = self.pictures.figure(stage, report.generation, &report.frame, &self.layers, &between);
        self.summary.time = report.frame.time;
        self.clock.lap(FrameStage::Figure);
        let swapchain = &mut session.swapchain;
        let image = swapchain.acquire_image().map_err(HeadsetError::of("xrAcquireSwapchainImage"))?;
        swapchain.wait_image(openxr::Duration::INFINITE).map_err(HeadsetError::of("xrWaitSwapchainImage"))?;
        let target = session.targets.get(image as usize);
        let target = target.ok_or_else(|| HeadsetError::Drawing("the runtime named an unknown image".into()))?;
        if let Some(depths) = &mut self.depths {
            depths.acquire()?;
        }
        self.clock.lap(FrameStage::Image);
        let (mut kept, mut kept_depths) = (Vec::new(), Vec::new());
        for (layer, eye) in eyes.iter().enumerate() {
            self.clock.start();
            self.pictures.load(&figure, eye, layer == 0);
            self.clock.lap(FrameStage::Load);
            self.pictures.draw(eye).await;
            let device = &session.graphics.device;
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            self.pictures.copy(&mut encoder, target, layer as u32);
            if keep {
                kept.push(pictures::copy_to_buffer(device, &mut encoder, target, layer as u32, session.size));
            }
            if let Some(depths) = &self.depths {
                depths.draw(&session.graphics, &mut encoder, self.pictures.depths(), layer);
                let image = depths.target().filter(|_| keep);
                let copy = |image| pictures::copy_to_buffer(device, &mut encoder, image, layer as u32, session.size);
                kept_depths.extend(image.map(copy));
            }
            // The runtime expects the image as a colour attachment.
            let state = wgpu::TextureUses::COLOR_TARGET;
            let handover = wgpu::TextureTransition { texture: target, selector: None, state };
            encoder.transition_resources(std::iter::empty(), std::iter::once(handover));
            session.graphics.queue.submit([encoder.finish()]);
            self.clock.lap(FrameStage::Encode);
        }
        let read = |buffer: &wgpu::Buffer| pictures::read(&session.graphics.device, buffer, session.size);
        self.summary.pictures = kept.iter().filter_map(read).collect();
        let read = |buffer: &wgpu::Buffer| pictures::read_distances(&session.graphics.device, buffer, session.size);
        self.summary.distances = kept_depths.iter().filter_map(read).collect();
        if let Some(depths) = &mut self.depths {
            depths.release()?;
        }
        session.swapchain.release_image().map_err(HeadsetError::of("xrReleaseSwapchainImage"))
    }
}

type Eyes = (Vec<openxr::View>, Vec<EyeView>);

/// The point of the scene that is placed in front of the user: below the hands, on the ground.
fn anchor(report: &Report, stage: &Stage) -> Vec3 {
    let palms: Vec<Vec3> = report.frame.hands.iter().map(|hand| hand.kinematics.poses[0].translation.vector).collect();
    let middle = palms.iter().sum::<Vec3>() / palms.len().max(1) as f64;
    Vec3::new(middle.x, stage.ground(&report.frame).map_or(0.0, f64::from), middle.z)
}

/// Between the eyes.
fn head(eyes: &[EyeView]) -> Pose {
    let middle = eyes.iter().map(|eye| eye.pose.translation.vector).sum::<Vec3>() / eyes.len().max(1) as f64;
    let turn = eyes.first().map_or_else(crate::math::Quat::identity, |eye| eye.pose.rotation);
    Pose::from_parts(middle.into(), turn)
}

/// Sends haptic output.
fn feel(session: &GraphicsSession, output: &HandOutput) -> Result<(), HeadsetError> {
    match output {
        HandOutput::Pulse(pulse) => {
            let Some(actions) = &session.actions else { return Ok(()) };
            actions.vibrate(&session.session, pulse).map_err(HeadsetError::of("xrApplyHapticFeedback"))
        }
        HandOutput::Forces { side, fingers } => {
            let Some(trackers) = &session.trackers else { return Ok(()) };
            let pushed = trackers.push(&session.instance, *side, fingers);
            pushed.map_err(HeadsetError::of("xrApplyForceFeedbackCurlMNDX"))
        }
        HandOutput::Advice(_) => Ok(()),
    }
}
