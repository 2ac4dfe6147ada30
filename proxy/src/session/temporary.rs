//! Which temporary tables a session has made, as far as their names can be read: when all of them are dropped, nothing
//! keeps the session on its connection any more.

use sql::{Effects, Kind, TableName, TemporaryTables};

use super::Session;
use super::understand::Statement;

/// A table's schema and its name.
#[derive(Debug, PartialEq, Eq)]
struct FullName {
    schema: Box<[u8]>,
    table: Box<[u8]>,
}

/// The temporary tables that are there.
#[derive(Debug, Default)]
pub(super) struct Temporary {
    names: Vec<FullName>,
    /// There may be more.
    others: bool,
}

impl Session {
    /// A statement that makes or drops temporary tables has succeeded.
    pub(super) fn note_temporary_tables(&mut self, statement: &Statement, text: &[u8]) {
        let read = (statement.kind == Kind::Ddl).then(|| sql::temporary_tables(text, self.dialect)).flatten();
        match read {
            Some(TemporaryTables::Created(name)) => {
                let name = self.full_name(name);
                if !self.temporary.names.contains(&name) {
                    self.temporary.names.push(name);
                }
            }
            Some(TemporaryTables::Dropped(names)) => {
                for name in names {
                    let name = self.full_name(name);
                    self.temporary.names.retain(|known| *known != name);
                }
            }
            None => self.temporary.others |= statement.effects.contains(Effects::CREATES_TEMPORARY_TABLE),
        }
        if self.temporary.names.is_empty() && !self.temporary.others {
            self.pins.no_temporary_tables();
        }
    }

    fn full_name(&self, name: TableName<'_>) -> FullName {
        let schema = name.schema.or(self.state.schema.as_deref()).unwrap_or_default();
        FullName { schema: schema.into(), table: name.table.into() }
    }
}
