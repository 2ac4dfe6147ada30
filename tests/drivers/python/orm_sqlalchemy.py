"""The steps of SQLAlchemy, on a driver that waits and on one that does not.

usage: orm_sqlalchemy.py pymysql|mysqlclient|asyncmy
"""

import asyncio
import datetime
import decimal
import sys
import time

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from connecting import HOST, PASSWORD, PORT, SCHEMA, TLS, USER, unverified

if len(sys.argv) != 2 or sys.argv[1] not in ("pymysql", "mysqlclient", "asyncmy"):
    sys.exit(__doc__)
NAME = sys.argv[1]
URL = sa.URL.create("mysql+mysqldb" if NAME == "mysqlclient" else f"mysql+{NAME}", USER, PASSWORD, HOST, PORT, SCHEMA)
TEXT = "Füße, 東京, 🦀, \\ ' \" % :a end"


class Base(orm.DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    __table_args__ = {"mysql_charset": "utf8mb4"}

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True)
    born: orm.Mapped[datetime.date | None]
    money: orm.Mapped[decimal.Decimal | None] = orm.mapped_column(sa.Numeric(10, 2))
    details: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)
    note: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    data: orm.Mapped[bytes | None] = orm.mapped_column(sa.LargeBinary(1 << 24))
    pets: orm.Mapped[list["Pet"]] = orm.relationship(back_populates="owner", cascade="all, delete-orphan")


class Pet(Base):
    __tablename__ = "pets"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50))
    owner_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("people.id"))
    owner: orm.Mapped[Person] = orm.relationship(back_populates="pets")


def same(got, wanted):
    assert got == wanted, f"got {got!r:.500}, wanted {wanted!r:.500}"


def ada(session):
    return session.scalars(sa.select(Person).where(Person.name == "Ada")).one()


def schema(session):
    Base.metadata.create_all(session.connection())
    session.commit()
    inspector = sa.inspect(session.connection())
    same(sorted(inspector.get_table_names()), ["people", "pets"])
    same(inspector.get_foreign_keys("pets")[0]["referred_table"], "people")
    same([column["name"] for column in inspector.get_columns("pets")], ["id", "name", "owner_id"])
    session.commit()


def objects(session):
    person = Person(name="Ada", born=datetime.date(1815, 12, 10), money=decimal.Decimal("12.50"),
                    details={"a": [1, None, "é🦀"]}, note=TEXT, data=bytes(range(256)) * 4096,
                    pets=[Pet(name="Puff"), Pet(name="Rex")])
    session.add(person)
    session.commit()
    same((person.id, [pet.owner_id for pet in person.pets]), (1, [1, 1]))
    session.expire_all()
    read = ada(session)
    same((read.born, read.money, read.details, read.note, read.data),
         (datetime.date(1815, 12, 10), decimal.Decimal("12.50"), {"a": [1, None, "é🦀"]}, TEXT, bytes(range(256)) * 4096))
    read.note = None
    del read.pets[0]
    session.commit()
    session.expire_all()
    read = session.scalars(sa.select(Person).options(orm.selectinload(Person.pets))).one()
    same((read.note, [pet.name for pet in read.pets]), (None, ["Rex"]))
    session.commit()


def batches(session):
    # Where the server has RETURNING, this uses it.
    session.add_all([Person(name=f"p{n}") for n in range(500)])
    session.commit()
    session.execute(sa.insert(Person), [{"name": f"q{n}"} for n in range(500)])
    same(session.scalar(sa.select(sa.func.count()).select_from(Person)), 1001)
    session.commit()


def upsert(session):
    statement = insert(Person).values(name="Ada", note="new")
    session.execute(statement.on_duplicate_key_update(note=statement.inserted.note))
    session.commit()
    same(ada(session).note, "new")
    session.commit()


def transactions(session):
    ada(session).note = "lost"
    session.flush()
    same(session.scalar(sa.text("SELECT note FROM people WHERE name = 'Ada'")), "lost")
    session.rollback()
    same(ada(session).note, "new")
    try:
        with session.begin_nested():
            session.add(Person(name="Ada"))
    except sa.exc.IntegrityError as error:
        same(error.orig.args[0], 1062)
    else:
        raise AssertionError("a duplicate was taken")
    session.add(Person(name="Bea"))
    session.commit()
    same(session.scalar(sa.select(sa.func.count()).select_from(Person)), 1002)
    same(session.scalars(sa.select(Person).where(Person.name == "Bea").with_for_update()).one().name, "Bea")
    session.commit()


def own_writes(session):
    for number in range(30):
        ada(session).note = str(number)
        session.commit()
        same(ada(session).note, str(number))
        session.commit()


def errors(session):
    for sql, number, kind in [("SELEC 1", 1064, sa.exc.ProgrammingError),
                              ("SELECT * FROM nothing_of_that_name", 1146, sa.exc.ProgrammingError)]:
        try:
            session.execute(sa.text(sql))
        except kind as error:
            same(error.orig.args[0], number)
        else:
            raise AssertionError(f"{sql} was not refused")
        session.rollback()


def isolation(session):
    connection = session.connection(execution_options={"isolation_level": "READ COMMITTED"})
    same(connection.get_isolation_level(), "READ COMMITTED")
    session.commit()


def streaming(session):
    rows = session.execute(sa.select(Person.id).order_by(Person.id), execution_options={"yield_per": 100})
    same(sum(1 for _ in rows), 1002)
    session.commit()


def killed_connection(session):
    engine = session.get_bind()
    number = session.scalar(sa.text("SELECT CONNECTION_ID()"))
    with engine.connect() as other:
        other.execute(sa.text(f"KILL {number}"))
    time.sleep(0.5)
    try:
        session.commit()
    except sa.exc.OperationalError:
        session.rollback()
    else:
        raise AssertionError("the connection outlived its end")
    # The pool looks whether a connection still lives before it hands it out.
    same(session.scalar(sa.text("SELECT COUNT(*) FROM people")), 1002)
    session.commit()


STEPS = [schema, objects, batches, upsert, transactions, own_writes, errors, isolation, streaming, killed_connection]


def all_steps(session):
    for step in STEPS:
        step(session)
        print("ok", step.__name__, flush=True)


def tls():
    """Another engine, which asks for TLS."""
    asked = {"pymysql": {"ssl": unverified()}, "asyncmy": {"ssl": unverified()}, "mysqlclient": {"ssl_mode": "REQUIRED"}}
    return {"connect_args": asked[NAME]}


def read(session):
    same(session.scalar(sa.select(sa.func.count()).select_from(Person)), 1002)
    print("ok tls", flush=True)


def main():
    engine = sa.create_engine(URL, pool_pre_ping=True)
    with orm.Session(engine) as session:
        all_steps(session)
    engine.dispose()
    if TLS:
        engine = sa.create_engine(URL, **tls())
        with orm.Session(engine) as session:
            read(session)
        engine.dispose()


async def main_async():
    engine = create_async_engine(URL, pool_pre_ping=True)
    async with AsyncSession(engine) as session:
        await session.run_sync(all_steps)
    await engine.dispose()
    if TLS:
        engine = create_async_engine(URL, **tls())
        async with AsyncSession(engine) as session:
            await session.run_sync(read)
        await engine.dispose()


asyncio.run(main_async()) if NAME == "asyncmy" else main()
