use super::bno055::{Bno055Encoder, Bno055Host, Bno055Layout, EmulatedBno055};
use super::five_dt::{
    Checksum, EmulatedFive, EmulatedSixteen, FiveEncoder, FiveHost, FiveLayout, GloveMode, SIXTEEN, SixteenEncoder,
    SixteenLayout, UltraSensors, UltraUsbEncoder, UltraUsbReports, UltraWirelessEncoder, UltraWirelessLayout,
    WirelessEncoder, WirelessLayout,
};
use super::framing::StreamDecoder;
use super::gametrak::{EmulatedGametrak, GametrakEncoder, GametrakHost, GametrakReports};
use super::lines::LineDecoder;
use super::open_gloves::{
    AlphaEncoder, AlphaFormat, EmulatedOpenGlove, FORCE_MAXIMUM, LegacyEncoder, LegacyFormat, OpenGlovesHost,
};
use super::packets::PacketDecoder;
use super::reading::Sensor;
use super::vmc::{VmcDatagrams, VmcEncoder};
use super::witmotion::{QuaternionOrder, WitMotionEncoder, WitMotionLayout};
use super::x_imu3::{XImu3Encoder, XImu3Format};
use super::{Decoder, Emulated, Encoder, Host, PassiveDevice, PassiveHost};
use crate::tracking::Side;

/// Wire format of a device, with the options in which variants or published descriptions differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// The wired 5DT Data Glove 5.
    DataGlove5 {
        /// Hand of the glove: the left glove sends the fingers in reverse order.
        side: Side,
        /// Checksum of a packet.
        checksum: Checksum,
        /// How values are requested.
        mode: GloveMode,
        /// Whether an emulated glove sends a mark after each packet. The decoder accepts both.
        mark: bool,
    },
    /// The wireless 5DT Data Glove 5-W.
    DataGlove5Wireless {
        /// Hand of the glove.
        side: Side,
        /// Checksum: the ninth byte of a packet.
        checksum: Checksum,
    },
    /// The 5DT Data Glove 16 on a serial line.
    DataGlove16 {
        /// Hand of the glove.
        side: Side,
        /// Maximum sensor value.
        maximum: u16,
    },
    /// The wireless 5DT Data Glove Ultra with fourteen sensors, on a serial port.
    UltraWireless,
    /// The 5DT Data Glove Ultra on USB.
    UltraUsb {
        /// Number of sensors.
        sensors: UltraSensors,
    },
    /// LucidGloves and compatible gloves with the legacy encoding.
    OpenGlovesLegacy {
        /// Maximum value: 4095 on an ESP32, 1023 on an AVR.
        maximum: u16,
    },
    /// LucidGloves and compatible gloves with the alpha encoding.
    OpenGlovesAlpha {
        /// Maximum value: 4095 on an ESP32, 1023 on an AVR.
        maximum: u16,
        /// Wire value of the maximum force: usually 1000, 4095 for one library.
        force_maximum: u16,
    },
    /// The Bosch BNO055 on a UART.
    Bno055,
    /// WitMotion sensors.
    WitMotion {
        /// Order of the quaternion components.
        order: QuaternionOrder,
    },
    /// The x-io x-IMU3, ASCII messages.
    XImu3,
    /// The GameTrak HID reports.
    Gametrak {
        /// Whether the left x axis is in the last two bytes instead of the first.
        left_x_at_end: bool,
    },
    /// The VMC protocol.
    Vmc,
}

/// Physical connection of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A serial port, 8N1, with its possible baud rates, the default first.
    Serial {
        /// Baud.
        speeds: &'static [u32],
    },
    /// USB HID reports.
    Usb {
        /// Vendor id.
        vendor: u16,
        /// Product id, if there is only one.
        product: Option<u16>,
    },
    /// UDP datagrams.
    Udp {
        /// Default port.
        port: u16,
    },
}

impl Format {
    /// All formats, with the default options for the right hand.
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

    /// Name in files and on the command line.
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

    /// The format with this name, with default options.
    pub fn named(name: &str) -> Option<Format> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Physical connection.
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

    /// Whether this kind of glove can have a sensor. The two variants of the USB Ultra share a kind.
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

    /// Wire value of the maximum force for devices that take [`HostLine::Force`](super::HostLine::Force); `None` for
    /// others.
    pub fn force_maximum(&self) -> Option<u16> {
        match *self {
            Self::OpenGlovesAlpha { force_maximum, .. } => Some(force_maximum),
            Self::OpenGlovesLegacy { .. } => Some(FORCE_MAXIMUM),
            _ => None,
        }
    }

    /// Creates its decoder.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        match *self {
            Self::DataGlove5 { side, checksum, .. } => Box::new(StreamDecoder::new(FiveLayout::new(side, checksum))),
            Self::DataGlove5Wireless { side, checksum } => {
                Box::new(StreamDecoder::new(WirelessLayout::new(side, checksum)))
            }
            Self::DataGlove16 { side, maximum } => Box::new(StreamDecoder::new(SixteenLayout::new(side, maximum))),
            Self::UltraWireless => Box::new(StreamDecoder::new(UltraWirelessLayout)),
            Self::UltraUsb { sensors } => Box::new(PacketDecoder::new(UltraUsbReports(sensors))),
            Self::OpenGlovesLegacy { maximum } => Box::new(LineDecoder::new(LegacyFormat::new(maximum))),
            Self::OpenGlovesAlpha { maximum, .. } => Box::new(LineDecoder::new(AlphaFormat::new(maximum))),
            Self::Bno055 => Box::new(StreamDecoder::new(Bno055Layout::default())),
            Self::WitMotion { order } => Box::new(StreamDecoder::new(WitMotionLayout::new(order))),
            Self::XImu3 => Box::new(LineDecoder::new(XImu3Format::default())),
            Self::Gametrak { left_x_at_end } => Box::new(PacketDecoder::new(GametrakReports::new(left_x_at_end))),
            Self::Vmc => Box::new(PacketDecoder::new(VmcDatagrams::default())),
        }
    }

    /// Creates its encoder.
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

    /// Creates the host side of the connection.
    pub fn host(&self) -> Box<dyn Host> {
        match *self {
            Self::DataGlove5 { mode, .. } => Box::new(FiveHost::new(mode)),
            Self::OpenGlovesAlpha { .. } => Box::new(OpenGlovesHost),
            Self::Bno055 => Box::new(Bno055Host::new()),
            Self::Gametrak { .. } => Box::new(GametrakHost::default()),
            _ => Box::new(PassiveHost),
        }
    }

    /// Creates an emulated device.
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
            _ => Box::new(PassiveDevice(self.encoder())),
        }
    }
}
