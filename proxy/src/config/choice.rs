//! Settings whose value is one word of a short list.
//!
//! Each is an enum, so that no later code compares strings, and each knows its own words, so that every message
//! about a wrong one, in the file, on the command line or in the admin API, lists the right ones.

use std::fmt;

/// A word that is not in the list of its setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownWord {
    /// What the word was to name, such as "consistency level".
    pub what: &'static str,
    /// The word as written.
    pub word: String,
    /// The words that exist, in the order of the documentation.
    pub allowed: &'static [&'static str],
}

impl UnknownWord {
    /// What to write instead, as a list of quoted words.
    pub fn instead(&self) -> String {
        let quoted: Vec<String> = self.allowed.iter().map(|word| format!("\"{word}\"")).collect();
        match quoted.split_last() {
            Some((last, [])) => format!("write {last}"),
            Some((last, rest)) => format!("write {} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} \"{}\"; {}", self.what, self.word, self.instead())
    }
}

macro_rules! choice {
    ($(#[$meta:meta])* $name:ident is $what:literal {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// Every word, in the order of the documentation.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word that stands for this in files, messages and metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;
            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord { what: $what, word: word.to_owned(), allowed: Self::WORDS }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

choice! {
    /// How fresh a node must be to serve a read.
    Level is "consistency level" {
        /// Any committed state of any node in rotation.
        #[default]
        Eventual = "eventual",
        /// At least what this session has written and seen.
        Session = "session",
        /// At least what anybody had been told or shown when the read began.
        Global = "global",
    }
}

choice! {
    /// What happens to a read when no replica was fresh enough within the consistency timeout.
    OnTimeout is "on_timeout action" {
        /// The primary serves it.
        #[default]
        Primary = "primary",
        /// The client gets an error.
        Error = "error",
        /// A replica that is behind serves it, and the read is counted as stale.
        Stale = "stale",
    }
}

choice! {
    /// Whose writes a read at the level `global` must show.
    GlobalScope is "global_scope" {
        /// Anybody's, whatever way they took to the primary: it is asked before the read.
        #[default]
        Cluster = "cluster",
        /// Those that passed this instance: cheaper, and enough where all do.
        Proxy = "proxy",
    }
}

impl Level {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Eventual, Self::Session, Self::Global];
}

impl From<sql::Level> for Level {
    fn from(level: sql::Level) -> Self {
        match level {
            sql::Level::Eventual => Self::Eventual,
            sql::Level::Session => Self::Session,
            sql::Level::Global => Self::Global,
        }
    }
}

impl From<sql::OnTimeout> for OnTimeout {
    fn from(action: sql::OnTimeout) -> Self {
        match action {
            sql::OnTimeout::Primary => Self::Primary,
            sql::OnTimeout::Error => Self::Error,
            sql::OnTimeout::Stale => Self::Stale,
        }
    }
}

choice! {
    /// What an endpoint is for.
    Mode is "endpoint mode" {
        /// Reads are spread over the replicas, all else goes to the primary.
        #[default]
        ReadWrite = "read-write",
        /// Reads only, and from replicas only.
        ReadOnly = "read-only",
    }
}

choice! {
    /// When a connection to a server goes back to the pool.
    Pool is "pool mode" {
        /// Never: it is closed with the session.
        #[default]
        Off = "off",
        /// When the session ends.
        Session = "session",
        /// When the transaction ends.
        Transaction = "transaction",
    }
}

choice! {
    /// How connections to the servers are protected: the words of the `mysql` client's `--ssl-mode`.
    TlsMode is "tls mode" {
        /// Plain connections.
        Disabled = "disabled",
        /// TLS where the server offers it.
        #[default]
        Preferred = "preferred",
        /// TLS, whoever the server is.
        Required = "required",
        /// TLS, and the certificate is signed by `tls_ca`.
        VerifyCa = "verify_ca",
        /// As `verify_ca`, and the certificate names the host.
        VerifyIdentity = "verify_identity",
    }
}

choice! {
    /// How what sessions exchange with the servers is compressed.
    Compression is "compression" {
        /// As the session's client has it.
        #[default]
        Client = "client",
        /// Not at all.
        Off = "off",
        /// With zlib, where the server offers it.
        Zlib = "zlib",
        /// With zstd, where the server offers it.
        Zstd = "zstd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_itself() {
        fn check<T: std::str::FromStr<Err = UnknownWord> + fmt::Display>(words: &[&str]) {
            for word in words {
                assert_eq!(&word.parse::<T>().unwrap().to_string(), word);
            }
        }
        check::<Level>(Level::WORDS);
        check::<OnTimeout>(OnTimeout::WORDS);
        check::<Mode>(Mode::WORDS);
        check::<Pool>(Pool::WORDS);
        check::<TlsMode>(TlsMode::WORDS);
        check::<Compression>(Compression::WORDS);
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_right_ones() {
        assert_eq!(
            "strong".parse::<Level>().unwrap_err().to_string(),
            "unknown consistency level \"strong\"; write \"eventual\", \"session\" or \"global\""
        );
        let json = serde_json::from_str::<Mode>("\"rw\"").unwrap_err().to_string();
        assert!(json.contains("\"read-write\" or \"read-only\""), "{json}");
    }
}
