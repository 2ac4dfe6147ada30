//! The compressed protocol: below the packets, and above TLS, every write goes in frames of its own.
//!
//! A frame is seven bytes of header (length as sent, number, length before compression) and its content; a second length of
//! zero says that the content was left as it is. Frames are numbered from 0 for each command, in both directions together,
//! as packets are, and have nothing to do with where those begin and end. Each frame is compressed by itself.
//!
//! Facts: the manual's "Compression" in the client/server protocol; `sql-common/net_serv.cc` for the threshold, and for
//! servers that check the numbers.
//!
//! A frame is decompressed as it comes, into whatever room there is, so that one that grows to 16 MiB takes no more memory
//! here than any other. What compressing needs, some 300 KiB, belongs to the thread and not to the connection.

use std::cell::RefCell;
use std::io;

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use wire::capability::Capabilities;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::CompressionLevel;

use super::buffer::{Buffer, give_back, lease};

/// Bytes of a frame's header.
const HEADER: usize = 7;

/// The most that one frame carries, before compression.
const MOST: usize = (1 << 24) - 1;

/// Shorter content is not compressed; the servers' own limit (MIN_COMPRESS_LENGTH).
const WORTHWHILE: usize = 50;

/// The largest window that is held for a peer, as a power of two of bytes: what a frame of [`MOST`] bytes can use.
const WINDOW_LOG: u32 = 24;

/// The level of zstd that is used where nobody chose one; the servers' default.
pub const ZSTD_LEVEL: u8 = 3;

/// Decompressors kept per thread.
const KEPT: usize = 8;

/// How a connection is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// CLIENT_COMPRESS.
    Zlib,
    /// CLIENT_ZSTD_COMPRESSION_ALGORITHM.
    Zstd {
        /// 1 to 22, as the client chose for both directions.
        level: u8,
    },
}

impl Algorithm {
    /// What two sides that can both do `common` speak: zlib before zstd, as the servers decide.
    pub fn agreed(common: Capabilities, zstd_level: Option<u8>) -> Option<Self> {
        if common.contains(Capabilities::COMPRESS) {
            Some(Self::Zlib)
        } else if common.contains(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            Some(Self::Zstd { level: zstd_level.filter(|level| *level > 0).unwrap_or(ZSTD_LEVEL) })
        } else {
            None
        }
    }

    /// The flag by which it is asked for.
    pub const fn capability(self) -> Capabilities {
        match self {
            Self::Zlib => Capabilities::COMPRESS,
            Self::Zstd { .. } => Capabilities::ZSTD_COMPRESSION_ALGORITHM,
        }
    }

    /// The level to ask for along with it.
    pub const fn zstd_level(self) -> Option<u8> {
        match self {
            Self::Zlib => None,
            Self::Zstd { level } => Some(level),
        }
    }
}

/// What a compressed connection remembers between two calls.
#[derive(Debug)]
pub(super) struct Compression {
    algorithm: Algorithm,
    /// The number of the next frame that is written.
    next: u8,
    /// Commands have arrived before their turn: their numbers say nothing about the reply that is under way.
    ahead: bool,
    /// Bytes from the socket that are not decompressed yet.
    raw: Option<Buffer>,
    frame: Frame,
}

/// The rest of the frame that is being read.
#[derive(Debug, Default)]
enum Frame {
    #[default]
    Done,
    /// Content as it is.
    Stored { left: usize },
    /// Compressed content.
    Packed { left: usize, plain_left: usize, with: Unpacker },
}

enum Unpacker {
    Zlib(Decompress),
    Zstd(Box<Decoder<'static>>),
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Zlib(_) => "Zlib",
            Self::Zstd(_) => "Zstd",
        })
    }
}

thread_local! {
    static INFLATERS: RefCell<Vec<Decompress>> = const { RefCell::new(Vec::new()) };
    static DEFLATER: RefCell<Option<Compress>> = const { RefCell::new(None) };
    static ZSTD: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

impl Compression {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, next: 0, ahead: false, raw: None, frame: Frame::Done }
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn next(&self) -> u8 {
        self.next
    }

    /// A command is sent: frames are counted from 0 again.
    pub(super) fn command_out(&mut self) {
        self.ahead = false;
        self.next = 0;
    }

    /// A command is begun of which one frame has been read: those of its reply are counted on from that.
    pub(super) fn command_in(&mut self) {
        self.ahead = false;
        self.next = 1;
    }

    /// Room for bytes from the socket.
    pub(super) fn raw(&mut self) -> &mut Buffer {
        self.raw.get_or_insert_with(lease)
    }

    /// Gives the room back when nothing is left in it.
    pub(super) fn rest(&mut self) {
        if self.raw.as_ref().is_some_and(|raw| raw.bytes().is_empty())
            && let Some(raw) = self.raw.take()
        {
            give_back(raw);
        }
    }

    /// Decompresses what there is into `room`. `Ok(0)`: more bytes from the socket are needed.
    ///
    /// # Errors
    /// `InvalidData` for content that cannot be decompressed, or becomes more or less than its frame says.
    pub(super) fn unpack(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(raw) = &mut self.raw else { return Ok(0) };
            if matches!(self.frame, Frame::Done) {
                let Some(header) = raw.bytes().first_chunk::<HEADER>() else { return Ok(0) };
                let &[a, b, c, number, d, e, f] = header;
                let left = length(a, b, c);
                let plain_left = length(d, e, f);
                raw.consume(HEADER);
                self.frame = match plain_left {
                    0 => Frame::Stored { left },
                    _ => Frame::Packed { left, plain_left, with: Unpacker::lease(self.algorithm)? },
                };
                self.numbered(number);
                continue;
            }
            let (produced, over) = self.frame.unpack(raw, room)?;
            if over && let Frame::Packed { with, .. } = std::mem::take(&mut self.frame) {
                with.give_back();
            }
            if produced > 0 || !over && raw.bytes().is_empty() {
                return Ok(produced);
            }
        }
    }

    /// Notes the number of a frame that was read. One that goes on where the last one of either side left off belongs to the
    /// exchange that is under way; 0 out of turn begins a command whose reply is not due yet.
    fn numbered(&mut self, number: u8) {
        self.ahead |= number == 0 && self.next != 0;
        if !self.ahead {
            self.next = number.wrapping_add(1);
        }
    }

    /// `content` in frames.
    ///
    /// # Errors
    /// When a library fails, as for want of memory.
    pub(super) fn pack(&mut self, content: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(content.len().min(64 * 1024) + HEADER);
        for part in content.chunks(MOST) {
            let start = out.len();
            out.extend_from_slice(&[0; HEADER]);
            let packed = part.len() >= WORTHWHILE
                && self.algorithm.pack(part, &mut out)?
                && out.len() - start - HEADER < part.len();
            let plain = if packed {
                part.len()
            } else {
                out.truncate(start + HEADER);
                out.extend_from_slice(part);
                0
            };
            let sent = out.len() - start - HEADER;
            let [a, b, c, _] = u32::try_from(sent).unwrap_or_default().to_le_bytes();
            let [d, e, f, _] = u32::try_from(plain).unwrap_or_default().to_le_bytes();
            if let Some(header) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<HEADER>) {
                *header = [a, b, c, self.next, d, e, f];
            }
            self.next = self.next.wrapping_add(1);
        }
        Ok(out)
    }
}

impl Drop for Compression {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            give_back(raw);
        }
    }
}

impl Frame {
    /// Moves content from `raw` to `room`. Returns how much, and whether the frame is over.
    fn unpack(&mut self, raw: &mut Buffer, room: &mut [u8]) -> io::Result<(usize, bool)> {
        match self {
            Self::Done => Ok((0, true)),
            Self::Stored { left } => {
                let count = raw.bytes().len().min(room.len()).min(*left);
                if let (Some(to), Some(from)) = (room.get_mut(..count), raw.bytes().get(..count)) {
                    to.copy_from_slice(from);
                }
                raw.consume(count);
                *left -= count;
                Ok((count, *left == 0))
            }
            Self::Packed { left, plain_left, with } => {
                let from = raw.bytes().get(..raw.bytes().len().min(*left)).unwrap_or_default();
                // Not a byte more than the frame promised is ever given room; behind the last one comes a checksum.
                let most = room.len().min(*plain_left);
                let (consumed, produced) = with.run(from, room.get_mut(..most).unwrap_or_default())?;
                raw.consume(consumed);
                *left -= consumed;
                *plain_left -= produced;
                let stuck = consumed == 0 && produced == 0;
                if stuck && (*left == 0 || !raw.bytes().is_empty()) {
                    return Err(corrupt());
                }
                Ok((produced, *left == 0 && *plain_left == 0))
            }
        }
    }
}

impl Unpacker {
    fn lease(algorithm: Algorithm) -> io::Result<Self> {
        match algorithm {
            Algorithm::Zlib => {
                let kept = INFLATERS.with_borrow_mut(Vec::pop);
                Ok(Self::Zlib(kept.unwrap_or_else(|| Decompress::new(true))))
            }
            Algorithm::Zstd { .. } => {
                let mut decoder = Decoder::new()?;
                decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
                Ok(Self::Zstd(Box::new(decoder)))
            }
        }
    }

    fn give_back(self) {
        if let Self::Zlib(mut inflater) = self {
            inflater.reset(true);
            // At the end of a thread nothing is kept.
            let _ = INFLATERS.try_with(|kept| {
                let mut kept = kept.borrow_mut();
                if kept.len() < KEPT {
                    kept.push(inflater);
                }
            });
        }
    }

    /// Bytes consumed and produced.
    fn run(&mut self, from: &[u8], to: &mut [u8]) -> io::Result<(usize, usize)> {
        match self {
            Self::Zlib(inflater) => {
                let (taken, given) = (inflater.total_in(), inflater.total_out());
                match inflater.decompress(from, to, FlushDecompress::None) {
                    Ok(Status::Ok | Status::BufError | Status::StreamEnd) => {
                        let count = |now: u64, before| usize::try_from(now - before).unwrap_or_default();
                        Ok((count(inflater.total_in(), taken), count(inflater.total_out(), given)))
                    }
                    Err(_) => Err(corrupt()),
                }
            }
            Self::Zstd(decoder) => {
                let mut input = InBuffer::around(from);
                let mut output = OutBuffer::around(to);
                decoder.run(&mut input, &mut output).map_err(|_| corrupt())?;
                Ok((input.pos(), output.pos()))
            }
        }
    }
}

impl Algorithm {
    /// Appends `content` compressed. `false`: it does not become shorter.
    fn pack(self, content: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        // Room for less than the content itself: what does not fit is not worth it.
        out.reserve(content.len());
        match self {
            Self::Zlib => DEFLATER.with_borrow_mut(|deflater| {
                let deflater =
                    deflater.get_or_insert_with(|| Compress::new(flate2::Compression::default(), true));
                deflater.reset();
                let status = deflater.compress_vec(content, out, FlushCompress::Finish)?;
                Ok(status == Status::StreamEnd)
            }),
            Self::Zstd { level } => ZSTD.with_borrow_mut(|compressor| {
                let compressor = match compressor {
                    Some(compressor) => compressor,
                    None => compressor.insert(zstd::bulk::Compressor::new(0)?),
                };
                compressor.set_compression_level(CompressionLevel::from(level))?;
                let start = out.len();
                out.resize(start + content.len(), 0);
                let room = out.get_mut(start..).unwrap_or_default();
                // The only thing that can go wrong with so little room is that it is too little.
                let written = compressor.compress_to_buffer(content, room).unwrap_or(content.len());
                out.truncate(start + written);
                Ok(written < content.len())
            }),
        }
    }
}

fn length(a: u8, b: u8, c: u8) -> usize {
    usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16
}

fn corrupt() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "compressed data that cannot be decompressed")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd { level: 3 }];

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i / 7 % 251).to_le_bytes()[0]).collect()
    }

    /// Feeds `frames` in pieces of `step` bytes and takes them out into `room` bytes at a time.
    fn read(frames: &[u8], algorithm: Algorithm, step: usize, room: usize) -> io::Result<Vec<u8>> {
        let mut reader = Compression::new(algorithm);
        let mut out = Vec::new();
        let mut target = vec![0; room];
        for piece in frames.chunks(step) {
            let spare = reader.raw().spare();
            spare[..piece.len()].copy_from_slice(piece);
            reader.raw().filled(piece.len());
            loop {
                match reader.unpack(&mut target)? {
                    0 => break,
                    count => out.extend_from_slice(&target[..count]),
                }
            }
        }
        reader.rest();
        assert!(reader.raw.is_none(), "nothing is left over");
        Ok(out)
    }

    #[test]
    fn what_is_written_can_be_read_in_pieces_of_any_size() {
        for algorithm in BOTH {
            for length in [0, 1, 49, 50, 51, 1000, 100_000] {
                let content = content(length);
                let frames = Compression::new(algorithm).pack(&content).unwrap();
                for (step, room) in [(1, 1), (3, 1000), (1000, 7), (32_000, 32_000)] {
                    assert_eq!(
                        read(&frames, algorithm, step, room).unwrap(),
                        content,
                        "{algorithm:?} {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn content_beyond_a_frame_goes_in_several_with_numbers_in_order() {
        for algorithm in BOTH {
            let content = content(MOST + 100);
            let frames = Compression::new(algorithm).pack(&content).unwrap();
            assert!(frames.len() < content.len() / 2);
            assert_eq!(frames[3], 0);
            let second = HEADER + length(frames[0], frames[1], frames[2]);
            assert_eq!(frames[second + 3], 1);
            assert_eq!(read(&frames, algorithm, 32_000, 32_000).unwrap(), content);
        }
    }

    #[test]
    fn what_does_not_become_shorter_is_sent_as_it_is() {
        let mut seed = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_le_bytes()[3]
        })
        .take(5000)
        .collect();
        for algorithm in BOTH {
            let frames = Compression::new(algorithm).pack(&noise).unwrap();
            assert_eq!(frames.len(), noise.len() + HEADER);
            assert_eq!(frames[4..7], [0; 3]);
        }
    }

    #[test]
    fn a_frame_that_lies_is_refused() {
        for algorithm in BOTH {
            let honest = Compression::new(algorithm).pack(&content(1000)).unwrap();
            let mut longer = honest.clone();
            longer[4..6].copy_from_slice(&1001_u16.to_le_bytes());
            let mut shorter = honest.clone();
            shorter[4..6].copy_from_slice(&999_u16.to_le_bytes());
            let mut broken = honest;
            broken[HEADER..HEADER + 8].fill(0xff);
            for lie in [longer, shorter, broken] {
                let error = read(&lie, algorithm, 100, 5000).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>, step in 1_usize..50, zlib: bool) {
            let algorithm = if zlib { Algorithm::Zlib } else { Algorithm::Zstd { level: 3 } };
            let mut reader = Compression::new(algorithm);
            let mut room = [0; 64];
            for piece in bytes.chunks(step) {
                reader.raw().spare()[..piece.len()].copy_from_slice(piece);
                reader.raw().filled(piece.len());
                while let Ok(count) = reader.unpack(&mut room) {
                    prop_assert!(count <= room.len());
                    if count == 0 {
                        break;
                    }
                }
            }
        }

        #[test]
        fn damaged_frames_do_no_harm(at in 0_usize..200, byte: u8, zlib: bool) {
            let algorithm = if zlib { Algorithm::Zlib } else { Algorithm::Zstd { level: 3 } };
            let mut frames = Compression::new(algorithm).pack(&content(3000)).unwrap();
            let at = at % frames.len();
            frames[at] = byte;
            let mut reader = Compression::new(algorithm);
            reader.raw().spare()[..frames.len()].copy_from_slice(&frames);
            reader.raw().filled(frames.len());
            let mut room = [0; 512];
            while let Ok(1..) = reader.unpack(&mut room) {}
        }
    }

    #[test]
    fn a_reply_is_counted_from_the_command_it_answers() {
        let mut server = Compression::new(Algorithm::Zlib);
        let hear = |server: &mut Compression, number| {
            let spare = server.raw().spare();
            spare[..HEADER + 1].copy_from_slice(&[1, 0, 0, number, 0, 0, 0, b'x']);
            server.raw().filled(HEADER + 1);
            server.unpack(&mut [0; 8]).unwrap();
        };
        hear(&mut server, 0);
        server.command_in();
        assert_eq!(server.pack(b"a").unwrap()[3], 1);
        assert_eq!(server.pack(b"b").unwrap()[3], 2);
        // A file that the client was asked for goes on counting.
        hear(&mut server, 3);
        assert_eq!(server.pack(b"c").unwrap()[3], 4);
        // Further commands come while the reply is under way.
        hear(&mut server, 0);
        hear(&mut server, 0);
        assert_eq!(server.pack(b"d").unwrap()[3], 5);
        for _ in 0..2 {
            server.command_in();
            assert_eq!(server.pack(b"e").unwrap()[3], 1);
        }
        server.command_out();
        assert_eq!(server.pack(b"f").unwrap()[3], 0);
    }
}
