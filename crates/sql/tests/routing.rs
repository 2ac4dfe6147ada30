//! Every row of the routing contract, in several spellings.

use sql::{Dialect, Effects, Flavor, Kind, Reason, Target, classify};

use Kind as K;
use Reason as R;
use Target::{Previous, Primary, Proxy, Replica};

fn check(rows: &[(&str, Target, Reason, Kind)]) {
    check_in(Dialect::default(), rows);
}

/// Compares all rows before failing, so that one run shows all that is wrong.
fn check_in(dialect: Dialect, rows: &[(&str, Target, Reason, Kind)]) {
    let mut wrong = Vec::new();
    for &(text, target, reason, kind) in rows {
        let found = classify(text.as_bytes(), dialect);
        if (found.target, found.reason, found.kind) != (target, reason, kind) {
            wrong.push(format!(
                "{text}\n    expected {target:?} {reason:?} {kind:?}\n    found    {:?} {:?} {:?}",
                found.target, found.reason, found.kind
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn plain_reads() {
    let reads = [
        "SELECT 1",
        "select 1;",
        "SELECT * FROM t WHERE id = 5",
        "SELECT `order`, `for`, `update` FROM `select` WHERE `lock` = 'FOR UPDATE'",
        "SELECT t.update, t.for, t.lock, t.into FROM t",
        "SELECT a AS b, c d, COUNT(*), COUNT(DISTINCT x), SUM(y) s FROM t GROUP BY a WITH ROLLUP HAVING s > 1 ORDER BY 1 DESC LIMIT 5, 10",
        "SELECT a.x, b.y FROM a LEFT JOIN b ON (a.id = b.id) RIGHT JOIN (c, d) USING (id) NATURAL JOIN e",
        "SELECT STRAIGHT_JOIN * FROM t USE INDEX (i), u IGNORE INDEX FOR JOIN (i), v FORCE KEY FOR ORDER BY (PRIMARY)",
        "SELECT /*+ MAX_EXECUTION_TIME(1000) */ * FROM t",
        "SELECT SQL_NO_CACHE a FROM t PARTITION (p0, p1) AS x WHERE a IN (1, 2, 3) AND b NOT IN (SELECT c FROM u)",
        "SELECT CASE WHEN (a) THEN (b) ELSE (c) END FROM t WHERE EXISTS (SELECT 1) OR NOT (a = ANY (SELECT b FROM c))",
        "TABLE t",
        "TABLE t ORDER BY a LIMIT 1",
        "VALUES ROW(1, 2), ROW(3, 4)",
        "VALUES (1, 2), (3, 4)",
        "(SELECT 1)",
        "((SELECT 1) UNION ALL (SELECT 2)) ORDER BY 1",
        "SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT (TABLE t)",
        "(((SELECT a FROM t)))",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "WITH RECURSIVE a (n, m) AS (SELECT 1, 2 UNION ALL SELECT n + 1, m FROM a WHERE n < 5), b (x) AS (TABLE a) SELECT * FROM b",
        "WITH a AS (VALUES ROW(1)) (SELECT * FROM a)",
        "SELECT * FROM (SELECT 1, 2) AS d (x, y), LATERAL (SELECT d.x) l (z)",
        "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$', v VARCHAR(10) PATH '$.v' DEFAULT '1' ON EMPTY, t DATETIME(6) PATH '$.t', NESTED PATH '$.x[*]' COLUMNS (b DECIMAL(4,2) PATH '$'))) AS j",
        "SELECT CAST(a AS CHAR CHARACTER SET utf8mb4), CAST(b AS DECIMAL(10,2)), CAST(c AS DATETIME(6)), CONVERT(d USING utf8mb4), CONVERT(e, CHAR(10)), CAST(f AS UNSIGNED), CAST(g AS TIME(3)) FROM t",
        "SELECT INSERT('a', 1, 1, 'b'), REPLACE(x, 'a', 'b'), REPEAT('a', 3), LEFT(a, 1), RIGHT(a, 1), IF(a, b, c), MOD(5, 2), TRUNCATE(a, 1), CHAR(77, 121), DATABASE(), SCHEMA(), USER(), VERSION()",
        "SELECT SUBSTRING('abc' FROM 1 FOR 2), SUBSTR(a FROM 2), MID(a, 1, 2), TRIM(LEADING 'x' FROM a), POSITION('a' IN b), EXTRACT(YEAR FROM d), WEIGHT_STRING(a AS CHAR(4)), GET_FORMAT(DATE, 'USA')",
        "SELECT RANK() OVER (PARTITION BY a ORDER BY b), SUM(x) OVER w, NTH_VALUE(a, 2) FROM FIRST OVER w FROM t WINDOW w AS (ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), w2 AS (w RANGE CURRENT ROW)",
        "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b DESC SEPARATOR ', ') FROM t",
        "SELECT * FROM t WHERE MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)",
        "SELECT a -> '$.b', a ->> '$.c' FROM t WHERE 1 MEMBER OF (a)",
        "SELECT NOW() + INTERVAL 1 DAY, DATE_ADD(a, INTERVAL (b) HOUR), CURRENT_TIMESTAMP(6), UTC_DATE, LOCALTIME",
        "SELECT SLEEP(0), BENCHMARK(1, 1), UUID(), RAND(), NOW(6), PASSWORD('x')",
        "SELECT VALUES(a), ROW(1, 2) = (1, 2), INTERVAL(1, 2, 3), GROUPING(a) FROM t",
        "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00'",
        "SELECT JSON_VALUE(a, '$.b' RETURNING DECIMAL(4,2)) FROM t",
        "SELECT {d '2020-01-01'}, {fn NOW()} FROM {OJ a LEFT OUTER JOIN b ON a.i = b.i}",
        "SELECT ? FROM t WHERE a = ? LIMIT ?",
        "SELECT \\N, 0x1F, x'1F', b'01', 0b01, N'a', _utf8mb4'a' COLLATE utf8mb4_bin, .5, 1.5e-3, -1",
        "SELECT * FROM t1 AS share, t2 mode, t3 skip WHERE value = 1 AND next = 2",
        "SELECT a FROM t WHERE b = 'x' OFFSET 5 ROWS FETCH FIRST 10 ROWS ONLY",
        "SELECT @@sql_mode, @@session.time_zone, @@LOCAL.autocommit, @@`wait_timeout`, @@SESSION . `sql_mode`",
        "SELECT @@server_id, @@server_uuid, @@hostname, @@port",
        "SELECT @@session.auto_increment_increment AS a, @@character_set_client AS b, @@max_allowed_packet AS c, @@transaction_isolation AS d",
        "SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 1",
        "SELECT @v",
        "SELECT * FROM t WHERE a = @v AND b = @`w` AND c = @'x' AND d = @\"y\" AND e = @a.b$c",
        "SELECT 1 FROM DUAL WHERE 1 = 1 -- FOR UPDATE",
        "SELECT 1 # FOR UPDATE",
        "SELECT 1 /* FOR UPDATE */",
    ];
    check(&reads.map(|text| (text, Replica, R::Read, K::Select)));
    let mariadb = Dialect { flavor: Flavor::Mariadb, ..Dialect::default() };
    let reads = [
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY y) FROM t",
        "SELECT NVL(a, b), JSON_COMPACT(c), ST_X(d), X(d), CHR(65), ROWNUM() FROM t",
        "SELECT * FROM a JOIN JSON_TABLE('[1]', '$[*]' COLUMNS (b INT PATH '$')) AS j",
    ];
    check_in(mariadb, &reads.map(|text| (text, Replica, R::Read, K::Select)));
    check(&[
        ("DO 1", Replica, R::Read, K::Do),
        ("DO SLEEP(1), ABS(-1)", Replica, R::Read, K::Do),
        ("DO f(1)", Primary, R::UnknownFunction, K::Do),
    ]);
}

#[test]
fn locking_reads() {
    let locking = [
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t\n/* x */ FOR  UPDATE  NOWAIT ;",
        "SELECT * FROM t FOR SHARE OF t SKIP LOCKED",
        "SELECT * FROM t LOCK IN SHARE MODE",
        "SELECT * FROM t LOCK/**/IN\nSHARE -- x\n MODE",
        "(SELECT * FROM t FOR UPDATE)",
        "(SELECT * FROM t) FOR UPDATE",
        "SELECT * FROM (SELECT * FROM t FOR UPDATE) x",
        "SELECT * FROM t WHERE a IN (SELECT b FROM u FOR SHARE)",
        "WITH a AS (SELECT * FROM t FOR UPDATE) SELECT * FROM a",
        "WITH a AS (SELECT 1) SELECT * FROM a, t FOR UPDATE",
        "SELECT * FROM t FOR UPDATE WAIT 5",
        "SELECT * FROM t WHERE a = 1.FOR UPDATE",
        "SELECT * FROM t WHERE a = 1.5FOR UPDATE",
        "SELECT * FROM t WHERE a = 1e5FOR UPDATE",
        "SELECT * FROM t WHERE a = .5FOR UPDATE",
        "SELECT * FROM t WHERE a = 'x'FOR UPDATE",
        "SELECT * FROM t WHERE a = \"x\"FOR UPDATE",
        "SELECT * FROM `t`FOR UPDATE",
        "SELECT * FROM t FOR/**/UPDATE",
        "SELECT * FROM t FOR#x\nUPDATE",
        "SELECT * FROM t FOR--\tx\nUPDATE",
        "SELECT * FROM t /*! FOR UPDATE */",
        "SELECT * FROM t /*!50001 FOR UPDATE */",
        "SELECT * FROM t /*!99999 FOR UPDATE */",
        "SELECT * FROM t /*M!100100 FOR UPDATE */",
        "SELECT * FROM t /*! FOR */ UPDATE",
        "TABLE t FOR UPDATE",
        "SELECT SUBSTRING('a' FROM 1 FOR 2) FROM t FOR UPDATE",
        "SELECT SUBSTRING('a' FROM 1 FOR (SELECT 2 FROM t FOR UPDATE))",
        "SELECT 1 --1\n FROM t FOR UPDATE",
    ];
    check(&locking.map(|text| (text, Primary, R::LockingRead, K::Select)));
}

#[test]
fn into_goes_to_the_primary() {
    check(&[
        ("SELECT a INTO @v FROM t", Primary, R::Into, K::Select),
        ("SELECT a, b FROM t INTO @v, @w", Primary, R::Into, K::Select),
        ("SELECT a FROM t INTO OUTFILE '/x'", Primary, R::Into, K::Select),
        ("SELECT a INTO DUMPFILE '/x' FROM t", Primary, R::Into, K::Select),
        ("TABLE t INTO OUTFILE '/x'", Primary, R::Into, K::Select),
        ("(SELECT a FROM t) INTO @v", Primary, R::Into, K::Select),
    ]);
    let found = classify(b"SELECT a INTO @v FROM t", Dialect::default());
    assert!(found.effects.contains(Effects::SETS_USER_VARIABLE));
}

#[test]
fn writes() {
    check(&[
        ("INSERT INTO t VALUES (1)", Primary, R::Write, K::Insert),
        ("insert t set a = 1", Primary, R::Write, K::Insert),
        (
            "INSERT INTO t (a, b) SELECT 1, 2 ON DUPLICATE KEY UPDATE a = VALUES(a)",
            Primary,
            R::Write,
            K::Insert,
        ),
        ("INSERT INTO t VALUES (1) RETURNING id", Primary, R::Write, K::Insert),
        ("/* c */ UPDATE t SET a = 1", Primary, R::Write, K::Update),
        ("UPDATE t SET a = (@x := a + 1)", Primary, R::Write, K::Update),
        ("DELETE FROM t", Primary, R::Write, K::Delete),
        ("REPLACE INTO t VALUES (1)", Primary, R::Write, K::Replace),
        ("WITH a AS (SELECT 1) UPDATE t, a SET t.x = 1", Primary, R::Write, K::Update),
        ("WITH a AS (SELECT 1) DELETE FROM t WHERE x IN (SELECT * FROM a)", Primary, R::Write, K::Delete),
        (
            "WITH a (x) AS (SELECT 1), b AS (SELECT 2) INSERT INTO t SELECT * FROM a",
            Primary,
            R::Write,
            K::Insert,
        ),
        ("WITH a AS (SELECT 1) REPLACE INTO t SELECT * FROM a", Primary, R::Write, K::Replace),
        ("LOAD DATA INFILE 'x' INTO TABLE t", Primary, R::Load, K::Load),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (@a, b) SET c = @a", Primary, R::Load, K::Load),
        ("LOAD XML INFILE 'x' INTO TABLE t", Primary, R::Load, K::Load),
        ("CALL p(1)", Primary, R::Call, K::Call),
        ("HANDLER t OPEN", Primary, R::Handler, K::Handler),
        ("HANDLER t READ FIRST", Primary, R::Handler, K::Handler),
        ("IMPORT TABLE FROM 'x'", Primary, R::Definition, K::Admin),
    ]);
}

#[test]
fn plain_writes_commit_and_nothing_else() {
    for text in [
        "INSERT INTO t VALUES (1), (2)",
        "INSERT INTO t (a, b) VALUES (?, NOW())",
        "INSERT INTO `db`.`t`(`a`) VALUES (CONCAT('a', 'b'))",
        "INSERT IGNORE INTO t PARTITION (p0, p1) (a) SELECT a FROM u WHERE b IN (1, 2)",
        "INSERT INTO t (a) VALUES (1) AS new (m) ON DUPLICATE KEY UPDATE a = new.m",
        "INSERT INTO t SET a = (1 + 2)",
        "INSERT INTO t (a) VALUES ROW(1), ROW(2)",
        "INSERT INTO t (a) WITH c AS (SELECT 1) SELECT * FROM c",
        "INSERT INTO t (a) (SELECT 1)",
        "REPLACE INTO t (a, b) VALUES (DEFAULT(a), LEFT('abc', 2))",
        "UPDATE t USE INDEX (i) SET a = (SELECT MAX(b) FROM u), c = IF(a, 1, 2) WHERE d BETWEEN (1) AND (2) LIMIT 1",
        "UPDATE t JOIN (SELECT id FROM u) AS x (id) USING (id) SET t.a = 1",
        "DELETE FROM t PARTITION (p0) WHERE a IN (1) ORDER BY b LIMIT 5",
        "DELETE t FROM t LEFT JOIN u ON (t.id = u.id) WHERE u.id IS NULL",
    ] {
        let found = classify(text.as_bytes(), Dialect::default());
        assert_eq!((found.reason, found.effects), (R::Write, Effects::MAY_COMMIT), "{text}");
    }
}

#[test]
fn definitions_and_administration() {
    check(&[
        ("CREATE TABLE t (a INT)", Primary, R::Definition, K::Ddl),
        ("ALTER TABLE t ADD COLUMN b INT", Primary, R::Definition, K::Ddl),
        ("DROP TABLE t", Primary, R::Definition, K::Ddl),
        ("RENAME TABLE a TO b", Primary, R::Definition, K::Ddl),
        ("TRUNCATE t", Primary, R::Definition, K::Ddl),
        ("TRUNCATE TABLE t", Primary, R::Definition, K::Ddl),
        ("GRANT SELECT ON *.* TO u", Primary, R::Definition, K::Ddl),
        ("REVOKE ALL ON *.* FROM u", Primary, R::Definition, K::Ddl),
        ("CREATE USER u", Primary, R::Definition, K::Ddl),
        ("CREATE TEMPORARY TABLE t (a INT)", Primary, R::TemporaryTable, K::Ddl),
        ("CREATE OR REPLACE TEMPORARY TABLE t SELECT 1", Primary, R::TemporaryTable, K::Ddl),
        ("DROP TEMPORARY TABLE t", Primary, R::TemporaryTable, K::Ddl),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", Primary, R::Definition, K::Ddl),
        (
            "CREATE DEFINER=`a`@`b` TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET NEW.a = 1",
            Primary,
            R::Definition,
            K::Ddl,
        ),
        ("ANALYZE TABLE t", Primary, R::Definition, K::Admin),
        ("ANALYZE LOCAL TABLE t", Primary, R::Definition, K::Admin),
        ("OPTIMIZE TABLE t", Primary, R::Definition, K::Admin),
        ("REPAIR TABLE t", Primary, R::Definition, K::Admin),
        ("CHECK TABLE t", Primary, R::Definition, K::Admin),
        ("CHECKSUM TABLE t", Primary, R::Definition, K::Admin),
        ("INSTALL PLUGIN x SONAME 'y'", Primary, R::ServerState, K::Admin),
        ("FLUSH PRIVILEGES", Primary, R::ServerState, K::Admin),
        ("RESET MASTER", Primary, R::ServerState, K::Admin),
        ("PURGE BINARY LOGS TO 'x'", Primary, R::ServerState, K::Admin),
        ("CHANGE REPLICATION SOURCE TO SOURCE_HOST='x'", Primary, R::ServerState, K::Admin),
        ("START REPLICA", Primary, R::ServerState, K::Admin),
        ("STOP SLAVE", Primary, R::ServerState, K::Admin),
        ("SHUTDOWN", Primary, R::ServerState, K::Admin),
        ("BINLOG 'x'", Primary, R::ServerState, K::Admin),
    ]);
}

#[test]
fn functions_that_are_not_built_in() {
    let unknown = [
        "SELECT f()",
        "SELECT f (1)",
        "SELECT f/**/(1)",
        "SELECT db.f(1)",
        "SELECT db . f (1)",
        "SELECT `f`(1)",
        "SELECT `db`.`f`(1)",
        "SELECT db.abs(1)",
        "SELECT `abs`(1)",
        "SELECT 1 WHERE 1 = f(2)",
        "SELECT * FROM t WHERE a IN (1, f(2))",
        "SELECT * FROM t ORDER BY f(a)",
        "SELECT (SELECT f(1))",
        "WITH a AS (SELECT f(1)) SELECT * FROM a",
        "WITH a AS (SELECT 1) SELECT a, f(1) FROM a",
        "VALUES ROW(f(1))",
        "SELECT COUNT (a) FROM t",
        "SELECT 1f(2)",
        "SELECT caf\u{e9}(1)",
        "SELECT $$f(1), f(1)",
    ];
    for text in unknown.iter().take(unknown.len() - 1) {
        check(&[(text, Primary, R::UnknownFunction, K::Select)]);
    }
    check(&[("SELECT $$f(1), f(1)", Primary, R::Unknown, K::Select)]);
    let ignore_space = Dialect::from_sql_mode(b"IGNORE_SPACE");
    check_in(ignore_space, &[("SELECT COUNT (a) FROM t", Replica, R::Read, K::Select)]);
    check_in(ignore_space, &[("SELECT COUNT\t\n(a) FROM t", Replica, R::Read, K::Select)]);
    // A comment is no space: stored functions of these names are called.
    for text in [
        "SELECT max/**/(1)",
        "SELECT max /**/ (1)",
        "SELECT COUNT-- x\n(a) FROM t",
        "SELECT now #x\n()",
        "SELECT substr/*!50000 */('a', 1)",
        "SELECT mid/*!50000('a', 1)*/",
        "SELECT curdate/*+ */()",
    ] {
        check_in(ignore_space, &[(text, Primary, R::UnknownFunction, K::Select)]);
    }
    // Built in there, a stored function here.
    check(&[
        ("SELECT NVL(a, b) FROM t", Primary, R::UnknownFunction, K::Select),
        ("SELECT X(a) FROM t", Primary, R::UnknownFunction, K::Select),
    ]);
    // A default may be a sequence's next number.
    check(&[("SELECT DEFAULT(a) FROM t", Primary, R::Sequence, K::Select)]);
    let mariadb = Dialect { flavor: Flavor::Mariadb, ..Dialect::default() };
    let of = |flavor, version| Dialect { flavor, version, ..Dialect::default() };
    let (old, new) = (of(Flavor::Mariadb, 1011), of(Flavor::Mariadb, 1108));
    for (text, stored, built_in) in [
        ("SELECT UUID_V7()", old, new),
        ("SELECT UUID_V7()", mariadb, new),
        ("SELECT JSON_SCHEMA_VALID(a, b)", old, of(Flavor::Mysql, 0)),
        ("SELECT MD5('x')", of(Flavor::Mysql, 907), of(Flavor::Mysql, 804)),
        ("SELECT SHA1('x')", of(Flavor::Mysql, 0), old),
    ] {
        check_in(stored, &[(text, Primary, R::UnknownFunction, K::Select)]);
        check_in(built_in, &[(text, Replica, R::Read, K::Select)]);
    }
    check(&[("SELECT SQL_BUFFER_RESULT varchar2(1)", Primary, R::UnknownFunction, K::Select)]);
    check_in(
        mariadb,
        &[
            ("SELECT ANY_VALUE(a) FROM t", Primary, R::UnknownFunction, K::Select),
            ("SELECT RANK () OVER () FROM t", Primary, R::UnknownFunction, K::Select),
            ("SELECT 1, JSON_TABLE(1)", Primary, R::UnknownFunction, K::Select),
        ],
    );
    let found = classify(b"SELECT f()", Dialect::default());
    assert!(found.effects.contains(Effects::OPAQUE | Effects::MAY_COMMIT | Effects::SETS_USER_VARIABLE));
}

#[test]
fn locks() {
    check(&[
        ("SELECT GET_LOCK('a', 1)", Primary, R::LockFunction, K::Select),
        ("DO GET_LOCK('a', 1)", Primary, R::LockFunction, K::Do),
        ("SELECT RELEASE_LOCK('a')", Primary, R::LockFunction, K::Select),
        ("SELECT IS_FREE_LOCK('a'), IS_USED_LOCK('b')", Primary, R::LockFunction, K::Select),
        ("SELECT RELEASE_ALL_LOCKS()", Primary, R::LockFunction, K::Select),
        ("LOCK TABLES t READ", Primary, R::LockTables, K::LockTables),
        ("LOCK TABLE t WRITE", Primary, R::LockTables, K::LockTables),
        ("UNLOCK TABLES", Primary, R::LockTables, K::UnlockTables),
        ("FLUSH TABLES WITH READ LOCK", Primary, R::LockTables, K::LockTables),
        ("FLUSH LOCAL TABLES a, b WITH READ LOCK", Primary, R::LockTables, K::LockTables),
        ("FLUSH TABLES t FOR EXPORT", Primary, R::LockTables, K::LockTables),
        ("FLUSH TABLES", Primary, R::ServerState, K::Admin),
        ("LOCK INSTANCE FOR BACKUP", Primary, R::LockTables, K::LockTables),
        ("UNLOCK INSTANCE", Primary, R::LockTables, K::UnlockTables),
        ("BACKUP STAGE START", Primary, R::LockTables, K::LockTables),
        ("BACKUP STAGE END", Primary, R::LockTables, K::UnlockTables),
    ]);
    let effects = |text: &str| classify(text.as_bytes(), Dialect::default()).effects;
    assert!(effects("SELECT GET_LOCK('a', 1)").contains(Effects::TAKES_LOCK));
    assert!(effects("INSERT INTO t SELECT GET_LOCK('a', 1)").contains(Effects::TAKES_LOCK));
    assert!(effects("SET @a = GET_LOCK('a', 1)").contains(Effects::TAKES_LOCK));
    assert!(effects("SELECT RELEASE_ALL_LOCKS()").contains(Effects::RELEASES_ALL_LOCKS));
    assert!(effects("LOCK TABLES t READ").contains(Effects::LOCKS_TABLES));
    assert!(effects("UNLOCK TABLES").contains(Effects::UNLOCKS_TABLES));
    assert!(effects("FLUSH TABLES WITH READ LOCK").contains(Effects::LOCKS_TABLES));
}

#[test]
fn sequences() {
    check(&[
        ("SELECT NEXT VALUE FOR s", Primary, R::Sequence, K::Select),
        ("SELECT PREVIOUS VALUE FOR s", Primary, R::Sequence, K::Select),
        ("SELECT NEXT/**/VALUE\nFOR db.s", Primary, R::Sequence, K::Select),
        ("SELECT NEXTVAL(s)", Primary, R::Sequence, K::Select),
        ("SELECT LASTVAL(s)", Primary, R::Sequence, K::Select),
        ("SELECT SETVAL(s, 5)", Primary, R::Sequence, K::Select),
        ("SELECT next, value FROM t", Replica, R::Read, K::Select),
    ]);
}

#[test]
fn what_belongs_to_one_connection() {
    check(&[
        ("SELECT LAST_INSERT_ID()", Primary, R::LastInsertId, K::Select),
        ("SELECT LAST_INSERT_ID() AS id FROM DUAL", Primary, R::LastInsertId, K::Select),
        ("SELECT 1 + last_insert_id ( ) LIMIT 1", Primary, R::LastInsertId, K::Select),
        ("SELECT @@last_insert_id", Primary, R::LastInsertId, K::Select),
        ("SELECT @@session.identity", Primary, R::LastInsertId, K::Select),
        ("SELECT FOUND_ROWS()", Previous, R::PreviousResult, K::Select),
        ("SELECT ROW_COUNT()", Previous, R::PreviousResult, K::Select),
        ("SELECT @@warning_count, @@error_count", Previous, R::PreviousResult, K::Select),
        ("SHOW WARNINGS", Previous, R::PreviousResult, K::Show),
        ("show errors limit 1", Previous, R::PreviousResult, K::Show),
        ("SHOW COUNT(*) WARNINGS", Previous, R::PreviousResult, K::Show),
        ("SHOW COUNT(*) ERRORS", Previous, R::PreviousResult, K::Show),
        ("GET DIAGNOSTICS @a = NUMBER", Previous, R::PreviousResult, K::Diagnostics),
        ("SELECT FOUND_ROWS(), LAST_INSERT_ID()", Primary, R::LastInsertId, K::Select),
        ("SELECT FOUND_ROWS() FROM t FOR UPDATE", Primary, R::LockingRead, K::Select),
        ("SELECT found_rows FROM t", Replica, R::Read, K::Select),
        ("SELECT CONNECTION_ID()", Proxy, R::Proxy, K::Select),
        ("select connection_id ( ) as id from dual limit 1 ;", Proxy, R::Proxy, K::Select),
        ("SELECT CONNECTION_ID() 'id'", Proxy, R::Proxy, K::Select),
        ("SELECT CONNECTION_ID() + 1", Primary, R::ConnectionId, K::Select),
        ("SELECT 1, CONNECTION_ID()", Primary, R::ConnectionId, K::Select),
        ("SELECT CONNECTION_ID() FROM t", Primary, R::ConnectionId, K::Select),
        ("SELECT @@pseudo_thread_id", Primary, R::ConnectionId, K::Select),
    ]);
    let effects = |text: &str| classify(text.as_bytes(), Dialect::default()).effects;
    assert!(effects("SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 1").contains(Effects::CALC_FOUND_ROWS));
    assert!(effects("SELECT LAST_INSERT_ID()").contains(Effects::USES_LAST_INSERT_ID));
    assert!(effects("INSERT INTO t VALUES (LAST_INSERT_ID())").contains(Effects::USES_LAST_INSERT_ID));
    for text in ["SELECT LAST_INSERT_ID()", "SELECT last_insert_id (/* none */)", "SELECT @@identity, (1)"] {
        assert!(!effects(text).contains(Effects::SETS_LAST_INSERT_ID), "{text}");
    }
    for text in [
        "SELECT LAST_INSERT_ID(7)",
        "UPDATE t SET id = last_insert_id ( id + 1 )",
        "DO LAST_INSERT_ID(@a)",
        "SET last_insert_id = 1",
        "SET @a = 1, @@session.IDENTITY = 5",
        "SET @a = LAST_INSERT_ID(3)",
    ] {
        assert!(effects(text).contains(Effects::SETS_LAST_INSERT_ID), "{text}");
    }
    assert!(effects("SELECT CONNECTION_ID()").contains(Effects::CONNECTION_ID));
    assert!(!effects("SELECT CONNECTION_ID(), 1").contains(Effects::CONNECTION_ID));
}

#[test]
fn user_variables() {
    check(&[
        ("SET @v = 1", Primary, R::UserVariable, K::SetSession),
        ("SET @v := 'a', @w = NULL", Primary, R::UserVariable, K::SetSession),
        ("SELECT @v := 1", Primary, R::UserVariable, K::Select),
        ("SELECT @v:=a FROM t", Primary, R::UserVariable, K::Select),
        ("SELECT @`v` /* c */ := 1", Primary, R::UserVariable, K::Select),
    ]);
    let effects = |text: &str| classify(text.as_bytes(), Dialect::default()).effects;
    assert!(effects("SELECT @v").contains(Effects::READS_USER_VARIABLE));
    assert!(!effects("SELECT @v").contains(Effects::SETS_USER_VARIABLE));
    assert!(effects("SELECT @v := 1").contains(Effects::SETS_USER_VARIABLE));
    assert!(effects("UPDATE t SET a = (@x := a + 1)").contains(Effects::SETS_USER_VARIABLE));
    assert!(effects("SET @v = 1").contains(Effects::SETS_USER_VARIABLE));
    assert!(!effects("SET @v = 1").contains(Effects::READS_USER_VARIABLE));
    assert!(effects("SET @v = @w").contains(Effects::READS_USER_VARIABLE));
    assert!(effects("LOAD DATA INFILE 'x' INTO TABLE t (@a)").contains(Effects::SETS_USER_VARIABLE));
}

#[test]
fn session_state() {
    check(&[
        ("SET sql_mode = ''", Primary, R::SessionState, K::SetSession),
        ("SET SESSION sql_mode = ''", Primary, R::SessionState, K::SetSession),
        ("SET @@session.autocommit = OFF", Primary, R::SessionState, K::SetSession),
        ("SET NAMES utf8mb4, autocommit=0", Primary, R::SessionState, K::SetSession),
        ("SET CHARACTER SET utf8mb4", Primary, R::SessionState, K::SetSession),
        ("SET CHARSET 'latin1'", Primary, R::SessionState, K::SetSession),
        ("SET @v = 1, sql_mode = ''", Primary, R::SessionState, K::SetSession),
        ("USE db", Primary, R::SessionState, K::Use),
        ("SET ROLE admin", Primary, R::SessionState, K::SetRole),
        ("SET ROLE NONE", Primary, R::SessionState, K::SetRole),
        ("SET GLOBAL max_connections = 5", Primary, R::ServerState, K::SetGlobal),
        ("SET @@global.max_connections = 5", Primary, R::ServerState, K::SetGlobal),
        ("SET sql_mode = '', GLOBAL max_connections = 5", Primary, R::ServerState, K::SetGlobal),
        ("SET PERSIST max_connections = 5", Primary, R::ServerState, K::SetGlobal),
        ("SET @@persist_only.max_connections = 5", Primary, R::ServerState, K::SetGlobal),
        ("SET PASSWORD = 'x'", Primary, R::ServerState, K::SetGlobal),
        ("SET PASSWORD FOR u = 'x'", Primary, R::ServerState, K::SetGlobal),
        ("SET DEFAULT ROLE admin TO u", Primary, R::ServerState, K::SetGlobal),
        ("SET TRANSACTION READ ONLY", Primary, R::TransactionControl, K::SetTransaction),
        (
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE",
            Primary,
            R::TransactionControl,
            K::SetTransaction,
        ),
        ("SET SESSION TRANSACTION READ ONLY", Primary, R::TransactionControl, K::SetTransaction),
        ("SET GLOBAL TRANSACTION READ ONLY", Primary, R::ServerState, K::SetGlobal),
        ("SET @@transaction_read_only = 1", Primary, R::TransactionControl, K::SetTransaction),
    ]);
    let effects = |text: &str| classify(text.as_bytes(), Dialect::default()).effects;
    assert!(effects("SET sql_mode = ''").contains(Effects::SETS_SESSION_VARIABLE));
    assert!(effects("SET NAMES utf8").contains(Effects::SETS_SESSION_VARIABLE));
    assert!(effects("SET a = 1, @@session.session_track_gtids = OWN_GTID").contains(Effects::SETS_TRACKERS));
    assert!(effects("SET Session_Track_Schema = 1").contains(Effects::SETS_TRACKERS));
    assert!(effects("SET sql_log_bin = 0").contains(Effects::SETS_LOG_BIN));
    let handler = |text| effects(text).intersects(Effects::OPENS_HANDLER | Effects::CLOSES_HANDLER);
    assert!(
        effects("HANDLER `s`.close OPEN AS open").contains(Effects::OPENS_HANDLER)
            && !handler("HANDLER t READ close FIRST")
    );
    assert_eq!(effects("handler open/**/close"), Effects::CLOSES_HANDLER);
    assert!(effects("SET autocommit = 1").contains(Effects::MAY_COMMIT));
    assert!(effects("SET TRANSACTION READ ONLY").contains(Effects::READ_ONLY_TRANSACTION));
    assert!(effects("SET @x = f(1)").contains(Effects::OPAQUE));
    assert!(effects("SET what ever").contains(Effects::UNKNOWN));
}

#[test]
fn variables_read_from_the_primary() {
    let global = [
        "SELECT @@global.sql_mode",
        "SELECT @@GLOBAL . server_id",
        "SELECT @@read_only",
        "SELECT @@super_read_only, 1",
        "SELECT @@innodb_read_only",
        "SELECT @@transaction_read_only",
        "SELECT @@session.tx_read_only",
        "SELECT @@gtid_executed",
        "SELECT @@gtid_slave_pos",
        "SELECT @@last_gtid",
        "SELECT @@binlog_format",
        "SELECT @@log_bin",
        "SELECT @@`read_only`",
        "SELECT @@persist.x",
        "SELECT @@hot.key_buffer_size",
        "SELECT @@no_such_variable",
        "SELECT 1 FROM t WHERE @@read_only = 0",
        "SELECT @@sql_mode, @@read_only",
    ];
    check(&global.map(|text| (text, Primary, R::GlobalVariable, K::Select)));
}

#[test]
fn show() {
    let objects = [
        "SHOW TABLES",
        "SHOW FULL TABLES FROM db LIKE 'a%'",
        "SHOW EXTENDED FULL COLUMNS FROM t IN db WHERE Field = 'x'",
        "SHOW FIELDS FROM t",
        "SHOW CREATE TABLE db.t",
        "SHOW CREATE VIEW v",
        "SHOW CREATE DATABASE IF NOT EXISTS d",
        "SHOW CREATE PROCEDURE p",
        "SHOW CREATE TRIGGER t",
        "SHOW INDEX FROM t",
        "SHOW KEYS FROM t",
        "SHOW DATABASES",
        "SHOW SCHEMAS LIKE 'x'",
        "SHOW TABLE STATUS FROM db",
        "SHOW TRIGGERS",
        "SHOW EVENTS",
        "SHOW PROCEDURE STATUS",
        "SHOW FUNCTION STATUS LIKE 'x'",
        "SHOW CHARACTER SET",
        "SHOW COLLATION WHERE Charset = 'utf8mb4'",
        "SHOW TABLES FROM information_schema",
        "DESCRIBE t",
        "DESC db.t col",
        "EXPLAIN t",
    ];
    check(&objects.map(|text| (text, Replica, R::MetadataRead, K::Show)));
    let state = [
        "SHOW STATUS",
        "SHOW GLOBAL STATUS LIKE 'x'",
        "SHOW VARIABLES LIKE 'read_only'",
        "SHOW SESSION VARIABLES",
        "SHOW ENGINE INNODB STATUS",
        "SHOW BINARY LOGS",
        "SHOW MASTER STATUS",
        "SHOW BINARY LOG STATUS",
        "SHOW REPLICA STATUS",
        "SHOW SLAVE STATUS",
        "SHOW ALL SLAVES STATUS",
        "SHOW GRANTS",
        "SHOW GRANTS FOR CURRENT_USER()",
        "SHOW PROCESSLIST",
        "SHOW FULL PROCESSLIST",
        "SHOW PLUGINS",
        "SHOW PRIVILEGES",
        "SHOW CREATE USER u",
        "SHOW OPEN TABLES",
        "SHOW PROFILES",
        "SHOW SOMETHING NEW",
        "HELP 'x'",
    ];
    check(&state.map(|text| (text, Primary, R::ServerState, K::Show)));
    check(&[
        ("SHOW TABLES FROM mysql", Primary, R::SystemSchema, K::Show),
        ("SHOW COLUMNS FROM `user` FROM `mysql`", Primary, R::SystemSchema, K::Show),
        ("DESCRIBE mysql.user", Primary, R::SystemSchema, K::Show),
        ("SHOW CREATE TABLE performance_schema.threads", Primary, R::SystemSchema, K::Show),
        ("SHOW TABLES WHERE f(1)", Primary, R::UnknownFunction, K::Show),
    ]);
}

#[test]
fn system_schemas() {
    check(&[
        ("SELECT * FROM information_schema.tables", Replica, R::MetadataRead, K::Select),
        (
            "SELECT * FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 't'",
            Replica,
            R::MetadataRead,
            K::Select,
        ),
        ("SELECT * FROM `information_schema`.`key_column_usage`", Replica, R::MetadataRead, K::Select),
        ("SELECT * FROM information_schema . schemata", Replica, R::MetadataRead, K::Select),
        ("SELECT * FROM information_schema.processlist", Primary, R::SystemSchema, K::Select),
        ("SELECT * FROM `information_schema` . `PROCESSLIST`", Primary, R::SystemSchema, K::Select),
        ("SELECT * FROM information_schema.innodb_trx", Primary, R::SystemSchema, K::Select),
        (
            "SELECT * FROM information_schema.tables, information_schema.global_status",
            Primary,
            R::SystemSchema,
            K::Select,
        ),
        ("SELECT * FROM performance_schema.threads", Primary, R::SystemSchema, K::Select),
        ("SELECT * FROM sys.processlist", Primary, R::SystemSchema, K::Select),
        ("SELECT * FROM mysql.user", Primary, R::SystemSchema, K::Select),
        ("SELECT * FROM `mysql`.user", Primary, R::SystemSchema, K::Select),
        ("SELECT sys FROM t", Replica, R::Read, K::Select),
        ("SELECT t.sys, t.mysql.x FROM t", Replica, R::Read, K::Select),
    ]);
    let ansi = Dialect::from_sql_mode(b"ANSI_QUOTES");
    check_in(
        ansi,
        &[
            ("SELECT * FROM \"mysql\".\"user\"", Primary, R::SystemSchema, K::Select),
            ("SELECT * FROM \"information_schema\".\"tables\"", Replica, R::MetadataRead, K::Select),
        ],
    );
}

#[test]
fn explain_is_like_the_inner_statement() {
    check(&[
        ("EXPLAIN SELECT 1", Replica, R::Read, K::Explain),
        ("DESCRIBE SELECT * FROM t", Replica, R::Read, K::Explain),
        ("DESC (SELECT 1)", Replica, R::Read, K::Explain),
        ("EXPLAIN FORMAT=JSON SELECT 1", Replica, R::Read, K::Explain),
        ("EXPLAIN FORMAT = 'TREE' WITH a AS (SELECT 1) TABLE a", Replica, R::Read, K::Explain),
        ("EXPLAIN ANALYZE SELECT 1", Replica, R::Read, K::Explain),
        ("EXPLAIN ANALYZE FORMAT=TREE SELECT 1", Replica, R::Read, K::Explain),
        ("EXPLAIN EXTENDED SELECT 1", Replica, R::Read, K::Explain),
        ("EXPLAIN SELECT * FROM t FOR UPDATE", Primary, R::LockingRead, K::Explain),
        ("EXPLAIN UPDATE t SET a = 1", Primary, R::Write, K::Explain),
        ("EXPLAIN INTO @v SELECT 1", Primary, R::Into, K::Explain),
        ("EXPLAIN FORMAT=JSON INTO @v SELECT 1", Primary, R::Into, K::Explain),
        ("EXPLAIN FORMAT=JSON FOR SCHEMA s SELECT 1", Replica, R::Read, K::Explain),
        ("EXPLAIN FOR CONNECTION 5", Primary, R::ServerState, K::Explain),
        ("ANALYZE SELECT 1", Replica, R::Read, K::Explain),
        ("ANALYZE FORMAT=JSON SELECT 1", Replica, R::Read, K::Explain),
        ("ANALYZE UPDATE t SET a = 1", Primary, R::Write, K::Explain),
        ("EXPLAIN SELECT CONNECTION_ID()", Primary, R::ConnectionId, K::Explain),
    ]);
}

#[test]
fn transactions() {
    check(&[
        ("BEGIN", Primary, R::Transaction, K::Begin),
        ("BEGIN WORK;", Primary, R::Transaction, K::Begin),
        ("START TRANSACTION", Primary, R::Transaction, K::Begin),
        ("START TRANSACTION READ WRITE", Primary, R::Transaction, K::Begin),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", Primary, R::Transaction, K::Begin),
        ("START TRANSACTION READ ONLY", Replica, R::ReadOnlyTransaction, K::BeginReadOnly),
        (
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
            Replica,
            R::ReadOnlyTransaction,
            K::BeginReadOnly,
        ),
        ("start/**/transaction\nread\tonly;", Replica, R::ReadOnlyTransaction, K::BeginReadOnly),
        ("COMMIT", Primary, R::TransactionControl, K::Commit),
        ("COMMIT WORK AND CHAIN", Primary, R::TransactionControl, K::Commit),
        ("ROLLBACK", Primary, R::TransactionControl, K::Rollback),
        ("ROLLBACK AND NO CHAIN RELEASE", Primary, R::TransactionControl, K::Rollback),
        ("ROLLBACK TO SAVEPOINT a", Primary, R::TransactionControl, K::Savepoint),
        ("ROLLBACK WORK TO a", Primary, R::TransactionControl, K::Savepoint),
        ("SAVEPOINT a", Primary, R::TransactionControl, K::Savepoint),
        ("RELEASE SAVEPOINT a", Primary, R::TransactionControl, K::Savepoint),
        ("XA START 'a'", Primary, R::Xa, K::Xa),
        ("XA COMMIT 'a' ONE PHASE", Primary, R::Xa, K::Xa),
        ("BEGIN NOT ATOMIC SELECT 1; END", Primary, R::Compound, K::Compound),
        ("IF 1 THEN SELECT 1; END IF", Primary, R::Compound, K::Compound),
    ]);
    let effects = |text: &str| classify(text.as_bytes(), Dialect::default()).effects;
    assert!(effects("XA START 'a'").contains(Effects::BEGINS_XA));
    assert!(effects("xa/**/commit 'a'").contains(Effects::ENDS_XA));
    assert!(!effects("XA RECOVER").intersects(Effects::BEGINS_XA | Effects::ENDS_XA));
    assert!(effects("COMMIT AND CHAIN").contains(Effects::CHAINS_TRANSACTION));
    assert!(!effects("COMMIT AND NO CHAIN").contains(Effects::CHAINS_TRANSACTION));
    assert!(effects("ROLLBACK RELEASE").contains(Effects::RELEASES_CONNECTION));
    assert!(effects("START TRANSACTION WITH CONSISTENT SNAPSHOT").contains(Effects::CONSISTENT_SNAPSHOT));
}

#[test]
fn several_statements() {
    let multi = Dialect { multi_statements: true, ..Dialect::default() };
    check_in(
        multi,
        &[
            ("SELECT 1; SELECT 2", Replica, R::Read, K::Multi),
            ("SELECT 1; SHOW TABLES;", Replica, R::Read, K::Multi),
            ("SELECT SQL_CALC_FOUND_ROWS 1; SELECT FOUND_ROWS()", Replica, R::Read, K::Multi),
            ("SELECT 1; INSERT INTO t VALUES (1)", Primary, R::MultiStatement, K::Multi),
            ("SELECT 1; SELECT 2 FOR UPDATE; SELECT 3", Primary, R::MultiStatement, K::Multi),
            ("SET NAMES utf8mb4; SELECT 1", Primary, R::MultiStatement, K::Multi),
            ("SHOW WARNINGS; SELECT 1", Primary, R::MultiStatement, K::Multi),
            ("START TRANSACTION READ ONLY; SELECT 1; COMMIT", Primary, R::MultiStatement, K::Multi),
            ("SELECT 1;", Replica, R::Read, K::Select),
            ("SELECT 1; -- nothing", Replica, R::Read, K::Select),
            ("SELECT ';' ; /* ; */", Replica, R::Read, K::Select),
            ("TIDEMARK SHOW NODES; SELECT 1", Primary, R::MultiStatement, K::Multi),
        ],
    );
    check(&[("SELECT 1; SELECT 2", Primary, R::Unknown, K::Multi)]);
    let found = classify(b"SELECT 1;; SELECT 2; -- x\n; INSERT INTO t VALUES (1);", multi);
    assert_eq!(found.statements, 3);
    assert!(found.effects.contains(Effects::MAY_COMMIT_THEN_FAIL));
    let found = classify(b"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END; SELECT 3", multi);
    assert_eq!(found.statements, 2);
}

#[test]
fn prepared_as_text() {
    check(&[
        ("PREPARE s FROM 'SELECT 1'", Primary, R::Prepare, K::PrepareText),
        ("EXECUTE s USING @a", Primary, R::Prepare, K::ExecuteText),
        ("EXECUTE IMMEDIATE 'SELECT 1'", Primary, R::Prepare, K::ExecuteText),
        ("DEALLOCATE PREPARE s", Primary, R::Prepare, K::DeallocateText),
        ("DROP PREPARE s", Primary, R::Prepare, K::DeallocateText),
    ]);
}

#[test]
fn kill() {
    check(&[
        ("KILL 5", Proxy, R::Kill, K::Kill),
        ("KILL QUERY 5;", Proxy, R::Kill, K::Kill),
        ("kill connection 5", Proxy, R::Kill, K::Kill),
        ("KILL HARD QUERY 5", Proxy, R::Kill, K::Kill),
        ("KILL 2 + 3", Proxy, R::Kill, K::Kill),
        ("KILL USER u", Primary, R::Kill, K::Kill),
        ("KILL QUERY ID 5", Primary, R::Kill, K::Kill),
        ("KILL CONNECTION_ID()", Proxy, R::Kill, K::Kill),
    ]);
}

#[test]
fn nothing_and_the_unknown() {
    check(&[
        ("", Primary, R::Empty, K::Empty),
        ("  \n\t ", Primary, R::Empty, K::Empty),
        (";", Primary, R::Empty, K::Empty),
        (" ; ; ", Primary, R::Empty, K::Empty),
        ("/* nothing */", Primary, R::Empty, K::Empty),
        ("-- nothing", Primary, R::Empty, K::Empty),
        ("# nothing", Primary, R::Empty, K::Empty),
        ("$$", Primary, R::Unknown, K::Unknown),
        ("MERGE INTO t USING u ON (a = b)", Primary, R::Unknown, K::Unknown),
        ("SELEC 1", Primary, R::Unknown, K::Unknown),
        ("(UPDATE t SET a = 1)", Primary, R::Unknown, K::Unknown),
        ("TIDEMARK SHOW NODES", Proxy, R::Proxy, K::Tidemark),
        ("tidemark set consistency = 'global'", Proxy, R::Proxy, K::Tidemark),
    ]);
}

#[test]
fn geometry_is_built_in_with_the_arguments_that_it_takes() {
    let mariadb = Dialect { flavor: Flavor::Mariadb, ..Dialect::default() };
    for text in [
        "SELECT POINT(1, 2)",
        "SELECT POINT(1, f.x + COALESCE(a, b)) FROM f",
        "SELECT ST_Distance_Sphere(POINT(13.4, 52.5), place) FROM t",
        "SELECT LINESTRING(POINT(1, 2), POINT(3, 4))",
        "SELECT GEOMETRYCOLLECTION(a) FROM t",
    ] {
        check_in(mariadb, &[(text, Replica, R::Read, K::Select)]);
        check_in(Dialect::default(), &[(text, Replica, R::Read, K::Select)]);
    }
    for text in [
        "SELECT POINT()",
        "SELECT POINT(1)",
        "SELECT POINT((1, 2))",
        "SELECT POINT(1, 2, 3)",
        "SELECT POINT(/* 1, 2 */)",
        "SELECT POINT(1, 2",
        "SELECT LINESTRING()",
        "SELECT POLYGON( )",
        "SELECT MULTIPOINT(/**/)",
        "SELECT MULTILINESTRING()",
        "SELECT MULTIPOLYGON()",
        "SELECT GEOMETRYCOLLECTION()",
    ] {
        let target = sql::classify(text.as_bytes(), mariadb).target;
        assert_eq!(target, Primary, "{text}");
    }
}
