//! SHA-256, which ties a certificate to the texts and files that it is about.

use sha2::Digest as _;
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Sha256 {
        Sha256(sha2::Sha256::digest(bytes).into())
    }

    /// The hash of all that can be read.
    pub fn of_reader(reader: &mut dyn Read) -> io::Result<Sha256> {
        let mut hasher = sha2::Sha256::new();
        let mut buffer = [0; 1 << 16];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Sha256(hasher.finalize().into())),
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The first digits, enough for people to tell two hashes apart.
    pub fn short(&self) -> String {
        format!("{}…", &self.to_string()[..12])
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

/// A text that is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 hash is 64 hexadecimal digits")]
pub struct NotAHash;

impl FromStr for Sha256 {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Sha256, NotAHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NotAHash);
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(NotAHash),
        };
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
            *byte = 16 * digit(pair[0])? + digit(pair[1])?;
        }
        Ok(Sha256(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_standard_says() {
        let hash = Sha256::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(Sha256::of_reader(&mut &b"abc"[..]).ok(), Some(hash));
        for wrong in ["", "ba78", &text.to_uppercase(), &text.replace('b', "é")] {
            assert_eq!(wrong.parse::<Sha256>(), Err(NotAHash));
        }
    }
}
