//! What concerns only crashes in a packed state: how many may still come, and what they may leave.
//!
//! Without crashes a state goes on in the same way whatever its crash part is. So of two states
//! that differ only there, the one whose crashes can leave more can do all that the other can: it
//! *covers* it. As the crash part comes last in the bytes of a state, and names nothing that comes
//! before, states that differ only there have the same bytes up to it.

use crate::canonical::Reader;
use crate::lines::{CrashesLeft, Image};

/// The crash part of a packed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashPart {
    left: CrashesLeft,
    images: Vec<Image>,
    /// Whether images lead to objects that nothing else leads to. Their names are known only
    /// inside this part.
    further: bool,
}

impl CrashPart {
    /// The bytes of the crash part of a state in which no crash can come any more.
    pub const NONE_LEFT: [u8; 4] = [0; 4];

    /// Reads the crash part of a packed state.
    pub fn read(bytes: &[u8]) -> CrashPart {
        let mut reader = Reader { bytes, at: 0 };
        let mut left = || u8::try_from(reader.word()).unwrap_or(0);
        let left = CrashesLeft { system: left(), thread: left() };
        let further = reader.u16() > 0;
        let mut images = Vec::new();
        while reader.at < bytes.len() {
            match reader.image() {
                Some(image) => images.push(image),
                // From here on everything is about objects that only images lead to.
                None => break,
            }
        }
        CrashPart { left, images, further }
    }

    /// The crashes that may still come.
    pub fn left(&self) -> CrashesLeft {
        self.left
    }

    /// Whether crashes can leave all that they can leave in a state that is the same apart from its
    /// crash part, now and after the same steps.
    ///
    /// An image whose next fences are those of fewer threads stays longer.
    pub fn covers(&self, other: &CrashPart) -> bool {
        let stays = |image: &Image| {
            self.images.iter().any(|own| {
                own.line == image.line
                    && own.flushed & !image.flushed == 0
                    && own.words == image.words
            })
        };
        self.left.system >= other.left.system
            && self.left.thread >= other.left.thread
            && (other.left.system == 0 || (!other.further && other.images.iter().all(stays)))
    }
}
