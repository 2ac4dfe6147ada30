//! Keywords: those that begin statements, those that shape reads, those that have no place in a read, and types.
//!
//! From `information_schema.keywords` of MySQL 9.7 and MariaDB 10.11. Reserved words that are harmless in a read and
//! before which nothing has to be known (NULL, DESC, LEADING ...) are left out: they behave as names here.

use super::Denied::{Into, Lock, Other, Write};
use super::Role::{Call, Deny, DenyUnlessCalled, Group, Plain, Type};
use super::{Entry, Function, Role, Schema};

macro_rules! keywords {
    ($($name:literal $kw:ident $role:expr;)*) => {
        /// A keyword that some rule asks for by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kw {
            /// No rule asks for it.
            None,
            $($kw,)*
        }

        pub(super) const KEYWORDS: &[Entry] = &{
            let named = [$(Entry { name: $name, kw: Kw::$kw, role: $role },)*];
            const NAMED: usize = [$($name,)*].len();
            let mut all = [Entry { name: "", kw: Kw::None, role: Plain }; NAMED + NAMELESS];
            let mut at = 0;
            while at < NAMED {
                all[at] = named[at];
                at += 1;
            }
            let mut list = 0;
            while list < LISTS.len() {
                let (role, names) = LISTS[list];
                let mut i = 0;
                while i < names.len() {
                    all[at] = Entry { name: names[i], kw: Kw::None, role };
                    at += 1;
                    i += 1;
                }
                list += 1;
            }
            all
        };
    };
}

keywords! {
    // Statements and parts of reads.
    "select" Select Group;
    "table" Table Plain;
    "values" Values Group;
    "value" Value Group;
    "with" With Plain;
    "recursive" Recursive Plain;
    "from" From Group;
    "in" In Group;
    "as" As Group;
    "by" By Group;
    "not" Not Group;
    "on" On Group;
    "all" All Group;
    "if" If Group;
    "case" Case Group;
    "for" For Group;
    "index" Index Group;
    "exists" Exists Group;
    "key" Key Group;
    "limit" Limit Group;
    "group" GroupBy Group;
    "where" Where Group;
    "like" Like Group;
    "of" Of Plain;
    "member" Member Plain;
    "against" Against Plain;
    "columns" Columns Plain;
    "rollup" Rollup Plain;
    "cube" Cube Plain;
    "lateral" Lateral Plain;
    "any" Any Plain;
    "some" Some_ Plain;
    "char" Char Group;
    "character" Character Group;
    "substring" Substring Call(Function::ADJACENT);
    "substr" Substr Call(Function::ADJACENT);
    "mid" Mid Call(Function::ADJACENT);
    "sql_calc_found_rows" SqlCalcFoundRows Group;
    "sql_no_cache" SqlNoCache Plain;
    "next" Next Plain;
    "previous" Previous Plain;
    "share" Share Plain;
    "system_time" SystemTime Plain;
    "ordinality" Ordinality Plain;
    "join" Join Group;
    "order" Order Plain;
    "dual" Dual Plain;
    "query" Query Plain;
    "ties" Ties Plain;
    "rows" Rows Plain;
    "collate" Collate Plain;
    "default" Default Call(Function::Sequence);
    "null" Null Plain;
    "true" True Plain;
    "false" False Plain;
    // Words that begin other statements.
    "do" Do Plain;
    "show" Show Deny(Other);
    "desc" Desc Plain;
    "describe" Describe Deny(Other);
    "explain" Explain Deny(Other);
    "analyze" Analyze Deny(Other);
    "help" Help Plain;
    "insert" Insert DenyUnlessCalled;
    "replace" Replace DenyUnlessCalled;
    "update" Update Deny(Write);
    "delete" Delete Deny(Write);
    "load" Load Deny(Other);
    "call" Call_ Deny(Other);
    "handler" Handler Plain;
    "create" Create Deny(Other);
    "alter" Alter Deny(Other);
    "drop" Drop Deny(Other);
    "rename" Rename Deny(Other);
    "truncate" Truncate Call(Function::PURE);
    "grant" Grant Deny(Other);
    "revoke" Revoke Deny(Other);
    "begin" Begin Plain;
    "start" Start Plain;
    "commit" Commit Plain;
    "rollback" Rollback Plain;
    "savepoint" Savepoint Plain;
    "release" Release Deny(Other);
    "xa" Xa Plain;
    "set" Set Deny(Other);
    "use" Use Plain;
    "lock" Lock_ Deny(Lock);
    "unlock" Unlock Deny(Other);
    "prepare" Prepare Plain;
    "execute" Execute Plain;
    "deallocate" Deallocate Plain;
    "kill" Kill Deny(Other);
    "flush" Flush Plain;
    "reset" Reset Plain;
    "purge" Purge Deny(Other);
    "change" Change Deny(Other);
    "stop" Stop Plain;
    "install" Install Plain;
    "uninstall" Uninstall Plain;
    "optimize" Optimize Deny(Other);
    "repair" Repair Plain;
    "check" Check Deny(Other);
    "checksum" Checksum Plain;
    "cache" Cache Plain;
    "binlog" Binlog Plain;
    "shutdown" Shutdown Plain;
    "restart" Restart Plain;
    "clone" Clone Plain;
    "import" Import Plain;
    "backup" Backup Plain;
    "get" Get Plain;
    "signal" Signal Deny(Other);
    "resignal" Resignal Deny(Other);
    "loop" Loop Deny(Other);
    "while" While Deny(Other);
    "repeat" Repeat Group;
    "declare" Declare Deny(Other);
    "tidemark" Tidemark Plain;
    // Words inside other statements.
    "into" Into_ Deny(Into);
    "temporary" Temporary Plain;
    "or" Or Group;
    "procedure" Procedure Deny(Other);
    "function" Function_ Plain;
    "trigger" Trigger Deny(Other);
    "event" Event Plain;
    "package" Package Plain;
    "work" Work Plain;
    "to" To Plain;
    "transaction" Transaction Plain;
    "read" Read Deny(Other);
    "write" Write_ Deny(Other);
    "only" Only Plain;
    "consistent" Consistent Plain;
    "chain" Chain Plain;
    "no" No Plain;
    "and" And Group;
    "global" Global Plain;
    "session" Session Plain;
    "local" Local Plain;
    "persist" Persist Plain;
    "persist_only" PersistOnly Plain;
    "names" Names Plain;
    "charset" Charset Call(Function::PURE);
    "password" Password Call(Function::PURE);
    "role" Role_ Plain;
    "resource" Resource Plain;
    "statement" Statement Plain;
    "stage" Stage Plain;
    "end" End Plain;
    "then" Then Group;
    "else" Else Group;
    "full" Full Plain;
    "extended" Extended Plain;
    "partitions" Partitions Plain;
    "format" Format Call(Function::PURE);
    "tables" Tables Plain;
    "fields" Fields Plain;
    "indexes" Indexes Plain;
    "keys" Keys Deny(Other);
    "databases" Databases Plain;
    "schemas" Schemas Plain;
    "database" Database Call(Function::PURE);
    "schema" Schema_ Call(Function::PURE);
    "triggers" Triggers Plain;
    "events" Events Plain;
    "view" View Plain;
    "sequence" Sequence Plain;
    "status" Status Plain;
    "body" Body Plain;
    "collation" Collation Call(Function::PURE);
    "warnings" Warnings Plain;
    "errors" Errors Plain;
    "count" Count Call(Function::ADJACENT);
    "connection" Connection Plain;
    "instance" Instance Plain;
    "export" Export Plain;
    "open" Open Plain;
    "close" Close Plain;
    "immediate" Immediate Plain;
    "hard" Hard Plain;
    "soft" Soft Plain;
    "user" User Call(Function::PURE);
    "diagnostics" Diagnostics Plain;
    "current" Current Plain;
    "isolation" Isolation Plain;
    "level" Level Plain;
    "information_schema" InformationSchema Role::Schema(Schema::Information);
    "performance_schema" PerformanceSchema Role::Schema(Schema::Server);
    "sys" Sys Role::Schema(Schema::Server);
    "mysql" Mysql Role::Schema(Schema::Server);
    "connection_id" ConnectionId Call(Function::ConnectionId);
    "nodes" Nodes Plain;
    "endpoints" Endpoints Plain;
    "sessions" Sessions Plain;
    "route" Route Plain;
    "position" Position Call(Function::ADJACENT);
}

const LISTS: &[(Role, &[&str])] =
    &[(Group, GROUPING), (Group, RESERVED_TYPES), (Type, TYPES), (Deny(Other), DENIED)];

const NAMELESS: usize = {
    let mut sum = 0;
    let mut i = 0;
    while i < LISTS.len() {
        sum += LISTS[i].1.len();
        i += 1;
    }
    sum
};

/// Reserved in both families, with a place in reads before a parenthesis.
const GROUPING: &[&str] = &[
    "between",
    "binary",
    "convert",
    "distinct",
    "distinctrow",
    "div",
    "except",
    "having",
    "high_priority",
    "intersect",
    "interval",
    "is",
    "left",
    "match",
    "mod",
    "over",
    "partition",
    "regexp",
    "right",
    "rlike",
    "row",
    "sql_big_result",
    "sql_small_result",
    "straight_join",
    "union",
    "using",
    "when",
    "xor",
];

const RESERVED_TYPES: &[&str] = &[
    "bigint",
    "blob",
    "dec",
    "decimal",
    "double",
    "float",
    "float4",
    "float8",
    "int",
    "int1",
    "int2",
    "int3",
    "int4",
    "int8",
    "integer",
    "mediumint",
    "numeric",
    "real",
    "smallint",
    "tinyint",
    "varbinary",
    "varchar",
    "varcharacter",
];

/// Names of types that are neither reserved nor functions.
const TYPES: &[&str] = &["bit", "datetime", "fixed", "nchar", "number", "nvarchar", "text"];

/// Reserved words of other statements.
const DENIED: &[&str] = &[
    "accessible",
    "add",
    "asensitive",
    "before",
    "cascade",
    "column",
    "condition",
    "constraint",
    "continue",
    "cursor",
    "delayed",
    "delete_domain_id",
    "deterministic",
    "do_domain_ids",
    "each",
    "elseif",
    "enclosed",
    "escaped",
    "exit",
    "foreign",
    "fulltext",
    "ignore_domain_ids",
    "infile",
    "inout",
    "insensitive",
    "iterate",
    "leave",
    "lines",
    "low_priority",
    "master_ssl_verify_server_cert",
    "modifies",
    "no_write_to_binlog",
    "optionally",
    "out",
    "outfile",
    "reads",
    "read_write",
    "references",
    "require",
    "return",
    "sensitive",
    "spatial",
    "specific",
    "sql",
    "sqlexception",
    "sqlstate",
    "sqlwarning",
    "ssl",
    "starting",
    "terminated",
    "undo",
    "unique",
    "usage",
];
