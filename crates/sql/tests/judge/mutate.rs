//! Statements that leave a trace, misspelt.

/// Each locks a row of t, sets `@trip`, calls f (which sets it) or takes the lock 'trip'.
pub(crate) const TRACES: &[&str] = &[
    "SELECT * FROM t WHERE id = 1 FOR UPDATE",
    "SELECT a, 'x' FROM t WHERE id = 1 AND b = 'x' LOCK IN SHARE MODE",
    "SELECT b AS `c` FROM t WHERE id = 1 FOR SHARE",
    "SELECT 1, \"y\" FROM t WHERE a < 1.5 FOR UPDATE",
    "(SELECT id FROM t WHERE id = 2 FOR UPDATE)",
    "SELECT 1 INTO @trip",
    "SELECT a FROM t WHERE id = 1 INTO @trip",
    "SELECT f(1)",
    "SELECT tidemark_judge_spelling.f(1), a FROM t",
    "SELECT `f`(1) FROM t WHERE b = 'x'",
    "SELECT @trip := 1",
    "SELECT GET_LOCK('trip', 0)",
    "UPDATE t SET a = a + 1 WHERE id = 1",
    "WITH c AS (SELECT 1) DELETE FROM t WHERE id = 2",
    "INSERT INTO t (id, a) SELECT 4, a FROM t WHERE id = 1 FOR UPDATE",
    "WITH c (n) AS (SELECT 1) SELECT c.n, f(2) FROM c, t",
    "SELECT SUBSTRING('abc' FROM 1 FOR 2) FROM t WHERE id = 1 FOR UPDATE",
    "SELECT 'it''s', 'a\\'b', \"c\" FROM t WHERE id = 3 FOR UPDATE",
    "SELECT a FROM t GROUP BY a WITH ROLLUP HAVING f(1)",
    "SELECT JSON_EXTRACT(j, '$.k') FROM t WHERE id IN (1, 2) FOR UPDATE",
    "SELECT 1 FROM t /*!50001 WHERE id = 1 */ FOR UPDATE",
    "SELECT 1 FROM t WHERE id = 1 -- c\n FOR UPDATE",
    "SELECT /*+ NO_ICP(t) */ 1 /* c */ FROM t # d\n WHERE id = 1 FOR UPDATE",
];

/// What stands before and behind a thing to hide it, or seems to.
const COVERS: &[(&[u8], &[u8])] = &[
    (b"'", b"'"),
    (b"\"", b"\""),
    (b"\"a\\\"", b"\""),
    (b"'a\\'", b"'"),
    (b"'a\\", b"'"),
    (b"'a\\\\", b"'"),
    (b"'a\\\\' ", b"-- '\n"),
    (b"'a\\' ", b"-- '\n"),
    (b"'a'' ", b"'"),
    (b"\"a\"\" ", b"\""),
    (b"'\xbf\\' ", b"-- '\n"),
    (b"'\xbf\\' ", b"'"),
    (b"'\x83\\' ", b"-- '\n"),
    (b"'\xa5\\' ", b"-- '\n"),
    (b"'\\\xbf\\' ", b"-- '\n"),
    (b"'\\\xbf\\' ", b"'"),
    (b"'\xbf' ", b"-- '\n"),
    (b"'\xbf'' ", b"'"),
    (b"'\xe4' ", b"-- '\n"),
    (b"1 AS `a\xbf` ", b"`"),
    (b"1 AS `a\x83` ", b"-- `\n"),
    (b"1 AS `a\xe4` ", b"-- `\n"),
    (b"1 AS `a`` ", b"`"),
    (b"1 AS \"a\\\" ", b"\""),
    (b"1 AS \"a\\\" ", b"-- \"\n"),
    (b"1 AS `a\\` ", b"-- `\n"),
    (b"/*", b"*/"),
    (b"/*/", b"*/"),
    (b"/* '*/ ", b"/* '*/"),
    (b"/*!99999 ", b"*/"),
    (b"/*!999999 ", b"*/"),
    (b"/*!099999 ", b"*/"),
    (b"/*!0999991 ", b"*/"),
    (b"/*!50001 ", b"*/"),
    (b"/*!50799 ", b"*/"),
    (b"/*!100000 ", b"*/"),
    (b"/*! ", b"*/"),
    (b"/*!1234 ", b"*/"),
    (b"/*M! ", b"*/"),
    (b"/*M!100100 ", b"*/"),
    (b"/*m! ", b"*/"),
    (b"/*M!999999 ", b"*/"),
    (b"/*!99999 /* ", b"*/ */"),
    (b"/*!99999 /* */ ", b"*/"),
    (b"/*!99999 '*/ ", b" /* ' */"),
    (b"/*!50001 , '*/ ", b"' */"),
    (b"/*+ ", b"*/"),
    (b"/*+ `*/ ", b"/* ` */"),
    (b"-- ", b"\n"),
    (b"--\t", b"\n"),
    (b"--\x01", b"\n"),
    (b"--\x0b", b"\n"),
    (b"--\xa0", b"\n"),
    (b"--", b"\n"),
    (b"--\r", b"\r"),
    (b"-- ", b"\r"),
    (b"#", b"\n"),
    (b"#", b"\r"),
    (b"1.", b""),
    (b"1.5", b""),
    (b".5", b""),
    (b"1e5", b""),
    (b"1e", b""),
    (b"0x1", b""),
    (b"0b1", b""),
    (b"t.a", b""),
    (b"t.", b""),
    (b"t. ", b""),
    (b"t.`a`", b""),
    (b"N'", b"'"),
    (b"N'\\'", b"'"),
    (b"x'41'", b""),
    (b"_latin1'a\\", b"'"),
    (b"_gbk'\xbf\\", b"'"),
    (b"_gbk'\xbf\\'", b"'"),
    (b"@a", b""),
    (b"@`a", b"`"),
    (b"@'a\\'", b"'"),
    (b"@\"a", b"\""),
    (b"@@sql_mode", b""),
    (b"\\N", b""),
    (b"(SELECT 1", b")"),
    (b"{d '2020-01-01'}", b""),
    (b"SUBSTRING('a' FROM 1 FOR ", b")"),
    (b"a\xc2\xa0", b""),
    (b"a\xa0", b""),
    (b"", b""),
];

const PIECES: &[&[u8]] = &[
    b" ",
    b"\n",
    b"\t",
    b"\r",
    b"\x0b",
    b"/*",
    b"*/",
    b"/**/",
    b"/*!",
    b"/*!50001 ",
    b"/*!99999 ",
    b"/*!099999 ",
    b"/*M! ",
    b"/*M!100100 ",
    b"/*M!999999 ",
    b"/*+",
    b"--",
    b"-- ",
    b"--\t",
    b"--\n",
    b"#",
    b"'",
    b"''",
    b"\"",
    b"\"\"",
    b"`",
    b"``",
    b"\\",
    b"\\'",
    b"\\\\",
    b"(",
    b")",
    b";",
    b",",
    b".",
    b"1",
    b"1.",
    b".5",
    b"1e5",
    b"1e",
    b"0x1F",
    b"0b1",
    b"x'41'",
    b"N'a'",
    b"_utf8mb4'a'",
    b"_gbk'\xbf\\'",
    b"@",
    b"@@",
    b"@x",
    b"@@sql_mode ",
    b":=",
    b"=",
    b"-",
    b"+",
    b"*",
    b"/",
    b"!",
    b"a",
    b"t",
    b"t.",
    b"`a`",
    b"AS ",
    b"FROM t ",
    b"SELECT ",
    b"UNION ",
    b"UNION SELECT 1 ",
    b"WITH ",
    b"FOR ",
    b"UPDATE ",
    b"SHARE ",
    b"f",
    b"f(1)",
    b"abs(1)",
    b"count(*)",
    b"CASE ",
    b"END ",
    b"NULL ",
    b"AND ",
    b"OR ",
    b"NOT ",
    b"\\N",
    b"$",
    b"$$",
    b"{",
    b"}",
    b"\xef\xbb\xbf",
    b"\xa0",
    b"\xc2\xa0",
    b"\xe4",
    b"\xe4\xbd\xa0",
    b"\xbf\\",
    b"\xbf'",
    b"\x83\\",
    b"\x83`",
    b"\xa5\\",
    b"\xb0`",
    b"\x81\x30\x81\x30",
    b"SQL_NO_CACHE ",
    b"DISTINCT ",
    b"LIMIT 1 ",
    b"ORDER BY 1 ",
    b"IN (1) ",
    b"EXPLAIN ",
    b"DO ",
    b"VALUES ",
    b"TABLE t ",
    b"SET STATEMENT max_statement_time=9 FOR ",
    b"PROCEDURE ",
    b"INTERVAL 1 DAY ",
    b"OVER () ",
    b"COLLATE ",
];

/// A small generator of numbers, so that a seed gives the same statements everywhere (xorshift64*).
pub(crate) struct Mutator {
    state: u64,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Mutator {
        Mutator { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let value = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(value).unwrap_or(0) % limit.max(1)
    }

    fn one(&mut self, of: &[&'static [u8]]) -> &'static [u8] {
        of[self.below(of.len())]
    }

    /// The next misspelt statement: one that is changed here and there, or one in which something is hidden.
    pub(crate) fn statement(&mut self) -> Vec<u8> {
        if self.below(3) > 0 { self.hidden() } else { self.misspelt() }
    }

    /// A read with things in it that leave a trace, unless they are text or comment.
    fn hidden(&mut self) -> Vec<u8> {
        let mut text = b"SELECT 1".to_vec();
        for _ in 0..self.below(3) {
            text.extend(self.one(&[b", ", b" ", b" + ", b", a "]));
            self.hide(&mut text, &[b", f(1) ", b", @trip := 1 ", b" f(1) ", b", `f`(1) ", b" INTO @trip "]);
        }
        text.extend(b" FROM t WHERE id = 1");
        for _ in 0..self.below(3) {
            text.extend(self.one(&[b" ", b" AND 1 = ", b" AND 'a' <> ", b"\n", b" OR "]));
            self.hide(
                &mut text,
                &[b" FOR UPDATE ", b"FOR UPDATE ", b" FOR SHARE", b" INTO @trip ", b" AND f(1) "],
            );
        }
        if self.below(4) == 0 {
            self.change(&mut text);
        }
        text.extend(self.one(&[b"", b"", b"", b";", b" -- '", b" # `", b" /* \" */"]));
        text
    }

    fn hide(&mut self, text: &mut Vec<u8>, traces: &[&'static [u8]]) {
        let (open, close) = COVERS[self.below(COVERS.len())];
        text.extend(open);
        text.extend(self.one(traces));
        text.extend(close);
    }

    fn misspelt(&mut self) -> Vec<u8> {
        let mut text = TRACES[self.below(TRACES.len())].as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut text);
        }
        text
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        let at = self.place(text);
        match self.below(8) {
            0 => {
                let end = (at + 1 + self.below(3)).min(text.len());
                text.drain(at..end);
            }
            1 => {
                let end = (at + 1 + self.below(12)).min(text.len());
                let copy = text[at..end].to_vec();
                let to = self.place(text);
                text.splice(to..to, copy);
            }
            2 => {
                // Something around a part.
                let end = (at + 1 + self.below(20)).min(text.len());
                let (open, close): (&[u8], &[u8]) = [
                    (&b"/*!50001 "[..], &b"*/"[..]),
                    (b"/*!99999 ", b"*/"),
                    (b"/*", b"*/"),
                    (b"(", b")"),
                    (b"'", b"'"),
                    (b"\"", b"\""),
                    (b"`", b"`"),
                    (b"-- ", b"\n"),
                    (b"#", b"\n"),
                ][self.below(9)];
                text.splice(end..end, close.iter().copied());
                text.splice(at..at, open.iter().copied());
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                text.splice(at..at, piece.iter().copied());
            }
        }
    }

    /// A place in the text: often where a word begins or ends, else anywhere.
    fn place(&mut self, text: &[u8]) -> usize {
        let at = self.below(text.len() + 1);
        if self.below(3) == 0 {
            return at;
        }
        let edge = |i: &usize| {
            let is_word = |i: usize| text.get(i).is_some_and(u8::is_ascii_alphanumeric);
            i.checked_sub(1).is_none_or(|before| is_word(before) != is_word(*i))
        };
        (at..text.len()).find(edge).unwrap_or(text.len())
    }
}
