-- Every clause of SELECT, joins, subqueries, common tables, windows, set operations, VALUES and TABLE.
CREATE TABLE dept (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20))
CREATE TABLE emp (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), dept INT, boss INT, pay DECIMAL(8,2), born DATE, KEY by_dept (dept), KEY by_pay (pay), UNIQUE KEY by_name (name))
INSERT INTO dept VALUES (1, 'sales', 'Kiel'), (2, 'works', 'Bremen'), (3, 'board', NULL), (4, 'empty', 'Kiel')
INSERT INTO emp VALUES (1, 'anna', 3, NULL, 9000, '1970-01-02'), (2, 'ben', 1, 1, 4000.5, '1985-05-06'), (3, 'cora', 1, 2, 3500, '1990-09-10'), (4, 'dirk', 2, 1, 4500, NULL), (5, 'emma', 2, 4, 3500, '2000-02-29'), (6, 'finn', NULL, 4, NULL, '2001-12-31')
ANALYZE TABLE dept, emp
SELECT * FROM emp
SELECT emp.* FROM emp
SELECT e.*, e.id FROM emp e
SELECT corpus.emp.name FROM corpus.emp
SELECT id, name FROM emp AS e WHERE e.pay > 3500 ORDER BY e.pay DESC, id
SELECT name n, pay AS p, pay * 12 yearly FROM emp WHERE id = 2
SELECT id FROM emp WHERE id = 100
SELECT id FROM emp WHERE FALSE
SELECT * FROM emp WHERE id = 1
SELECT * FROM emp WHERE id IN (1, 3, 5) ORDER BY id
SELECT * FROM emp WHERE id BETWEEN 2 AND 4 ORDER BY id
SELECT name FROM emp WHERE name LIKE '%n%' ORDER BY name
SELECT name FROM emp WHERE name = 'ANNA'
SELECT name FROM emp WHERE dept IS NULL
SELECT name FROM emp WHERE NOT dept <=> NULL ORDER BY 1
SELECT name FROM emp WHERE pay > 4000 AND (dept = 1 OR dept = 3) XOR id = 6 ORDER BY name
SELECT name FROM emp WHERE name = 0 ORDER BY name
SELECT name FROM emp WHERE pay = '3500.00' ORDER BY name
SELECT DISTINCT dept FROM emp ORDER BY dept
SELECT DISTINCT dept, pay FROM emp ORDER BY dept, pay
SELECT COUNT(*), COUNT(dept), COUNT(DISTINCT dept), SUM(pay), AVG(pay), MIN(pay), MAX(name) FROM emp
SELECT COUNT(DISTINCT dept, pay) FROM emp
SELECT COUNT(*) FROM emp WHERE FALSE
SELECT SUM(pay), AVG(pay), MIN(pay) FROM emp WHERE FALSE
SELECT STD(pay), STDDEV_POP(pay), STDDEV_SAMP(pay), VAR_POP(pay), VARIANCE(pay), VAR_SAMP(pay) FROM emp
SELECT BIT_AND(id), BIT_OR(id), BIT_XOR(id) FROM emp
SELECT GROUP_CONCAT(name), GROUP_CONCAT(DISTINCT dept ORDER BY dept DESC SEPARATOR '-') FROM emp
SELECT JSON_ARRAYAGG(id), JSON_OBJECTAGG(id, name) FROM emp
SELECT dept, COUNT(*) FROM emp GROUP BY dept ORDER BY dept
SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept HAVING n > 1 ORDER BY n, dept
SELECT dept, SUM(pay) FROM emp GROUP BY dept WITH ROLLUP
SELECT dept, boss, COUNT(*) FROM emp GROUP BY dept, boss WITH ROLLUP
SELECT YEAR(born) AS y, COUNT(*) FROM emp GROUP BY y ORDER BY y
SELECT dept FROM emp GROUP BY 1 ORDER BY 1
SELECT name, COUNT(*) FROM emp GROUP BY dept
SELECT COUNT(*) FROM emp HAVING COUNT(*) > 100
SELECT pay FROM emp HAVING pay > 4000 ORDER BY pay
SELECT dept, name FROM emp ORDER BY dept ASC, name DESC
SELECT name FROM emp ORDER BY LENGTH(name), name
SELECT name FROM emp ORDER BY NULL
SELECT name FROM emp ORDER BY 2
SELECT name FROM emp ORDER BY FIELD(id, 3, 1, 2) DESC, id LIMIT 3
SELECT name FROM emp ORDER BY id LIMIT 2
SELECT name FROM emp ORDER BY id LIMIT 2, 2
SELECT name FROM emp ORDER BY id LIMIT 2 OFFSET 4
SELECT name FROM emp ORDER BY id LIMIT 0
SELECT name FROM emp ORDER BY id LIMIT 18446744073709551615 OFFSET 5
mariadb: SELECT name FROM emp ORDER BY id FETCH FIRST 2 ROWS ONLY
mariadb: SELECT name FROM emp ORDER BY id OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY
mariadb: SELECT dept FROM emp ORDER BY dept FETCH FIRST 2 ROWS WITH TIES
mariadb: SELECT name FROM emp ORDER BY id LIMIT ROWS EXAMINED 100
SELECT SQL_CALC_FOUND_ROWS name FROM emp ORDER BY id LIMIT 1
then: SELECT FOUND_ROWS()
SELECT name FROM emp ORDER BY id LIMIT 3
then: SELECT FOUND_ROWS() AS f
SELECT name FROM emp USE INDEX (by_name) WHERE name > 'c' ORDER BY name
SELECT name FROM emp FORCE INDEX (by_dept) WHERE dept = 1 ORDER BY name
SELECT name FROM emp IGNORE INDEX (by_dept) WHERE dept = 1 ORDER BY name
SELECT name FROM emp USE INDEX FOR ORDER BY (by_pay) ORDER BY pay, id
SELECT name FROM emp USE INDEX () WHERE id = 1
SELECT name FROM emp USE INDEX (nosuch)
SELECT name FROM emp PARTITION (p0)
SELECT SQL_NO_CACHE SQL_BUFFER_RESULT HIGH_PRIORITY STRAIGHT_JOIN e.name FROM emp e, dept d WHERE e.dept = d.id ORDER BY e.id
SELECT name FROM emp FOR UPDATE
SELECT name FROM emp WHERE id = 1 FOR UPDATE NOWAIT
SELECT name FROM emp WHERE id = 1 FOR UPDATE SKIP LOCKED
SELECT name FROM emp WHERE id = 1 LOCK IN SHARE MODE
mysql: SELECT name FROM emp WHERE id = 1 FOR SHARE
mysql: SELECT e.name FROM emp e, dept d WHERE e.dept = d.id AND e.id = 1 FOR UPDATE OF e SKIP LOCKED FOR SHARE OF d NOWAIT
mariadb: SELECT name FROM emp WHERE id = 1 FOR UPDATE WAIT 1
SELECT name FROM emp PROCEDURE ANALYSE()
SELECT e.name, d.name FROM emp e JOIN dept d ON e.dept = d.id ORDER BY e.id
SELECT e.name, d.name FROM emp e INNER JOIN dept d ON e.dept = d.id WHERE d.city = 'Kiel' ORDER BY e.id
SELECT e.name, d.name FROM emp e LEFT JOIN dept d ON e.dept = d.id ORDER BY e.id
SELECT e.name, d.name FROM emp e LEFT OUTER JOIN dept d ON e.dept = d.id WHERE d.id IS NULL
SELECT e.name, d.name FROM emp e RIGHT JOIN dept d ON e.dept = d.id ORDER BY d.id, e.id
SELECT e.name, d.name FROM emp e CROSS JOIN dept d ORDER BY e.id, d.id LIMIT 5
SELECT e.name, d.name FROM emp e, dept d WHERE e.dept = d.id ORDER BY e.id
SELECT * FROM emp NATURAL JOIN dept
SELECT * FROM emp NATURAL LEFT JOIN dept ORDER BY id
SELECT * FROM emp JOIN dept USING (id) ORDER BY id
SELECT * FROM emp LEFT JOIN dept USING (id, name) ORDER BY id
SELECT e.name, b.name, bb.name FROM emp e LEFT JOIN emp b ON e.boss = b.id LEFT JOIN emp bb ON b.boss = bb.id ORDER BY e.id
SELECT e.name FROM (emp e JOIN dept d ON e.dept = d.id) JOIN dept o ON o.id = d.id ORDER BY e.id
SELECT e.name FROM emp e STRAIGHT_JOIN dept d ON e.dept = d.id ORDER BY e.id
SELECT e.name FROM { OJ emp e LEFT OUTER JOIN dept d ON e.dept = d.id } ORDER BY e.id
SELECT e.name FROM emp e FULL OUTER JOIN dept d ON e.dept = d.id
SELECT name FROM emp, dept
SELECT 1 FROM emp, emp
SELECT e.nosuch FROM emp e
SELECT x.name FROM emp e
SELECT * FROM nosuch
SELECT * FROM nosuch.nosuch
SELECT * FROM corpus.nosuch
SELECT * FROM emp WHERE nosuch = 1
SELECT * FROM emp GROUP BY nosuch
SELECT * FROM emp ORDER BY nosuch
SELECT * FROM emp HAVING nosuch
SELECT COUNT(*) FROM emp WHERE COUNT(*) > 1
SELECT name FROM emp WHERE pay > (SELECT AVG(pay) FROM emp) ORDER BY name
SELECT name FROM emp e WHERE pay = (SELECT MAX(pay) FROM emp x WHERE x.dept = e.dept) ORDER BY name
SELECT name FROM emp WHERE dept IN (SELECT id FROM dept WHERE city = 'Kiel') ORDER BY name
SELECT name FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE city IS NULL) ORDER BY name
SELECT name FROM dept d WHERE EXISTS (SELECT 1 FROM emp e WHERE e.dept = d.id) ORDER BY name
SELECT name FROM dept d WHERE NOT EXISTS (SELECT * FROM emp e WHERE e.dept = d.id)
SELECT name FROM emp WHERE pay >= ALL (SELECT pay FROM emp WHERE pay IS NOT NULL)
SELECT name FROM emp WHERE pay > ANY (SELECT pay FROM emp WHERE dept = 2) ORDER BY name
SELECT name FROM emp WHERE (dept, pay) = (SELECT dept, pay FROM emp WHERE id = 3)
SELECT name FROM emp WHERE (dept, pay) IN (SELECT dept, MAX(pay) FROM emp GROUP BY dept) ORDER BY name
SELECT name FROM emp WHERE id = (SELECT id FROM emp)
SELECT (SELECT COUNT(*) FROM emp), (SELECT name FROM dept WHERE id = 1)
SELECT d.name, (SELECT COUNT(*) FROM emp e WHERE e.dept = d.id) AS heads FROM dept d ORDER BY d.id
SELECT n FROM (SELECT name AS n, pay FROM emp WHERE pay > 3600) AS rich ORDER BY pay
SELECT * FROM (SELECT dept, SUM(pay) s FROM emp GROUP BY dept) t WHERE s > 7000 ORDER BY dept
SELECT * FROM (SELECT 1, 2) t
mysql: SELECT * FROM (SELECT 1, 2) t (a, b)
SELECT * FROM (SELECT 1 AS a, 1 AS a) t
SELECT * FROM (SELECT 1)
SELECT * FROM (emp)
SELECT * FROM (SELECT * FROM emp ORDER BY id DESC LIMIT 2) t ORDER BY id
mysql: SELECT e.name, t.n FROM emp e, LATERAL (SELECT COUNT(*) AS n FROM emp x WHERE x.boss = e.id) t ORDER BY e.id
mysql: SELECT e.name, t.n FROM emp e LEFT JOIN LATERAL (SELECT x.name AS n FROM emp x WHERE x.boss = e.id ORDER BY x.id LIMIT 1) t ON TRUE ORDER BY e.id
SELECT name, (SELECT MAX(x.pay) FROM emp x WHERE x.boss = emp.id) FROM emp ORDER BY (SELECT name FROM dept WHERE dept.id = emp.dept), id
WITH a AS (SELECT 1 AS n) SELECT * FROM a
WITH a AS (SELECT id FROM emp), b AS (SELECT COUNT(*) AS n FROM a) SELECT * FROM b
WITH a (x, y) AS (SELECT 1, 2) SELECT y, x FROM a
WITH a (x) AS (SELECT 1, 2) SELECT * FROM a
WITH a AS (SELECT 1 AS n) SELECT * FROM a x JOIN a y ON x.n = y.n
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n
WITH RECURSIVE up AS (SELECT id, name, boss, 0 AS depth FROM emp WHERE id = 5 UNION ALL SELECT e.id, e.name, e.boss, depth + 1 FROM emp e JOIN up ON e.id = up.boss) SELECT name, depth FROM up ORDER BY depth
WITH RECURSIVE f (a, b) AS (SELECT 0, 1 UNION SELECT b, a + b FROM f WHERE b < 50) SELECT a FROM f
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n
WITH RECURSIVE s AS (SELECT CAST('a' AS CHAR(10)) AS t UNION ALL SELECT CONCAT(t, 'a') FROM s WHERE LENGTH(t) < 4) SELECT * FROM s
WITH a AS (SELECT 1) SELECT * FROM nosuch
WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1
WITH a AS (WITH b AS (SELECT 7 AS v) SELECT v FROM b) SELECT * FROM a
SELECT * FROM (WITH a AS (SELECT 3 AS v) SELECT v FROM a) d
SELECT (WITH a AS (SELECT 3 AS v) SELECT v FROM a)
mariadb: WITH RECURSIVE c (i) AS (SELECT 1 UNION SELECT i % 3 + 1 FROM c) CYCLE i RESTRICT SELECT * FROM c
WITH
SELECT name, ROW_NUMBER() OVER (ORDER BY id) FROM emp ORDER BY id
SELECT name, RANK() OVER (ORDER BY pay DESC) AS r, DENSE_RANK() OVER (ORDER BY pay DESC) AS dr FROM emp ORDER BY r, id
SELECT name, dept, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY id) FROM emp ORDER BY id
SELECT name, SUM(pay) OVER (PARTITION BY dept) FROM emp ORDER BY id
SELECT name, SUM(pay) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM emp ORDER BY id
SELECT name, AVG(pay) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) FROM emp ORDER BY id
SELECT name, COUNT(*) OVER (ORDER BY pay RANGE BETWEEN 500 PRECEDING AND 500 FOLLOWING) FROM emp ORDER BY id
SELECT name, LAG(pay) OVER w, LEAD(pay, 2, 0) OVER w, FIRST_VALUE(name) OVER w, LAST_VALUE(name) OVER w FROM emp WINDOW w AS (ORDER BY id) ORDER BY id
mysql: SELECT name, LAG(pay, 1, -1) OVER (ORDER BY id), NTH_VALUE(name, 2) FROM FIRST OVER (ORDER BY id) FROM emp ORDER BY id
SELECT name, NTH_VALUE(name, 2) OVER (ORDER BY id), NTILE(3) OVER (ORDER BY id) FROM emp ORDER BY id
SELECT name, PERCENT_RANK() OVER (ORDER BY pay), CUME_DIST() OVER (ORDER BY pay) FROM emp ORDER BY id
SELECT id, MAX(pay) OVER w1, MIN(pay) OVER w2 FROM emp WINDOW w1 AS (PARTITION BY dept), w2 AS (w1 ORDER BY id) ORDER BY id
SELECT ROW_NUMBER() OVER () FROM dept
SELECT RANK() OVER w FROM emp
SELECT name FROM emp WHERE ROW_NUMBER() OVER () = 1
SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM dept ORDER BY 1
SELECT SUM(SUM(pay)) OVER () FROM emp GROUP BY dept ORDER BY 1
mariadb: SELECT MEDIAN(pay) OVER (PARTITION BY dept) FROM emp ORDER BY id
mariadb: SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY pay) OVER (PARTITION BY dept) FROM emp ORDER BY id
SELECT 1 UNION SELECT 2
SELECT 1 UNION SELECT 1
SELECT 1 UNION ALL SELECT 1
SELECT 1 UNION DISTINCT SELECT 1
SELECT 1 AS a UNION SELECT 'b' ORDER BY a
SELECT 1, 'a' UNION SELECT 2.5, NULL
SELECT 1 UNION SELECT 1, 2
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY id DESC LIMIT 3
(SELECT id FROM emp ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM dept ORDER BY id DESC LIMIT 1)
(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC LIMIT 1
(SELECT 1 UNION SELECT 2) UNION ALL SELECT 1
SELECT 1 UNION ALL (SELECT 2 UNION SELECT 2)
SELECT id FROM emp EXCEPT SELECT id FROM dept ORDER BY id
SELECT id FROM emp INTERSECT SELECT id FROM dept ORDER BY id
SELECT 1 EXCEPT SELECT 1
SELECT 1 INTERSECT SELECT 1
SELECT dept FROM emp INTERSECT ALL SELECT id FROM dept ORDER BY 1
SELECT dept FROM emp EXCEPT ALL SELECT 1 ORDER BY 1
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2 EXCEPT SELECT 3
SELECT * FROM (SELECT 1 AS x UNION SELECT 2) u ORDER BY x
SELECT name FROM emp WHERE id IN (SELECT 1 UNION SELECT 3) ORDER BY id
SELECT 1 UNION
SELECT 1 UNION SELECT id FROM nosuch
SELECT 1 ORDER BY 1 UNION SELECT 2
SELECT 1 UNION SELECT 2 FOR UPDATE
SELECT NULL UNION SELECT 'x'
SELECT 'ä' COLLATE utf8mb4_bin UNION SELECT 'b'
SELECT 'a' COLLATE utf8mb4_bin UNION SELECT 'b' COLLATE utf8mb4_general_ci
mysql: TABLE dept
mysql: TABLE dept ORDER BY id DESC LIMIT 2
mysql: TABLE dept LIMIT 1 OFFSET 1
mysql: TABLE nosuch
mysql: TABLE dept UNION TABLE dept
mysql: (TABLE dept)
mysql: VALUES ROW(1, 'a'), ROW(2, 'b')
mysql: VALUES ROW(1, 'a'), ROW(2, 'b') ORDER BY column_0 DESC LIMIT 1
mysql: VALUES ROW(1), ROW(1, 2)
mysql: SELECT * FROM (VALUES ROW(1, 2), ROW(3, 4)) AS v (a, b)
mysql: SELECT name FROM emp WHERE id IN (TABLE nosuch)
mysql: VALUES ROW(1) UNION SELECT 2
mysql: SELECT dept, GROUPING(dept), COUNT(*) FROM emp GROUP BY dept WITH ROLLUP
mysql: SELECT id FROM emp QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1
mariadb: VALUES (1, 'a'), (2, 'b')
mariadb: VALUES (1), (2) ORDER BY 1 DESC
mariadb: SELECT * FROM (VALUES (1, 2), (3, 4)) AS v
mariadb: WITH v (a, b) AS (VALUES (1, 2), (3, 4)) SELECT a + b FROM v
mariadb: TABLE dept
SELECT * FROM emp e WHERE e.born >= DATE '1985-01-01' AND e.born < '1995-01-01' ORDER BY e.born
SELECT MIN(born), MAX(born) FROM emp
SELECT name INTO @n FROM emp WHERE id = 1
SELECT @n
SELECT name FROM emp INTO @n
SELECT name, pay INTO @n, @p FROM emp ORDER BY pay DESC LIMIT 1
SELECT @n, @p
SELECT name FROM emp WHERE id = 1 INTO @n FOR UPDATE
SELECT 1 INTO OUTFILE '/nosuch/directory/file'
SELECT 1 INTO DUMPFILE '/nosuch/directory/file'
SELECT * INTO @n FROM dept
SELECT name FROM emp WHERE name = @n
SELECT @row := @row + 1 AS nr, name FROM emp, (SELECT @row := 0) init ORDER BY id
SELECT 1 AS `select`, 2 AS `from` FROM dept `where` WHERE `where`.id = 1
SELECT dept.name, emp.name FROM dept JOIN emp ON (emp.dept = dept.id AND emp.pay BETWEEN 1000 AND 4000) ORDER BY 1, 2
SELECT CONCAT(name, ' (', COALESCE(dept, '-'), ')') FROM emp ORDER BY id
SELECT AVG(pay) AS a, ROUND(AVG(pay), 1), FORMAT(SUM(pay), 2), SUM(pay) / COUNT(*) FROM emp
SELECT dept, GROUP_CONCAT(name ORDER BY pay DESC, name SEPARATOR ', ') AS names FROM emp GROUP BY dept ORDER BY dept
mariadb: SELECT GROUP_CONCAT(name ORDER BY id LIMIT 2) FROM emp
SET group_concat_max_len = 5
SELECT GROUP_CONCAT(name ORDER BY id) FROM emp
SET group_concat_max_len = DEFAULT
SET sql_select_limit = 2
SELECT id FROM emp ORDER BY id
SELECT id FROM emp ORDER BY id LIMIT 4
SET sql_select_limit = DEFAULT
SET sql_big_selects = 0, max_join_size = 1
SELECT * FROM emp, dept
SET sql_big_selects = DEFAULT, max_join_size = DEFAULT
SET SESSION sql_mode = ''
SELECT name, COUNT(*) FROM emp WHERE id = 3 GROUP BY dept
SELECT DISTINCT dept FROM emp ORDER BY dept
SET SESSION sql_mode = DEFAULT
