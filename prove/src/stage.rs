//! Acts of a play: the clients work, something is broken and mended under them, they come to rest, and what they noted is
//! judged.

use std::thread;
use std::time::Duration;

use sandbox::Server;

use crate::chance::Chance;
use crate::check::{self, Registers, Verdict};
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::history::Level;
use crate::load::{self, Appender, Banker, Client, Door, Log, Place, REGISTERS, Recorder, Shared, TOTAL};
use crate::scene::{Proxy, Scene};

/// How long the clients work before anything is broken, and after everything is mended.
const CALM: Duration = Duration::from_millis(500);

/// Faults that strike together begin within this time.
const STAGGER: Duration = Duration::from_millis(700);

/// Clients of the registers by level for each proxy, and those that go around all of them.
const CLIENTS: [(Level, usize); 3] = [(Level::Eventual, 1), (Level::Session, 2), (Level::Global, 2)];
const DIRECT: usize = 2;

/// The levels at which each proxy has a client of the bank and one of the lists.
const TRANSACTIONS: [Level; 2] = [Level::Session, Level::Global];

/// The clients, and what is known of their registers.
pub(crate) struct Stage<'a> {
    pub(crate) scene: &'a Scene,
    clients: Vec<Client>,
    registers: Registers,
    shared: Shared,
    around: Door,
    driver: &'a Driver,
}

/// What came of an act.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) log: Log,
    pub(crate) verdict: Verdict,
    /// The servers that were primary, by `server_id`.
    pub(crate) primaries: Vec<u32>,
}

impl<'a> Stage<'a> {
    /// Empties the registers and makes the clients of some proxies.
    pub(crate) fn new(
        scene: &'a Scene,
        proxies: &[&Proxy],
        driver: &'a Driver,
        rest: Duration,
        chance: &mut Chance,
    ) -> Result<Self> {
        scene.cluster.current_primary().sql(&load::prepare())?;
        scene.cluster.wait_caught_up(Duration::from_secs(30))?;
        let door = |proxy: &Proxy, level: Level| {
            let place = Place::Socket(proxy.socket(level));
            Door { place, level, proxy: proxy.name() }
        };
        let around = Door { place: Place::Port(scene.primary_port()), level: Level::Direct, proxy: '-' };
        let mut doors = vec![around.clone(); DIRECT];
        for proxy in proxies {
            CLIENTS.iter().for_each(|(level, count)| doors.extend(vec![door(proxy, *level); *count]));
        }
        let registers = (0..REGISTERS).zip(doors);
        let mut clients: Vec<Client> = registers
            .map(|(register, door)| Client::Recorder(Recorder::new(door, register, chance.fork())))
            .collect();
        for proxy in proxies {
            for level in TRANSACTIONS {
                clients.push(Client::Banker(Banker::new(door(proxy, level), chance.fork())));
                clients.push(Client::Appender(Appender::new(door(proxy, level), chance.fork())));
            }
        }
        if let Some(proxy) = proxies.first() {
            clients.push(Client::Banker(Banker::new(door(proxy, Level::Eventual), chance.fork())));
            clients.push(Client::Appender(Appender::new(door(proxy, Level::Eventual), chance.fork())));
        }
        Ok(Self {
            scene,
            clients,
            registers: Registers::default(),
            shared: Shared::new(rest),
            around,
            driver,
        })
    }

    /// One act, in which these faults strike at about the same time. Nothing is under way when it is over.
    pub(crate) fn act(&mut self, faults: &[Fault], chance: &mut Chance) -> Result<Act> {
        let mut primaries = vec![self.primary()];
        let number = self.shared.begin();
        let handle = self.driver.handle();
        let working: Vec<_> =
            self.clients.drain(..).map(|client| handle.spawn(client.run(self.shared.clone()))).collect();
        thread::sleep(CALM);
        let struck = strike(self.scene, faults, chance).and_then(|()| self.scene.settle(handle));
        thread::sleep(CALM);
        self.shared.end();
        let mut log = Log::default();
        for client in working {
            let (client, own) = handle.block_on(client).map_err(Error::ended)?;
            self.clients.push(client);
            log.add(own);
        }
        struck?;
        primaries.push(self.primary());
        let last = handle.block_on(load::in_the_end(&self.around, number))?;
        let mut verdict = self.registers.check(&log.history);
        verdict.add(check::bank(&log.looks, TOTAL));
        verdict.add(check::lists(&log.lists, &last));
        let sessions: Vec<u32> = self.clients.iter().filter_map(Client::session).collect();
        self.registers.forget_all_but(&sessions);
        Ok(Act { log, verdict, primaries })
    }

    /// The `server_id` of the primary.
    fn primary(&self) -> u32 {
        let name = self.scene.cluster.current_primary().name();
        let index = self.scene.cluster.servers().iter().position(|server: &Server| server.name() == name);
        index.and_then(|index| u32::try_from(index + 1).ok()).unwrap_or(0)
    }
}

/// Has the faults strike, each on a thread of its own. One that finds what it needs already broken by another has nothing
/// left to do; that everything is whole again is seen to afterwards.
fn strike(scene: &Scene, faults: &[Fault], chance: &mut Chance) -> Result<()> {
    thread::scope(|scope| {
        let striking: Vec<_> = faults
            .iter()
            .map(|fault| {
                let begins = chance.up_to(STAGGER);
                scope.spawn(move || {
                    thread::sleep(begins);
                    fault.strike(scene)
                })
            })
            .collect();
        let outcomes: Vec<Result<()>> = striking
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        match outcomes.as_slice() {
            [_, _, ..] => Ok(()),
            _ => outcomes.into_iter().collect(),
        }
    })
}
