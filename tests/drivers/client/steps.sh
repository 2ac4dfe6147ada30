#!/bin/sh
# The steps of a command line client, mysql or mariadb: steps.sh PROGRAM
set -eu
program=$1

client() {
    MYSQL_PWD=$DB_PASSWORD "$program" --no-defaults --batch --skip-column-names \
        -h "$DB_HOST" -P "$DB_PORT" -u "$DB_USER" "$@"
}
sql() { client -e "$1" "$DB_SCHEMA"; }
same() { # STEP GOT WANTED
    [ "$2" = "$3" ] || { printf '%s: got\n%s\nwanted\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
    echo "ok $1"
}
refused() { # STEP SQL TEXT
    if text=$(sql "$2" 2>&1); then same "$1" "no error" "$3"; fi
    case $text in *"$3"*) echo "ok $1" ;; *) same "$1" "$text" "$3" ;; esac
}
tab=$(printf '\t')

same select "$(sql "SELECT 1 + 1, 'a', NULL")" "2${tab}a${tab}NULL"
same insert "$(sql "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT)
    DEFAULT CHARSET utf8mb4; INSERT INTO people (name) VALUES ('Ada'); SELECT LAST_INSERT_ID(), name FROM people")" \
    "1${tab}Ada"
same read_by_another "$(sql 'SELECT COUNT(*) FROM people')" 1
same transactions "$(sql "BEGIN; UPDATE people SET note = 'lost'; ROLLBACK; BEGIN; UPDATE people SET name = 'Bea';
    SELECT name, note FROM people; COMMIT; SELECT name FROM people")" "Bea${tab}NULL
Bea"
same prepared "$(sql "PREPARE p FROM 'SELECT ? + 1, name FROM people'; SET @n = 4; EXECUTE p USING @n;
    DEALLOCATE PREPARE p")" "5${tab}Bea"
refused duplicate "INSERT INTO people (name) VALUES ('Bea')" 'ERROR 1062 (23000)'
refused syntax 'SELEC 1' 'ERROR 1064 (42000)'
refused unknown_table 'SELECT * FROM nothing_of_that_name' 'ERROR 1146 (42S02)'
same unicode "$(client --default-character-set=utf8mb4 -e "SET NAMES utf8mb4; UPDATE people SET note = 'Füße, 東京, 🦀';
    SELECT note, CHAR_LENGTH(note) FROM people" "$DB_SCHEMA")" "Füße, 東京, 🦀${tab}11"
same large_row "$(sql "SELECT REPEAT('x', 1 << 20)" | wc -c)" "$(((1 << 20) + 1))"
same many_rows "$(sql "SELECT a.n * 100 + b.n FROM
    (WITH RECURSIVE t AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 99) SELECT n FROM t) a,
    (WITH RECURSIVE t AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 99) SELECT n FROM t) b
    " | sort -un | wc -l)" 10000
same use "$(client -e 'USE mysql; SELECT DATABASE(); SHOW TABLES LIKE "user"')" 'mysql
user'
same show "$(sql 'SHOW TABLES')" people
same script "$(printf 'DELIMITER //\nCREATE PROCEDURE twice(a INT) BEGIN SELECT a; SELECT a * 2; END//\nDELIMITER ;\nCALL twice(21);\n' |
    client "$DB_SCHEMA")" '21
42'
# MySQL's client takes commands of its own from a script only when told to.
commands=
case $("$program" --help) in *--commands*) commands=--commands ;; esac
same reconnect "$(printf 'SELECT 1;\nconnect\nSELECT DATABASE();\n' | client $commands "$DB_SCHEMA" 2>/dev/null)" "1
$DB_SCHEMA"
# The two families name what they offer differently.
case $("$program" --help) in
*--ssl-mode*) tls=--ssl-mode=REQUIRED without_tls=--ssl-mode=DISABLED ;;
*) tls='--ssl --disable-ssl-verify-server-cert' without_tls=--skip-ssl ;;
esac
if [ "${DB_TLS:-}" = 0 ]; then
    echo 'skip tls: DB_TLS is 0'
else
    # shellcheck disable=SC2086 # options
    same tls "$(client $tls -e 'SELECT id, name FROM people' "$DB_SCHEMA")" "1${tab}Bea"
fi
if [ "${DB_COMPRESS:-}" = 1 ]; then
    same compression "$(client --compress -e "SELECT REPEAT('x', 1 << 20)" "$DB_SCHEMA" 2>/dev/null | wc -c)" "$(((1 << 20) + 1))"
else
    echo 'skip compression: DB_COMPRESS is not 1'
fi
file=$(mktemp)
trap 'rm -f "$file"' EXIT
printf '7\tSeven\n8\tEight\n' > "$file"
same local_infile "$(
    client --local-infile=1 -e "SET GLOBAL local_infile = ON;
        LOAD DATA LOCAL INFILE '$file' INTO TABLE people (id, name);
        SELECT COUNT(*) FROM people" "$DB_SCHEMA")" 3
if text=$(MYSQL_PWD=wrong "$program" --no-defaults -h "$DB_HOST" -P "$DB_PORT" -u "$DB_USER" -e 'SELECT 1' 2>&1); then
    same wrong_password "no error" "ERROR 1045 (28000)"
fi
case $text in *'ERROR 1045 (28000)'*) echo ok wrong_password ;; *) same wrong_password "$text" 'ERROR 1045 (28000)' ;; esac
