//! One client of the load, and what it does in each turn.

use std::net::SocketAddr;

use crate::chance::Chance;
use crate::client::Connection;
use crate::error::{Error, Result};
use crate::scene::{POINTS, WIDE, digits};
use crate::workload::Workload;

/// Errors after which a transaction is simply tried again: lock wait timeout, deadlock, and MariaDB's snapshot conflict.
const TRY_AGAIN: [u16; 3] = [1205, 1213, 1020];

/// Every tenth statement of the workload `mixed` writes.
const WRITE_ONE_OF: u64 = 10;

/// Point reads of a transaction.
const READS: usize = 10;

/// Rows of a range read.
const RANGE: u64 = 100;

/// How often the rows of `tall` stand in the long result.
const TIMES: u64 = 100;

/// A client.
#[derive(Debug)]
pub(crate) struct Player {
    workload: Workload,
    door: SocketAddr,
    connection: Option<Connection>,
    prepared: Option<Prepared>,
    chance: Chance,
    number: u64,
    players: u64,
}

#[derive(Debug, Clone, Copy)]
struct Prepared {
    statement: u32,
    executed: bool,
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    /// Statements that were answered.
    pub(crate) statements: u64,
    /// Bytes of the answers.
    pub(crate) bytes: u64,
    /// Whether its duration counts.
    pub(crate) timed: bool,
    /// Whether it was given up, as transactions are that collide.
    pub(crate) given_up: bool,
}

impl Player {
    /// The client of this number, of so many, ready to begin.
    pub(crate) async fn ready(
        workload: Workload,
        door: SocketAddr,
        (number, players): (u64, u64),
    ) -> Result<Self> {
        let mut player = Self {
            workload,
            door,
            connection: None,
            prepared: None,
            chance: Chance::new(number),
            number,
            players: players.max(1),
        };
        if workload == Workload::Connect {
            return Ok(player);
        }
        let mut connection = Connection::open(door).await?;
        match workload {
            Workload::PointPrepared => {
                let statement = connection.prepare("SELECT c FROM points WHERE id=?").await?;
                player.prepared = Some(Prepared { statement, executed: false });
            }
            Workload::Row64k | Workload::Result100m => connection.expect_long_results(),
            _ => {}
        }
        player.connection = Some(connection);
        Ok(player)
    }

    /// One turn: a statement, a transaction, or a whole connection.
    pub(crate) async fn turn(&mut self) -> Result<Turn> {
        match self.workload {
            Workload::PointText | Workload::Responder | Workload::Memory => {
                let statement = point(self.any());
                self.read(&statement).await
            }
            Workload::PointPrepared => self.execute().await,
            Workload::Row64k => {
                let id = 1 + self.chance.below(WIDE);
                self.read(&format!("SELECT body FROM wide WHERE id={id}")).await
            }
            Workload::Result100m => {
                self.read(&format!("SELECT a.body FROM tall AS a JOIN tall AS b ON b.id <= {TIMES}")).await
            }
            Workload::ReadWrite => self.transaction().await,
            Workload::ReadWriteSplit => self.loose().await,
            Workload::Connect => self.whole_connection().await,
            Workload::Mixed => self.mixed().await,
        }
    }

    /// Says goodbye.
    pub(crate) async fn leave(mut self) -> Result<()> {
        match self.connection.take() {
            Some(connection) => connection.quit().await,
            None => Ok(()),
        }
    }

    /// The id of any row.
    fn any(&mut self) -> u64 {
        1 + self.chance.below(POINTS)
    }

    /// The id of a row that no other client writes.
    fn own(&mut self) -> u64 {
        let each = (POINTS / self.players).max(1);
        (1 + self.number + self.players * self.chance.below(each)).min(POINTS)
    }

    fn connection(&mut self) -> Result<&mut Connection> {
        self.connection.as_mut().ok_or_else(|| Error::Conversation("not connected".to_owned()))
    }

    async fn read(&mut self, statement: &str) -> Result<Turn> {
        let reply = self.connection()?.query(statement).await?;
        Ok(Turn { statements: 1, bytes: reply.bytes, timed: true, given_up: false })
    }

    async fn execute(&mut self) -> Result<Turn> {
        let id = self.any();
        let Some(prepared) = self.prepared else {
            return Err(Error::Conversation("nothing is prepared".to_owned()));
        };
        let reply = self.connection()?.execute(prepared.statement, !prepared.executed, id).await?;
        self.prepared = Some(Prepared { executed: true, ..prepared });
        Ok(Turn { statements: 1, bytes: reply.bytes, timed: true, given_up: false })
    }

    async fn mixed(&mut self) -> Result<Turn> {
        if self.chance.below(WRITE_ONE_OF) != 0 {
            let statement = point(self.any());
            return self.read(&statement).await;
        }
        let statement = format!("UPDATE points SET k=k+1 WHERE id={}", self.own());
        let turn = self.read(&statement).await?;
        Ok(Turn { timed: false, ..turn })
    }

    async fn whole_connection(&mut self) -> Result<Turn> {
        let mut connection = Connection::open(self.door).await?;
        let reply = connection.query(&point(self.any())).await?;
        connection.quit().await?;
        Ok(Turn { statements: 1, bytes: reply.bytes, timed: true, given_up: false })
    }

    async fn transaction(&mut self) -> Result<Turn> {
        let mut statements = self.script();
        statements.insert(0, "BEGIN".to_owned());
        statements.push("COMMIT".to_owned());
        let turn = self.run_all(&statements).await?;
        if turn.given_up {
            self.connection()?.query("ROLLBACK").await?;
        }
        Ok(turn)
    }

    async fn loose(&mut self) -> Result<Turn> {
        let statements = self.script();
        self.run_all(&statements).await
    }

    async fn run_all(&mut self, statements: &[String]) -> Result<Turn> {
        let mut turn = Turn { timed: true, ..Turn::default() };
        for statement in statements {
            match self.connection()?.query(statement).await {
                Ok(reply) => {
                    turn.statements += 1;
                    turn.bytes += reply.bytes;
                }
                Err(error) if error.code().is_some_and(|code| TRY_AGAIN.contains(&code)) => {
                    return Ok(Turn { timed: false, given_up: true, ..turn });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(turn)
    }

    /// The statements of a transaction.
    fn script(&mut self) -> Vec<String> {
        let mut statements: Vec<String> = (0..READS).map(|_| point(self.any())).collect();
        for (what, behind) in [("c", ""), ("SUM(k)", ""), ("c", " ORDER BY c"), ("DISTINCT c", " ORDER BY c")]
        {
            let first = 1 + self.chance.below(POINTS - RANGE);
            let last = first + RANGE - 1;
            statements.push(format!("SELECT {what} FROM points WHERE id BETWEEN {first} AND {last}{behind}"));
        }
        let (indexed, plain, replaced) = (self.own(), self.own(), self.own());
        let (k, text) = (self.chance.below(POINTS), digits(&mut self.chance, 119));
        let pad = digits(&mut self.chance, 59);
        statements.push(format!("UPDATE points SET k=k+1 WHERE id={indexed}"));
        statements.push(format!("UPDATE points SET c='{text}' WHERE id={plain}"));
        statements.push(format!("DELETE FROM points WHERE id={replaced}"));
        statements
            .push(format!("INSERT INTO points (id, k, c, pad) VALUES ({replaced}, {k}, '{text}', '{pad}')"));
        statements
    }
}

/// The beginning of every point read.
pub(crate) const POINT: &str = "SELECT c FROM points WHERE id=";

fn point(id: u64) -> String {
    format!("{POINT}{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(number: u64, players: u64) -> Player {
        Player {
            workload: Workload::ReadWrite,
            door: ([127, 0, 0, 1], 1).into(),
            connection: None,
            prepared: None,
            chance: Chance::new(number),
            number,
            players,
        }
    }

    #[test]
    fn clients_write_rows_of_their_own() {
        let mut writer = vec![None; usize::try_from(POINTS).unwrap() + 1];
        for number in 0..64 {
            let mut player = player(number, 64);
            for _ in 0..1_000 {
                let id = usize::try_from(player.own()).unwrap();
                assert_eq!(*writer[id].get_or_insert(number), number);
            }
        }
    }

    #[test]
    fn a_script_has_fourteen_reads_and_four_writes() {
        let script = player(3, 64).script();
        assert_eq!(script.len(), 18);
        assert_eq!(script.iter().filter(|statement| statement.starts_with("SELECT")).count(), 14);
    }
}
