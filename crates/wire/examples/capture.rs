//! Records what a real server answers, for the tests of the reply walker (`tests/data`).
//!
//! `cargo run -p wire --example capture -- SOCKET USER PASSWORD > tests/data/NAME.txt` logs in through the server's UNIX
//! socket once for each combination of DEPRECATE_EOF and SESSION_TRACK, runs the same commands, and prints each reply in
//! hexadecimal. The account needs all rights on the schema `app`.
//!
//! A reply's end is taken to be where the server falls silent, so that the recording does not rest on the code it tests.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use wire::auth::{caching_sha2, native};
use wire::command::{write_command, write_query};
use wire::frame::{HEADER, write_packet};
use wire::{AuthPacket, Capabilities, CommandCode, Greeting, Header, Login, Plugin, prepared};

/// A server that says nothing for so long has said everything.
const SILENCE: Duration = Duration::from_millis(150);

/// Longer than the idle time the recording sets.
const IDLE: Duration = Duration::from_millis(1500);

/// What every recorded connection speaks.
const COMMON: Capabilities = Capabilities::LONG_PASSWORD
    .union(Capabilities::LONG_FLAG)
    .union(Capabilities::CONNECT_WITH_DB)
    .union(Capabilities::PROTOCOL_41)
    .union(Capabilities::LOCAL_FILES)
    .union(Capabilities::TRANSACTIONS)
    .union(Capabilities::SECURE_CONNECTION)
    .union(Capabilities::MULTI_STATEMENTS)
    .union(Capabilities::MULTI_RESULTS)
    .union(Capabilities::PS_MULTI_RESULTS)
    .union(Capabilities::PLUGIN_AUTH)
    .union(Capabilities::PLUGIN_AUTH_LENENC_DATA);

/// Run before the recording, each on its own; an error is ignored (the families differ in their variables).
const SETUP: &[&str] = &[
    "DROP TABLE IF EXISTS t",
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), made DATETIME)",
    "INSERT INTO t VALUES (1, 'one', '2024-01-02 03:04:05'), (2, NULL, NULL), (3, 'three', NULL)",
    "DROP PROCEDURE IF EXISTS two",
    "CREATE PROCEDURE two(OUT n INT) BEGIN SELECT id FROM t; SELECT 'x' AS x; SET n = 7; END",
    "SET session_track_gtids = OWN_GTID",
    "SET session_track_state_change = 1",
    "SET session_track_transaction_info = CHARACTERISTICS",
    "SET session_track_system_variables = '*'",
];

enum Step {
    Query(&'static str),
    Command(CommandCode, &'static [u8]),
    /// Prepares; the statement's number in order of preparation is what the others name.
    Prepare(&'static str),
    /// Statement, flags, and what follows the iteration count.
    Execute(usize, u8, &'static [u8]),
    Fetch(usize, u32),
    Reset(usize),
    /// Packets in the middle of a reply, behind its last sequence number.
    File(&'static [&'static [u8]]),
    /// Long enough for the server to close an idle connection.
    Wait,
}

/// One parameter, the number 2 as MYSQL_TYPE_LONGLONG, with its type.
const TWO: &[u8] = &[0, 1, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0];

const STEPS: &[(&str, Step)] = &[
    ("ping", Step::Command(CommandCode::Ping, b"")),
    ("init_db", Step::Command(CommandCode::InitDb, b"app")),
    ("ok", Step::Query("DO 1")),
    ("insert", Step::Query("INSERT INTO t (name) VALUES ('four'), ('five')")),
    ("update_info", Step::Query("UPDATE t SET made = '2024-05-06 07:08:09' WHERE id > 3")),
    ("set_names", Step::Query("SET NAMES utf8mb4, sql_mode = 'ANSI_QUOTES'")),
    ("use", Step::Query("USE app")),
    ("begin", Step::Query("START TRANSACTION READ ONLY")),
    ("text_in_transaction", Step::Query("SELECT id FROM t WHERE id < 3")),
    ("commit", Step::Query("COMMIT")),
    ("text", Step::Query("SELECT id, name, made FROM t ORDER BY id")),
    ("text_empty", Step::Query("SELECT id, name FROM t WHERE id < 0")),
    ("text_warnings", Step::Query("SELECT 1/0, CAST('x' AS SIGNED)")),
    ("error", Step::Query("SELECT * FROM missing")),
    ("error_in_rows", Step::Query("SELECT id, IF(id = 3, (SELECT id FROM t), 0) FROM t ORDER BY id")),
    (
        "multi",
        Step::Query("SELECT 1; INSERT INTO t (name) VALUES ('six'); SELECT id FROM t WHERE id < 0; DO 2"),
    ),
    ("multi_error", Step::Query("SELECT id FROM t; SELECT * FROM missing; SELECT 2")),
    ("call", Step::Query("CALL two(@n)")),
    ("infile", Step::Query("LOAD DATA LOCAL INFILE 'x.txt' INTO TABLE t (name)")),
    ("infile_end", Step::File(&[b"seven\neight\n", b""])),
    ("multi_infile", Step::Query("SELECT 1; LOAD DATA LOCAL INFILE 'x.txt' INTO TABLE t (name)")),
    ("multi_infile_end", Step::File(&[b""])),
    ("statistics", Step::Command(CommandCode::Statistics, b"")),
    ("debug", Step::Command(CommandCode::Debug, b"")),
    ("set_option", Step::Command(CommandCode::SetOption, &[0, 0])),
    ("field_list", Step::Command(CommandCode::FieldList, b"t\0%")),
    ("field_list_missing", Step::Command(CommandCode::FieldList, b"missing\0")),
    ("process_info", Step::Command(CommandCode::ProcessInfo, b"")),
    ("process_kill", Step::Command(CommandCode::ProcessKill, &[0xF0, 0xFF, 0xFF, 0x7F])),
    ("prepare_both", Step::Prepare("SELECT id, name FROM t WHERE id >= ? AND id < 4 ORDER BY id")),
    ("prepare_columns", Step::Prepare("SELECT id FROM t WHERE id < 4 ORDER BY id")),
    ("prepare_params", Step::Prepare("INSERT INTO t (id) VALUES (100 + ?)")),
    ("prepare_none", Step::Prepare("DO 1")),
    ("prepare_error", Step::Prepare("SELEC 1")),
    ("prepare_call", Step::Prepare("CALL two(?)")),
    ("prepare_show", Step::Prepare("SHOW TABLES")),
    ("prepare_empty", Step::Prepare("SELECT id FROM t WHERE id < 0")),
    ("execute", Step::Execute(0, 0, TWO)),
    ("execute_again", Step::Execute(0, 0, &[0, 0, 2, 0, 0, 0, 0, 0, 0, 0])),
    ("execute_insert", Step::Execute(2, 0, TWO)),
    ("execute_duplicate", Step::Execute(2, 0, TWO)),
    ("execute_none", Step::Execute(3, 0, b"")),
    ("execute_call", Step::Execute(4, 0, TWO)),
    ("execute_empty", Step::Execute(6, 0, b"")),
    ("cursor_open", Step::Execute(1, 1, b"")),
    ("cursor_fetch", Step::Fetch(1, 2)),
    ("cursor_fetch_end", Step::Fetch(1, 10)),
    ("cursor_fetch_behind", Step::Fetch(1, 10)),
    ("cursor_params", Step::Execute(0, 1, TWO)),
    ("cursor_reset", Step::Reset(0)),
    ("cursor_fetch_reset", Step::Fetch(0, 1)),
    ("cursor_show", Step::Execute(5, 1, b"")),
    ("cursor_empty", Step::Execute(6, 1, b"")),
    ("cursor_empty_fetch", Step::Fetch(6, 1)),
    ("cursor_insert", Step::Execute(2, 1, &[0, 1, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0])),
    ("cursor_call", Step::Execute(4, 1, TWO)),
    ("reset_connection", Step::Command(CommandCode::ResetConnection, b"")),
    ("idle_set", Step::Query("SET wait_timeout = 1")),
    ("idle", Step::Wait),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [socket, user, password] = arguments.as_slice() else {
        return Err("usage: capture SOCKET USER PASSWORD".into());
    };
    for flags in [
        Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK,
        Capabilities::DEPRECATE_EOF,
        Capabilities::SESSION_TRACK,
        Capabilities::default(),
    ] {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(SILENCE))?;
        let capabilities = COMMON | flags;
        let version = log_in(&mut stream, user, password, capabilities)?;
        Recorder { stream, capabilities, statements: Vec::new(), last_sequence: 0 }.record(&version)?;
    }
    Ok(())
}

/// A connection being recorded.
struct Recorder {
    stream: UnixStream,
    capabilities: Capabilities,
    /// Ids in order of preparation.
    statements: Vec<u32>,
    /// Sequence number of the last frame received.
    last_sequence: u8,
}

impl Recorder {
    fn record(&mut self, version: &str) -> Result<(), Box<dyn Error>> {
        for text in SETUP {
            self.run(&Step::Query(text))?;
        }
        let yes = |flag| if self.capabilities.contains(flag) { "1" } else { "0" };
        let tag = format!("{}{}", yes(Capabilities::DEPRECATE_EOF), yes(Capabilities::SESSION_TRACK));
        println!("# {version}, DEPRECATE_EOF and SESSION_TRACK: {tag}");
        for (name, step) in STEPS {
            let reply = self.run(step)?;
            if let Step::Prepare(_) = step
                && let Ok(ok) = wire::PrepareOk::parse(reply.get(HEADER..).unwrap_or_default())
            {
                self.statements.push(ok.statement_id);
            }
            let hex: String = reply.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{name} {tag} {hex}");
        }
        Ok(())
    }

    fn run(&mut self, step: &Step) -> Result<Vec<u8>, Box<dyn Error>> {
        let command = self.command(step)?;
        let reply = ask(&mut self.stream, &command)?;
        let mut at = 0;
        while let Some(header) = Header::parse(reply.get(at..).unwrap_or_default()) {
            self.last_sequence = header.sequence;
            at += HEADER + header.length;
        }
        Ok(reply)
    }

    fn command(&self, step: &Step) -> Result<Vec<u8>, Box<dyn Error>> {
        let id =
            |number: &usize| self.statements.get(*number).copied().ok_or("a statement could not be prepared");
        let mut command = Vec::new();
        match step {
            Step::Query(text) => write_query(&mut command, text.as_bytes(), self.capabilities),
            Step::Command(code, argument) => write_command(&mut command, *code, argument),
            Step::Prepare(text) => prepared::write_prepare(&mut command, text.as_bytes()),
            Step::Execute(number, flags, rest) => {
                let mut argument = id(number)?.to_le_bytes().to_vec();
                argument.push(*flags);
                argument.extend_from_slice(&1_u32.to_le_bytes());
                argument.extend_from_slice(rest);
                write_command(&mut command, CommandCode::StmtExecute, &argument);
            }
            Step::Fetch(number, rows) => prepared::write_fetch(&mut command, id(number)?, *rows),
            Step::Reset(number) => prepared::write_reset(&mut command, id(number)?),
            Step::File(packets) => {
                let mut sequence = self.last_sequence.wrapping_add(1);
                packets.iter().for_each(|packet| write_packet(&mut command, &mut sequence, packet));
            }
            Step::Wait => std::thread::sleep(IDLE),
        }
        Ok(command)
    }
}

fn ask(stream: &mut UnixStream, command: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    stream.write_all(command)?;
    let mut reply = Vec::new();
    let mut buffer = [0; 65_536];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(reply),
            Ok(count) => reply.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(reply);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Logs in; what the UNIX socket protects need not be encrypted. Returns the server's version.
fn log_in(
    stream: &mut UnixStream,
    user: &str,
    password: &str,
    capabilities: Capabilities,
) -> Result<String, Box<dyn Error>> {
    let packet = ask(stream, b"")?;
    let greeting = Greeting::parse(packet.get(HEADER..).unwrap_or_default())?;
    let login = Login {
        capabilities,
        max_packet: 1 << 24,
        collation: 45,
        user: user.as_bytes(),
        auth_response: &respond(Plugin::from_name(greeting.auth_plugin), password, &greeting.scramble),
        schema: Some(b"app"),
        auth_plugin: Some(greeting.auth_plugin),
        ..Login::default()
    };
    let mut payload = Vec::new();
    login.write(&mut payload)?;
    let mut sequence = 1;
    loop {
        let mut frames = Vec::new();
        write_packet(&mut frames, &mut sequence, &payload);
        let reply = ask(stream, &frames)?;
        let (_, answer) = reply.split_at_checked(HEADER).ok_or("no answer to the login")?;
        sequence += 1;
        payload = match AuthPacket::parse(answer, capabilities)? {
            AuthPacket::Ok(_) => return Ok(String::from_utf8_lossy(greeting.version_text()).into_owned()),
            AuthPacket::Err(err) => return Err(err.to_string().into()),
            AuthPacket::Switch { plugin, data } => respond(Plugin::from_name(plugin), password, data),
            AuthPacket::More([caching_sha2::FULL_AUTH]) => [password.as_bytes(), b"\0"].concat(),
            // FAST_AUTH_OK and the OK come in one read.
            AuthPacket::More(_) => return Ok(String::from_utf8_lossy(greeting.version_text()).into_owned()),
        };
    }
}

fn respond(plugin: Plugin, password: &str, nonce: &[u8]) -> Vec<u8> {
    match plugin {
        Plugin::NativePassword => native::scramble(&native::stage1(password.as_bytes()), nonce).to_vec(),
        Plugin::CachingSha2Password => {
            caching_sha2::scramble(&caching_sha2::stage1(password.as_bytes()), nonce).to_vec()
        }
        Plugin::Ed25519 => {
            wire::auth::ed25519::sign(&wire::auth::ed25519::secret_from_password(password.as_bytes()), nonce)
                .to_vec()
        }
        _ => [password.as_bytes(), b"\0"].concat(),
    }
}
