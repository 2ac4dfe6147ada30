//! The compressed protocol as a client speaks it, which checks the number of every frame.

use std::io::{self, Error, Read, Write};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::stream::Stream;

const HEADER: usize = 7;

/// Shorter content is not worth compressing.
const WORTHWHILE: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Zlib,
    Zstd,
}

/// A socket whose bytes go in compressed frames.
pub(crate) struct Packed {
    socket: Stream,
    algorithm: Algorithm,
    next: u8,
    unread: Vec<u8>,
    /// Frames that came compressed.
    pub(crate) unpacked: usize,
}

impl Packed {
    pub(crate) fn new(socket: Stream, algorithm: Algorithm) -> Self {
        Self { socket, algorithm, next: 0, unread: Vec::new(), unpacked: 0 }
    }

    pub(crate) fn socket(&self) -> &Stream {
        &self.socket
    }

    pub(crate) fn socket_mut(&mut self) -> &mut Stream {
        &mut self.socket
    }

    /// Frames are counted from 0 again.
    pub(crate) fn begin_command(&mut self) {
        self.next = 0;
    }

    /// The next frame follows one that held a whole command.
    pub(crate) fn begin_reply(&mut self) {
        self.next = 1;
    }

    fn pack(&self, content: &[u8]) -> io::Result<Vec<u8>> {
        match self.algorithm {
            Algorithm::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(content)?;
                encoder.finish()
            }
            Algorithm::Zstd => zstd::bulk::compress(content, 3),
        }
    }

    fn unpack(&self, packed: &[u8], length: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::with_capacity(length);
        match self.algorithm {
            Algorithm::Zlib => ZlibDecoder::new(packed).read_to_end(&mut content)?,
            Algorithm::Zstd => zstd::stream::read::Decoder::new(packed)?.read_to_end(&mut content)?,
        };
        if content.len() == length { Ok(content) } else { Err(Error::other("a frame of another length")) }
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread.is_empty() {
            let mut header = [0; HEADER];
            let first = self.socket.read(&mut header)?;
            if first == 0 {
                return Ok(0);
            }
            self.socket.read_exact(&mut header[first..])?;
            let [a, b, c, number, d, e, f] = header;
            if number != self.next {
                return Err(Error::other(format!("frame {number} where {} was due", self.next)));
            }
            self.next = self.next.wrapping_add(1);
            let mut content = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
            self.socket.read_exact(&mut content)?;
            let length = u32::from_le_bytes([d, e, f, 0]) as usize;
            if length > 0 {
                self.unpacked += 1;
                content = self.unpack(&content, length)?;
            }
            self.unread = content;
        }
        let count = buffer.len().min(self.unread.len());
        buffer[..count].copy_from_slice(&self.unread[..count]);
        self.unread.drain(..count);
        Ok(count)
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let content = &bytes[..bytes.len().min((1 << 24) - 1)];
        let packed = if content.len() < WORTHWHILE { content.to_vec() } else { self.pack(content)? };
        let plain = if content.len() < WORTHWHILE { 0 } else { content.len() };
        let [a, b, c, _] = u32::try_from(packed.len()).map_err(Error::other)?.to_le_bytes();
        let [d, e, f, _] = u32::try_from(plain).map_err(Error::other)?.to_le_bytes();
        self.socket.write_all(&[&[a, b, c, self.next, d, e, f], packed.as_slice()].concat())?;
        self.next = self.next.wrapping_add(1);
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
