//! Whether the primary itself shows what others have seen already: the binary log is sent before the engine commits,
//! so that a replica can be ahead of its primary.
//!
//! MySQL says what it still commits (`gtid_owned`). MariaDB does not; there the end of the log is taken from
//! `SHOW MASTER STATUS`, and `Binlog_snapshot_file` and `Binlog_snapshot_position` tell how far the engine has come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::rows::TextResult;

use super::ask::{AskError, Line};
use super::group;
use super::shared::Shared;
use crate::route::PrimaryBound;
use gtid::Position;

/// How long the primary may keep a transaction between log and commit before the statement that needs it fails.
/// Longer than the default of rpl_semi_sync_source_timeout, after which the server goes on by itself.
pub(super) const SHOW_LIMIT: Duration = Duration::from_secs(15);

/// Questions without a pause in between, and the pause after them.
const EAGER: u32 = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// What of `position` a MySQL primary still commits, by its answer. What is in neither of its sets was rolled back, or
/// comes from another history; nobody can wait for that.
pub(super) fn still_committing(position: &Position, bound: &PrimaryBound) -> Option<Position> {
    let shown = bound.shown.as_ref()?;
    let missing = position.missing_from(shown);
    let committing = bound.high.missing_from(shown);
    (!missing.is_empty() && missing.intersects(&committing)).then_some(missing)
}

/// The pause before the `count`th question about the same transaction.
pub(super) fn pause(count: u32) -> Duration {
    if count < EAGER { Duration::ZERO } else { PAUSE * (count - EAGER + 1).min(10) }
}

/// Answers the callers that wait for a MariaDB primary, one group after the other.
pub(super) async fn serve(shared: Arc<Shared>) {
    let mut line = Line::new(Arc::clone(&shared));
    loop {
        let callers = shared.shows.gather().await;
        let answer = shows(&shared, &mut line).await;
        group::answer(callers, &answer);
    }
}

/// Waits until the primary shows everything that stood in its log when this was called.
async fn shows(shared: &Shared, line: &mut Line) -> Result<(), AskError> {
    let began = Instant::now();
    loop {
        let (logged, node, incarnation, end) =
            line.within_limit(async |line| end_of_log(shared, line).await).await?;
        match committed(line, &end, began).await? {
            Committed::Yes => {
                shared.update(|board, _| board.overheard(node, incarnation, &logged, None));
                return Ok(());
            }
            // Behind another connection there may be another primary, whose log ends elsewhere.
            Committed::Broken if began.elapsed() <= SHOW_LIMIT => {}
            Committed::Broken => return Err(failed("its connections break again and again")),
            Committed::No => {
                let position = Arc::from(logged.to_string());
                return Err(AskError::Stuck { seconds: SHOW_LIMIT.as_secs(), position });
            }
        }
    }
}

/// Whether the engine has committed everything before a place in the log.
enum Committed {
    Yes,
    /// Not within the time limit.
    No,
    /// The connection broke before that was known.
    Broken,
}

async fn committed(line: &mut Line, end: &Place, began: Instant) -> Result<Committed, AskError> {
    let mut count = 0;
    loop {
        let question = async |line: &mut Line| {
            let answer =
                line.try_question(async |held| held.connection().ask(SNAPSHOT, Duration::ZERO).await).await;
            Ok(answer.map(|answer| snapshot_place(&answer)))
        };
        match line.within_limit(question).await? {
            Some(Some(place)) if place >= *end => return Ok(Committed::Yes),
            Some(Some(_)) => {}
            Some(None) => return Err(failed("it does not tell how far it has committed")),
            None => return Ok(Committed::Broken),
        }
        if began.elapsed() > SHOW_LIMIT {
            return Ok(Committed::No);
        }
        count += 1;
        if !pause(count).is_zero() {
            tokio::time::sleep(pause(count)).await;
        }
    }
}

type End = (Arc<Position>, super::snapshot::NodeId, u64, Place);

async fn end_of_log(shared: &Shared, line: &mut Line) -> Result<End, AskError> {
    loop {
        // The position first: what it holds stands before the end of the log that is asked for next.
        let (sample, node) = line.sample().await;
        let incarnation = shared.snapshot.load().node(node).map_or(0, |node| node.incarnation);
        let answer =
            line.try_question(async |held| held.connection().ask("SHOW MASTER STATUS", Duration::ZERO).await);
        let Some(answer) = answer.await else { continue };
        let place = answer
            .value(0, "File")
            .zip(answer.value(0, "Position"))
            .and_then(|(file, at)| Place::read(file, at));
        return match place {
            Some(place) => Ok((sample.logged, node, incarnation, place)),
            None => Err(failed("it has no binary log; start it with log_bin")),
        };
    }
}

fn failed(why: &str) -> AskError {
    AskError::Failed { why: Arc::from(why) }
}

const SNAPSHOT: &str = "SHOW GLOBAL STATUS LIKE 'Binlog\\_snapshot\\_%'";

fn snapshot_place(answer: &TextResult) -> Option<Place> {
    let find = |name: &[u8]| {
        answer.rows.iter().find_map(|row| match row.as_slice() {
            [Some(key), Some(value)] if key.eq_ignore_ascii_case(name) => Some(value.as_slice()),
            _ => None,
        })
    };
    Place::read(find(b"Binlog_snapshot_file")?, find(b"Binlog_snapshot_position")?)
}

/// A place in the binary log: the number at the end of the file's name, and the offset in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    file: u64,
    offset: u64,
}

impl Place {
    fn read(file: &[u8], offset: &[u8]) -> Option<Self> {
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse().ok();
        let digits = file.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        Some(Self { file: number(file.get(file.len() - digits..)?)?, offset: number(offset)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;

    fn position(text: &str) -> Position {
        let text = text.replace('U', "3e11fa47-71ca-11e1-9e33-c80aa9429562");
        Position::parse(Flavor::Mysql, text.as_bytes()).unwrap()
    }

    #[test]
    fn only_what_is_being_committed_is_waited_for() {
        let bound = PrimaryBound { high: position("U:1-7"), shown: Some(position("U:1-5,U:7")) };
        assert_eq!(still_committing(&position("U:5"), &bound), None);
        assert_eq!(still_committing(&position("U:7"), &bound), None);
        assert_eq!(still_committing(&position("U:1-7"), &bound), Some(position("U:6")));
        // Rolled back, or of another history.
        assert_eq!(still_committing(&position("U:8"), &bound), None);
    }

    #[test]
    fn places_compare_by_file_first() {
        let place = |file: &str, at: &str| Place::read(file.as_bytes(), at.as_bytes()).unwrap();
        assert!(place("binlog.000009", "900") < place("binlog.000010", "4"));
        assert!(place("binlog.999999", "900") < place("binlog.1000000", "4"));
        assert!(place("binlog.000010", "4") < place("binlog.000010", "400"));
        assert_eq!(Place::read(b"", b""), None);
    }

    #[test]
    fn pauses_grow_and_stay_small() {
        assert_eq!(pause(1), Duration::ZERO);
        assert_eq!(pause(1000), Duration::from_millis(10));
    }
}
