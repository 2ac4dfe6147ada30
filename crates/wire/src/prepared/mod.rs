//! Prepared statements: what a proxy reads of COM_STMT_* and what it writes anew.

mod commands;
mod execute;

pub use commands::{
    PrepareOk, set_statement_id, statement_id, write_close, write_fetch, write_prepare, write_reset,
};
pub use execute::{CURSOR_TYPE_READ_ONLY, Execute, PARAMETER_COUNT_AVAILABLE, with_types};
