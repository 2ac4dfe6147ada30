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
	must(tx.Commit())
	must(db.QueryRow("SELECT note FROM people").Scan(&note))
	same(note.String, "kept")
	tx, err = db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	must(err)
	must(tx.QueryRow("SELECT note FROM people").Scan(&note))
	must(tx.Commit())
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
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	_, err = db.Exec("INSERT INTO blobs VALUES (?, ?)", 1, data)
	must(err)
	for _, query := range []string{"SELECT data FROM blobs WHERE id = 1", "SELECT data FROM blobs WHERE id = ?"} {
		var arguments []any
		if strings.Contains(query, "?") {
			arguments = append(arguments, 1)
		}
		var got []byte
		must(db.QueryRow(query, arguments...).Scan(&got))
		if !bytes.Equal(got, data) {
			must(fmt.Errorf("%d bytes that differ", len(got)))
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

func main() {
	db := open("")
	steps := []struct {
		name string
		run  func(*sql.DB)
	}{
		{"select", sel}, {"insertAndLastId", insertAndLastId}, {"transactions", transactions},
		{"preparedStatements", preparedStatements}, {"refusals", refusals}, {"unicodeText", unicodeText},
		{"aLargeRow", aLargeRow}, {"manyRows", manyRows}, {"severalStatements", severalStatements},
		{"connectingAgain", connectingAgain},
	}
	for _, step := range steps {
		step.run(db)
		fmt.Println("ok", step.name)
	}
	must(db.Close())
}
