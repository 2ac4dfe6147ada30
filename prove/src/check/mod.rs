//! The judge: pure functions over histories. Knows nothing of proxies, clusters or faults.
//!
//! All of them are sound: a history that some correct execution could have left is never blamed. What cannot be known
//! (a write without an answer) is held for possible.

mod anomaly;
mod registers;
mod verdict;

pub use anomaly::Anomaly;
pub use registers::Registers;
pub use verdict::{Fact, Finding, Verdict};
