//! Result sets the proxy answers itself, and those of its own queries.
//!
//! Both are small and in text; clients' results never pass through here.

mod collector;
mod outcome;
mod writer;

pub use collector::{CollectError, Collected, Fed, ResultCollector};
pub use outcome::{OkOutcome, QueryOutcome, TextResult, Told};
pub use writer::{Column, ColumnType, write_text_result};
