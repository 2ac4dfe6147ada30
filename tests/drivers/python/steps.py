"""The steps of the Python drivers, which share an interface (DB-API 2).

usage: steps.py pymysql|mysqlclient|connector|connector_pure|mariadb|asyncmy
"""

import asyncio
import datetime
import decimal
import json
import sys
import threading
import time

from connecting import COMPRESS, DRIVERS, LEFT_OUT, LOOP, PASSWORD, SCHEMA, TLS, USER

if len(sys.argv) != 2 or sys.argv[1] not in DRIVERS:
    sys.exit(__doc__)
NAME = sys.argv[1]
DRIVER = DRIVERS[NAME]()
Error = DRIVER.module.Error
TEXT = "Füße, 東京, 🦀, \\ ' \" \0 end"

STEPS = []


def step(function):
    STEPS.append(function)
    return function


class Skipped(Exception):
    """A step that the driver cannot do, and why."""


def run(connection, sql, parameters=None):
    cursor = connection.cursor()
    try:
        cursor.execute(sql, parameters)
        rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        return rows, cursor.rowcount, cursor.lastrowid
    finally:
        cursor.close()


def rows(connection, sql, parameters=None):
    return run(connection, sql, parameters)[0]


def same(got, wanted):
    assert got == wanted, f"got {got!r:.500}, wanted {wanted!r:.500}"


def code(error):
    return error.errno if hasattr(error, "errno") else error.args[0]


def refused(wanted, state, connection, sql, parameters=None):
    try:
        run(connection, sql, parameters)
    except Error as error:
        same(code(error), wanted)
        if DRIVER.tells_state:
            same(DRIVER.state(error), state)
        return
    raise AssertionError(f"{sql} was not refused")


def lost(connection):
    """Whether a statement finds that the connection is gone, as the driver tells it."""
    try:
        run(connection, "SELECT 1")
    except (Error, ConnectionError):
        return True
    return False


@step
def select(connection):
    same(rows(connection, "SELECT 1 + 1, 'a', NULL"), [(2, "a", None)])
    same(rows(connection, "SELECT %s, %s", (7, "it's")), [(7, "it's")])


@step
def generated_keys(connection):
    run(connection, "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, born DATE,"
        " money DECIMAL(10,2), note TEXT) DEFAULT CHARSET utf8mb4")
    row = ("Ada", datetime.date(1815, 12, 10), decimal.Decimal("12.50"), None)
    _, affected, last_id = run(connection, "INSERT INTO people (name, born, money, note) VALUES (%s, %s, %s, %s)", row)
    same((affected, last_id), (1, 1))
    connection.commit()
    same(rows(connection, "SELECT name, born, money, note FROM people WHERE id = %s", (last_id,)), [row])
    connection.commit()


@step
def batches(connection):
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO people (name) VALUES (%s)", [(f"p{n}",) for n in range(500)])
    same(cursor.rowcount, 500)
    cursor.close()
    connection.commit()
    same(rows(connection, "SELECT COUNT(*) FROM people"), [(501,)])
    connection.commit()


@step
def transactions(connection):
    note = "SELECT note FROM people WHERE name = 'Ada'"
    run(connection, "UPDATE people SET note = 'lost' WHERE name = 'Ada'")
    same(rows(connection, note), [("lost",)])
    connection.rollback()
    same(rows(connection, note), [(None,)])
    run(connection, "UPDATE people SET note = 'kept' WHERE name = 'Ada'")
    run(connection, "SAVEPOINT half")
    run(connection, "UPDATE people SET note = 'lost' WHERE name = 'Ada'")
    run(connection, "ROLLBACK TO SAVEPOINT half")
    connection.commit()
    same(rows(connection, note), [("kept",)])
    connection.commit()


@step
def own_writes(connection):
    DRIVER.autocommit(connection)
    other = DRIVER.connect()
    DRIVER.autocommit(other)
    for number in range(50):
        run(connection, "UPDATE people SET note = %s WHERE name = 'Ada'", (str(number),))
        for reader in (connection, other):
            same(rows(reader, "SELECT note FROM people WHERE name = 'Ada'"), [(str(number),)])
    other.close()


KINDS = ("CREATE TABLE kinds (id INT PRIMARY KEY, low INT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4),"
         " day DATE, moment DATETIME(6), span TIME(3), code VARBINARY(20), name VARCHAR(50), doc JSON, choice ENUM('a','b'))"
         " DEFAULT CHARSET utf8mb4")
KIND = (1, -(2**31), 2**64 - 1, 1.5e100, decimal.Decimal("-1234567890123456.7891"), datetime.date(1815, 12, 10),
        datetime.datetime(2026, 11, 30, 18, 45, 1, 123456), datetime.timedelta(hours=23, seconds=5, milliseconds=250),
        bytes([0, 255, 39, 92, 10]), "é🦀", '{"a": [1, null]}', "b")
NO_KIND = (2,) + (None,) * 11


def as_inserted(row):
    """A row of `kinds`, without what drivers see differently."""
    row = [bytes(value) if isinstance(value, bytearray) else value for value in row]
    if row[10] is not None:
        row[10] = json.dumps(json.loads(row[10]))
    return tuple(row)


@step
def types(connection):
    run(connection, KINDS)
    marks = ", ".join(["%s"] * 12)
    ways = [connection.cursor] + ([lambda: DRIVER.prepared(connection)] if DRIVER.prepares else [])
    for write in ways:
        run(connection, "DELETE FROM kinds")
        for row in (KIND, NO_KIND):
            cursor = write()
            cursor.execute(f"INSERT INTO kinds VALUES ({marks})", row)
            cursor.close()
        for read in ways:
            cursor = read()
            cursor.execute("SELECT * FROM kinds WHERE id < %s ORDER BY id", (3,))
            same([as_inserted(row) for row in cursor.fetchall()], [KIND, NO_KIND])
            cursor.close()


@step
def prepared_statements(connection):
    if not DRIVER.prepares:
        raise Skipped("the driver prepares nothing on the server")
    cursor = DRIVER.prepared(connection)
    for number in range(20):
        cursor.execute("SELECT %s + 1, %s, %s", (number, "é🦀", None))
        same([tuple(row) for row in cursor.fetchall()], [(number + 1, "é🦀", None)])
    cursor.close()
    run(connection, "CREATE TABLE prepared (id INT PRIMARY KEY, data LONGBLOB)")
    cursor = DRIVER.prepared(connection)
    for number in range(20):
        cursor.execute("INSERT INTO prepared VALUES (%s, %s)", (number, bytes([number]) * 1000))
        same(cursor.rowcount, 1)
    cursor.close()
    cursor = DRIVER.prepared(connection)
    cursor.execute("SELECT id, data FROM prepared WHERE id >= %s ORDER BY id", (0,))
    same([(id, bytes(data)) for id, data in cursor.fetchall()],
         [(number, bytes([number]) * 1000) for number in range(20)])
    cursor.close()


@step
def errors(connection):
    refused(1062, "23000", connection, "INSERT INTO people (name) VALUES ('Ada')")
    refused(1064, "42000", connection, "SELEC 1")
    refused(1146, "42S02", connection, "SELECT * FROM nothing_of_that_name")
    same(rows(connection, "SELECT 1"), [(1,)])


@step
def unicode_text(connection):
    run(connection, "UPDATE people SET note = %s WHERE name = 'Ada'", (TEXT,))
    same(rows(connection, "SELECT note, CHAR_LENGTH(note) FROM people WHERE name = 'Ada'"), [(TEXT, len(TEXT))])


@step
def large_rows(connection):
    run(connection, "CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)")
    ((most,),) = rows(connection, "SELECT @@max_allowed_packet")
    # A packet holds 16 MiB less a byte, and what is longer takes several; asyncmy reads of those only the first.
    sizes = [1 << 20] + ([17 << 20] if most > 40 << 20 and NAME != "asyncmy" else [])
    for number, size in enumerate(sizes):
        data = bytes(range(256)) * (size // 256)
        run(connection, "INSERT INTO blobs VALUES (%s, %s)", (number, data))
        same(rows(connection, "SELECT data FROM blobs WHERE id = %s", (number,)), [(data,)])
    text = "x" * sizes[-1]
    same(rows(connection, "SELECT %s", (text,)), [(text,)])


@step
def streaming(connection):
    run(connection, "CREATE TABLE numbers (n INT PRIMARY KEY)")
    run(connection, "INSERT INTO numbers VALUES " + ", ".join(f"({n})" for n in range(10000)))
    cursor = DRIVER.streaming(connection)
    cursor.execute("SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 5 ORDER BY a.n")
    same([n for (n,) in cursor], [n for n in range(10000) for _ in range(5)])
    cursor.close()
    if NAME == "pymysql" or NAME == "mysqlclient":
        cursor = DRIVER.streaming(connection)
        cursor.execute("SELECT n FROM numbers ORDER BY n")
        same(tuple(cursor.fetchone()), (0,))
        cursor.close()  # What is left is read and thrown away.
    same(rows(connection, "SELECT 1"), [(1,)])


@step
def several_statements(_):
    several = DRIVER.connect(**DRIVER.several)
    cursor = several.cursor()
    cursor.execute("SELECT 1; SELECT 2, 3; SELECT 'x'")
    results = [[tuple(row) for row in cursor.fetchall()]]
    while cursor.nextset():
        results.append([tuple(row) for row in cursor.fetchall()])
    same(results, [[(1,)], [(2, 3)], [("x",)]])
    several.close()


@step
def procedures(connection):
    run(connection, "CREATE PROCEDURE twice(IN a INT) BEGIN SELECT a; SELECT a * 2; END")
    cursor = connection.cursor()
    cursor.callproc("twice", (21,))
    if NAME.startswith("connector"):
        results = [list(result.fetchall()) for result in cursor.stored_results()]
    else:
        results = [list(cursor.fetchall())]
        while cursor.nextset():
            if cursor.description:
                results.append(list(cursor.fetchall()))
    same([[tuple(row) for row in result] for result in results], [[(21,)], [(42,)]])
    cursor.close()


@step
def session_state(connection):
    run(connection, "SET @number = 5")
    same(rows(connection, "SELECT @number"), [(5,)])
    run(connection, "SET SESSION sql_mode = 'ANSI_QUOTES'")
    same(rows(connection, 'SELECT "n" FROM numbers WHERE n = 3'), [(3,)])
    run(connection, "SET SESSION sql_mode = DEFAULT")
    run(connection, "CREATE TEMPORARY TABLE mine (n INT)")
    run(connection, "INSERT INTO mine VALUES (1), (2)")
    same(rows(connection, "SELECT SUM(n) FROM mine")[0][0], 3)
    run(connection, "DROP TEMPORARY TABLE mine")
    run(connection, "USE mysql")
    same(rows(connection, "SELECT DATABASE()"), [("mysql",)])
    run(connection, f"USE {SCHEMA}")


@step
def killed_statement(connection):
    ((number,),) = rows(connection, "SELECT CONNECTION_ID()")
    killer = threading.Timer(0.3, kill, (number,))
    killer.start()
    refused(1317, "70100", connection, "SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9")
    killer.join()
    same(rows(connection, "SELECT 1"), [(1,)])


def kill(number):
    """Ends what a connection runs, by another one: of PyMySQL, since a loop of asyncio belongs to one thread."""
    other = DRIVERS["pymysql"]().connect()
    run(other, f"KILL QUERY {number}")
    other.close()


@step
def time_out(_):
    started = time.monotonic()
    if DRIVER.time_out is None:
        waiting = DRIVER.connect()

        async def wait():
            cursor = waiting._of.cursor()
            await asyncio.wait_for((await cursor if hasattr(cursor, "__await__") else cursor).execute("SELECT SLEEP(20)"), 1)

        try:
            LOOP.run_until_complete(wait())
        except (TimeoutError, asyncio.TimeoutError):
            pass
        else:
            raise AssertionError("the statement was waited for")
    else:
        waiting = DRIVER.connect(**DRIVER.time_out)
        try:
            run(waiting, "SELECT SLEEP(20)")
        except Error:
            pass
        else:
            raise AssertionError("the statement was waited for")
    waiting.close()
    assert time.monotonic() - started < 10, "the statement was waited for"


@step
def killed_connection(connection):
    other = DRIVER.connect()
    ((number,),) = rows(other, "SELECT CONNECTION_ID()")
    run(connection, f"KILL {number}")
    for _ in range(50):  # The server takes a moment.
        if lost(other):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the connection outlived its end")
    other = DRIVER.again(other)
    same(rows(other, "SELECT COUNT(*) FROM numbers"), [(10000,)])
    other.close()


def exchange(**more):
    """What shows that a connection of another kind carries everything."""
    other = DRIVER.connect(**more)
    DRIVER.autocommit(other)
    text = TEXT * 1000
    run(other, "UPDATE people SET note = %s WHERE name = 'Ada'", (text,))
    same(rows(other, "SELECT note FROM people WHERE name = 'Ada'"), [(text,)])
    refused(1062, "23000", other, "INSERT INTO people (name) VALUES ('Ada')")
    same(rows(other, "SELECT n FROM numbers ORDER BY n"), [(n,) for n in range(10000)])
    other.close()


@step
def tls(_):
    if not TLS:
        raise Skipped("DB_TLS is 0")
    for way, options in DRIVER.ways.items():
        try:
            exchange(**options)
        except Exception as error:
            raise AssertionError(f"{way}: {error}") from error


@step
def compression(_):
    if DRIVER.compressed is None:
        raise Skipped("the driver has none")
    if not COMPRESS:
        raise Skipped("DB_COMPRESS is not 1")
    exchange(**DRIVER.compressed)
    exchange(**DRIVER.compressed, **DRIVER.ways["tls"])


@step
def connecting_again(connection):
    if NAME == "pymysql":
        connection.close()
        connection.ping(reconnect=True)
    elif NAME == "mysqlclient":
        connection.ping()
        connection.change_user(USER, PASSWORD, SCHEMA)
    elif NAME == "mariadb":
        connection.ping()
        connection.change_user(USER, PASSWORD, SCHEMA)
        connection.reset()
    else:
        DRIVER.again(connection)
    same(rows(connection, "SELECT COUNT(*) FROM numbers"), [(10000,)])
    for _ in range(5):
        other = DRIVER.connect()
        same(rows(other, "SELECT DATABASE()"), [(SCHEMA,)])
        other.close()


@step
def a_wrong_password(_):
    try:
        DRIVER.connect(password="wrong")
    except Error as error:
        same(code(error), 1045)
        return
    raise AssertionError("a wrong password was taken")


connection = DRIVER.connect()
for function in STEPS:
    try:
        if function.__name__ in LEFT_OUT:
            raise Skipped("left out")
        function(connection)
        print("ok", function.__name__, flush=True)
    except Skipped as why:
        print(f"skip {function.__name__}: {why}", flush=True)
connection.close()
