//! COM_STMT_EXECUTE: the first two bytes are the statement's number of parameters, the third decides on attributes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::prepared::{PrepareOk, set_statement_id, statement_id, with_types};
use wire::{Capabilities, Execute};

fuzz_target!(|bytes: &[u8]| {
    let Some(([low, high, named], payload)) = bytes.split_first_chunk::<3>() else { return };
    let params = u16::from_le_bytes([*low, *high]);
    let capabilities = if named & 1 == 1 { Capabilities::QUERY_ATTRIBUTES } else { Capabilities::default() };
    let _ = PrepareOk::parse(payload);
    let mut changed = payload.to_vec();
    if set_statement_id(&mut changed, 0x0102_0304).is_ok() {
        assert_eq!(statement_id(&changed), Ok(0x0102_0304));
    }
    let Ok(execute) = Execute::parse(payload, params, capabilities) else { return };
    assert!(execute.values_at <= payload.len());
    let Some(types) = execute.types.clone() else { return };
    // Without its types, and with them put in again, it is the same execution.
    let mut without = payload.to_vec();
    without.drain(types.clone());
    without[execute.bound_flag_at.expect("types come behind the flag")] = 0;
    let later = Execute::parse(&without, params, capabilities).expect("only types were taken out");
    assert_eq!(with_types(&without, &later, &payload[types]).as_deref(), Ok(payload));
});
