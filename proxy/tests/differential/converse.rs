//! A conversation: the lines of a file said to a server or to the proxy, and what was answered.

use wire::{Capabilities, CommandCode};

use super::corpus::{Line, Login};
use super::facts::Fact;
use super::stage::SCHEMA;
use crate::harness::client::{Client, Failure};
use crate::harness::login::Account;
use crate::harness::prepared::Execution;
use crate::harness::stream::Target;

/// How the statements are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// With COM_QUERY, by a client that wants no EOF packets.
    Text,
    /// Prepared and executed where they can be, by a client that wants EOF packets.
    Binary,
}

/// What was answered to a line.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) said: Vec<Fact>,
    /// The reply to SHOW WARNINGS, where there was something to tell.
    pub(super) warned: Vec<Fact>,
}

impl Answer {
    /// The text of the error, if there is one.
    pub(super) fn error(&self) -> Option<&str> {
        self.said
            .iter()
            .find_map(|fact| if let Fact::ErrorText(text) = fact { Some(text.as_str()) } else { None })
    }
}

/// ER_UNSUPPORTED_PS, and ER_PARSE_ERROR for several statements at once: said as text, then.
const NOT_TO_PREPARE: [u16; 2] = [1295, 1064];

/// Says all lines, in order.
pub(super) fn converse(target: &Target, lines: &[Line], pass: Pass) -> Vec<Answer> {
    let mut session = Session::begin(target, Login::Ordinary, pass);
    let mut other: Option<Session> = None;
    let mut answers = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(login) = line.session {
            other.take().into_iter().for_each(Session::end);
            session.end();
            session = Session::begin(target, login, pass);
        }
        let session = if line.other {
            other.get_or_insert_with(|| Session::begin(target, Login::Ordinary, pass))
        } else {
            &mut session
        };
        let asks_itself = lines.get(index + 1).is_some_and(|next| next.then);
        answers.push(session.answer(line, asks_itself));
    }
    other.into_iter().for_each(Session::end);
    session.end();
    answers
}

/// A client, and how it came in.
struct Session<'a> {
    target: &'a Target,
    login: Login,
    pass: Pass,
    client: Client,
}

impl<'a> Session<'a> {
    fn begin(target: &'a Target, login: Login, pass: Pass) -> Self {
        let mut account = Account::app();
        if login != Login::NoSchema {
            account = account.schema(SCHEMA);
        }
        if login != Login::Single {
            account = account.with(Capabilities::MULTI_STATEMENTS);
        }
        if login == Login::FoundRows {
            account = account.with(Capabilities::FOUND_ROWS);
        }
        if pass == Pass::Binary {
            account = account.without(Capabilities::DEPRECATE_EOF);
        }
        Self { target, login, pass, client: account.connect(target).unwrap() }
    }

    /// A server may have ended it before.
    fn end(mut self) {
        let quit = [1, 0, 0, 0, CommandCode::Quit.to_u8()];
        if self.client.send_raw(&quit).is_ok() {
            self.client.wait_for_end();
        }
    }

    fn answer(&mut self, line: &Line, asks_itself: bool) -> Answer {
        let mut answer = Answer::default();
        if let Err(failure) = self.say(line, asks_itself, &mut answer) {
            answer.said.extend(Fact::of_failure(&failure));
            *self = Self::begin(self.target, self.login, self.pass);
        }
        answer
    }

    fn say(&mut self, line: &Line, asks_itself: bool, answer: &mut Answer) -> Result<(), Failure> {
        if self.pass == Pass::Text || line.text_only {
            answer.said = self.query(&line.statement)?;
        } else {
            self.prepare_and_execute(&line.statement, &mut answer.said)?;
        }
        if !asks_itself && answer.said.iter().any(Fact::warns) {
            answer.warned = self.query(b"SHOW WARNINGS")?;
        }
        Ok(())
    }

    fn query(&mut self, text: &[u8]) -> Result<Vec<Fact>, Failure> {
        self.client.send_query(text);
        Ok(Fact::of_reply(&self.client.try_reply()?))
    }

    fn prepare_and_execute(&mut self, text: &[u8], said: &mut Vec<Fact>) -> Result<(), Failure> {
        self.client.command(&[&[CommandCode::StmtPrepare.to_u8()], text].concat());
        match self.client.read_prepared()? {
            Err(error) => {
                said.extend(Fact::of_error(&error));
                if NOT_TO_PREPARE.contains(&error.code) {
                    said.extend(self.query(text)?);
                }
            }
            Ok(prepared) => {
                said.extend(Fact::of_prepared(&prepared));
                if prepared.params == 0 {
                    self.client.send_execute(prepared.id, &[], Execution::WithTypes);
                    said.extend(Fact::of_reply(&self.client.try_reply()?));
                }
                self.client.close(prepared.id);
            }
        }
        Ok(())
    }
}
