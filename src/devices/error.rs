/// Why a device cannot be used or emulated. The message is one sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The port of the device cannot be opened now; it may be later.
    #[error("{0}")]
    Port(String),
    /// This build or this system cannot use such a device.
    #[error("{0}")]
    Unsupported(String),
    /// The thread of the device cannot be started.
    #[error("no thread could be started for {name}: {error}")]
    Thread {
        /// Name of the device.
        name: String,
        /// The error of the system.
        error: String,
    },
    /// The device cannot be emulated.
    #[error("{0}")]
    Emulation(String),
    /// The description of a fault to emulate is not understood.
    #[error("{0}")]
    Fault(String),
    /// The measured lengths of a hand do not give its length.
    #[error("{0}")]
    HandLength(String),
}
