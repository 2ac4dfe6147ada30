// The steps of mysql2 for Node.

const assert = require("node:assert");
const mysql = require("mysql2/promise");

const options = {
  host: process.env.DB_HOST,
  port: Number(process.env.DB_PORT),
  user: process.env.DB_USER,
  password: process.env.DB_PASSWORD,
  database: process.env.DB_SCHEMA,
};

async function refused(code, state, attempt) {
  await assert.rejects(attempt, (error) => {
    assert.strictEqual(error.errno, code);
    assert.strictEqual(error.sqlState, state);
    return true;
  });
}

const steps = {
  async select(db) {
    const [rows] = await db.query("SELECT 1 + 1 AS two, 'a' AS a, NULL AS n");
    assert.deepStrictEqual({ ...rows[0] }, { two: 2, a: "a", n: null });
  },

  async insertAndLastId(db) {
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
    const [inside] = await db.query("SELECT money, note FROM people");
    assert.deepStrictEqual({ ...inside[0] }, { money: "1.00", note: null });
    await db.commit();
    const [after] = await db.query("SELECT money FROM people");
    assert.strictEqual(after[0].money, "1.00");
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
    const text = "Füße, 東京, 🦀, \\ ' \" \0 end";
    await db.query("UPDATE people SET note = ?", [text]);
    const [rows] = await db.query("SELECT note FROM people");
    assert.strictEqual(rows[0].note, text);
  },

  async aLargeRow(db) {
    await db.query("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)");
    const data = Buffer.alloc(1 << 20, "0123456789abcdef");
    await db.query("INSERT INTO blobs VALUES (1, ?)", [data]);
    await db.execute("INSERT INTO blobs VALUES (2, ?)", [data]);
    for (const read of [db.query.bind(db), db.execute.bind(db)]) {
      const [rows] = await read("SELECT data FROM blobs ORDER BY id");
      assert.strictEqual(rows.length, 2);
      for (const row of rows) assert.ok(row.data.equals(data));
    }
  },

  async manyRows(db) {
    await db.query("CREATE TABLE numbers (n INT PRIMARY KEY)");
    await db.query("INSERT INTO numbers VALUES ?", [Array.from({ length: 10000 }, (_, n) => [n])]);
    let next = 0;
    await new Promise((resolve, reject) => {
      db.connection
        .query("SELECT n FROM numbers ORDER BY n")
        .on("error", reject)
        .on("result", (row) => assert.strictEqual(row.n, next++))
        .on("end", resolve);
    });
    assert.strictEqual(next, 10000);
  },

  async severalStatements() {
    const several = await mysql.createConnection({ ...options, multipleStatements: true });
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
    await db.changeUser({ database: options.database });
    const [again] = await db.query("SELECT @number AS number, DATABASE() AS name");
    assert.deepStrictEqual({ ...again[0] }, { number: null, name: options.database });
  },

  async connectingAgain(db) {
    await db.ping();
    const pool = mysql.createPool({ ...options, connectionLimit: 4 });
    const counts = await Promise.all(
      Array.from({ length: 20 }, () => pool.query("SELECT COUNT(*) AS count FROM numbers"))
    );
    for (const [rows] of counts) assert.strictEqual(rows[0].count, 10000);
    await pool.end();
  },

  async aWrongPassword() {
    await refused(1045, "28000", mysql.createConnection({ ...options, password: "wrong" }));
  },
};

async function main() {
  const db = await mysql.createConnection(options);
  for (const [name, step] of Object.entries(steps)) {
    await step(db);
    console.log("ok", name);
  }
  await db.end();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
