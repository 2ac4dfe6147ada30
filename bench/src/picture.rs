//! The picture: for each workload a bar as long as what a statement costs, against HAProxy.

use std::fmt::Write;

use crate::figures::short;
use crate::parties::HAPROXY;
use crate::results::Results;

/// Sizes, in pixels.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 260.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 56.0;
const STEP: f64 = 24.0;
const BAR: f64 = 16.0;

/// A bar: what it is about, and how long it is.
#[derive(Debug, Clone, PartialEq)]
struct Bar {
    label: String,
    ratio: f64,
}

fn bars(results: &Results) -> Vec<Bar> {
    let mut bars = Vec::new();
    for load in &results.loads {
        for line in load.lines.iter().filter(|line| line.target != HAPROXY) {
            if let Some(ratio) = load.cpu_to_haproxy(line) {
                bars.push(Bar { label: format!("{}: {}", load.workload, line.target), ratio });
            }
        }
    }
    bars
}

/// The picture as SVG.
pub(crate) fn svg(results: &Results) -> String {
    let bars = bars(results);
    let longest = bars.iter().map(|bar| bar.ratio).fold(1.0, f64::max);
    let scale = (WIDTH - LEFT - RIGHT) / (longest * 1.02);
    let bottom = TOP + STEP * bars.len() as f64;
    let height = bottom + 24.0;
    let one = LEFT + scale;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">Processor time of the proxy for each statement</text>\n\
         <text x=\"12\" y=\"40\" fill=\"#555555\">HAProxy in TCP mode, which reads nothing of what it passes on, is 1; shorter is better</text>\n"
    );
    for (number, bar) in bars.iter().enumerate() {
        let y = TOP + STEP * number as f64;
        let (length, baseline) = (bar.ratio * scale, y + 12.5);
        let colour = if bar.label.contains("tidemark") { "#1f6f8b" } else { "#9aa5ad" };
        let _ = write!(
            text,
            "<text x=\"{:.0}\" y=\"{baseline:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{LEFT:.0}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{BAR:.0}\" fill=\"{colour}\"/>\n\
             <text x=\"{:.1}\" y=\"{baseline:.1}\">{}</text>\n",
            LEFT - 8.0,
            escaped(&bar.label),
            LEFT + length + 5.0,
            short(bar.ratio)
        );
    }
    let _ = write!(
        text,
        "<line x1=\"{one:.1}\" y1=\"{:.0}\" x2=\"{one:.1}\" y2=\"{bottom:.0}\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/>\n\
         <text x=\"{one:.1}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"#c0392b\">HAProxy = 1</text>\n</svg>\n",
        TOP - 6.0,
        bottom + 14.0
    );
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Cell;
    use crate::results::Load;
    use crate::workload::Workload;

    #[test]
    fn there_is_a_bar_for_each_proxy_but_haproxy() {
        let mut load = Load { workload: Workload::PointText, lines: Vec::new() };
        for (target, cpu_us) in [("none", None), (HAPROXY, Some(10.0)), ("tidemark", Some(8.0))] {
            load.add(target, Cell { cpu_us, ..Cell::default() });
        }
        let results = Results { loads: vec![load], memory: Vec::new() };
        assert_eq!(bars(&results), [Bar { label: "point-text: tidemark".to_owned(), ratio: 0.8 }]);
        let svg = svg(&results);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(!svg.contains("NaN"));
    }
}
