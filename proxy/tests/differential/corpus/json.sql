-- JSON: values, paths, functions, tables, and columns.
SELECT JSON_ARRAY(1, 'a', NULL, TRUE, 1.5, JSON_ARRAY()), JSON_OBJECT('k', 1, 'n', NULL), JSON_OBJECT(), JSON_ARRAY()
SELECT JSON_QUOTE('a"b'), JSON_UNQUOTE('"a\\"b"'), JSON_UNQUOTE('abc'), JSON_QUOTE(NULL)
SELECT JSON_VALID('{"a": 1}'), JSON_VALID('{a: 1}'), JSON_VALID(NULL), JSON_VALID('1')
SELECT JSON_TYPE('1'), JSON_TYPE('"a"'), JSON_TYPE('[]'), JSON_TYPE('{}'), JSON_TYPE('null'), JSON_TYPE('1.5'), JSON_TYPE('true')
SELECT JSON_TYPE('x')
SELECT JSON_EXTRACT('{"a": [1, 2, {"b": 3}]}', '$.a[2].b'), JSON_EXTRACT('[1, 2, 3]', '$[1]'), JSON_EXTRACT('[1, 2]', '$[*]'), JSON_EXTRACT('{"a": {"b": 1}}', '$**.b'), JSON_EXTRACT('[1]', '$[0]', '$[5]')
SELECT JSON_EXTRACT('{"a": 1}', 'no path')
SELECT JSON_EXTRACT('{"a b": 1}', '$."a b"'), JSON_EXTRACT('[1, 2, 3]', '$[last]')
SELECT JSON_VALUE('{"a": "x"}', '$.a'), JSON_VALUE('{"a": [1]}', '$.a'), JSON_VALUE('{"a": 1}', '$.b')
SELECT JSON_CONTAINS('{"a": 1, "b": 2}', '1', '$.a'), JSON_CONTAINS('[1, 2, 3]', '[1, 3]'), JSON_CONTAINS_PATH('{"a": 1}', 'one', '$.a', '$.b'), JSON_CONTAINS_PATH('{"a": 1}', 'all', '$.a', '$.b')
SELECT JSON_KEYS('{"a": 1, "b": {"c": 2}}'), JSON_KEYS('{"a": {"c": 2}}', '$.a'), JSON_LENGTH('[1, 2, 3]'), JSON_LENGTH('{"a": [1, 2]}', '$.a'), JSON_DEPTH('[1, [2, [3]]]')
SELECT JSON_SEARCH('["abc", "xyz", "abd"]', 'one', 'ab%'), JSON_SEARCH('["abc", "abd"]', 'all', 'ab_'), JSON_SEARCH('["a%c"]', 'one', 'a|%c', '|')
SELECT JSON_SET('{"a": 1}', '$.a', 2, '$.b', 3), JSON_INSERT('{"a": 1}', '$.a', 2, '$.b', 3), JSON_REPLACE('{"a": 1}', '$.a', 2, '$.b', 3), JSON_REMOVE('{"a": 1, "b": 2}', '$.a')
SELECT JSON_ARRAY_APPEND('[1, [2]]', '$[1]', 3), JSON_ARRAY_INSERT('[1, 2]', '$[1]', 'x'), JSON_MERGE_PATCH('{"a": 1}', '{"b": 2, "a": null}'), JSON_MERGE_PRESERVE('[1]', '[2]', '{"a": 1}')
SELECT JSON_MERGE('[1]', '[2]')
SELECT JSON_PRETTY('{"a": [1, 2]}')
mariadb: SELECT JSON_DETAILED('{"a": [1, 2]}'), JSON_COMPACT('{ "a" : 1 }'), JSON_LOOSE('{"a":1}')
mariadb: SELECT JSON_QUERY('{"a": [1]}', '$.a'), JSON_EXISTS('{"a": 1}', '$.a'), JSON_EQUALS('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'), JSON_NORMALIZE('{"b": 1.0, "a": 2}')
mysql: SELECT JSON_STORAGE_SIZE('{"a": 1}'), JSON_SCHEMA_VALID('{"type": "object"}', '{}'), JSON_SCHEMA_VALIDATION_REPORT('{"type": "array"}', '{}')
mysql: SELECT JSON_VALUE('{"a": "1.5"}', '$.a' RETURNING DECIMAL(5,2)), JSON_VALUE('{"a": "x"}', '$.b' DEFAULT 'none' ON EMPTY), JSON_VALUE('{"a": "x"}', '$.b' ERROR ON EMPTY)
mysql: SELECT CAST('{"b": 1, "a": [true, null, 1.50, "x"]}' AS JSON), CAST('1' AS JSON) + 1, CAST(NULL AS JSON)
mysql: SELECT CAST('[1, 2]' AS JSON) = JSON_ARRAY(1, 2), CAST('1' AS JSON) < CAST('"a"' AS JSON), JSON_OVERLAPS('[1, 2]', '[2, 3]')
SELECT JSON_EXTRACT(NULL, '$'), JSON_EXTRACT('{}', NULL), JSON_SET(NULL, '$.a', 1)
SELECT * FROM JSON_TABLE('[{"a": 1, "b": "x"}, {"a": 2}]', '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a', b VARCHAR(5) PATH '$.b')) AS jt
SELECT * FROM JSON_TABLE('[{"a": "x"}]', '$[*]' COLUMNS (a INT PATH '$.a' DEFAULT '0' ON ERROR, c INT PATH '$.c' DEFAULT '7' ON EMPTY, e INT EXISTS PATH '$.a')) jt
SELECT * FROM JSON_TABLE('[{"a": [1, 2]}, {"a": [3]}]', '$[*]' COLUMNS (NESTED PATH '$.a[*]' COLUMNS (v INT PATH '$'))) jt
SELECT * FROM JSON_TABLE('[{"a": "x"}]', '$[*]' COLUMNS (a INT PATH '$.a' ERROR ON ERROR)) jt
SELECT * FROM JSON_TABLE('broken', '$[*]' COLUMNS (a INT PATH '$')) jt
SELECT JSON_ARRAYAGG(x), JSON_OBJECTAGG(x, x + 1) FROM (SELECT 1 AS x UNION SELECT 2) d
CREATE TABLE docs (id INT PRIMARY KEY, doc JSON, g INT AS (JSON_EXTRACT(doc, '$.n')) STORED, KEY (g))
INSERT INTO docs (id, doc) VALUES (1, '{"n": 5, "tags": ["a", "b"]}'), (2, '{"n": 7}'), (3, NULL), (4, '[]')
INSERT INTO docs (id, doc) VALUES (9, 'broken {')
INSERT INTO docs (id, doc) VALUES (8, '')
SELECT * FROM docs ORDER BY id
SELECT id FROM docs WHERE g = 7
SELECT id, JSON_LENGTH(doc) FROM docs WHERE JSON_CONTAINS(doc, '"a"', '$.tags') ORDER BY id
UPDATE docs SET doc = JSON_SET(doc, '$.n', 8) WHERE id = 2
SELECT doc, g FROM docs WHERE id = 2
mysql: SELECT doc->'$.n', doc->>'$.tags[0]' FROM docs WHERE id = 1
mysql: SELECT id FROM docs WHERE doc->>'$.tags[1]' = 'b'
mysql: SELECT id FROM docs WHERE 'a' MEMBER OF (doc->'$.tags')
mysql: SELECT id FROM docs ORDER BY doc, id
SELECT DISTINCT JSON_TYPE(doc) FROM docs ORDER BY 1
SELECT id, jt.t FROM docs, JSON_TABLE(docs.doc, '$.tags[*]' COLUMNS (t VARCHAR(5) PATH '$')) jt ORDER BY id, t
ALTER TABLE docs ADD CONSTRAINT has_n CHECK (doc IS NULL OR JSON_TYPE(doc) <> 'INTEGER')
INSERT INTO docs (id, doc) VALUES (10, '5')
SHOW CREATE TABLE docs
