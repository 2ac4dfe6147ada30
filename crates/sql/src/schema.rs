//! The server's own schemas: which of their tables are about schema objects, the same on every node.

use crate::reason::Reason;
use crate::scan::Scan;
use crate::target::Target;
use crate::token::{Tok, Token};
use crate::words::{self, Role, Schema};

/// Tables of information_schema about schema objects: definitions that replicate, not state of one server.
const OBJECTS: &[&str] = &[
    "applicable_roles",
    "character_sets",
    "check_constraints",
    "collations",
    "collation_character_set_applicability",
    "columns",
    "columns_extensions",
    "events",
    "key_column_usage",
    "keywords",
    "libraries",
    "parameters",
    "partitions",
    "referential_constraints",
    "routines",
    "routine_libraries",
    "schemata",
    "schemata_extensions",
    "sequences",
    "sql_functions",
    "statistics",
    "st_geometry_columns",
    "st_spatial_reference_systems",
    "st_units_of_measure",
    "geometry_columns",
    "spatial_ref_sys",
    "tables",
    "tables_extensions",
    "table_constraints",
    "table_constraints_extensions",
    "triggers",
    "views",
    "view_routine_usage",
    "view_table_usage",
    "periods",
    "check_constraint_routine_usage",
];

/// Whether `name`, bare or in quotes, is a table of information_schema about schema objects.
pub(crate) fn is_about_objects(name: &[u8]) -> bool {
    let name = inside_quotes(name);
    OBJECTS.iter().any(|object| name.eq_ignore_ascii_case(object.as_bytes()))
}

/// What a name in quotes means as a schema.
pub(crate) fn role_of_quoted(name: &[u8]) -> Role {
    match words::lookup(inside_quotes(name)).role {
        Role::Schema(schema) => Role::Schema(schema),
        _ => Role::Plain,
    }
}

/// A name without its backticks or double quotes. A name with a doubled quote inside is none that is asked for.
pub(crate) fn inside_quotes(name: &[u8]) -> &[u8] {
    match name {
        [b'`', inner @ .., b'`'] | [b'"', inner @ .., b'"'] => inner,
        _ => name,
    }
}

impl Scan<'_, '_> {
    /// A point behind the name of a system schema.
    pub(crate) fn dot(&mut self) {
        if self.before.part {
            return;
        }
        let role = match self.before.token.kind {
            Tok::Word => self.before.meaning.role,
            Tok::Quoted => role_of_quoted(self.before.token.bytes(self.lexer.sql)),
            _ => Role::Plain,
        };
        if let Role::Schema(schema) = role {
            self.schema = Some(schema);
        }
    }

    pub(crate) fn system_table(&mut self, schema: Schema, table: Token) {
        let name = table.bytes(self.lexer.sql);
        if schema == Schema::Information && is_about_objects(name) {
            if self.target == Target::Replica {
                self.reason = Reason::MetadataRead;
            }
        } else {
            self.primary(Reason::SystemSchema);
        }
    }
}
