//! A replica as the judge of the classifier: it must not refuse what is called safe there.

use std::collections::BTreeMap;

use sandbox::{Engine, Family};
use sql::{Charset, Dialect, Flavor, Kind, Target as Goes, classify};
use wire::{Capabilities, CommandCode, Status};

use super::corpus::{Line, Login, conversations, is_whole};
use super::stage::{SCHEMA, Stage};
use crate::harness::client::Client;
use crate::harness::login::Account;
use crate::harness::on_every_engine;
use crate::harness::stream::Target;

on_every_engine!(no_safe_statement_is_refused);

/// ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
const READ_ONLY_ERRORS: [u16; 3] = [1290, 1792, 1836];

/// What clients call it when the server has hung up: CR_SERVER_LOST.
const GONE: u16 = 2013;

/// Of the whole corpus: fewer would mean that the judge sees less than it did.
const SAFE_AT_LEAST: usize = 1_750;

fn no_safe_statement_is_refused(engine: Engine) {
    let stage = Stage::new(engine);
    let mut verdicts = Verdicts::default();
    for lines in conversations(engine.family()) {
        stage.clear();
        let mut court = Court::open(&stage, engine.family());
        lines.iter().for_each(|line| court.hear(line, &mut verdicts));
    }
    verdicts.show(engine);
    assert!(verdicts.refused.is_empty(), "{engine}: a replica refuses\n{}", verdicts.refused.join("\n"));
    assert!(!is_whole() || verdicts.safe >= SAFE_AT_LEAST, "only {} are safe", verdicts.safe);
}

#[derive(Default)]
struct Verdicts {
    heard: usize,
    safe: usize,
    /// Safe ones that a replica answered without any error.
    ran: usize,
    /// Called safe, and refused.
    refused: Vec<String>,
    /// Reads that are sent to the primary although a replica would run them, by the reason for it.
    careful: BTreeMap<&'static str, Vec<String>>,
}

impl Verdicts {
    fn show(&self, engine: Engine) {
        eprintln!("{engine}: of {} statements {} are safe, {} of these ran", self.heard, self.safe, self.ran);
        for (reason, places) in &self.careful {
            eprintln!("{engine}: {} go to the primary ({reason}) and run on a replica:", places.len());
            places.iter().for_each(|place| eprintln!("    {place}"));
        }
    }
}

/// The connections of a conversation.
struct Court {
    family: Family,
    server: Target,
    replica: Target,
    /// The session, on the primary: what is not safe runs here, so that the tables are as the conversation has them.
    primary: Client,
    other: Option<Client>,
    /// The same session on a replica: safe statements, and what sets its variables.
    judge: Client,
    /// For reads that are not called safe, each in a session as good as new.
    probe: Client,
    /// For positions.
    clerk: [Client; 2],
    dialect: Dialect,
    /// Something was said to the primary since the replica was waited for.
    behind: bool,
}

impl Court {
    fn open(stage: &Stage, family: Family) -> Self {
        let (server, replica) = (stage.server(), stage.replica());
        let connect = |target: &Target| connect(target, Login::Ordinary);
        Self {
            family,
            primary: connect(&server),
            other: None,
            judge: connect(&replica),
            probe: connect(&replica),
            clerk: [connect(&server), connect(&replica)],
            dialect: dialect(family, true),
            behind: false,
            server,
            replica,
        }
    }

    fn hear(&mut self, line: &Line, verdicts: &mut Verdicts) {
        if let Some(login) = line.session {
            self.primary = connect(&self.server, login);
            self.judge = connect(&self.replica, login);
            self.other = None;
            self.dialect = dialect(self.family, login != Login::Single);
        }
        verdicts.heard += 1;
        let said = classify(&line.statement, self.dialect);
        if said.target == Goes::Replica && !line.other {
            verdicts.safe += 1;
            self.wait();
            match run(&mut self.judge, &line.statement) {
                None => verdicts.ran += 1,
                Some(code) if READ_ONLY_ERRORS.contains(&code) => {
                    verdicts.refused.push(format!("{code} {}", line.place()));
                }
                Some(_) => {}
            }
            // What a transaction has read must not change, and that would hold up the replica.
            if self.judge.status.contains(Status::IN_TRANS) {
                self.judge.query("ROLLBACK");
            }
            return;
        }
        if !line.other && matches!(said.kind, Kind::Select | Kind::Show | Kind::Do | Kind::Explain) {
            self.wait();
            if self.would_run(&line.statement) {
                verdicts.careful.entry(said.reason.as_str()).or_default().push(line.place());
            }
        }
        self.say(line, said.kind);
    }

    /// Says it to the primary, and to the replica's session what concerns this session alone.
    fn say(&mut self, line: &Line, kind: Kind) {
        self.behind = true;
        if line.other {
            let other = self.other.get_or_insert_with(|| connect(&self.server, Login::Ordinary));
            run(other, &line.statement);
            return;
        }
        run(&mut self.primary, &line.statement);
        if matches!(kind, Kind::SetSession | Kind::Use) {
            self.wait();
            run(&mut self.judge, &line.statement);
        }
        self.primary.send_query("SELECT @@sql_mode, @@character_set_client");
        let Ok(reply) = self.primary.try_reply() else {
            // It was the end of the session.
            self.primary = connect(&self.server, Login::Ordinary);
            return;
        };
        // Where the session may not ask, nothing has changed.
        if reply.error().is_none()
            && let Some([Some(mode), Some(charset)]) = reply.text_rows().first().map(Vec::as_slice)
        {
            self.dialect.set_sql_mode(mode.as_bytes());
            self.dialect.charset = Charset::from_name(charset.as_bytes());
        }
    }

    /// Waits until the replica has what the primary has.
    fn wait(&mut self) {
        if !std::mem::take(&mut self.behind) {
            return;
        }
        let [primary, replica] = &mut self.clerk;
        let waited = if self.family == Family::Mysql {
            let position = primary.value("SELECT @@GLOBAL.gtid_executed");
            replica.value(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{position}', 30)"))
        } else {
            let position = primary.value("SELECT @@GLOBAL.gtid_binlog_pos");
            replica.value(&format!("SELECT MASTER_GTID_WAIT('{position}', 30)"))
        };
        assert_eq!(waited, "0", "the replica is too late");
    }

    /// Whether a replica runs it although it may not write.
    fn would_run(&mut self, statement: &[u8]) -> bool {
        self.probe.plain(CommandCode::ResetConnection, b"");
        self.probe.plain(CommandCode::InitDb, SCHEMA.as_bytes());
        self.probe.run("START TRANSACTION READ ONLY");
        let ran = run(&mut self.probe, statement).is_none();
        self.probe.query("ROLLBACK");
        ran
    }
}

fn dialect(family: Family, multi_statements: bool) -> Dialect {
    let flavor = if family == Family::Mysql { Flavor::Mysql } else { Flavor::Mariadb };
    Dialect { flavor, multi_statements, ..Dialect::default() }
}

fn connect(target: &Target, login: Login) -> Client {
    let mut account = Account::app();
    if login != Login::NoSchema {
        account = account.schema(SCHEMA);
    }
    if login != Login::Single {
        account = account.with(Capabilities::MULTI_STATEMENTS);
    }
    account.connect(target).unwrap()
}

/// The number of the error, if it is one.
fn run(client: &mut Client, statement: &[u8]) -> Option<u16> {
    client.send_query(statement);
    match client.try_reply() {
        Ok(reply) => reply.error().map(|error| error.code),
        Err(_) => Some(GONE),
    }
}
