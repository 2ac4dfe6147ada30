//! Numbers, cut where the servers cut them: `1.FOR` is a number and a keyword, `1FOR` a name, `t.1.FOR` three names
//! (`MY_LEX_NUMBER_IDENT` and the states after it).

use crate::lexer::is_word_byte;

fn digits(sql: &[u8], mut at: usize) -> usize {
    while sql.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

fn ends_word(sql: &[u8], at: usize) -> bool {
    !sql.get(at).is_some_and(|&b| is_word_byte(b))
}

/// What starts with a digit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Numeral {
    /// A number that ends here.
    Ends(usize),
    /// A name that begins with a digit.
    Name,
    /// A number without its exponent's digits, which no server takes.
    Cut,
}

/// Looks at what starts with the digit at `start`.
pub(crate) fn scan(sql: &[u8], start: usize) -> Numeral {
    if let Some(end) = hexadecimal_or_binary(sql, start) {
        return Numeral::Ends(end);
    }
    let after = digits(sql, start);
    match sql.get(after) {
        Some(b'.') => scan_fraction(sql, after + 1).map_or(Numeral::Cut, Numeral::Ends),
        Some(b'e' | b'E') => exponent(sql, after).map_or(Numeral::Name, Numeral::Ends),
        _ if ends_word(sql, after) => Numeral::Ends(after),
        _ => Numeral::Name,
    }
}

/// The end of the exponent whose letter stands at `at`; `None` without digits.
fn exponent(sql: &[u8], at: usize) -> Option<usize> {
    let sign = usize::from(matches!(sql.get(at + 1), Some(b'+' | b'-')));
    let first = at + 1 + sign;
    let end = digits(sql, first);
    (end > first).then_some(end)
}

/// `0x1F` and `0b01`, with a small letter and nothing else behind.
fn hexadecimal_or_binary(sql: &[u8], start: usize) -> Option<usize> {
    let is_digit: fn(&u8) -> bool = match sql.get(start..start + 2)? {
        b"0x" => u8::is_ascii_hexdigit,
        b"0b" => |b| matches!(b, b'0' | b'1'),
        _ => return None,
    };
    let mut at = start + 2;
    while sql.get(at).is_some_and(is_digit) {
        at += 1;
    }
    (at > start + 2 && ends_word(sql, at)).then_some(at)
}

/// The end of what follows a decimal point at `from`; `None` for an exponent without digits.
pub(crate) fn scan_fraction(sql: &[u8], from: usize) -> Option<usize> {
    let after = digits(sql, from);
    if !matches!(sql.get(after), Some(b'e' | b'E')) {
        return Some(after);
    }
    exponent(sql, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_server_ends_them() {
        use Numeral::{Cut, Ends, Name};
        for (text, end) in [
            ("1", Ends(1)),
            ("12 ", Ends(2)),
            ("1.FOR", Ends(2)),
            ("1.5FOR", Ends(3)),
            ("1e5FOR", Ends(3)),
            ("1e+5FOR", Ends(4)),
            ("1.5e-3x", Ends(6)),
            ("0x1F ", Ends(4)),
            ("0b01)", Ends(4)),
            ("1FOR", Name),
            ("0x1FOR", Name),
            ("1e", Name),
            ("1.5e ", Cut),
        ] {
            assert_eq!(scan(text.as_bytes(), 0), end, "{text}");
        }
    }
}
