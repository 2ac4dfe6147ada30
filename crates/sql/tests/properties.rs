//! What must hold for every text: no panic, no bounds, and no way of writing that makes a safe read of something else.

use proptest::prelude::*;
use proptest::sample::select;
use sql::{
    Charset, Dialect, Flavor, Kind, Target, classify, kill_target, set, split, tidemark_command,
    transaction_control,
};

/// Pieces from which misleading texts are made.
const PIECES: &[&[u8]] = &[
    b" ",
    b"\n",
    b"/*",
    b"*/",
    b"/*!",
    b"/*!50001 ",
    b"/*!99999",
    b"/*M!100100 ",
    b"/*+",
    b"-- ",
    b"--",
    b"#",
    b"'",
    b"\"",
    b"`",
    b"\\",
    b"(",
    b")",
    b";",
    b",",
    b".",
    b"1.",
    b".5",
    b"1e",
    b"0x",
    b"@",
    b"@@",
    b":=",
    b"=",
    b"?",
    b"$$",
    b"{",
    b"}",
    b"SELECT ",
    b"FOR ",
    b"UPDATE ",
    b"SHARE",
    b"INTO ",
    b"WITH ",
    b"AS ",
    b"f",
    b"f(1)",
    b"abs(1)",
    b"SET ",
    b"STATEMENT ",
    b"a=1",
    b"global.",
    b"BEGIN ",
    b"END ",
    b"IF ",
    b"CASE ",
    b"CREATE PROCEDURE p() ",
    b"KILL ",
    b"5",
    b"TIDEMARK SHOW ",
    b"EXPLAIN ",
    b"SHOW ",
    b"NAMES ",
    b"N'",
    b"_gbk'",
    b"\xbf",
    b"\x5c",
    b"\xe4",
    b"\xa0",
    b"\xef\xbb\xbf",
    b"\0",
    b"tidemark:",
    b"node=",
    b"FORCE_SLAVE",
    b"information_schema",
    b"mysql",
    b"TABLE ",
    b"VALUES ",
    b"INSERT ",
    b"DELETE ",
    b"NEXT VALUE ",
];

fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => select(PIECES).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let charset = select(&[
        Charset::Ascii,
        Charset::Gbk,
        Charset::Sjis,
        Charset::Big5,
        Charset::Gb18030,
        Charset::Cp932,
        Charset::Euckr,
        Charset::Gb2312,
        Charset::Ujis,
        Charset::Other,
    ]);
    (any::<[bool; 6]>(), charset).prop_map(|(on, charset)| Dialect {
        ansi_quotes: on[0],
        no_backslash_escapes: on[1],
        ignore_space: on[2],
        oracle: on[3],
        multi_statements: on[4],
        flavor: if on[5] { Flavor::Mariadb } else { Flavor::Mysql },
        charset,
        version: if on[0] { 0 } else { 1108 },
    })
}

/// Statements as tokens between which space may change, with a name for those that are safe reads.
const TEXTS: &[(bool, &[&str])] = &[
    (true, &["SELECT", "1"]),
    (
        true,
        &["SELECT", "a", ",", "COUNT(", "*", ")", "FROM", "t", "WHERE", "b", "=", "'x'", "GROUP", "BY", "a"],
    ),
    (true, &["WITH", "a", "(", "x", ")", "AS", "(", "SELECT", "1", ")", "SELECT", "*", "FROM", "a"]),
    (true, &["SELECT", "CAST(", "a", "AS", "CHAR", "(", "10", ")", ")", ",", "@@sql_mode", "FROM", "t"]),
    (true, &["SELECT", "*", "FROM", "information_schema", ".tables"]),
    (true, &["TABLE", "t"]),
    (true, &["DO", "ABS", "(", "-", "1", ")"]),
    (true, &["SHOW", "FULL", "TABLES", "FROM", "db", "LIKE", "'a'"]),
    (true, &["EXPLAIN", "FORMAT", "=", "JSON", "SELECT", "1"]),
    (false, &["SELECT", "*", "FROM", "t", "FOR", "UPDATE"]),
    (false, &["SELECT", "*", "FROM", "t", "FOR", "SHARE", "OF", "t", "SKIP", "LOCKED"]),
    (false, &["SELECT", "*", "FROM", "t", "LOCK", "IN", "SHARE", "MODE"]),
    (false, &["SELECT", "a", "INTO", "@v", "FROM", "t"]),
    (false, &["SELECT", "f", "(", "1", ")"]),
    (false, &["SELECT", "db", ".", "f", "(", "1", ")"]),
    (false, &["SELECT", "`f`", "(", "1", ")"]),
    (false, &["SELECT", "GET_LOCK", "(", "'a'", ",", "1", ")"]),
    (false, &["SELECT", "LAST_INSERT_ID", "(", ")"]),
    (false, &["SELECT", "FOUND_ROWS", "(", ")"]),
    (false, &["SELECT", "@a", ":=", "1"]),
    (false, &["SELECT", "@@read_only"]),
    (false, &["SELECT", "@@global", ".", "sql_mode"]),
    (false, &["SELECT", "NEXT", "VALUE", "FOR", "s"]),
    (false, &["SELECT", "*", "FROM", "mysql", ".", "user"]),
    (false, &["WITH", "a", "AS", "(", "SELECT", "1", ")", "DELETE", "FROM", "t"]),
    (false, &["INSERT", "INTO", "t", "(", "a", ")", "VALUES", "(", "1", ")"]),
    (false, &["UPDATE", "t", "SET", "a", "=", "1"]),
    (false, &["CALL", "p", "(", ")"]),
    (false, &["SHOW", "STATUS"]),
    (false, &["SHOW", "WARNINGS"]),
    (false, &["SET", "@a", "=", "1"]),
    (false, &["BEGIN"]),
    (false, &["EXPLAIN", "SELECT", "*", "FROM", "t", "FOR", "UPDATE"]),
];

const SPACES: &[&str] =
    &[" ", "\n", "\t", "/**/", "/* x */", " -- y\n", "#z\n", "\r\n", "/*!*/", " /* ' */ ", "/* ; */"];

#[derive(Clone, Debug)]
struct Written {
    safe: bool,
    tokens: Vec<String>,
    spaces: Vec<&'static str>,
}

impl Written {
    fn text(&self) -> Vec<u8> {
        let pairs = self.tokens.iter().zip(&self.spaces);
        pairs.flat_map(|(token, space)| [space.as_bytes(), token.as_bytes()].concat()).collect()
    }
}

/// A statement in other letters and with other space.
fn written() -> impl Strategy<Value = Written> {
    select(TEXTS).prop_flat_map(|(safe, tokens)| {
        let case = proptest::collection::vec(any::<bool>(), tokens.len());
        let spaces = proptest::collection::vec(select(SPACES), tokens.len());
        (case, spaces).prop_map(move |(lower, spaces)| Written {
            safe,
            tokens: tokens
                .iter()
                .zip(lower)
                .map(|(t, lower)| if lower { t.to_ascii_lowercase() } else { (*t).to_owned() })
                .collect(),
            spaces,
        })
    })
}

fn is_replica(text: &[u8], dialect: Dialect) -> bool {
    classify(text, dialect).target == Target::Replica
}

/// Expressions that are safe, with a hole for one more.
fn expression() -> impl Strategy<Value = String> {
    let leaf = select(&[
        "1",
        "'a'",
        "x",
        "t.y",
        "`z`",
        "NULL",
        "NOW()",
        "?",
        "{hole}",
        "@@sql_mode",
        "0x1F",
        "-1.5e3",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4).prop_map(|list| list.join(", "));
        prop_oneof![
            (
                inner.clone(),
                inner.clone(),
                select(&["+", "=", " AND ", " OR ", " LIKE ", " DIV ", "->", "||", "<=>"])
            )
                .prop_map(|(a, b, op)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (
                list.clone(),
                select(&["CONCAT", "COALESCE", "LEFT", "IF", "INSERT", "JSON_EXTRACT", "GREATEST"])
            )
                .prop_map(|(list, f)| format!("{f}({list})")),
            (inner.clone(), list.clone()).prop_map(|(a, list)| format!("{a} IN ({list})")),
            inner.clone().prop_map(|a| format!("CASE WHEN {a} THEN 1 ELSE {a} END")),
            inner.clone().prop_map(|a| format!("EXISTS (SELECT 1 FROM u WHERE {a})")),
            inner.clone().prop_map(|a| format!("CAST({a} AS DECIMAL(10, 2))")),
            inner.clone().prop_map(|a| format!("SUBSTRING({a} FROM 1 FOR 2)")),
            inner.clone().prop_map(|a| format!("SUM({a}) OVER (PARTITION BY x ORDER BY y)")),
            inner.prop_map(|a| format!("DATE_ADD(NOW(), INTERVAL {a} DAY)")),
        ]
    })
}

fn read_with_hole() -> impl Strategy<Value = String> {
    (expression(), expression(), 0..9).prop_map(|(a, b, shape)| match shape {
        0 => format!("SELECT {a}, {b} FROM t"),
        1 => format!("SELECT * FROM t LEFT JOIN u ON ({a}) WHERE {b}"),
        2 => format!("SELECT x FROM t GROUP BY {a} WITH ROLLUP HAVING {b}"),
        3 => format!("SELECT x FROM t ORDER BY {a}, {b} LIMIT 5"),
        4 => format!("WITH c (p) AS (SELECT {a}), d (q) AS (SELECT {b}) SELECT * FROM c, d"),
        5 => format!("(SELECT {a}) UNION ALL (SELECT {b}) ORDER BY 1"),
        6 => format!("SELECT * FROM (SELECT {a}) AS d (p), (SELECT {b}) e WHERE p = 1"),
        7 => format!("VALUES ROW({a}), ROW({b})"),
        _ => format!("EXPLAIN SELECT {a} FROM t USE INDEX (i) WHERE {b}"),
    })
}

const UNSAFE: &[&str] = &[
    "f(1)",
    "db.f(1)",
    "`f`(1)",
    "db. abs(1)",
    "@v := 1",
    "@@read_only",
    "@@global.sql_mode",
    "GET_LOCK('a', 1)",
    "LAST_INSERT_ID()",
    "ROW_COUNT()",
    "NEXT VALUE FOR s",
    "NEXTVAL(s)",
    "LOAD_FILE('a')",
    "WAIT_FOR_EXECUTED_GTID_SET('a')",
    "MASTER_GTID_WAIT('a')",
    "CONNECTION_ID()",
    "(SELECT 1 FROM t FOR UPDATE)",
    "(SELECT 1 FROM t LOCK IN SHARE MODE)",
    "(SELECT 1 FROM mysql.user)",
    "COUNT (x)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in soup(), dialect in dialect()) {
        let found = classify(&text, dialect);
        prop_assert_eq!(found.statements == 0, found.kind == Kind::Empty);
        if let Some((start, end)) = found.hints.node {
            prop_assert!(start < end && (end as usize) <= text.len());
        }
        let mut behind = 0;
        for range in split(&text, dialect) {
            prop_assert!(behind <= range.start && range.start < range.end && range.end <= text.len());
            behind = range.end;
        }
        for item in set::assignments(&text, dialect) {
            prop_assert!(item.name.len() + item.value.len() <= text.len());
        }
        kill_target(&text, dialect);
        let _ = tidemark_command(&text, dialect);
        if transaction_control(&text, dialect).is_some() {
            prop_assert!(matches!(found.kind, Kind::Begin | Kind::Commit | Kind::Rollback));
        }
    }

    #[test]
    fn comments_around_a_text_change_nothing(text in soup(), dialect in dialect()) {
        let target = classify(&text, dialect).target;
        if !text.starts_with(b"\xef\xbb\xbf") {
            prop_assert_eq!(classify(&[b"/* c */\n", &text[..]].concat(), dialect).target, target);
        }
        if target == Target::Replica {
            for end in ["\n;", "\n/* c */", "\n-- c", "\n;;\n#"] {
                prop_assert_eq!(classify(&[&text[..], end.as_bytes()].concat(), dialect).target, target, "{}", end);
            }
        }
    }

    #[test]
    fn bytes_of_any_kind_do_not_panic(text in proptest::collection::vec(any::<u8>(), 0..200), dialect in dialect()) {
        classify(&text, dialect);
        split(&text, dialect).count();
        set::assignments(&text, dialect).count();
    }

    #[test]
    fn spelling_changes_nothing(written in written(), end in select(&["", ";", " ;; ", " -- end", "/* end */;"])) {
        let text = [written.text(), end.as_bytes().to_vec()].concat();
        prop_assert_eq!(is_replica(&text, Dialect::default()), written.safe, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn executable_comments_hide_nothing(
        written in written(),
        from in any::<prop::sample::Index>(),
        open in select(&["/*! ", "/*!50001 ", "/*!99999 ", "/*M! ", "/*M!100100 "]),
    ) {
        let from = from.index(written.tokens.len());
        let mut tokens = written.tokens.clone();
        tokens.insert(from, open.to_owned());
        tokens.push("*/".to_owned());
        let text = tokens.join(" ");
        prop_assert!(written.safe || !is_replica(text.as_bytes(), Dialect::default()), "{}", text);
    }

    #[test]
    fn parentheses_hide_nothing(written in written(), depth in 1usize..4) {
        let text = [b"(".repeat(depth), written.text(), b")".repeat(depth)].concat();
        prop_assert!(written.safe || !is_replica(&text, Dialect::default()), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn a_packet_is_as_safe_as_all_its_statements(texts in proptest::collection::vec(written(), 1..4)) {
        let dialect = Dialect { multi_statements: true, ..Dialect::default() };
        let text = texts.iter().map(Written::text).collect::<Vec<_>>().join(&b";"[..]);
        let safe = texts.iter().all(|t| t.safe);
        let follows_a_read = texts.iter().any(|t| {
            matches!(t.tokens.first(), Some(word) if word.eq_ignore_ascii_case("SHOW") || word.eq_ignore_ascii_case("SELECT"))
                && classify(&t.text(), dialect).target == Target::Previous
        });
        let found = classify(&text, dialect);
        if safe {
            prop_assert_eq!(found.target, Target::Replica);
        } else if !follows_a_read {
            prop_assert_ne!(found.target, Target::Replica);
        }
        prop_assert_eq!(found.statements as usize, texts.len());
        let pieces: Vec<_> = split(&text, dialect).map(|range| classify(&text[range], dialect)).collect();
        prop_assert_eq!(pieces.len(), texts.len());
    }

    #[test]
    fn one_unsafe_expression_decides(read in read_with_hole(), bad in select(UNSAFE)) {
        let safe = read.replace("{hole}", "1");
        prop_assert!(is_replica(safe.as_bytes(), Dialect::default()), "{}", safe);
        if read.contains("{hole}") {
            let found = read.replacen("{hole}", bad, 1).replace("{hole}", "1");
            prop_assert!(!is_replica(found.as_bytes(), Dialect::default()), "{}", found);
        }
    }
}
