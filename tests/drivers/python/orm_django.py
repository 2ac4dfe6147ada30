"""The steps of Django, on mysqlclient, which it recommends."""

import datetime
import decimal
import time

import django
from django.conf import settings

from connecting import HOST, PASSWORD, PORT, SCHEMA, TLS, USER

DATABASE = {"ENGINE": "django.db.backends.mysql", "HOST": HOST, "PORT": PORT, "USER": USER, "PASSWORD": PASSWORD,
            "NAME": SCHEMA, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
settings.configure(
    DATABASES={"default": DATABASE, "tls": {**DATABASE, "OPTIONS": {"ssl_mode": "REQUIRED"}}},
    INSTALLED_APPS=["django.contrib.contenttypes"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, ProgrammingError, connection, connections, models, transaction  # noqa: E402

TEXT = "Füße, 東京, 🦀, \\ ' \" % end"


class Person(models.Model):
    name = models.CharField(max_length=50, unique=True)
    born = models.DateField(null=True)
    seen = models.DateTimeField(null=True)
    money = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    details = models.JSONField(null=True)
    note = models.TextField(null=True)
    data = models.BinaryField(null=True)

    class Meta:
        app_label = "people"


class Pet(models.Model):
    name = models.CharField(max_length=50)
    owner = models.ForeignKey(Person, models.CASCADE)

    class Meta:
        app_label = "people"


def same(got, wanted):
    assert got == wanted, f"got {got!r:.500}, wanted {wanted!r:.500}"


def migrations():
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {SCHEMA} CHARACTER SET utf8mb4")
    call_command("migrate", verbosity=0)
    same(ContentType.objects.get_for_model(ContentType).model, "contenttype")
    with connection.schema_editor() as editor:
        editor.create_model(Person)
        editor.create_model(Pet)


def objects():
    seen = datetime.datetime(2026, 11, 30, 18, 45, 1, 123456, tzinfo=datetime.timezone.utc)
    person = Person.objects.create(name="Ada", born=datetime.date(1815, 12, 10), seen=seen, note=TEXT,
                                   money=decimal.Decimal("12.50"), details={"a": [1, None, "é🦀"]},
                                   data=bytes(range(256)) * 4096)
    same(person.id, 1)
    Pet.objects.create(name="Puff", owner=person)
    read = Person.objects.get(pk=person.id)
    same((read.born, read.seen, read.money, read.details, read.note, bytes(read.data)),
         (person.born, seen, person.money, person.details, TEXT, person.data))
    same(Pet.objects.filter(owner__details__a__0=1, name="Puff").select_related("owner").get().owner, person)
    same(Person.objects.filter(seen__year=2026).count(), 1)


def batches():
    Person.objects.bulk_create([Person(name=f"p{n}") for n in range(500)])
    same(Person.objects.count(), 501)
    people = list(Person.objects.filter(name__startswith="p"))
    for person in people:
        person.note = person.name
    same(Person.objects.bulk_update(people, ["note"], batch_size=250), 500)
    same(Person.objects.filter(note=models.F("name")).count(), 500)
    Person.objects.bulk_create([Person(name="Ada", note="new")], update_conflicts=True, update_fields=["note"])
    same(Person.objects.get(name="Ada").note, "new")


def transactions():
    try:
        with transaction.atomic():
            Person.objects.filter(name="Ada").update(note="lost")
            same(Person.objects.get(name="Ada").note, "lost")
            raise KeyError
    except KeyError:
        pass
    same(Person.objects.get(name="Ada").note, "new")
    with transaction.atomic():
        try:
            with transaction.atomic():
                Person.objects.create(name="Ada")
        except IntegrityError as error:
            same(error.args[0], 1062)
        else:
            raise AssertionError("a duplicate was taken")
        Person.objects.select_for_update().get(name="Ada")
        Person.objects.create(name="Bea")
    same(Person.objects.get_or_create(name="Bea")[1], False)


def own_writes():
    for number in range(30):
        Person.objects.filter(name="Ada").update(note=str(number))
        same(Person.objects.get(name="Ada").note, str(number))


def errors():
    with connection.cursor() as cursor:
        for sql, number in [("SELEC 1", 1064), ("SELECT * FROM nothing_of_that_name", 1146)]:
            try:
                cursor.execute(sql)
            except ProgrammingError as error:
                same(error.args[0], number)
            else:
                raise AssertionError(f"{sql} was not refused")


def streaming():
    same(sum(1 for _ in Person.objects.order_by("id").iterator(chunk_size=100)), 502)


def introspection():
    with connection.cursor() as cursor:
        same("people_person" in connection.introspection.table_names(cursor), True)
        same("name" in [column.name for column in connection.introspection.get_table_description(cursor, "people_person")],
             True)
        same(len(connection.introspection.get_relations(cursor, "people_pet")), 1)


def killed_connection():
    with connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        (number,) = cursor.fetchone()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute(f"KILL {number}")
    other.close()
    time.sleep(0.5)
    # As between two requests: a connection that is gone is replaced.
    connection.close_if_unusable_or_obsolete()
    same(Person.objects.count(), 502)


def tls():
    same(Person.objects.using("tls").count(), 502)
    Person.objects.using("tls").filter(name="Ada").update(note=TEXT)
    same(Person.objects.using("tls").get(name="Ada").note, TEXT)


STEPS = [migrations, objects, batches, transactions, own_writes, errors, streaming, introspection, killed_connection]
for step in STEPS + [tls] * TLS:
    step()
    print("ok", step.__name__, flush=True)
connections.close_all()
