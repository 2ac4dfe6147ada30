"""The steps of the Python drivers: PyMySQL, mysql-connector-python and mysqlclient, which share an interface (DB-API 2).

usage: steps.py pymysql|connector|mysqlclient
"""

import datetime
import decimal
import os
import sys

HOST = os.environ["DB_HOST"]
PORT = int(os.environ["DB_PORT"])
USER = os.environ["DB_USER"]
PASSWORD = os.environ["DB_PASSWORD"]
SCHEMA = os.environ["DB_SCHEMA"]
DRIVER = sys.argv[1]

if DRIVER == "pymysql":
    import pymysql as driver

    def connect(**more):
        return driver.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=SCHEMA, **more)

elif DRIVER == "connector":
    import mysql.connector as driver

    def connect(**more):
        return driver.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=SCHEMA, **more)

elif DRIVER == "mysqlclient":
    import MySQLdb as driver

    def connect(**more):
        return driver.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=SCHEMA, **more)

else:
    sys.exit(__doc__)

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def run(connection, sql, parameters=None):
    cursor = connection.cursor()
    cursor.execute(sql, parameters)
    rows = list(cursor.fetchall()) if cursor.description else []
    affected, last_id = cursor.rowcount, cursor.lastrowid
    cursor.close()
    return rows, affected, last_id


def same(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def refused(code, state, connection, sql, parameters=None):
    try:
        run(connection, sql, parameters)
    except driver.Error as error:
        same(error.args[0], code)
        if DRIVER == "connector":
            same(error.sqlstate, state)
        return
    raise AssertionError(f"{sql} was not refused")


@step
def select(connection):
    same(run(connection, "SELECT 1 + 1, 'a', NULL")[0], [(2, "a", None)])
    same(run(connection, "SELECT %s, %s", (7, "it's"))[0], [(7, "it's")])


@step
def insert_and_last_id(connection):
    run(connection, "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, born DATE,"
        " money DECIMAL(10,2), note TEXT) DEFAULT CHARSET utf8mb4")
    row = ("Ada", datetime.date(1815, 12, 10), decimal.Decimal("12.50"), None)
    _, affected, last_id = run(connection, "INSERT INTO people (name, born, money, note) VALUES (%s, %s, %s, %s)", row)
    same((affected, last_id), (1, 1))
    connection.commit()
    same(run(connection, "SELECT name, born, money, note FROM people WHERE id = %s", (last_id,))[0], [row])
    connection.commit()


@step
def many_at_once(connection):
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO people (name) VALUES (%s)", [(f"p{n}",) for n in range(500)])
    same(cursor.rowcount, 500)
    connection.commit()
    same(run(connection, "SELECT COUNT(*) FROM people")[0], [(501,)])
    connection.commit()


@step
def transactions(connection):
    run(connection, "UPDATE people SET note = 'lost' WHERE name = 'Ada'")
    same(run(connection, "SELECT note FROM people WHERE name = 'Ada'")[0], [("lost",)])
    connection.rollback()
    same(run(connection, "SELECT note FROM people WHERE name = 'Ada'")[0], [(None,)])
    run(connection, "UPDATE people SET note = 'kept' WHERE name = 'Ada'")
    connection.commit()
    same(run(connection, "SELECT note FROM people WHERE name = 'Ada'")[0], [("kept",)])
    connection.commit()


@step
def autocommit(connection):
    connection.autocommit(True) if DRIVER != "connector" else setattr(connection, "autocommit", True)
    for number in range(50):
        run(connection, "UPDATE people SET note = %s WHERE name = 'Ada'", (str(number),))
        same(run(connection, "SELECT note FROM people WHERE name = 'Ada'")[0], [(str(number),)])


@step
def errors(connection):
    refused(1062, "23000", connection, "INSERT INTO people (name) VALUES ('Ada')")
    refused(1064, "42000", connection, "SELEC 1")
    refused(1146, "42S02", connection, "SELECT * FROM nothing_of_that_name")
    same(run(connection, "SELECT 1")[0], [(1,)])


@step
def unicode_text(connection):
    text = "Füße, 東京, 🦀, \\ ' \" \0 end"
    run(connection, "UPDATE people SET note = %s WHERE name = 'Ada'", (text,))
    same(run(connection, "SELECT note, CHAR_LENGTH(note) FROM people WHERE name = 'Ada'")[0], [(text, len(text))])


@step
def a_large_row(connection):
    run(connection, "CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)")
    data = bytes(range(256)) * 4096
    run(connection, "INSERT INTO blobs VALUES (1, %s)", (data,))
    same(run(connection, "SELECT data FROM blobs WHERE id = 1")[0], [(data,)])
    text = "x" * (1 << 20)
    same(run(connection, "SELECT %s", (text,))[0], [(text,)])


@step
def many_rows(connection):
    run(connection, "CREATE TABLE numbers (n INT PRIMARY KEY)")
    run(connection, "INSERT INTO numbers VALUES " + ", ".join(f"({n})" for n in range(10000)))
    if DRIVER == "pymysql":
        from pymysql.cursors import SSCursor
        cursor = connection.cursor(SSCursor)
    elif DRIVER == "mysqlclient":
        from MySQLdb.cursors import SSCursor
        cursor = connection.cursor(SSCursor)
    else:
        cursor = connection.cursor(buffered=False)
    cursor.execute("SELECT n FROM numbers ORDER BY n")
    same([n for (n,) in cursor], list(range(10000)))
    cursor.close()


@step
def server_side_statements(connection):
    if DRIVER != "connector":
        return  # The others have none.
    cursor = connection.cursor(prepared=True)
    for number in range(20):
        cursor.execute("SELECT %s + 1, %s, %s", (number, "é🦀", None))
        same(list(cursor.fetchall()), [(number + 1, "é🦀", None)])
    cursor.close()
    cursor = connection.cursor(prepared=True)
    for number in range(20):
        cursor.execute("INSERT INTO blobs VALUES (%s, %s)", (100 + number, bytes([number]) * 1000))
        same(cursor.rowcount, 1)
    cursor.close()
    cursor = connection.cursor(prepared=True)
    cursor.execute("SELECT id, data FROM blobs WHERE id >= %s ORDER BY id", (100,))
    same([(id, bytes(data)) for id, data in cursor.fetchall()],
         [(100 + number, bytes([number]) * 1000) for number in range(20)])
    cursor.close()


@step
def several_statements(connection):
    if DRIVER == "pymysql":
        from pymysql.constants import CLIENT
        several = connect(client_flag=CLIENT.MULTI_STATEMENTS)
    else:
        several = connect()
    cursor = several.cursor()
    cursor.execute("SELECT 1; SELECT 2, 3; SELECT 'x'")
    results = [list(cursor.fetchall())]
    while cursor.nextset():
        results.append(list(cursor.fetchall()))
    same(results, [[(1,)], [(2, 3)], [("x",)]])
    several.close()


@step
def procedures(connection):
    run(connection, "CREATE PROCEDURE twice(IN a INT) BEGIN SELECT a; SELECT a * 2; END")
    cursor = connection.cursor()
    cursor.callproc("twice", (21,))
    if DRIVER == "connector":
        results = [list(result.fetchall()) for result in cursor.stored_results()]
    else:
        results = [list(cursor.fetchall())]
        while cursor.nextset():
            if cursor.description:
                results.append(list(cursor.fetchall()))
    same(results, [[(21,)], [(42,)]])
    cursor.close()


@step
def session_state(connection):
    run(connection, "SET @number = 5")
    same(run(connection, "SELECT @number")[0], [(5,)])
    run(connection, "SET SESSION sql_mode = 'ANSI_QUOTES'")
    same(run(connection, 'SELECT "n" FROM numbers WHERE n = 3')[0], [(3,)])
    run(connection, "SET SESSION sql_mode = DEFAULT")
    run(connection, "CREATE TEMPORARY TABLE mine (n INT)")
    run(connection, "INSERT INTO mine VALUES (1), (2)")
    same(run(connection, "SELECT SUM(n) FROM mine")[0][0][0], 3)
    run(connection, "DROP TEMPORARY TABLE mine")
    run(connection, "USE mysql")
    same(run(connection, "SELECT DATABASE()")[0], [("mysql",)])
    run(connection, f"USE {SCHEMA}")


@step
def connecting_again(connection):
    if DRIVER == "connector":
        connection.ping(reconnect=True)
        connection.reset_session()
        connection.reconnect()
    elif DRIVER == "pymysql":
        connection.close()
        connection.ping(reconnect=True)
    else:
        connection.ping()
        connection.change_user(USER, PASSWORD, SCHEMA)
    same(run(connection, "SELECT COUNT(*) FROM numbers")[0], [(10000,)])
    for _ in range(20):
        other = connect()
        same(run(other, "SELECT DATABASE()")[0], [(SCHEMA,)])
        other.close()


@step
def a_wrong_password(_):
    try:
        driver.connect(host=HOST, port=PORT, user=USER, password="wrong", database=SCHEMA)
    except driver.Error as error:
        same(error.args[0], 1045)
        return
    raise AssertionError("a wrong password was taken")


connection = connect()
for function in STEPS:
    function(connection)
    print("ok", function.__name__, flush=True)
connection.close()
