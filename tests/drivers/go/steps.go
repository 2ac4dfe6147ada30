// The steps of Go's driver.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func same(got, wanted any) {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		must(fmt.Errorf("got %v, wanted %v", got, wanted))
	}
}

func refused(code uint16, err error) {
	var told *mysql.MySQLError
	if !errors.As(err, &told) {
		must(fmt.Errorf("got %v, wanted error %d", err, code))
	}
	same(told.Number, code)
}

func source(password, options string) string {
	return fmt.Sprintf("%s:%s@tcp(%s:%s)/%s%s", os.Getenv("DB_USER"), password, os.Getenv("DB_HOST"),
		os.Getenv("DB_PORT"), os.Getenv("DB_SCHEMA"), options)
}

func open(options string) *sql.DB {
	db, err := sql.Open("mysql", source(os.Getenv("DB_PASSWORD"), options))
	must(err)
	return db
}

func sel(db *sql.DB) {
	var two int
	var text string
	var nothing sql.NullString
	must(db.QueryRow("SELECT 1 + 1, 'a', NULL").Scan(&two, &text, &nothing))
	same([]any{two, text, nothing.Valid}, []any{2, "a", false})
}

func insertAndLastId(db *sql.DB) {
	_, err := db.Exec("CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT)" +
		" DEFAULT CHARSET utf8mb4")
	must(err)
	// With parameters the driver prepares on the server by itself.
	result, err := db.Exec("INSERT INTO people (name) VALUES (?)", "Ada")
	must(err)
	id, err := result.LastInsertId()
	must(err)
	affected, err := result.RowsAffected()
	must(err)
	same([]int64{id, affected}, []int64{1, 1})
	var name string
	must(db.QueryRow("SELECT name FROM people WHERE id = ?", id).Scan(&name))
	same(name, "Ada")
}

func transactions(db *sql.DB) {
	tx, err := db.Begin()
	must(err)
	_, err = tx.Exec("UPDATE people SET note = 'lost'")
	must(err)
	must(tx.Rollback())
	tx, err = db.Begin()
	must(err)
	var note sql.NullString
	must(tx.QueryRow("SELECT note FROM people").Scan(&note))
	same(note.Valid, false)
	_, err = tx.Exec("UPDATE people SET note = ?", "kept")
	must(err)
	for _, sql := range []string{"SAVEPOINT half", "UPDATE people SET note = 'lost'", "ROLLBACK TO SAVEPOINT half"} {
		_, err = tx.Exec(sql)
		must(err)
	}
	must(tx.Commit())
	must(db.QueryRow("SELECT note FROM people").Scan(&note))
	same(note.String, "kept")
	tx, err = db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	must(err)
	must(tx.QueryRow("SELECT note FROM people").Scan(&note))
	must(tx.Commit())
}

func ownWrites(db *sql.DB) {
	other := open("")
	defer other.Close()
	for number := 0; number < 50; number++ {
		_, err := db.Exec("UPDATE people SET note = ?", fmt.Sprint(number))
		must(err)
		for _, reader := range []*sql.DB{db, other} {
			var note string
			must(reader.QueryRow("SELECT note FROM people").Scan(&note))
			same(note, number)
		}
	}
}

func types(*sql.DB) {
	db := open("?parseTime=true")
	defer db.Close()
	_, err := db.Exec("CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, ratio DOUBLE," +
		" money DECIMAL(20,4), moment DATETIME(6), span TIME(3), code VARBINARY(20), name VARCHAR(50), doc JSON)" +
		" DEFAULT CHARSET utf8mb4")
	must(err)
	moment := time.Date(2026, 11, 30, 18, 45, 1, 123456000, time.UTC)
	insert := "INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	_, err = db.Exec(insert, 1, -128, uint64(1<<64-1), 1.5e100, "-1234567890123456.7891", moment, "-12:30:05.250",
		[]byte{0, 255, 39, 92, 10}, "é🦀", `{"a": [1, null]}`)
	must(err)
	_, err = db.Exec(insert, 2, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	must(err)
	// Without parameters it comes as text, with parameters as prepared statements have it.
	for _, query := range []string{"SELECT * FROM kinds WHERE id = 1", "SELECT * FROM kinds WHERE id = ?"} {
		var arguments []any
		if strings.Contains(query, "?") {
			arguments = append(arguments, 1)
		}
		var id, tiny int
		var big uint64
		var ratio float64
		var money, span, name, doc string
		var at time.Time
		var code []byte
		must(db.QueryRow(query, arguments...).Scan(&id, &tiny, &big, &ratio, &money, &at, &span, &code, &name, &doc))
		same([]any{id, tiny, big, ratio, money, at, span, code, name, doc}, []any{1, -128, uint64(1<<64 - 1), 1.5e100,
			"-1234567890123456.7891", moment, "-12:30:05.250", []byte{0, 255, 39, 92, 10}, "é🦀", `{"a": [1, null]}`})
	}
	rows, err := db.Query("SELECT * FROM kinds WHERE id = ?", 2)
	must(err)
	defer rows.Close()
	rows.Next()
	values := make([]any, 10)
	pointers := make([]any, 10)
	for number := range values {
		pointers[number] = &values[number]
	}
	must(rows.Scan(pointers...))
	for _, value := range values[1:] {
		same(value, nil)
	}
}

func preparedStatements(db *sql.DB) {
	update, err := db.Prepare("UPDATE people SET note = ? WHERE name = ?")
	must(err)
	read, err := db.Prepare("SELECT note, ?, ? FROM people WHERE name = ?")
	must(err)
	for number := 0; number < 50; number++ {
		_, err := update.Exec(fmt.Sprint("n", number), "Ada")
		must(err)
		var note, text string
		var nothing sql.NullInt64
		must(read.QueryRow("é🦀", nil, "Ada").Scan(&note, &text, &nothing))
		same([]any{note, text, nothing.Valid}, []any{fmt.Sprint("n", number), "é🦀", false})
	}
	must(update.Close())
	must(read.Close())
}

func refusals(db *sql.DB) {
	_, err := db.Exec("INSERT INTO people (name) VALUES ('Ada')")
	refused(1062, err)
	_, err = db.Exec("INSERT INTO people (name) VALUES (?)", "Ada")
	refused(1062, err)
	_, err = db.Exec("SELEC 1")
	refused(1064, err)
	_, err = db.Query("SELECT * FROM nothing_of_that_name WHERE id = ?", 1)
	refused(1146, err)
	sel(db)
}

func unicodeText(db *sql.DB) {
	text := "Füße, 東京, 🦀, \\ ' \" \x00 end"
	_, err := db.Exec("UPDATE people SET note = ?", text)
	must(err)
	var note string
	must(db.QueryRow("SELECT note FROM people").Scan(&note))
	same(note, text)
}

func aLargeRow(db *sql.DB) {
	_, err := db.Exec("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)")
	must(err)
	var most int
	must(db.QueryRow("SELECT @@max_allowed_packet").Scan(&most))
	sizes := []int{1 << 20}
	if most > 40<<20 {
		sizes = append(sizes, 17<<20)
	}
	// The driver sends no more in a packet than it is told to, or asks the server.
	wide := open("?maxAllowedPacket=0")
	defer wide.Close()
	for id, size := range sizes {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16)
		_, err = wide.Exec("INSERT INTO blobs VALUES (?, ?)", id, data)
		must(err)
		var text, binary []byte
		must(wide.QueryRow(fmt.Sprintf("SELECT data FROM blobs WHERE id = %d", id)).Scan(&text))
		must(wide.QueryRow("SELECT data FROM blobs WHERE id = ?", id).Scan(&binary))
		if !bytes.Equal(text, data) || !bytes.Equal(binary, data) {
			must(fmt.Errorf("%d bytes that differ", size))
		}
	}
}

func manyRows(db *sql.DB) {
	_, err := db.Exec("CREATE TABLE numbers (n INT PRIMARY KEY)")
	must(err)
	values := make([]string, 10000)
	for n := range values {
		values[n] = fmt.Sprintf("(%d)", n)
	}
	_, err = db.Exec("INSERT INTO numbers VALUES " + strings.Join(values, ", "))
	must(err)
	rows, err := db.Query("SELECT n FROM numbers ORDER BY n")
	must(err)
	next := 0
	for rows.Next() {
		var n int
		must(rows.Scan(&n))
		same(n, next)
		next++
	}
	must(rows.Err())
	same(next, 10000)
}

func severalStatements(*sql.DB) {
	db := open("?multiStatements=true&interpolateParams=true")
	defer db.Close()
	rows, err := db.Query("SELECT ?; SELECT 'x'", 1)
	must(err)
	var number int
	var text string
	rows.Next()
	must(rows.Scan(&number))
	if !rows.NextResultSet() {
		must(errors.New("no second result"))
	}
	rows.Next()
	must(rows.Scan(&text))
	same([]any{number, text}, []any{1, "x"})
	must(rows.Close())
}

func procedures(db *sql.DB) {
	_, err := db.Exec("CREATE PROCEDURE twice(a INT) BEGIN SELECT a; SELECT a * 2; END")
	must(err)
	several := open("?multiStatements=true")
	defer several.Close()
	rows, err := several.Query("CALL twice(?)", 21)
	must(err)
	defer rows.Close()
	for _, wanted := range []int{21, 42} {
		var got int
		rows.Next()
		must(rows.Scan(&got))
		same(got, wanted)
		rows.NextResultSet()
	}
	must(rows.Err())
}

// A connection of its own, and the server's number of it.
func single(db *sql.DB) (*sql.Conn, int) {
	conn, err := db.Conn(context.Background())
	must(err)
	var number int
	must(conn.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&number))
	return conn, number
}

func killedStatement(db *sql.DB) {
	conn, number := single(db)
	defer conn.Close()
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, err := db.Exec(fmt.Sprintf("KILL QUERY %d", number))
		must(err)
	}()
	var count int
	refused(1317, conn.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9").Scan(&count))
}

func timeOut(*sql.DB) {
	db := open("")
	defer db.Close()
	limited, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	started := time.Now()
	var slept int
	err := db.QueryRowContext(limited, "SELECT SLEEP(20)").Scan(&slept)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) > 10*time.Second {
		must(fmt.Errorf("got %v after %v", err, time.Since(started)))
	}
	sel(db)
}

func killedConnection(db *sql.DB) {
	pool := open("")
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	conn, number := single(pool)
	must(conn.Close())
	_, err := db.Exec(fmt.Sprintf("KILL %d", number))
	must(err)
	time.Sleep(500 * time.Millisecond)
	// The pool sees for itself that its connection was closed.
	var count int
	must(pool.QueryRow("SELECT COUNT(*) FROM numbers").Scan(&count))
	same(count, 10000)
}

func tls(*sql.DB) {
	db := open("?tls=skip-verify")
	defer db.Close()
	text := strings.Repeat("é🦀", 5000)
	_, err := db.Exec("UPDATE people SET note = ?", text)
	must(err)
	var note string
	must(db.QueryRow("SELECT note FROM people").Scan(&note))
	same(note, text)
	_, err = db.Exec("INSERT INTO people (name) VALUES (?)", "Ada")
	refused(1062, err)
}

func connectingAgain(db *sql.DB) {
	must(db.Ping())
	for number := 0; number < 20; number++ {
		other := open("")
		var schema string
		must(other.QueryRow("SELECT DATABASE()").Scan(&schema))
		same(schema, os.Getenv("DB_SCHEMA"))
		must(other.Close())
	}
	wrong, err := sql.Open("mysql", source("wrong", ""))
	must(err)
	refused(1045, wrong.Ping())
}

func contains(names []string, wanted string) bool {
	for _, name := range names {
		if name == wanted {
			return true
		}
	}
	return false
}

func main() {
	db := open("")
	steps := []struct {
		name string
		run  func(*sql.DB)
	}{
		{"select", sel}, {"insertAndLastId", insertAndLastId}, {"transactions", transactions},
		{"ownWrites", ownWrites}, {"types", types}, {"preparedStatements", preparedStatements}, {"refusals", refusals}, {"unicodeText", unicodeText},
		{"aLargeRow", aLargeRow}, {"manyRows", manyRows}, {"severalStatements", severalStatements},
		{"procedures", procedures}, {"killedStatement", killedStatement}, {"timeOut", timeOut},
		{"killedConnection", killedConnection}, {"tls", tls}, {"connectingAgain", connectingAgain},
	}
	leftOut := strings.Fields(os.Getenv("DB_LEAVE_OUT"))
	if os.Getenv("DB_TLS") == "0" {
		leftOut = append(leftOut, "tls")
	}
	for _, step := range steps {
		if contains(leftOut, step.name) {
			fmt.Printf("skip %s: left out\n", step.name)
			continue
		}
		step.run(db)
		fmt.Println("ok", step.name)
	}
	must(db.Close())
}
