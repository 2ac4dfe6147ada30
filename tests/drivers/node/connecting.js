// Where to connect, and what the programs share.

const assert = require("node:assert");

const where = {
  host: process.env.DB_HOST,
  port: Number(process.env.DB_PORT),
  user: process.env.DB_USER,
  password: process.env.DB_PASSWORD,
  database: process.env.DB_SCHEMA,
};

const TLS = process.env.DB_TLS !== "0";
const COMPRESS = process.env.DB_COMPRESS === "1";
const LEFT_OUT = (process.env.DB_LEAVE_OUT ?? "").split(" ");
const TEXT = "Füße, 東京, 🦀, \\ ' \" \0 end";

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// A step that the driver cannot do, and why.
class Skipped extends Error {}

async function refused(code, state, attempt) {
  await assert.rejects(attempt, (error) => {
    assert.strictEqual(error.errno, code);
    assert.strictEqual(error.sqlState, state);
    return true;
  });
}

// A row of each common type, as it is given; the drivers say what they read.
const KINDS =
  "CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4), " +
  "day DATE, moment DATETIME(3), span TIME(3), code VARBINARY(20), name VARCHAR(50), doc JSON, choice ENUM('a','b')) " +
  "DEFAULT CHARSET utf8mb4";
const KIND = {
  id: 1,
  tiny: -128,
  big: "18446744073709551615",
  ratio: 1.5e100,
  money: "-1234567890123456.7891",
  day: "1815-12-10",
  moment: new Date(2026, 10, 30, 18, 45, 1, 123),
  span: "23:00:05.250",
  code: Buffer.from([0, 255, 39, 92, 10]),
  name: "é🦀",
  doc: '{"a": [1, null]}',
  choice: "b",
};
const NO_KIND = Object.fromEntries(Object.keys(KIND).map((name) => [name, null]));
NO_KIND.id = 2;

// A row of `kinds`, without what the drivers see differently.
function asGiven(row) {
  const given = { ...row };
  if (given.big !== null) given.big = String(given.big);
  if (given.doc !== null && typeof given.doc === "object") given.doc = JSON.stringify(given.doc);
  if (given.doc !== null) given.doc = given.doc.replace(/([:,])(?=\S)/g, "$1 ");
  if (given.day instanceof Date) {
    const two = (number) => String(number).padStart(2, "0");
    given.day = `${given.day.getFullYear()}-${two(given.day.getMonth() + 1)}-${two(given.day.getDate())}`;
  }
  if (given.span !== null) given.span = given.span.padEnd(12, "0").slice(0, 12);
  return given;
}

// The steps over TLS and compressed, for a driver that connects with these options more.
const protectedLinks = (exchange) => ({
  async tls() {
    if (!TLS) throw new Skipped("DB_TLS is 0");
    await exchange({ ssl: { rejectUnauthorized: false } });
  },

  async compression() {
    if (!COMPRESS) throw new Skipped("DB_COMPRESS is not 1");
    await exchange({ compress: true });
    if (TLS) await exchange({ compress: true, ssl: { rejectUnauthorized: false } });
  },
});

// Runs the steps one by one.
async function runAll(steps, db) {
  for (const [name, step] of Object.entries(steps)) {
    try {
      if (LEFT_OUT.includes(name)) throw new Skipped("left out");
      await step(db);
      console.log("ok", name);
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      console.log(`skip ${name}: ${error.message}`);
    }
  }
}

function main(program) {
  program().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = { assert, where, TLS, COMPRESS, TEXT, sleep, Skipped, refused, KINDS, KIND, NO_KIND, asGiven, protectedLinks, runAll, main };
