<?php
// The steps of PHP's drivers: steps.php mysqli|pdo. Each class below says how its driver does what the steps ask for.

ini_set('memory_limit', '512M');
error_reporting(E_ALL);
set_error_handler(function ($level, $message, $file, $line) {
    // The drivers warn of a connection that was lost, besides telling it.
    if (str_contains($message, 'gone away') || str_contains($message, 'reading') || str_contains($message, 'SSL')) return true;
    throw new ErrorException("$message ($file:$line)");
});

function given(string $name): string { return getenv($name); }

const TEXT = "Füße, 東京, 🦀, \\ ' \" \0 end";
define('TLS', getenv('DB_TLS') !== '0');
define('COMPRESS', getenv('DB_COMPRESS') === '1');
define('LEFT_OUT', explode(' ', getenv('DB_LEAVE_OUT') ?: ''));

/** A step that the driver cannot do, and why. */
class Skipped extends Exception {}

/** What a server refused. */
class Refused extends Exception
{
    public function __construct(public int $number, public string $state, string $message) { parent::__construct($message); }
}

class Mysqli_
{
    private mysqli $db;
    private int|string $affected = 0;

    public function __construct(string $how = '', ?string $password = null)
    {
        mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
        $this->db = mysqli_init();
        $flags = 0;
        if (str_contains($how, 'tls')) {
            $this->db->ssl_set(null, null, null, null, null);
            $flags |= MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT;
        }
        if (str_contains($how, 'compressed')) $flags |= MYSQLI_CLIENT_COMPRESS;
        if (str_contains($how, 'impatient')) $this->db->options(MYSQLI_OPT_READ_TIMEOUT, 1);
        $this->told(fn() => $this->db->real_connect(given('DB_HOST'), given('DB_USER'), $password ?? given('DB_PASSWORD'),
            given('DB_SCHEMA'), (int)given('DB_PORT'), null, $flags));
        $this->db->set_charset('utf8mb4');
    }

    private function told(callable $attempt)
    {
        try {
            return $attempt();
        } catch (mysqli_sql_exception $error) {
            throw new Refused($error->getCode(), $error->getSqlState(), $error->getMessage());
        }
    }

    /** All rows, as text. */
    public function query(string $sql): array
    {
        return $this->told(function () use ($sql) {
            $result = $this->db->query($sql);
            $this->affected = $this->db->affected_rows;
            return $result === true ? [] : $result->fetch_all();
        });
    }

    /** All rows of a statement prepared on the server. */
    public function execute(string $sql, array $values): array
    {
        return $this->told(function () use ($sql, $values) {
            $statement = $this->db->prepare($sql);
            $statement->execute($values);
            $this->affected = $statement->affected_rows;
            $result = $statement->get_result();
            $rows = $result ? $result->fetch_all() : [];
            $statement->close();
            return $rows;
        });
    }

    /** A statement that is prepared once, to be executed with each of the rows of values. */
    public function executeEach(string $sql, iterable $rows): array
    {
        $statement = $this->db->prepare($sql);
        $results = [];
        foreach ($rows as $values) {
            $statement->execute($values);
            if ($result = $statement->get_result()) $results[] = $result->fetch_row();
        }
        $statement->close();
        return $results;
    }

    public function largeValue(string $sql, int $id, string $data): void
    {
        // In parts, by COM_STMT_SEND_LONG_DATA.
        $statement = $this->db->prepare($sql);
        $nothing = null;
        $statement->bind_param('ib', $id, $nothing);
        foreach (str_split($data, 1 << 19) as $part) $statement->send_long_data(1, $part);
        $statement->execute();
        $statement->close();
    }

    public function streamed(string $sql): iterable
    {
        $this->db->real_query($sql);
        $result = $this->db->use_result();
        while ($row = $result->fetch_row()) yield $row;
        $result->close();
    }

    /** Prepared on the server, and fetched by a cursor there. */
    public function byCursor(string $sql, array $values): iterable
    {
        $statement = $this->db->prepare($sql);
        $statement->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
        $statement->execute($values);
        $statement->bind_result($value);
        while ($statement->fetch()) yield [$value];
        $statement->close();
    }

    public function several(string $sql): array
    {
        $results = [];
        $this->db->multi_query($sql);
        do {
            if ($result = $this->db->store_result()) $results[] = $result->fetch_all();
        } while ($this->db->more_results() && $this->db->next_result());
        return $results;
    }

    /** Starts a statement without waiting for its answer. */
    public function start(string $sql): bool { $this->db->query($sql, MYSQLI_ASYNC); return true; }

    public function finish(): void { $this->told(fn() => $this->db->reap_async_query()); }

    public function affected(): int { return (int)$this->affected; }
    public function lastId(): string { return (string)$this->db->insert_id; }
    public function begin(): void { $this->db->begin_transaction(); }
    public function savepoint(string $name): void { $this->db->savepoint($name); }
    public function commit(): void { $this->db->commit(); }
    public function rollback(): void { $this->db->rollback(); }
    public function again(): void
    {
        $this->db->change_user(given('DB_USER'), given('DB_PASSWORD'), given('DB_SCHEMA'));
    }
}

class Pdo_
{
    private PDO $db;
    private int $affected = 0;

    public function __construct(string $how = '', ?string $password = null)
    {
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
        if (str_contains($how, 'tls')) {
            // A file of authorities asks for TLS; which one matters only where certificates are verified.
            $options[PDO::MYSQL_ATTR_SSL_CA] = '/etc/ssl/certs/ca-certificates.crt';
            $options[PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT] = false;
        }
        if (str_contains($how, 'compressed')) $options[PDO::MYSQL_ATTR_COMPRESS] = true;
        $this->told(function () use ($options, $password) {
            $this->db = new PDO(sprintf('mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4', given('DB_HOST'), given('DB_PORT'),
                given('DB_SCHEMA')), given('DB_USER'), $password ?? given('DB_PASSWORD'), $options);
        });
    }

    private function told(callable $attempt)
    {
        try {
            return $attempt();
        } catch (PDOException $error) {
            [$state, $number] = $error->errorInfo ?? ['', $error->getCode()];
            throw new Refused((int)$number, $state, $error->getMessage());
        }
    }

    public function query(string $sql): array { return $this->run($sql, [], true); }
    public function execute(string $sql, array $values): array { return $this->run($sql, $values, false); }

    /** Emulated, values are written into the text; otherwise statements are prepared on the server. */
    private function run(string $sql, array $values, bool $emulated): array
    {
        return $this->told(function () use ($sql, $values, $emulated) {
            $statement = $this->prepared($sql, $emulated);
            $statement->execute($values);
            $this->affected = $statement->rowCount();
            return $statement->columnCount() ? $statement->fetchAll(PDO::FETCH_NUM) : [];
        });
    }

    private function prepared(string $sql, bool $emulated): PDOStatement
    {
        $this->db->setAttribute(PDO::ATTR_EMULATE_PREPARES, $emulated);
        return $this->db->prepare($sql);
    }

    public function executeEach(string $sql, iterable $rows): array
    {
        $statement = $this->prepared($sql, false);
        $results = [];
        foreach ($rows as $values) {
            $statement->execute($values);
            if ($statement->columnCount()) $results[] = $statement->fetchAll(PDO::FETCH_NUM)[0];
        }
        return $results;
    }

    public function largeValue(string $sql, int $id, string $data): void
    {
        $statement = $this->prepared($sql, false);
        $statement->bindValue(1, $id, PDO::PARAM_INT);
        $statement->bindValue(2, $data, PDO::PARAM_LOB);
        $statement->execute();
    }

    public function streamed(string $sql): iterable
    {
        $this->db->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
        $statement = $this->db->query($sql);
        while ($row = $statement->fetch(PDO::FETCH_NUM)) yield $row;
        $statement->closeCursor();
        $this->db->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, true);
    }

    public function byCursor(string $sql, array $values): iterable { throw new Skipped('the driver has no cursors'); }

    public function several(string $sql): array
    {
        $statement = $this->prepared($sql, true);
        $statement->execute();
        $results = [];
        do {
            if ($statement->columnCount()) $results[] = $statement->fetchAll(PDO::FETCH_NUM);
        } while ($statement->nextRowset());
        return $results;
    }

    public function start(string $sql): bool { return false; }
    public function finish(): void {}
    public function affected(): int { return $this->affected; }
    public function lastId(): string { return $this->db->lastInsertId(); }
    public function begin(): void { $this->db->beginTransaction(); }
    public function savepoint(string $name): void { $this->db->exec("SAVEPOINT $name"); }
    public function commit(): void { $this->db->commit(); }
    public function rollback(): void { $this->db->rollBack(); }
    public function again(): void {}
}

$Driver = ['mysqli' => Mysqli_::class, 'pdo' => Pdo_::class][$argv[1] ?? ''] ?? exit("usage: steps.php mysqli|pdo\n");
function connect(string $how = '', ?string $password = null) { global $Driver; return new $Driver($how, $password); }

/** Equal, where numbers and their text are equal too: what is prepared on the server brings numbers, other statements text. */
function same($got, $wanted): void
{
    $plain = fn($value) => json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_UNESCAPED_UNICODE);
    $text = function ($value) use (&$text) { return is_array($value) ? array_map($text, $value) : ($value === null ? null : (string)$value); };
    if ($text($got) !== $text($wanted)) throw new Exception('got ' . substr($plain($got), 0, 400) . ', wanted ' . substr($plain($wanted), 0, 400));
}

function refused(int $number, string $state, callable $attempt): void
{
    try {
        $attempt();
    } catch (Refused $error) {
        same([$error->number, $error->state], [$number, $state]);
        return;
    }
    throw new Exception("error $number did not come");
}

/** What shows that a connection of another kind carries everything. */
function exchange(string $how): void
{
    $db = connect($how);
    $text = str_repeat(TEXT, 1000);
    $db->execute('UPDATE people SET note = ?', [$text]);
    same($db->query('SELECT note FROM people'), [[$text]]);
    refused(1062, '23000', fn() => $db->query("INSERT INTO people (name) VALUES ('Ada')"));
    same($db->execute('SELECT n FROM numbers ORDER BY n', []), array_map(fn($n) => [$n], range(0, 9999)));
}

$steps = [
    'select' => function ($db) {
        same($db->query("SELECT 1 + 1, 'a', NULL"), [[2, 'a', null]]);
    },
    'generated_keys' => function ($db) {
        $db->query('CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT) DEFAULT CHARSET utf8mb4');
        $db->execute('INSERT INTO people (name) VALUES (?)', ['Ada']);
        same([$db->lastId(), $db->affected()], [1, 1]);
        same($db->execute('SELECT name, note FROM people WHERE id = ?', [1]), [['Ada', null]]);
    },
    'batches' => function ($db) {
        $db->begin();
        $db->executeEach('INSERT INTO people (name) VALUES (?)', array_map(fn($n) => ["p$n"], range(1, 200)));
        $db->commit();
        same($db->query('SELECT COUNT(*) FROM people'), [[201]]);
        $db->query("DELETE FROM people WHERE name <> 'Ada'");
        same($db->affected(), 200);
    },
    'transactions' => function ($db) {
        $db->begin();
        $db->query("UPDATE people SET note = 'lost'");
        $db->rollback();
        same($db->query('SELECT note FROM people'), [[null]]);
        $db->begin();
        $db->execute('UPDATE people SET note = ?', ['kept']);
        $db->savepoint('half');
        $db->query("UPDATE people SET note = 'lost'");
        $db->query('ROLLBACK TO SAVEPOINT half');
        $db->commit();
        same($db->query('SELECT note FROM people'), [['kept']]);
    },
    'own_writes' => function ($db) {
        $other = connect();
        for ($number = 0; $number < 50; $number++) {
            $db->execute('UPDATE people SET note = ?', [$number]);
            foreach ([$db, $other] as $reader) same($reader->query('SELECT note FROM people'), [[$number]]);
        }
    },
    'types' => function ($db) {
        $db->query("CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4),
            day DATE, moment DATETIME(6), span TIME(3), code VARBINARY(20), name VARCHAR(50), doc JSON, choice ENUM('a','b'))
            DEFAULT CHARSET utf8mb4");
        $row = [1, -128, '18446744073709551615', 1.5, '-1234567890123456.7891', '1815-12-10', '2026-11-30 18:45:01.123456',
            '-12:30:05.250', "\0\xff'\\\n", 'é🦀', '{"a": [1, null]}', 'b'];
        $nothing = array_merge([2], array_fill(0, 11, null));
        $db->executeEach('INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [$row, $nothing]);
        same($db->query('SELECT * FROM kinds ORDER BY id'), [$row, $nothing]);
        same($db->execute('SELECT * FROM kinds WHERE id < ? ORDER BY id', [3]), [$row, $nothing]);
    },
    'prepared_statements' => function ($db) {
        $given = array_map(fn($n) => [$n, 'é🦀', null], range(0, 19));
        same($db->executeEach('SELECT ? + 1, ?, ?', $given), array_map(fn($n) => [$n, 'é🦀', null], range(1, 20)));
    },
    'errors' => function ($db) {
        refused(1062, '23000', fn() => $db->query("INSERT INTO people (name) VALUES ('Ada')"));
        refused(1062, '23000', fn() => $db->execute('INSERT INTO people (name) VALUES (?)', ['Ada']));
        refused(1064, '42000', fn() => $db->query('SELEC 1'));
        refused(1064, '42000', fn() => $db->execute('SELEC ?', [1]));
        refused(1146, '42S02', fn() => $db->query('SELECT * FROM nothing_of_that_name'));
        same($db->query('SELECT 1'), [[1]]);
    },
    'unicode_text' => function ($db) {
        $db->execute('UPDATE people SET note = ?', [TEXT]);
        same($db->query('SELECT note, CHAR_LENGTH(note) FROM people'), [[TEXT, 24]]);
    },
    'large_rows' => function ($db) {
        $db->query('CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)');
        $most = $db->query('SELECT @@max_allowed_packet')[0][0];
        foreach ($most > 40 << 20 ? [1 << 20, 17 << 20] : [1 << 20] as $id => $size) {
            $data = str_repeat("0123456789abcde\0", $size / 16);
            $db->largeValue('INSERT INTO blobs VALUES (?, ?)', $id, $data);
            foreach ([$db->query("SELECT data FROM blobs WHERE id = $id"), $db->execute('SELECT data FROM blobs WHERE id = ?', [$id])] as $rows) {
                if ($rows !== [[$data]]) throw new Exception("$size bytes that differ");
            }
        }
    },
    'streaming' => function ($db) {
        $db->query('CREATE TABLE numbers (n INT PRIMARY KEY)');
        $db->query('INSERT INTO numbers VALUES ' . implode(', ', array_map(fn($n) => "($n)", range(0, 9999))));
        $next = 0;
        foreach ($db->streamed('SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 10 ORDER BY a.n') as [$n]) {
            same($n, intdiv($next++, 10));
        }
        same($next, 100000);
    },
    'cursors' => function ($db) {
        $next = 0;
        foreach ($db->byCursor('SELECT n FROM numbers WHERE n >= ? AND n < 2000 ORDER BY n', [0]) as [$n]) same($n, $next++);
        same($next, 2000);
    },
    'several_statements' => function ($db) {
        same($db->several("SELECT 1; SELECT 2, 3; SELECT 'x'"), [[[1]], [[2, 3]], [['x']]]);
    },
    'procedures' => function ($db) {
        $db->query('CREATE PROCEDURE twice(a INT) BEGIN SELECT a; SELECT a * 2; END');
        same($db->several('CALL twice(21)'), [[[21]], [[42]]]);
    },
    'session_state' => function ($db) {
        $db->query('SET @number = 5');
        same($db->query('SELECT @number'), [[5]]);
        $db->query('CREATE TEMPORARY TABLE mine (n INT)');
        $db->query('INSERT INTO mine VALUES (1), (2)');
        same($db->query('SELECT SUM(n) FROM mine'), [[3]]);
        $db->query('USE mysql');
        same($db->query('SELECT DATABASE()'), [['mysql']]);
        $db->query('USE ' . given('DB_SCHEMA'));
    },
    'killed_statement' => function ($db) {
        [[$number]] = $db->query('SELECT CONNECTION_ID()');
        $other = connect();
        if (!$db->start('SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9')) throw new Skipped('the driver always waits');
        usleep(300000);
        $other->query("KILL QUERY $number");
        refused(1317, '70100', fn() => $db->finish());
        same($db->query('SELECT 1'), [[1]]);
    },
    'time_out' => function ($db) {
        if ($db instanceof Pdo_) throw new Skipped('the driver has none');
        $started = microtime(true);
        $waiting = connect('impatient');
        try {
            $waiting->query('SELECT SLEEP(20)');
            throw new Exception('the statement was waited for');
        } catch (Refused) {
        }
        if (microtime(true) - $started > 10) throw new Exception('the statement was waited for');
    },
    'killed_connection' => function ($db) {
        $other = connect();
        [[$number]] = $other->query('SELECT CONNECTION_ID()');
        $db->query("KILL $number");
        usleep(500000);
        try {
            $other->query('SELECT 1');
            throw new Exception('the connection outlived its end');
        } catch (Refused) {
        }
        same(connect()->query('SELECT COUNT(*) FROM numbers'), [[10000]]);
    },
    'tls' => function () {
        if (!TLS) throw new Skipped('DB_TLS is 0');
        exchange('tls');
    },
    'compression' => function () {
        if (!COMPRESS) throw new Skipped('DB_COMPRESS is not 1');
        exchange('compressed');
        if (TLS) exchange('compressed tls');
    },
    'connecting_again' => function ($db) {
        $db->again();
        same($db->query('SELECT COUNT(*) FROM numbers'), [[10000]]);
        for ($number = 0; $number < 10; $number++) same(connect()->query('SELECT DATABASE()'), [[given('DB_SCHEMA')]]);
    },
    'a_wrong_password' => function () {
        // The drivers tell no more of what a server says while connecting.
        refused(1045, 'HY000', fn() => connect('', 'wrong'));
    },
];

$db = connect();
foreach ($steps as $name => $step) {
    try {
        if (in_array($name, LEFT_OUT)) throw new Skipped('left out');
        $step($db);
        echo "ok $name\n";
    } catch (Skipped $why) {
        echo "skip $name: {$why->getMessage()}\n";
    } catch (Throwable $error) {
        fwrite(STDERR, "$name: $error\n");
        exit(1);
    }
}
