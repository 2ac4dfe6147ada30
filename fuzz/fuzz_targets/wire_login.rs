//! A client's login, or its request for TLS.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::Login;
use wire::login::is_ssl_request;

fuzz_target!(|payload: &[u8]| {
    let _ = is_ssl_request(payload);
    let Ok(login) = Login::parse(payload) else { return };
    login.attribute_pairs().for_each(drop);
    let mut written = Vec::new();
    // Authentication data that holds NUL has no form without a length; such a login cannot be written again.
    if login.write(&mut written).is_ok()
        && let Ok(again) = Login::parse(&written)
    {
        assert_eq!((again.user, again.auth_response), (login.user, login.auth_response));
        assert_eq!((again.schema, again.auth_plugin), (login.schema, login.auth_plugin));
    }
});
