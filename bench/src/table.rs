//! Tables, for the terminal and for a page.

/// A table of texts.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

/// Columns that hold words; those behind them hold figures.
fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(|first| !first.is_ascii_digit() && first != '-')
}

impl Table {
    /// A table with this heading.
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(str::to_owned).to_vec()] }
    }

    /// Adds a row.
    pub(crate) fn add<const N: usize>(&mut self, row: [String; N]) {
        self.rows.push(row.to_vec());
    }

    /// Whether there is nothing below the heading.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// For the terminal: in columns, figures to the right.
    pub(crate) fn plain(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|text| text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let words: Vec<bool> = (0..columns).map(|column| self.holds_words(column)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&words);
            let line: Vec<String> = cells
                .map(|((cell, width), words)| match words {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                })
                .collect();
            text += line.join("  ").trim_end();
            text.push('\n');
        }
        text
    }

    /// For a page, in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            text += &format!("| {} |\n", row.join(" | "));
            if number == 0 {
                let rule: Vec<&str> = (0..row.len())
                    .map(|column| if self.holds_words(column) { "---" } else { "---:" })
                    .collect();
                text += &format!("|{}|\n", rule.join("|"));
            }
        }
        text
    }

    fn holds_words(&self, column: usize) -> bool {
        self.rows.iter().skip(1).filter_map(|row| row.get(column)).all(|cell| is_word(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["Who", "How much"]);
        table.add(["one".to_owned(), "1.00".to_owned()]);
        table.add(["another".to_owned(), "-".to_owned()]);
        table
    }

    #[test]
    fn figures_stand_to_the_right() {
        assert_eq!(table().plain(), "Who      How much\none          1.00\nanother         -\n");
    }

    #[test]
    fn a_page_has_it_in_markdown() {
        assert_eq!(table().markdown(), "| Who | How much |\n|---|---:|\n| one | 1.00 |\n| another | - |\n");
    }
}
