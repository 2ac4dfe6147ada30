//! The page about growth: docs/growth.md, with the picture beside it.

use std::fmt::Write;

use crate::error::Result;
use crate::figures::short;
use crate::growth::{Series, Step};
use crate::page::put;
use crate::table::Table;

/// Sizes of one plot, in pixels; there are two beside each other.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 34.0;

/// The figures of a series.
pub(crate) fn table(series: &Series) -> Table {
    let mut table =
        Table::new(["How many", "CPU us", "CPU us for each", "Statements/s", "KiB each", "idle us/s"]);
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
    for step in &series.steps {
        table.add([
            step.count.to_string(),
            short(step.cpu_us),
            short(step.cpu_us / step.count.max(1) as f64),
            short(step.per_second),
            figure(step.memory_kib),
            figure(step.idle_us),
        ]);
    }
    table
}

/// Writes page and picture.
pub(crate) fn write(all: &[Series], circumstances: [String; 4], versions: &[String]) -> Result<()> {
    put("growth.svg", &svg(all))?;
    put("growth.md", &page(all, circumstances, versions))
}

fn page(all: &[Series], [command, day, machine, time]: [String; 4], versions: &[String]) -> String {
    let versions: String = versions.iter().map(|version| format!("- {version}\n")).collect();
    let mut text = format!(
        "\
# How costs grow

`{command}` on {day}, on {machine}; load, proxy and servers together, over loopback:

{versions}
![Processor time of the proxy for each statement, as one thing grows](growth.svg)

Each series changes one thing. *CPU* is user and system time of Tidemark's process for each statement, measured over {time} and
counted in hundredths of a second; *for each* is that divided by what is counted. *KiB each* is the resident memory of the
process for each client that has read one row and is silent. *idle* is what a second costs in which nobody asks anything: the
nodes are watched all the time.
"
    );
    for series in all {
        let _ = write!(
            text,
            "\n## {}\n\nMeanwhile: {}.\n\n{}",
            series.of,
            series.meanwhile,
            table(series).markdown()
        );
    }
    text
}

/// The plots, both axes logarithmic.
fn svg(all: &[Series]) -> String {
    let rows = all.len().div_ceil(2);
    let (width, height) = (2.0 * WIDTH, HEIGHT * rows as f64);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (number, series) in all.iter().enumerate() {
        let (x, y) = ((number % 2) as f64 * WIDTH, (number / 2) as f64 * HEIGHT);
        let _ = write!(text, "<g transform=\"translate({x:.0} {y:.0})\">\n{}</g>\n", plot(series));
    }
    text + "</svg>\n"
}

fn plot(series: &Series) -> String {
    let most = |value: fn(&Step) -> f64| series.steps.iter().map(value).fold(1.0, f64::max).log10().ceil();
    let (counts, costs) = (most(|step| step.count as f64).max(1.0), most(|step| step.cpu_us).max(1.0));
    let across = (WIDTH - LEFT - RIGHT) / counts;
    let up = (HEIGHT - TOP - BOTTOM) / costs;
    let at = |count: f64, cost: f64| {
        (LEFT + across * count.max(1.0).log10(), HEIGHT - BOTTOM - up * cost.max(1.0).log10())
    };
    let mut text = format!(
        "<text x=\"{LEFT:.0}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
        series.of
    );
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for size in powers(costs) {
        let (_, y) = at(1.0, size);
        let _ = write!(
            text,
            "<line x1=\"{LEFT:.0}\" y1=\"{y:.1}\" x2=\"{right:.0}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555555\">{size:.0} us</text>\n",
            LEFT - 5.0,
            y + 4.0
        );
    }
    for size in powers(counts) {
        let (x, _) = at(size, 1.0);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"#555555\">{size:.0}</text>",
            bottom + 16.0
        );
    }
    let points: Vec<(f64, f64)> =
        series.steps.iter().map(|step| at(step.count as f64, step.cpu_us)).collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6f8b\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for ((x, y), step) in points.iter().zip(&series.steps) {
        let _ = write!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#1f6f8b\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y - 7.0,
            short(step.cpu_us)
        );
    }
    text
}

/// 1, 10, 100 and so on up to this power of ten.
fn powers(last: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(1.0_f64), |size| Some(size * 10.0))
        .take_while(move |size| size.log10() <= last + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Series {
        let step = |count, cpu_us| Step { count, cpu_us, per_second: 10.0, ..Step::default() };
        Series { of: "Clients", meanwhile: "they read", steps: vec![step(10, 20.0), step(10_000, 40.0)] }
    }

    #[test]
    fn a_plot_has_a_point_for_each_step() {
        let svg = svg(&[series(), series(), series()]);
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains("10000") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn the_page_says_how_it_came_about() {
        let circumstances = ["make bench", "1 May 2026", "2 processors", "3 s"].map(str::to_owned);
        let page = page(&[series()], circumstances, &["MySQL 9".to_owned()]);
        for part in ["`make bench` on 1 May 2026", "- MySQL 9\n", "## Clients", "| 10000 | 40.0 | 0.00 |"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
