//! The ways of writing that mislead a reader of bytes, each as a statement whose misreading would change its way.

use sql::{Charset, Dialect, Effects, Flavor, Hints, Kind, Level, Reason, RoleHint, Target, classify};

fn target_in(dialect: Dialect, text: &[u8]) -> (Target, Reason) {
    let found = classify(text, dialect);
    (found.target, found.reason)
}

fn target(text: &str) -> (Target, Reason) {
    target_in(Dialect::default(), text.as_bytes())
}

const READ: (Target, Reason) = (Target::Replica, Reason::Read);
const LOCKING: (Target, Reason) = (Target::Primary, Reason::LockingRead);
const UNKNOWN: (Target, Reason) = (Target::Primary, Reason::Unknown);
const WRITE: (Target, Reason) = (Target::Primary, Reason::Write);

#[test]
fn comments_and_space_anywhere() {
    assert_eq!(target("/* a */ -- b\n# c\n SELECT/**/1"), READ);
    assert_eq!(target("\t\r\n\x0b\x0c SELECT 1"), READ);
    assert_eq!(target("/* SELECT */ DELETE FROM t"), WRITE);
    assert_eq!(target("-- SELECT\nDELETE FROM t"), WRITE);
    assert_eq!(target("--\nDELETE FROM t"), WRITE);
    assert_eq!(target("SELECT 1 -- FOR UPDATE\n"), READ);
    assert_eq!(target("SELECT 1 -- x\n FROM t FOR UPDATE"), LOCKING);
    // No space: two minus signs.
    assert_eq!(target("SELECT 2--1 FROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("SELECT 1 #x\nFROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("SELECT 1 /*/ FOR UPDATE */"), READ);
    assert_eq!(target("SELECT 1 /**/ FROM t FOR UPDATE /**/"), LOCKING);
    assert_eq!(target("SELECT '/*' FROM t FOR UPDATE /* '*/"), LOCKING);
    assert_eq!(target("SELECT 1 /* never closed"), UNKNOWN);
    // A carriage return ends no comment.
    assert_eq!(target("SELECT 1 -- a\rFOR UPDATE"), READ);
}

#[test]
fn executable_comments() {
    assert_eq!(target("/*! SELECT */ 1"), READ);
    assert_eq!(target("SELECT /*!40001 SQL_NO_CACHE */ * FROM t"), READ);
    assert_eq!(target("SELECT 1 /*!99999 INTO @v */"), (Target::Primary, Reason::Into));
    assert_eq!(target("/*!40101 SET NAMES utf8 */"), (Target::Primary, Reason::SessionState));
    assert_eq!(target("/*!50001 SELECT */ /*!50001 1 */"), READ);
    // Which of two gates is open is not known.
    assert_eq!(target("/*!50001 SELECT */ /*!80001 1 */"), UNKNOWN);
    // Skipped, the comment ends later than executed.
    assert_eq!(target("SELECT 1 /*!99999 /* a */ FROM t FOR UPDATE -- */"), LOCKING);
    assert_eq!(target("SELECT 1 /*!50001 , '*/' FOR UPDATE -- */"), LOCKING);
    assert_eq!(target("SELECT 1 /*!99999 , '*/ FOR UPDATE -- ' */"), LOCKING);
    assert_eq!(target("SELECT 1 /*! + 1"), UNKNOWN);
    assert_eq!(target("/*!50001 DELETE */ /*!50001 FROM t */"), WRITE);
    assert_eq!(target("SELECT 1 /*M! FOR UPDATE */ FROM t"), LOCKING);
    // MySQL 8.0 takes five digits for the version, and the sixth for code.
    assert_eq!(target("SELECT 1 /*!080000 + 1 */"), UNKNOWN);
    let mariadb = Dialect { flavor: Flavor::Mariadb, ..Dialect::default() };
    assert_eq!(target_in(mariadb, b"SELECT 1 /*!100100 + 1 */"), READ);
    assert_eq!(target("SELECT 1 /*M!100100 + 1 */"), READ);
    // Five digits are a version, four are code.
    assert_eq!(target("SELECT 1 + /*!1234 */"), READ);
    // The optimizer's own comments are no code, but quotes in them may hide their end.
    assert_eq!(target("SELECT /*+ NO_ICP(t) */ 1"), READ);
    assert_eq!(target("SELECT /*+ NO_ICP(`a) */ 1"), UNKNOWN);
    // Both readings are reads of the connection's id only if both say so.
    let found = classify(b"SELECT CONNECTION_ID() /*!50001 , 1 */", Dialect::default());
    assert_eq!(found.target, Target::Primary);
    assert!(!found.effects.contains(Effects::CONNECTION_ID));
}

#[test]
fn quotes_by_sql_mode() {
    let ansi = Dialect::from_sql_mode(b"ANSI_QUOTES");
    let raw = Dialect::from_sql_mode(b"NO_BACKSLASH_ESCAPES");
    assert_eq!(target(r#"SELECT "f"(1)"#), UNKNOWN);
    assert_eq!(target_in(ansi, br#"SELECT "f"(1)"#), (Target::Primary, Reason::UnknownFunction));
    assert_eq!(target_in(ansi, br#"SELECT "a\" FROM t FOR UPDATE -- ""#), LOCKING);
    assert_eq!(target(r#"SELECT "a\" FROM t FOR UPDATE -- ""#), READ);
    assert_eq!(target(r"SELECT 'a\' FROM t FOR UPDATE -- '"), READ);
    assert_eq!(target_in(raw, br"SELECT 'a\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target("SELECT 'it''s' FROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("SELECT '''' FROM t"), READ);
    assert_eq!(target(r"SELECT '\'' FROM t"), READ);
    assert_eq!(target(r"SELECT '\\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target("SELECT `a``b` FROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("SELECT `a\\` FROM t FOR UPDATE -- `"), LOCKING);
    assert_eq!(target("SELECT 'never closed"), UNKNOWN);
    assert_eq!(target("SELECT `never closed"), UNKNOWN);
    // Brackets are quotes in MariaDB's MSSQL mode.
    assert_eq!(target("SELECT [a] FROM t"), UNKNOWN);
    assert_eq!(target_in(Dialect::from_sql_mode(b"ORACLE"), b"SELECT 1"), UNKNOWN);
}

#[test]
fn literals_with_a_word_before_them() {
    assert_eq!(target("SELECT _utf8mb4'a', N'b', n'c', x'41', X'41', b'1', B'1', _binary X'41'"), READ);
    assert_eq!(target("SELECT N'a\\'FOR UPDATE'"), READ);
    assert_eq!(target("SELECT DATE'2020-01-01', TIME '10:00:00', TIMESTAMP'2020-01-01 00:00:00'"), READ);
    assert_eq!(target("SELECT 'a' 'b' \"c\""), READ);
}

#[test]
fn characters_of_two_bytes() {
    let in_charset = |charset| Dialect { charset, ..Dialect::default() };
    // 0xBF5C is one character in gbk: the quote behind it closes the string.
    let text = b"SELECT '\xbf\\' FROM t FOR UPDATE -- '";
    assert_eq!(target_in(in_charset(Charset::Gbk), text), LOCKING);
    assert_eq!(target_in(in_charset(Charset::Ascii), text), READ);
    assert_eq!(target_in(in_charset(Charset::Sjis), b"SELECT '\x83\\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target_in(in_charset(Charset::Cp932), b"SELECT '\x83\\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target_in(in_charset(Charset::Big5), b"SELECT '\xa5\\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target_in(in_charset(Charset::Gb18030), b"SELECT '\x81\\' FROM t FOR UPDATE -- '"), LOCKING);
    assert_eq!(target_in(in_charset(Charset::Gb18030), b"SELECT '\x81\x30\x81\x30' FROM t"), READ);
    // A backtick as a second byte, in a name with and without quotes.
    assert_eq!(target_in(in_charset(Charset::Gbk), b"SELECT `a\xbf`b` FROM t"), READ);
    assert_eq!(target_in(in_charset(Charset::Gbk), b"SELECT a\xbf`b FROM t"), READ);
    // The byte behind a backslash is taken alone, whatever character it begins.
    assert_eq!(target_in(in_charset(Charset::Gbk), b"SELECT '\\\xbf\\' FROM t'"), READ);
    // A first byte alone is read in different ways.
    assert_eq!(target_in(in_charset(Charset::Gbk), b"SELECT '\xbf' FROM t"), UNKNOWN);
    assert_eq!(target_in(in_charset(Charset::Euckr), b"SELECT `\xb0` FROM t"), UNKNOWN);
    assert_eq!(target_in(in_charset(Charset::Other), b"SELECT 1"), UNKNOWN);
}

#[test]
fn text_that_is_not_utf8() {
    assert_eq!(target_in(Dialect::default(), b"SELECT '\xff\xfe\x80' FROM t"), READ);
    assert_eq!(target_in(Dialect::default(), b"SELECT 1 /* \xff */"), READ);
    assert_eq!(target("SELECT caf\u{e9}, `caf\u{e9}`, '\u{e9}' FROM t"), READ);
    // In latin1 0xA0 is a space, and a name may end in any letter; in utf8 both are something else.
    assert_eq!(target_in(Dialect::default(), b"SELECT 1 FROM t FOR\xa0UPDATE"), UNKNOWN);
    assert_eq!(target_in(Dialect::default(), b"SELECT `caf\xe9` FROM t"), UNKNOWN);
    assert_eq!(target_in(Dialect::default(), b"SELECT caf\xe9 FROM t"), UNKNOWN);
    assert_eq!(target_in(Dialect::default(), b"DELETE FROM t WHERE a = '\xff'"), WRITE);
    assert_eq!(target_in(Dialect::default(), b"SELECT 1\0"), UNKNOWN);
    assert_eq!(target("\u{feff}SELECT 1"), READ);
    assert_eq!(target("\u{feff}INSERT INTO t VALUES (1)"), WRITE);
}

#[test]
fn names_that_spell_keywords() {
    assert_eq!(target("SELECT `for`, t.update FROM `lock`.`into` WHERE `a`.share = 1"), READ);
    assert_eq!(target("SELECT 1 AS `FOR UPDATE`"), READ);
    assert_eq!(target("SELECT t. update FROM t"), UNKNOWN);
    assert_eq!(target("SELECT t.1, t.1a, 1a FROM t"), READ);
    assert_eq!(target("SELECT t.1.for FROM t"), READ);
    assert_eq!(target("SELECT select1, form, updated, formula, locked, intox FROM t"), READ);
    assert_eq!(target("SELECT $a FROM t"), UNKNOWN);
    assert_eq!(target("SELECT a$b FROM t"), READ);
    assert_eq!(target("$$"), UNKNOWN);
}

#[test]
fn calls_in_places_that_look_like_lists() {
    let unknown_function = (Target::Primary, Reason::UnknownFunction);
    for text in [
        "SELECT a FROM t GROUP BY a WITH ROLLUP ORDER BY a, f(1)",
        "SELECT MATCH (a) AGAINST ('x' WITH QUERY EXPANSION), f(1) FROM t",
        "WITH a (x) AS (SELECT 1) SELECT x, f(1) FROM a",
        "WITH a AS (SELECT 1, f(1)) SELECT 1",
        "WITH a AS (SELECT 1) (SELECT 2, f(1))",
        "SELECT db. f(1)",
        "SELECT db. abs(1)",
        "SELECT db ./**/abs(1)",
        "SELECT db.`f`(1)",
        "SELECT 'a' LIKE (b) ESCAPE f(1)",
        "SELECT CASE (a) WHEN f(1) THEN 1 END",
        "SELECT a FROM t WHERE (a) AND f(1)",
        "SELECT a FROM t WHERE a = f(1)",
        "SELECT INTERVAL f(1) DAY + NOW()",
        "SELECT SUBSTRING('a' FROM 1 FOR f(1))",
        "SELECT a FROM t ORDER BY (a), f(1)",
        "SELECT a FROM t LIMIT f(1)",
        "SELECT * FROM t FOR SYSTEM_TIME AS OF f(1)",
        "VALUES (1), (f(1))",
    ] {
        assert_eq!(target(text), unknown_function, "{text}");
    }
    let mariadb = Dialect { flavor: Flavor::Mariadb, ..Dialect::default() };
    for text in
        ["SELECT a, lateral(1)", "SELECT a FROM t GROUP BY rollup(a)", "SELECT a FROM t ORDER BY cube(a)"]
    {
        assert_eq!(target_in(mariadb, text.as_bytes()), unknown_function, "{text}");
    }
}

#[test]
fn set_statement_for() {
    assert_eq!(target("SET STATEMENT max_statement_time=1 FOR SELECT 1"), READ);
    assert_eq!(
        target("SET STATEMENT max_statement_time=1, sort_buffer_size = 1000 FOR SELECT * FROM t"),
        READ
    );
    assert_eq!(target("SET STATEMENT max_statement_time=1 FOR SELECT * FROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("SET STATEMENT max_statement_time=1 FOR DELETE FROM t"), WRITE);
    let session_state = (Target::Primary, Reason::SessionState);
    assert_eq!(target("SET STATEMENT sql_log_bin=0 FOR SELECT 1"), session_state);
    assert_eq!(target("SET STATEMENT sql_mode='ANSI_QUOTES' FOR SELECT 1"), session_state);
    assert_eq!(target("SET STATEMENT max_statement_time=(SELECT f()) FOR SELECT 1"), session_state);
    assert_eq!(target("SET STATEMENT gtid_domain_id=1 FOR SELECT 1"), session_state);
    assert_eq!(target("SET STATEMENT max_statement_time=1 FOR"), UNKNOWN);
    assert_eq!(target("SET STATEMENT max_statement_time=1"), UNKNOWN);
    let found = classify(b"SET STATEMENT max_statement_time=1 FOR SELECT 1", Dialect::default());
    assert_eq!((found.kind, found.effects), (Kind::Select, Effects::NONE));
}

#[test]
fn blocks() {
    let multi = Dialect { multi_statements: true, flavor: Flavor::Mariadb, ..Dialect::default() };
    let text = b"BEGIN NOT ATOMIC DECLARE x INT; SELECT 1; IF x THEN DELETE FROM t; END IF; END";
    let found = classify(text, multi);
    assert_eq!((found.target, found.kind, found.statements), (Target::Primary, Kind::Compound, 1));
    assert!(found.effects.contains(Effects::UNKNOWN));
}

#[test]
fn hints() {
    let hint = (Target::Primary, Reason::Hint);
    for text in [
        "/*FORCE_MASTER*/ SELECT 1",
        "/* force_master */SELECT 1",
        "SELECT /*FORCE_MASTER*/ 1",
        "SELECT 1 /* to master */",
        "SELECT 1 FROM t; /* TO MASTER */",
        "SELECT 1 FROM t /*FORCE_SLAVE*/ /*FORCE_MASTER*/",
        "/*FORCE_MASTER*/ START TRANSACTION READ ONLY",
    ] {
        assert_eq!(target(text), hint, "{text}");
    }
    let to_replica = (Target::Replica, Reason::Hint);
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT 1"), READ);
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT @@global.read_only"), to_replica);
    assert_eq!(target("/* to slave */ SHOW STATUS"), to_replica);
    assert_eq!(target("SELECT * FROM performance_schema.threads /* To Slave */"), to_replica);
    // Advice that is not taken.
    assert_eq!(target("/*FORCE_SLAVE*/ INSERT INTO t VALUES (1)"), WRITE);
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT * FROM t FOR UPDATE"), LOCKING);
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT f()"), (Target::Primary, Reason::UnknownFunction));
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT @@read_only, f()").0, Target::Primary);
    assert_eq!(target("/*FORCE_SLAVE*/ SELECT @@read_only FROM t FOR UPDATE"), LOCKING);
    assert_eq!(
        target("/*FORCE_SLAVE*/ SELECT @@read_only INTO OUTFILE 'x'"),
        (Target::Primary, Reason::Into)
    );
    assert_eq!(target("/*FORCE_SLAVE*/ FLUSH TABLES").0, Target::Primary);
    assert_eq!(target("/*FORCE_SLAVE*/ COMMIT").0, Target::Primary);
    // No hints.
    for text in [
        "SELECT '/*FORCE_MASTER*/'",
        "SELECT 1 -- FORCE_MASTER",
        "SELECT `/*FORCE_MASTER*/` FROM t",
        "SELECT 1 /* please FORCE_MASTER */",
        "SELECT 1 /*+ FORCE_MASTER */",
    ] {
        assert_eq!(classify(text.as_bytes(), Dialect::default()).hints, Hints::default(), "{text}");
    }
}

#[test]
fn settings_of_one_statement() {
    let text = b"/* tidemark: node=db2, consistency=global, timeout_us=5000 */ SELECT 1";
    let hints = classify(text, Dialect::default()).hints;
    let (start, end) = hints.node.expect("a node is named");
    assert_eq!(&text[start as usize..end as usize], b"db2");
    assert_eq!(hints.consistency, Some(Level::Global));
    assert_eq!(hints.timeout_us, Some(5000));
    assert!(!hints.bad);
    assert_eq!(hints.node_role, None);

    let hints =
        classify(b"SELECT 1 /* tidemark: consistency=strong */ /*FORCE_MASTER*/", Dialect::default()).hints;
    assert!(hints.bad);
    assert_eq!((hints.consistency, hints.node_role), (Some(Level::Global), Some(RoleHint::Primary)));
}

#[test]
fn length_and_depth_have_no_limit() {
    let deep = format!("{}1{}", "(SELECT ".repeat(100_000), ")".repeat(100_000));
    assert_eq!(target(&deep), READ);
    let deep = format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(target(&deep), READ);
    assert_eq!(target(&"(".repeat(1_000_000)), UNKNOWN);
    let long = format!("SELECT * FROM t WHERE a IN ({}) FOR UPDATE", "'x', ".repeat(300_000) + "1");
    assert_eq!(target(&long), LOCKING);
    let long = format!("SELECT 1 {}", "/* c */ ".repeat(300_000));
    assert_eq!(target(&long), READ);
    assert_eq!(target(&"SET STATEMENT max_statement_time=1 FOR ".repeat(100_000)), UNKNOWN);
    let long = "SELECT 1;".repeat(200_000);
    let multi = Dialect { multi_statements: true, ..Dialect::default() };
    assert_eq!(classify(long.as_bytes(), multi).statements, 200_000);
}
