//! The listener of the admin API: few connections, and none for long.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::config::Address;
use crate::listener::{Bound, bind};

/// Connections at a time; further ones wait in the kernel's queue.
const CONNECTIONS_LIMIT: usize = 64;

/// How long a client may take to send the head of a request, and may be silent between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a connection may last: a client that reads its answer slowly holds it no longer.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(600);

/// The most bytes of a request's head that are kept.
const HEAD_LIMIT: usize = 16 * 1024;

/// How long to wait when no connection can be accepted: the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A bound admin address.
#[derive(Debug)]
pub struct AdminListener {
    socket: Bound,
}

impl AdminListener {
    /// Binds the address.
    ///
    /// # Errors
    /// When it is in use or not this machine's.
    pub fn bind(address: &Address) -> io::Result<Self> {
        Ok(Self { socket: bind(address)? })
    }

    /// Answers requests, for ever.
    pub async fn serve(self, router: Router) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_LIMIT));
        loop {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let accepted = match &self.socket {
                Bound::Tcp(listener) => {
                    listener.accept().await.map(|(stream, _)| answer(stream, router.clone(), place))
                }
                Bound::Unix(listener) => {
                    listener.accept().await.map(|(stream, _)| answer(stream, router.clone(), place))
                }
            };
            if let Err(error) = accepted {
                tracing::error!(%error, "admin: cannot accept a connection; waiting a moment");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn answer<S>(stream: S, router: Router, place: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(HEAD_LIMIT)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        match timeout(CONNECTION_TIMEOUT, connection).await {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(error)) => tracing::debug!(%error, "admin: connection ended"),
        }
        drop(place);
    });
}
