//! COM_STMT_EXECUTE.
//!
//! A client sends its parameters' types with the first execution only and the server remembers them. A proxy that moves a
//! session to another server has to remember them too, and to put them into an execution that comes without.

use crate::command::CommandCode;
use crate::reader::Reader;
use crate::{Capabilities, Malformed, value};
use std::ops::Range;

/// Flag of COM_STMT_EXECUTE: open a read-only cursor instead of sending the rows.
pub const CURSOR_TYPE_READ_ONLY: u8 = 0x01;

/// Flag of COM_STMT_EXECUTE: the number of parameters is sent (only with QUERY_ATTRIBUTES).
pub const PARAMETER_COUNT_AVAILABLE: u8 = 0x08;

// Types of parameters (`enum_field_types`).
const MYSQL_TYPE_TINY: u8 = 1;
const MYSQL_TYPE_SHORT: u8 = 2;
const MYSQL_TYPE_LONG: u8 = 3;
const MYSQL_TYPE_LONGLONG: u8 = 8;
const MYSQL_TYPE_VARCHAR: u8 = 15;
const MYSQL_TYPE_VAR_STRING: u8 = 253;
const MYSQL_TYPE_STRING: u8 = 254;

/// Where the parts of a COM_STMT_EXECUTE stand in its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute {
    /// The id the statement was prepared under.
    pub statement_id: u32,
    /// CURSOR_TYPE_* and PARAMETER_COUNT_AVAILABLE.
    pub flags: u8,
    /// How many parameters are sent: the statement's own, then the query attributes.
    pub parameter_count: usize,
    /// One bit for each parameter that is NULL.
    pub null_bitmap: Range<usize>,
    /// Position of new-params-bound; `None` when no parameter is sent.
    pub bound_flag_at: Option<usize>,
    /// The types, with names where QUERY_ATTRIBUTES was agreed on; `None` when they are those of an earlier execution.
    pub types: Option<Range<usize>>,
    /// Where the values start.
    pub values_at: usize,
}

impl Execute {
    /// Reads a payload (its command byte included), or the first part of one, of a statement with `params` parameters.
    /// Values are not read.
    ///
    /// # Errors
    /// The payload is another command or is cut short before its values. (Fewer parameters than the statement has are no
    /// error here: the server refuses them and goes on.)
    pub fn parse(payload: &[u8], params: u16, capabilities: Capabilities) -> Result<Execute, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("empty command")? != CommandCode::StmtExecute.to_u8() {
            return Err(Malformed::new("not a COM_STMT_EXECUTE"));
        }
        let statement_id = reader.u32("statement id cut short")?;
        let flags = reader.u8("flags cut short")?;
        reader.u32("iteration count cut short")?;
        let named = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
        let parameter_count = read_count(&mut reader, params, named, flags)?;
        let at = |reader: &Reader<'_>| payload.len() - reader.remaining();
        let mut execute = Execute {
            statement_id,
            flags,
            parameter_count,
            null_bitmap: at(&reader)..at(&reader),
            bound_flag_at: None,
            types: None,
            values_at: at(&reader),
        };
        if parameter_count == 0 {
            return Ok(execute);
        }
        reader.bytes(parameter_count.div_ceil(8), "nulls of parameters cut short")?;
        execute.null_bitmap.end = at(&reader);
        execute.bound_flag_at = Some(at(&reader));
        if reader.u8("new-params-bound missing")? == 1 {
            let start = at(&reader);
            value::skip_types(&mut reader, parameter_count, named)?;
            execute.types = Some(start..at(&reader));
        }
        execute.values_at = at(&reader);
        Ok(execute)
    }

    /// The value of the first parameter, where that is a whole number that is not negative, or a text of one. `types` are
    /// those of this execution, or of the one that brought some.
    pub fn first_number(&self, payload: &[u8], types: &[u8]) -> Option<u64> {
        let null = payload.get(self.null_bitmap.start)? & 1 == 1;
        let values = payload.get(self.values_at..).filter(|_| self.parameter_count > 0 && !null)?;
        let bytes = |count: usize| {
            let mut number = [0; 8];
            number.get_mut(..count)?.copy_from_slice(values.get(..count)?);
            let negative = types.get(1)? & 0x80 == 0 && number.get(count - 1)? & 0x80 != 0;
            (!negative).then_some(u64::from_le_bytes(number))
        };
        match *types.first()? {
            MYSQL_TYPE_TINY => bytes(1),
            MYSQL_TYPE_SHORT => bytes(2),
            MYSQL_TYPE_LONG => bytes(4),
            MYSQL_TYPE_LONGLONG => bytes(8),
            MYSQL_TYPE_VARCHAR | MYSQL_TYPE_VAR_STRING | MYSQL_TYPE_STRING => {
                let text = Reader::new(values).lenenc_bytes("a parameter's text").ok()?;
                std::str::from_utf8(text).ok()?.parse().ok()
            }
            _ => None,
        }
    }

    /// Whether a cursor is asked for.
    pub fn wants_cursor(&self) -> bool {
        self.flags & CURSOR_TYPE_READ_ONLY != 0
    }
}

fn read_count(reader: &mut Reader<'_>, params: u16, named: bool, flags: u8) -> Result<usize, Malformed> {
    if !named || (params == 0 && flags & PARAMETER_COUNT_AVAILABLE == 0) {
        return Ok(usize::from(params));
    }
    let count = reader.lenenc("number of parameters cut short")?;
    let count = u16::try_from(count).map_err(|_| Malformed::new("too many parameters"))?;
    Ok(usize::from(count))
}

/// The same execution with new-params-bound set and `types` (those of an earlier one) put in. An execution that has types
/// already, or has no parameters, comes back unchanged.
///
/// # Errors
/// `execute` is not of this payload.
pub fn with_types(payload: &[u8], execute: &Execute, types: &[u8]) -> Result<Vec<u8>, Malformed> {
    let (Some(flag_at), None) = (execute.bound_flag_at, &execute.types) else {
        return Ok(payload.to_vec());
    };
    let split =
        payload.split_at_checked(flag_at).and_then(|(head, tail)| Some((head, tail.split_first()?.1)));
    let (head, values) = split.ok_or(Malformed::new("execution of another payload"))?;
    Ok([head, &[1], types, values].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMED: Capabilities = Capabilities::QUERY_ATTRIBUTES;

    /// Statement 7, these flags, one iteration.
    fn payload(flags: u8, rest: &[u8]) -> Vec<u8> {
        [&[23, 7, 0, 0, 0, flags, 1, 0, 0, 0], rest].concat()
    }

    #[test]
    fn the_first_execution_has_types() {
        // Two parameters, the second of them NULL: a LONGLONG and a VAR_STRING.
        let payload = payload(1, &[0b10, 1, 8, 0, 0xFD, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        let execute = Execute::parse(&payload, 2, Capabilities::default()).unwrap();
        assert_eq!(execute.statement_id, 7);
        assert!(execute.wants_cursor());
        assert_eq!(execute.null_bitmap, 10..11);
        assert_eq!(execute.bound_flag_at, Some(11));
        assert_eq!(execute.types, Some(12..16));
        assert_eq!(execute.values_at, 16);
        for cut in 0..16 {
            assert!(Execute::parse(&payload[..cut], 2, Capabilities::default()).is_err(), "{cut}");
        }
        assert_eq!(with_types(&payload, &execute, &[1, 2, 3, 4]), Ok(payload));
    }

    #[test]
    fn remembered_types_are_put_in() {
        let values = [5, 0, 0, 0, 0, 0, 0, 0];
        let payload = payload(0, &[&[0, 0], values.as_slice()].concat());
        let execute = Execute::parse(&payload, 1, Capabilities::default()).unwrap();
        assert_eq!(execute.types, None);
        let whole = with_types(&payload, &execute, &[8, 0]).unwrap();
        assert_eq!(whole, self::payload(0, &[&[0, 1, 8, 0], values.as_slice()].concat()));
        let again = Execute::parse(&whole, 1, Capabilities::default()).unwrap();
        assert_eq!(again.types, Some(12..14));
        assert_eq!(&whole[again.values_at..], values);
    }

    #[test]
    fn a_statement_without_parameters_has_nothing_to_put_in() {
        let payload = payload(0, &[]);
        let execute = Execute::parse(&payload, 0, Capabilities::default()).unwrap();
        assert_eq!((execute.bound_flag_at, execute.values_at), (None, 10));
        assert_eq!(with_types(&payload, &execute, &[8, 0]), Ok(payload));
    }

    /// The cases in which MySQL 9.7 was seen to read a count.
    #[test]
    fn a_count_is_sent_with_query_attributes() {
        let number = [2, 0, 0, 0, 0, 0, 0, 0];
        for flags in [0, PARAMETER_COUNT_AVAILABLE] {
            let one = payload(flags, &[&[1, 0, 1, 8, 0, 0], number.as_slice()].concat());
            let execute = Execute::parse(&one, 1, NAMED).unwrap();
            assert_eq!((execute.parameter_count, execute.types), (1, Some(13..16)));
        }
        // An attribute named "a" behind the parameter.
        let with_attribute =
            payload(8, &[&[2, 0, 1, 8, 0, 0, 8, 0, 1, b'a'], number.as_slice(), &number].concat());
        let execute = Execute::parse(&with_attribute, 1, NAMED).unwrap();
        assert_eq!((execute.parameter_count, execute.types), (2, Some(13..20)));
        // Without parameters the count is there only if the flag says so; what follows without it is ignored.
        assert_eq!(Execute::parse(&payload(0, &[]), 0, NAMED).unwrap().parameter_count, 0);
        assert_eq!(Execute::parse(&payload(0, &[1, 0, 1]), 0, NAMED).unwrap().parameter_count, 0);
        assert!(Execute::parse(&payload(PARAMETER_COUNT_AVAILABLE, &[]), 0, NAMED).is_err());
    }

    #[test]
    fn the_first_parameter_is_read_as_a_number() {
        let number = |ty: u8, flags: u8, value: &[u8]| {
            let payload = payload(0, &[&[0, 1, ty, flags], value].concat());
            let execute = Execute::parse(&payload, 1, Capabilities::default()).unwrap();
            execute.first_number(&payload, &[ty, flags])
        };
        assert_eq!(number(MYSQL_TYPE_LONGLONG, 0, &[7, 1, 0, 0, 0, 0, 0, 0]), Some(263));
        assert_eq!(number(MYSQL_TYPE_LONG, 0x80, &[0xff; 4]), Some(u64::from(u32::MAX)));
        assert_eq!(number(MYSQL_TYPE_LONG, 0, &[0xff; 4]), None);
        assert_eq!(number(MYSQL_TYPE_TINY, 0, &[9]), Some(9));
        assert_eq!(number(MYSQL_TYPE_VAR_STRING, 0, b"\x03123"), Some(123));
        assert_eq!(number(MYSQL_TYPE_VAR_STRING, 0, b"\x0312a"), None);
        assert_eq!(number(5, 0, &[0; 8]), None);
        assert_eq!(number(MYSQL_TYPE_LONGLONG, 0, &[1]), None);
        let null = payload(0, &[1, 1, 8, 0]);
        let execute = Execute::parse(&null, 1, Capabilities::default()).unwrap();
        assert_eq!(execute.first_number(&null, &[8, 0]), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes: Vec<u8>, params: u16, named: bool, types: Vec<u8>) {
            bytes.insert(0, 23);
            let capabilities = if named { NAMED } else { Capabilities::default() };
            if let Ok(execute) = Execute::parse(&bytes, params, capabilities) {
                prop_assert!(execute.values_at <= bytes.len());
                with_types(&bytes, &execute, &types).unwrap();
                let _ = with_types(&bytes[..1], &execute, &types);
            }
        }
    }
}
