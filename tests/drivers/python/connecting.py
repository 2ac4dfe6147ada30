"""How each Python driver connects, and what it offers beyond DB-API 2."""

import asyncio
import inspect
import os
import ssl

HOST = os.environ["DB_HOST"]
PORT = int(os.environ["DB_PORT"])
USER = os.environ["DB_USER"]
PASSWORD = os.environ["DB_PASSWORD"]
SCHEMA = os.environ["DB_SCHEMA"]
TLS = os.environ.get("DB_TLS") != "0"
LEFT_OUT = os.environ.get("DB_LEAVE_OUT", "").split()
COMPRESS = os.environ.get("DB_COMPRESS") == "1"


def unverified():
    """TLS that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Driver:
    """A driver with its defaults; the classes below say where one differs."""

    prepares = False  # Whether cursors can prepare on the server.
    tells_state = False  # Whether its errors carry an SQLSTATE.
    compressed = None  # What asks for compression, if it can be had.
    several = {}  # What allows several statements in one text.
    time_out = {"read_timeout": 1}  # What bounds the wait for an answer.
    ways = {"tls": {"ssl": unverified()}}  # Ways to connect other than by default.

    def connect(self, **more):
        return self.module.connect(**{"host": HOST, "port": PORT, "user": USER, "password": PASSWORD,
                                      "database": SCHEMA, **more})

    def autocommit(self, connection):
        connection.autocommit(True)

    def streaming(self, connection):
        return connection.cursor(self.stream)

    def state(self, error):
        return None

    def again(self, connection):
        """The connection after it was lost, or a new one in its place."""
        connection.ping(True)
        return connection


class PyMySql(Driver):
    def __init__(self):
        import pymysql as module
        from pymysql.constants import CLIENT
        from pymysql.cursors import SSCursor
        self.module, self.stream = module, SSCursor
        self.several = {"client_flag": CLIENT.MULTI_STATEMENTS}


class MySqlClient(Driver):
    compressed = {"compress": True}
    ways = {"tls": {"ssl_mode": "REQUIRED"}, "without_tls": {"ssl_mode": "DISABLED"}}

    def __init__(self):
        import MySQLdb as module
        from MySQLdb.cursors import SSCursor
        self.module, self.stream = module, SSCursor

    def again(self, connection):
        return self.connect()


class Connector(Driver):
    """MySQL's own: with its extension in C, which is MySQL's libmysqlclient, or in Python alone."""

    prepares = True
    tells_state = True
    compressed = {"compress": True}
    time_out = {"read_timeout": 1}
    # It uses TLS wherever the server has it, and never verifies by default.
    ways = {"tls": {"tls_versions": ["TLSv1.3"]}, "without_tls": {"ssl_disabled": True}}

    def __init__(self, pure):
        import mysql.connector as module
        self.module, self.pure = module, pure

    def connect(self, **more):
        return super().connect(**({"use_pure": True} | more if self.pure else more))

    def autocommit(self, connection):
        connection.autocommit = True

    def streaming(self, connection):
        return connection.cursor(buffered=False)

    def prepared(self, connection):
        return connection.cursor(prepared=True)

    def state(self, error):
        return error.sqlstate

    def again(self, connection):
        connection.ping(reconnect=True)
        connection.reset_session()
        connection.reconnect()
        return connection


class MariaDb(Driver):
    """MariaDB's own, on its client library in C."""

    prepares = True
    tells_state = True
    compressed = {"compress": True}
    ways = {"tls": {"ssl": True, "ssl_verify_cert": False}}

    def __init__(self):
        import mariadb as module
        from mariadb.constants import CLIENT
        self.module = module
        self.several = {"client_flag": CLIENT.MULTI_STATEMENTS}

    def autocommit(self, connection):
        connection.autocommit = True

    def streaming(self, connection):
        return connection.cursor(buffered=False)

    def prepared(self, connection):
        return connection.cursor(binary=True)

    def state(self, error):
        return error.sqlstate

    def again(self, connection):
        connection.reconnect()
        return connection


LOOP = asyncio.new_event_loop()


class Waiting:
    """An asynchronous connection or cursor whose calls wait for their end, so that it has the same steps as the others."""

    def __init__(self, of):
        self._of = of

    def __getattr__(self, name):
        value = getattr(self._of, name)
        return (lambda *args, **more: self._waited(value(*args, **more))) if callable(value) else value

    def __iter__(self):
        while (row := self.fetchone()) is not None:
            yield row

    def _waited(self, value):
        if inspect.isawaitable(value):
            async def wait():
                return await value
            value = LOOP.run_until_complete(wait())
        return Waiting(value) if hasattr(value, "fetchone") else value


class Asyncmy(Driver):
    """The one for asyncio."""

    time_out = None  # What bounds it is asyncio's.

    def __init__(self):
        import asyncmy as module
        from asyncmy.constants import CLIENT
        from asyncmy.cursors import SSCursor
        from asyncmy import errors
        self.module, self.stream = module, SSCursor
        self.module.Error = errors.Error
        self.several = {"client_flag": CLIENT.MULTI_STATEMENTS}

    def connect(self, **more):
        given = {"host": HOST, "port": PORT, "user": USER, "password": PASSWORD, "db": SCHEMA}
        return Waiting(LOOP.run_until_complete(self.connected({**given, **more})))

    async def connected(self, options):
        return await self.module.connect(**options)


DRIVERS = {
    "pymysql": PyMySql,
    "mysqlclient": MySqlClient,
    "connector": lambda: Connector(pure=False),
    "connector_pure": lambda: Connector(pure=True),
    "mariadb": MariaDb,
    "asyncmy": Asyncmy,
}
