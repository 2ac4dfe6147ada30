-- Character sets and collations: literals, columns, mixing, conversions, order.
SELECT 'a' = 'A' COLLATE utf8mb4_bin, 'a' = 'A' COLLATE utf8mb4_general_ci, 'ß' = 'ss' COLLATE utf8mb4_unicode_ci, 'ä' = 'a' COLLATE utf8mb4_unicode_ci
SELECT 'a' COLLATE nosuch
SELECT 'a' COLLATE 'utf8mb4_bin'
SELECT _latin1'a' COLLATE latin1_swedish_ci = 'a'
SELECT _latin1 x'E4' = 'ä', CONCAT(_latin1 x'E4', 'ä')
SELECT _latin1 x'E4' COLLATE latin1_bin = 'ä' COLLATE utf8mb4_bin
SELECT CONCAT('a' COLLATE utf8mb4_bin, 'b' COLLATE utf8mb4_unicode_ci)
SELECT LENGTH(CONVERT('ä' USING utf8mb4)), LENGTH(CONVERT('ä' USING latin1)), LENGTH(CONVERT('ä' USING ucs2)), LENGTH(CONVERT('ä' USING utf32))
SELECT HEX(CONVERT('é水' USING latin1)), CONVERT('é水' USING ascii)
SELECT CONVERT(_utf8mb4 x'FF' USING latin1)
SELECT CHAR(0xC3A4 USING utf8mb4), CHAR(0xFF USING utf8mb4), CHAR(228 USING latin1)
SELECT UPPER('äöüß'), LOWER('ÄÖÜ'), UPPER('ı'), LOWER('İ'), REVERSE('äb水'), LEFT('äb水', 1), LPAD('水', 3, 'ä'), INSTR('äb水', '水'), SUBSTRING('äb水' FROM 2)
SELECT UPPER(_binary'abc'), LOWER(BINARY 'ABC'), UPPER(CAST('abc' AS BINARY))
SELECT 'a ' = 'a', 'a ' = 'a' COLLATE utf8mb4_bin, 'a ' = 'a' COLLATE utf8mb4_general_ci
mysql: SELECT 'a ' = 'a' COLLATE utf8mb4_0900_ai_ci, 'ä' = 'a' COLLATE utf8mb4_0900_ai_ci, 'ä' = 'a' COLLATE utf8mb4_0900_as_cs, 'a' = 'A' COLLATE utf8mb4_0900_as_ci, 'a' < 'B' COLLATE utf8mb4_0900_bin
mariadb: SELECT 'a ' = 'a' COLLATE utf8mb4_nopad_bin, 'ä' = 'a' COLLATE utf8mb4_general_nopad_ci, 'x' COLLATE utf8mb4_uca1400_ai_ci
mariadb: SELECT 'ä' = 'a' COLLATE uca1400_as_cs
SELECT CAST('a' AS CHAR CHARACTER SET utf16), HEX(CAST('a' AS CHAR CHARACTER SET utf16)), CAST('ä' AS CHAR(1) CHARACTER SET latin1)
SELECT COERCIBILITY('a' COLLATE utf8mb4_bin), COERCIBILITY(CONCAT('a', USER())), COERCIBILITY(5), COERCIBILITY(@nosuch)
CREATE TABLE words (id INT PRIMARY KEY, g VARCHAR(10) COLLATE utf8mb4_general_ci, b VARCHAR(10) COLLATE utf8mb4_bin, u VARCHAR(10) COLLATE utf8mb4_unicode_ci, l VARCHAR(10) CHARACTER SET latin1, s VARCHAR(10) CHARACTER SET sjis, x VARBINARY(10), d VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_german2_ci)
INSERT INTO words VALUES (1, 'a', 'a', 'a', 'a', 'a', 'a', 'a'), (2, 'B', 'B', 'B', 'B', 'B', 'B', 'B'), (3, 'ä', 'ä', 'ä', 'ä', 'x', 'ä', 'ä'), (4, 'Z', 'Z', 'Z', 'Z', 'Z', 'Z', 'Z'), (5, 'ae', 'ae', 'ae', 'ae', 'ae', 'ae', 'ae')
SELECT g FROM words ORDER BY g, id
SELECT b FROM words ORDER BY b
SELECT u FROM words ORDER BY u, id
SELECT l FROM words ORDER BY l, id
SELECT x FROM words ORDER BY x
SELECT d FROM words ORDER BY d, id
SELECT d FROM words WHERE d = 'ä' ORDER BY id
SELECT g FROM words ORDER BY g COLLATE utf8mb4_bin
SELECT id FROM words WHERE g = 'A' ORDER BY id
SELECT id FROM words WHERE b = 'A'
SELECT id FROM words WHERE g = b ORDER BY id
SELECT id FROM words WHERE g = u
SELECT id FROM words WHERE l = g ORDER BY id
SELECT id FROM words WHERE g LIKE 'Ä%' ORDER BY id
SELECT id FROM words WHERE b LIKE 'Ä%'
SELECT id FROM words WHERE x = 'a'
SELECT CONCAT(g, b) FROM words ORDER BY id LIMIT 1
SELECT CONCAT(g, u) FROM words
SELECT CONCAT(l, s) FROM words ORDER BY id LIMIT 2
SELECT MAX(g), MIN(b), GROUP_CONCAT(DISTINCT g ORDER BY g) FROM words
SELECT g, COUNT(*) FROM words GROUP BY g ORDER BY g
INSERT INTO words (id, s) VALUES (6, 'ä')
INSERT INTO words (id, l) VALUES (6, '水')
INSERT IGNORE INTO words (id, l) VALUES (6, '水')
SELECT l FROM words WHERE id = 6
SELECT id FROM words WHERE l = '水'
raw: INSERT INTO words (id, g) VALUES (7, '\xff')
raw: INSERT INTO words (id, x) VALUES (7, '\xff\0\x80')
SELECT HEX(x), x FROM words WHERE id = 7
ALTER TABLE words MODIFY g VARCHAR(10) CHARACTER SET latin1
ALTER TABLE words CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci
SELECT COLUMN_NAME, CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'corpus' AND TABLE_NAME = 'words' AND CHARACTER_SET_NAME IS NOT NULL AND COLUMN_NAME = 'l'
SET NAMES latin1
raw: SELECT id FROM words WHERE g = '\xe4' ORDER BY id
SELECT g FROM words WHERE id = 3
SELECT g AS ä, 'x' FROM words WHERE id = 3
SELECT nosuchä FROM words
SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci
SELECT 'ß' = 'ss', 'a' < 'Z', COLLATION('x'), COLLATION(CONCAT('a', 1)), COLLATION(CAST(1 AS CHAR))
SELECT id FROM words WHERE u = 'AE' ORDER BY id
SET collation_connection = 'utf8mb4_bin'
SELECT 'a' = 'A', 'a' IN ('A'), 'a' LIKE 'A', STRCMP('a', 'A'), CASE 'a' WHEN 'A' THEN 1 ELSE 0 END
SET NAMES DEFAULT
