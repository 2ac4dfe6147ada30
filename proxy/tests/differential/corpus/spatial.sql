-- Geometry, fulltext search, and numbers at their edges.
SELECT ST_AsText(ST_GeomFromText('POINT(1 2)')), ST_AsText(ST_GeomFromText('LINESTRING(0 0, 1 1, 2 2)')), ST_AsText(ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))'))
SELECT ST_AsText(ST_GeomFromText('MULTIPOINT(0 0, 1 1)')), ST_AsText(ST_GeomFromText('MULTILINESTRING((0 0, 1 1), (2 2, 3 3))')), ST_AsText(ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 1 1))'))
SELECT ST_GeomFromText('POINT(1 2)'), ST_AsWKB(POINT(1, 2)), HEX(ST_AsBinary(ST_GeomFromText('POINT(1 2)')))
SELECT ST_AsText(ST_GeomFromWKB(ST_AsWKB(POINT(3, 4)))), ST_AsText(POINT(1.5, -2.5)), ST_AsText(LINESTRING(POINT(0, 0), POINT(1, 1)))
SELECT ST_GeomFromText('POINT(1)')
SELECT ST_GeomFromText('nonsense')
SELECT ST_X(POINT(1, 2)), ST_Y(POINT(1, 2)), ST_SRID(POINT(1, 2)), ST_Dimension(POINT(1, 2)), ST_GeometryType(POINT(1, 2)), ST_IsEmpty(POINT(1, 2)), ST_IsSimple(POINT(1, 2))
SELECT ST_Distance(POINT(0, 0), POINT(3, 4)), ST_Length(ST_GeomFromText('LINESTRING(0 0, 3 4)')), ST_Area(ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))'))
SELECT ST_AsText(ST_Centroid(ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))'))), ST_AsText(ST_Envelope(ST_GeomFromText('LINESTRING(0 0, 2 3)'))), ST_NumPoints(ST_GeomFromText('LINESTRING(0 0, 1 1)')), ST_AsText(ST_PointN(ST_GeomFromText('LINESTRING(0 0, 1 1)'), 2))
SELECT ST_Contains(ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))'), POINT(1, 1)), ST_Within(POINT(9, 9), ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))')), ST_Intersects(POINT(1, 1), POINT(1, 1)), ST_Equals(POINT(1, 1), POINT(1, 1)), ST_Disjoint(POINT(1, 1), POINT(2, 2)), ST_Touches(POINT(1, 1), ST_GeomFromText('LINESTRING(1 1, 2 2)'))
SELECT MBRContains(ST_GeomFromText('LINESTRING(0 0, 4 4)'), POINT(2, 2)), MBRIntersects(POINT(1, 1), POINT(2, 2))
SELECT ST_AsText(ST_Buffer(POINT(0, 0), 0)), ST_AsText(ST_Union(POINT(0, 0), POINT(1, 1))), ST_AsText(ST_Difference(ST_GeomFromText('LINESTRING(0 0, 2 0)'), ST_GeomFromText('LINESTRING(1 0, 2 0)')))
SELECT ST_AsGeoJSON(POINT(1, 2)), ST_AsText(ST_GeomFromGeoJSON('{"type": "Point", "coordinates": [1, 2]}'))
SELECT ST_X(NULL), ST_AsText(NULL), ST_AsText('x')
mysql: SELECT ST_AsText(ST_SwapXY(POINT(1, 2))), ST_GeoHash(POINT(10, 20), 6), ST_Distance_Sphere(POINT(0, 0), POINT(0, 1)), ST_IsValid(POINT(1, 2))
mysql: SELECT ST_SRID(ST_GeomFromText('POINT(1 2)', 4326)), ST_Latitude(ST_GeomFromText('POINT(1 2)', 4326)), ST_AsText(ST_Transform(ST_GeomFromText('POINT(1 2)', 4326), 3857))
mysql: SELECT ST_GeomFromText('POINT(1 2)', 99999)
mysql: CREATE SPATIAL REFERENCE SYSTEM 4326 NAME 'x' DEFINITION 'y'
mysql: DROP SPATIAL REFERENCE SYSTEM IF EXISTS 1000001
CREATE TABLE places (id INT PRIMARY KEY, g GEOMETRY NOT NULL, p POINT, l LINESTRING, a POLYGON, SPATIAL INDEX (g))
INSERT INTO places VALUES (1, POINT(1, 1), POINT(1, 1), NULL, NULL), (2, ST_GeomFromText('LINESTRING(0 0, 5 5)'), NULL, ST_GeomFromText('LINESTRING(0 0, 5 5)'), NULL)
INSERT INTO places (id, g, p) VALUES (3, POINT(1, 1), ST_GeomFromText('LINESTRING(0 0, 5 5)'))
INSERT INTO places (id, g) VALUES (4, 'no geometry')
INSERT INTO places (id, g) VALUES (4, NULL)
SELECT id, ST_AsText(g), ST_AsText(l), p FROM places ORDER BY id
SELECT id FROM places WHERE MBRContains(ST_GeomFromText('POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))'), g)
SELECT id FROM places WHERE ST_Intersects(g, POINT(1, 1)) ORDER BY id
SHOW CREATE TABLE places
CREATE TABLE articles (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(50), body TEXT, FULLTEXT KEY tb (title, body), FULLTEXT KEY b (body))
INSERT INTO articles (title, body) VALUES ('harbour news', 'ships arrive with the morning tide'), ('tide tables', 'high water and low water at the harbour'), ('weather', 'storm warning for the coast')
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('harbour') ORDER BY id
SELECT id FROM articles WHERE MATCH (body) AGAINST ('tide' IN NATURAL LANGUAGE MODE) ORDER BY id
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('+tide -ships' IN BOOLEAN MODE) ORDER BY id
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('"low water"' IN BOOLEAN MODE)
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('stor*' IN BOOLEAN MODE)
SELECT id, MATCH (body) AGAINST ('water') > 0 AS found FROM articles ORDER BY id
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('harbour' WITH QUERY EXPANSION) ORDER BY id
SELECT id FROM articles WHERE MATCH (title) AGAINST ('tide')
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('+(' IN BOOLEAN MODE)
SELECT id FROM articles WHERE MATCH (body) AGAINST (title)
ALTER TABLE articles DROP INDEX b, ADD FULLTEXT INDEX t2 (title)
OPTIMIZE TABLE articles
CREATE TABLE edges (id INT PRIMARY KEY, a DECIMAL(65,30), b DOUBLE, c FLOAT, d BIGINT UNSIGNED, e DECIMAL(5,2))
INSERT INTO edges VALUES (1, 12345678901234567890123456789012345.123456789012345678901234567890, 1.7976931348623157e308, 3.4e38, 18446744073709551615, 999.99)
INSERT INTO edges VALUES (2, -0.000000000000000000000000000001, 2.2250738585072014e-308, -0.0, 0, -999.99)
INSERT INTO edges VALUES (3, 0, 4.9e-324, 1e-45, 1, 0.005)
INSERT INTO edges (id, e) VALUES (4, 999.995)
INSERT INTO edges (id, b) VALUES (4, 1e400)
INSERT INTO edges (id, c) VALUES (4, 1e39)
INSERT INTO edges (id, d) VALUES (4, -1)
INSERT INTO edges (id, d) VALUES (4, 1.5), (5, '2.5'), (6, 2.4999)
SELECT * FROM edges ORDER BY id
SELECT a + 1, a * 10, b * 10 FROM edges WHERE id = 1
SELECT a * a FROM edges WHERE id = 2
SELECT d + 1 FROM edges WHERE id = 1
SELECT d - 1, d DIV 2, d % 10, d / 2, -d FROM edges WHERE id = 2
SELECT SUM(d), AVG(d), SUM(a), AVG(e), SUM(c), AVG(b) FROM edges WHERE id > 1
SELECT ROUND(1.005, 2), ROUND(-1.5), ROUND(2.5e0), ROUND(1e300, 2), TRUNCATE(-0.9, 0), FLOOR(-0.1), CEIL(-0.9), ROUND(15, -1), ROUND(5, -1)
SELECT 0.1 + 0.2 = 0.3, 0.1e0 + 0.2e0 = 0.3e0, 1e15 + 0.3, 1e16 + 1, 123456789.123456789e0, 1.0 * 3, 100 * 1.10
SELECT 1.23456789012345678901234567890 * 9.87654321098765432109876543210, 1 / 7.00000000000000000001
SELECT -0, -0.0, -0e0, 0 * -1, 1 / -1e400
SELECT 9223372036854775807 * 2
SELECT 9223372036854775807 * 2e0, 9223372036854775807 + 0.0, 18446744073709551615 DIV 1, ~0, ~0 >> 1, 1 << 62
SELECT CONV('18446744073709551616', 10, 16), CONV(-1, 10, -16), CONV('zz', 36, 10), CONV('9', 8, 10), HEX(-1), BIN(-1), OCT(-1)
SELECT CAST(18446744073709551615 AS SIGNED), CAST(-1 AS UNSIGNED), CAST(1e20 AS SIGNED), CAST('9223372036854775808' AS SIGNED), CAST(-1.5 AS UNSIGNED)
SELECT '1e5' + 0, '0x10' + 0, '  12' + 0, '1.2.3' + 0, '-' + 0, '+5' + 0, '.5' + 0, '5.' + 0, '1e' + 0
SELECT 5 IN (5.0, '5'), '5.0' = 5, '5.0' = '5', 0.1 = '0.1', 1e0 = 1, x'35' = 5, b'101' = 5
