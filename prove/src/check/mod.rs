//! The judge: pure functions over histories. Knows nothing of proxies, clusters or faults.
//!
//! All of them are sound: a history that some correct execution could have left is never blamed. What cannot be known
//! (a write without an answer) is held for possible.

mod anomaly;
mod bank;
mod explain;
mod floor;
mod lists;
mod registers;
mod snapshots;
mod verdict;

pub use anomaly::Anomaly;
pub use bank::bank;
pub use lists::lists;
pub use registers::Registers;
pub use verdict::{Finding, Verdict};
