//! What a packet is, from where the reply stands and from the packet's first byte.

use super::Expect;
use crate::eof::EOF_HEADER;
use crate::err::ERR_HEADER;
use crate::frame::MAX_PAYLOAD;
use crate::ok::OK_HEADER;
use crate::{Header, Malformed};

/// First byte of the request for a local file (Protocol::LOCAL_INFILE_Request).
const LOCAL_INFILE: u8 = 0xFB;

/// Where a reply stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the first packet of a result.
    First,
    /// So many column definitions are due.
    Columns(u64),
    /// Rows, or definitions without a count, until OK or ERR.
    Rows,
    /// Definitions of a prepared statement's parameters; those of its columns follow.
    PrepareParams { left: u16, columns: u16 },
    /// Definitions of a prepared statement's columns.
    PrepareColumns { left: u16 },
    /// Within the one packet of COM_STATISTICS.
    Text,
    /// Within the name of a local file.
    FileName,
    /// The client's file is due.
    Infile,
    /// Nothing more.
    Done,
}

impl Phase {
    /// The next phase if nothing is due in this one.
    pub(super) fn skip_empty(self) -> Phase {
        match self {
            Phase::PrepareParams { left: 0, columns } => Phase::PrepareColumns { left: columns }.skip_empty(),
            Phase::PrepareColumns { left: 0 } => Phase::Done,
            phase => phase,
        }
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Passed on without being read; the phase it is of.
    Pass(Phase),
    /// Read.
    Control,
}

pub(super) fn classify(
    expect: Expect,
    phase: Phase,
    header: Header,
    first: Option<u8>,
) -> Result<Kind, Malformed> {
    let Some(first) = first else {
        return match (phase, expect) {
            (Phase::First, Expect::Statistics) => Ok(Kind::Pass(Phase::Text)),
            _ => Err(Malformed::new("empty packet in a reply")),
        };
    };
    if first == ERR_HEADER {
        return Ok(Kind::Control);
    }
    match phase {
        Phase::First => match (expect, first) {
            (Expect::Query | Expect::Execute, LOCAL_INFILE) => Ok(Kind::Pass(Phase::FileName)),
            (Expect::Query | Expect::Execute, EOF_HEADER) => {
                Err(Malformed::new("EOF at the start of a reply"))
            }
            (Expect::Query | Expect::Execute, _) => Ok(Kind::Control),
            (Expect::Prepare, OK_HEADER) => Ok(Kind::Control),
            (Expect::Single, OK_HEADER | EOF_HEADER) => Ok(Kind::Control),
            (Expect::Statistics, _) => Ok(Kind::Pass(Phase::Text)),
            _ => Err(Malformed::new("neither OK nor ERR as reply")),
        },
        // A row that starts with 0xFE has a first column of 2^24 bytes or more.
        Phase::Rows if first == EOF_HEADER && header.length < MAX_PAYLOAD => Ok(Kind::Control),
        _ if first == EOF_HEADER && phase != Phase::Rows => Err(Malformed::new("EOF among definitions")),
        _ => Ok(Kind::Pass(phase)),
    }
}
