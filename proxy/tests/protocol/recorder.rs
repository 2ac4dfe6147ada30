//! A conversation and everything that was said in it, to be held beside another one.

use std::sync::Mutex;

use sandbox::{Cluster, Engine};
use wire::{Capabilities, CommandCode, OkPacket, Status, Tracked};

use crate::harness::client::Client;
use crate::harness::clusters::{caught_up, schema, shared};
use crate::harness::login::Account;
use crate::harness::prepared::{Execution, Param};
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::{Packet, Part, Reply};
use crate::harness::stream::{Stream, Target};

/// A client that writes down what it receives.
pub(super) struct Recorder {
    pub(super) client: Client,
    with: &'static str,
    pub(super) schema: String,
    /// Whether the client asked to be told of transactions. MySQL sometimes tells of their begin and end uninvited.
    wants_transactions: bool,
    lines: Vec<String>,
}

impl Recorder {
    fn note(&mut self, what: impl Into<String>) {
        self.lines.push(what.into());
    }

    fn note_packets(&mut self, packets: &[Packet]) {
        for packet in packets {
            // Servers that compress count packets from where the frames stand, which no client looks at.
            let compressed = matches!(self.client.stream, Stream::Packed(_));
            let packet = &Packet { sequence: if compressed { 0 } else { packet.sequence }, ..packet.clone() };
            let line = describe(packet, self.client.capabilities, self.wants_transactions);
            self.note(line);
        }
    }

    /// The EOF between columns and rows is the proxy's own, for servers do not send it to the proxy. What stands in it is
    /// said again in the EOF behind the rows; but clients look here for a cursor, further results and OUT parameters. MySQL
    /// says nothing at all in the EOF behind the latter.
    fn note_packets_of(&mut self, reply: &Reply) {
        let mut packets = reply.packets.clone();
        for (index, packet) in packets.iter_mut().enumerate() {
            if reply.middles.contains(&index) {
                packet.payload[1..3].fill(0);
                packet.payload[3] &= 0x78;
                packet.payload[4] &= 0x10;
            } else if reply.out_ends.contains(&index) {
                packet.payload[1..].fill(0);
            }
        }
        self.note_packets(&packets);
    }

    /// A statement.
    pub(super) fn query(&mut self, text: impl AsRef<[u8]>) -> Reply {
        self.query_with_files(text, &[])
    }

    /// A statement that fails with an error whose text the proxy words itself.
    pub(super) fn refused(&mut self, text: &str) {
        let error = self.client.error(text);
        self.note(format!("> {text}"));
        self.note(format!("{} {}", error.code, error.state));
    }

    /// A statement that asks for files: these, in order, each in pieces.
    pub(super) fn query_with_files(&mut self, text: impl AsRef<[u8]>, files: &[&[&[u8]]]) -> Reply {
        let text = text.as_ref();
        self.note(format!("> {}", text[..text.len().min(300)].escape_ascii()));
        let mut reply = self.client.query(text);
        self.note_packets_of(&reply);
        let mut files = files.iter();
        while let Some(Part::Infile(_)) = reply.parts.last() {
            for piece in files.next().copied().unwrap_or_default() {
                self.client.send(piece).unwrap();
            }
            self.client.send(&[]).unwrap();
            reply = self.client.read_reply();
            self.note_packets_of(&reply);
        }
        reply
    }

    /// A change of the trackers: the proxy heeds it from the next statement on, a server in the reply to it.
    pub(super) fn set_trackers(&mut self, assignments: &str) {
        self.note(format!("> SET {assignments}"));
        self.client.run(format!("SET {assignments}"));
        self.wants_transactions |= assignments.contains("session_track_transaction_info");
    }

    /// Several statements, one after the other.
    pub(super) fn queries(&mut self, texts: &[&str]) {
        for text in texts {
            self.query(text);
        }
    }

    /// A command that is answered as a query is.
    pub(super) fn command(&mut self, code: CommandCode, argument: &[u8]) {
        self.note(format!("> {code:?} {}", argument.escape_ascii()));
        let reply = self.client.plain(code, argument);
        self.note_packets_of(&reply);
    }

    /// COM_STMT_PREPARE. Returns the id, which is not noted.
    pub(super) fn prepare(&mut self, text: impl AsRef<[u8]>) -> u32 {
        self.note(format!("> prepare {}", text.as_ref().escape_ascii()));
        match self.client.prepare(text) {
            Ok(prepared) => {
                let mut packets = prepared.packets.clone();
                packets[0].payload[1..5].fill(0);
                self.note_packets(&packets);
                prepared.id
            }
            Err(error) => {
                self.note(format!("{error:?}"));
                u32::MAX
            }
        }
    }

    /// COM_STMT_EXECUTE.
    pub(super) fn execute(&mut self, id: u32, params: &[Param], how: Execution) -> Reply {
        self.note(format!("> execute {how:?}"));
        let reply = self.client.execute(id, params, how);
        self.note_reply(&reply);
        reply
    }

    /// COM_STMT_BULK_EXECUTE.
    pub(super) fn bulk(&mut self, argument: &[u8]) {
        self.note("> bulk");
        let reply = self.client.plain(CommandCode::StmtBulkExecute, argument);
        self.note_reply(&reply);
    }

    /// COM_STMT_FETCH.
    pub(super) fn fetch(&mut self, id: u32, count: u32) {
        self.note(format!("> fetch {count}"));
        let reply = self.client.fetch(id, count);
        self.note_reply(&reply);
    }

    /// COM_STMT_RESET.
    pub(super) fn reset(&mut self, id: u32) {
        self.note("> reset");
        let reply = self.client.plain(CommandCode::StmtReset, &id.to_le_bytes());
        self.note_reply(&reply);
    }

    /// Errors name the statement's id, which the proxy gives out itself.
    fn note_reply(&mut self, reply: &Reply) {
        match reply.error() {
            Some(error) => {
                // Nor do versions agree on what they call the command.
                let text = without_ids(&error.message);
                let text = text.split(" given to ").next().unwrap_or_default();
                self.note(format!("{} {text}", error.code));
            }
            None => self.note_packets_of(reply),
        }
    }
}

/// The text of an error without the number in parentheses: the statement's id, which is another one on each server.
fn without_ids(text: &str) -> String {
    let digits = |character: char| character.is_ascii_digit();
    let parts = text
        .split('(')
        .map(|part| if part.starts_with(digits) { part.trim_start_matches(digits) } else { part });
    parts.collect::<Vec<_>>().join("(")
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let last = self.lines.len().saturating_sub(15);
            eprintln!("with the {}, {}:\n  {}", self.with, self.lines[0], self.lines[last..].join("\n  "));
        }
    }
}

/// A packet as text: byte by byte, except that positions in the log and numbers of statements are never the same twice, and that the order of
/// trackers is free.
fn describe(packet: &Packet, capabilities: Capabilities, transactions: bool) -> String {
    let ok = matches!(packet.payload.first(), Some(0 | 0xFE))
        .then(|| OkPacket::parse(&packet.payload, capabilities).ok())
        .flatten();
    let mut tracked: Vec<_> = ok.iter().flat_map(|ok| ok.tracked.iter().flatten()).collect();
    tracked.retain(|tracked| transactions || !matches!(tracked, Tracked::TransactionState(_)));
    let describe = |tracked: &Tracked<'_>| match tracked {
        Tracked::Gtids(_) | Tracked::Variable { name: b"last_gtid" | b"statement_id", .. } => {
            "a number".to_owned()
        }
        Tracked::Variable { name, value } => format!("{} = {}", name.escape_ascii(), value.escape_ascii()),
        other => format!("{other:?}"),
    };
    if let Some(ok) = ok.filter(|ok| ok.status.contains(Status::SESSION_STATE_CHANGED)) {
        // A server may say that something changed and then not what.
        let status =
            if tracked.is_empty() { ok.status.without(Status::SESSION_STATE_CHANGED) } else { ok.status };
        // MariaDB's order of variables is that of a hash table.
        let mut known: Vec<String> = tracked.iter().map(describe).collect();
        known.sort();
        let ok = OkPacket { tracked: Default::default(), status, ..ok };
        return format!("#{} {ok:?} {known:?}", packet.sequence);
    }
    if let Some(ok) = ok.filter(|_| capabilities.contains(Capabilities::SESSION_TRACK)) {
        return format!("#{} {ok:?} []", packet.sequence);
    }
    let shown = &packet.payload[..packet.payload.len().min(2000)];
    format!("#{} [{}] {}", packet.sequence, packet.payload.len(), shown.escape_ascii())
}

/// A proxy before a cluster, and a schema in it.
pub(super) struct Stage {
    pub(super) cluster: &'static Cluster,
    pub(super) proxy: Proxy,
    pub(super) schema: String,
    /// A conversation with the server and the same one through the proxy use the same tables.
    turns: Mutex<()>,
}

impl Stage {
    pub(super) fn new(engine: Engine) -> Self {
        Self::with(engine, "")
    }

    /// With these lines more in its endpoint.
    pub(super) fn with(engine: Engine, lines: &str) -> Self {
        let cluster = shared(engine);
        let lines = format!("consistency = \"session\"\nconsistency_timeout_us = 1000000\n{lines}");
        let proxy = Setup::of(cluster).endpoint("rw", &lines).start();
        let schema = schema(cluster);
        // So that the first DROP TABLE IF EXISTS has no more to warn of than the others.
        for table in ["texts", "tracked"] {
            cluster.primary().sql(&format!("CREATE TABLE {schema}.{table} (id INT)")).unwrap();
        }
        caught_up(cluster);
        Self { cluster, proxy, schema, turns: Mutex::default() }
    }

    /// Has the same conversation with the primary and through the proxy, and compares all that was heard.
    pub(super) fn compare(&self, account: &Account, conversation: impl Fn(&mut Recorder)) {
        let _turn = self.turns.lock().unwrap();
        let account = account.clone().schema(&self.schema);
        let direct =
            self.converse("server", &Target::Tcp(self.cluster.primary().address()), &account, &conversation);
        let proxied = self.converse("proxy", &self.proxy.target("rw"), &account, &conversation);
        assert_same(&direct, &proxied);
    }

    fn converse(
        &self,
        with: &'static str,
        target: &Target,
        account: &Account,
        conversation: impl Fn(&mut Recorder),
    ) -> Vec<String> {
        let client = account.connect(target).unwrap();
        let mut recorder = Recorder {
            client,
            with,
            schema: self.schema.clone(),
            wants_transactions: false,
            lines: Vec::new(),
        };
        // The proxy offers less than a server can; both must be asked for the same.
        recorder.note(format!("capabilities {:x}", recorder.client.capabilities.0));
        conversation(&mut recorder);
        std::mem::take(&mut recorder.lines)
    }
}

fn assert_same(direct: &[String], proxied: &[String]) {
    let differs = direct.iter().zip(proxied).position(|(one, other)| one != other);
    let at = differs.unwrap_or(direct.len().min(proxied.len()));
    if at == direct.len().max(proxied.len()) {
        return;
    }
    let begin = direct[..at].iter().rposition(|line| line.starts_with('>')).unwrap_or(0);
    let show = |lines: &[String]| lines[at.min(lines.len())..(at + 3).min(lines.len())].join("\n  ");
    panic!(
        "{}: not the same at line {at}\n  {}\nserver:\n  {}\nproxy:\n  {}",
        direct[0],
        direct[begin..at].join("\n  "),
        show(direct),
        show(proxied)
    );
}
