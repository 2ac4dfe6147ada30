//! One request to an instance, over TCP or a UNIX socket.

use std::future::Future;
use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::config::{Address, Secret};

/// How long an instance may take to answer.
const LIMIT: Duration = Duration::from_secs(15);

/// The longest answer, in bytes: what is longer does not come from an instance.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Nobody answers, or what answers breaks off.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// No connection.
    #[error(
        "no instance answers on {address}: {source}; start it with tidemark run, or name another one with --admin"
    )]
    NotThere {
        /// Where it was looked for.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// The conversation broke.
    #[error("the instance on {address} broke off: {why}")]
    Broken {
        /// Where it is.
        address: Address,
        /// What happened.
        why: String,
    },
    /// It is silent.
    #[error("the instance on {address} did not answer within {} s", LIMIT.as_secs())]
    Silent {
        /// Where it is.
        address: Address,
    },
}

/// What the instance answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// Asks once; a body is JSON.
pub(crate) async fn ask(
    address: &Address,
    token: Option<&Secret>,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<Answer, Unreachable> {
    let broken = |why: String| Unreachable::Broken { address: address.clone(), why };
    let absent = |source| Unreachable::NotThere { address: address.clone(), source };
    let request = request(address, token, method, path, body).map_err(broken)?;
    let conversation = async {
        match address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(absent)?;
                converse(stream, request).await.map_err(broken)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(absent)?;
                converse(stream, request).await.map_err(broken)
            }
        }
    };
    timeout(LIMIT, conversation).await.map_err(|_| Unreachable::Silent { address: address.clone() })?
}

fn request(
    address: &Address,
    token: Option<&Secret>,
    method: Method,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<Request<Full<Bytes>>, String> {
    let host = match address {
        Address::Tcp { .. } => address.to_string(),
        Address::Unix(_) => "localhost".to_owned(),
    };
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    if let Some(token) = token {
        let value = [b"Bearer ", token.expose()].concat();
        let mut value =
            header::HeaderValue::from_bytes(&value).map_err(|error| format!("the token: {error}"))?;
        value.set_sensitive(true);
        request = request.header(header::AUTHORIZATION, value);
    }
    request.body(Full::from(body.unwrap_or_default())).map_err(|error| error.to_string())
}

async fn converse<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let text = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(text)?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_LIMIT).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes().to_vec();
        Ok(Answer { status, body })
    };
    both(answer, connection).await
}

/// The answer comes only while the connection is driven, too.
async fn both<T>(
    answer: impl Future<Output = Result<T, String>>,
    connection: impl Future<Output = Result<(), hyper::Error>>,
) -> Result<T, String> {
    tokio::pin!(answer, connection);
    tokio::select! {
        biased;
        outcome = &mut answer => outcome,
        ended = &mut connection => match ended {
            // The rest of the answer has been read already.
            Ok(()) => answer.await,
            Err(error) => Err(error.to_string()),
        },
    }
}
