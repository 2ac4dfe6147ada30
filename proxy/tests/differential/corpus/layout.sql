-- How statements are laid out: comments, space, line ends, case, delimiters, empty ones, bytes that are no text.
SELECT 1
select 1
sElEcT 1 aS oNe
   SELECT 1
raw: \tSELECT\t1\t+\t2\t
raw: \nSELECT\n1\n,\n2\n
raw: \r\nSELECT\r\n'a\r\nb'\r\n
raw: SELECT\x0b1\x0c+\x0b2
raw: SELECT 1\0
raw: SELECT 'a\0b', LENGTH('a\0b')
raw: SELECT 1 \0 + 1
raw: \0
raw: SELECT\xa01
raw: SELECT '\xff\xfe'
raw: SELECT HEX('\xe4'), HEX(_latin1'\xe4'), HEX(_binary'\xe4\xff')
raw: SELECT 1 AS `\xe4`
raw: SELECT `\xff`
raw: SELECT _utf8mb4'\xf0\x9f\x8c\x8a', CHAR_LENGTH('\xf0\x9f\x8c\x8a')
raw: SELECT _utf8mb4'\xf0\x9f'
raw: SELECT /* \xff\xff */ 1
raw: -- \xff\nSELECT 2
raw: \xef\xbb\xbfSELECT 1
SELECT'a'
SELECT"a"
SELECT-1
SELECT+1,-1,~1,!1
SELECT(1)
SELECT(1),(2)
SELECT((((1))))
SELECT@a
SELECT@@version_comment IS NULL
SELECT.5
SELECT 1.AS
SELECT 1.
SELECT 1.a
SELECT 1a
SELECT 1 a
SELECT 1 'a'
SELECT 1 "a"
SELECT 1 AS 'a b'
SELECT 1 AS "a""b"
SELECT 1 AS `a``b`
SELECT 1 AS ` `
SELECT 1 AS `x `
SELECT 1 AS ` x`
SELECT 1AS a
SELECT*FROM(SELECT 1)AS d
SELECT*FROM(SELECT 1 AS`a`)`d`WHERE`a`=1
SELECT 1/**/+/**/1
SELECT/**/1
SELECT/* one */1/* two */
SELECT /* /* not nested */ 1
SELECT /*! 1 */
SELECT /*!1 */
SELECT /*!50000 1 */
SELECT /*!50000 1, */ 2
SELECT /*!050000 1, */ 2
SELECT /*!99999 1, */ 2
SELECT /*!999999 1, */ 2
SELECT /*!100000 1, */ 2
SELECT /*!80000 1, */ 2
SELECT /*!80400 'new', */ 'any'
SELECT /*M! 1, */ 2
SELECT /*M!100000 1, */ 2
SELECT /*M!101100 1, */ 2
SELECT /*M!999999 1, */ 2
SELECT /*! 1 + */ /*! 2 */
SELECT /*!50000 /* inner */ 1 */
SELECT 1 /*!50000 + 1 /* inner */ + 2 */
/*!50000 SELECT 1 */
/*! SELECT 1 */ /*! UNION SELECT 2 */
/*!40101 SET @a = 5 */
/*!40101 SET @saved = @@sql_mode */
/*!40101 SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO' */
SELECT @@sql_mode
/*!40101 SET sql_mode = @saved */
SELECT @@sql_mode
/*!40000 SELECT 1 */;
SELECT 1 /* unfinished
SELECT 1 /*! unfinished
SELECT 1 /*!50000 + 1
SELECT 1 /*
SELECT 1 */
SELECT 1 -- the rest
SELECT 1 --
SELECT 1--1
SELECT 1 --1
SELECT 5-- 2
raw: SELECT 1 -- a comment\n+ 1
raw: SELECT 1 --\t a comment\n+ 1
raw: SELECT 1 --\n+ 1
raw: SELECT 1 # a comment\n+ 1
raw: SELECT 1 #\n+ 1
raw: SELECT 1 # '\n+ 1 # "
SELECT 1 # the rest
SELECT 1#
raw: # first\n-- second\n/* third */ SELECT 1
raw: # only a comment
raw: -- only a comment
raw: --
raw: -- first\n-- second\n
/* only a comment */
/**/
/* */ /* */
/*! */
/*!50000 */
/*!999999 nothing */
raw: 
raw:  \n \t 
;
;;
; ;
 ;
SELECT 1;
SELECT 1 ;
SELECT 1;;
SELECT 1; ;
SELECT 1;/* after */
SELECT 1; -- after
SELECT 1;# after
raw: SELECT 1;\n
raw: SELECT 1;\n\n-- end\n
SELECT 1; SELECT 2
SELECT 1;SELECT 2;
SELECT 1;;SELECT 2
;SELECT 1
SELECT ';'
SELECT ';'; SELECT ";"
SELECT 1 /* ; */; SELECT 2 /* ; */
raw: SELECT 1 -- ;\n; SELECT 2
SELECT 'it''s', "say ""so"""
SELECT 'it\'s', "say \"so\""
SELECT 'a' 'b' "c"
raw: SELECT 'a'\n'b'
raw: SELECT 'a' -- and\n 'b'
SELECT 'a' /* and */ 'b'
SELECT 'a\nb\tc\rd\0e\Zf\bg\\h\%i\_j\k'
raw: SELECT 'line\none', 'tab\tone'
SELECT '/* no comment */', '-- nor this', '# nor this'
SELECT "/*", '*/'
SELECT 'unfinished
SELECT "unfinished
SELECT `unfinished
SELECT 'ends in \'
SELECT 'ends in \\'
SELECT ''
SELECT ''''
SELECT ''' '''
SELECT "'", '"', '`'
SELECT `a` FROM (SELECT 1 AS a) AS `b`
SELECT b . a FROM (SELECT 1 AS a) AS b
SELECT b./* x */a FROM (SELECT 1 AS a) AS b
SELECT b.`a`, `b`.a, `b`.`a` FROM (SELECT 1 AS a) AS b
SELECT ä FROM (SELECT 1 AS ä) AS ü
SELECT 水 AS 火 FROM (SELECT 'x' AS 水) AS d
SELECT 'Ω' AS Ω, 'é' AS é
SELECT '🌊'
SELECT 1 AS `🌊`
SELECT $a FROM (SELECT 1 AS $a) AS d
SELECT a$b FROM (SELECT 1 AS a$b) AS d
SELECT _a FROM (SELECT 1 AS _a) AS d
SELECT 1e FROM (SELECT 1 AS 1e) AS d
SELECT 0x FROM (SELECT 1 AS 0x) AS d
SELECT 2b FROM (SELECT 1 AS 2b) AS d
SELECT COUNT(*)
SELECT COUNT (*)
SELECT COUNT( * )
raw: SELECT COUNT\n(*)
SELECT COUNT/* x */(*)
SELECT NOW() IS NULL, NOW () IS NULL
SELECT ABS (-1)
SELECT CONCAT ('a', 'b')
SELECT SUBSTRING ('abc', 2)
SELECT MAX (1)
SELECT VERSION () IS NULL
raw: SELECT\n  a\n, b\nFROM\n  (SELECT 1 AS a, 2 AS b) AS d\nWHERE\n  a = 1\n  AND b = 2\n
raw: SELECT 1 -- it's\n, 2 -- "quoted"\n, 3 -- `name`\n
raw: SELECT 1 /* it's */, 2 /* "quoted */, 3 /* ` */
raw: (\nSELECT 1\n)
raw: (\n(SELECT 1)\n)
( SELECT 1 )
((SELECT 1))
(SELECT 1) UNION (SELECT 2)
(SELECT 1
SELECT 1)
SELECT
SELEC 1
SELECT 1 FORM t
FROM t
WHERE
*
1
'text'
"text"
`name`
@a
@@sql_mode
?
SELECT ?
SELECT ? + 1, ?
$$
\g
\G
SELECT 1\G
SELECT 1\g
DELIMITER ;
DELIMITER //
help
quit
source x.sql
SELECT /*+ MAX_EXECUTION_TIME(10000) */ 1
SELECT /*+ NO_ICP(t) */ 1
SELECT /*+ broken hint ( */ 1
SELECT /*+ */ 1
SELECT /*+ BKA(d) NO_BNL(d) */ * FROM (SELECT 1 AS a) AS d
SELECT /*+ SET_VAR(sort_buffer_size = 300000) */ @@sort_buffer_size >= 300000
SELECT /*+ SET_VAR(sql_mode = '') */ @@sql_mode
SELECT /*+ QB_NAME(one) */ 1
SELECT /*+ unknown_hint(1) */ 1
SELECT SQL_NO_CACHE 1
SELECT HIGH_PRIORITY 1
SELECT SQL_SMALL_RESULT 1
SELECT SQL_BIG_RESULT SQL_BUFFER_RESULT 1
SELECT ALL 1
SELECT DISTINCT 1
SELECT DISTINCTROW 1
SELECT ALL DISTINCT 1
SELECT STRAIGHT_JOIN 1
SELECT SQL_CALC_FOUND_ROWS 1
SELECT SQL_CACHE 1
/*+ MAX_EXECUTION_TIME(1000) */ SELECT 1
/* leading */ SELECT 1
/* a */ /* b */ /* c */ SELECT 1 /* d */
/* to primary */ SELECT 'marked'
/* node=db2 */ SELECT 'marked'
/*FORCE_MASTER*/ SELECT 'marked'
/*FORCE_SLAVE*/ SELECT 'marked'
/* tidemark: consistency=eventual */ SELECT 'marked'
raw: SELECT 1 AS a\n\n\n\n, 2 AS b\n;\n
session(single): SELECT 1;
SELECT 1; SELECT 2
SELECT 1;;
;
raw: SELECT 1; -- after
SELECT 'a;b'
SELECT 1; /* after */
DO 1; DO 2
session: SET sql_mode = 'ANSI_QUOTES'
SELECT "no such column"
SELECT 'a' AS "b", "b" FROM (SELECT 1 AS "b") AS "d"
SELECT 'it''s' AS "q""q"
SELECT "d"."b" FROM (SELECT 'x' AS "b") "d"
SELECT "/*" /* " */ FROM (SELECT 1 AS "/*") d
SET sql_mode = "NO_BACKSLASH_ESCAPES"
SET sql_mode = 'NO_BACKSLASH_ESCAPES'
SELECT '\', 'a\nb'
SELECT 'a\'' , 1
SELECT 'a' LIKE 'a\'
SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'
SELECT '\', "\" FROM (SELECT 1 AS "\") d
SET sql_mode = 'IGNORE_SPACE'
SELECT COUNT (*), NOW () IS NULL, MAX (1)
SELECT count FROM (SELECT 1 AS count) d
SELECT CONCAT ('a', 'b'), SUBSTRING ('abc', 2, 1)
SET sql_mode = 'PIPES_AS_CONCAT'
SELECT 'a' || 'b', 1 || 0
SET sql_mode = 'HIGH_NOT_PRECEDENCE'
SELECT NOT 1 BETWEEN -5 AND 5
SET sql_mode = 'ANSI'
SELECT "a" || 'b' FROM (SELECT 'x' AS "a") d
SELECT @@sql_mode
mariadb: SET sql_mode = 'ORACLE'
mariadb: SELECT 'a' || NULL || 'b'
mariadb: BEGIN SELECT 1; END
mariadb: SELECT @@sql_mode
mariadb: SET sql_mode = 'MSSQL'
mariadb: SELECT [a] FROM (SELECT 1 AS [a]) d
mariadb: SET sql_mode = 'EMPTY_STRING_IS_NULL'
mariadb: SELECT '' IS NULL
SET sql_mode = 'no_such_mode'
SET sql_mode = ''
SELECT 1 || 0, 'a' || 'b'
SET sql_mode = DEFAULT
