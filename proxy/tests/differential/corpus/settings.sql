-- SET of every kind, and reading back what was set.
SET @a = 1
SET @a = 1, @@sort_buffer_size = 400000, SESSION max_error_count = 10
SELECT @a, @@sort_buffer_size, @@session.max_error_count
SET SESSION sort_buffer_size = DEFAULT, max_error_count = DEFAULT
SET LOCAL sql_select_limit = 5
SELECT @@local.sql_select_limit
SET @@local.sql_select_limit = DEFAULT
session: SET @@sql_select_limit := 7
mysql: SELECT @@sql_select_limit
mariadb: SELECT @@sql_select_limit
-- MariaDB's trackers are silent about @@NAME without a scope.
mysql: SET @@div_precision_increment = 8
mysql: SELECT 1 / 3
mysql: SET @@div_precision_increment = DEFAULT
SET @@sql_mode = 'ANSI_QUOTES'
mysql: SELECT "a" FROM (SELECT 1 AS a) d
mariadb: SELECT @@sql_mode
SET @@sql_mode = DEFAULT
mysql: SET @@time_zone = '+07:00'
mysql: SELECT FROM_UNIXTIME(0), @@time_zone
mysql: SET @@time_zone = DEFAULT
mysql: SET @@group_concat_max_len = 4
mysql: SELECT GROUP_CONCAT(a) FROM (SELECT 'abc' AS a UNION SELECT 'def') d
mysql: SET @@group_concat_max_len = DEFAULT
mysql: SET @@lc_time_names = 'de_DE'
mysql: SELECT MONTHNAME('2024-05-06')
mysql: SET @@lc_time_names = DEFAULT
SET sql_select_limit = @@global.sql_select_limit
SET @@session.sql_select_limit = DEFAULT
SELECT @@sql_select_limit
set sql_select_limit=3
select @@SQL_SELECT_LIMIT, @@Session.Sql_Select_Limit
set SQL_SELECT_LIMIT=default
SET sql_select_limit = 'x'
SET sql_select_limit = -1
SET sql_select_limit = DEFAULT
SET nosuch = 1
SET @@nosuch = 1
SET SESSION nosuch = 1
SET @@session.nosuch = 1, @b = 2
SET @b = 3, nosuch = 1
SELECT @b
SELECT @@nosuch
SELECT @@session.nosuch
SELECT @@global.nosuch
SELECT @@nosuch.nosuch
SET version = 'x'
SET @@version = 'x'
SET SESSION max_connections = 5
SET GLOBAL sql_log_bin = 1
SET SESSION server_id = 7
SELECT @@session.max_connections
SELECT @@global.sql_select_limit, @@global.autocommit
SELECT @@global.insert_id
SELECT @@version = VERSION(), @@version_comment = @@global.version_comment
SELECT @@max_allowed_packet, @@net_buffer_length, @@wait_timeout, @@interactive_timeout, @@net_write_timeout
SELECT @@auto_increment_increment, @@auto_increment_offset, @@autocommit, @@big_tables
SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@character_set_server, @@character_set_database, @@character_set_system, @@character_set_filesystem
SELECT @@collation_connection, @@collation_server, @@collation_database
SELECT @@sql_mode, @@sql_auto_is_null, @@sql_big_selects, @@sql_buffer_result, @@sql_log_off, @@sql_notes, @@sql_quote_show_create, @@sql_safe_updates, @@sql_warnings
SELECT @@foreign_key_checks, @@unique_checks, @@lc_messages, @@lc_time_names, @@time_zone, @@system_time_zone
SELECT @@div_precision_increment, @@group_concat_max_len, @@default_week_format, @@max_sort_length, @@join_buffer_size, @@tmp_table_size
SELECT @@license, @@protocol_version, @@lower_case_table_names, @@port > 0, @@socket IS NULL, @@hostname IS NULL, @@datadir IS NULL
any(each server's own): SELECT @@server_id, @@hostname, @@port
any(each server's own): SELECT @@global.server_id
any(each server's own): mysql: SELECT @@server_uuid
any(each server's own): mariadb: SELECT @@server_uid IS NOT NULL, @@gtid_domain_id
SELECT @@read_only, @@global.read_only, @@innodb_read_only
mysql: SELECT @@super_read_only, @@global.super_read_only
SELECT @@innodb_lock_wait_timeout, @@innodb_strict_mode, @@innodb_table_locks
SELECT @@default_storage_engine, @@storage_engine
SELECT @@default_tmp_storage_engine
SELECT @@have_ssl
SELECT @@error_count, @@warning_count, @@last_insert_id, @@identity, @@insert_id
SELECT @@pseudo_thread_id > 0, @@timestamp > 0
SELECT @@profiling, @@profiling_history_size, @@have_profiling
SELECT @@character_set_client AS a, @@sql_mode b, CONCAT(@@autocommit, '-', @@sql_notes)
SELECT @@autocommit + 1, @@sql_mode LIKE '%STRICT%', LENGTH(@@time_zone)
SELECT @@`autocommit`, @@session.`autocommit`
SELECT @@ autocommit
SELECT @@session . autocommit
SELECT @@autocommit FROM DUAL LIMIT 1
mysql: SELECT @@mandatory_roles, @@activate_all_roles_on_login, @@cte_max_recursion_depth, @@max_execution_time, @@transaction_isolation
mysql: SELECT @@gtid_mode, @@enforce_gtid_consistency, @@session.gtid_next
mysql: SELECT @@persist.max_connections
mysql: SELECT @@persisted_globals_load, @@optimizer_switch LIKE '%index_merge%', @@show_create_table_verbosity, @@sql_require_primary_key
mysql: SELECT VARIABLE_NAME FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = 'nosuch'
mysql: known_text(row: \x011\x03OFFXtime_zone,autocommit,character_set_client,character_set_results,character_set_connection\x03OFF\x010 / \x011\x08OWN_GTID\x01*\x03OFF\x011 because the proxy sets them for itself): known_binary(row: \x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03OFFXtime_zone,autocommit,character_set_client,character_set_results,character_set_connection\x03OFF\x00\x00\x00\x00\x00\x00\x00\x00 / \x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x08OWN_GTID\x01*\x03OFF\x01\x00\x00\x00\x00\x00\x00\x00 because the proxy sets them for itself): SELECT @@session_track_schema, @@session_track_gtids, @@session_track_system_variables, @@session_track_transaction_info, @@session_track_state_change
mysql: SELECT @@resultset_metadata, @@use_secondary_engine, @@print_identified_with_as_hex, @@windowing_use_high_precision
mysql: SELECT @@innodb_buffer_pool_size > 0, @@hot_cache.key_buffer_size, @@default.key_buffer_size >= 0
mysql: SELECT @@validate_password.policy
mysql: SELECT @@component.nosuch
mysql: SELECT @@binlog_format, @@sql_log_bin, @@sql_generate_invisible_primary_key
mariadb: SELECT @@tx_isolation, @@max_statement_time, @@in_transaction, @@last_gtid IS NOT NULL, @@sql_if_exists, @@character_set_collations
mariadb: SELECT @@tx_isolation, @@max_statement_time, @@in_transaction, @@check_constraint_checks, @@alter_algorithm
mariadb: SELECT @@gtid_seq_no, @@skip_replication, @@pseudo_slave_mode, @@binlog_format, @@sql_log_bin
mariadb: SELECT @@default_master_connection, @@max_recursive_iterations, @@optimizer_trace, @@histogram_size
mariadb: SELECT @@old_mode, @@system_versioning_asof, @@idle_transaction_timeout, @@column_compression_threshold, @@eq_range_index_dive_limit
mariadb: SELECT @@max_session_mem_used > 0, @@note_verbosity
mariadb: SELECT @@hot_cache.key_buffer_size, @@default.key_buffer_size >= 0
SET NAMES utf8mb4
SET NAMES 'latin1'
SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection
raw: SELECT '\xe4', HEX('\xe4'), 'a' AS `\xe4`
SELECT _utf8mb4 x'C3A4', _utf8mb4 x'E6B0B4'
SET NAMES utf8mb4 COLLATE utf8mb4_bin
SELECT @@collation_connection, 'a' = 'A'
SET NAMES utf8mb4 COLLATE 'utf8mb4_unicode_ci'
SELECT @@collation_connection, 'a' = 'A', COLLATION('a')
SET NAMES latin1 COLLATE utf8mb4_bin
SET NAMES nosuch
SET NAMES utf8mb4 COLLATE nosuch
SET NAMES DEFAULT
SELECT @@character_set_client, @@collation_connection
SET NAMES utf16
mysql: SET NAMES utf8mb3
mariadb: SET NAMES utf8mb3
SELECT @@character_set_client, 'ä'
SET NAMES binary
SELECT 'ä', COLLATION('a'), CHARSET('a')
SET NAMES ascii
SELECT 'ä'
SET NAMES cp1251
raw: SELECT '\xe4', CHARSET('x')
SET NAMES gbk
raw: SELECT '\xe4\\', HEX('\xbf\x27')
raw: SELECT '\xc4\xe3' AS x
SET NAMES sjis
raw: SELECT '\x83\x5c', HEX('\x83\x5c')
SET NAMES big5
raw: SELECT '\xa5\x5c'
SET NAMES ujis
raw: SELECT HEX('\xa4\xa2')
mysql: SET NAMES gb18030
mysql: raw: SELECT HEX('\x81\x30\x81\x30')
SET CHARACTER SET utf8mb4
SET CHARACTER SET latin1
SELECT @@character_set_client, @@character_set_connection, @@character_set_results
SET CHARACTER SET DEFAULT
SET CHARSET utf8mb4
SET CHARACTER SET nosuch
SET character_set_results = NULL
SELECT 'ä', _latin1 x'E4'
SET character_set_results = latin1
SELECT 'ä', _latin1 x'E4', '水'
SET character_set_results = utf8mb4
SET character_set_client = latin1
SELECT HEX('ä')
SET character_set_client = utf8mb4, character_set_connection = latin1
SELECT HEX('ä'), COLLATION('x')
SET collation_connection = utf8mb4_bin
SELECT @@character_set_connection, 'a' = 'A'
SET character_set_client = utf16
SET character_set_connection = NULL
SET collation_connection = nosuch
SET NAMES utf8mb4
SET character_set_database = latin1
SET collation_server = latin1_bin
SELECT @@collation_server, @@character_set_server, @@character_set_database
SET collation_server = DEFAULT, character_set_database = DEFAULT
SET time_zone = '+05:30'
SELECT @@time_zone, FROM_UNIXTIME(0)
SET time_zone = 'SYSTEM'
SET time_zone = '+25:00'
SET time_zone = NULL
SET sql_mode = 'TRADITIONAL'
SELECT @@sql_mode
SET sql_mode = 'ANSI,NO_ZERO_DATE'
SELECT @@sql_mode
SET sql_mode = 'ONLY_FULL_GROUP_BY,,STRICT_TRANS_TABLES'
SELECT @@sql_mode
SET sql_mode = 0
SELECT @@sql_mode
SET sql_mode = 4
SELECT @@sql_mode
SET sql_mode = CONCAT(@@sql_mode, ',NO_ENGINE_SUBSTITUTION')
SELECT @@sql_mode
SET sql_mode = NULL
SET sql_mode = (SELECT 'STRICT_ALL_TABLES')
SELECT @@sql_mode
SET @saved = @@sql_mode, sql_mode = ''
SELECT @saved, @@sql_mode
SET sql_mode = @saved
SELECT @@sql_mode
SET sql_mode = DEFAULT
SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'
SET sql_mode = DEFAULT
SET foreign_key_checks = 0, unique_checks = OFF, sql_notes = FALSE, sql_quote_show_create = 'OFF'
SELECT @@foreign_key_checks, @@unique_checks, @@sql_notes, @@sql_quote_show_create
SET foreign_key_checks = DEFAULT, unique_checks = DEFAULT, sql_notes = DEFAULT, sql_quote_show_create = DEFAULT
SET foreign_key_checks = 'maybe'
SET foreign_key_checks = 3
SET max_error_count = 0
SELECT CAST('x' AS SIGNED)
SELECT @@warning_count
SET max_error_count = 99999999
SELECT @@max_error_count
SET max_error_count = DEFAULT
SET sort_buffer_size = 1
SELECT @@sort_buffer_size
SET sort_buffer_size = 18446744073709551615
SET sort_buffer_size = DEFAULT
SET tmp_table_size = 2048, max_heap_table_size = 16384
SELECT @@tmp_table_size, @@max_heap_table_size
SET tmp_table_size = DEFAULT, max_heap_table_size = DEFAULT
SET optimizer_switch = 'index_merge=off'
SELECT @@optimizer_switch LIKE '%index_merge=off%'
SET optimizer_switch = 'nosuch=on'
SET optimizer_switch = DEFAULT
SET group_concat_max_len = 1024
SET wait_timeout = 100, net_read_timeout = 60
SELECT @@wait_timeout, @@net_read_timeout
SET wait_timeout = DEFAULT
SET lc_messages = 'de_DE'
SELECT nosuch
SET lc_messages = 'nosuch'
SET lc_messages = DEFAULT
SET default_week_format = 3
SELECT WEEK('2024-01-01')
SET default_week_format = DEFAULT
SET sql_auto_is_null = 1
SELECT @@sql_auto_is_null
SET sql_auto_is_null = 0
SET big_tables = 1
SET big_tables = 0
SET profiling = 1
SELECT 'profiled'
SET profiling = 0
SET insert_id = 5, last_insert_id = 6
SELECT @@insert_id, @@last_insert_id, LAST_INSERT_ID()
session: SET rand_seed1 = 10, rand_seed2 = 20
mysql: SELECT RAND()
mariadb: SELECT RAND()
SET timestamp = 1000000000
SELECT NOW(), @@timestamp
SET timestamp = DEFAULT
SET timestamp = 'x'
SET pseudo_thread_id = 5
any(what was set is where it was set): SELECT @@pseudo_thread_id
SET identity = 9
SELECT @@identity
mysql: SET max_execution_time = 5000
mysql: SELECT @@max_execution_time
mysql: SET max_execution_time = DEFAULT
mysql: SET cte_max_recursion_depth = 3
mysql: WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT * FROM n
mysql: SET cte_max_recursion_depth = DEFAULT
mysql: SET resultset_metadata = 'NONE'
mysql: SET sql_generate_invisible_primary_key = 1
mysql: CREATE TABLE gipk (a INT)
mysql: SHOW CREATE TABLE gipk
mysql: INSERT INTO gipk VALUES (5)
mysql: SELECT *, my_row_id FROM gipk
mysql: SET sql_generate_invisible_primary_key = 0
mysql: SET sql_require_primary_key = 1
mysql: CREATE TABLE no_key (a INT)
mysql: SET sql_require_primary_key = 0
mysql: SET default_collation_for_utf8mb4 = utf8mb4_general_ci
mysql: SELECT COLLATION(_utf8mb4'a')
mysql: SET default_collation_for_utf8mb4 = DEFAULT
mysql: SET binlog_row_image = 'MINIMAL'
mysql: SET binlog_row_image = DEFAULT
mysql: SET binlog_rows_query_log_events = ON
mysql: SET session_track_schema = OFF
mysql: SET session_track_schema = DEFAULT
mysql: SET PERSIST max_connections = 152
mysql: SET PERSIST_ONLY back_log = 100
mysql: SELECT @@global.max_connections
mysql: SET @@PERSIST.max_connections = 151
mysql: RESET PERSIST max_connections
mysql: RESET PERSIST
mysql: RESET PERSIST nosuch
mysql: RESET PERSIST IF EXISTS nosuch
mysql: SET SESSION RESOURCE GROUP nosuch
mysql: SET RESOURCE GROUP nosuch
mariadb: SET max_statement_time = 5.5
mariadb: SELECT @@max_statement_time
mariadb: SET max_statement_time = DEFAULT
mariadb: SET STATEMENT max_statement_time = 10 FOR SELECT 1
mariadb: SET STATEMENT sql_mode = 'ANSI_QUOTES', sql_select_limit = 1 FOR SELECT "x" FROM (SELECT 1 AS x UNION SELECT 2) d
mariadb: SELECT @@sql_mode LIKE '%ANSI%'
mariadb: SET STATEMENT nosuch = 1 FOR SELECT 1
mariadb: SET STATEMENT max_statement_time = 10 FOR SET @x = 1
mariadb: SET STATEMENT group_concat_max_len = 4 FOR SELECT GROUP_CONCAT(seq) FROM seq_1_to_9
mariadb: SET @@max_recursive_iterations = 2
mariadb: WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT * FROM n
mariadb: SET max_recursive_iterations = DEFAULT
mariadb: SET system_versioning_asof = '2024-01-01'
mariadb: SELECT @@system_versioning_asof
mariadb: SET system_versioning_asof = DEFAULT
mariadb: SET check_constraint_checks = 0
mariadb: SET check_constraint_checks = 1
mariadb: SET old_mode = 'NO_PROGRESS_INFO'
mariadb: SET old_mode = DEFAULT
mariadb: SET character_set_filesystem = utf8mb4
mariadb: SET character_set_filesystem = DEFAULT
mariadb: SET alter_algorithm = 'INPLACE'
mariadb: SET alter_algorithm = DEFAULT
mariadb: SET sql_if_exists = 1
mariadb: DROP TABLE nosuch
mariadb: SET sql_if_exists = 0
mariadb: SET skip_replication = 1
mariadb: SET skip_replication = 0
mariadb: SET gtid_domain_id = 5
mariadb: SELECT @@gtid_domain_id
mariadb: SET gtid_domain_id = DEFAULT
SET GLOBAL max_connect_errors = 101
SELECT @@global.max_connect_errors, @@max_connect_errors
SET @@global.max_connect_errors = DEFAULT
SET GLOBAL max_connect_errors = 'x'
SET GLOBAL nosuch = 1
SET GLOBAL autocommit = 1
SET GLOBAL sql_select_limit = DEFAULT, @x = 1
SET GLOBAL init_connect = ''
SET GLOBAL slow_query_log = OFF, SESSION long_query_time = 5
SELECT @@long_query_time
SET long_query_time = DEFAULT
SET sql_log_bin = 0
CREATE TEMPORARY TABLE unlogged (id INT)
DROP TEMPORARY TABLE unlogged
SET sql_log_bin = 1
SET @x
SET @x =
SET
SET x
SET = 1
SET @a = 1 @b = 2
SET @a = (SELECT 1, 2)
SET @a = nosuch
SET @a = 1 / 0
SELECT @a
SET @a = CAST('x' AS SIGNED)
SET NAMES
SET SESSION
SET GLOBAL
SET @@session.autocommit
SET autocommit = 1;
SET @a = 1; SET @b = 2
SET @a = ';'
SET @'quoted name' = 1, @"double quoted" = 2, @`back quoted` = 3
SELECT @'quoted name', @"double quoted", @`back quoted`
SET @long = REPEAT('x', 2000)
SELECT LENGTH(@long)
SET @json = '{"a": 1}'
SELECT JSON_EXTRACT(@json, '$.a')
SET @bin = x'00FF10', @bit = b'101', @neg = -5, @dec = 12345678901234567890.5, @exp = 1.5e-7, @date = CURDATE() - CURDATE()
SELECT @bin, @bit, @neg, @dec, @exp, @date
SELECT @bin + 0, @bit + 0, HEX(@bin)
SET @s = 'it''s', @t = "say \"so\"", @u = 'a\\b', @v = 'ä水🌊'
SELECT @s, @t, @u, @v
SELECT @s = 'IT''S', COLLATION(@s), COERCIBILITY(@s), CHARSET(@bin)
SET @n = NULL
SELECT @n, @n IS NULL, COALESCE(@n, 'none')
SET @i = 1
SELECT @i := @i + 1, @i
SELECT @i
SET @i = @i + (@i := 10)
SELECT @i
SET @t = TRUE, @f = FALSE
SELECT @t, @f, @t AND @f
SET @sub = (SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'corpus')
SELECT @sub
session(no_schema): SELECT DATABASE()
SELECT * FROM t
CREATE TABLE t (id INT)
SHOW TABLES
USE corpus
SELECT DATABASE()
use `corpus`
USE corpus;
USE
USE nosuch
USE information_schema
SELECT DATABASE()
SELECT SCHEMA_NAME FROM SCHEMATA WHERE SCHEMA_NAME LIKE 'corpus%'
SHOW TABLES LIKE 'TABLES'
USE mysql
SELECT DATABASE()
SHOW TABLES LIKE 'user'
SELECT COUNT(*) FROM user WHERE User = 'app'
