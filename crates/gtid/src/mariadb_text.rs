//! The text MariaDB writes lists of GTIDs in: `domain-server-sequence`, separated by commas.

use crate::domain::DomainGtid;
use crate::error::{ParseError, ParseErrorKind};
use crate::scan::Scanner;

/// Reads a list and hands every GTID to `each`, in the order of the text.
pub(crate) fn parse_list(text: &[u8], mut each: impl FnMut(DomainGtid)) -> Result<(), ParseError> {
    let mut scanner = Scanner::new(text)?;
    scanner.skip_spaces_and_commas();
    while scanner.peek().is_some() {
        scanner.count_interval()?;
        let domain = number_u32(&mut scanner)?;
        scanner.expect(b'-')?;
        let server_id = number_u32(&mut scanner)?;
        scanner.expect(b'-')?;
        let sequence = scanner.number(u64::MAX)?;
        each(DomainGtid { domain, server_id, sequence });
        scanner.skip_spaces();
        scanner.expect_end_of_element()?;
        scanner.skip_spaces_and_commas();
    }
    Ok(())
}

fn number_u32(scanner: &mut Scanner<'_>) -> Result<u32, ParseError> {
    let value = scanner.number(u64::from(u32::MAX))?;
    u32::try_from(value).map_err(|_| scanner.error(ParseErrorKind::NumberTooLarge))
}
