// The steps of Sequelize, on mysql2. (Its other driver, mariadb, it takes only in versions older than the one here.)

const { DataTypes, Sequelize, Transaction } = require("sequelize");
const { assert, where, TLS, TEXT, sleep, Skipped, runAll, main } = require("./connecting");

function open(dialectOptions = {}) {
  return new Sequelize(where.database, where.user, where.password, {
    host: where.host, port: where.port, dialect: "mysql", dialectOptions, logging: false, define: { charset: "utf8mb4" },
  });
}

const db = open();
const Person = db.define("person", {
  name: { type: DataTypes.STRING(50), unique: true },
  born: DataTypes.DATEONLY,
  seen: DataTypes.DATE(3),
  money: DataTypes.DECIMAL(10, 2),
  details: DataTypes.JSON,
  note: DataTypes.TEXT,
  data: DataTypes.BLOB("long"),
});
const Pet = db.define("pet", { name: DataTypes.STRING(50) });
Person.hasMany(Pet);
Pet.belongsTo(Person);

const ada = () => Person.findOne({ where: { name: "Ada" } });

async function refused(code, attempt) {
  await assert.rejects(attempt, (error) => {
    assert.strictEqual(error.original.errno, code);
    return true;
  });
}

const steps = {
  async schema() {
    await db.authenticate();
    await db.sync();
    const tables = await db.getQueryInterface().showAllTables();
    assert.deepStrictEqual(tables.map((table) => table.tableName ?? table).sort(), ["people", "pets"]);
  },

  async objects() {
    const data = Buffer.alloc(1 << 20, "0123456789abcdef");
    const seen = new Date(Date.UTC(2026, 10, 30, 18, 45, 1, 123));
    const person = await Person.create(
      { name: "Ada", born: "1815-12-10", seen, money: "12.50", details: { a: [1, null] }, note: TEXT, data, pets: [{ name: "Puff" }] },
      { include: Pet }
    );
    assert.strictEqual(person.id, 1);
    const read = await Person.findByPk(1, { include: Pet });
    const details = typeof read.details === "string" ? JSON.parse(read.details) : read.details;
    assert.deepStrictEqual(
      [read.born, read.seen.getTime(), String(read.money), details, read.note, read.pets[0].name],
      ["1815-12-10", seen.getTime(), read.money === 12.5 ? "12.5" : "12.50", { a: [1, null] }, TEXT, "Puff"]
    );
    assert.ok(read.data.equals(data));
    await read.update({ note: null });
    assert.strictEqual((await ada()).note, null);
  },

  async batches() {
    const made = await Person.bulkCreate(Array.from({ length: 500 }, (_, n) => ({ name: `p${n}` })));
    assert.strictEqual(made.length, 500);
    assert.strictEqual(await Person.count(), 501);
    await Person.upsert({ name: "Ada", note: "new" });
    assert.strictEqual((await ada()).note, "new");
  },

  async transactions() {
    await assert.rejects(
      db.transaction(async (transaction) => {
        await Person.update({ note: "lost" }, { where: { name: "Ada" }, transaction });
        const inside = await Person.findOne({ where: { name: "Ada" }, transaction, lock: transaction.LOCK.UPDATE });
        assert.strictEqual(inside.note, "lost");
        throw new Error("no");
      }),
      { message: "no" }
    );
    assert.strictEqual((await ada()).note, "new");
    await db.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED }, async (transaction) => {
      await Person.create({ name: "Bea" }, { transaction });
      const nested = await db.transaction({ transaction });
      await Person.update({ note: "lost" }, { where: { name: "Bea" }, transaction: nested });
      await nested.rollback();
    });
    assert.strictEqual((await Person.findOne({ where: { name: "Bea" } })).note, null);
  },

  async ownWrites() {
    for (let number = 0; number < 30; number++) {
      await Person.update({ note: `${number}` }, { where: { name: "Ada" } });
      assert.strictEqual((await ada()).note, `${number}`);
    }
  },

  async errors() {
    await refused(1062, Person.create({ name: "Ada" }));
    await refused(1064, db.query("SELEC 1"));
    await refused(1146, db.query("SELECT * FROM nothing_of_that_name"));
  },

  async boundValues() {
    // These are prepared on the server.
    for (let number = 0; number < 20; number++) {
      const [rows] = await db.query("SELECT name, $1 AS text FROM people WHERE name = $2", { bind: ["é🦀", "Ada"] });
      assert.deepStrictEqual({ ...rows[0] }, { name: "Ada", text: "é🦀" });
    }
  },

  async killedConnection() {
    await db.close();
    const one = open();
    const [[{ id }]] = await one.query("SELECT CONNECTION_ID() AS id");
    const other = open();
    await other.query(`KILL ${id}`);
    await sleep(500);
    const [[{ count }]] = await one.query("SELECT COUNT(*) AS count FROM people");
    assert.strictEqual(Number(count), 502);
    await one.close();
    await other.close();
  },

  async tls() {
    if (!TLS) throw new Skipped("DB_TLS is 0");
    const other = open({ ssl: { rejectUnauthorized: false } });
    const [[{ count }]] = await other.query("SELECT COUNT(*) AS count FROM people");
    assert.strictEqual(Number(count), 502);
    await other.close();
  },
};

main(() => runAll(steps));
