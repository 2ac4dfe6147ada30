//! Statements that need no author: what is done with a column, for columns of every type.

use super::corpus::Line;

/// Column definitions, and a value for each.
const TYPES: [(&str, &str); 35] = [
    ("BIT(10)", "b'1100000101'"),
    ("BOOLEAN", "TRUE"),
    ("TINYINT UNSIGNED", "255"),
    ("SMALLINT", "-32768"),
    ("MEDIUMINT", "8388607"),
    ("INT", "-7"),
    ("INT UNSIGNED ZEROFILL", "42"),
    ("BIGINT", "-9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551615"),
    ("DECIMAL(10,3)", "-12345.678"),
    ("DECIMAL(40,20) UNSIGNED", "12345678901234567890.00000000000000000001"),
    ("FLOAT", "1.17e10"),
    ("DOUBLE", "-2.5e-300"),
    ("DATE", "'2024-02-29'"),
    ("TIME", "'-101:02:03'"),
    ("TIME(3)", "'23:59:59.999'"),
    ("DATETIME", "'1999-12-31 23:59:59'"),
    ("DATETIME(6)", "'2038-01-19 03:14:07.999999'"),
    ("TIMESTAMP(3) NULL", "'2001-09-09 01:46:40.125'"),
    ("YEAR", "1969"),
    ("CHAR(10)", "'ab  '"),
    ("VARCHAR(40)", "'größer als ß 水'"),
    ("CHAR(8) CHARACTER SET latin1", "'é1'"),
    ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "'BIN'"),
    ("BINARY(6)", "x'00FF41'"),
    ("VARBINARY(20)", "x'310A00'"),
    ("TINYBLOB", "'\\0tiny'"),
    ("BLOB", "x'CAFEBABE'"),
    ("TEXT", "'12 texts'"),
    ("MEDIUMTEXT CHARACTER SET utf8mb3", "'mittel'"),
    ("LONGTEXT", "REPEAT('long ', 60)"),
    ("ENUM('red', 'green', 'blue')", "'green'"),
    ("SET('a', 'b', 'c', 'd')", "'d,a'"),
    ("JSON", "'{\"k\": [1, null, \"2\"]}'"),
    ("POINT", "ST_GeomFromText('POINT(1.5 -2)')"),
];

/// What is selected; `{}` is the column.
const EXPRESSIONS: [&str; 18] = [
    "{}",
    "-{}",
    "{} + 1",
    "{} / 3",
    "CONCAT({}, '~')",
    "CAST({} AS CHAR)",
    "CAST({} AS SIGNED)",
    "CAST({} AS DECIMAL(30,4))",
    "CAST({} AS DATETIME(2))",
    "HEX({}), LENGTH({})",
    "{} IS NULL, {} <=> NULL, ISNULL({})",
    "COALESCE({}, 'none')",
    "IF({}, 'yes', 'no')",
    "JSON_ARRAY({})",
    "{} LIKE '%1%'",
    "{} = {}, {} IN (1, 2)",
    "NULLIF({}, 0)",
    "UPPER({})",
];

/// What is selected of all rows together.
const AGGREGATES: [&str; 2] = [
    "COUNT({}), MIN({}), MAX({}), SUM({}), AVG({})",
    "COUNT(DISTINCT {}), GROUP_CONCAT({} ORDER BY id SEPARATOR '/'), BIT_XOR({})",
];

/// One table of all types, and everything done with each of them.
pub(super) fn lines() -> Vec<Line> {
    let columns: Vec<String> = (0..TYPES.len()).map(|index| format!("c{index}")).collect();
    let definitions: Vec<String> =
        columns.iter().zip(TYPES).map(|(column, (definition, _))| format!("{column} {definition}")).collect();
    let values: Vec<&str> = TYPES.iter().map(|(_, value)| *value).collect();
    let mut statements = vec![
        format!("CREATE TABLE every (id INT PRIMARY KEY, {})", definitions.join(", ")),
        format!("INSERT INTO every VALUES (1, {})", values.join(", ")),
        "INSERT INTO every (id) VALUES (2)".to_owned(),
    ];
    for column in &columns {
        for expression in EXPRESSIONS {
            statements.push(format!("SELECT {} FROM every ORDER BY id", expression.replace("{}", column)));
        }
        for aggregate in AGGREGATES {
            statements.push(format!("SELECT {} FROM every", aggregate.replace("{}", column)));
        }
    }
    statements
        .iter()
        .enumerate()
        .map(|(index, statement)| Line::new("every type", index, statement.as_bytes()))
        .collect()
}
