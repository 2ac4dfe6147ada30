//! Arithmetic on what was measured.

/// The middle one, or the mean of the two in the middle; `None` of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(sorted.len() / 2 - 1)? + upper) / 2.0)
}

/// The median of the ratios of what was measured in the same rounds. A round in which the base is 0, or one of the two is
/// missing, does not count.
pub(crate) fn median_ratio(values: &[Option<f64>], bases: &[Option<f64>]) -> Option<f64> {
    let ratios: Vec<f64> = values
        .iter()
        .zip(bases)
        .filter_map(|(value, base)| Some((*value)? / (*base).filter(|base| *base > 0.0)?))
        .collect();
    median(&ratios)
}

/// The smallest value that at least so many percent of them do not exceed (nearest rank); 0 of nothing. Sorts them.
pub(crate) fn percentile(values: &mut [u32], percent: usize) -> u32 {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied().unwrap_or_default()
}

/// A figure with about three digits that count.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let ours = [Some(1.0), Some(20.0), Some(3.0), None, Some(5.0)];
        let base = [Some(2.0), Some(20.0), Some(2.0), Some(1.0), Some(0.0)];
        assert_eq!(median_ratio(&ours, &base), Some(1.0));
        assert_eq!(median_ratio(&[None], &[Some(1.0)]), None);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let mut values: Vec<u32> = (1..=100).rev().collect();
        assert_eq!(percentile(&mut values, 50), 50);
        assert_eq!(percentile(&mut values, 99), 99);
        assert_eq!(percentile(&mut values, 100), 100);
        assert_eq!(percentile(&mut [7], 50), 7);
        assert_eq!(percentile(&mut [7, 9], 99), 9);
        assert_eq!(percentile(&mut [], 50), 0);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(
            [0.996, 12.34, 123.4, 54_321.0].map(short),
            ["1.00", "12.3", "123", "54321"].map(str::to_owned)
        );
    }
}
