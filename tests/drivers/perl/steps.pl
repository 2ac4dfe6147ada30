# The steps of Perl's drivers, DBD::mysql and DBD::MariaDB: steps.pl mysql|MariaDB

use strict;
use warnings;
use utf8;

use DBI;
use POSIX ();
use Time::HiRes qw(sleep time);

my $driver = shift // '';
die "usage: steps.pl mysql|MariaDB\n" unless $driver =~ /^(mysql|MariaDB)$/;
my $prefix = lc $driver;
$| = 1;

my $TEXT = "Füße, 東京, 🦀, \\ ' \" \0 end";
my $TLS = ($ENV{DB_TLS} // '') ne '0';
my $COMPRESS = ($ENV{DB_COMPRESS} // '') eq '1';
my %LEFT_OUT = map { $_ => 1 } split ' ', $ENV{DB_LEAVE_OUT} // '';

sub connected {
    my ($options, $password) = @_;
    my $source = "DBI:$driver:database=$ENV{DB_SCHEMA};host=$ENV{DB_HOST};port=$ENV{DB_PORT}" . ($options // '');
    my $unicode = $driver eq 'mysql' ? { mysql_enable_utf8mb4 => 1 } : {};
    return DBI->connect($source, $ENV{DB_USER}, $password // $ENV{DB_PASSWORD}, { RaiseError => 1, PrintError => 0, %$unicode });
}

sub plain {
    my ($value) = @_;
    return 'NULL' unless defined $value;
    return ref $value ? '[' . join(', ', map { plain($_) } @$value) . ']' : "'$value'";
}

sub same {
    my ($got, $wanted) = map { plain($_) } @_;
    die sprintf("got %.400s, wanted %.400s\n", $got, $wanted) if $got ne $wanted;
}

sub rows {
    my ($db, $sql, @values) = @_;
    return $db->selectall_arrayref($sql, undef, @values);
}

sub refused {
    my ($code, $state, $attempt) = @_;
    eval { $attempt->(); 1 } and die "error $code did not come\n";
    same([$DBI::err, $DBI::state], [$code, $state]);
}

# What asks for TLS. With MariaDB's library the drivers do not insist on it unless they verify, and take it where it is there.
my $TLS_OPTIONS = ";${prefix}_ssl=1;${prefix}_ssl_optional=1";

# A statement prepared on the server, which these drivers do only when asked.
sub prepared {
    my ($db, $sql) = @_;
    return $db->prepare($sql, { "${prefix}_server_prepare" => 1 });
}

# What shows that a connection of another kind carries everything.
sub exchange {
    my $db = connected(@_);
    my $text = $TEXT x 1000;
    $db->do('UPDATE people SET note = ?', undef, $text);
    same(rows($db, 'SELECT note FROM people'), [[$text]]);
    refused(1062, '23000', sub { $db->do("INSERT INTO people (name) VALUES ('Ada')") });
    same(scalar @{ rows($db, 'SELECT n FROM numbers') }, 10000);
    $db->disconnect;
}

my @steps = (
    select => sub {
        same(rows($_[0], "SELECT 1 + 1, 'a', NULL"), [[2, 'a', undef]]);
    },
    generated_keys => sub {
        my ($db) = @_;
        $db->do('CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT) DEFAULT CHARSET utf8mb4');
        same($db->do('INSERT INTO people (name) VALUES (?)', undef, 'Ada'), 1);
        same($db->last_insert_id(undef, undef, 'people', 'id'), 1);
        same(rows($db, 'SELECT name, note FROM people WHERE id = ?', 1), [['Ada', undef]]);
    },
    batches => sub {
        my ($db) = @_;
        my $insert = $db->prepare('INSERT INTO people (name) VALUES (?)');
        $insert->execute_array({}, [map { "p$_" } 1 .. 200]);
        same(rows($db, 'SELECT COUNT(*) FROM people'), [[201]]);
        same($db->do("DELETE FROM people WHERE name <> 'Ada'"), 200);
    },
    transactions => sub {
        my ($db) = @_;
        $db->begin_work;
        $db->do("UPDATE people SET note = 'lost'");
        $db->rollback;
        same(rows($db, 'SELECT note FROM people'), [[undef]]);
        $db->begin_work;
        $db->do('UPDATE people SET note = ?', undef, 'kept');
        $db->do('SAVEPOINT half');
        $db->do("UPDATE people SET note = 'lost'");
        $db->do('ROLLBACK TO SAVEPOINT half');
        $db->commit;
        same(rows($db, 'SELECT note FROM people'), [['kept']]);
    },
    own_writes => sub {
        my ($db) = @_;
        my $other = connected();
        for my $number (1 .. 50) {
            $db->do('UPDATE people SET note = ?', undef, $number);
            same(rows($_, 'SELECT note FROM people'), [[$number]]) for $db, $other;
        }
        $other->disconnect;
    },
    types => sub {
        my ($db) = @_;
        $db->do("CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, money DECIMAL(20,4),
            day DATE, moment DATETIME(6), span TIME, name VARCHAR(50), doc JSON, choice ENUM('a','b')) DEFAULT CHARSET utf8mb4");
        my $row = [1, -128, '18446744073709551615', 1.5, '-1234567890123456.7891', '1815-12-10', '2026-11-30 18:45:01.123456',
            '-12:30:05', 'é🦀', '{"a": [1, null]}', 'b'];
        my $nothing = [2, (undef) x 10];
        my $marks = join ', ', ('?') x 11;
        for my $insert ($db->prepare("INSERT INTO kinds VALUES ($marks)"), prepared($db, "INSERT INTO kinds VALUES ($marks)")) {
            $db->do('DELETE FROM kinds');
            $insert->execute(@$_) for $row, $nothing;
            same(rows($db, 'SELECT * FROM kinds ORDER BY id'), [$row, $nothing]);
        }
    },
    prepared_statements => sub {
        my ($db) = @_;
        my $statement = prepared($db, 'SELECT ? + 1, ?, ?');
        for my $number (1 .. 20) {
            $statement->execute($number, 'é🦀', undef);
            same($statement->fetchall_arrayref, [[$number + 1, 'é🦀', undef]]);
        }
    },
    errors => sub {
        my ($db) = @_;
        refused(1062, '23000', sub { $db->do("INSERT INTO people (name) VALUES ('Ada')") });
        refused(1062, '23000', sub { prepared($db, 'INSERT INTO people (name) VALUES (?)')->execute('Ada') });
        refused(1064, '42000', sub { $db->do('SELEC 1') });
        refused(1146, '42S02', sub { rows($db, 'SELECT * FROM nothing_of_that_name') });
        same(rows($db, 'SELECT 1'), [[1]]);
    },
    unicode_text => sub {
        my ($db) = @_;
        $db->do('UPDATE people SET note = ?', undef, $TEXT);
        same(rows($db, 'SELECT note, CHAR_LENGTH(note) FROM people'), [[$TEXT, length $TEXT]]);
    },
    large_rows => sub {
        my ($db) = @_;
        $db->do('CREATE TABLE blobs (id INT PRIMARY KEY, data LONGTEXT)');
        my ($most) = $db->selectrow_array('SELECT @@max_allowed_packet');
        for my $size ($most > 40 << 20 ? (1 << 20, 17 << 20) : (1 << 20)) {
            my $data = '0123456789abcdef' x ($size / 16);
            $db->do('REPLACE INTO blobs VALUES (1, ?)', undef, $data);
            my $read = rows($db, 'SELECT data FROM blobs WHERE id = 1')->[0][0];
            die "$size bytes that differ\n" if $read ne $data;
        }
    },
    streaming => sub {
        my ($db) = @_;
        $db->do('CREATE TABLE numbers (n INT PRIMARY KEY)');
        $db->do('INSERT INTO numbers VALUES ' . join ', ', map { "($_)" } 0 .. 9999);
        # DBD::MariaDB finds no row that it has not stored first.
        my $statement = $db->prepare('SELECT a.n FROM numbers a JOIN numbers b WHERE b.n < 10 ORDER BY a.n',
            { "${prefix}_use_result" => $driver eq 'mysql' });
        $statement->execute;
        my $next = 0;
        while (my $row = $statement->fetchrow_arrayref) {
            die "row $next differs\n" if $row->[0] != int($next++ / 10);
        }
        same($next, 100000);
    },
    several_statements => sub {
        my $db = connected(";${prefix}_multi_statements=1");
        my $statement = $db->prepare("SELECT 1; SELECT 2, 3; SELECT 'x'");
        $statement->execute;
        my @results;
        do { push @results, $statement->fetchall_arrayref } while $statement->more_results;
        same(\@results, [[[1]], [[2, 3]], [['x']]]);
        $db->disconnect;
    },
    procedures => sub {
        my ($db) = @_;
        $db->do('CREATE PROCEDURE twice(a INT) BEGIN SELECT a; SELECT a * 2; END');
        my $statement = $db->prepare('CALL twice(21)');
        $statement->execute;
        my @results;
        do { push @results, $statement->fetchall_arrayref if $statement->{NUM_OF_FIELDS} } while $statement->more_results;
        same(\@results, [[[21]], [[42]]]);
    },
    session_state => sub {
        my ($db) = @_;
        $db->do('SET @number = 5');
        same(rows($db, 'SELECT @number'), [[5]]);
        $db->do('USE mysql');
        same(rows($db, 'SELECT DATABASE()'), [['mysql']]);
        $db->do("USE $ENV{DB_SCHEMA}");
    },
    killed_statement => sub {
        my ($db) = @_;
        my ($number) = $db->selectrow_array('SELECT CONNECTION_ID()');
        my $killer = fork;
        if (!$killer) {
            $db->{InactiveDestroy} = 1;
            sleep 0.3;
            connected()->do("KILL QUERY $number");
            POSIX::_exit(0);
        }
        refused(1317, '70100', sub { rows($db, 'SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9') });
        waitpid $killer, 0;
        same(rows($db, 'SELECT 1'), [[1]]);
    },
    time_out => sub {
        my $started = time;
        my $db = connected(";${prefix}_read_timeout=1");
        eval { rows($db, 'SELECT SLEEP(20)'); 1 } and die "the statement was waited for\n";
        die "the statement was waited for\n" if time - $started > 10;
    },
    killed_connection => sub {
        my ($db) = @_;
        my $other = connected();
        my ($number) = $other->selectrow_array('SELECT CONNECTION_ID()');
        $db->do("KILL $number");
        sleep 0.5;
        die "the connection outlived its end\n" if $other->ping;
        same(rows(connected(), 'SELECT COUNT(*) FROM numbers'), [[10000]]);
    },
    tls => sub {
        return 'DB_TLS is 0' unless $TLS;
        exchange($TLS_OPTIONS);
        return;
    },
    compression => sub {
        return 'DB_COMPRESS is not 1' unless $COMPRESS;
        exchange(";${prefix}_compression=1");
        exchange(";${prefix}_compression=1$TLS_OPTIONS") if $TLS;
        return;
    },
    connecting_again => sub {
        for (1 .. 10) {
            my $other = connected();
            same(rows($other, 'SELECT DATABASE()'), [[$ENV{DB_SCHEMA}]]);
            $other->disconnect;
        }
    },
    a_wrong_password => sub {
        refused(1045, '28000', sub { connected('', 'wrong') });
    },
);

binmode STDERR, ':encoding(UTF-8)';
my $db = connected();
while (my ($name, $step) = splice @steps, 0, 2) {
    my $skipped = $LEFT_OUT{$name} ? 'left out' : eval { $step->($db) };
    die "$name: $@" if $@;
    print $skipped && $skipped =~ /^(DB_|left)/ ? "skip $name: $skipped\n" : "ok $name\n";
}
$db->disconnect;
