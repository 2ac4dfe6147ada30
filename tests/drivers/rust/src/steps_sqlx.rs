//! sqlx.

use sqlx::mysql::{MySqlConnectOptions, MySqlDatabaseError, MySqlPool, MySqlSslMode};
use sqlx::{Connection, Error, MySqlConnection, Row};

use crate::{Failure, TEXT, Target, large};

fn options(target: &Target, password: &str) -> MySqlConnectOptions {
    MySqlConnectOptions::new()
        .host(&target.host)
        .port(target.port)
        .username(&target.user)
        .password(password)
        .database(&target.schema)
}

fn refused<T>(code: u16, state: &str, outcome: Result<T, Error>) {
    let Err(error) = outcome else { panic!("wanted error {code}, got none") };
    let Some(told) = error.as_database_error() else { panic!("wanted error {code}, got {error}") };
    assert_eq!(told.downcast_ref::<MySqlDatabaseError>().number(), code);
    assert_eq!(told.code().as_deref(), Some(state));
}

pub async fn run(target: &Target) -> Result<(), Failure> {
    let mut db = MySqlConnection::connect_with(&options(target, &target.password)).await?;

    let row: (i64, String, Option<String>) =
        sqlx::query_as("SELECT CAST(1 + 1 AS SIGNED), 'a', CAST(NULL AS CHAR)").fetch_one(&mut db).await?;
    assert_eq!(row, (2, "a".to_owned(), None));
    println!("ok select");

    let create = "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) UNIQUE, note TEXT) \
                  DEFAULT CHARSET utf8mb4";
    sqlx::raw_sql(create).execute(&mut db).await?;
    let done = sqlx::query("INSERT INTO people (name) VALUES (?)").bind("Ada").execute(&mut db).await?;
    assert_eq!((done.last_insert_id(), done.rows_affected()), (1, 1));
    println!("ok insert_and_last_id");

    let mut transaction = db.begin().await?;
    sqlx::query("UPDATE people SET note = 'lost'").execute(&mut *transaction).await?;
    transaction.rollback().await?;
    let mut transaction = db.begin().await?;
    let mut savepoint = Connection::begin(&mut *transaction).await?;
    sqlx::query("UPDATE people SET note = ?").bind("kept").execute(&mut *savepoint).await?;
    savepoint.commit().await?;
    transaction.commit().await?;
    let note: String = sqlx::query_scalar("SELECT note FROM people").fetch_one(&mut db).await?;
    assert_eq!(note, "kept");
    println!("ok transactions");

    for number in 0..50 {
        let note = format!("n{number}");
        sqlx::query("UPDATE people SET note = ? WHERE name = ?")
            .bind(&note)
            .bind("Ada")
            .execute(&mut db)
            .await?;
        let row: (String, String, Option<i32>) =
            sqlx::query_as("SELECT note, ?, ? FROM people WHERE name = ?")
                .bind(TEXT)
                .bind(None::<i32>)
                .bind("Ada")
                .fetch_one(&mut db)
                .await?;
        assert_eq!(row, (note, TEXT.to_owned(), None));
    }
    println!("ok prepared_statements");

    refused(1062, "23000", sqlx::raw_sql("INSERT INTO people (name) VALUES ('Ada')").execute(&mut db).await);
    refused(
        1062,
        "23000",
        sqlx::query("INSERT INTO people (name) VALUES (?)").bind("Ada").execute(&mut db).await,
    );
    refused(1064, "42000", sqlx::query("SELEC 1").execute(&mut db).await);
    refused(1146, "42S02", sqlx::query("SELECT * FROM nothing_of_that_name").execute(&mut db).await);
    println!("ok errors");

    sqlx::query("CREATE TABLE blobs (id INT PRIMARY KEY, data LONGBLOB)").execute(&mut db).await?;
    sqlx::query("INSERT INTO blobs VALUES (1, ?)").bind(large()).execute(&mut db).await?;
    let data: Vec<u8> =
        sqlx::query_scalar("SELECT data FROM blobs WHERE id = ?").bind(1).fetch_one(&mut db).await?;
    assert!(data == large());
    println!("ok a_large_row");

    sqlx::query("CREATE TABLE numbers (n INT PRIMARY KEY)").execute(&mut db).await?;
    let mut insert = sqlx::QueryBuilder::<sqlx::MySql>::new("INSERT INTO numbers ");
    insert.push_values(0..10_000, |mut row, n| {
        row.push_bind(n);
    });
    insert.build().execute(&mut db).await?;
    let rows = sqlx::query("SELECT n FROM numbers ORDER BY n").fetch_all(&mut db).await?;
    assert!(rows.iter().map(|row| row.get::<i32, _>(0)).eq(0..10_000));
    println!("ok many_rows");

    let rows = sqlx::raw_sql("SELECT 1; SELECT 2").fetch_all(&mut db).await?;
    assert_eq!(rows.len(), 2);
    println!("ok several_statements");

    sqlx::raw_sql("SET @number = 5").execute(&mut db).await?;
    let number: i64 = sqlx::query_scalar("SELECT @number").fetch_one(&mut db).await?;
    assert_eq!(number, 5);
    db.ping().await?;
    db.close().await?;
    println!("ok session_state");

    for (name, mode) in [("tls", MySqlSslMode::Required), ("without_tls", MySqlSslMode::Disabled)] {
        if !target.tls && name == "tls" {
            println!("skip tls: DB_TLS is 0");
            continue;
        }
        let options = options(target, &target.password).ssl_mode(mode);
        let mut db = MySqlConnection::connect_with(&options).await?;
        sqlx::query("UPDATE people SET note = ?").bind(TEXT.repeat(1000)).execute(&mut db).await?;
        let note: String = sqlx::query_scalar("SELECT note FROM people").fetch_one(&mut db).await?;
        assert_eq!(note, TEXT.repeat(1000));
        db.close().await?;
        println!("ok {name}");
    }

    let pool = MySqlPool::connect_with(options(target, &target.password)).await?;
    for _ in 0..20 {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM numbers").fetch_one(&pool).await?;
        assert_eq!(count, 10_000);
    }
    pool.close().await;
    refused(1045, "28000", MySqlConnection::connect_with(&options(target, "wrong")).await);
    println!("ok connecting_again");
    Ok(())
}
