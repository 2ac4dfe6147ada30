//! Rows from the XML the command line clients write with `--xml`.
//!
//! Their tab-separated form cannot tell NULL from the text `NULL` and has no column names for an empty column; this one can
//! and has. Only what the clients write is understood: it is no XML parser.

use crate::Row;

/// The rows of all result sets in the order they came.
pub(crate) fn parse(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for row in text.split("<row>").skip(1) {
        let row = row.split("</row>").next().unwrap_or(row);
        rows.push(parse_row(row));
    }
    rows
}

fn parse_row(mut rest: &str) -> Row {
    let mut row = Row::default();
    while let Some((_, field)) = rest.split_once("<field name=\"") {
        let Some((name, field)) = field.split_once('"') else { break };
        let Some((tag, after)) = field.split_once('>') else { break };
        let value = if tag.contains("xsi:nil=\"true\"") {
            rest = after;
            None
        } else {
            let (value, after) = after.split_once("</field>").unwrap_or((after, ""));
            rest = after;
            Some(unescape(value))
        };
        row.push(unescape(name), value);
    }
    row
}

fn unescape(text: &str) -> String {
    // The ampersand last: "&amp;lt;" stands for "&lt;".
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_result_sets() {
        let text = "<?xml version=\"1.0\"?>\n\n<resultset statement=\"select &lt;row&gt;\n\" xmlns:xsi=\"x\">\n  <row>\n\
                    \t<field name=\"a\">1</field>\n\t<field name=\"b&quot;\" xsi:nil=\"true\" />\n  </row>\n\n  <row>\n\
                    \t<field name=\"a\"></field>\n\t<field name=\"b&quot;\">&amp;lt; &lt;row&gt;\nNULL</field>\n  </row>\n\
                    </resultset>\n<resultset>\n  <row>\n\t<field name=\"c\">3</field>\n  </row>\n</resultset>\n";
        let rows = parse(text);
        assert_eq!(rows[0].get("b\""), None);
        assert_eq!(rows[2].get("C"), Some("3"));
        let values: Vec<Vec<Option<String>>> = rows.into_iter().map(Row::into_values).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            values,
            [vec![text("1"), None], vec![text(""), text("&lt; <row>\nNULL")], vec![text("3")]]
        );
    }
}
