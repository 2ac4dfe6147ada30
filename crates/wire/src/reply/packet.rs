//! From a packet's head to its end: passed on as it comes, or collected, read and translated.

use super::chunk::Chunk;
use super::classify::Phase;
use super::control::{EofInFront, Fate};
use super::head::{Head, Place};
use super::rows::End;
use super::walker::Inside;
use super::{ClientView, Expect, ReplyError, ReplySink, ReplyWalker, rows};
use crate::eof::{EOF_LENGTH, eof_bytes};
use crate::frame::HEADER;
use crate::{Capabilities, Header, Status};

impl ReplyWalker {
    /// Starts to pass on the frame whose head was just read.
    pub(super) fn begin_body(
        &mut self,
        (place, mut head): (Place, Head),
        header: Header,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        let sequence = self.client_sequence();
        let left = match place {
            Place::Chunk => {
                chunk.set_sequence(sequence);
                chunk.keep(HEADER);
                header.length
            }
            Place::Stashed => {
                head.set_sequence(sequence);
                sink.insert(head.as_slice());
                header.length.saturating_sub(head.payload().len())
            }
        };
        self.in_body(left, chunk, view, sink);
    }

    /// Within a frame that is passed on, with so many bytes left of it.
    pub(super) fn in_body(
        &mut self,
        left: usize,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        let left = left - chunk.keep(left);
        if left > 0 {
            self.inside = Inside::Body(left);
            return;
        }
        self.inside = Inside::Head;
        if !self.continued {
            self.passed_packet_ended(chunk, view, sink);
        }
    }

    fn passed_packet_ended(
        &mut self,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        let wants_eof = !view.capabilities.contains(Capabilities::DEPRECATE_EOF);
        let mut eof_now = false;
        self.phase = match self.phase {
            Phase::Columns(left) if left > 1 => Phase::Columns(left - 1),
            Phase::Columns(_) => {
                // Only an execution can open a cursor, whose reply has one EOF in all; the next packet will tell.
                self.eof_due = wants_eof && self.expect == Expect::Execute;
                eof_now = wants_eof && !self.eof_due;
                Phase::Rows
            }
            Phase::PrepareParams { left, columns } if left > 1 => {
                Phase::PrepareParams { left: left - 1, columns }
            }
            Phase::PrepareParams { columns, .. } => {
                eof_now = wants_eof;
                Phase::PrepareColumns { left: columns }.skip_empty()
            }
            Phase::PrepareColumns { left } if left > 1 => Phase::PrepareColumns { left: left - 1 },
            Phase::PrepareColumns { .. } => {
                eof_now = wants_eof;
                Phase::Done
            }
            Phase::Text => Phase::Done,
            Phase::FileName => Phase::Infile,
            phase @ (Phase::First | Phase::Rows | Phase::Infile | Phase::Done) => phase,
        };
        if eof_now {
            let end = rows::end(chunk.rest());
            self.insert_eof(end, chunk, view, sink);
        }
    }

    /// Starts on a packet that is to be read: at once if all of it is in the piece.
    pub(super) fn begin_control(
        &mut self,
        (place, head): (Place, Head),
        header: Header,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(), ReplyError> {
        let length = HEADER + header.length;
        let missing = match place {
            Place::Chunk => {
                if let Some(frame) = chunk.rest().get_mut(..length) {
                    let payload = frame.get_mut(HEADER..).unwrap_or_default();
                    let (eof_in_front, fate) = self.control(payload, view, sink)?;
                    if let Some(EofInFront(end)) = eof_in_front {
                        self.insert_eof_in_front(end, chunk, view, sink);
                    }
                    self.settle_in_chunk(fate, length, chunk, sink);
                    return Ok(());
                }
                self.packet.clear();
                length
            }
            Place::Stashed => {
                self.packet.clear();
                self.packet.extend_from_slice(head.as_slice());
                length - self.packet.len()
            }
        };
        chunk.flush(sink);
        self.in_control(missing, chunk, view, sink)
    }

    /// Within a packet that is collected, with so many bytes missing of it.
    pub(super) fn in_control(
        &mut self,
        missing: usize,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(), ReplyError> {
        let taken = chunk.take(missing);
        let missing = missing - taken.len();
        self.packet.extend_from_slice(taken);
        if missing > 0 {
            self.inside = Inside::Control(missing);
            return Ok(());
        }
        self.inside = Inside::Head;
        let mut packet = std::mem::take(&mut self.packet);
        let payload = packet.get_mut(HEADER..).unwrap_or_default();
        let (eof_in_front, fate) = self.control(payload, view, sink)?;
        if let Some(EofInFront(end)) = eof_in_front {
            self.insert_eof_in_front(end, chunk, view, sink);
        }
        if fate == Fate::Forward {
            if let Some(place) = packet.get_mut(HEADER - 1) {
                *place = self.client_sequence();
            }
            sink.insert(&packet);
        } else {
            self.insert_replacement(fate, sink);
        }
        self.packet = packet;
        Ok(())
    }

    fn settle_in_chunk(
        &mut self,
        fate: Fate,
        length: usize,
        chunk: &mut Chunk<'_>,
        sink: &mut impl ReplySink,
    ) {
        if fate == Fate::Forward {
            chunk.set_sequence(self.client_sequence());
            chunk.keep(length);
        } else {
            chunk.flush(sink);
            chunk.take(length);
            self.insert_replacement(fate, sink);
        }
    }

    fn insert_replacement(&mut self, fate: Fate, sink: &mut impl ReplySink) {
        let sequence = self.client_sequence();
        match fate {
            Fate::Forward => {}
            Fate::Eof(status, warnings) => sink.insert(&eof_frame(sequence, status, warnings)),
            Fate::Rewritten => {
                let length = self.rewritten.len().saturating_sub(HEADER);
                if let Some(header) = self.rewritten.first_chunk_mut() {
                    *header = Header { length, sequence }.to_bytes();
                }
                sink.insert(&self.rewritten);
            }
        }
    }

    /// Puts in the EOF that was due until a row came: in front of the frame whose header was just read.
    pub(super) fn insert_due_eof(
        &mut self,
        place: Place,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        if self.eof_due {
            let end = if place == Place::Chunk { rows::end(chunk.rest()) } else { None };
            self.insert_eof_in_front(end, chunk, view, sink);
        }
    }

    fn insert_eof_in_front(
        &mut self,
        end: Option<End>,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        self.eof_due = false;
        self.next = self.next.wrapping_sub(1);
        self.insert_eof(end, chunk, view, sink);
        self.next = self.next.wrapping_add(1);
    }

    /// Puts in an EOF behind the frames so far, in front of rows that end as `end` says where that is known already.
    fn insert_eof(
        &mut self,
        end: Option<End>,
        chunk: &mut Chunk<'_>,
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) {
        chunk.flush(sink);
        let (foreseen, warnings) = self.foreseen(end);
        let status = self.status.unwrap_or(view.status).lasting() | self.added | foreseen;
        sink.insert(&eof_frame(self.next.wrapping_add(self.shift), status, warnings));
        self.shift = self.shift.wrapping_add(1);
    }

    /// What a server says in front of the rows of what comes behind them, and how many warnings it has by then.
    fn foreseen(&self, end: Option<End>) -> (Status, u16) {
        match (self.expect, self.least_results, end) {
            (Expect::Prepare, ..) => (Status::default(), self.prepared_warnings),
            (Expect::Query | Expect::Execute, Some(_), Some(end)) => {
                let told = Status::MORE_RESULTS_EXISTS | Status::PS_OUT_PARAMS | Status::NO_INDEX_USED;
                (Status(end.status.0 & (told | Status::NO_GOOD_INDEX_USED).0), end.warnings)
            }
            (Expect::Query | Expect::Execute, Some(least), None) if self.results < least => {
                (Status::MORE_RESULTS_EXISTS, 0)
            }
            _ => (Status::default(), 0),
        }
    }

    /// The sequence number for the client of the frame whose header was read last.
    fn client_sequence(&self) -> u8 {
        self.next.wrapping_sub(1).wrapping_add(self.shift)
    }
}

fn eof_frame(sequence: u8, status: Status, warnings: u16) -> [u8; HEADER + EOF_LENGTH] {
    let [a, b, c, d] = Header { length: EOF_LENGTH, sequence }.to_bytes();
    let [e, f, g, h, i] = eof_bytes(status, warnings);
    [a, b, c, d, e, f, g, h, i]
}
