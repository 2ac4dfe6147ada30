//! COM_CHANGE_USER; the first four bytes are the connection's capabilities.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Capabilities, ChangeUser};

fuzz_target!(|bytes: &[u8]| {
    let Some((bits, payload)) = bytes.split_first_chunk::<4>() else { return };
    let capabilities = Capabilities(u32::from_le_bytes(*bits));
    let Ok(change) = ChangeUser::parse(payload, capabilities) else { return };
    let mut written = Vec::new();
    if change.write(&mut written, capabilities).is_ok() {
        let again = ChangeUser::parse(&written, capabilities).expect("what was written can be read");
        assert_eq!((again.user, again.auth_response), (change.user, change.auth_response));
        assert_eq!((again.schema, again.collation), (change.schema, change.collation));
        assert_eq!(again.auth_plugin, change.auth_plugin);
    }
});
