// The steps of MariaDB's client library in C.

#include <mysql.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT "Füße, 東京, 🦀, \\ ' \" end"
#define NUMBERS 10000
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static const char *given(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL) fail("%s is not set", name);
    return value;
}

static int given_is(const char *name, const char *wanted)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, wanted) == 0;
}

static void *allocated(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL) fail("no memory");
    return memory;
}

/// How to connect.
struct way {
    int tls;
    int compressed;
    unsigned int seconds; // That an answer may take; 0: any.
    const char *password; // NULL: the right one.
};

static MYSQL *try_connect(struct way way)
{
    MYSQL *db = mysql_init(NULL);
    my_bool yes = 1, no = 0;
    mysql_options(db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
    if (way.tls) mysql_options(db, MYSQL_OPT_SSL_ENFORCE, &yes);
    if (way.compressed) mysql_options(db, MYSQL_OPT_COMPRESS, NULL);
    if (way.seconds) mysql_options(db, MYSQL_OPT_READ_TIMEOUT, &way.seconds);
    const char *password = way.password ? way.password : given("DB_PASSWORD");
    mysql_real_connect(db, given("DB_HOST"), given("DB_USER"), password, given("DB_SCHEMA"),
                       (unsigned int)atoi(given("DB_PORT")), NULL, CLIENT_MULTI_STATEMENTS);
    return db;
}

static MYSQL *connected(struct way way)
{
    MYSQL *db = try_connect(way);
    if (mysql_errno(db)) fail("cannot connect: %u %s", mysql_errno(db), mysql_error(db));
    if (way.tls && mysql_get_ssl_cipher(db) == NULL) fail("there is no TLS");
    return db;
}

static void run(MYSQL *db, const char *sql)
{
    if (mysql_query(db, sql)) fail("%.200s: %u %s", sql, mysql_errno(db), mysql_error(db));
}

static void refused(MYSQL *db, const char *sql, unsigned int code, const char *state)
{
    // Some errors come in the middle of the rows.
    if (!mysql_query(db, sql)) mysql_free_result(mysql_store_result(db));
    if (mysql_errno(db) != code || strcmp(mysql_sqlstate(db), state))
        fail("%s: got %u %s %s, wanted %u %s", sql, mysql_errno(db), mysql_sqlstate(db), mysql_error(db), code, state);
}

/// Checks a row against texts, where NULL is NULL.
static void same_row(MYSQL_ROW row, unsigned int columns, const char *const *wanted)
{
    if (row == NULL) fail("there is no row");
    for (unsigned int column = 0; column < columns; column++) {
        const char *got = row[column], *want = wanted[column];
        if ((got == NULL) != (want == NULL) || (got && strcmp(got, want)))
            fail("column %u: got %.200s, wanted %.200s", column, got ? got : "NULL", want ? want : "NULL");
    }
}

/// Checks the only row that a statement returns.
#define ONE_ROW(db, sql, ...)                                                                                          \
    do {                                                                                                               \
        const char *wanted_[] = {__VA_ARGS__};                                                                         \
        run(db, sql);                                                                                                  \
        MYSQL_RES *result_ = mysql_store_result(db);                                                                   \
        if (result_ == NULL || mysql_num_fields(result_) != COUNT(wanted_)) fail("%s: not the columns", sql);          \
        same_row(mysql_fetch_row(result_), COUNT(wanted_), wanted_);                                                   \
        if (mysql_num_rows(result_) != 1) fail("%s: more rows", sql);                                                  \
        mysql_free_result(result_);                                                                                    \
    } while (0)

static MYSQL_STMT *prepared(MYSQL *db, const char *sql)
{
    MYSQL_STMT *statement = mysql_stmt_init(db);
    if (mysql_stmt_prepare(statement, sql, strlen(sql))) fail("%s: %s", sql, mysql_stmt_error(statement));
    return statement;
}

static void executed(MYSQL_STMT *statement)
{
    if (mysql_stmt_execute(statement)) fail("execute: %u %s", mysql_stmt_errno(statement), mysql_stmt_error(statement));
}

static MYSQL_BIND text_value(char *text, unsigned long *length)
{
    *length = strlen(text);
    return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = text, .buffer_length = *length, .length = length};
}

static int selects(MYSQL *db)
{
    ONE_ROW(db, "SELECT 1 + 1, 'a', NULL", "2", "a", NULL);
    return 1;
}

static int generated_keys(MYSQL *db)
{
    run(db, "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT) "
            "DEFAULT CHARSET utf8mb4");
    run(db, "INSERT INTO people (name) VALUES ('Ada')");
    if (mysql_insert_id(db) != 1 || mysql_affected_rows(db) != 1) fail("not the key");
    ONE_ROW(db, "SELECT name, note FROM people WHERE id = 1", "Ada", NULL);
    return 1;
}

/// Where the server takes it, all rows go in one command.
static int batches(MYSQL *db)
{
    unsigned long taken = 0;
    mariadb_get_infov(db, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &taken);
    if (!(taken & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32))) {
        puts("skip batches: the server takes none");
        return 0;
    }
    enum { ROWS = 500 };
    static char names[ROWS][8], *pointers[ROWS];
    static unsigned long lengths[ROWS];
    for (int number = 0; number < ROWS; number++) {
        lengths[number] = (unsigned long)sprintf(names[number], "p%d", number);
        pointers[number] = names[number];
    }
    MYSQL_STMT *statement = prepared(db, "INSERT INTO people (name) VALUES (?)");
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING, .buffer = pointers, .length = lengths};
    unsigned int rows = ROWS;
    mysql_stmt_attr_set(statement, STMT_ATTR_ARRAY_SIZE, &rows);
    mysql_stmt_bind_param(statement, &bind);
    executed(statement);
    if (mysql_stmt_affected_rows(statement) != ROWS) fail("not all rows");
    mysql_stmt_close(statement);
    run(db, "DELETE FROM people WHERE name <> 'Ada'");
    return 1;
}

static int transactions(MYSQL *db)
{
    mysql_autocommit(db, 0);
    run(db, "UPDATE people SET note = 'lost'");
    mysql_rollback(db);
    ONE_ROW(db, "SELECT note FROM people", NULL);
    run(db, "UPDATE people SET note = 'kept'");
    run(db, "SAVEPOINT half");
    run(db, "UPDATE people SET note = 'lost'");
    run(db, "ROLLBACK TO SAVEPOINT half");
    mysql_commit(db);
    mysql_autocommit(db, 1);
    ONE_ROW(db, "SELECT note FROM people", "kept");
    return 1;
}

static int own_writes(MYSQL *db)
{
    MYSQL *other = connected((struct way){0});
    for (int number = 0; number < 50; number++) {
        char sql[80], wanted[12];
        sprintf(wanted, "%d", number);
        sprintf(sql, "UPDATE people SET note = '%d'", number);
        run(db, sql);
        ONE_ROW(db, "SELECT note FROM people", wanted);
        ONE_ROW(other, "SELECT note FROM people", wanted);
    }
    mysql_close(other);
    return 1;
}

static int types(MYSQL *db)
{
    run(db, "CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4), "
            "moment DATETIME(6), span TIME(6), code VARBINARY(20), name VARCHAR(50), low FLOAT, year YEAR) "
            "DEFAULT CHARSET utf8mb4");
    int32_t id = 1;
    int8_t tiny = -128;
    uint64_t big = UINT64_MAX;
    double ratio = 1.5e100;
    float low = 0.25f;
    int16_t year = 2026;
    char money[] = "-1234567890123456.7891", code[] = {0, (char)255, 39, 92, 10}, name[] = "é🦀";
    unsigned long money_length, name_length, code_length = sizeof code;
    MYSQL_TIME moment = {.year = 2026, .month = 11, .day = 30, .hour = 18, .minute = 45, .second = 1,
                         .second_part = 123456, .time_type = MYSQL_TIMESTAMP_DATETIME};
    MYSQL_TIME span = {.hour = 100, .minute = 30, .second = 5, .second_part = 250000, .neg = 1,
                       .time_type = MYSQL_TIMESTAMP_TIME};
    MYSQL_BIND row[] = {
        {.buffer_type = MYSQL_TYPE_LONG, .buffer = &id},
        {.buffer_type = MYSQL_TYPE_TINY, .buffer = &tiny},
        {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &big, .is_unsigned = 1},
        {.buffer_type = MYSQL_TYPE_DOUBLE, .buffer = &ratio},
        text_value(money, &money_length),
        {.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &moment},
        {.buffer_type = MYSQL_TYPE_TIME, .buffer = &span},
        {.buffer_type = MYSQL_TYPE_BLOB, .buffer = code, .buffer_length = sizeof code, .length = &code_length},
        text_value(name, &name_length),
        {.buffer_type = MYSQL_TYPE_FLOAT, .buffer = &low},
        {.buffer_type = MYSQL_TYPE_SHORT, .buffer = &year},
    };
    MYSQL_STMT *statement = prepared(db, "INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    mysql_stmt_bind_param(statement, row);
    executed(statement);
    // All NULL.
    id = 2;
    my_bool null = 1;
    for (size_t column = 1; column < COUNT(row); column++) row[column].is_null = &null;
    mysql_stmt_bind_param(statement, row);
    executed(statement);
    mysql_stmt_close(statement);

    ONE_ROW(db, "SELECT id, tiny, big, ratio, money, moment, span, HEX(code), name, low, year FROM kinds WHERE id = 1", "1",
            "-128", "18446744073709551615", "1.5e100", money, "2026-11-30 18:45:01.123456", "-100:30:05.250000", "00FF275C0A",
            name, "0.25", "2026");
    // The same as the server sends it to a prepared statement.
    statement = prepared(db, "SELECT tiny, big, ratio, money, moment, span, code, name, low, year FROM kinds ORDER BY id");
    executed(statement);
    char read_money[40], read_code[20], read_name[60];
    unsigned long lengths[10];
    my_bool nulls[10];
    MYSQL_TIME read_moment, read_span;
    int8_t read_tiny;
    uint64_t read_big;
    double read_ratio;
    float read_low;
    int16_t read_year;
    MYSQL_BIND read[] = {
        {.buffer_type = MYSQL_TYPE_TINY, .buffer = &read_tiny},
        {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &read_big, .is_unsigned = 1},
        {.buffer_type = MYSQL_TYPE_DOUBLE, .buffer = &read_ratio},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = read_money, .buffer_length = sizeof read_money},
        {.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &read_moment},
        {.buffer_type = MYSQL_TYPE_TIME, .buffer = &read_span},
        {.buffer_type = MYSQL_TYPE_BLOB, .buffer = read_code, .buffer_length = sizeof read_code},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = read_name, .buffer_length = sizeof read_name},
        {.buffer_type = MYSQL_TYPE_FLOAT, .buffer = &read_low},
        {.buffer_type = MYSQL_TYPE_SHORT, .buffer = &read_year},
    };
    for (size_t column = 0; column < COUNT(read); column++) {
        read[column].length = &lengths[column];
        read[column].is_null = &nulls[column];
    }
    mysql_stmt_bind_result(statement, read);
    if (mysql_stmt_fetch(statement)) fail("no row: %s", mysql_stmt_error(statement));
    if (read_tiny != -128 || read_big != UINT64_MAX || read_ratio != 1.5e100 || strcmp(read_money, money) ||
        read_moment.day != 30 || read_moment.second_part != 123456 || !read_span.neg ||
        read_span.hour + 24 * read_span.day != 100 || read_span.second_part != 250000 || lengths[6] != sizeof code ||
        memcmp(read_code, code, sizeof code) || strcmp(read_name, name) || read_low != 0.25f || read_year != 2026)
        fail("a column differs");
    if (mysql_stmt_fetch(statement)) fail("no second row");
    for (size_t column = 0; column < COUNT(read); column++)
        if (!nulls[column]) fail("column %zu is not NULL", column);
    if (mysql_stmt_fetch(statement) != MYSQL_NO_DATA) fail("a third row");
    mysql_stmt_close(statement);
    return 1;
}

static int prepared_statements(MYSQL *db)
{
    char text[] = "é🦀", read[40];
    int32_t number, sum;
    unsigned long length, read_length;
    my_bool null = 1, nothing;
    MYSQL_STMT *statement = prepared(db, "SELECT ? + 1, ?, ?");
    MYSQL_BIND given[] = {{.buffer_type = MYSQL_TYPE_LONG, .buffer = &number}, text_value(text, &length),
                          {.buffer_type = MYSQL_TYPE_NULL, .is_null = &null}};
    MYSQL_BIND got[] = {
        {.buffer_type = MYSQL_TYPE_LONG, .buffer = &sum},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = read, .buffer_length = sizeof read, .length = &read_length},
        {.buffer_type = MYSQL_TYPE_LONG, .buffer = &number, .is_null = &nothing},
    };
    mysql_stmt_bind_param(statement, given);
    mysql_stmt_bind_result(statement, got);
    for (number = 0; number < 20; number++) {
        executed(statement);
        if (mysql_stmt_store_result(statement) || mysql_stmt_fetch(statement)) fail("no row");
        if (sum != number + 1 || read_length != strlen(text) || memcmp(read, text, read_length) || !nothing) fail("differs");
        mysql_stmt_free_result(statement);
    }
    if (mysql_stmt_reset(statement)) fail("reset: %s", mysql_stmt_error(statement));
    mysql_stmt_close(statement);
    // Prepared and executed in one go, before the statement's id is known.
    statement = mysql_stmt_init(db);
    const char *sql = "UPDATE people SET note = 'direct'";
    if (mariadb_stmt_execute_direct(statement, sql, strlen(sql))) fail("direct: %s", mysql_stmt_error(statement));
    mysql_stmt_close(statement);
    ONE_ROW(db, "SELECT note FROM people", "direct");
    return 1;
}

static int errors(MYSQL *db)
{
    refused(db, "INSERT INTO people (name) VALUES ('Ada')", 1062, "23000");
    refused(db, "SELEC 1", 1064, "42000");
    refused(db, "SELECT * FROM nothing_of_that_name", 1146, "42S02");
    MYSQL_STMT *statement = mysql_stmt_init(db);
    if (!mysql_stmt_prepare(statement, "SELEC ?", 7) || mysql_stmt_errno(statement) != 1064) fail("SELEC was prepared");
    mysql_stmt_close(statement);
    ONE_ROW(db, "SELECT 1", "1");
    return 1;
}

static int unicode_text(MYSQL *db)
{
    char escaped[200], sql[300];
    mysql_real_escape_string(db, escaped, TEXT, strlen(TEXT));
    sprintf(sql, "UPDATE people SET note = '%s'", escaped);
    run(db, sql);
    ONE_ROW(db, "SELECT note, CHAR_LENGTH(note) FROM people", TEXT, "22");
    return 1;
}

static int large_rows(MYSQL *db)
{
    run(db, "CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)");
    run(db, "SELECT @@max_allowed_packet");
    MYSQL_RES *result = mysql_store_result(db);
    unsigned long sizes[] = {1 << 20, atol(mysql_fetch_row(result)[0]) > 40 << 20 ? 17 << 20 : 0};
    mysql_free_result(result);
    for (int32_t id = 0; id < 2 && sizes[id]; id++) {
        unsigned long size = sizes[id], read_size;
        char *data = allocated(size), *read = allocated(size);
        for (unsigned long at = 0; at < size; at++) data[at] = (char)at;
        MYSQL_STMT *statement = prepared(db, "INSERT INTO blobs VALUES (?, ?)");
        MYSQL_BIND row[] = {{.buffer_type = MYSQL_TYPE_LONG, .buffer = &id}, {.buffer_type = MYSQL_TYPE_LONG_BLOB}};
        mysql_stmt_bind_param(statement, row);
        for (unsigned long at = 0; at < size; at += 1 << 18)
            if (mysql_stmt_send_long_data(statement, 1, data + at, 1 << 18)) fail("long data");
        executed(statement);
        mysql_stmt_close(statement);
        statement = prepared(db, "SELECT data FROM blobs WHERE id = ?");
        mysql_stmt_bind_param(statement, row);
        MYSQL_BIND got = {.buffer_type = MYSQL_TYPE_LONG_BLOB, .buffer = read, .buffer_length = size, .length = &read_size};
        mysql_stmt_bind_result(statement, &got);
        executed(statement);
        if (mysql_stmt_fetch(statement) || read_size != size || memcmp(read, data, size)) fail("%lu bytes differ", size);
        mysql_stmt_close(statement);
        free(data);
        free(read);
    }
    return 1;
}

static int streaming(MYSQL *db)
{
    run(db, "CREATE TABLE numbers (n INT PRIMARY KEY)");
    char *sql = allocated(NUMBERS * 10), *end = sql + sprintf(sql, "INSERT INTO numbers VALUES (0)");
    for (int number = 1; number < NUMBERS; number++) end += sprintf(end, ", (%d)", number);
    run(db, sql);
    free(sql);
    run(db, "SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 10 ORDER BY a.n");
    MYSQL_RES *result = mysql_use_result(db);
    int next = 0;
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL; next++)
        if (atoi(row[0]) != next / 10) fail("row %d differs", next);
    if (next != 10 * NUMBERS) fail("%d rows: %s", next, mysql_error(db));
    mysql_free_result(result);
    return 1;
}

static int cursors(MYSQL *db)
{
    MYSQL_STMT *statement = mysql_stmt_init(db);
    unsigned long kind = CURSOR_TYPE_READ_ONLY, rows = 100;
    mysql_stmt_attr_set(statement, STMT_ATTR_CURSOR_TYPE, &kind);
    mysql_stmt_attr_set(statement, STMT_ATTR_PREFETCH_ROWS, &rows);
    const char *sql = "SELECT n FROM numbers WHERE n < 2000 ORDER BY n";
    if (mysql_stmt_prepare(statement, sql, strlen(sql))) fail("cursor: %s", mysql_stmt_error(statement));
    executed(statement);
    int32_t number;
    MYSQL_BIND got = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &number};
    mysql_stmt_bind_result(statement, &got);
    for (int next = 0; next < 1000; next++)
        if (mysql_stmt_fetch(statement) || number != next) fail("row %d: %s", next, mysql_stmt_error(statement));
    // Closed half way.
    mysql_stmt_close(statement);
    ONE_ROW(db, "SELECT 1", "1");
    return 1;
}

// Each further result that has rows holds the next of these values. Returns how many there were.
static unsigned int rows_one_by_one(MYSQL *db, const char *const *wanted)
{
    unsigned int seen = 0;
    do {
        MYSQL_RES *result = mysql_store_result(db);
        if (result == NULL) continue;
        same_row(mysql_fetch_row(result), 1, &wanted[seen++]);
        mysql_free_result(result);
    } while (mysql_next_result(db) == 0);
    return seen;
}

static int several_statements(MYSQL *db)
{
    const char *const wanted[] = {"1", "2", "x"};
    run(db, "SELECT 1; SELECT 2; UPDATE people SET note = 'new'; SELECT 'x'");
    unsigned int seen = rows_one_by_one(db, wanted);
    if (seen != COUNT(wanted) || mysql_errno(db)) fail("%u results: %s", seen, mysql_error(db));
    // What fails in the middle ends the rest.
    run(db, "SELECT 1; SELEC 2; SELECT 3");
    mysql_free_result(mysql_store_result(db));
    if (mysql_next_result(db) <= 0 || mysql_errno(db) != 1064) fail("SELEC was taken");
    return 1;
}

static int procedures(MYSQL *db)
{
    const char *const wanted[] = {"21", "42"};
    run(db, "CREATE PROCEDURE twice(IN a INT, OUT b INT) BEGIN SELECT a; SELECT a * 2; SET b = a * 3; END");
    run(db, "CALL twice(21, @b)");
    unsigned int seen = rows_one_by_one(db, wanted);
    if (seen != COUNT(wanted)) fail("%u results", seen);
    ONE_ROW(db, "SELECT @b", "63");
    return 1;
}

static int session_state(MYSQL *db)
{
    run(db, "SET @number = 5");
    ONE_ROW(db, "SELECT @number", "5");
    if (mysql_select_db(db, "mysql")) fail("%s", mysql_error(db));
    ONE_ROW(db, "SELECT DATABASE()", "mysql");
    if (mysql_change_user(db, given("DB_USER"), given("DB_PASSWORD"), given("DB_SCHEMA"))) fail("%s", mysql_error(db));
    ONE_ROW(db, "SELECT @number, DATABASE()", NULL, given("DB_SCHEMA"));
    run(db, "SET @number = 6");
    if (mysql_reset_connection(db)) fail("%s", mysql_error(db));
    ONE_ROW(db, "SELECT @number", NULL);
    if (mysql_set_character_set(db, "utf8mb4") || mysql_ping(db)) fail("%s", mysql_error(db));
    return 1;
}

/// Ends what another connection runs, after a while.
static void *kill_statement(void *number)
{
    char sql[60];
    mysql_thread_init();
    usleep(300000);
    MYSQL *db = connected((struct way){0});
    sprintf(sql, "KILL QUERY %lu", *(unsigned long *)number);
    run(db, sql);
    mysql_close(db);
    mysql_thread_end();
    return NULL;
}

static int killed_statement(MYSQL *db)
{
    unsigned long number = mysql_thread_id(db);
    pthread_t killer;
    pthread_create(&killer, NULL, kill_statement, &number);
    refused(db, "SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9", 1317, "70100");
    pthread_join(killer, NULL);
    ONE_ROW(db, "SELECT 1", "1");
    return 1;
}

static int time_out(MYSQL *db)
{
    (void)db;
    time_t started = time(NULL);
    MYSQL *waiting = connected((struct way){.seconds = 1});
    if (!mysql_query(waiting, "SELECT SLEEP(20)") || time(NULL) - started > 10) fail("the statement was waited for");
    mysql_close(waiting);
    return 1;
}

static int killed_connection(MYSQL *db)
{
    MYSQL *other = connected((struct way){0});
    char sql[60];
    sprintf(sql, "KILL %lu", mysql_thread_id(other));
    run(db, sql);
    usleep(500000);
    if (!mysql_query(other, "SELECT 1")) fail("the connection outlived its end");
    my_bool yes = 1;
    mysql_options(other, MYSQL_OPT_RECONNECT, &yes);
    if (mysql_ping(other)) fail("%s", mysql_error(other));
    ONE_ROW(other, "SELECT COUNT(*) FROM numbers", "10000");
    mysql_close(other);
    return 1;
}

/// What shows that a connection of another kind carries everything.
static void exchange(struct way way)
{
    MYSQL *db = connected(way);
    run(db, "UPDATE people SET note = REPEAT('" "é🦀" "', 5000)");
    ONE_ROW(db, "SELECT CHAR_LENGTH(note) FROM people", "10000");
    refused(db, "INSERT INTO people (name) VALUES ('Ada')", 1062, "23000");
    MYSQL_STMT *statement = prepared(db, "SELECT n FROM numbers ORDER BY n");
    executed(statement);
    int32_t number;
    MYSQL_BIND got = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &number};
    mysql_stmt_bind_result(statement, &got);
    for (int next = 0; next < NUMBERS; next++)
        if (mysql_stmt_fetch(statement) || number != next) fail("row %d: %s", next, mysql_stmt_error(statement));
    mysql_stmt_close(statement);
    mysql_close(db);
}

static int tls(MYSQL *db)
{
    (void)db;
    if (given_is("DB_TLS", "0")) return puts("skip tls: DB_TLS is 0"), 0;
    exchange((struct way){.tls = 1});
    return 1;
}

static int compression(MYSQL *db)
{
    (void)db;
    if (!given_is("DB_COMPRESS", "1")) return puts("skip compression: DB_COMPRESS is not 1"), 0;
    exchange((struct way){.compressed = 1});
    if (!given_is("DB_TLS", "0")) exchange((struct way){.compressed = 1, .tls = 1});
    return 1;
}

static int connecting_again(MYSQL *db)
{
    (void)db;
    for (int number = 0; number < 10; number++) {
        MYSQL *other = connected((struct way){0});
        ONE_ROW(other, "SELECT DATABASE()", given("DB_SCHEMA"));
        mysql_close(other);
    }
    return 1;
}

static int a_wrong_password(MYSQL *db)
{
    (void)db;
    MYSQL *other = try_connect((struct way){.password = "wrong"});
    if (mysql_errno(other) != 1045 || strcmp(mysql_sqlstate(other), "28000"))
        fail("got %u %s", mysql_errno(other), mysql_error(other));
    mysql_close(other);
    return 1;
}

/// Each returns whether it ran.
static const struct {
    const char *name;
    int (*run)(MYSQL *);
} STEPS[] = {
    {"select", selects},
    {"generated_keys", generated_keys},
    {"batches", batches},
    {"transactions", transactions},
    {"own_writes", own_writes},
    {"types", types},
    {"prepared_statements", prepared_statements},
    {"errors", errors},
    {"unicode_text", unicode_text},
    {"large_rows", large_rows},
    {"streaming", streaming},
    {"cursors", cursors},
    {"several_statements", several_statements},
    {"procedures", procedures},
    {"session_state", session_state},
    {"killed_statement", killed_statement},
    {"time_out", time_out},
    {"killed_connection", killed_connection},
    {"tls", tls},
    {"compression", compression},
    {"connecting_again", connecting_again},
    {"a_wrong_password", a_wrong_password},
};

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    MYSQL *db = connected((struct way){0});
    for (size_t step = 0; step < COUNT(STEPS); step++)
        if (STEPS[step].run(db)) printf("ok %s\n", STEPS[step].name);
    mysql_close(db);
    return 0;
}
