//! The console: one page that shows the status, rendered here and then kept up to date by its own script.
//!
//! Every value goes through the template's escaping, and the script writes text only; the page loads nothing from
//! anywhere and may talk to nobody but this instance (`Content-Security-Policy`).

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::Refused;
use super::status::{EndpointStatus, Node, Status, Waits, status};
use crate::config::Level;
use crate::live::Live;
use crate::observe::BOUNDS_US;
use crate::route::Outcome;

/// Where the primary's mark stands in a gauge, and how far below it a node can be shown, in the gauge's units.
const MARK: f64 = 14.0;
const DEPTH: f64 = 124.0;

/// The lag that is shown at the bottom; the scale is logarithmic.
const LAG_FULL_MS: u32 = 60_000;

/// The lags that the scale names.
const TICKS: [(&str, u32); 6] =
    [("level", 0), ("10 ms", 10), ("100 ms", 100), ("1 s", 1_000), ("10 s", 10_000), ("1 min", LAG_FULL_MS)];

/// A gauge's surface, drawn twice as wide as the glass so that it can drift, and deep enough for the highest water.
const WAVE: &str = "M0 0q7-3 14 0t14 0t14 0t14 0t14 0t14 0t14 0t14 0V180H0Z";

/// Height of the highest bar of a histogram, and the distance of two.
const BAR_HEIGHT: f64 = 36.0;
const BAR_STEP: f64 = 10.0;

/// `GET /`
pub(super) async fn get_console(State(live): State<std::sync::Arc<Live>>) -> Response {
    match page(&status(&live)) {
        Ok(response) => response,
        Err(why) => Refused::new(StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    }
}

fn page(status: &Status) -> Result<Response, String> {
    let nonce = nonce()?;
    let html = Console::new(status, &nonce).render().map_err(|error| error.to_string())?;
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, &policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, html).into_response())
}

/// What style and script must present to be taken for the page's own.
fn nonce() -> Result<String, String> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Template)]
#[template(path = "console.html")]
struct Console<'a> {
    status: &'a Status,
    nonce: &'a str,
    css: &'static str,
    script: &'static str,
    uptime: String,
    primary: &'a str,
    pulse: String,
    nodes: Vec<NodeCard<'a>>,
    levels: Vec<LevelCard>,
    endpoints: Vec<EndpointRow<'a>>,
    reasons: Vec<ReasonRow<'a>>,
    wave: &'static str,
    mark: f64,
    ticks: Vec<Tick>,
    bar_labels: Vec<BarLabel>,
}

struct NodeCard<'a> {
    name: &'a str,
    address: &'a str,
    state: String,
    role: String,
    lag: String,
    level: String,
    behind: String,
    connections: String,
    ping: String,
    version: &'a str,
    position: &'a str,
    trouble: String,
}

struct LevelCard {
    name: &'static str,
    promise: &'static str,
    outcomes: Vec<OutcomeShare>,
    bars: Vec<Bar>,
    waited: String,
}

struct OutcomeShare {
    name: &'static str,
    count: String,
    from: String,
    width: String,
}

struct Bar {
    x: f64,
    y: String,
    height: String,
    title: String,
}

struct BarLabel {
    x: f64,
    text: String,
}

struct Tick {
    label: &'static str,
    y: String,
}

struct EndpointRow<'a> {
    name: &'a str,
    listen: &'a str,
    mode: &'a str,
    consistency: &'static str,
    timeout: String,
    on_timeout: &'static str,
    clients: String,
    statements: String,
    replicas: String,
    refused: String,
}

struct ReasonRow<'a> {
    name: &'a str,
    replica: String,
    primary: String,
    unknown: String,
}

impl<'a> Console<'a> {
    fn new(status: &'a Status, nonce: &'a str) -> Self {
        Self {
            status,
            nonce,
            css: include_str!("../../templates/console.css"),
            script: include_str!("../../templates/console.js"),
            uptime: uptime(status.uptime_s),
            primary: status.primary.as_deref().unwrap_or("none"),
            pulse: if status.obstacles.is_empty() {
                "Every endpoint can serve.".to_owned()
            } else {
                status.obstacles.join("\n")
            },
            nodes: status.nodes.iter().map(node_card).collect(),
            levels: Level::ALL.into_iter().map(|level| level_card(status, level)).collect(),
            endpoints: status.endpoints.iter().map(endpoint_row).collect(),
            reasons: reasons(status),
            wave: WAVE,
            mark: MARK,
            ticks: TICKS
                .map(|(label, lag_ms)| Tick { label, y: format!("{:.1}", depth(lag_ms.into())) })
                .into(),
            bar_labels: bar_labels(),
        }
    }
}

/// Where the water stands for a lag.
#[expect(clippy::cast_precision_loss, reason = "a place on the screen")]
fn depth(lag_ms: u64) -> f64 {
    let full = f64::from(LAG_FULL_MS + 1).log10();
    MARK + DEPTH * ((lag_ms as f64 + 1.0).log10() / full).min(1.0)
}

fn node_card(node: &Node) -> NodeCard<'_> {
    let down = node.health == "down";
    let mut state = node.role.clone();
    if down {
        state += " down";
    } else if node.lag_ms.is_none() {
        state += " unknown";
    }
    if node.drained {
        state += " drained";
    }
    let level = node.lag_ms.filter(|_| !down).map_or(MARK + DEPTH, depth);
    NodeCard {
        name: &node.name,
        address: &node.address,
        state,
        role: if node.drained { format!("{}, drained", node.role) } else { node.role.clone() },
        lag: match node.lag_ms {
            _ if down => "down".to_owned(),
            None => "not known".to_owned(),
            Some(0) => "at the mark".to_owned(),
            Some(lag_ms) => format!("{} late", time(lag_ms.saturating_mul(1000))),
        },
        level: format!("{level:.1}"),
        behind: node.behind.map_or_else(dash, |behind| format!("{} tx", count(behind))),
        connections: format!(
            "{}, {} active",
            count(node.connections.active + node.connections.idle),
            count(node.connections.active)
        ),
        ping: node.round_trip_us.map_or_else(dash, time),
        version: node.version.as_deref().unwrap_or_default(),
        position: &node.position,
        trouble: node.why.iter().chain(&node.shortcomings).cloned().collect::<Vec<_>>().join("\n"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shares of a bar")]
fn level_card(status: &Status, level: Level) -> LevelCard {
    let name = level.as_str();
    let counts = Outcome::ALL.map(|outcome| {
        let of =
            |endpoint: &EndpointStatus| endpoint.counters.outcomes.get(name)?.get(outcome.as_str()).copied();
        (outcome, status.endpoints.iter().filter_map(of).sum::<u64>())
    });
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut from = 0.0;
    let outcomes = counts
        .into_iter()
        .map(|(outcome, number)| {
            let width = if all == 0 { 0.0 } else { 100.0 * number as f64 / all as f64 };
            let share = OutcomeShare {
                name: outcome.as_str(),
                count: count(number),
                from: format!("{from:.2}"),
                width: format!("{width:.2}"),
            };
            from += width;
            share
        })
        .collect();
    let waits = together(status.endpoints.iter().filter_map(|endpoint| endpoint.counters.waits.get(name)));
    LevelCard {
        name,
        promise: match level {
            Level::Eventual => "Some committed state of some node.",
            Level::Session => "At least what the session itself has written and seen.",
            Level::Global => "At least what anybody had been told when the read began.",
        },
        outcomes,
        waited: match waits.sum_us.checked_div(waits.count) {
            None => "no read has waited".to_owned(),
            Some(mean) => {
                format!("{} of the reads waited, {} on average", share(waits.count, all), time(mean))
            }
        },
        bars: bars(&waits),
    }
}

fn together<'a>(all: impl Iterator<Item = &'a Waits>) -> Waits {
    let mut sum = Waits { buckets: BOUNDS_US.map(|bound| (bound, 0)).into(), ..Waits::default() };
    for waits in all {
        sum.count += waits.count;
        sum.sum_us += waits.sum_us;
        for ((_, all), (_, one)) in sum.buckets.iter_mut().zip(&waits.buckets) {
            *all += one;
        }
    }
    sum
}

#[expect(clippy::cast_precision_loss, reason = "heights of bars")]
fn bars(waits: &Waits) -> Vec<Bar> {
    let bounded: u64 = waits.buckets.iter().map(|(_, count)| count).sum();
    let above = (None, waits.count.saturating_sub(bounded));
    let all = || waits.buckets.iter().map(|(bound, count)| (Some(*bound), *count)).chain([above]);
    let highest = all().map(|(_, count)| count).max().unwrap_or(0).max(1);
    all()
        .enumerate()
        .map(|(index, (bound, number))| {
            let height =
                if number == 0 { 0.0 } else { (BAR_HEIGHT * number as f64 / highest as f64).max(1.0) };
            let how_long =
                bound.map_or_else(|| "longer".to_owned(), |bound| format!("up to {}", time(bound)));
            Bar {
                x: BAR_STEP * index as f64,
                y: format!("{:.1}", BAR_HEIGHT - height),
                height: format!("{height:.1}"),
                title: format!("{} reads waited {how_long}", count(number)),
            }
        })
        .collect()
}

/// Every third bound is named, at the edge between its bar and the next.
#[expect(clippy::cast_precision_loss, reason = "places on the screen")]
fn bar_labels() -> Vec<BarLabel> {
    let label =
        |(index, bound): (usize, &u64)| BarLabel { x: BAR_STEP * (index + 1) as f64, text: time(*bound) };
    BOUNDS_US.iter().enumerate().skip(1).step_by(3).map(label).collect()
}

fn endpoint_row(endpoint: &EndpointStatus) -> EndpointRow<'_> {
    let EndpointStatus { name, listen, mode, settings, counters } = endpoint;
    let all: u64 = counters.statements.iter().map(|way| way.count).sum();
    let on_replicas =
        counters.statements.iter().filter(|way| way.role == "replica").map(|way| way.count).sum();
    let timeout = settings.consistency_timeout_us.and_then(|timeout| u64::try_from(timeout).ok());
    EndpointRow {
        name,
        listen,
        mode,
        consistency: settings.consistency.map_or("", Level::as_str),
        timeout: match timeout {
            None | Some(0) => "for ever".to_owned(),
            Some(timeout) => time(timeout),
        },
        on_timeout: match (timeout, settings.on_timeout) {
            (Some(1..), Some(action)) => action.as_str(),
            _ => "–",
        },
        clients: count(counters.clients),
        statements: count(all),
        replicas: share(on_replicas, all),
        refused: count(counters.logins_refused),
    }
}

/// The reasons by how often they occurred.
fn reasons(status: &Status) -> Vec<ReasonRow<'_>> {
    let mut found: std::collections::BTreeMap<&str, [u64; 3]> = std::collections::BTreeMap::new();
    for way in status.endpoints.iter().flat_map(|endpoint| &endpoint.counters.statements) {
        let [replica, primary, unknown] = found.entry(&way.reason).or_default();
        *match way.role.as_str() {
            "replica" => replica,
            "primary" => primary,
            _ => unknown,
        } += way.count;
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
    rows.into_iter()
        .map(|(name, [replica, primary, unknown])| ReasonRow {
            name,
            replica: count(replica),
            primary: count(primary),
            unknown: count(unknown),
        })
        .collect()
}

fn dash() -> String {
    "–".to_owned()
}

/// A number with a narrow space between its thousands.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Microseconds in the unit that fits.
#[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
fn time(us: u64) -> String {
    let float = us as f64;
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{:.1} ms", float / 1e3),
        10_000..1_000_000 => format!("{:.0} ms", float / 1e3),
        1_000_000..10_000_000 => format!("{:.1} s", float / 1e6),
        _ => format!("{:.0} s", float / 1e6),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn share(part: u64, all: u64) -> String {
    match part {
        _ if all == 0 => dash(),
        0 => "0 %".to_owned(),
        _ if part == all => "100 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / all as f64),
    }
}

fn uptime(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::status::Connections;

    fn status(node: Node) -> Status {
        Status {
            version: "1".to_owned(),
            uptime_s: 61,
            stopping: false,
            obstacles: vec!["<b>no</b>".to_owned()],
            flavor: None,
            primary: None,
            failovers: 0,
            nodes: vec![node],
            endpoints: Vec::new(),
        }
    }

    fn node() -> Node {
        Node {
            name: "db1".to_owned(),
            address: "a:1".to_owned(),
            role: "replica".to_owned(),
            health: "up".to_owned(),
            why: None,
            drained: false,
            lag_ms: Some(0),
            behind: None,
            position: String::new(),
            incarnation: 1,
            version: None,
            levels: Vec::new(),
            shortcomings: Vec::new(),
            connections: Connections { active: 0, idle: 0 },
            round_trip_us: None,
        }
    }

    #[test]
    fn what_a_server_says_never_becomes_markup() {
        let evil = "\"><script>alert(1)</script>".to_owned();
        let node = Node {
            name: evil.clone(),
            address: evil.clone(),
            why: Some(evil.clone()),
            position: evil.clone(),
            version: Some(evil.clone()),
            shortcomings: vec![evil],
            ..node()
        };
        let status = status(node);
        let page = Console::new(&status, "n").render().unwrap();
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert!(!page.contains("<b>no</b>") && page.contains("&#60;b&#62;no"));
    }

    #[test]
    fn the_water_stands_at_the_mark_and_falls_with_the_lag() {
        assert!((depth(0) - MARK).abs() < 1e-9);
        assert!((depth(u64::from(LAG_FULL_MS)) - MARK - DEPTH).abs() < 1e-9);
        assert!((depth(u64::MAX) - MARK - DEPTH).abs() < 1e-9);
        assert!(depth(10) < depth(100) && depth(100) < depth(5_000));
        let dry = node_card(&Node { lag_ms: None, ..node() }).level;
        assert_eq!(dry, format!("{:.1}", MARK + DEPTH));
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(count),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!(
            [9, 1_500, 15_000, 1_200_000, 61_000_000].map(time),
            ["9 µs", "1.5 ms", "15 ms", "1.2 s", "61 s"]
        );
        assert_eq!([share(0, 0), share(0, 9), share(9, 9), share(1, 3)], ["–", "0 %", "100 %", "33.3 %"]);
    }
}
