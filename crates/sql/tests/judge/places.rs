//! Names that stored functions can have, and places where they can be called.

/// Places where an expression can stand, or looks as if it could not.
pub(crate) const PLACES: &[&str] = &[
    "SELECT {f}(1)",
    "SELECT {f} (1)",
    "SELECT {f}/**/(1)",
    "SELECT 1, {f}(1)",
    "SELECT *, {f}(1) FROM t",
    "SELECT 1 = {f}(1)",
    "SELECT 1 = {f} (1)",
    "SELECT 1 = {f}((SELECT 1))",
    "SELECT 1 AND {f}(1)",
    "SELECT (1) + {f}(1)",
    "SELECT (1) {f}(1)",
    "SELECT '1' {f}(1)",
    "SELECT 1 {f}(1)",
    "SELECT a {f}(1) FROM t",
    "SELECT NOT {f}(1)",
    "SELECT 1 IN (1, {f}(1))",
    "SELECT 1 BETWEEN {f}(1) AND 2",
    "SELECT 'a' LIKE 'a' ESCAPE {f}(1)",
    "SELECT CASE WHEN {f}(1) THEN 1 END",
    "SELECT CAST(1 AS {f}(1))",
    "SELECT CONVERT({f}(1) USING utf8mb4)",
    "SELECT SUBSTRING('abc' FROM 1 FOR {f}(1))",
    "SELECT INTERVAL({f}(1), 1)",
    "SELECT DATE '2020-01-01' + INTERVAL {f}(1) DAY",
    "SELECT @@sql_mode, {f}(1)",
    "SELECT \\N, {f}(1)",
    "SELECT db. {f}(1)",
    "SELECT tidemark_judge_calls.{f}(1)",
    "SELECT tidemark_judge_calls. {f}(1)",
    "SELECT tidemark_judge_calls. {f} (1)",
    "SELECT tidemark_judge_calls .{f}(1)",
    "SELECT 2 FROM t ORDER BY {f}(1)",
    "SELECT 1 FROM t GROUP BY {f}(1)",
    "SELECT a FROM t GROUP BY a WITH ROLLUP HAVING {f}(1)",
    "SELECT 1 FROM t WHERE EXISTS (SELECT {f}(1))",
    "SELECT 1 FROM t JOIN u ON {f}(1)",
    "SELECT * FROM t, {f}(1)",
    "SELECT * FROM t LIMIT {f}(1)",
    "SELECT COUNT(*) OVER (ORDER BY {f}(1)) FROM t",
    "SELECT GROUP_CONCAT(a ORDER BY {f}(1)) FROM t",
    "SELECT 1 UNION SELECT {f}(1)",
    "VALUES ({f}(1))",
    "VALUES ROW({f}(1))",
    "WITH q AS (SELECT {f}(1)) SELECT * FROM q",
    "WITH q AS (SELECT 1) SELECT 1, {f}(1) FROM q",
    "WITH q (a) AS (SELECT 1), {f} (b) AS (SELECT 2) SELECT {f}(1) FROM q",
    "DO 1, {f}(1)",
    "SHOW TABLES WHERE {f}(1)",
];

/// Every word in quotes in the classifier's own lists, which hold the keywords and functions of both families.
pub(crate) fn names() -> Vec<String> {
    let sources = [include_str!("../../src/words/functions.rs"), include_str!("../../src/words/keywords.rs")];
    let mut names: Vec<String> = sources
        .iter()
        .flat_map(|source| source.split('"').skip(1).step_by(2))
        .filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
        .filter(|word| !word.is_empty() && *word != "sleep")
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Built in with two arguments only. Else a stored function of that name is taken for the built-in one.
pub(crate) fn is_built_in_in_part(name: &str) -> bool {
    name == "point"
}
