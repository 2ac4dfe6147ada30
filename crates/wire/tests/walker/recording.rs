//! The recordings of real servers in `tests/data`, made by the example `capture`.

use std::collections::BTreeMap;
use wire::Expect;

/// One server's replies: by name and by combination of DEPRECATE_EOF and SESSION_TRACK.
pub(crate) struct Recording {
    pub(crate) server: &'static str,
    replies: BTreeMap<(&'static str, &'static str), Vec<u8>>,
}

pub(crate) fn recordings() -> [Recording; 2] {
    [
        Recording::read("MySQL 9.7", include_str!("../data/mysql-9.7.txt")),
        Recording::read("MariaDB 10.11", include_str!("../data/mariadb-10.11.txt")),
    ]
}

impl Recording {
    fn read(server: &'static str, text: &'static str) -> Recording {
        let mut replies = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split(' ');
            let (name, tag) = (fields.next().unwrap(), fields.next().unwrap());
            let digits = fields.next().unwrap();
            let bytes =
                (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
            replies.insert((name, tag), bytes.collect());
        }
        Recording { server, replies }
    }

    pub(crate) fn reply(&self, name: &str, tag: &str) -> &[u8] {
        let found = self.replies.iter().find(|((n, t), _)| *n == name && *t == tag);
        found.unwrap_or_else(|| panic!("{}: nothing recorded as {name} {tag}", self.server)).1
    }

    /// The names of all whole replies: not the second halves behind a local file, nor the unasked error.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let names = self.replies.keys().filter(|(_, tag)| *tag == "11").map(|(name, _)| *name);
        names.filter(|name| !name.ends_with("infile_end") && *name != "idle").collect()
    }
}

/// The kind of reply a recording holds, from its name.
pub(crate) fn expect(name: &str) -> Expect {
    match name {
        "ping" | "init_db" | "debug" | "set_option" | "process_kill" | "reset_connection"
        | "cursor_reset" => Expect::Single,
        "statistics" => Expect::Statistics,
        _ if name.starts_with("field_list") => Expect::FieldList,
        _ if name.starts_with("prepare") => Expect::Prepare,
        _ if name.contains("fetch") => Expect::Fetch,
        _ if name.starts_with("execute") || name.starts_with("cursor") => Expect::Execute,
        _ => Expect::Query,
    }
}
