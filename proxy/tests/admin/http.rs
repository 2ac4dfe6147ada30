//! A client for HTTP that knows nothing of the program's own.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

/// One request to the admin API on a UNIX socket; the status and the body.
pub(super) fn request(socket: &Path, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

/// A request that must be granted.
pub(super) fn granted(socket: &Path, method: &str, path: &str, body: &str) -> Value {
    let (status, body) = request(socket, method, path, body);
    assert_eq!(status, 200, "{method} {path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// The samples of the metrics that begin with these words.
pub(super) fn samples(socket: &Path, words: &str) -> Vec<(String, f64)> {
    let (status, text) = request(socket, "GET", "/metrics", "");
    assert_eq!(status, 200);
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    text.lines().filter(|line| line.starts_with(words)).map(sample).collect()
}

/// All of them together.
pub(super) fn sum(socket: &Path, words: &str) -> f64 {
    samples(socket, words).iter().map(|(_, value)| value).sum()
}
