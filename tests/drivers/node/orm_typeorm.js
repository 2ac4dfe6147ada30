// The steps of TypeORM, on mysql2: orm_typeorm.js mysql|mariadb (the family of the server).

require("reflect-metadata");
const { DataSource, EntitySchema } = require("typeorm");
const { assert, where, TLS, TEXT, sleep, Skipped, runAll, main } = require("./connecting");

const Person = new EntitySchema({
  name: "Person",
  tableName: "people",
  columns: {
    id: { type: Number, primary: true, generated: true },
    name: { type: String, length: 50, unique: true },
    born: { type: "date", nullable: true },
    seen: { type: "datetime", precision: 3, nullable: true },
    money: { type: "decimal", precision: 10, scale: 2, nullable: true },
    details: { type: "json", nullable: true },
    note: { type: "text", nullable: true },
    data: { type: "longblob", nullable: true },
  },
  relations: { pets: { type: "one-to-many", target: "Pet", inverseSide: "owner", cascade: true } },
});
const Pet = new EntitySchema({
  name: "Pet",
  tableName: "pets",
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, length: 50 } },
  relations: { owner: { type: "many-to-one", target: "Person", inverseSide: "pets", onDelete: "CASCADE" } },
});

function open(more = {}) {
  const { user: username, ...rest } = where;
  return new DataSource({ type: process.argv[2], username, ...rest, charset: "utf8mb4", entities: [Person, Pet], ...more }).initialize();
}

let db;
let people;
const ada = () => people.findOneByOrFail({ name: "Ada" });

async function refused(code, state, attempt) {
  await assert.rejects(attempt, (error) => {
    assert.deepStrictEqual([error.driverError.errno, error.driverError.sqlState], [code, state]);
    return true;
  });
}

const steps = {
  async schema() {
    const plain = await open();
    await plain.query(`ALTER DATABASE ${where.database} CHARACTER SET utf8mb4`);
    await plain.destroy();
    db = await open({ synchronize: true });
    people = db.getRepository("Person");
    // What is there already is read back from the server's catalogue, and found to be right.
    assert.deepStrictEqual((await db.driver.createSchemaBuilder().log()).upQueries, []);
  },

  async objects() {
    const data = Buffer.alloc(1 << 20, "0123456789abcdef");
    const seen = new Date(2026, 10, 30, 18, 45, 1, 123);
    const given = { name: "Ada", born: "1815-12-10", seen, money: "12.50", details: { a: [1, null] }, note: TEXT, data };
    const person = await people.save({ ...given, pets: [{ name: "Puff" }, { name: "Rex" }] });
    assert.strictEqual(person.id, 1);
    const read = await people.findOneOrFail({ where: { id: 1 }, relations: { pets: true } });
    assert.deepStrictEqual(read.pets.map((pet) => pet.name).sort(), ["Puff", "Rex"]);
    for (const [name, value] of Object.entries(given)) assert.deepStrictEqual(read[name], value);
    await people.update({ name: "Ada" }, { note: null });
    assert.strictEqual((await ada()).note, null);
  },

  async batches() {
    const result = await people.insert(Array.from({ length: 500 }, (_, n) => ({ name: `p${n}` })));
    assert.strictEqual(result.identifiers.length, 500);
    assert.strictEqual(await people.count(), 501);
    await people.upsert({ name: "Ada", note: "new" }, ["name"]);
    assert.strictEqual((await ada()).note, "new");
  },

  async transactions() {
    await assert.rejects(
      db.transaction(async (inside) => {
        await inside.update("Person", { name: "Ada" }, { note: "lost" });
        const read = await inside.findOneOrFail("Person", { where: { name: "Ada" }, lock: { mode: "pessimistic_write" } });
        assert.strictEqual(read.note, "lost");
        throw new Error("no");
      }),
      { message: "no" }
    );
    assert.strictEqual((await ada()).note, "new");
    await db.transaction("READ COMMITTED", async (inside) => {
      await inside.insert("Person", { name: "Bea" });
      // A transaction in a transaction is a savepoint.
      await assert.rejects(
        inside.transaction(async (nested) => {
          await nested.update("Person", { name: "Bea" }, { note: "lost" });
          throw new Error("no");
        })
      );
    });
    assert.strictEqual((await people.findOneByOrFail({ name: "Bea" })).note, null);
  },

  async ownWrites() {
    for (let number = 0; number < 30; number++) {
      await people.update({ name: "Ada" }, { note: `${number}` });
      assert.strictEqual((await ada()).note, `${number}`);
    }
  },

  async errors() {
    await refused(1062, "23000", people.insert({ name: "Ada" }));
    await refused(1064, "42000", db.query("SELEC 1"));
    await refused(1146, "42S02", db.query("SELECT * FROM nothing_of_that_name"));
  },

  async streaming() {
    let count = 0;
    const stream = await people.createQueryBuilder("person").orderBy("person.id").stream();
    for await (const row of stream) count += row.person_id > 0;
    assert.strictEqual(count, 502);
  },

  async killedConnection() {
    const one = await open({ poolSize: 1 });
    const [{ id }] = await one.query("SELECT CONNECTION_ID() AS id");
    await db.query(`KILL ${id}`);
    await sleep(500);
    assert.strictEqual(await one.getRepository("Person").count(), 502);
    await one.destroy();
  },

  async tls() {
    if (!TLS) throw new Skipped("DB_TLS is 0");
    const other = await open({ ssl: { rejectUnauthorized: false } });
    assert.strictEqual(await other.getRepository("Person").count(), 502);
    await other.destroy();
  },
};

main(async () => {
  await runAll(steps);
  await db.destroy();
});
