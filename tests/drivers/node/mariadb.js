// The steps of mariadb for Node.

const mariadb = require("mariadb");

const {
  assert, where, TEXT, sleep, Skipped, refused, KINDS, KIND, NO_KIND, asGiven, protectedLinks, runAll, main,
} = require("./connecting");

// Without TLS, MySQL's accounts need the server's key, which this driver asks for only when told to.
const options = { ...where, allowPublicKeyRetrieval: true };

// Prepares on the server, executes, and closes.
async function prepared(db, sql, values) {
  const statement = await db.prepare(sql);
  try {
    return await statement.execute(values);
  } finally {
    statement.close();
  }
}

// What shows that a connection of another kind carries everything.
async function exchange(more) {
  const db = await mariadb.createConnection({ ...options, ...more });
  const text = TEXT.repeat(1000);
  await db.query("UPDATE people SET note = ?", [text]);
  const notes = await prepared(db, "SELECT note FROM people");
  assert.strictEqual(notes[0].note, text);
  await refused(1062, "23000", prepared(db, "INSERT INTO people (name) VALUES (?)", ["Ada"]));
  const rows = await db.query("SELECT n FROM numbers ORDER BY n");
  assert.ok(rows.length === 10000 && rows.every((row, n) => row.n === n));
  await db.end();
}

const steps = {
  async select(db) {
    const rows = await db.query("SELECT 1 + 1 AS two, 'a' AS a, NULL AS n");
    assert.deepStrictEqual({ ...rows[0] }, { two: rows[0].two, a: "a", n: null });
    assert.strictEqual(Number(rows[0].two), 2);
  },

  async generatedKeys(db) {
    await db.query(
      "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, money DECIMAL(10,2), " +
        "note TEXT) DEFAULT CHARSET utf8mb4"
    );
    const result = await db.query("INSERT INTO people (name, money) VALUES (?, ?)", ["Ada", "12.50"]);
    assert.strictEqual(result.insertId, 1n);
    assert.strictEqual(result.affectedRows, 1);
    const rows = await db.query("SELECT name, money, note FROM people WHERE id = ?", [1]);
    assert.deepStrictEqual({ ...rows[0] }, { name: "Ada", money: "12.50", note: null });
  },

  async transactions(db) {
    await db.beginTransaction();
    await db.query("UPDATE people SET note = 'lost'");
    await db.rollback();
    await db.beginTransaction();
    await db.query("UPDATE people SET money = 1");
    await db.query("SAVEPOINT half");
    await db.query("UPDATE people SET note = 'lost'");
    await db.query("ROLLBACK TO SAVEPOINT half");
    const inside = await db.query("SELECT money, note FROM people");
    assert.deepStrictEqual({ ...inside[0] }, { money: "1.00", note: null });
    await db.commit();
    const after = await db.query("SELECT money FROM people");
    assert.strictEqual(after[0].money, "1.00");
  },

  async batches(db) {
    // With MariaDB this is one command, COM_STMT_BULK_EXECUTE.
    const names = Array.from({ length: 500 }, (_, n) => [`p${n}`]);
    const result = await db.batch("INSERT INTO people (name) VALUES (?)", names);
    // Elsewhere it is a statement each, with a result each.
    const affected = [result].flat().reduce((sum, one) => sum + one.affectedRows, 0);
    assert.strictEqual(affected, 500);
    const rows = await db.query("SELECT COUNT(*) AS count FROM people");
    assert.strictEqual(rows[0].count, 501n);
    await refused(1062, "23000", db.batch("INSERT INTO people (name) VALUES (?)", [["one"], ["Ada"]]));
    await db.query("DELETE FROM people WHERE name <> 'Ada'");
  },

  async ownWrites(db) {
    const other = await mariadb.createConnection(options);
    for (let number = 0; number < 50; number++) {
      await db.query("UPDATE people SET note = ?", [`${number}`]);
      for (const reader of [db, other]) {
        const rows = await reader.query("SELECT note FROM people");
        assert.strictEqual(rows[0].note, `${number}`);
      }
    }
    await other.end();
  },

  async types(db) {
    await db.query(KINDS);
    const insert = `INSERT INTO kinds VALUES (${Object.keys(KIND).fill("?")})`;
    for (const write of [db.query.bind(db), prepared.bind(null, db)]) {
      await db.query("DELETE FROM kinds");
      for (const row of [KIND, NO_KIND]) await write(insert, Object.values(row));
      for (const read of [db.query.bind(db), prepared.bind(null, db)]) {
        const rows = await read("SELECT * FROM kinds ORDER BY id");
        assert.deepStrictEqual(rows.map(asGiven), [KIND, NO_KIND]);
      }
    }
  },

  async preparedStatements(db) {
    for (let number = 0; number < 20; number++) {
      const rows = await prepared(db, "SELECT ? + 1 AS sum, ? AS text, ? AS nothing", [number, "é🦀", null]);
      assert.strictEqual(Number(rows[0].sum), number + 1);
      assert.deepStrictEqual([rows[0].text, rows[0].nothing], ["é🦀", null]);
    }
    for (let number = 0; number < 50; number++) {
      await prepared(db, "UPDATE people SET note = ? WHERE name = ?", [`n${number}`, "Ada"]);
      const rows = await prepared(db, "SELECT note FROM people WHERE name = ?", ["Ada"]);
      assert.strictEqual(rows[0].note, `n${number}`);
    }
    const statement = await db.prepare("SELECT id FROM people WHERE name = ?");
    for (let number = 0; number < 3; number++) {
      const rows = await statement.execute(["Ada"]);
      assert.strictEqual(rows[0].id, 1);
    }
    await statement.close();
  },

  async executeAtOnce(db) {
    // With MariaDB the driver prepares and executes in one go, before it knows the statement's id.
    for (let number = 0; number < 20; number++) {
      await db.execute("UPDATE people SET note = ? WHERE name = ?", [`n${number}`, "Ada"]);
      const rows = await db.execute("SELECT note, ? AS nothing FROM people WHERE name = ?", [null, "Ada"]);
      assert.deepStrictEqual({ ...rows[0] }, { note: `n${number}`, nothing: null });
    }
    await refused(1062, "23000", db.execute("INSERT INTO people (name) VALUES (?)", ["Ada"]));
    await refused(1064, "42000", db.execute("SELEC ?", [1]));
    await refused(1146, "42S02", db.execute("SELECT * FROM nothing_of_that_name WHERE id = ?", [1]));
    const rows = await db.execute("SELECT 'still' AS here");
    assert.strictEqual(rows[0].here, "still");
  },

  async errors(db) {
    await refused(1062, "23000", db.query("INSERT INTO people (name) VALUES ('Ada')"));
    await refused(1062, "23000", prepared(db, "INSERT INTO people (name) VALUES (?)", ["Ada"]));
    await refused(1064, "42000", db.query("SELEC 1"));
    await refused(1146, "42S02", prepared(db, "SELECT * FROM nothing_of_that_name"));
    const rows = await db.query("SELECT 'still' AS here");
    assert.strictEqual(rows[0].here, "still");
  },

  async pipelining(db) {
    // The driver sends the next statement before the answer to the one before it has come.
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => db.query(`SELECT '${n}' AS n`)));
    assert.deepStrictEqual(answers.map((rows) => rows[0].n), Array.from({ length: 100 }, (_, n) => String(n)));
    const mixed = await Promise.allSettled([
      db.query("UPDATE people SET note = 'first'"),
      db.query("SELEC 1"),
      db.query("SELECT note FROM people"),
    ]);
    assert.deepStrictEqual(mixed.map((one) => one.status), ["fulfilled", "rejected", "fulfilled"]);
    assert.strictEqual(mixed[2].value[0].note, "first");
  },

  async unicodeText(db) {
    await db.query("UPDATE people SET note = ?", [TEXT]);
    const rows = await db.query("SELECT note FROM people");
    assert.strictEqual(rows[0].note, TEXT);
  },

  async largeRows(db) {
    await db.query("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)");
    const [{ most }] = await db.query("SELECT @@max_allowed_packet AS most");
    for (const size of most > 40 << 20 ? [1 << 20, 17 << 20] : [1 << 20]) {
      const data = Buffer.alloc(size, "0123456789abcdef");
      const wide = await mariadb.createConnection({ ...options, maxAllowedPacket: Number(most) });
      await wide.query("DELETE FROM blobs");
      await wide.query("INSERT INTO blobs VALUES (1, ?)", [data]);
      await prepared(wide, "INSERT INTO blobs VALUES (2, ?)", [data]);
      for (const read of [wide.query.bind(wide), prepared.bind(null, wide)]) {
        const rows = await read("SELECT data FROM blobs ORDER BY id");
        assert.strictEqual(rows.length, 2);
        for (const row of rows) assert.ok(row.data.equals(data));
      }
      await wide.end();
    }
  },

  async streaming(db) {
    await db.query("CREATE TABLE numbers (n INT PRIMARY KEY)");
    await db.query(`INSERT INTO numbers VALUES ${Array.from({ length: 10000 }, (_, n) => `(${n})`)}`);
    let next = 0;
    const stream = db.queryStream("SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 10 ORDER BY a.n");
    for await (const row of stream) assert.strictEqual(row.n, Math.floor(next++ / 10));
    assert.strictEqual(next, 100000);
  },

  async severalStatements() {
    const several = await mariadb.createConnection({ ...options, multipleStatements: true });
    const results = await several.query("SELECT 'a' AS a; SELECT 'b' AS b");
    assert.strictEqual(results[0][0].a, "a");
    assert.strictEqual(results[1][0].b, "b");
    await several.end();
  },

  async procedures(db) {
    await db.query("CREATE PROCEDURE twice(IN a INT) BEGIN SELECT a AS x; SELECT a * 2 AS y; END");
    const text = await db.query("CALL twice(21)");
    assert.strictEqual(Number(text[0][0].x) + Number(text[1][0].y), 63);
    const binary = await prepared(db, "CALL twice(?)", [4]);
    assert.strictEqual(Number(binary[0][0].x) + Number(binary[1][0].y), 12);
  },

  async sessionState(db) {
    await db.query("SET @number = 5");
    const rows = await db.query("SELECT @number AS number");
    assert.strictEqual(Number(rows[0].number), 5);
    await db.query("USE mysql");
    const schema = await db.query("SELECT DATABASE() AS name");
    assert.strictEqual(schema[0].name, "mysql");
    await db.query(`USE ${where.database}`);
    // The driver changes users on MariaDB alone.
    if (db.info.isMariaDB()) {
      await db.changeUser({ user: where.user, password: where.password, database: where.database });
      const again = await db.query("SELECT @number AS number, DATABASE() AS name");
      assert.deepStrictEqual({ ...again[0] }, { number: null, name: where.database });
      await db.query("SET @number = 6");
    }
    await db.reset();
    const reset = await db.query("SELECT @number AS number");
    assert.strictEqual(reset[0].number, null);
  },

  async killedStatement(db) {
    const [{ id }] = await db.query("SELECT CONNECTION_ID() AS id");
    const other = await mariadb.createConnection(options);
    const waiting = refused(1317, "70100", db.query("SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9"));
    await sleep(300);
    await other.query(`KILL QUERY ${id}`);
    await waiting;
    await db.query("SELECT 1");
    await other.end();
  },

  async timeOut(db) {
    // The driver leaves it to MariaDB, and offers it only there.
    if (!db.info.isMariaDB()) throw new Skipped("the driver has one for MariaDB alone");
    await refused(1969, "70100", db.query({ sql: "SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9", timeout: 500 }));
    await db.query("SELECT 1");
  },

  async killedConnection(db) {
    const pool = mariadb.createPool({ ...options, connectionLimit: 1, minDelayValidation: 0 });
    const [{ id }] = await pool.query("SELECT CONNECTION_ID() AS id");
    await db.query(`KILL ${id}`);
    await sleep(500);
    // The pool looks whether a connection still lives before it hands it out.
    const [{ count }] = await pool.query("SELECT COUNT(*) AS count FROM numbers");
    assert.strictEqual(count, 10000n);
    await pool.end();
  },

  ...protectedLinks(exchange),

  async connectingAgain(db) {
    await db.ping();
    const pool = mariadb.createPool({ ...options, connectionLimit: 4 });
    const counts = await Promise.all(
      Array.from({ length: 20 }, () => pool.query("SELECT COUNT(*) AS count FROM numbers"))
    );
    for (const rows of counts) assert.strictEqual(rows[0].count, 10000n);
    await pool.end();
  },

  async aWrongPassword() {
    await refused(1045, "28000", mariadb.createConnection({ ...options, password: "wrong" }));
  },
};

main(async () => {
  const db = await mariadb.createConnection(options);
  await runAll(steps, db);
  await db.end();
});
