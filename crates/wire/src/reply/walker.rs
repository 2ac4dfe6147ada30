//! The walker itself: from bytes to packets, in whatever pieces they come.

use super::chunk::Chunk;
use super::classify::{Kind, Phase, classify};
use super::head::Head;
use super::{ClientView, Expect, Fed, MAX_CONTROL, Progress, ReplyError, ReplySink, rows};
use crate::err::ERR_HEADER;
use crate::{Header, Status};

/// Follows one reply. See the module's documentation.
#[derive(Debug)]
pub struct ReplyWalker {
    pub(super) expect: Expect,
    pub(super) phase: Phase,
    pub(super) inside: Inside,
    /// The sequence number the server's next frame must carry.
    pub(super) next: u8,
    /// What is added to the server's sequence numbers for the client.
    pub(super) shift: u8,
    /// Whether the server's sequence numbers may be any.
    pub(super) any_numbers: bool,
    /// Whether to stop behind each result that another one follows; and whether it has.
    pub(super) stops: bool,
    pub(super) stopped: bool,
    /// How many results the reply has at least, unless one is an error; `None`: the client does not look ahead.
    pub(super) least_results: Option<u32>,
    /// The warnings of a statement that was prepared.
    pub(super) prepared_warnings: u16,
    /// Results that have begun.
    pub(super) results: u32,
    /// The next frame continues a packet.
    pub(super) continued: bool,
    /// An EOF packet is due behind the column definitions, unless a cursor's reply makes it the only one.
    pub(super) eof_due: bool,
    /// Status of the reply's last OK, as the client was told it.
    pub(super) status: Option<Status>,
    /// Status flags that the client is told besides the server's own.
    pub(super) added: Status,
    /// The start of a frame that lay across two pieces.
    pub(super) head: Head,
    /// A packet to be read that lay across two pieces.
    pub(super) packet: Vec<u8>,
    /// A packet written anew.
    pub(super) rewritten: Vec<u8>,
}

/// Where within a packet the last piece ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// At or in a frame's header.
    Head,
    /// So many bytes before the end of a frame that is passed on.
    Body(usize),
    /// In a packet that is collected to be read; so many bytes are missing.
    Control(usize),
}

impl ReplyWalker {
    /// A walker for the reply to one command, whose first packet must carry this sequence number: the one behind the
    /// command's last frame, usually 1.
    pub fn new(expect: Expect, first_sequence: u8) -> ReplyWalker {
        ReplyWalker {
            expect,
            phase: first_phase(expect),
            inside: Inside::Head,
            next: first_sequence,
            shift: 0,
            any_numbers: false,
            stops: false,
            stopped: false,
            least_results: None,
            prepared_warnings: 0,
            results: 0,
            continued: false,
            eof_due: false,
            status: None,
            added: Status::default(),
            head: Head::default(),
            packet: Vec::new(),
            rewritten: Vec::new(),
        }
    }

    /// The client's first packet carries another sequence number than the server's: its command took another number of
    /// frames.
    #[must_use]
    pub fn with_client_sequence(mut self, first_sequence: u8) -> ReplyWalker {
        self.shift = first_sequence.wrapping_sub(self.next);
        self
    }

    /// The server's sequence numbers say nothing, as on a compressed connection, where servers count the packets of a reply
    /// from where the frames stand (`net_flush` in the servers' `net_serv.cc`). The client's are right.
    #[must_use]
    pub fn with_any_numbers(mut self) -> ReplyWalker {
        self.any_numbers = true;
        self
    }

    /// [`ReplyWalker::feed`] takes no more than one result at a time. For clients with a compressed connection: servers begin a
    /// frame for each result, and number its packets from the frame's own number on (`net_flush`), which some clients check.
    #[must_use]
    pub fn with_stops(mut self) -> ReplyWalker {
        self.stops = true;
        self
    }

    /// Whether the last call of [`ReplyWalker::feed`] has stopped between two results.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// The next packet has this number for the client.
    pub fn client_goes_on_with(&mut self, sequence: u8) {
        self.shift = sequence.wrapping_sub(self.next);
    }

    /// The reply has at least so many results, unless one is an error. A procedure's rows, of which there may be any number,
    /// are all followed by its OK: `u32::MAX`. Clients that are sent an EOF in front of the rows are told in it whether another
    /// result follows; where the rows' end is at hand, it is looked at instead.
    #[must_use]
    pub fn with_results(mut self, least: u32) -> ReplyWalker {
        self.least_results = Some(least);
        self
    }

    /// The client is told these status flags besides the server's own: it knows of more than the server does, such as a
    /// transaction that has not reached any server yet. The sink hears what the server said.
    #[must_use]
    pub fn with_status(mut self, added: Status) -> ReplyWalker {
        self.added = added;
        self
    }

    /// What the client's sequence numbers are ahead of the server's (wrapping). At `Progress::LocalInfile` it is to be
    /// subtracted from those of the client's file packets.
    pub fn sequence_shift(&self) -> u8 {
        self.shift
    }

    /// The client's file has been sent; the server's answer must carry this sequence number.
    pub fn resume_after_infile(&mut self, next_sequence: u8) {
        if self.phase == Phase::Infile {
            self.phase = Phase::First;
            self.next = next_sequence;
        }
    }

    /// Takes the next piece of the server's bytes. Sequence numbers and statement ids are corrected in it; the sink hears
    /// what to pass on, which must be done before the piece is overwritten.
    ///
    /// # Errors
    /// The reply cannot be followed. What was good before has been passed to the sink.
    pub fn feed(
        &mut self,
        chunk: &mut [u8],
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<Fed, ReplyError> {
        let mut chunk = Chunk::new(chunk);
        self.stopped = false;
        let walked = self.walk(&mut chunk, view, sink);
        chunk.flush(sink);
        walked?;
        let progress = match self.phase {
            Phase::Done => Progress::Done,
            Phase::Infile => Progress::LocalInfile,
            _ => Progress::More,
        };
        Ok(Fed { consumed: chunk.at(), progress })
    }

    fn walk(
        &mut self,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(), ReplyError> {
        while chunk.remaining() > 0 && !self.stopped && !matches!(self.phase, Phase::Done | Phase::Infile) {
            match self.inside {
                Inside::Head => self.at_head(chunk, view, sink)?,
                Inside::Body(left) => self.in_body(left, chunk, view, sink),
                Inside::Control(missing) => self.in_control(missing, chunk, view, sink)?,
            }
        }
        Ok(())
    }

    fn at_head(
        &mut self,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(), ReplyError> {
        if self.head.is_empty() && self.pass_whole_packets(chunk) {
            return Ok(());
        }
        let Some((place, head)) = self.gather_head(chunk, sink) else {
            return Ok(());
        };
        let Some(header) = Header::parse(head.as_slice()) else {
            return Ok(());
        };
        if self.is_out_of_order(header) {
            return Err(out_of_order(self.next, header.sequence, head.payload()));
        }
        if header.sequence != self.next {
            self.shift = self.shift.wrapping_add(self.next).wrapping_sub(header.sequence);
            self.next = header.sequence;
        }
        self.next = self.next.wrapping_add(1);
        let kind = if self.continued {
            Kind::Pass(self.phase)
        } else {
            classify(self.expect, self.phase, header, head.payload().first().copied())?
        };
        match kind {
            Kind::Pass(phase) => {
                self.phase = phase;
                self.insert_due_eof(place, chunk, view, sink);
                self.continued = header.is_continued();
                self.begin_body((place, head), header, chunk, view, sink);
                Ok(())
            }
            Kind::Control if header.length > MAX_CONTROL => Err(ReplyError::ControlTooLong),
            Kind::Control => self.begin_control((place, head), header, chunk, view, sink),
        }
    }

    pub(super) fn is_out_of_order(&self, header: Header) -> bool {
        header.sequence != self.next && !self.any_numbers
    }

    /// Passes whole packets where nothing else can be due; `true` if the piece is used up.
    fn pass_whole_packets(&mut self, chunk: &mut Chunk<'_>) -> bool {
        let limit = match self.phase {
            // Only a row settles an EOF that is due: the first one is passed the general way.
            Phase::Rows if !self.eof_due => u64::MAX,
            // The last definition is left to the general way, which knows what follows it.
            Phase::Columns(left) => left.saturating_sub(1),
            _ => 0,
        };
        if limit == 0 || self.continued {
            return false;
        }
        let passed = rows::pass(chunk.rest(), &mut self.next, self.shift, limit);
        chunk.keep(passed.bytes);
        if let Phase::Columns(left) = &mut self.phase {
            *left = left.saturating_sub(passed.packets);
        }
        chunk.remaining() == 0
    }
}

fn first_phase(expect: Expect) -> Phase {
    match expect {
        Expect::Fetch | Expect::FieldList => Phase::Rows,
        _ => Phase::First,
    }
}

fn out_of_order(expected: u8, got: u8, payload: &[u8]) -> ReplyError {
    let error = match *payload {
        [ERR_HEADER, low, high, ..] => Some(u16::from_le_bytes([low, high])),
        _ => None,
    };
    ReplyError::OutOfOrder { expected, got, error }
}
