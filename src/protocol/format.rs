use super::bno055::{Bno055Encoder, Bno055Host, Bno055Layout, EmulatedBno055};
use super::five_dt::{
    Checksum, EmulatedFive, EmulatedSixteen, FiveEncoder, FiveHost, FiveLayout, GloveMode, SIXTEEN, SixteenEncoder,
    SixteenLayout, UltraSensors, UltraUsbEncoder, UltraUsbReports, UltraWirelessEncoder, UltraWirelessLayout,
    WirelessEncoder, WirelessLayout,
};
use super::framing::Framed;
use super::gametrak::{EmulatedGametrak, GametrakEncoder, GametrakHost, GametrakReports};
use super::lines::Lined;
use super::open_gloves::{
    AlphaEncoder, AlphaScript, EmulatedOpenGlove, FORCE_MAXIMUM, LegacyEncoder, LegacyScript, OpenGlovesHost,
};
use super::packets::Packeted;
use super::reading::Sensor;
use super::vmc::{VmcDatagrams, VmcEncoder};
use super::witmotion::{QuaternionOrder, WitMotionEncoder, WitMotionLayout};
use super::x_imu3::{XImu3Encoder, XImu3Script};
use super::{Decoder, Emulated, Encoder, Host, Silent, Talker};
use crate::tracking::Side;

/// What a device speaks, with the options in which devices of a kind, or those who wrote about them, differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// The wired 5DT Data Glove 5.
    DataGlove5 {
        /// The hand it is for: the left glove sends the fingers the other way round.
        side: Side,
        /// What the last byte of a packet is.
        checksum: Checksum,
        /// How it is asked.
        mode: GloveMode,
        /// Whether an emulated one sends a mark after each packet. It is understood with and without.
        mark: bool,
    },
    /// The wireless 5DT Data Glove 5-W.
    DataGlove5Wireless {
        /// The hand it is for.
        side: Side,
        /// What the ninth byte of a packet is.
        checksum: Checksum,
    },
    /// The 5DT Data Glove 16 on a serial line.
    DataGlove16 {
        /// The hand it is for.
        side: Side,
        /// The largest value of a sensor.
        maximum: u16,
    },
    /// The wireless 5DT Data Glove Ultra of fourteen sensors, on a serial line.
    UltraWireless,
    /// The 5DT Data Glove Ultra on USB.
    UltraUsb {
        /// How many sensors it has.
        sensors: UltraSensors,
    },
    /// LucidGloves and their like with the older encoding.
    OpenGlovesLegacy {
        /// The largest number: 4095 on an ESP32, 1023 on an AVR.
        maximum: u16,
    },
    /// LucidGloves and their like with the newer encoding.
    OpenGlovesAlpha {
        /// The largest number: 4095 on an ESP32, 1023 on an AVR.
        maximum: u16,
        /// The number of the largest force on the way to the glove: mostly 1000, for one library 4095.
        force_maximum: u16,
    },
    /// The Bosch BNO055 on its serial line.
    Bno055,
    /// WitMotion sensors.
    WitMotion {
        /// The order of the quaternion.
        order: QuaternionOrder,
    },
    /// The x-io x-IMU3, ASCII messages.
    XImu3,
    /// The GameTrak, by its reports.
    Gametrak {
        /// Whether the left x axis is in the last two bytes and not in the first.
        left_x_at_end: bool,
    },
    /// The VMC protocol.
    Vmc,
}

/// What a device is connected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A serial line of eight bits, no parity, one stop bit, and the speeds it may have, the usual one first.
    Serial {
        /// Baud.
        speeds: &'static [u32],
    },
    /// Reports of USB (HID).
    Usb {
        /// The vendor's number.
        vendor: u16,
        /// The product's number, if the vendor has but one.
        product: Option<u16>,
    },
    /// Datagrams of UDP.
    Udp {
        /// The usual port.
        port: u16,
    },
}

impl Format {
    /// Every format, with the options that are likeliest for the right hand.
    pub const ALL: [Format; 12] = [
        Format::DataGlove5 { side: Side::Right, checksum: Checksum::Xor, mode: GloveMode::Stream, mark: false },
        Format::DataGlove5Wireless { side: Side::Right, checksum: Checksum::Xor },
        Format::DataGlove16 { side: Side::Right, maximum: 4095 },
        Format::UltraWireless,
        Format::UltraUsb { sensors: UltraSensors::Fourteen },
        Format::OpenGlovesLegacy { maximum: 4095 },
        Format::OpenGlovesAlpha { maximum: 4095, force_maximum: 1000 },
        Format::Bno055,
        Format::WitMotion { order: QuaternionOrder::Wxyz },
        Format::XImu3,
        Format::Gametrak { left_x_at_end: false },
        Format::Vmc,
    ];

    /// What to call it in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DataGlove5 { .. } => "5dt-5",
            Self::DataGlove5Wireless { .. } => "5dt-5w",
            Self::DataGlove16 { .. } => "5dt-16",
            Self::UltraWireless => "5dt-ultra-wireless",
            Self::UltraUsb { .. } => "5dt-ultra",
            Self::OpenGlovesLegacy { .. } => "opengloves-legacy",
            Self::OpenGlovesAlpha { .. } => "opengloves",
            Self::Bno055 => "bno055",
            Self::WitMotion { .. } => "witmotion",
            Self::XImu3 => "x-imu3",
            Self::Gametrak { .. } => "gametrak",
            Self::Vmc => "vmc",
        }
    }

    /// The format of a name, with the likeliest options.
    pub fn named(name: &str) -> Option<Format> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What it is connected by.
    pub fn link(&self) -> Link {
        match self {
            Self::DataGlove5 { .. } | Self::DataGlove16 { .. } => Link::Serial { speeds: &[19200] },
            Self::DataGlove5Wireless { .. } => Link::Serial { speeds: &[9600] },
            Self::UltraWireless | Self::OpenGlovesLegacy { .. } | Self::OpenGlovesAlpha { .. } | Self::Bno055 => {
                Link::Serial { speeds: &[115_200] }
            }
            Self::WitMotion { .. } => Link::Serial { speeds: &[9600, 115_200] },
            Self::XImu3 => Link::Serial { speeds: &[115_200] },
            Self::UltraUsb { .. } => Link::Usb { vendor: 0x5D70, product: None },
            Self::Gametrak { .. } => Link::Usb { vendor: 0x14B7, product: Some(0x0982) },
            Self::Vmc => Link::Udp { port: 39539 },
        }
    }

    /// Whether gloves of this kind can have a sensor. Of the Ultra on USB there are two, which share a kind.
    pub fn can_have(&self, sensor: Sensor) -> bool {
        let is_curl = matches!(sensor, Sensor::Curl(_));
        match self {
            Self::DataGlove5 { .. } | Self::DataGlove5Wireless { .. } | Self::OpenGlovesLegacy { .. } => is_curl,
            Self::DataGlove16 { .. } => SIXTEEN.contains(&sensor),
            Self::UltraWireless => SIXTEEN[..14].contains(&sensor),
            Self::UltraUsb { .. } => is_curl || SIXTEEN[..14].contains(&sensor),
            Self::OpenGlovesAlpha { .. } => is_curl || matches!(sensor, Sensor::Joint(..) | Sensor::Splay(_)),
            Self::Bno055 | Self::WitMotion { .. } | Self::XImu3 | Self::Gametrak { .. } | Self::Vmc => false,
        }
    }

    /// The number of the largest force of a device that takes [`HostLine::Force`](super::HostLine::Force); `None` of one that does not.
    pub fn force_maximum(&self) -> Option<u16> {
        match *self {
            Self::OpenGlovesAlpha { force_maximum, .. } => Some(force_maximum),
            Self::OpenGlovesLegacy { .. } => Some(FORCE_MAXIMUM),
            _ => None,
        }
    }

    /// A decoder of what it sends.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        match *self {
            Self::DataGlove5 { side, checksum, .. } => Box::new(Framed::new(FiveLayout::new(side, checksum))),
            Self::DataGlove5Wireless { side, checksum } => Box::new(Framed::new(WirelessLayout::new(side, checksum))),
            Self::DataGlove16 { side, maximum } => Box::new(Framed::new(SixteenLayout::new(side, maximum))),
            Self::UltraWireless => Box::new(Framed::new(UltraWirelessLayout)),
            Self::UltraUsb { sensors } => Box::new(Packeted::new(UltraUsbReports(sensors))),
            Self::OpenGlovesLegacy { maximum } => Box::new(Lined::new(LegacyScript::new(maximum))),
            Self::OpenGlovesAlpha { maximum, .. } => Box::new(Lined::new(AlphaScript::new(maximum))),
            Self::Bno055 => Box::new(Framed::new(Bno055Layout::default())),
            Self::WitMotion { order } => Box::new(Framed::new(WitMotionLayout::new(order))),
            Self::XImu3 => Box::new(Lined::new(XImu3Script::default())),
            Self::Gametrak { left_x_at_end } => Box::new(Packeted::new(GametrakReports::new(left_x_at_end))),
            Self::Vmc => Box::new(Packeted::new(VmcDatagrams::default())),
        }
    }

    /// An encoder of what it would send.
    pub fn encoder(&self) -> Box<dyn Encoder> {
        match *self {
            Self::DataGlove5 { side, checksum, mark, .. } => Box::new(FiveEncoder::new(side, checksum, mark)),
            Self::DataGlove5Wireless { side, checksum } => Box::new(WirelessEncoder::new(side, checksum)),
            Self::DataGlove16 { side, maximum } => Box::new(SixteenEncoder::new(side, maximum)),
            Self::UltraWireless => Box::new(UltraWirelessEncoder::default()),
            Self::UltraUsb { sensors } => Box::new(UltraUsbEncoder::new(sensors)),
            Self::OpenGlovesLegacy { maximum } => Box::new(LegacyEncoder::new(maximum)),
            Self::OpenGlovesAlpha { maximum, .. } => Box::new(AlphaEncoder::new(maximum)),
            Self::Bno055 => Box::new(Bno055Encoder::default()),
            Self::WitMotion { order } => Box::new(WitMotionEncoder::new(order)),
            Self::XImu3 => Box::new(XImu3Encoder::default()),
            Self::Gametrak { left_x_at_end } => Box::new(GametrakEncoder::new(left_x_at_end)),
            Self::Vmc => Box::new(VmcEncoder::default()),
        }
    }

    /// What to send to it.
    pub fn host(&self) -> Box<dyn Host> {
        match *self {
            Self::DataGlove5 { mode, .. } => Box::new(FiveHost::new(mode)),
            Self::OpenGlovesAlpha { .. } => Box::new(OpenGlovesHost),
            Self::Bno055 => Box::new(Bno055Host::new()),
            Self::Gametrak { .. } => Box::new(GametrakHost::default()),
            _ => Box::new(Silent),
        }
    }

    /// One that is not there.
    pub fn emulated(&self) -> Box<dyn Emulated> {
        match *self {
            Self::DataGlove5 { side, checksum, mark, .. } => {
                Box::new(EmulatedFive::new(FiveEncoder::new(side, checksum, mark)))
            }
            Self::DataGlove16 { side, maximum } => Box::new(EmulatedSixteen::new(SixteenEncoder::new(side, maximum))),
            Self::OpenGlovesAlpha { maximum, force_maximum } => {
                Box::new(EmulatedOpenGlove::new(AlphaEncoder::new(maximum), force_maximum))
            }
            Self::Bno055 => Box::new(EmulatedBno055::new()),
            Self::Gametrak { left_x_at_end } => Box::new(EmulatedGametrak::new(GametrakEncoder::new(left_x_at_end))),
            _ => Box::new(Talker(self.encoder())),
        }
    }
}
