//! Comments: where they end, and which of them hold code.

use memchr::memchr;

/// What a `/*` opens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Comment {
    /// Space. `end` is behind the closing mark; `None` where it is missing.
    Plain { end: Option<usize> },
    /// `/*+ ... */`. With an odd number of quotes inside, its end depends on who reads it.
    OptimizerHint { end: Option<usize>, odd_quotes: bool },
    /// `/*! ... */` or `/*M! ... */`: code, from `content` on, for a server that passes the gate. Without a gate every
    /// server runs it.
    /// With six digits where MySQL 8.0 reads five, and 8.1 six if a space follows, `content` is in doubt.
    Executable { gate: Option<u32>, content: usize, six_digits: bool },
}

/// The gate of `/*M!` without a version: the family alone decides.
const FAMILY_GATE: u32 = u32::MAX;

/// Added to the version of `/*M!50701`, so that it is another gate than that of `/*!50701`.
const MARIADB_GATE: u32 = 10_000_000;

/// Whether `rest`, which starts with a dash, is a comment to the end of the line: two dashes, and a space, a control
/// character or the end behind them (the manual's "Comments" page; `MY_LEX_MINUS_OR_COMMENT`).
pub(crate) fn starts_with_dashes(rest: &[u8]) -> bool {
    rest.get(1) == Some(&b'-') && rest.get(2).is_none_or(|&b| b <= b' ' || b == 0x7F)
}

/// Reads the comment that opens at `start`.
pub(crate) fn read(sql: &[u8], start: usize) -> Comment {
    let inside = start + 2;
    match sql.get(inside..).unwrap_or_default() {
        [b'!', ..] => executable(sql, inside + 1, 0, None),
        [b'M', b'!', ..] => executable(sql, inside + 2, MARIADB_GATE, Some(FAMILY_GATE)),
        [b'+', ..] => {
            let end = end_of(sql, inside);
            let body = sql.get(inside..end.unwrap_or(sql.len())).unwrap_or_default();
            let odd = b"`\"'".iter().any(|q| body.iter().filter(|b| *b == q).count() % 2 == 1);
            Comment::OptimizerHint { end, odd_quotes: odd }
        }
        _ => Comment::Plain { end: end_of(sql, inside) },
    }
}

/// A version has five or six digits; fewer are code.
fn executable(sql: &[u8], at: usize, base: u32, no_version: Option<u32>) -> Comment {
    let digits = sql.get(at..).unwrap_or_default().iter().take(6).take_while(|b| b.is_ascii_digit());
    let (count, version) = digits.fold((0, 0), |(n, v), d| (n + 1, v * 10 + u32::from(d - b'0')));
    if count < 5 {
        return Comment::Executable { gate: no_version, content: at, six_digits: false };
    }
    Comment::Executable {
        gate: Some(base + version),
        content: at + count,
        six_digits: count == 6 && base == 0,
    }
}

/// Behind the closing mark of a comment whose inside starts at `from`.
fn end_of(sql: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr(b'*', sql.get(at..)?)? + 1;
        if sql.get(at) == Some(&b'/') {
            return Some(at + 1);
        }
    }
}

/// Behind the end of an executable comment that is not executed: comments inside it count, one level deep
/// (`consume_comment` in the servers).
pub(crate) fn end_of_skipped(sql: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match (sql.get(at)?, sql.get(at + 1)) {
            (b'*', Some(b'/')) => return Some(at + 2),
            (b'/', Some(b'*')) => at = end_of(sql, at + 2)?,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_need_a_space() {
        assert!(starts_with_dashes(b"-- x"));
        assert!(starts_with_dashes(b"--\n"));
        assert!(starts_with_dashes(b"--"));
        assert!(!starts_with_dashes(b"--1"));
        assert!(!starts_with_dashes(b"- - 1"));
    }

    #[test]
    fn sorts_of_comments() {
        assert_eq!(read(b"/* a */b", 0), Comment::Plain { end: Some(7) });
        assert_eq!(read(b"/*/ a */", 0), Comment::Plain { end: Some(8) });
        assert_eq!(read(b"/* a", 0), Comment::Plain { end: None });
        assert_eq!(read(b"/*! x */", 0), Comment::Executable { gate: None, content: 3, six_digits: false });
        assert_eq!(
            read(b"/*!123 x */", 0),
            Comment::Executable { gate: None, content: 3, six_digits: false }
        );
        assert_eq!(
            read(b"/*!50001 x */", 0),
            Comment::Executable { gate: Some(50001), content: 8, six_digits: false }
        );
        assert_eq!(
            read(b"/*!080400x */", 0),
            Comment::Executable { gate: Some(80400), content: 9, six_digits: true }
        );
        assert_eq!(
            read(b"/*M! x */", 0),
            Comment::Executable { gate: Some(FAMILY_GATE), content: 4, six_digits: false }
        );
        assert_eq!(
            read(b"/*M!100100 x */", 0),
            Comment::Executable { gate: Some(10_100_100), content: 10, six_digits: false }
        );
        assert_eq!(read(b"/*+ a `b */", 0), Comment::OptimizerHint { end: Some(11), odd_quotes: true });
    }

    #[test]
    fn a_skipped_comment_may_hold_a_comment() {
        assert_eq!(end_of_skipped(b" a /* b */ c */ d", 0), Some(15));
        assert_eq!(end_of_skipped(b" a /* b", 0), None);
    }
}
