//! Every way in which a session can write: the read that follows sees it, on the primary while the replicas stand still,
//! and on a replica when they do not.

use sandbox::{Engine, Family};
use wire::{Capabilities, CommandCode, PrepareOk};

use super::scene::{Scene, settled};
use super::writes::{Case, Step, Told, cases};
use crate::harness::client::Client;
use crate::harness::clusters::caught_up;
use crate::harness::on_every_engine;
use crate::harness::proxy::{Proxy, Setup};
use crate::harness::reply::Part;

on_every_engine!(every_kind_of_write_is_seen_by_the_next_read);

/// What is written under each set of circumstances.
const VALUES: std::ops::Range<u32> = 10..14;

/// A comment longer than what the proxy reads before it passes a statement on.
const LONG: usize = 2 * 1024 * 1024;

fn every_kind_of_write_is_seen_by_the_next_read(engine: Engine) {
    let scene = Scene::new(engine);
    scene.cluster.primary().sql("SET GLOBAL local_infile = 1").unwrap();
    let proxy = Setup::of(&scene.cluster)
        .endpoint("behind", "consistency = \"session\"\nconsistency_timeout_us = 1000")
        .endpoint("healthy", "consistency = \"session\"\nconsistency_timeout_us = 1000000")
        .start();
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.is_for(engine.family())).collect();
    set_up(&scene, &cases);
    settled(&scene.cluster, &proxy, "healthy");
    let mut wrong = Vec::new();
    let circumstances = [
        ("behind", Capabilities::default()),
        ("behind", Capabilities::DEPRECATE_EOF),
        ("healthy", Capabilities::default()),
        ("healthy", Capabilities::DEPRECATE_EOF),
    ];
    for ((endpoint, without), value) in circumstances.into_iter().zip(VALUES) {
        if endpoint == "behind" {
            scene.stop_appliers();
        }
        for (number, case) in cases.iter().enumerate() {
            let run = Run { scene: &scene, proxy: &proxy, endpoint, without, number, value };
            if let Err(what) = run.check(case) {
                wrong.push(format!("{}, {endpoint}, without {without:?}: {what}", case.name));
            }
        }
        if endpoint == "behind" {
            scene.start_appliers();
        }
    }
    assert!(wrong.is_empty(), "{engine}: {} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A table per case, with whatever it needs besides, on all servers.
fn set_up(scene: &Scene, cases: &[Case]) {
    let mut client = scene.at_primary();
    for (number, case) in cases.iter().enumerate() {
        let table = format!("t{number}");
        client.run(format!("CREATE TABLE {table} (id INT PRIMARY KEY, v BIGINT)"));
        client.run(format!("INSERT INTO {table} VALUES (1, 0), (2, 0), (3, 0)"));
        for statement in case.setup {
            let times = if statement.contains("{v}") { VALUES.len() } else { 1 };
            for value in VALUES.take(times) {
                client.run(fill(statement, &table, value));
            }
        }
    }
    caught_up(&scene.cluster);
}

fn fill(text: &str, table: &str, value: u32) -> String {
    text.replace("{t}", table).replace("{v}", &value.to_string())
}

/// One case under one set of circumstances.
struct Run<'a> {
    scene: &'a Scene,
    proxy: &'a Proxy,
    endpoint: &'a str,
    without: Capabilities,
    number: usize,
    value: u32,
}

impl Run<'_> {
    fn check(&self, case: &Case) -> Result<(), String> {
        let account = self
            .scene
            .account()
            .with(Capabilities::MULTI_STATEMENTS | Capabilities::LOCAL_FILES)
            .without(self.without);
        let mut client = account.connect(&self.proxy.target(self.endpoint)).unwrap();
        for step in case.steps {
            self.take(&mut client, step)?;
        }
        let reply = client.query(self.fill(case.question));
        let found = match reply.error() {
            Some(error) => format!("error {}", error.code),
            None => reply.text_rows().concat().into_iter().flatten().collect::<Vec<_>>().join(","),
        };
        let route = client.route();
        let expected = self.fill(case.expected);
        if found != expected {
            return Err(format!("{found} was read where {expected} is due, {route:?}"));
        }
        let told = match (case.told, self.endpoint) {
            (Told::Either, _) => true,
            (Told::Pinned, _) => route.reason.starts_with("pinned"),
            (_, "behind") => route.role == "primary" && route.reason == "timeout",
            (_, _) => route.role == "replica",
        };
        if told { Ok(()) } else { Err(format!("read as it should be, but {route:?}")) }
    }

    fn fill(&self, text: &str) -> String {
        fill(text, &format!("t{}", self.number), self.value)
    }

    fn take(&self, client: &mut Client, step: &Step) -> Result<(), String> {
        let reply = match step {
            Step::Sql(text) | Step::Fails(text) => client.query(self.fill(text)),
            Step::Long(text) => client.query(format!("/* {} */ {}", "-".repeat(LONG), self.fill(text))),
            Step::Load(text, file) => {
                client.send_query(self.fill(text));
                let first = client.read_reply();
                if !matches!(first.parts.last(), Some(Part::Infile(_))) {
                    return Err(format!("no file was asked for: {first:?}"));
                }
                client.send(self.fill(file).as_bytes()).unwrap();
                client.send(&[]).unwrap();
                client.read_reply()
            }
            Step::Prepared(text) => {
                client.command(&[&[CommandCode::StmtPrepare.to_u8()], self.fill(text).as_bytes()].concat());
                let first = client.receive().unwrap().payload;
                let prepared = PrepareOk::parse(&first).map_err(|_| format!("not prepared: {first:?}"))?;
                if prepared.columns > 0 {
                    let eof = u16::from(!client.capabilities.contains(Capabilities::DEPRECATE_EOF));
                    for _ in 0..prepared.columns + eof {
                        client.receive().unwrap();
                    }
                }
                let id = prepared.statement_id.to_le_bytes();
                client.plain(CommandCode::StmtExecute, &[&id[..], &[0, 1, 0, 0, 0]].concat())
            }
            Step::Reset => client.plain(CommandCode::ResetConnection, &[]),
            Step::ChangeUser => {
                let changed = self.scene.account().change(client);
                return changed.map_err(|failure| format!("COM_CHANGE_USER: {failure:?}"));
            }
        };
        match (step, reply.error()) {
            (Step::Fails(_), Some(_)) => Ok(()),
            (Step::Fails(text), None) => Err(format!("{text} did not fail")),
            (_, Some(error)) => Err(format!("{step:?} failed: {error:?}")),
            (_, None) => Ok(()),
        }
    }
}

impl Case {
    fn is_for(&self, family: Family) -> bool {
        self.only.is_none_or(|only| only == family)
    }
}
