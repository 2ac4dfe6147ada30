//! What the integration tests stand on: real clusters, the program as a process, and a client that speaks the protocol
//! packet by packet.
//!
//! The clusters of a test binary are shared by its tests, which make schemas and accounts of their own. The proxy is not:
//! each test starts one with the configuration it needs, and its log is shown when the test fails.
//!
//! Deliberately absent: an ordinary driver. Drivers hide what is looked at here.

pub(crate) mod client;
pub(crate) mod clusters;
pub(crate) mod login;
pub(crate) mod packed;
pub(crate) mod prepared;
pub(crate) mod proxy;
pub(crate) mod reply;
pub(crate) mod route;
pub(crate) mod stream;
pub(crate) mod wait;

/// Makes a test of each function for each engine: `mysql::NAME` and `mariadb::NAME`. The functions take an
/// [`sandbox::Engine`].
macro_rules! on_every_engine {
    ($($name:ident),+ $(,)?) => {
        mod mysql {
            $(#[test] fn $name() { super::$name(sandbox::Engine::Mysql); })+
        }
        mod mariadb {
            $(#[test] fn $name() { super::$name(sandbox::Engine::Mariadb); })+
        }
    };
}
pub(crate) use on_every_engine;
