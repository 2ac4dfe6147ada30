//! The packets that steer a reply: read, reported, and translated.

use super::classify::Phase;
use super::rows::End;
use super::{ClientView, Expect, ReplyError, ReplySink, ReplyWalker};
use crate::eof::{EOF_HEADER, EOF_LENGTH};
use crate::err::ERR_HEADER;
use crate::frame::begin_packet;
use crate::ok::OK_HEADER;
use crate::reader::Reader;
use crate::{Capabilities, ErrPacket, Malformed, OkPacket, PrepareOk, Status, prepared};

/// What servers speak to the proxy, as far as replies depend on it.
pub(super) const SERVER: Capabilities =
    Capabilities::PROTOCOL_41.union(Capabilities::SESSION_TRACK).union(Capabilities::DEPRECATE_EOF);

/// What becomes of a packet that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Passed on; possibly changed in place, its length the same.
    Forward,
    /// An EOF packet takes its place.
    Eof(Status, u16),
    /// The payload in `ReplyWalker::rewritten` takes its place, behind room for a header.
    Rewritten,
}

/// An EOF packet that is due in front of a packet that was read, and how the result ends if that is what it says.
#[derive(Clone, Copy, Debug)]
pub(super) struct EofInFront(pub(super) Option<End>);

impl ReplyWalker {
    /// Reads a packet, tells the sink and sets the next phase.
    pub(super) fn control(
        &mut self,
        payload: &mut [u8],
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(Option<EofInFront>, Fate), ReplyError> {
        match (payload.first().copied(), self.phase) {
            (Some(ERR_HEADER), _) => {
                sink.err(&ErrPacket::parse(payload)?);
                self.phase = Phase::Done;
                Ok((self.eof_due.then_some(EofInFront(None)), Fate::Forward))
            }
            (Some(OK_HEADER), Phase::First) if self.expect == Expect::Prepare => {
                let ok = PrepareOk::parse(payload)?;
                prepared::set_statement_id(payload, view.statement_id)?;
                sink.prepared(ok);
                self.prepared_warnings = ok.warnings;
                self.phase = Phase::PrepareParams { left: ok.params, columns: ok.columns }.skip_empty();
                Ok((None, Fate::Forward))
            }
            (Some(OK_HEADER), Phase::First) | (Some(EOF_HEADER), _) => self.ok(payload, view, sink),
            _ => {
                self.results = self.results.saturating_add(1);
                self.phase = Phase::Columns(column_count(payload, sink)?);
                Ok((None, Fate::Forward))
            }
        }
    }

    fn ok(
        &mut self,
        payload: &[u8],
        view: &ClientView<'_>,
        sink: &mut impl ReplySink,
    ) -> Result<(Option<EofInFront>, Fate), ReplyError> {
        let said = OkPacket::parse(payload, SERVER)?;
        sink.ok(&said);
        let ok = OkPacket { status: said.status | self.added, ..said };
        if self.phase == Phase::First {
            self.results = self.results.saturating_add(1);
        }
        let several = matches!(self.expect, Expect::Query | Expect::Execute);
        let more = several && ok.status.contains(Status::MORE_RESULTS_EXISTS);
        self.phase = if more { Phase::First } else { Phase::Done };
        self.stopped = more && self.stops;
        self.status = Some(ok.status);
        // Where a cursor was opened, one EOF stands for both: the one behind the definitions and the one behind the rows.
        let eof_in_front = self.eof_due && !ok.status.contains(Status::CURSOR_EXISTS);
        self.eof_due = self.eof_due && eof_in_front;
        let is_eof = payload.first() == Some(&EOF_HEADER);
        let short = is_eof && payload.len() == EOF_LENGTH;
        let same = ok.status == said.status && (short || is_all_wanted(&ok, view));
        let fate = if is_eof && (short && !same || !view.capabilities.contains(Capabilities::DEPRECATE_EOF)) {
            Fate::Eof(ok.status, ok.warnings)
        } else if same {
            Fate::Forward
        } else {
            let header = if is_eof { EOF_HEADER } else { OK_HEADER };
            self.rewritten.clear();
            let _ = begin_packet(&mut self.rewritten);
            ok.write(&mut self.rewritten, header, view.capabilities, view.wanted)?;
            Fate::Rewritten
        };
        Ok((eof_in_front.then_some(EofInFront(Some(End { status: ok.status, warnings: ok.warnings }))), fate))
    }
}

/// Whether the client gets the packet as it is. Without session state, OK packets are the same with and without
/// SESSION_TRACK: servers put a length in front of the info in both cases.
fn is_all_wanted(ok: &OkPacket<'_>, view: &ClientView<'_>) -> bool {
    !ok.status.contains(Status::SESSION_STATE_CHANGED)
        || (view.capabilities.contains(Capabilities::SESSION_TRACK) && view.wanted.keeps_all(ok.tracked))
}

fn column_count(payload: &[u8], sink: &mut impl ReplySink) -> Result<u64, Malformed> {
    let mut reader = Reader::new(payload);
    let columns = reader.lenenc("number of columns cut short")?;
    if !reader.is_empty() {
        return Err(Malformed::new("bytes behind the number of columns"));
    }
    if columns == 0 {
        return Err(Malformed::new("result set without columns"));
    }
    sink.result_set(columns);
    Ok(columns)
}
