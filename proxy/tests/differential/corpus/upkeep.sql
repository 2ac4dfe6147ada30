-- What keeps tables and servers in order, and what administers them, as far as it does no harm here.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))
CREATE TABLE m (id INT, v TEXT) ENGINE = MyISAM
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')
INSERT INTO m VALUES (1, 'x')
ANALYZE TABLE t
ANALYZE LOCAL TABLE t, m
ANALYZE NO_WRITE_TO_BINLOG TABLE nosuch
mysql: ANALYZE TABLE t UPDATE HISTOGRAM ON id WITH 4 BUCKETS
mysql: ANALYZE TABLE t DROP HISTOGRAM ON id
mysql: ANALYZE TABLE t UPDATE HISTOGRAM ON nosuch
mariadb: ANALYZE TABLE t PERSISTENT FOR COLUMNS (id) INDEXES ()
mariadb: ANALYZE TABLE t PERSISTENT FOR ALL
OPTIMIZE TABLE t
OPTIMIZE LOCAL TABLE m, nosuch
CHECK TABLE t
CHECK TABLE t, m QUICK
CHECK TABLE t EXTENDED
CHECK TABLE t FOR UPGRADE
CHECK TABLE nosuch
CHECK TABLES t FAST
CHECKSUM TABLE t
CHECKSUM TABLE t, m, nosuch
CHECKSUM TABLE m QUICK
CHECKSUM TABLE t EXTENDED
REPAIR TABLE t
REPAIR TABLE m QUICK
REPAIR NO_WRITE_TO_BINLOG TABLE m USE_FRM
mariadb: CHECK VIEW nosuch
mariadb: REPAIR VIEW nosuch
FLUSH TABLES
FLUSH TABLE t
FLUSH TABLES t, m
FLUSH TABLES nosuch
FLUSH LOCAL TABLES t
FLUSH STATUS
FLUSH PRIVILEGES
FLUSH ERROR LOGS
FLUSH SLOW LOGS
FLUSH GENERAL LOGS, ENGINE LOGS
FLUSH USER_RESOURCES
FLUSH OPTIMIZER_COSTS
FLUSH NO_WRITE_TO_BINLOG STATUS
FLUSH RELAY LOGS FOR CHANNEL 'nosuch'
mariadb: FLUSH QUERY CACHE
mariadb: FLUSH USER_STATISTICS
mariadb: FLUSH RELAY LOGS 'nosuch'
mysql: FLUSH HOSTS
FLUSH NOSUCH
FLUSH
RESET QUERY CACHE
RESET NOSUCH
CACHE INDEX m IN nosuch
CACHE INDEX m IN default
LOAD INDEX INTO CACHE m
LOAD INDEX INTO CACHE m IGNORE LEAVES
LOAD INDEX INTO CACHE nosuch
mysql: known(SHOW WARNINGS reply: row \x05Error\x041094\x1cUnknown thread id: 999999999 / part end of rows because the proxy says it itself): KILL 999999999
mariadb: known(SHOW WARNINGS reply: row \x05Error\x041094\x1cUnknown thread id: 999999999 / part end of rows because the proxy says it itself): KILL 999999999
mysql: known(SHOW WARNINGS reply: row \x05Error\x041094\x1cUnknown thread id: 999999999 / part end of rows because the proxy says it itself): KILL QUERY 999999999
mariadb: known(SHOW WARNINGS reply: row \x05Error\x041094\x1cUnknown thread id: 999999999 / part end of rows because the proxy says it itself): KILL QUERY 999999999
known(SHOW WARNINGS reply: row \x07Warning\x041292&Truncated incorrect INTEGER value: \'x\' / part end of rows because the proxy says it itself): KILL CONNECTION 'x'
KILL
mariadb: known(SHOW WARNINGS row: \x05Error\x041094\x1cUnknown thread id: 999999999 / \x05Error\x041064\x94You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right syntax to use near \'\' at line 1 because the proxy says it itself): KILL SOFT 999999999
mariadb: KILL QUERY ID 999999999
mariadb: KILL USER nosuch
free(what the system's last error was): INSTALL PLUGIN nosuch SONAME 'nosuch.so'
UNINSTALL PLUGIN nosuch
free(what the system's last error was): mysql: INSTALL COMPONENT 'file://nosuch'
mysql: UNINSTALL COMPONENT 'file://nosuch'
mariadb: INSTALL SONAME 'nosuch'
mariadb: UNINSTALL SONAME 'nosuch'
mariadb: INSTALL PLUGIN IF NOT EXISTS innodb SONAME 'nosuch'
DROP FUNCTION nosuch
CREATE SERVER corpus_s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x', DATABASE 'y')
CREATE SERVER corpus_s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x', DATABASE 'y')
ALTER SERVER corpus_s OPTIONS (USER 'z')
DROP SERVER corpus_s
DROP SERVER corpus_s
DROP SERVER IF EXISTS corpus_s
mysql: CREATE TABLESPACE corpus_ts ADD DATAFILE 'corpus_ts.ibd' ENGINE = InnoDB
mysql: CREATE TABLE ts (id INT) TABLESPACE corpus_ts
mysql: ALTER TABLESPACE corpus_ts RENAME TO corpus_ts2
mysql: DROP TABLE ts
mysql: DROP TABLESPACE corpus_ts2
mysql: DROP TABLESPACE nosuch
mysql: CREATE UNDO TABLESPACE u ADD DATAFILE 'x.nosuch'
mysql: CREATE LOGFILE GROUP g ADD UNDOFILE 'x'
mysql: CREATE RESOURCE GROUP corpus_g TYPE = USER VCPU = 0
mysql: DROP RESOURCE GROUP corpus_g
mysql: ALTER INSTANCE RELOAD KEYRING
mysql: ALTER INSTANCE NOSUCH
mysql: CLONE LOCAL DATA DIRECTORY '/nosuch/directory'
mysql: BINLOG 'x'
mariadb: BINLOG 'x'
PURGE BINARY LOGS TO 'nosuch'
PURGE BINARY LOGS BEFORE '2001-01-01'
CHANGE MASTER TO NOSUCH = 1
CHANGE REPLICATION SOURCE TO NOSUCH = 1
mysql: CHANGE REPLICATION FILTER NOSUCH = (1)
START REPLICA NOSUCH
STOP NOSUCH
RESTART NOW
SHUTDOWN NOSUCH
mysql: LOCK INSTANCE FOR NOSUCH
mariadb: BACKUP NOSUCH
CREATE NOSUCH x
ALTER NOSUCH x
DROP NOSUCH x
DROP TABLE t, m
DROP DATABASE corpus
SELECT DATABASE()
SHOW TABLES
CREATE DATABASE corpus
SELECT DATABASE()
USE corpus
SHOW TABLES
