//! Any bytes in any dialect: what comes out must agree with itself, and no comment or `;` at the end may make a safe read of
//! something else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sql::{Charset, Dialect, Flavor, Kind, Target, classify, split};

const CHARSETS: [Charset; 10] = [
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
];

/// The first two bytes choose the dialect.
fn dialect(flags: u8, charset: u8) -> Dialect {
    let on = |bit: u8| flags & (1 << bit) != 0;
    Dialect {
        ansi_quotes: on(0),
        no_backslash_escapes: on(1),
        ignore_space: on(2),
        oracle: on(3),
        multi_statements: on(4),
        flavor: if on(5) { Flavor::Mariadb } else { Flavor::Mysql },
        charset: CHARSETS[usize::from(charset) % CHARSETS.len()],
        version: if on(6) { 1108 } else { 0 },
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [flags, charset, text @ ..] = bytes else { return };
    let dialect = dialect(*flags, *charset);
    let found = classify(text, dialect);
    assert_eq!(found.statements == 0, found.kind == Kind::Empty);
    if let Some((start, end)) = found.hints.node {
        assert!(start < end && end as usize <= text.len());
    }
    let mut behind = 0;
    for range in split(text, dialect) {
        assert!(behind <= range.start && range.start < range.end && range.end <= text.len());
        behind = range.end;
    }
    // At the start nothing is open, so a comment there changes nothing.
    let after_comment = [b"/* c */\n", text].concat();
    if !text.starts_with(b"\xEF\xBB\xBF") {
        assert_eq!(classify(&after_comment, dialect).target, found.target);
    }
    if found.target == Target::Replica {
        assert!(found.statements <= 1 || dialect.multi_statements);
        let ended = [text, b"\n;"].concat();
        assert_eq!(classify(&ended, dialect).target, Target::Replica);
    }
});
