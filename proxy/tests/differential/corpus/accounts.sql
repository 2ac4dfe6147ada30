-- Accounts, roles and privileges. Each file begins on servers that have none of them.
CREATE USER corpus_a IDENTIFIED BY 'secret'
CREATE USER corpus_a IDENTIFIED BY 'secret'
CREATE USER IF NOT EXISTS corpus_a
CREATE USER corpus_b@localhost, 'corpus_c'@'10.0.0.%' IDENTIFIED BY 'x'
CREATE USER 'corpus d'@'%' IDENTIFIED BY 'it''s' ACCOUNT LOCK
CREATE USER corpus_e IDENTIFIED BY 'x' PASSWORD EXPIRE
CREATE USER corpus_f IDENTIFIED BY 'x' REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 10 MAX_USER_CONNECTIONS 2 PASSWORD EXPIRE INTERVAL 90 DAY
CREATE USER corpus_g IDENTIFIED WITH nosuch
CREATE USER ''@localhost
CREATE USER corpus_a_name_that_is_much_too_long_for_a_user_of_mysql_and_of_mariadb_as_well_because_it_has_more_than_one_hundred_and_twenty_eight_characters@localhost
any(the hash is salted): SHOW CREATE USER corpus_b@localhost
SHOW GRANTS FOR corpus_b@localhost
SHOW GRANTS FOR corpus_z
ALTER USER corpus_a IDENTIFIED BY 'other'
ALTER USER corpus_a PASSWORD EXPIRE NEVER ACCOUNT LOCK
ALTER USER corpus_a ACCOUNT UNLOCK
ALTER USER corpus_a REQUIRE NONE WITH MAX_QUERIES_PER_HOUR 5
ALTER USER IF EXISTS corpus_z IDENTIFIED BY 'x'
ALTER USER corpus_z IDENTIFIED BY 'x'
RENAME USER corpus_b@localhost TO corpus_h@localhost
RENAME USER corpus_z TO corpus_y
CREATE TABLE t (id INT, a INT, b INT)
CREATE PROCEDURE p() SELECT 1
GRANT SELECT ON corpus.* TO corpus_a
GRANT SELECT, INSERT (id, a), UPDATE (b) ON corpus.t TO corpus_a
GRANT EXECUTE ON PROCEDURE corpus.p TO corpus_a
GRANT ALL PRIVILEGES ON corpus.* TO corpus_h@localhost WITH GRANT OPTION
GRANT ALL ON *.* TO corpus_h@localhost
GRANT USAGE ON *.* TO corpus_a
GRANT PROCESS, RELOAD ON *.* TO corpus_a
GRANT SELECT ON corpus.nosuch TO corpus_a
GRANT SELECT ON `corpus\_x`.* TO corpus_a
GRANT nosuch ON *.* TO corpus_a
GRANT SELECT (nosuch) ON corpus.t TO corpus_a
GRANT SELECT ON corpus.* TO corpus_z
GRANT SELECT ON t TO corpus_a
GRANT PROXY ON corpus_a TO corpus_h@localhost
SHOW GRANTS FOR corpus_a
SHOW GRANTS FOR corpus_h@localhost
REVOKE INSERT (id), SELECT ON corpus.t FROM corpus_a
REVOKE DELETE ON corpus.t FROM corpus_a
REVOKE SELECT ON nosuch.* FROM corpus_a
REVOKE ALL PRIVILEGES, GRANT OPTION FROM corpus_h@localhost
REVOKE ALL PRIVILEGES, GRANT OPTION FROM corpus_z
SHOW GRANTS FOR corpus_a
CREATE ROLE corpus_r
CREATE ROLE corpus_r
CREATE ROLE IF NOT EXISTS corpus_r
mysql: CREATE ROLE corpus_r2, corpus_r3
mariadb: CREATE ROLE corpus_r2 WITH ADMIN CURRENT_USER
GRANT SELECT ON corpus.* TO corpus_r
GRANT corpus_r TO corpus_a
GRANT corpus_r TO corpus_h@localhost WITH ADMIN OPTION
GRANT corpus_r TO app
GRANT nosuch TO corpus_a
SHOW GRANTS FOR corpus_r
mysql: SHOW GRANTS FOR corpus_a USING corpus_r
mysql: SET DEFAULT ROLE corpus_r TO corpus_a
mysql: SET DEFAULT ROLE ALL TO corpus_a
mysql: SET DEFAULT ROLE NONE TO corpus_a
mysql: ALTER USER corpus_a DEFAULT ROLE corpus_r
mysql: SET ROLE ALL
mysql: SELECT CURRENT_ROLE()
mysql: SET ROLE ALL EXCEPT corpus_r
mysql: SET ROLE DEFAULT
mysql: SELECT CURRENT_ROLE()
mysql: CREATE USER corpus_i IDENTIFIED WITH caching_sha2_password BY 'x' COMMENT 'with words' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 1
any(by chance): mysql: CREATE USER corpus_j IDENTIFIED BY RANDOM PASSWORD
mysql: ALTER USER corpus_i ATTRIBUTE '{"a": 1}'
mysql: ALTER USER corpus_i DISCARD OLD PASSWORD
mysql: ALTER USER corpus_i IDENTIFIED BY 'y' RETAIN CURRENT PASSWORD
mysql: SELECT USER, ATTRIBUTE FROM information_schema.USER_ATTRIBUTES WHERE USER = 'corpus_i'
mysql: REVOKE IF EXISTS SELECT ON corpus.* FROM corpus_i IGNORE UNKNOWN USER
mysql: GRANT BACKUP_ADMIN ON *.* TO corpus_i
mysql: GRANT SELECT ON *.* TO corpus_i AS app WITH ROLE corpus_r
mysql: DROP USER corpus_i
mariadb: SET ROLE corpus_r
mariadb: SELECT CURRENT_ROLE(), CURRENT_ROLE
mariadb: SELECT CURRENT_USER() = CURRENT_ROLE()
mariadb: SET ROLE NONE
mariadb: SELECT CURRENT_ROLE()
mariadb: SET DEFAULT ROLE corpus_r FOR corpus_a
mariadb: SET DEFAULT ROLE NONE FOR corpus_a
mariadb: CREATE OR REPLACE USER corpus_i IDENTIFIED VIA mysql_native_password USING PASSWORD('x') OR unix_socket
mariadb: SHOW CREATE USER corpus_i
mariadb: GRANT SELECT ON corpus.* TO corpus_new IDENTIFIED BY 'x'
mariadb: GRANT REPLICA MONITOR, BINLOG MONITOR ON *.* TO corpus_i
mariadb: REVOKE ALL PRIVILEGES ON corpus.* FROM corpus_new
mariadb: DROP USER corpus_i, corpus_new
SET ROLE nosuch
SET ROLE NONE
REVOKE corpus_r FROM corpus_a
REVOKE corpus_r FROM corpus_z
REVOKE corpus_r FROM app
DROP ROLE corpus_r, corpus_r2
DROP ROLE corpus_r
DROP ROLE IF EXISTS corpus_r
DROP USER corpus_a, corpus_h@localhost
DROP USER corpus_a
DROP USER IF EXISTS corpus_a, 'corpus d'
DROP USER IF EXISTS corpus_e, corpus_f, corpus_g, ''@localhost, 'corpus_c'@'10.0.0.%', corpus_j, corpus_r3, corpus_b@localhost
FLUSH PRIVILEGES
SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'corpus%'
SHOW PRIVILEGES
