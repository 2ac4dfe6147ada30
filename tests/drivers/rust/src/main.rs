//! The steps of the Rust drivers: `drivers mysql_async` or `drivers sqlx`.

mod steps_mysql_async;
mod steps_sqlx;

/// Why a step failed.
type Failure = Box<dyn std::error::Error>;

/// Where to connect.
struct Target {
    host: String,
    port: u16,
    user: String,
    password: String,
    schema: String,
    tls: bool,
}

impl Target {
    fn from_environment() -> Result<Self, Failure> {
        let variable = |name| std::env::var(name);
        Ok(Self {
            host: variable("DB_HOST")?,
            port: variable("DB_PORT")?.parse()?,
            user: variable("DB_USER")?,
            password: variable("DB_PASSWORD")?,
            schema: variable("DB_SCHEMA")?,
            tls: variable("DB_TLS").map_or(true, |value| value != "0"),
        })
    }
}

/// Text outside of ASCII, and what must be escaped.
const TEXT: &str = "Füße, 東京, 🦀, \\ ' \" \0 end";

fn large() -> Vec<u8> {
    (0..=255).cycle().take(1 << 20).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let target = Target::from_environment()?;
    match std::env::args().nth(1).as_deref() {
        Some("mysql_async") => steps_mysql_async::run(&target).await,
        Some("sqlx") => steps_sqlx::run(&target).await,
        _ => Err("usage: drivers mysql_async|sqlx".into()),
    }
}
