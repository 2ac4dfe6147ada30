-- Transactions, savepoints, locks, isolation, XA: what is said, and where the status flags say the session is.
CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)
BEGIN
SELECT * FROM t WHERE id = 1
UPDATE t SET v = 11 WHERE id = 1
SELECT * FROM t WHERE id = 1
ROLLBACK
SELECT v FROM t WHERE id = 1
BEGIN WORK
INSERT INTO t VALUES (4, 40)
COMMIT WORK
SELECT COUNT(*) FROM t
START TRANSACTION
DELETE FROM t WHERE id = 4
COMMIT
START TRANSACTION READ WRITE
INSERT INTO t VALUES (5, 50)
ROLLBACK WORK
session: START TRANSACTION READ ONLY
SELECT COUNT(*) FROM t
SELECT 1
mysql: known_text(SHOW WARNINGS row: \x05Error\x0417924Cannot execute statement in a READ ONLY transaction. / \x05Error\x041290aThe MySQL server is running with the --super-read-only option so it cannot execute this statement because the words of the replica are changed in the reply alone): UPDATE t SET v = 0
mariadb: known_text(SHOW WARNINGS row: \x05Error\x0417923Cannot execute statement in a READ ONLY transaction / \x05Error\x041290]The MariaDB server is running with the --read-only option so it cannot execute this statement because the words of the replica are changed in the reply alone): UPDATE t SET v = 0
INSERT INTO t VALUES (6, 60)
then: SELECT 1
DELETE FROM t
then: SELECT 2
SELECT * FROM t WHERE id = 1 FOR UPDATE
SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE
COMMIT
START TRANSACTION WITH CONSISTENT SNAPSHOT
SELECT SUM(v) FROM t
COMMIT
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
SELECT SUM(v) FROM t
ROLLBACK
session: START TRANSACTION READ ONLY
mysql: known(part: OK / ERR; reply: affected rows 0 / error 1792 25006; SHOW WARNINGS reply: nothing / part 3 columns because a replica refuses what would end the transaction): CREATE TABLE in_read_only (id INT)
mariadb: known_text(part: OK / ERR; reply: affected rows 0 / error 1792 25006; SHOW WARNINGS reply: nothing / part 3 columns because a replica refuses what would end the transaction): CREATE TABLE in_read_only (id INT)
mysql: known(status: 2 / 2003 because the transaction goes on): SELECT 'outside'
mariadb: known_text(status: 2 / 2003 because the transaction goes on): SELECT 'outside'
COMMIT
START TRANSACTION READ ONLY, READ WRITE
START TRANSACTION NOSUCH
BEGIN; SELECT 1; COMMIT
BEGIN; INSERT INTO t VALUES (7, 70); SELECT COUNT(*) FROM t; ROLLBACK
BEGIN; SELECT nosuch; COMMIT
SELECT 'still inside'
COMMIT
BEGIN; INSERT INTO t VALUES (1, 1); ROLLBACK
SELECT 'still inside'
ROLLBACK
COMMIT
ROLLBACK
COMMIT AND CHAIN
SELECT 1
COMMIT AND NO CHAIN
SELECT 1
ROLLBACK AND CHAIN
SELECT 1
ROLLBACK AND NO CHAIN NO RELEASE
COMMIT NO RELEASE
BEGIN
BEGIN
INSERT INTO t VALUES (8, 80)
BEGIN
ROLLBACK
SELECT COUNT(*) FROM t
DELETE FROM t WHERE id = 8
SAVEPOINT outside
ROLLBACK TO outside
BEGIN
SAVEPOINT a
INSERT INTO t VALUES (10, 1)
SAVEPOINT b
INSERT INTO t VALUES (11, 1)
SAVEPOINT a
INSERT INTO t VALUES (12, 1)
ROLLBACK TO SAVEPOINT a
SELECT id FROM t WHERE id >= 10 ORDER BY id
ROLLBACK TO b
ROLLBACK WORK TO SAVEPOINT `b`
SELECT id FROM t WHERE id >= 10 ORDER BY id
RELEASE SAVEPOINT b
RELEASE SAVEPOINT b
ROLLBACK TO nosuch
SAVEPOINT `strange name`
ROLLBACK TO `STRANGE NAME`
ROLLBACK
SELECT id FROM t WHERE id >= 10
BEGIN
INSERT INTO t VALUES (1, 1)
INSERT INTO t VALUES (20, 1), (1, 1)
SELECT id FROM t WHERE id >= 20
SELEC
SELECT nosuch FROM t
UPDATE t SET v = 'x'
SELECT 1 / 0
COMMIT
BEGIN
CREATE TABLE commits (id INT)
SELECT 'outside'
BEGIN
INSERT INTO commits VALUES (1)
ALTER TABLE commits ADD v INT
ROLLBACK
SELECT * FROM commits
BEGIN
DROP TABLE commits
COMMIT
BEGIN
TRUNCATE TABLE nosuch
SELECT 'where'
COMMIT
BEGIN
CREATE TEMPORARY TABLE tmp (id INT)
INSERT INTO tmp VALUES (1)
ROLLBACK
SELECT * FROM tmp
DROP TEMPORARY TABLE tmp
BEGIN
ANALYZE TABLE t
SELECT 'where'
COMMIT
BEGIN
FLUSH STATUS
SELECT 'where'
COMMIT
BEGIN
SET autocommit = 1
SELECT 'where'
COMMIT
BEGIN
SET autocommit = 0
SELECT 'where'
COMMIT
SELECT 'where'
SET autocommit = 1
SET autocommit = 0
SELECT @@autocommit
SELECT * FROM t WHERE id = 1
COMMIT
INSERT INTO t VALUES (30, 1)
SELECT * FROM t WHERE id = 30
ROLLBACK
SELECT * FROM t WHERE id = 30
INSERT INTO t VALUES (31, 1)
SET autocommit = 1
SELECT * FROM t WHERE id = 31
SET @@autocommit = OFF
SELECT @@session.autocommit
SET SESSION autocommit = ON
SET @@session.autocommit := 'OFF'
SET LOCAL autocommit = DEFAULT
SET autocommit = 2
SET autocommit = NULL
SET NAMES utf8mb4, autocommit = 0
SELECT v FROM t WHERE id = 2
SET autocommit = 1, @a = 1
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
BEGIN
SELECT COUNT(*) FROM t
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
COMMIT
SET TRANSACTION READ ONLY
INSERT INTO t VALUES (40, 1)
INSERT INTO t VALUES (41, 1)
SET TRANSACTION READ ONLY, ISOLATION LEVEL REPEATABLE READ
BEGIN
INSERT INTO t VALUES (42, 1)
ROLLBACK
SET TRANSACTION ISOLATION LEVEL NOSUCH
SET TRANSACTION READ ONLY, READ WRITE
SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
mysql: SELECT @@transaction_isolation, @@session.transaction_isolation
mariadb: SELECT @@tx_isolation, @@session.tx_isolation
SELECT COUNT(*) FROM t
SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
SELECT COUNT(*) FROM t
BEGIN
SELECT COUNT(*) FROM t
COMMIT
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
BEGIN
SELECT COUNT(*) FROM t
COMMIT
SET LOCAL TRANSACTION ISOLATION LEVEL REPEATABLE READ
SET SESSION TRANSACTION READ ONLY
mysql: SELECT @@transaction_read_only
mariadb: SELECT @@tx_read_only
INSERT INTO t VALUES (43, 1)
START TRANSACTION READ WRITE
INSERT INTO t VALUES (43, 1)
ROLLBACK
BEGIN
INSERT INTO t VALUES (43, 1)
COMMIT
SET SESSION TRANSACTION READ WRITE
mysql: SET transaction_isolation = 'READ-COMMITTED'
mysql: SET @@transaction_isolation = 'SERIALIZABLE'
mysql: SELECT @@transaction_isolation
mysql: SET SESSION transaction_isolation = 'nosuch'
mysql: SET transaction_read_only = 1
mysql: DELETE FROM t
mysql: SET transaction_read_only = 0
mysql: SET SESSION transaction_isolation = DEFAULT
mariadb: SET tx_isolation = 'READ-COMMITTED'
mariadb: SELECT @@tx_isolation
mariadb: SET tx_isolation = DEFAULT
mariadb: SET tx_read_only = 1
mariadb: DELETE FROM t
mariadb: SET tx_read_only = 0
SET completion_type = 1
BEGIN
COMMIT
SELECT 'chained'
SET completion_type = 'NO_CHAIN'
ROLLBACK
SET completion_type = 'CHAIN'
BEGIN
ROLLBACK
SELECT 'chained'
SET completion_type = DEFAULT
COMMIT
SELECT 'not chained'
LOCK TABLES t READ
SELECT COUNT(*) FROM t
SELECT * FROM nosuch
INSERT INTO t VALUES (50, 1)
CREATE TABLE locked (id INT)
SELECT 1
UNLOCK TABLES
LOCK TABLE t WRITE
INSERT INTO t VALUES (50, 1)
SELECT COUNT(*) FROM t
SELECT COUNT(*) FROM t AS x
SELECT * FROM mysql.nosuch
UNLOCK TABLES
LOCK TABLES t AS x READ LOCAL, t WRITE
SELECT COUNT(*) FROM t x
DELETE FROM t WHERE id = 50
UNLOCK TABLES
LOCK TABLES nosuch READ
LOCK TABLES t LOW_PRIORITY WRITE
UNLOCK TABLE
UNLOCK TABLES
BEGIN
LOCK TABLES t READ
SELECT 'not inside'
START TRANSACTION
INSERT INTO t VALUES (51, 1)
ROLLBACK
LOCK TABLES t WRITE
BEGIN
INSERT INTO t VALUES (52, 1)
COMMIT
DELETE FROM t WHERE id = 52
UNLOCK TABLES
SET autocommit = 0
LOCK TABLES t WRITE
INSERT INTO t VALUES (53, 1)
COMMIT
DELETE FROM t WHERE id = 53
COMMIT
UNLOCK TABLES
SET autocommit = 1
mysql: LOCK INSTANCE FOR BACKUP
mysql: SELECT 1
mysql: UNLOCK INSTANCE
mariadb: BACKUP STAGE START
mariadb: BACKUP STAGE END
mariadb: BACKUP STAGE NOSUCH
mariadb: BACKUP LOCK t
mariadb: BACKUP UNLOCK
FLUSH TABLES WITH READ LOCK
SELECT COUNT(*) FROM t
INSERT INTO t VALUES (54, 1)
UNLOCK TABLES
FLUSH TABLES t WITH READ LOCK
SELECT COUNT(*) FROM t
UNLOCK TABLES
FLUSH TABLES t FOR EXPORT
UNLOCK TABLES
BEGIN
SELECT * FROM t WHERE id = 1 FOR UPDATE
other: SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT
other: SELECT id FROM t WHERE id < 3 ORDER BY id FOR UPDATE SKIP LOCKED
mariadb: other: SET innodb_lock_wait_timeout = 0
mariadb: other: UPDATE t SET v = 5 WHERE id = 1
mariadb: other: SET innodb_lock_wait_timeout = DEFAULT
UPDATE t SET v = 12 WHERE id = 1
other: SELECT v FROM t WHERE id = 1
other: BEGIN
other: SELECT v FROM t WHERE id = 1
COMMIT
other: SELECT v FROM t WHERE id = 1
other: UPDATE t SET v = v + 1 WHERE id = 2
other: ROLLBACK
other: SET lock_wait_timeout = 1
BEGIN
SELECT v FROM t WHERE id = 1 FOR UPDATE
other: ALTER TABLE t ADD w INT
ROLLBACK
XA START 'x1'
INSERT INTO t VALUES (60, 1)
SELECT COUNT(*) FROM t
COMMIT
BEGIN
XA END 'nosuch'
XA END 'x1'
SELECT 1
XA PREPARE 'x1'
XA COMMIT 'x1'
SELECT id FROM t WHERE id = 60
XA BEGIN 'x2', 'branch', 5
UPDATE t SET v = 2 WHERE id = 60
XA END 'x2', 'branch', 5
XA ROLLBACK 'x2', 'branch', 5
XA START X'7833', '', 1
DELETE FROM t WHERE id = 60
XA END X'7833', '', 1
XA COMMIT X'7833', '', 1 ONE PHASE
XA START 'x4'
XA END 'x4'
XA COMMIT 'x4' ONE PHASE
XA RECOVER
XA RECOVER CONVERT XID
XA COMMIT 'nosuch'
XA ROLLBACK 'nosuch'
XA PREPARE 'nosuch'
XA START 'x5' JOIN
XA START 'a name of a transaction may have sixty four bytes and not a single one more than that'
XA NOSUCH 'x'
XA
XA START 'x6'
XA START 'x7'
SET autocommit = 0
XA END 'x6' SUSPEND
XA END 'x6'
XA ROLLBACK 'x6'
BEGIN
XA START 'x8'
ROLLBACK
START TRANSACTION; SAVEPOINT s; ROLLBACK TO s; RELEASE SAVEPOINT s; COMMIT
CREATE TABLE bare (id INT) ENGINE = MyISAM
BEGIN
INSERT INTO bare VALUES (1)
INSERT INTO t VALUES (70, 1)
ROLLBACK
SELECT * FROM bare
SELECT id FROM t WHERE id = 70
session: SELECT 'a session that ends inside a transaction'
BEGIN
INSERT INTO t VALUES (80, 1)
session: SELECT id FROM t WHERE id = 80
BEGIN
SELECT 1
known_binary(part: OK / the conversation ended: Broken("the connection was closed"); reply: affected rows 0 / nothing because the end comes before the answer): COMMIT RELEASE
session: SELECT 'again'
BEGIN
known_binary(part: OK / the conversation ended: Broken("the connection was closed"); reply: affected rows 0 / nothing because the end comes before the answer): ROLLBACK AND NO CHAIN RELEASE
session: SELECT 'and again'
