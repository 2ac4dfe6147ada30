//! What a new primary has not got of what sessions wrote and saw under the one before it.
//!
//! MySQL's sets say it themselves. A MariaDB position cannot: after a failover that lost `0-1-7` the new primary writes
//! `0-2-7`, and every comparison of numbers says "there". `gtid_binlog_state` names the server of each number, and
//! `gtid_slave_pos` that of what was applied without being logged.

use std::sync::Arc;
use std::time::Duration;

use gtid::{BinlogState, DomainPositions, Flavor, Position};

use super::ask::{AskError, Line};
use super::group;
use super::shared::Shared;

const QUESTION: &str = "SELECT @@global.gtid_binlog_state, @@global.gtid_slave_pos";

/// Which transactions a MariaDB primary has, by the servers that wrote them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Origins {
    logged: BinlogState,
    applied: DomainPositions,
}

impl Origins {
    /// What of `need` it does not have.
    pub(super) fn lost(&self, need: &Position) -> Position {
        let Position::Mariadb(need) = need else { return Position::empty(Flavor::Mariadb) };
        let unlogged = self.logged.lost(need);
        let mut lost = DomainPositions::default();
        for gtid in unlogged.iter() {
            let applied = self.applied.get(gtid.domain);
            let has = applied
                .is_some_and(|last| last.server_id == gtid.server_id && last.sequence >= gtid.sequence);
            if !has {
                lost.merge(&DomainPositions::from(gtid));
            }
        }
        Position::Mariadb(lost)
    }
}

/// Answers the callers that have changed over to a new MariaDB primary, one group after the other.
pub(super) async fn serve(shared: Arc<Shared>) {
    let mut line = Line::new(Arc::clone(&shared));
    loop {
        let callers = shared.origins.gather().await;
        let answer = line.within_limit(async |line| origins(line).await).await;
        group::answer(callers, &answer);
    }
}

async fn origins(line: &mut Line) -> Result<Arc<Origins>, AskError> {
    loop {
        // Whoever answers must have confirmed that it is the primary.
        line.sample().await;
        let Some(answer) =
            line.try_question(async |held| held.connection().ask(QUESTION, Duration::ZERO).await).await
        else {
            continue;
        };
        let text = |name| answer.value(0, name).unwrap_or_default();
        let logged = BinlogState::parse(text("@@global.gtid_binlog_state"));
        let applied = DomainPositions::parse(text("@@global.gtid_slave_pos"));
        return match (logged, applied) {
            (Ok(logged), Ok(applied)) => Ok(Arc::new(Origins { logged, applied })),
            (Err(why), _) | (_, Err(why)) => Err(AskError::Failed { why: Arc::from(why.to_string()) }),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> Position {
        Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap()
    }

    #[test]
    fn a_number_counts_only_with_the_server_that_wrote_it() {
        let origins = Origins {
            logged: BinlogState::parse(b"0-1-193746,0-2-193747,7-1-3").unwrap(),
            applied: DomainPositions::parse(b"0-1-193746,9-1-5").unwrap(),
        };
        assert_eq!(origins.lost(&position("0-1-193747")), position("0-1-193747"));
        assert!(origins.lost(&position("0-1-193746")).is_empty());
        assert!(origins.lost(&position("0-2-193747,7-1-3")).is_empty());
        // Applied, and not logged.
        assert!(origins.lost(&position("9-1-5")).is_empty());
        assert_eq!(origins.lost(&position("9-1-6,9-2-4,7-1-3")), position("9-1-6"));
    }
}
