//! State that only the node of the last statements knows, and that it is not asked for yet.
//!
//! A server reports most of what a session sets; but not the collation of SET NAMES (MySQL), and no value of a user variable.
//! To ask at once would end what the client may still ask of its statement: SHOW WARNINGS, ROW_COUNT(), FOUND_ROWS(). So
//! the node is asked when a statement is about to run elsewhere, and never if none does.

use std::collections::BTreeSet;

use super::reach::Unreachable;
use super::{Session, changes};
use crate::backend::BackendError;
use crate::backend::control::rows;
use crate::backend::state::{self, Shared, State};
use crate::cluster::snapshot::NodeId;

/// The variable of the collation that literals have.
pub(super) const COLLATION: &[u8] = b"collation_connection";

/// What a node is still to be asked.
#[derive(Debug)]
pub(super) struct Unasked {
    node: NodeId,
    /// The collation that literals have.
    collation: bool,
    /// User variables, by name in lower case.
    user_variables: BTreeSet<Box<[u8]>>,
}

impl Session {
    /// A node knows the session's collation.
    pub(super) fn ask_for_collation(&mut self, node: NodeId) {
        self.unasked(node).collation = true;
    }

    /// A node knows the value of a user variable.
    pub(super) fn ask_for_user_variable(&mut self, node: NodeId, name: &[u8]) {
        self.unasked(node).user_variables.insert(name.to_ascii_lowercase().into());
    }

    /// The variable has a value that is known: nobody need be asked.
    pub(super) fn knows_user_variable(&mut self, name: &[u8]) {
        if let Some(unasked) = &mut self.unasked {
            unasked.user_variables.remove(&*name.to_ascii_lowercase());
        }
    }

    fn unasked(&mut self, node: NodeId) -> &mut Unasked {
        let other = self.unasked.take().filter(|unasked| unasked.node == node);
        self.unasked.insert(other.unwrap_or(Unasked {
            node,
            collation: false,
            user_variables: BTreeSet::new(),
        }))
    }

    /// Whether a connection to this node knows user variables that nobody else does.
    pub(super) fn is_to_be_asked(&self, node: NodeId) -> bool {
        self.unasked
            .as_ref()
            .is_some_and(|unasked| unasked.node == node && !unasked.user_variables.is_empty())
    }

    /// The connection to a node is gone, and with it what it knew alone.
    pub(super) fn cannot_be_asked(&mut self, node: NodeId) {
        if self.is_to_be_asked(node) {
            self.pins.opaque_variables = true;
            self.settle_on(node);
        }
        self.unasked = self.unasked.take().filter(|unasked| unasked.node != node);
    }

    /// Whether another node than this one knows something of the session's state.
    pub(super) fn is_known_elsewhere(&self, node: NodeId) -> bool {
        self.unasked.as_ref().is_some_and(|unasked| unasked.node != node)
    }

    /// Asks, before a statement runs on `node`, whoever else knows something of the session's state.
    pub(super) async fn ask_before(&mut self, node: NodeId) -> Result<(), Unreachable> {
        if self.is_known_elsewhere(node) { self.ask_who_knows().await } else { Ok(()) }
    }

    /// Asks before the connection to the node that knows something is lent out.
    pub(super) async fn ask_before_lending(&mut self) {
        if let Err(error) = self.ask_who_knows().await {
            tracing::warn!(session = self.id, ?error, "the session stays without what was set there");
        }
    }

    /// Whether nobody is to be asked for anything.
    pub(super) fn all_is_known(&self) -> bool {
        self.unasked.is_none()
    }

    async fn ask_who_knows(&mut self) -> Result<(), Unreachable> {
        let Some(unasked) = self.unasked.take() else { return Ok(()) };
        let question = unasked.question();
        let knower = unasked.node;
        self.have_back(knower);
        let Some(connection) = self.backends.get(knower) else { return Ok(()) };
        match connection.ask(&question).await.map(rows) {
            Ok(found) => {
                self.take_answers(&unasked, found.into_iter().next().unwrap_or_default());
                let state = Shared::clone(&self.state);
                if let Some(connection) = self.backends.get(knower) {
                    connection.is_at(&state);
                }
                Ok(())
            }
            // One of them is none of the session's, and the server knows best.
            Err(BackendError::Refused(_)) => Ok(()),
            Err(error) => {
                self.unasked = Some(unasked);
                let lost = self.is_to_be_asked(knower);
                tracing::warn!(session = self.id, %error, "cannot learn what was set; the connection is given up");
                self.drop_connection(knower);
                if lost {
                    Err(Unreachable::Lost("and with it user variables that were set there".to_owned()))
                } else {
                    Ok(())
                }
            }
        }
    }

    fn take_answers(&mut self, unasked: &Unasked, values: Vec<Option<Vec<u8>>>) {
        let mut values = values.into_iter();
        if unasked.collation
            && let Some(collation) = values.next().flatten()
        {
            State::note_variable(&mut self.state, COLLATION, &collation);
        }
        for name in &unasked.user_variables {
            let mut next = || values.next().flatten();
            let (value, hexadecimal, charset, collation) = (next(), next(), next(), next());
            let literal = literal(value, hexadecimal, charset, collation);
            self.keep_user_variable(name, &literal);
        }
    }

    /// Keeps a literal for other connections, if there is room.
    pub(super) fn keep_user_variable(&mut self, name: &[u8], literal: &[u8]) {
        let size = self.user_variables_size() + name.len() + literal.len();
        if size <= changes::USER_VARIABLES_LIMIT {
            Shared::make_mut(&mut self.state).user_variables.insert(name.into(), literal.into());
        } else {
            self.pins.opaque_variables = true;
        }
    }
}

impl Unasked {
    fn question(&self) -> Vec<u8> {
        let mut columns: Vec<Vec<u8>> = Vec::new();
        if self.collation {
            columns.push([b"@@session.", COLLATION].concat());
        }
        for name in &self.user_variables {
            let variable = [b"@`", &**name, b"`"].concat();
            columns.push(variable.clone());
            for function in [b"HEX".as_slice(), b"CHARSET", b"COLLATION"] {
                columns.push([function, b"(", &variable, b")"].concat());
            }
        }
        state::question(&columns)
    }
}

/// A literal of the same value: a number as it is, a text by its bytes and its character set.
fn literal(
    value: Option<Vec<u8>>,
    hexadecimal: Option<Vec<u8>>,
    charset: Option<Vec<u8>>,
    collation: Option<Vec<u8>>,
) -> Vec<u8> {
    let Some(value) = value else { return b"NULL".to_vec() };
    let charset = charset.unwrap_or_default();
    let is_number = charset == b"binary"
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().all(|byte| byte.is_ascii_digit() || b"+-.e".contains(byte));
    if is_number {
        return value;
    }
    let hexadecimal = hexadecimal.unwrap_or_default();
    let text = [b"_", charset.as_slice(), b" x'", &hexadecimal, b"'"].concat();
    match collation {
        Some(collation) if charset != b"binary" => [&text, b" COLLATE ".as_slice(), &collation].concat(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(value: Option<&str>, charset: &str) -> String {
        let bytes = |text: &str| Some(text.as_bytes().to_vec());
        let hexadecimal =
            value.map(|value| value.bytes().map(|byte| format!("{byte:02X}")).collect::<String>());
        let made = literal(
            value.and_then(bytes),
            hexadecimal.as_deref().and_then(bytes),
            bytes(charset),
            bytes("utf8mb4_bin"),
        );
        String::from_utf8(made).unwrap()
    }

    #[test]
    fn values_become_literals_of_the_same_kind() {
        assert_eq!(made(None, "binary"), "NULL");
        assert_eq!(made(Some("-12"), "binary"), "-12");
        assert_eq!(made(Some("1.5e10"), "binary"), "1.5e10");
        assert_eq!(made(Some("12"), "utf8mb4"), "_utf8mb4 x'3132' COLLATE utf8mb4_bin");
        assert_eq!(made(Some("a'b"), "binary"), "_binary x'612762'");
        assert_eq!(made(Some(""), "utf8mb4"), "_utf8mb4 x'' COLLATE utf8mb4_bin");
    }

    #[test]
    fn one_question_asks_for_everything() {
        let unasked =
            Unasked { node: NodeId(0), collation: true, user_variables: [Box::from(b"m".as_slice())].into() };
        assert_eq!(
            String::from_utf8(unasked.question()).unwrap(),
            "SELECT @@session.collation_connection, @`m`, HEX(@`m`), CHARSET(@`m`), COLLATION(@`m`) LIMIT 1"
        );
    }
}
