//! The statements a client has prepared: known by the proxy's own ids, prepared on a node when they first run there.

use std::collections::HashMap;

use sql::Classified;
use wire::Execute;
use wire::capability::Capabilities;

use crate::backend::state::Shared;
use crate::cluster::snapshot::NodeId;

/// Bytes of parameters sent ahead (COM_STMT_SEND_LONG_DATA) that a session keeps until it is known where their statements
/// run. Beyond that they go to the primary, and the statement follows them.
pub(super) const LONG_DATA_LIMIT: usize = 1024 * 1024;

/// A prepared statement as its client knows it.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Its text, to prepare it on another node.
    pub(super) text: Box<[u8]>,
    /// What the text may do.
    pub(super) classified: Classified,
    /// How many parameters it has.
    pub(super) params: u16,
    /// The session's state when it was prepared: servers run it in the schema, and read it by the rules, of then.
    pub(super) state: Shared,
    /// The parameters' types as last sent, and how often they have been: a node that has not seen the last ones is
    /// told them again.
    pub(super) types: Option<Box<[u8]>>,
    pub(super) types_version: u32,
    /// Whole COM_STMT_SEND_LONG_DATA frames, not sent yet.
    pub(super) long_data: Vec<u8>,
    /// The node that parameters were sent ahead to.
    pub(super) sent_ahead_to: Option<NodeId>,
    /// The node on which its cursor is open.
    pub(super) cursor: Option<NodeId>,
}

impl Prepared {
    fn holds_anything(&self) -> bool {
        self.cursor.is_some() || self.sent_ahead_to.is_some() || !self.long_data.is_empty()
    }
}

/// All of a session's prepared statements.
#[derive(Debug, Default)]
pub(super) struct PreparedStatements {
    known: HashMap<u32, Prepared>,
    /// Those that may have something on a node, or data that is to be sent there. Few, however many are prepared.
    busy: Vec<u32>,
    last_id: u32,
    /// The one prepared last, unless the last one could not be prepared.
    newest: Option<u32>,
}

/// What MariaDB's clients call the statement that was prepared last (LAST_STMT_ID of its server).
pub(super) const LAST_STATEMENT: u32 = u32::MAX;

impl PreparedStatements {
    /// The id that the next statement gets if it can be prepared.
    pub(super) fn next_id(&self) -> u32 {
        let mut id = self.last_id;
        loop {
            id = id.wrapping_add(1);
            // 0 and u32::MAX have meanings of their own in MariaDB's protocol.
            if id != 0 && id != u32::MAX && !self.known.contains_key(&id) {
                return id;
            }
        }
    }

    pub(super) fn add(&mut self, id: u32, text: &[u8], classified: Classified, params: u16, state: Shared) {
        self.last_id = id;
        self.newest = Some(id);
        let prepared = Prepared {
            text: text.into(),
            classified,
            params,
            state,
            types: None,
            types_version: 0,
            long_data: Vec::new(),
            sent_ahead_to: None,
            cursor: None,
        };
        self.known.insert(id, prepared);
    }

    /// A statement could not be prepared.
    pub(super) fn note_failure(&mut self) {
        self.newest = None;
    }

    /// The id of the statement that was prepared last; 0, which nothing has, when there is none.
    pub(super) fn newest(&self) -> u32 {
        self.newest.unwrap_or_default()
    }

    pub(super) fn get(&self, id: u32) -> Option<&Prepared> {
        self.known.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Prepared> {
        self.known.get_mut(&id)
    }

    /// The statement has an open cursor, or data sent ahead or kept for it.
    pub(super) fn note_busy(&mut self, id: u32) {
        let known = &self.known;
        self.busy.retain(|busy| *busy != id && known.get(busy).is_some_and(Prepared::holds_anything));
        self.busy.push(id);
    }

    fn all_busy(&self) -> impl Iterator<Item = &Prepared> {
        self.busy.iter().filter_map(|id| self.known.get(id))
    }

    /// Remembers the types of an execution's parameters, when it brings them.
    pub(super) fn note_types(&mut self, id: u32, payload: &[u8], capabilities: Capabilities) {
        let Some(prepared) = self.known.get_mut(&id) else { return };
        let Ok(execute) = Execute::parse(payload, prepared.params, capabilities) else { return };
        if let Some(types) = execute.types.and_then(|range| payload.get(range))
            && prepared.types.as_deref() != Some(types)
        {
            prepared.types = Some(types.into());
            prepared.types_version = prepared.types_version.wrapping_add(1);
        }
    }

    /// Bytes of parameters that are kept, of all statements together.
    pub(super) fn long_data_size(&self) -> usize {
        self.all_busy().map(|prepared| prepared.long_data.len()).sum()
    }

    pub(super) fn remove(&mut self, id: u32) -> bool {
        self.known.remove(&id).is_some()
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.busy.clear();
        self.newest = None;
    }

    /// Whether data was sent ahead to this node: a statement must not run without it.
    pub(super) fn depend_on(&self, node: NodeId) -> bool {
        self.all_busy().any(|prepared| prepared.sent_ahead_to == Some(node))
    }

    /// Whether cursors are open on this node.
    pub(super) fn have_cursors_on(&self, node: NodeId) -> bool {
        self.all_busy().any(|prepared| prepared.cursor == Some(node))
    }

    /// The connection to a node is gone, and with it what lived there.
    pub(super) fn forget_node(&mut self, node: NodeId) {
        for prepared in self.known.values_mut() {
            prepared.cursor = prepared.cursor.filter(|cursor| *cursor != node);
            prepared.sent_ahead_to = prepared.sent_ahead_to.filter(|at| *at != node);
        }
    }
}
