// The steps of MariaDB's driver for Java: with its defaults, and with statements prepared on the server.

import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

public class Steps {
  static final String TEXT = "Füße, 東京, 🦀, \\ ' \" \0 end";
  static final boolean TLS = !"0".equals(System.getenv("DB_TLS"));
  static final boolean COMPRESS = "1".equals(System.getenv("DB_COMPRESS"));
  static final List<String> LEFT_OUT = List.of(Objects.requireNonNullElse(System.getenv("DB_LEAVE_OUT"), "").split(" "));
  static final int NUMBERS = 10000;

  /** What the steps connect with: nothing, or what has statements prepared on the server. */
  static String options;

  interface Attempt {
    void run() throws Exception;
  }

  /** A step that the driver cannot do, and why. */
  static class Skipped extends Exception {
    Skipped(String why) {
      super(why);
    }
  }

  static Connection connect(String more, String password) throws SQLException {
    // Without TLS, MySQL's accounts need the server's key, which this driver asks for only when told to.
    String url = String.format("jdbc:mariadb://%s:%s/%s?allowPublicKeyRetrieval=true%s%s", System.getenv("DB_HOST"),
        System.getenv("DB_PORT"), System.getenv("DB_SCHEMA"), options, more);
    return DriverManager.getConnection(url, System.getenv("DB_USER"), password);
  }

  static Connection connect(String more) throws SQLException {
    return connect(more, System.getenv("DB_PASSWORD"));
  }

  static void same(Object got, Object wanted) {
    if (!Objects.deepEquals(got, wanted)) throw new AssertionError("got " + got + ", wanted " + wanted);
  }

  static void refused(int code, String state, Attempt attempt) throws Exception {
    try {
      attempt.run();
    } catch (SQLException error) {
      same(List.of(error.getErrorCode(), error.getSQLState()), List.of(code, state));
      return;
    }
    throw new AssertionError("error " + code + " did not come");
  }

  static int run(Connection db, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = db.prepareStatement(sql)) {
      for (int number = 0; number < values.length; number++) statement.setObject(number + 1, values[number]);
      statement.execute();
      return statement.getUpdateCount();
    }
  }

  /** The first column of the first row, as text. */
  static String one(Connection db, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = db.prepareStatement(sql)) {
      for (int number = 0; number < values.length; number++) statement.setObject(number + 1, values[number]);
      try (ResultSet rows = statement.executeQuery()) {
        same(rows.next(), true);
        return rows.getString(1);
      }
    }
  }

  static void select(Connection db) throws SQLException {
    try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery("SELECT 1 + 1, 'a', NULL")) {
      same(rows.next(), true);
      same(Arrays.asList(rows.getInt(1), rows.getString(2), rows.getString(3)), Arrays.asList(2, "a", null));
      same(rows.next(), false);
    }
  }

  static void generatedKeys(Connection db) throws SQLException {
    run(db, "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT)"
        + " DEFAULT CHARSET utf8mb4");
    String insert = "INSERT INTO people (name) VALUES (?)";
    try (PreparedStatement statement = db.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
      statement.setString(1, "Ada");
      same(statement.executeUpdate(), 1);
      try (ResultSet keys = statement.getGeneratedKeys()) {
        same(keys.next(), true);
        same(keys.getLong(1), 1L);
      }
    }
    same(one(db, "SELECT name FROM people WHERE id = ?", 1), "Ada");
  }

  static void batches(Connection db) throws Exception {
    db.setAutoCommit(false);
    try (PreparedStatement statement = db.prepareStatement("INSERT INTO people (name) VALUES (?)")) {
      for (int number = 0; number < 300; number++) {
        statement.setString(1, "p" + number);
        statement.addBatch();
      }
      same(statement.executeBatch().length, 300);
    }
    try (Statement statement = db.createStatement()) {
      for (int number = 0; number < 50; number++) statement.addBatch("INSERT INTO people (name) VALUES ('q" + number + "')");
      same(statement.executeBatch().length, 50);
    }
    db.commit();
    db.setAutoCommit(true);
    same(one(db, "SELECT COUNT(*) FROM people"), "351");
    try (PreparedStatement statement = db.prepareStatement("INSERT INTO people (name) VALUES (?)")) {
      for (String name : List.of("one", "Ada")) {
        statement.setString(1, name);
        statement.addBatch();
      }
      statement.executeBatch();
      throw new AssertionError("a duplicate was taken");
    } catch (BatchUpdateException error) {
      same(error.getErrorCode(), 1062);
    }
    run(db, "DELETE FROM people WHERE name <> 'Ada'");
  }

  static void transactions(Connection db) throws SQLException {
    db.setAutoCommit(false);
    run(db, "UPDATE people SET note = 'lost'");
    db.rollback();
    same(one(db, "SELECT note FROM people"), null);
    run(db, "UPDATE people SET note = ?", "kept");
    Savepoint half = db.setSavepoint("half");
    run(db, "UPDATE people SET note = 'lost'");
    db.rollback(half);
    db.commit();
    same(one(db, "SELECT note FROM people"), "kept");
    db.commit();
    db.setAutoCommit(true);
    db.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    same(db.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
    db.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
  }

  static void readOnly(Connection db) throws SQLException {
    db.setReadOnly(true);
    same(one(db, "SELECT note FROM people"), "kept");
    db.setReadOnly(false);
    run(db, "UPDATE people SET note = 'kept'");
  }

  static void ownWrites(Connection db) throws SQLException {
    try (Connection other = connect("")) {
      for (int number = 0; number < 50; number++) {
        run(db, "UPDATE people SET note = ?", "" + number);
        same(one(db, "SELECT note FROM people"), "" + number);
        same(one(other, "SELECT note FROM people WHERE name = ?", "Ada"), "" + number);
      }
    }
  }

  static void types(Connection db) throws Exception {
    if (!options.isEmpty() && db.getMetaData().getDatabaseProductName().equals("MySQL"))
      throw new Skipped("MySQL itself does not understand how the driver sends these");
    run(db, "CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4),"
        + " day DATE, moment DATETIME(6), span TIME, code VARBINARY(20), name VARCHAR(50), doc JSON, choice ENUM('a','b'))"
        + " DEFAULT CHARSET utf8mb4");
    Timestamp moment = Timestamp.valueOf("2026-11-30 18:45:01.123456");
    byte[] code = {0, (byte) 255, 39, 92, 10};
    try (PreparedStatement insert = db.prepareStatement("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      insert.setInt(1, 1);
      insert.setByte(2, (byte) -128);
      insert.setBigDecimal(3, new BigDecimal("18446744073709551615"));
      insert.setDouble(4, 1.5e100);
      insert.setBigDecimal(5, new BigDecimal("-1234567890123456.7891"));
      insert.setDate(6, Date.valueOf("1915-12-10"));
      insert.setTimestamp(7, moment);
      insert.setString(8, "23:00:05");
      insert.setBytes(9, code);
      insert.setString(10, "é🦀");
      insert.setString(11, "{\"a\": [1, null]}");
      insert.setString(12, "b");
      insert.executeUpdate();
    }
    try (PreparedStatement insert = db.prepareStatement("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      insert.setInt(1, 2);
      for (int number = 2; number <= 12; number++) insert.setNull(number, Types.VARCHAR);
      insert.executeUpdate();
    }
    try (PreparedStatement read = db.prepareStatement("SELECT * FROM kinds WHERE id < ? ORDER BY id")) {
      read.setInt(1, 3);
      try (ResultSet rows = read.executeQuery()) {
        same(rows.next(), true);
        same(Arrays.asList(rows.getInt(1), rows.getByte(2), rows.getBigDecimal(3), rows.getDouble(4), rows.getBigDecimal(5),
                rows.getDate(6), rows.getTimestamp(7), rows.getString(8).substring(0, 8), rows.getString(10), rows.getString(11),
                rows.getString(12)),
            Arrays.asList(1, (byte) -128, new BigDecimal("18446744073709551615"), 1.5e100,
                new BigDecimal("-1234567890123456.7891"), Date.valueOf("1915-12-10"), moment, "23:00:05", "é🦀",
                "{\"a\": [1, null]}", "b"));
        same(rows.getBytes(9), code);
        same(rows.next(), true);
        for (int number = 2; number <= 12; number++) same(rows.getString(number), null);
      }
    }
  }

  static void preparedStatements(Connection db) throws SQLException {
    try (PreparedStatement statement = db.prepareStatement("SELECT ? + 1, ?, ?")) {
      for (int number = 0; number < 20; number++) {
        statement.setInt(1, number);
        statement.setString(2, "é🦀");
        statement.setNull(3, Types.INTEGER);
        try (ResultSet rows = statement.executeQuery()) {
          same(rows.next(), true);
          same(Arrays.asList(rows.getInt(1), rows.getString(2), rows.getString(3)), Arrays.asList(number + 1, "é🦀", null));
        }
      }
    }
  }

  static void errors(Connection db) throws Exception {
    refused(1062, "23000", () -> run(db, "INSERT INTO people (name) VALUES (?)", "Ada"));
    refused(1064, "42000", () -> run(db, "SELEC 1"));
    refused(1146, "42S02", () -> run(db, "SELECT * FROM nothing_of_that_name WHERE id = ?", 1));
    same(one(db, "SELECT 1"), "1");
  }

  static void unicodeText(Connection db) throws SQLException {
    run(db, "UPDATE people SET note = ?", TEXT);
    same(one(db, "SELECT note FROM people"), TEXT);
  }

  static void largeRows(Connection db) throws SQLException {
    run(db, "CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)");
    long most = Long.parseLong(one(db, "SELECT @@max_allowed_packet"));
    int id = 0;
    for (int size : most > 40 << 20 ? new int[] {1 << 20, 17 << 20} : new int[] {1 << 20}) {
      byte[] data = new byte[size];
      for (int number = 0; number < size; number++) data[number] = (byte) number;
      try (PreparedStatement statement = db.prepareStatement("INSERT INTO blobs VALUES (?, ?)")) {
        statement.setInt(1, ++id);
        statement.setBlob(2, new ByteArrayInputStream(data));
        statement.executeUpdate();
      }
      try (PreparedStatement statement = db.prepareStatement("SELECT data FROM blobs WHERE id = ?")) {
        statement.setInt(1, id);
        try (ResultSet rows = statement.executeQuery()) {
          same(rows.next(), true);
          same(Arrays.equals(rows.getBytes(1), data), true);
        }
      }
    }
  }

  static void streaming(Connection db) throws SQLException {
    run(db, "CREATE TABLE numbers (n INT PRIMARY KEY)");
    StringBuilder insert = new StringBuilder("INSERT INTO numbers VALUES (0)");
    for (int number = 1; number < NUMBERS; number++) insert.append(", (").append(number).append(')');
    run(db, insert.toString());
    String sql = "SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < ? ORDER BY a.n";
    try (PreparedStatement statement = db.prepareStatement(sql)) {
      statement.setFetchSize(100);
      statement.setInt(1, 10);
      int next = 0;
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) if (rows.getInt(1) != next++ / 10) throw new AssertionError("row " + next + " differs");
      }
      same(next, 10 * NUMBERS);
      // What is left of a result is read and thrown away.
      try (ResultSet rows = statement.executeQuery()) {
        same(rows.next(), true);
      }
    }
    same(one(db, "SELECT 1"), "1");
  }

  static void severalStatements(Connection db) throws SQLException {
    try (Connection several = connect("&allowMultiQueries=true"); Statement statement = several.createStatement()) {
      statement.execute("SELECT 1; UPDATE people SET note = 'new'; SELECT 'x'");
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        same(rows.getInt(1), 1);
      }
      same(statement.getMoreResults(), false);
      same(statement.getUpdateCount(), 1);
      same(statement.getMoreResults(), true);
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        same(rows.getString(1), "x");
      }
    }
  }

  static void procedures(Connection db) throws SQLException {
    run(db, "CREATE PROCEDURE twice(IN a INT, OUT b INT) BEGIN SELECT a; SELECT a * 2; SET b = a * 3; END");
    try (CallableStatement call = db.prepareCall("{CALL twice(?, ?)}")) {
      call.setInt(1, 21);
      call.registerOutParameter(2, Types.INTEGER);
      same(call.execute(), true);
      for (int wanted : new int[] {21, 42}) {
        try (ResultSet rows = call.getResultSet()) {
          rows.next();
          same(rows.getInt(1), wanted);
        }
        call.getMoreResults();
      }
      same(call.getInt(2), 63);
    }
  }

  static void catalogue(Connection db) throws SQLException {
    try (ResultSet columns = db.getMetaData().getColumns(db.getCatalog(), null, "people", null)) {
      same(columns.next(), true);
      same(columns.getString("COLUMN_NAME"), "id");
    }
    try (ResultSet keys = db.getMetaData().getPrimaryKeys(db.getCatalog(), null, "people")) {
      same(keys.next(), true);
      same(keys.getString("COLUMN_NAME"), "id");
    }
  }

  static void sessionState(Connection db) throws SQLException {
    run(db, "SET @number = 5");
    same(one(db, "SELECT @number"), "5");
    String schema = db.getCatalog();
    db.setCatalog("mysql");
    same(one(db, "SELECT DATABASE()"), "mysql");
    db.setCatalog(schema);
    run(db, "CREATE TEMPORARY TABLE mine (n INT)");
    run(db, "INSERT INTO mine VALUES (1), (2)");
    same(one(db, "SELECT SUM(n) FROM mine"), "3");
    run(db, "DROP TEMPORARY TABLE mine");
  }

  static void killedStatement(Connection db) throws Exception {
    try (Statement statement = db.createStatement()) {
      Thread canceller = new Thread(() -> {
        try {
          Thread.sleep(300);
          statement.cancel();  // The driver sends KILL QUERY by a connection of its own.
        } catch (Exception error) {
          error.printStackTrace();
        }
      });
      canceller.start();
      refused(1317, "70100", () -> statement.executeQuery("SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9"));
      canceller.join();
    }
    same(one(db, "SELECT 1"), "1");
  }

  static void timeOut(Connection db) throws Exception {
    try (Statement statement = db.createStatement()) {
      statement.setQueryTimeout(1);
      long started = System.nanoTime();
      try {
        statement.executeQuery("SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9");
        throw new AssertionError("the statement was waited for");
      } catch (java.sql.SQLTimeoutException error) {
        same(System.nanoTime() - started < 10_000_000_000L, true);
      }
    }
    same(one(db, "SELECT 1"), "1");
  }

  static void killedConnection(Connection db) throws Exception {
    try (Connection other = connect("")) {
      String number;
      try (Statement statement = other.createStatement(); ResultSet rows = statement.executeQuery("SELECT CONNECTION_ID()")) {
        rows.next();
        number = rows.getString(1);
      }
      same(other.isValid(2), true);
      run(db, "KILL " + number);
      Thread.sleep(500);
      same(other.isValid(2), false);
    }
    try (Connection other = connect("")) {
      same(one(other, "SELECT COUNT(*) FROM numbers"), "" + NUMBERS);
    }
  }

  /** What shows that a connection of another kind carries everything. */
  static void exchange(String more) throws Exception {
    try (Connection db = connect(more)) {
      String text = TEXT.repeat(1000);
      run(db, "UPDATE people SET note = ?", text);
      same(one(db, "SELECT note FROM people"), text);
      refused(1062, "23000", () -> run(db, "INSERT INTO people (name) VALUES (?)", "Ada"));
      same(one(db, "SELECT GROUP_CONCAT(n ORDER BY n) FROM numbers WHERE n < 10"), "0,1,2,3,4,5,6,7,8,9");
    }
  }

  static void tls(Connection db) throws Exception {
    if (!TLS) throw new Skipped("DB_TLS is 0");
    exchange("&useSsl=true&trustServerCertificate=true");
  }

  static void compression(Connection db) throws Exception {
    if (!COMPRESS) throw new Skipped("DB_COMPRESS is not 1");
    exchange("&useCompression=true");
    if (TLS) exchange("&useCompression=true&useSsl=true&trustServerCertificate=true");
  }

  static void connectingAgain(Connection db) throws SQLException {
    for (int number = 0; number < 10; number++) {
      try (Connection other = connect("")) {
        same(one(other, "SELECT DATABASE()"), System.getenv("DB_SCHEMA"));
      }
    }
  }

  static void aWrongPassword(Connection db) throws Exception {
    refused(1045, "28000", () -> connect("", "wrong"));
  }

  interface Step {
    void run(Connection db) throws Exception;
  }

  static void step(String name, Connection db, Step step) throws Exception {
    try {
      if (LEFT_OUT.contains(name)) throw new Skipped("left out");
      step.run(db);
      System.out.println("ok " + name);
    } catch (Skipped why) {
      System.out.println("skip " + name + ": " + why.getMessage());
    }
  }

  public static void main(String[] arguments) throws Exception {
    for (String way : List.of("", "&useServerPrepStmts=true")) {
      options = way;
      try (Connection db = connect("")) {
        // Each way begins with an empty schema.
        for (String table : List.of("people", "kinds", "blobs", "numbers")) run(db, "DROP TABLE IF EXISTS " + table);
        run(db, "DROP PROCEDURE IF EXISTS twice");
        step("select", db, Steps::select);
        step("generatedKeys", db, Steps::generatedKeys);
        step("batches", db, Steps::batches);
        step("transactions", db, Steps::transactions);
        step("readOnly", db, Steps::readOnly);
        step("ownWrites", db, Steps::ownWrites);
        step("types", db, Steps::types);
        step("preparedStatements", db, Steps::preparedStatements);
        step("errors", db, Steps::errors);
        step("unicodeText", db, Steps::unicodeText);
        step("largeRows", db, Steps::largeRows);
        step("streaming", db, Steps::streaming);
        step("severalStatements", db, Steps::severalStatements);
        step("procedures", db, Steps::procedures);
        step("catalogue", db, Steps::catalogue);
        step("sessionState", db, Steps::sessionState);
        step("killedStatement", db, Steps::killedStatement);
        step("timeOut", db, Steps::timeOut);
        step("killedConnection", db, Steps::killedConnection);
        step("tls", db, Steps::tls);
        step("compression", db, Steps::compression);
        step("connectingAgain", db, Steps::connectingAgain);
        step("aWrongPassword", db, Steps::aWrongPassword);
      }
    }
    System.exit(0);
  }
}
