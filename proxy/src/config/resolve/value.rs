//! Single values: names, addresses, numbers, words, paths, secrets. Each is returned valid, or noted as a mistake.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use toml::Spanned;

use super::Resolver;
use crate::config::address::Address;
use crate::config::choice::UnknownWord;
use crate::config::secret::Secret;
use crate::config::{secret_file, settings};

/// The longest name of a node or endpoint, in bytes: names become labels of metrics.
const NAME_MAX: usize = 64;

impl Resolver<'_, '_> {
    pub(super) fn name<'b>(
        &mut self,
        what: &str,
        name: &Spanned<String>,
        mut earlier: impl Iterator<Item = &'b String>,
    ) -> Option<String> {
        let text = name.get_ref();
        let valid = (1..=NAME_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !valid {
            let instead = format!("use 1 to {NAME_MAX} letters, digits, _ and -");
            self.problems.add(name.span(), format!("\"{text}\" is not a name for a {what}"), instead);
            return None;
        }
        if earlier.any(|other| other == text) {
            self.problems.add(name.span(), format!("there are two {what}s called \"{text}\""), "rename one");
            return None;
        }
        Some(text.clone())
    }

    pub(super) fn address(&mut self, text: &Spanned<String>) -> Option<Address> {
        match text.get_ref().parse() {
            Ok(address) => Some(address),
            Err(error) => {
                self.add_sentence(text.span(), &format!("{error}"));
                None
            }
        }
    }

    /// Refuses an address that an earlier entry has. Port 0 means any free port, so two of them differ.
    pub(super) fn unique<'b>(
        &mut self,
        key: &str,
        text: &Spanned<String>,
        mut earlier: impl Iterator<Item = (&'b Spanned<String>, &'b String)>,
    ) {
        let Ok(address) = text.get_ref().to_ascii_lowercase().parse::<Address>() else { return };
        if let Address::Tcp { port: 0, .. } = address {
            return;
        }
        let same = |other: &str| other.to_ascii_lowercase().parse() == Ok(address.clone());
        if let Some((name, _)) = earlier.find(|(_, other)| same(other)) {
            let what = format!("{key} \"{}\" is that of \"{}\" already", text.get_ref(), name.get_ref());
            self.problems.add(text.span(), what, "give each its own");
        }
    }

    /// A path that must exist by now, so that a slip is told with its line and not at the first connection.
    pub(super) fn existing(&mut self, key: &str, path: &Spanned<String>) -> Option<PathBuf> {
        let full = self.folder.join(path.get_ref());
        match std::fs::File::open(&full) {
            Ok(_) => Some(full),
            Err(error) => {
                self.problems.add(path.span(), format!("{key} {}: {error}", full.display()), "");
                None
            }
        }
    }

    pub(super) fn secret_file(&mut self, key: &str, path: &Spanned<String>) -> Option<Secret> {
        let full = self.folder.join(path.get_ref());
        match secret_file::read(&full) {
            Ok((secret, exposed)) => {
                if exposed {
                    let path = full.display();
                    self.notices.push(format!(
                        "every user of this machine can read the {key} {path}: run chmod 600 {path}"
                    ));
                }
                Some(secret)
            }
            Err(why) => {
                self.problems.add(path.span(), format!("{key} {}: {why}", full.display()), "");
                None
            }
        }
    }

    pub(super) fn word<T>(&mut self, word: Option<&Spanned<String>>) -> Option<T>
    where
        T: Default + std::str::FromStr<Err = UnknownWord>,
    {
        let Some(word) = word else { return Some(T::default()) };
        match word.get_ref().parse() {
            Ok(value) => Some(value),
            Err(error) => {
                let what = format!("unknown {} \"{}\"", error.what, error.word);
                self.problems.add(word.span(), what, error.instead());
                None
            }
        }
    }

    pub(super) fn number<T>(
        &mut self,
        key: &str,
        number: Option<&Spanned<i64>>,
        range: &RangeInclusive<T>,
    ) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + std::fmt::Display,
    {
        let number = number?;
        match settings::in_range(key, *number.get_ref(), range) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.add(number.span(), format!("{}: {}", error.key, error.what), error.instead);
                None
            }
        }
    }

    pub(super) fn number_or<T>(
        &mut self,
        key: &str,
        number: Option<&Spanned<i64>>,
        range: &RangeInclusive<T>,
        default: T,
    ) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + std::fmt::Display,
    {
        if number.is_none() { Some(default) } else { self.number(key, number, range) }
    }

    /// Notes an error whose text already holds its remedy behind a semicolon.
    pub(super) fn add_sentence(&mut self, place: std::ops::Range<usize>, sentence: &str) {
        let (what, instead) = sentence.rsplit_once("; ").unwrap_or((sentence, ""));
        self.problems.add(place, what, instead);
    }
}
