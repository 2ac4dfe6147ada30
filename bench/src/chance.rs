//! Numbers that look random and are the same in every run, so that every target gets the same work.

/// A generator (xorshift64*).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The generator of a number, whichever it is.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`; 0 if that is 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16;
        drawn.checked_rem(limit).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_the_limit_and_spread() {
        let mut chance = Chance::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(chance.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        assert_eq!(chance.below(0), 0);
        assert_ne!(Chance::new(0).below(1 << 40), Chance::new(1).below(1 << 40));
    }
}
