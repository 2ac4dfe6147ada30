//! mysql_async.

use std::time::Duration;

use mysql_async::prelude::*;
use mysql_async::{Conn, Error, Opts, OptsBuilder, Pool, Row, SslOpts, TxOpts, params};

use crate::{Failure, TEXT, Target, large};

fn options(target: &Target, password: &str) -> Opts {
    OptsBuilder::default()
        .ip_or_hostname(&target.host)
        .tcp_port(target.port)
        .user(Some(&target.user))
        .pass(Some(password))
        .db_name(Some(&target.schema))
        .into()
}

fn refused<T>(code: u16, state: &str, outcome: Result<T, Error>) {
    match outcome {
        Err(Error::Server(error)) => assert_eq!((error.code, error.state.as_str()), (code, state)),
        Err(error) => panic!("wanted error {code}, got {error}"),
        Ok(_) => panic!("wanted error {code}, got none"),
    }
}

pub async fn run(target: &Target) -> Result<(), Failure> {
    let options = options(target, &target.password);
    let mut db = Conn::new(options.clone()).await?;

    let row: (u32, String, Option<String>) =
        db.query_first("SELECT 1 + 1, 'a', NULL").await?.ok_or("no row")?;
    assert_eq!(row, (2, "a".to_owned(), None));
    println!("ok select");

    db.query_drop(
        "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT) \
         DEFAULT CHARSET utf8mb4",
    )
    .await?;
    db.exec_drop("INSERT INTO people (name) VALUES (?)", ("Ada",)).await?;
    assert_eq!((db.last_insert_id(), db.affected_rows()), (Some(1), 1));
    db.exec_batch(
        "INSERT INTO people (name) VALUES (:name)",
        (0..100).map(|n| params! { "name" => format!("p{n}") }),
    )
    .await?;
    assert_eq!(db.query_first::<u32, _>("SELECT COUNT(*) FROM people").await?, Some(101));
    println!("ok insert_and_last_id");

    let mut transaction = db.start_transaction(TxOpts::default()).await?;
    transaction.query_drop("UPDATE people SET note = 'lost'").await?;
    transaction.rollback().await?;
    let mut transaction = db.start_transaction(TxOpts::default()).await?;
    transaction.exec_drop("UPDATE people SET note = ? WHERE name = 'Ada'", ("kept",)).await?;
    transaction.query_drop("SAVEPOINT half").await?;
    transaction.query_drop("UPDATE people SET note = 'lost'").await?;
    transaction.query_drop("ROLLBACK TO SAVEPOINT half").await?;
    transaction.commit().await?;
    let notes: Vec<String> = db.query("SELECT note FROM people WHERE note IS NOT NULL").await?;
    assert_eq!(notes, ["kept"]);
    println!("ok transactions");

    let read = db.prep("SELECT note, ? + 1, ?, ? FROM people WHERE name = ?").await?;
    for number in 0..50 {
        let note = format!("n{number}");
        db.exec_drop("UPDATE people SET note = ? WHERE name = ?", (&note, "Ada")).await?;
        let row: Option<(String, u32, String, Option<u32>)> =
            db.exec_first(&read, (number, TEXT, None::<u32>, "Ada")).await?;
        assert_eq!(row, Some((note, number + 1, TEXT.to_owned(), None)));
    }
    db.close(read).await?;
    println!("ok prepared_statements");

    refused(1062, "23000", db.query_drop("INSERT INTO people (name) VALUES ('Ada')").await);
    refused(1062, "23000", db.exec_drop("INSERT INTO people (name) VALUES (?)", ("Ada",)).await);
    refused(1064, "42000", db.query_drop("SELEC 1").await);
    refused(1146, "42S02", db.exec_drop("SELECT * FROM nothing_of_that_name WHERE id = ?", (1,)).await);
    println!("ok errors");

    db.exec_drop("UPDATE people SET note = ? WHERE name = 'Ada'", (TEXT,)).await?;
    let note: Option<String> = db.query_first("SELECT note FROM people WHERE name = 'Ada'").await?;
    assert_eq!(note.as_deref(), Some(TEXT));
    println!("ok unicode_text");

    db.query_drop("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)").await?;
    db.exec_drop("INSERT INTO blobs VALUES (?, ?)", (1, large())).await?;
    assert_eq!(db.query_first::<Vec<u8>, _>("SELECT data FROM blobs WHERE id = 1").await?, Some(large()));
    assert_eq!(
        db.exec_first::<Vec<u8>, _, _>("SELECT data FROM blobs WHERE id = ?", (1,)).await?,
        Some(large())
    );
    println!("ok a_large_row");

    db.query_drop("CREATE TABLE numbers (n INT PRIMARY KEY)").await?;
    let values: Vec<String> = (0..10_000).map(|n| format!("({n})")).collect();
    db.query_drop(format!("INSERT INTO numbers VALUES {}", values.join(", "))).await?;
    let numbers: Vec<u32> = db.query("SELECT n FROM numbers ORDER BY n").await?;
    assert!(numbers.into_iter().eq(0..10_000));
    let numbers: Vec<u32> = db.exec("SELECT n FROM numbers WHERE n >= ? ORDER BY n", (0,)).await?;
    assert!(numbers.into_iter().eq(0..10_000));
    println!("ok many_rows");

    let mut results = db.query_iter("SELECT 1; SELECT 'x'; SELECT 3 FROM numbers LIMIT 2").await?;
    assert_eq!(results.collect::<u32>().await?, [1]);
    assert_eq!(results.collect::<String>().await?, ["x"]);
    assert_eq!(results.collect::<u32>().await?, [3, 3]);
    results.drop_result().await?;
    println!("ok several_statements");

    db.query_drop("CREATE PROCEDURE twice(a INT) BEGIN SELECT a; SELECT a * 2; END").await?;
    let mut results = db.exec_iter("CALL twice(?)", (21,)).await?;
    assert_eq!(results.collect::<u32>().await?, [21]);
    assert_eq!(results.collect::<u32>().await?, [42]);
    results.drop_result().await?;
    println!("ok procedures");

    db.query_drop("SET @number = 5").await?;
    assert_eq!(db.query_first::<u32, _>("SELECT @number").await?, Some(5));
    assert!(db.reset().await?);
    assert_eq!(db.query_first::<Option<u32>, _>("SELECT @number").await?, Some(None));
    db.ping().await?;
    println!("ok session_state");

    let number = db.id();
    let other = options.clone();
    let killer = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut other = Conn::new(other).await?;
        other.query_drop(format!("KILL QUERY {number}")).await
    });
    let stopped = db.query_first::<u32, _>("SELECT COUNT(*) FROM numbers WHERE SLEEP(20) = 9").await;
    refused(1317, "70100", stopped);
    killer.await??;
    println!("ok killed_statement");

    let mut other = Conn::new(options.clone()).await?;
    db.query_drop(format!("KILL {}", other.id())).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(other.query_drop("SELECT 1").await.is_err());
    println!("ok killed_connection");

    if target.tls {
        let unverified = SslOpts::default()
            .with_danger_accept_invalid_certs(true)
            .with_danger_skip_domain_validation(true);
        let with_tls = OptsBuilder::from_opts(options.clone()).ssl_opts(unverified);
        let mut other = Conn::new(with_tls).await?;
        other.exec_drop("UPDATE people SET note = ? WHERE name = 'Ada'", (TEXT.repeat(1000),)).await?;
        let note: Option<String> =
            other.exec_first("SELECT note FROM people WHERE name = ?", ("Ada",)).await?;
        assert_eq!(note, Some(TEXT.repeat(1000)));
        other.disconnect().await?;
        println!("ok tls");
    } else {
        println!("skip tls: DB_TLS is 0");
    }

    let pool = Pool::new(options);
    for _ in 0..20 {
        let mut db = pool.get_conn().await?;
        let row: Row = db.query_first("SELECT DATABASE(), COUNT(*) FROM numbers").await?.ok_or("no row")?;
        assert_eq!(mysql_async::from_row::<(String, u32)>(row), (target.schema.clone(), 10_000));
    }
    pool.disconnect().await?;
    db.disconnect().await?;
    refused(1045, "28000", Conn::new(self::options(target, "wrong")).await);
    println!("ok connecting_again");
    Ok(())
}
