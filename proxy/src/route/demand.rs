//! What a node must have applied, said by what is known already: nothing is copied for a read that finds a fresh node.

use gtid::Position;

/// So many reasons there are: own writes, the bound of what was seen, what was acknowledged, and a node's HIGH.
const MOST: usize = 4;

/// Positions of which every one must be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand<'a> {
    parts: [Option<&'a Position>; MOST],
}

impl<'a> Demand<'a> {
    /// This, and one more.
    pub fn and(mut self, position: &'a Position) -> Self {
        if !position.is_empty() {
            let free = self.parts.iter_mut().find(|part| part.is_none());
            debug_assert!(free.is_some(), "more reasons than there are");
            if let Some(free) = free {
                *free = Some(position);
            }
        }
        self
    }

    /// Whether a node that has applied `low` has applied all of it.
    pub fn is_met_by(&self, low: &Position) -> bool {
        self.parts.iter().flatten().all(|part| low.covers(part))
    }

    /// All of it as one position. Of two kinds of servers the later reason counts.
    pub fn to_position(self) -> Position {
        let mut all = Position::default();
        for part in self.parts.into_iter().flatten() {
            if all.merge(part).is_err() {
                all = part.clone();
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtid::Flavor;

    fn domains(text: &str) -> Position {
        Position::parse(Flavor::Mariadb, text.as_bytes()).unwrap()
    }

    #[test]
    fn all_of_it_counts() {
        let (first, second, none) = (domains("0-1-5"), domains("0-1-7,1-1-2"), Position::default());
        let demand = Demand::default().and(&first).and(&none).and(&second);
        for (low, met) in [("0-1-7,1-1-2", true), ("0-1-6,1-1-2", false), ("0-1-9", false)] {
            assert_eq!(demand.is_met_by(&domains(low)), met, "{low}");
        }
        assert_eq!(demand.to_position(), second);
        assert!(Demand::default().is_met_by(&none) && Demand::default().to_position().is_empty());
    }
}
