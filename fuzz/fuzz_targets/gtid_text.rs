//! Every text a server or a user can send as a position: whatever is read must survive being printed and read again,
//! and obey the laws the router relies on.
#![no_main]

use gtid::{BinlogState, Flavor, Position, parse_owned};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        if let Ok(position) = Position::parse(flavor, bytes) {
            let again = Position::parse(flavor, position.to_string().as_bytes());
            assert_eq!(again.as_ref(), Ok(&position));
            assert!(position.covers(&position));
        }
    }
    if let Ok(owned) = parse_owned(bytes) {
        let owned = Position::Mysql(owned);
        assert_eq!(Position::parse(Flavor::Mysql, owned.to_string().as_bytes()), Ok(owned));
    }
    if let Ok(position) = Position::from_token(bytes)
        && let Ok(token) = position.to_token()
    {
        assert_eq!(Position::from_token(token.as_bytes()), Ok(position));
    }
    let _ = BinlogState::parse(bytes);
});
