//! Answers: JSON, and mistakes as `{"error": "what to do"}`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::live::ChangeError;

/// A request that is not carried out.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    text: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl From<ChangeError> for Refused {
    fn from(error: ChangeError) -> Self {
        let status = match error {
            ChangeError::Unknown { .. } => StatusCode::NOT_FOUND,
            ChangeError::Promise { .. } => StatusCode::CONFLICT,
            ChangeError::Setting(_) | ChangeError::Config(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.to_string())
    }
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &ErrorBody { error: &self.text });
        if self.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A value as JSON, with a line end for those who look at it in a terminal.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(mut text) => {
            text.push('\n');
            (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
