//! What came of the proxy's own queries, independent of the packets.

use crate::{ErrPacket, OkPacket, Status, Tracked};

/// One result of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryOutcome {
    /// The statement has no rows.
    Ok(OkOutcome),
    /// Rows.
    Rows(TextResult),
    /// An error, always the last result.
    Err(ErrPacket<'static>),
}

/// An OK packet.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OkOutcome {
    /// Rows changed.
    pub affected_rows: u64,
    /// First value generated for an AUTO_INCREMENT column; 0 if none.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// What the server told of the session.
    pub told: Told,
}

/// Rows as text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TextResult {
    /// The columns' names (their aliases); bytes that are not UTF-8 are replaced.
    pub columns: Vec<String>,
    /// Each row's values; `None` is NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// Status flags.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// What the server told of the session.
    pub told: Told,
}

/// What an OK packet told of the session, as far as the proxy's own connections ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Told {
    /// The GTIDs of session_track_gtids.
    pub gtids: Option<Vec<u8>>,
    /// The current schema.
    pub schema: Option<Vec<u8>>,
    /// Variables, name and value.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Told {
    pub(super) fn of(ok: &OkPacket<'_>) -> Told {
        let mut told = Told::default();
        for tracked in ok.tracked.iter().flatten() {
            match tracked {
                Tracked::Gtids(gtids) => told.gtids = Some(gtids.to_vec()),
                Tracked::Schema(schema) => told.schema = Some(schema.to_vec()),
                Tracked::Variable { name, value } => told.variables.push((name.to_vec(), value.to_vec())),
                _ => {}
            }
        }
        told
    }
}

impl OkOutcome {
    pub(super) fn of(ok: &OkPacket<'_>) -> OkOutcome {
        OkOutcome {
            affected_rows: ok.affected_rows,
            last_insert_id: ok.last_insert_id,
            status: ok.status,
            warnings: ok.warnings,
            told: Told::of(ok),
        }
    }
}

impl TextResult {
    /// The value in this row of the column of this name, compared without regard to case; `None` also for NULL.
    pub fn value(&self, row: usize, column: &str) -> Option<&[u8]> {
        let index = self.columns.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        self.rows.get(row)?.get(index)?.as_deref()
    }
}
