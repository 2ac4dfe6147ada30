//! Tables for a terminal: columns as wide as their content, two spaces apart.

use std::fmt;

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table that is written row by row.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Cells come from servers, too: what would move a terminal's cursor is shown as a question mark.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |index: usize, heading: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count());
            cells.chain([heading.len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(index, (heading, _))| width(index, heading)).collect();
        let mut write = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for ((cell, width), (_, align)) in cells.zip(&widths).zip(&self.columns) {
                let gap = if line.is_empty() { "" } else { "  " };
                line += &match align {
                    Align::Left => format!("{gap}{cell:<width$}"),
                    Align::Right => format!("{gap}{cell:>width$}"),
                };
            }
            writeln!(f, "{}", line.trim_end())
        };
        write(&mut self.columns.iter().map(|(heading, _)| *heading))?;
        self.rows.iter().try_for_each(|row| write(&mut row.iter().map(String::as_str)))
    }
}

/// The text without control characters.
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '?' } else { character }).collect()
}

/// At most so many characters of a text; what is cut off shows as dots.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(3)).collect();
    kept + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("NODE", Align::Left), ("LAG", Align::Right), ("WHY", Align::Left)]);
        table.row(["db1".into(), "0".into(), String::new()]);
        table.row(["replica-é".into(), "12345".into(), "late".into()]);
        assert_eq!(table.to_string(), "NODE         LAG  WHY\ndb1            0\nreplica-é  12345  late\n");
    }

    #[test]
    fn no_cell_moves_the_cursor() {
        let mut table = Table::new(&[("A", Align::Left)]);
        table.row(["x\u{1b}[2J\ny".into()]);
        assert_eq!(table.to_string(), "A\nx?[2J?y\n");
    }

    #[test]
    fn long_texts_are_cut_where_they_may_be() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abc...");
    }
}
