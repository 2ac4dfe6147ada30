//! The ways to write, as a table: what a session does, what it asks next, and what it must be told.
//!
//! `{t}` is a table of the case's own with the rows (1, 0), (2, 0), (3, 0); `{v}` a number that no run had before.

use sandbox::Family;

/// What a session does.
#[derive(Debug)]
pub(super) enum Step {
    /// A statement, or several in one packet.
    Sql(&'static str),
    /// The same; its reply ends with an error.
    Fails(&'static str),
    /// A statement so long that the proxy does not read all of it first.
    Long(&'static str),
    /// LOAD DATA LOCAL with the file's content.
    Load(&'static str, &'static str),
    /// COM_STMT_PREPARE and COM_STMT_EXECUTE.
    Prepared(&'static str),
    /// COM_RESET_CONNECTION.
    Reset,
    /// COM_CHANGE_USER.
    ChangeUser,
}

/// How the proxy explains where it read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    /// By what is known of positions.
    ByPosition,
    /// The session cannot leave its connection.
    Pinned,
    /// One or the other.
    Either,
}

/// One way to write.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The family that knows it; both when absent.
    pub(super) only: Option<Family>,
    /// Statements before everything; one with `{v}` is run for each number that will come.
    pub(super) setup: &'static [&'static str],
    pub(super) steps: &'static [Step],
    pub(super) question: &'static str,
    /// Values, by commas, or `error CODE`.
    pub(super) expected: &'static str,
    pub(super) told: Told,
}

const READ: &str = "SELECT v FROM {t} WHERE id = 1";
const UPDATE: Step = Step::Sql("UPDATE {t} SET v = {v} WHERE id = 1");

/// A write of `{v}` to row 1.
const fn case(name: &'static str, steps: &'static [Step]) -> Case {
    Case { name, only: None, setup: &[], steps, question: READ, expected: "{v}", told: Told::ByPosition }
}

impl Case {
    const fn on(self, family: Family) -> Self {
        Self { only: Some(family), ..self }
    }

    const fn with(self, setup: &'static [&'static str]) -> Self {
        Self { setup, ..self }
    }

    const fn asks(self, question: &'static str, expected: &'static str) -> Self {
        Self { question, expected, ..self }
    }

    const fn pinned(self) -> Self {
        Self { told: Told::Pinned, ..self }
    }

    const fn perhaps_pinned(self) -> Self {
        Self { told: Told::Either, ..self }
    }
}

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    [single_statements(), transactions(), definitions(), procedures(), functions(), sessions(), trackers()]
        .into_iter()
        .flatten()
        .collect()
}

fn single_statements() -> Vec<Case> {
    use Step::{Fails, Load, Long, Prepared, Sql};
    vec![
        case("an update", &[UPDATE]),
        case("a replace", &[Sql("REPLACE INTO {t} VALUES (1, {v})")]),
        case(
            "an insert that updates",
            &[Sql("INSERT INTO {t} VALUES (1, {v}) ON DUPLICATE KEY UPDATE v = {v}")],
        ),
        case("a delete", &[Sql("DELETE FROM {t} WHERE id = 1{v}")])
            .with(&["INSERT INTO {t} VALUES (1{v}, 0)"])
            .asks("SELECT COUNT(*) FROM {t} WHERE id = 1{v}", "0"),
        case("in an executable comment", &[Sql("/*!50001 UPDATE {t} SET v = {v} WHERE id = 1 */")]),
        case("with a hint towards replicas", &[Sql("/*FORCE_SLAVE*/ UPDATE {t} SET v = {v} WHERE id = 1")]),
        case("behind a WITH", &[Sql("WITH c AS (SELECT 1) UPDATE {t}, c SET v = {v} WHERE id = 1")])
            .on(Family::Mysql),
        case("RETURNING", &[Sql("REPLACE INTO {t} VALUES (1, {v}) RETURNING v")]).on(Family::Mariadb),
        case(
            "several statements",
            &[Sql("UPDATE {t} SET v = 1 WHERE id = 2; UPDATE {t} SET v = {v} WHERE id = 1; SELECT 5")],
        ),
        case(
            "several, of which the last fails",
            &[Fails("UPDATE {t} SET v = {v} WHERE id = 1; SELECT no_such")],
        ),
        case("a read, a write, a read", &[Sql("SELECT 1; UPDATE {t} SET v = {v} WHERE id = 1; SELECT 5")]),
        case("longer than what is read first", &[Long("UPDATE {t} SET v = {v} WHERE id = 1")]),
        case(
            "LOAD DATA LOCAL",
            &[Load("LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE {t} FIELDS TERMINATED BY ','", "1,{v}\n")],
        ),
        case("prepared", &[Prepared("UPDATE {t} SET v = {v} WHERE id = 1")]),
        case("RETURNING, prepared", &[Prepared("REPLACE INTO {t} VALUES (1, {v}) RETURNING v")])
            .on(Family::Mariadb),
        case(
            "prepared as text",
            &[Sql("PREPARE s FROM 'UPDATE {t} SET v = {v} WHERE id = 1'"), Sql("EXECUTE s")],
        ),
        case("EXECUTE IMMEDIATE", &[Sql("EXECUTE IMMEDIATE 'UPDATE {t} SET v = {v} WHERE id = 1'")])
            .on(Family::Mariadb),
        case("a half done statement", &[Fails("INSERT INTO {t}_m VALUES ({v}), (1)")])
            .with(&[
                "CREATE TABLE {t}_m (id INT PRIMARY KEY) ENGINE = MyISAM",
                "INSERT INTO {t}_m VALUES (1)",
            ])
            .asks("SELECT COUNT(*) FROM {t}_m WHERE id = {v}", "1"),
    ]
}

fn transactions() -> Vec<Case> {
    use Step::Sql;
    vec![
        case("COMMIT", &[Sql("BEGIN"), UPDATE, Sql("COMMIT")]),
        case("COMMIT AND CHAIN", &[Sql("BEGIN"), UPDATE, Sql("COMMIT AND CHAIN"), Sql("COMMIT")]),
        case("BEGIN commits", &[Sql("BEGIN"), UPDATE, Sql("BEGIN"), Sql("ROLLBACK")]),
        case("DDL commits", &[Sql("BEGIN"), UPDATE, Sql("CREATE TABLE {t}_{v} (i INT)")]),
        case(
            "autocommit off",
            &[Sql("SET autocommit = 0"), UPDATE, Sql("COMMIT"), Sql("SET autocommit = 1")],
        ),
        case("autocommit on commits", &[Sql("SET autocommit = 0"), UPDATE, Sql("SET autocommit = 1")]),
        case("in one packet", &[Sql("BEGIN; UPDATE {t} SET v = {v} WHERE id = 1; COMMIT")]),
        case("table locks", &[Sql("LOCK TABLES {t} WRITE"), UPDATE, Sql("UNLOCK TABLES")]),
        case("user locks", &[Sql("SELECT GET_LOCK('{t}', 5)"), UPDATE, Sql("SELECT RELEASE_LOCK('{t}')")]),
        case(
            "XA, one phase",
            &[Sql("XA START '{t}{v}'"), UPDATE, Sql("XA END '{t}{v}'"), Sql("XA COMMIT '{t}{v}' ONE PHASE")],
        ),
        case(
            "XA, two phases",
            &[
                Sql("XA START '{t}{v}'"),
                UPDATE,
                Sql("XA END '{t}{v}'"),
                Sql("XA PREPARE '{t}{v}'"),
                Sql("XA COMMIT '{t}{v}'"),
            ],
        ),
        case("a block", &[Sql("BEGIN NOT ATOMIC UPDATE {t} SET v = {v} WHERE id = 1; END")])
            .on(Family::Mariadb),
    ]
}

fn definitions() -> Vec<Case> {
    use Step::Sql;
    vec![
        case("CREATE TABLE", &[Sql("CREATE TABLE {t}_{v} (i INT)")])
            .asks("SELECT COUNT(*) FROM {t}_{v}", "0"),
        case("CREATE TABLE AS", &[Sql("CREATE TABLE {t}_{v} AS SELECT {v} AS i")])
            .asks("SELECT i FROM {t}_{v}", "{v}"),
        case("ALTER TABLE", &[Sql("ALTER TABLE {t} ADD COLUMN c{v} INT DEFAULT {v}")])
            .asks("SELECT c{v} FROM {t} WHERE id = 1", "{v}"),
        case("DROP TABLE", &[Sql("DROP TABLE {t}_{v}")])
            .with(&["CREATE TABLE {t}_{v} (i INT)"])
            .asks("SELECT COUNT(*) FROM {t}_{v}", "error 1146"),
        case("TRUNCATE", &[Sql("TRUNCATE {t}_{v}")])
            .with(&["CREATE TABLE {t}_{v} AS SELECT 1 AS i"])
            .asks("SELECT COUNT(*) FROM {t}_{v}", "0"),
        case("CREATE VIEW", &[Sql("CREATE VIEW {t}_{v} AS SELECT {v} AS i")])
            .asks("SELECT i FROM {t}_{v}", "{v}"),
    ]
}

fn procedures() -> Vec<Case> {
    use Step::{Fails, Prepared, Sql};
    const TWO: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN UPDATE {t} SET v = x WHERE id = 1; \
        UPDATE {t} SET v = x WHERE id = 2; END";
    const ROWS: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN UPDATE {t} SET v = x WHERE id = 1; SELECT 5; END";
    const SIGNALS: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN UPDATE {t} SET v = x WHERE id = 1; \
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END";
    const FAILS: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN UPDATE {t} SET v = x WHERE id = 1; SELECT 5; \
        UPDATE {t} SET no_such = 1; END";
    const COMMITS: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN START TRANSACTION; \
        UPDATE {t} SET v = x WHERE id = 1; COMMIT; START TRANSACTION; UPDATE {t} SET v = -1 WHERE id = 1; ROLLBACK; END";
    const CALL: Step = Step::Sql("CALL {t}_p({v})");
    vec![
        case("CALL with two commits", &[CALL]).with(&[TWO]),
        case("CALL with rows", &[CALL]).with(&[ROWS]),
        case("CALL with transactions", &[CALL]).with(&[COMMITS]),
        case("CALL, prepared", &[Prepared("CALL {t}_p({v})")]).with(&[ROWS]),
        case("CALL that commits, then signals", &[Fails("CALL {t}_p({v})")]).with(&[SIGNALS]).pinned(),
        case("CALL that commits, answers, then fails", &[Fails("CALL {t}_p({v})")]).with(&[FAILS]).pinned(),
        case("CALL that fails, prepared", &[Step::Sql("SELECT 1"), Fails("CALL {t}_p({v})")])
            .with(&[SIGNALS])
            .pinned(),
        case(
            "CALL that fails, prepared as text",
            &[Sql("PREPARE s FROM 'CALL {t}_p({v})'"), Fails("EXECUTE s")],
        )
        .with(&[SIGNALS])
        .pinned(),
    ]
}

fn functions() -> Vec<Case> {
    use Step::{Prepared, Sql};
    const WRITES: &str =
        "CREATE FUNCTION {t}_f(x INT) RETURNS INT BEGIN UPDATE {t} SET v = x WHERE id = 1; RETURN x; END";
    const VIEW: &str = "CREATE VIEW {t}_{v} AS SELECT {t}_f({v}) AS r";
    vec![
        case("SELECT of a function", &[Sql("SELECT {t}_f({v})")]).with(&[WRITES]),
        case("SELECT of a function, prepared", &[Prepared("SELECT {t}_f({v})")]).with(&[WRITES]),
        case("DO of a function", &[Sql("DO {t}_f({v})")]).with(&[WRITES]),
        // MariaDB tells of a change that nothing explains.
        case("SET by a function", &[Sql("SET @x = {t}_f({v})")]).with(&[WRITES]).perhaps_pinned(),
        // Nothing in these tells that they write; the replica does.
        case("a view with a function", &[Sql("SELECT r FROM {t}_{v}")]).with(&[WRITES, VIEW]),
        case("a view with a function, no rows asked for", &[Sql("DO (SELECT r FROM {t}_{v})")])
            .with(&[WRITES, VIEW]),
        case("a view with a function, prepared", &[Prepared("SELECT r FROM {t}_{v}")]).with(&[WRITES, VIEW]),
        case(
            "a view with a function, the second time",
            &[UPDATE, Sql("UPDATE {t} SET v = 0"), Sql("SELECT r FROM {t}_{v}")],
        )
        .with(&[WRITES, VIEW]),
    ]
}

fn sessions() -> Vec<Case> {
    use Step::{ChangeUser, Reset, Sql};
    vec![
        case("COM_RESET_CONNECTION after it", &[UPDATE, Reset]),
        case("COM_RESET_CONNECTION before it", &[Sql("DO 1"), Reset, UPDATE]),
        case("COM_CHANGE_USER after it", &[UPDATE, ChangeUser]),
        case("COM_CHANGE_USER before it", &[ChangeUser, UPDATE]),
        case("both after it", &[UPDATE, Reset, ChangeUser, Reset]),
        case("a reset ends the transaction before it", &[Sql("BEGIN"), Reset, UPDATE]),
        case("not logged", &[Sql("SET sql_log_bin = 0"), Sql("UPDATE {t} SET v = {v} WHERE id = 3")])
            .asks("SELECT v FROM {t} WHERE id = 3", "{v}")
            .pinned(),
        case("with a temporary table", &[Sql("CREATE TEMPORARY TABLE {t}_x (i INT)"), UPDATE]).pinned(),
        case("in another domain", &[Sql("SET gtid_domain_id = 7"), UPDATE]).on(Family::Mariadb).pinned(),
        case(
            "in two domains",
            &[
                Sql("SET gtid_domain_id = 7"),
                UPDATE,
                Sql("SET gtid_domain_id = 0"),
                Sql("UPDATE {t} SET v = 1 WHERE id = 2"),
            ],
        )
        .on(Family::Mariadb)
        .pinned(),
    ]
}

/// The client's own wishes concerning the trackers that the proxy lives by.
fn trackers() -> Vec<Case> {
    use Step::{Reset, Sql};
    const NO_GTIDS: Step = Step::Sql("SET SESSION session_track_gtids = OFF");
    const NO_VARIABLES: Step = Step::Sql("SET SESSION session_track_system_variables = ''");
    const SILENT_GTIDS: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN SET SESSION session_track_gtids = OFF; \
        UPDATE {t} SET v = x WHERE id = 1; END";
    const SILENT: &str = "CREATE PROCEDURE {t}_p(x INT) BEGIN SET SESSION session_track_system_variables = ''; \
        UPDATE {t} SET v = x WHERE id = 1; END";
    const ONLY_SILENT: &str =
        "CREATE PROCEDURE {t}_p() BEGIN SET SESSION session_track_system_variables = ''; END";
    vec![
        case("positions switched off", &[NO_GTIDS, UPDATE]).on(Family::Mysql),
        case("positions switched off after a write", &[UPDATE, NO_GTIDS]).on(Family::Mysql),
        case("variables switched off", &[NO_VARIABLES, UPDATE]),
        case("variables switched off after a write", &[UPDATE, NO_VARIABLES]),
        case(
            "variables of its own",
            &[Sql("SET session_track_system_variables = 'autocommit,time_zone'"), UPDATE],
        ),
        case(
            "all its own",
            &[Sql("SET session_track_system_variables = '*', session_track_schema = OFF"), UPDATE],
        ),
        case("switched off and reset", &[NO_VARIABLES, Reset, UPDATE]),
        case(
            "switched off in the same packet",
            &[Sql("SET SESSION session_track_gtids = OFF; UPDATE {t} SET v = {v} WHERE id = 1")],
        )
        .on(Family::Mysql),
        case(
            "variables switched off in the same packet",
            &[Sql("SET SESSION session_track_system_variables = ''; UPDATE {t} SET v = {v} WHERE id = 1")],
        ),
        case("switched off by the procedure that writes", &[Sql("CALL {t}_p({v})")])
            .with(&[SILENT_GTIDS])
            .on(Family::Mysql)
            .pinned(),
        case("variables switched off by the procedure that writes", &[Sql("CALL {t}_p({v})")])
            .with(&[SILENT])
            .pinned(),
        case("variables switched off by a procedure before", &[Sql("CALL {t}_p()"), UPDATE])
            .with(&[ONLY_SILENT])
            .pinned(),
        case(
            "switched off by a prepared text",
            &[Sql("PREPARE s FROM 'SET SESSION session_track_gtids = OFF'"), Sql("EXECUTE s"), UPDATE],
        )
        .on(Family::Mysql)
        .pinned(),
        case(
            "variables switched off by a prepared text",
            &[
                Sql("PREPARE s FROM 'SET SESSION session_track_system_variables = \"\"'"),
                Sql("EXECUTE s"),
                UPDATE,
            ],
        )
        .pinned(),
    ]
}
