//! The one question that is asked of every node all the time: where are you, and what are you?
//!
//! | | LOW: what is in it is visible | HIGH: what is visible is in it |
//! |---|---|---|
//! | MySQL | `gtid_executed` | `gtid_owned` and `gtid_executed`, selected in this order |
//! | MariaDB | `gtid_slave_pos` | `gtid_binlog_pos`, where it logs what it applies; with `gtid_slave_pos` for what came before its log |
//!
//! A MySQL transaction is visible a moment before it enters `gtid_executed`; until then it is in `gtid_owned`, and
//! it moves from one to the other under a lock. A MariaDB primary's own writes are never in `gtid_slave_pos`, and
//! its `gtid_binlog_pos` is ahead of what it shows, so that a true LOW must be asked for by other means (`shows`).
//! MariaDB's `gtid_binlog_state` is asked for in the same breath, and after the positions: a log state older than the
//! position would not show who wrote the last of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtid::{BinlogState, Flavor, ParseError, Position, parse_owned};
use wire::rows::TextResult;

/// A node's answer.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// How the server names itself to the others.
    pub(super) identity: String,
    /// Whether ordinary accounts may write to it.
    pub(super) writable: bool,
    /// A safe lower bound of what it shows.
    pub(super) applied: Arc<Position>,
    /// A bound of what it shows from above, where it logs what it applies.
    pub(super) logged: Arc<Position>,
    /// MariaDB: who wrote what in its log.
    pub(super) log: Option<Arc<BinlogState>>,
    /// Just before the question went out.
    pub(super) sent_at: Instant,
    /// When the answer was there.
    pub(super) received_at: Instant,
}

/// The question, without or with a wait in front: until the node has applied `target`, or the limit is over.
///
/// Columns are computed from left to right, so that the positions are read after the wait.
pub(super) fn question(flavor: Flavor, wait: Option<(&str, Duration)>) -> String {
    let seconds = |limit: Duration| format!("{:.4}", limit.as_secs_f64());
    match flavor {
        Flavor::Mysql => {
            let wait = wait.map_or("0".to_owned(), |(target, limit)| {
                format!("WAIT_FOR_EXECUTED_GTID_SET('{target}', {})", seconds(limit))
            });
            format!(
                "SELECT {wait}, @@global.gtid_owned, @@global.gtid_executed, @@global.super_read_only, \
                 @@global.read_only, @@global.server_uuid"
            )
        }
        Flavor::Mariadb => {
            let wait = wait.map_or("0".to_owned(), |(target, limit)| {
                format!("MASTER_GTID_WAIT('{target}', {})", seconds(limit))
            });
            format!(
                "SELECT {wait}, @@global.gtid_slave_pos, @@global.gtid_binlog_pos, @@global.gtid_binlog_state, \
                 @@global.read_only, @@global.server_id"
            )
        }
    }
}

/// Why an answer could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// Not the columns that were asked for.
    #[error("an answer without a row, or with other columns than were asked for")]
    Shape,
    /// A text that is no position, or one too large.
    #[error("its position cannot be read: {0}")]
    Position(#[from] ParseError),
}

/// Reads answers; what did not change since the last one is not parsed again.
#[derive(Debug)]
pub(super) struct Reader {
    flavor: Flavor,
    texts: [Vec<u8>; 2],
    log_text: Vec<u8>,
    applied: Arc<Position>,
    logged: Arc<Position>,
    log: Option<Arc<BinlogState>>,
}

impl Reader {
    /// A reader for one connection.
    pub(super) fn new(flavor: Flavor) -> Self {
        let empty = Arc::new(Position::empty(flavor));
        Self {
            flavor,
            texts: [Vec::new(), Vec::new()],
            log_text: Vec::new(),
            applied: Arc::clone(&empty),
            logged: empty,
            log: (flavor == Flavor::Mariadb).then(Arc::default),
        }
    }

    /// Reads the answer to [`question`].
    pub(super) fn read(
        &mut self,
        answer: &TextResult,
        sent_at: Instant,
        received_at: Instant,
    ) -> Result<Sample, Unreadable> {
        let Some([_, first, second, third, read_only, identity]) = answer.rows.first().map(Vec::as_slice)
        else {
            return Err(Unreadable::Shape);
        };
        let bytes = |value: &Option<Vec<u8>>| value.clone().unwrap_or_default();
        self.positions([bytes(first), bytes(second)])?;
        let off = |value: &Option<Vec<u8>>| matches!(value.as_deref(), Some(b"0" | b"OFF"));
        let super_off = match self.flavor {
            Flavor::Mysql => off(third),
            Flavor::Mariadb => {
                self.log_state(bytes(third))?;
                true
            }
        };
        Ok(Sample {
            identity: String::from_utf8_lossy(&bytes(identity)).into_owned(),
            writable: super_off && off(read_only),
            applied: Arc::clone(&self.applied),
            logged: Arc::clone(&self.logged),
            log: self.log.clone(),
            sent_at,
            received_at,
        })
    }

    fn positions(&mut self, texts: [Vec<u8>; 2]) -> Result<(), ParseError> {
        if self.texts == texts {
            return Ok(());
        }
        let [first, second] = &texts;
        match self.flavor {
            Flavor::Mysql => {
                let owned = Position::Mysql(parse_owned(first)?);
                if self.texts[1] != *second {
                    self.applied = Arc::new(Position::parse(self.flavor, second)?);
                }
                self.logged = union(&self.applied, &owned);
            }
            Flavor::Mariadb => {
                self.applied = Arc::new(Position::parse(self.flavor, first)?);
                self.logged = union(&self.applied, &Position::parse(self.flavor, second)?);
            }
        }
        self.texts = texts;
        Ok(())
    }

    fn log_state(&mut self, text: Vec<u8>) -> Result<(), ParseError> {
        if self.log_text != text {
            self.log = Some(Arc::new(BinlogState::parse(&text)?));
            self.log_text = text;
        }
        Ok(())
    }
}

/// Both together; the first itself when it has all of the second.
fn union(all: &Arc<Position>, more: &Position) -> Arc<Position> {
    if all.covers(more) {
        return Arc::clone(all);
    }
    let mut all = Position::clone(all);
    // Both come from one server and so are of one flavour.
    let _ = all.merge(more);
    Arc::new(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(values: [&str; 6]) -> TextResult {
        TextResult {
            rows: vec![values.iter().map(|value| Some(value.as_bytes().to_vec())).collect()],
            ..TextResult::default()
        }
    }

    fn read(reader: &mut Reader, values: [&str; 6]) -> Sample {
        let now = Instant::now();
        reader.read(&answer(values), now, now).unwrap()
    }

    const U: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    #[test]
    fn mysql_low_is_executed_and_high_has_owned_too() {
        let mut reader = Reader::new(Flavor::Mysql);
        let sample = read(&mut reader, ["0", &format!("{U}:6#31"), &format!("{U}:1-5"), "0", "0", U]);
        assert_eq!(sample.applied.to_string(), format!("{U}:1-5"));
        assert_eq!(sample.logged.to_string(), format!("{U}:1-6"));
        assert!(sample.writable);
        let sample = read(&mut reader, ["1", "", &format!("{U}:1-5"), "1", "1", U]);
        assert_eq!(sample.logged, sample.applied);
        assert!(!sample.writable);
    }

    #[test]
    fn mariadb_low_is_applied_and_high_what_is_logged_or_came_before_the_log() {
        let mut reader = Reader::new(Flavor::Mariadb);
        let sample = read(&mut reader, ["-1", "0-1-7,3-1-2", "0-1-8", "0-1-8,0-2-4", "1", "2"]);
        assert_eq!(sample.applied.to_string(), "0-1-7,3-1-2");
        assert_eq!(sample.logged.to_string(), "0-1-8,3-1-2");
        assert!(!sample.writable);
        assert_eq!(sample.log.as_deref(), Some(&BinlogState::parse(b"0-1-8,0-2-4").unwrap()));
        assert_eq!(sample.identity, "2");
        assert!(read(&mut reader, ["-1", "", "", "", "0", "2"]).writable);
    }

    #[test]
    fn the_same_texts_give_the_same_value() {
        let mut reader = Reader::new(Flavor::Mysql);
        let set = format!("{U}:1-5");
        let first = read(&mut reader, ["0", "", &set, "0", "0", U]);
        let second = read(&mut reader, ["0", "", &set, "0", "0", U]);
        assert!(Arc::ptr_eq(&first.applied, &second.applied) && Arc::ptr_eq(&first.logged, &second.logged));
    }

    #[test]
    fn nonsense_is_an_error() {
        let now = Instant::now();
        let mut reader = Reader::new(Flavor::Mysql);
        assert!(matches!(reader.read(&TextResult::default(), now, now), Err(Unreadable::Shape)));
        assert!(matches!(
            reader.read(&answer(["0", "", "x:1", "0", "0", U]), now, now),
            Err(Unreadable::Position(_))
        ));
    }

    #[test]
    fn waits_are_fractions_of_a_second() {
        let sql = question(Flavor::Mysql, Some(("u:1", Duration::from_millis(100))));
        assert!(
            sql.starts_with("SELECT WAIT_FOR_EXECUTED_GTID_SET('u:1', 0.1000), @@global.gtid_owned"),
            "{sql}"
        );
        assert!(question(Flavor::Mariadb, None).starts_with("SELECT 0, @@global.gtid_slave_pos"));
    }
}
