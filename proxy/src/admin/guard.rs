//! Who may ask, and who may change: what every request must pass before it is looked at.
//!
//! A browser on this machine reaches a loopback address on behalf of any page it shows. So that no page can do that:
//! - a request to a listener on loopback must name this machine in `Host`: a page whose own name was made to resolve
//!   to 127.0.0.1 names itself there;
//! - a change must not come from a page of another origin (`Origin`, `Sec-Fetch-Site`), and its body must be
//!   JSON by its content type, which a form cannot send.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::reply::Refused;
use crate::config::{Address, AdminConfig, Secret};

/// What is asked of a request.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// The listener is on TCP and only this machine reaches it.
    loopback: bool,
    token: Option<Secret>,
}

impl Guard {
    pub(super) fn new(config: &AdminConfig) -> Self {
        let loopback = matches!(config.listen, Address::Tcp { .. }) && config.listen.is_local();
        Self { loopback, token: config.token.clone() }
    }

    fn admit(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refused> {
        if self.loopback && !names_this_machine(headers) {
            let text = "the Host of the request does not name this machine; use 127.0.0.1 or localhost";
            return Err(Refused::new(StatusCode::FORBIDDEN, text));
        }
        if matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        if comes_from_elsewhere(headers) {
            let text =
                "a change cannot be made from a page of another origin; use the command line or the API";
            return Err(Refused::new(StatusCode::FORBIDDEN, text));
        }
        match &self.token {
            Some(token) if !presents(headers, token) => {
                let text = "a change needs the token of [admin] token_file; send Authorization: Bearer TOKEN";
                Err(Refused::new(StatusCode::UNAUTHORIZED, text))
            }
            _ => Ok(()),
        }
    }
}

/// Lets a request through, or answers it.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.admit(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// An IP address cannot be made to mean another machine by DNS, and `localhost` is never asked of it.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = text(headers, header::HOST) else { return true };
    let host = without_port(host);
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let fetched = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if fetched.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return true;
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return false };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    match (origin, text(headers, header::HOST)) {
        (Some((_, origin)), Some(host)) => !origin.eq_ignore_ascii_case(host),
        _ => true,
    }
}

fn presents(headers: &HeaderMap, token: &Secret) -> bool {
    let Some(given) = text(headers, header::AUTHORIZATION) else { return false };
    let Some((scheme, given)) = given.split_once(' ') else { return false };
    // The time the comparison takes tells nothing about where the two differ.
    scheme.eq_ignore_ascii_case("bearer")
        && aws_lc_rs::constant_time::verify_slices_are_equal(given.trim().as_bytes(), token.expose()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(loopback: bool, token: Option<&str>, method: Method, headers: &[(&str, &str)]) -> u16 {
        let token = token.map(|token| Secret::new(token.as_bytes().to_vec()));
        let guard = Guard { loopback, token };
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (name.parse::<header::HeaderName>().unwrap(), header::HeaderValue::from_str(value).unwrap())
            })
            .collect();
        guard
            .admit(&method, &headers)
            .map_or_else(|refused| refused.into_response().status().as_u16(), |()| 200)
    }

    #[test]
    fn a_name_that_may_mean_any_machine_is_not_this_one() {
        for host in
            ["127.0.0.1:6480", "localhost", "LOCALHOST:1", "[::1]:6480", "console.localhost:6480", "[::1]"]
        {
            assert_eq!(check(true, None, Method::GET, &[("host", host)]), 200, "{host}");
        }
        for host in ["evil.example:6480", "127.0.0.1.evil.example", "localhost.evil.example", "", ":6480"] {
            assert_eq!(check(true, None, Method::GET, &[("host", host)]), 403, "{host}");
        }
        assert_eq!(check(false, None, Method::GET, &[("host", "proxy.internal:6480")]), 200);
    }

    #[test]
    fn no_foreign_page_changes_anything() {
        let host = ("host", "127.0.0.1:6480");
        let post = |headers: &[(&str, &str)]| check(true, None, Method::POST, &[&[host], headers].concat());
        assert_eq!(post(&[]), 200);
        assert_eq!(post(&[("origin", "http://127.0.0.1:6480"), ("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(post(&[("origin", "http://evil.example")]), 403);
        assert_eq!(post(&[("origin", "http://127.0.0.1:8080")]), 403);
        assert_eq!(post(&[("origin", "null")]), 403);
        assert_eq!(post(&[("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[("sec-fetch-site", "same-site")]), 403);
    }

    #[test]
    fn a_change_needs_the_token_and_a_look_does_not() {
        let patch = |headers: &[(&str, &str)]| check(false, Some("s3cret"), Method::PATCH, headers);
        assert_eq!(patch(&[("authorization", "Bearer s3cret")]), 200);
        assert_eq!(patch(&[("authorization", "bearer s3cret")]), 200);
        assert_eq!(patch(&[("authorization", "Bearer s3cre")]), 401);
        assert_eq!(patch(&[("authorization", "Basic s3cret")]), 401);
        assert_eq!(patch(&[("authorization", "Bearer")]), 401);
        assert_eq!(patch(&[]), 401);
        assert_eq!(check(false, Some("s3cret"), Method::GET, &[]), 200);
    }
}
