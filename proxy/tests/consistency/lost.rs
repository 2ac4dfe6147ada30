//! A failover that loses what was acknowledged: whoever wrote or saw it is told, once.

use sandbox::{ClusterOptions, Engine};

use super::load;
use super::scene::{Scene, settled};
use crate::harness::client::Client;
use crate::harness::on_every_engine;
use crate::harness::proxy::Setup;
use crate::harness::wait::until;

on_every_engine!(what_a_failover_has_lost_is_told_once);

const TOLD: &str =
    "the primary does not have transactions that this session wrote, saw, or was given as a position";

fn what_a_failover_has_lost_is_told_once(engine: Engine) {
    let scene = Scene::own(ClusterOptions::new(engine));
    let proxy = ["eventual", "session", "global"]
        .iter()
        .fold(Setup::of(&scene.cluster), |setup, level| {
            setup.endpoint(level, &format!("consistency = \"{level}\""))
        })
        .start();
    load::prepare(&scene);
    settled(&scene.cluster, &proxy, "session");
    let write = |client: &mut Client, id: u32| {
        client.run(format!("UPDATE t SET v = 7 WHERE id = {id}"));
    };
    let read = |id: u32| format!("SELECT v FROM t WHERE id = {id}");
    let mut safe = scene.client(&proxy, "session");
    write(&mut safe, 1);
    crate::harness::clusters::caught_up(&scene.cluster);
    for replica in scene.cluster.replicas() {
        replica.stop_io_thread().unwrap();
    }
    let mut reads_next = scene.client(&proxy, "session");
    let mut writes_next = scene.client(&proxy, "global");
    let mut shows_next = scene.client(&proxy, "session");
    let mut careless = scene.client(&proxy, "eventual");
    for (client, id) in
        [(&mut reads_next, 2), (&mut writes_next, 3), (&mut shows_next, 4), (&mut careless, 5)]
    {
        write(client, id);
    }

    let mut waits = scene.client(&proxy, "session");
    waits.run("TIDEMARK SET consistency_timeout_us = 0");
    write(&mut waits, 6);
    waits.send_query(read(6));

    let mut held = scene.client(&proxy, "session");
    write(&mut held, 7);

    scene.cluster.primary().kill9().unwrap();
    // This one waits for a primary, and runs on the next one as soon as it may.
    held.send_query("UPDATE t SET v = 8 WHERE id = 7");
    scene.cluster.promote(&scene.cluster.servers()[1]).unwrap();
    // The numbers of what is lost are given anew, so that on MariaDB they alone prove nothing.
    let mut new_primary = scene.at_primary();
    for _ in 0..10 {
        new_primary.run("UPDATE t SET v = v + 1 WHERE id = 0");
    }
    let mut new = scene.client(&proxy, "session");
    until("writes work again", || new.query("UPDATE t SET v = v + 1 WHERE id = 0").error().is_none());

    let mut error = waits.read_reply().error().expect("what it waited for will never come");
    if error.message.contains("no node is primary") {
        // The moment without one ended its wait; the next statement tells the rest.
        error = waits.error(&read(6));
    }
    assert!(error.message.contains(TOLD), "{error:?}");
    let error = held.read_reply().error().expect("what it wrote before is lost");
    assert!(error.message.contains(TOLD), "{error:?}");
    assert_eq!(new_primary.value(&read(7)), "0", "nothing is written on top of what is lost");
    let error = reads_next.error(&read(2));
    assert!(error.message.contains(TOLD), "{error:?}");
    assert_eq!(reads_next.value(&read(2)), "0", "it is lost, and that was said");
    let error = writes_next.error("UPDATE t SET v = 8 WHERE id = 3");
    assert!(error.message.contains(TOLD), "{error:?}");
    assert_eq!(new_primary.value(&read(3)), "0", "nothing is written on top of what is lost");
    writes_next.run("UPDATE t SET v = 8 WHERE id = 3");
    assert_eq!(writes_next.value(&read(3)), "8");
    let error = shows_next.error("TIDEMARK SHOW POSITION");
    assert!(error.message.contains(TOLD), "{error:?}");
    shows_next.run("TIDEMARK SHOW POSITION");

    assert_eq!(safe.value(&read(1)), "7", "nothing of this session is lost");
    assert_eq!(careless.value(&read(5)), "0", "this one was promised nothing");
    assert_eq!(new.value(&read(1)), "7");
}
