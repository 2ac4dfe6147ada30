//! One test per engine from one check, and what the checks share.

use std::{
    thread,
    time::{Duration, Instant},
};

use sandbox::{Cluster, ClusterOptions, Engine, Server};

/// Time in which replication does what it does on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Makes `mysql::CHECK`, `mariadb::CHECK` and `mariadb11::CHECK` of every function `CHECK(Engine)`.
macro_rules! on_each_engine {
    ($($check:ident),+ $(,)?) => {
        on_each_engine!(@module mysql Mysql $($check)+);
        on_each_engine!(@module mariadb Mariadb $($check)+);
        on_each_engine!(@module mariadb11 Mariadb11 $($check)+);
    };
    (@module $module:ident $engine:ident $($check:ident)+) => {
        mod $module {
            $(#[test]
            fn $check() {
                super::$check(sandbox::Engine::$engine);
            })+
        }
    };
}
pub(crate) use on_each_engine;

/// A cluster with a table `app.t (id, text)`.
pub(crate) fn cluster(options: ClusterOptions) -> Cluster {
    let cluster = Cluster::start(options).unwrap();
    cluster
        .primary()
        .sql(
            "CREATE TABLE app.t (id INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(100) CHARACTER SET utf8mb4)",
        )
        .unwrap();
    cluster.wait_caught_up(PATIENCE).unwrap();
    cluster
}

/// Options for an engine that is installed.
pub(crate) fn options(engine: Engine) -> ClusterOptions {
    sandbox::install(engine).unwrap();
    ClusterOptions::new(engine)
}

/// The number of rows of `app.t`.
pub(crate) fn rows(server: &Server) -> u64 {
    server.value("SELECT COUNT(*) FROM app.t").unwrap().parse().unwrap()
}

/// Asks again until it is so, and fails after [`PATIENCE`].
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
