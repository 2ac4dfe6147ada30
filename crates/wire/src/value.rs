//! Parameters in the binary protocol: only how long they are, which is all a proxy needs.

use crate::Malformed;
use crate::reader::Reader;

/// Whether the bitmap says that parameter `index` is NULL. (Parameters' bitmaps start at bit 0, rows' at bit 2.)
pub(crate) fn is_null(bitmap: &[u8], index: usize) -> bool {
    bitmap.get(index / 8).is_some_and(|byte| byte & (1 << (index % 8)) != 0)
}

/// Reads one parameter's type, without its flag for unsigned, and passes over its name.
pub(crate) fn read_type(reader: &mut Reader<'_>, named: bool) -> Result<u8, Malformed> {
    let [kind, _flags] = reader.array("parameter's type cut short")?;
    if named {
        reader.lenenc_bytes("parameter's name cut short")?;
    }
    Ok(kind)
}

/// Passes over the types of `count` parameters, and over their names where QUERY_ATTRIBUTES puts them.
pub(crate) fn skip_types(reader: &mut Reader<'_>, count: usize, named: bool) -> Result<(), Malformed> {
    for _ in 0..count {
        read_type(reader, named)?;
    }
    Ok(())
}

/// Passes over a value of this type (enum_field_types).
pub(crate) fn skip(reader: &mut Reader<'_>, kind: u8) -> Result<(), Malformed> {
    let fixed = match kind {
        // MYSQL_TYPE_NULL
        6 => 0,
        // TINY, BOOL
        1 | 244 => 1,
        // SHORT, YEAR
        2 | 13 => 2,
        // LONG, FLOAT, INT24
        3 | 4 | 9 => 4,
        // DOUBLE, LONGLONG
        5 | 8 => 8,
        // TIMESTAMP, DATE, TIME, DATETIME and their later forms carry their length.
        7 | 10..=12 | 14 | 17..=19 => {
            reader.short_bytes("parameter cut short")?;
            return Ok(());
        }
        // DECIMAL, VARCHAR, BIT, VECTOR, JSON, NEWDECIMAL, ENUM, SET, blobs, strings, GEOMETRY.
        0 | 15 | 16 | 242 | 245..=255 => {
            reader.lenenc_bytes("parameter cut short")?;
            return Ok(());
        }
        _ => return Err(Malformed::new("parameter of an unknown type")),
    };
    reader.bytes(fixed, "parameter cut short")?;
    Ok(())
}
