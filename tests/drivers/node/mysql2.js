// The steps of mysql2 for Node.

const mysql = require("mysql2/promise");

const {
  assert, where, TEXT, sleep, refused, KINDS, KIND, NO_KIND, asGiven, protectedLinks, runAll, main,
} = require("./connecting");

// What shows that a connection of another kind carries everything.
async function exchange(more) {
  const db = await mysql.createConnection({ ...where, ...more });
  const text = TEXT.repeat(1000);
  await db.query("UPDATE people SET note = ?", [text]);
  const [notes] = await db.execute("SELECT note FROM people");
  assert.strictEqual(notes[0].note, text);
  await refused(1062, "23000", db.execute("INSERT INTO people (name) VALUES (?)", ["Ada"]));
  const [rows] = await db.query("SELECT n FROM numbers ORDER BY n");
  assert.ok(rows.length === 10000 && rows.every((row, n) => row.n === n));
  await db.end();
}

const steps = {
  async select(db) {
    const [rows] = await db.query("SELECT 1 + 1 AS two, 'a' AS a, NULL AS n");
    assert.deepStrictEqual({ ...rows[0] }, { two: 2, a: "a", n: null });
  },

  async generatedKeys(db) {
    await db.query(
      "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, money DECIMAL(10,2), " +
        "note TEXT) DEFAULT CHARSET utf8mb4"
    );
    const [result] = await db.query("INSERT INTO people (name, money) VALUES (?, ?)", ["Ada", "12.50"]);
    assert.strictEqual(result.insertId, 1);
    assert.strictEqual(result.affectedRows, 1);
    const [rows] = await db.query("SELECT name, money, note FROM people WHERE id = ?", [1]);
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
    const [inside] = await db.query("SELECT money, note FROM people");
    assert.deepStrictEqual({ ...inside[0] }, { money: "1.00", note: null });
    await db.commit();
    const [after] = await db.query("SELECT money FROM people");
    assert.strictEqual(after[0].money, "1.00");
  },

  async batches(db) {
    const [result] = await db.query("INSERT INTO people (name) VALUES ?", [Array.from({ length: 500 }, (_, n) => [`p${n}`])]);
    assert.strictEqual(result.affectedRows, 500);
    const [gone] = await db.query("DELETE FROM people WHERE name <> 'Ada'");
    assert.strictEqual(gone.affectedRows, 500);
  },

  async ownWrites(db) {
    const other = await mysql.createConnection(where);
    for (let number = 0; number < 50; number++) {
      await db.query("UPDATE people SET note = ?", [`${number}`]);
      for (const reader of [db, other]) {
        const [rows] = await reader.query("SELECT note FROM people");
        assert.strictEqual(rows[0].note, `${number}`);
      }
    }
    await other.end();
  },

  async types(db) {
    await db.query(KINDS);
    const options = { supportBigNumbers: true, bigNumberStrings: true };
    const insert = `INSERT INTO kinds VALUES (${Object.keys(KIND).fill("?")})`;
    for (const write of [db.query.bind(db), db.execute.bind(db)]) {
      await db.query("DELETE FROM kinds");
      for (const row of [KIND, NO_KIND]) await write(insert, Object.values(row));
      for (const read of [db.query.bind(db), db.execute.bind(db)]) {
        const [rows] = await read({ sql: "SELECT * FROM kinds ORDER BY id", ...options });
        assert.deepStrictEqual(rows.map(asGiven), [KIND, NO_KIND]);
      }
    }
  },

  async preparedStatements(db) {
    for (let number = 0; number < 20; number++) {
      const [rows] = await db.execute("SELECT ? + 1 AS sum, ? AS text, ? AS nothing", [number, "é🦀", null]);
      assert.deepStrictEqual({ ...rows[0] }, { sum: number + 1, text: "é🦀", nothing: null });
    }
    for (let number = 0; number < 50; number++) {
      await db.execute("UPDATE people SET note = ? WHERE name = ?", [`n${number}`, "Ada"]);
      const [rows] = await db.execute("SELECT note FROM people WHERE name = ?", ["Ada"]);
      assert.strictEqual(rows[0].note, `n${number}`);
    }
    const statement = await db.prepare("SELECT id FROM people WHERE name = ?");
    const [rows] = await statement.execute(["Ada"]);
    assert.strictEqual(rows[0].id, 1);
    await statement.close();
  },

  async errors(db) {
    await refused(1062, "23000", db.query("INSERT INTO people (name) VALUES ('Ada')"));
    await refused(1062, "23000", db.execute("INSERT INTO people (name) VALUES (?)", ["Ada"]));
    await refused(1064, "42000", db.query("SELEC 1"));
    await refused(1146, "42S02", db.execute("SELECT * FROM nothing_of_that_name"));
    const [rows] = await db.query("SELECT 1 AS one");
    assert.strictEqual(rows[0].one, 1);
  },

  async unicodeText(db) {
    await db.query("UPDATE people SET note = ?", [TEXT]);
    const [rows] = await db.query("SELECT note FROM people");
    assert.strictEqual(rows[0].note, TEXT);
  },

  async largeRows(db) {
    await db.query("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)");
    const [[{ most }]] = await db.query("SELECT @@max_allowed_packet AS most");
    for (const size of most > 40 << 20 ? [1 << 20, 17 << 20] : [1 << 20]) {
      const data = Buffer.alloc(size, "0123456789abcdef");
      await db.query("DELETE FROM blobs");
      await db.query("INSERT INTO blobs VALUES (1, ?)", [data]);
      await db.execute("INSERT INTO blobs VALUES (2, ?)", [data]);
      for (const read of [db.query.bind(db), db.execute.bind(db)]) {
        const [rows] = await read("SELECT data FROM blobs ORDER BY id");
        assert.strictEqual(rows.length, 2);
        for (const row of rows) assert.ok(row.data.equals(data));
      }
    }
  },

  async streaming(db) {
    await db.query("CREATE TABLE numbers (n INT PRIMARY KEY)");
    await db.query("INSERT INTO numbers VALUES ?", [Array.from({ length: 10000 }, (_, n) => [n])]);
    let next = 0;
    const stream = db.connection.query("SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 10 ORDER BY a.n").stream();
    for await (const row of stream) assert.strictEqual(row.n, Math.floor(next++ / 10));
    assert.strictEqual(next, 100000);
  },

  async severalStatements() {
    const several = await mysql.createConnection({ ...where, multipleStatements: true });
    const [results] = await several.query("SELECT 1 AS a; SELECT 2 AS b");
    assert.strictEqual(results[0][0].a, 1);
    assert.strictEqual(results[1][0].b, 2);
    await several.end();
  },

  async procedures(db) {
    await db.query("CREATE PROCEDURE twice(IN a INT) BEGIN SELECT a AS x; SELECT a * 2 AS y; END");
    const [text] = await db.query("CALL twice(21)");
    assert.strictEqual(text[0][0].x + text[1][0].y, 63);
    const [binary] = await db.execute("CALL twice(?)", [4]);
    assert.strictEqual(binary[0][0].x + binary[1][0].y, 12);
  },

  async sessionState(db) {
    await db.query("SET @number = 5");
    const [rows] = await db.query("SELECT @number AS number");
    assert.strictEqual(Number(rows[0].number), 5);
    await db.query("USE mysql");
    const [schema] = await db.query("SELECT DATABASE() AS name");
    assert.strictEqual(schema[0].name, "mysql");
    await db.changeUser({ database: where.database });
    const [again] = await db.query("SELECT @number AS number, DATABASE() AS name");
    assert.deepStrictEqual({ ...again[0] }, { number: null, name: where.database });
  },

  async killedStatement(db) {
    const [[{ id }]] = await db.query("SELECT CONNECTION_ID() AS id");
    const other = await mysql.createConnection(where);
    const waiting = refused(1317, "70100", db.query("SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9"));
    await sleep(300);
    await other.query(`KILL QUERY ${id}`);
    await waiting;
    await db.query("SELECT 1");
    await other.end();
  },

  async timeOut() {
    const waiting = await mysql.createConnection(where);
    await assert.rejects(waiting.query({ sql: "SELECT SLEEP(20)", timeout: 500 }), { code: "PROTOCOL_SEQUENCE_TIMEOUT" });
    waiting.connection.stream.destroy();
  },

  async killedConnection(db) {
    const pool = mysql.createPool({ ...where, connectionLimit: 1 });
    const [[{ id }]] = await pool.query("SELECT CONNECTION_ID() AS id");
    await db.query(`KILL ${id}`);
    await sleep(500);
    // The pool sees for itself that its connection was closed.
    const [[{ count }]] = await pool.query("SELECT COUNT(*) AS count FROM numbers");
    assert.strictEqual(count, 10000);
    await pool.end();
  },

  ...protectedLinks(exchange),

  async connectingAgain(db) {
    await db.ping();
    const pool = mysql.createPool({ ...where, connectionLimit: 4 });
    const counts = await Promise.all(
      Array.from({ length: 20 }, () => pool.query("SELECT COUNT(*) AS count FROM numbers"))
    );
    for (const [rows] of counts) assert.strictEqual(rows[0].count, 10000);
    await pool.end();
  },

  async aWrongPassword() {
    await refused(1045, "28000", mysql.createConnection({ ...where, password: "wrong" }));
  },
};

main(async () => {
  const db = await mysql.createConnection(where);
  await runAll(steps, db);
  await db.end();
});
