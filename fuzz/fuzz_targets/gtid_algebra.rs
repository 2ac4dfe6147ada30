//! Two positions of one flavour, split at the first line feed: the laws of merge and subtract.
#![no_main]

use gtid::{Flavor, Position};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(at) = bytes.iter().position(|&byte| byte == b'\n') else { return };
    let (a, b) = (&bytes[..at], &bytes[at + 1..]);
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (Ok(a), Ok(b)) = (Position::parse(flavor, a), Position::parse(flavor, b)) else { continue };
        let mut union = a.clone();
        assert_eq!(union.merge(&b), Ok(()));
        assert!(union.covers(&a) && union.covers(&b));
        let missing = a.missing_from(&b);
        assert_eq!(missing.is_empty(), b.covers(&a));
        assert_eq!(missing.is_empty(), a.first_missing(&b).is_none());
        assert_eq!(missing.is_empty(), a.count_missing_from(&b) == 0);
        let mut rebuilt = missing;
        assert_eq!(rebuilt.merge(&b), Ok(()));
        assert!(rebuilt.covers(&a) && union.covers(&rebuilt));
        if flavor == Flavor::Mysql {
            assert_eq!(rebuilt, union);
        }
        let mut advanced = a.clone();
        assert_eq!(advanced.advance(&b), Ok(()));
        assert!(advanced.covers(&b));
    }
});
