//! Installs what the named engines need: `cargo run -p sandbox --example install -- mysql mariadb`; without names, all.

use std::{error::Error, time::Instant};

use sandbox::Engine;

fn main() -> Result<(), Box<dyn Error>> {
    let named: Vec<Engine> = std::env::args().skip(1).map(|name| name.parse()).collect::<Result<_, _>>()?;
    let engines = if named.is_empty() { Engine::ALL.to_vec() } else { named };
    for engine in engines {
        if sandbox::is_installed(engine) {
            println!("{engine}: installed");
            continue;
        }
        let begin = Instant::now();
        sandbox::install(engine)?;
        println!("{engine}: installed in {:.1} s", begin.elapsed().as_secs_f64());
    }
    Ok(())
}
