//! As much of the client/server protocol as a judge needs: log in without a password, send bytes, read text rows.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// One value of a row; `None` is NULL.
pub(crate) type Value = Option<Vec<u8>>;

pub(crate) struct Client {
    stream: Box<dyn Stream>,
    sequence: u8,
}

/// What the server said to one command.
pub(crate) enum Reply {
    /// The rows of all results.
    Rows(Vec<Vec<Value>>),
    /// The server's error.
    Refused { code: u16, message: String },
}

const CLIENT_PROTOCOL_41: u32 = 1 << 9;
const CLIENT_TRANSACTIONS: u32 = 1 << 13;
const CLIENT_SECURE_CONNECTION: u32 = 1 << 15;
const CLIENT_MULTI_STATEMENTS: u32 = 1 << 16;
const CLIENT_MULTI_RESULTS: u32 = 1 << 17;
const CLIENT_PLUGIN_AUTH: u32 = 1 << 19;
const SERVER_MORE_RESULTS_EXISTS: u16 = 8;

impl Client {
    /// Connects to `unix:/path` or `host:port` as `user`, who has no password.
    pub(crate) fn connect(address: &str, user: &str, multi_statements: bool) -> io::Result<Client> {
        let stream: Box<dyn Stream> = match address.strip_prefix("unix:") {
            Some(path) => Box::new(UnixStream::connect(path)?),
            None => Box::new(TcpStream::connect(address)?),
        };
        let mut client = Client { stream, sequence: 0 };
        let greeting = client.packet()?;
        if greeting.first() == Some(&0xFF) {
            return Err(io::Error::other("the server refuses connections"));
        }
        let mut capabilities = CLIENT_PROTOCOL_41
            | CLIENT_TRANSACTIONS
            | CLIENT_SECURE_CONNECTION
            | CLIENT_MULTI_RESULTS
            | CLIENT_PLUGIN_AUTH;
        if multi_statements {
            capabilities |= CLIENT_MULTI_STATEMENTS;
        }
        let mut login = Vec::new();
        login.extend(capabilities.to_le_bytes());
        login.extend((1u32 << 24).to_le_bytes());
        login.push(45);
        login.extend([0; 23]);
        login.extend(user.as_bytes());
        login.extend([0, 0]);
        login.extend(b"mysql_native_password\0");
        client.send(&login)?;
        loop {
            let answer = client.packet()?;
            match answer.first() {
                Some(0x00) => return Ok(client),
                // A switch of the method, or more data of one: without a password the answer is always empty.
                Some(0xFE) => client.send(&[])?,
                Some(0x01) => {}
                _ => return Err(io::Error::other(String::from_utf8_lossy(&answer).into_owned())),
            }
        }
    }

    /// Runs `sql`, which may be several statements.
    pub(crate) fn query(&mut self, sql: &[u8]) -> io::Result<Reply> {
        self.sequence = 0;
        self.send(&[&[3], sql].concat())?;
        let mut rows = Vec::new();
        loop {
            let first = self.packet()?;
            let status = match first.first() {
                Some(0xFF) => return Ok(refusal(&first)),
                Some(0x00) => status_of_ok(&first),
                Some(0xFB) => return Err(io::Error::other("LOAD DATA LOCAL was asked for")),
                _ => match self.result(&mut rows)? {
                    Ok(status) => status,
                    Err(refused) => return Ok(refused),
                },
            };
            if status & SERVER_MORE_RESULTS_EXISTS == 0 {
                return Ok(Reply::Rows(rows));
            }
        }
    }

    /// Runs what must succeed, and gives its rows.
    pub(crate) fn must(&mut self, sql: &str) -> Vec<Vec<Value>> {
        match self.query(sql.as_bytes()).expect("the server answers") {
            Reply::Rows(rows) => rows,
            Reply::Refused { code, message } => panic!("{sql}: {code} {message}"),
        }
    }

    /// The definitions and rows of one result, up to its status.
    fn result(&mut self, rows: &mut Vec<Vec<Value>>) -> io::Result<Result<u16, Reply>> {
        while self.packet()?.first() != Some(&0xFE) {}
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xFF) => return Ok(Err(refusal(&packet))),
                Some(0xFE) if packet.len() < 9 => return Ok(Ok(u16::from_le_bytes([packet[3], packet[4]]))),
                _ => rows.push(row(&packet)),
            }
        }
    }

    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header)?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.sequence = header[3].wrapping_add(1);
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn send(&mut self, body: &[u8]) -> io::Result<()> {
        let len = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
        self.stream.write_all(&[&len[..3], &[self.sequence], body].concat())?;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }
}

fn refusal(packet: &[u8]) -> Reply {
    let code = u16::from_le_bytes([packet[1], packet[2]]);
    Reply::Refused { code, message: String::from_utf8_lossy(&packet[3..]).into_owned() }
}

/// Behind two length-encoded integers.
fn status_of_ok(packet: &[u8]) -> u16 {
    let mut at = 1;
    for _ in 0..2 {
        at += match packet[at] {
            0xFC => 3,
            0xFD => 4,
            0xFE => 9,
            _ => 1,
        };
    }
    u16::from_le_bytes([packet[at], packet[at + 1]])
}

fn row(packet: &[u8]) -> Vec<Value> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < packet.len() {
        let (len, skip) = match packet[at] {
            0xFB => {
                values.push(None);
                at += 1;
                continue;
            }
            0xFC => (usize::from(u16::from_le_bytes([packet[at + 1], packet[at + 2]])), 3),
            0xFD => (u32::from_le_bytes([packet[at + 1], packet[at + 2], packet[at + 3], 0]) as usize, 4),
            0xFE => break,
            short => (usize::from(short), 1),
        };
        values.push(Some(packet[at + skip..at + skip + len].to_vec()));
        at += skip + len;
    }
    values
}
