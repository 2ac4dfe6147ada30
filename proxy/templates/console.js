"use strict";
// Asks for the status once a second and writes it over what the server rendered. Everything is written as text.
(() => {
  const MARK = 14, DEPTH = 124, LAG_FULL_MS = 60000, BAR_HEIGHT = 36;
  const OUTCOMES = ["fresh", "waited", "primary", "stale", "error"];
  const $ = (root, selector) => root.querySelector(selector);
  const put = (root, name, text) => {
    const element = $(root, `[data-v="${name}"]`);
    if (element && element.textContent !== text) element.textContent = text;
  };
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const time = (us) => us < 1000 ? `${Math.round(us)} \u00b5s` : us < 1e6 ? `${(us / 1e3).toFixed(us < 1e4 ? 1 : 0)} ms`
    : `${(us / 1e6).toFixed(us < 1e7 ? 1 : 0)} s`;
  const lag = (node) => node.health === "down" ? "down" : node.lag_ms === null ? "not known"
    : node.lag_ms === 0 ? "at the mark" : `${time(node.lag_ms * 1000)} late`;
  const level = (node) => node.health === "down" || node.lag_ms === null ? MARK + DEPTH
    : MARK + DEPTH * Math.min(1, Math.log10(1 + node.lag_ms) / Math.log10(1 + LAG_FULL_MS));
  const state = (node) => [node.role, node.health === "down" ? "down" : node.lag_ms === null ? "unknown" : "",
    node.drained ? "drained" : ""].filter(Boolean).join(" ");
  const uptime = (s) => s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400
    ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min` : `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
  const sum = (list, of) => list.reduce((all, item) => all + of(item), 0);
  const share = (part, all) => all ? `${(100 * part / all).toFixed(part === all || !part ? 0 : 1)} %` : "\u2013";

  let before = null;
  const rate = (now, then, seconds) =>
    then === undefined || !(seconds > 0) ? "\u2013" : `${count(Math.max(0, Math.round((now - then) / seconds)))}/s`;

  function nodes(status, totals, seconds) {
    for (const node of status.nodes) {
      const card = $(document, `[data-node="${CSS.escape(node.name)}"]`);
      if (!card) continue;
      card.className = `node ${state(node)}`;
      $(card, ".level").style.transform = `translateY(${level(node).toFixed(1)}px)`;
      $(card, ".gauge").setAttribute("aria-label", `${node.name}: ${lag(node)}`);
      put(card, "role", node.drained ? `${node.role}, drained` : node.role);
      put(card, "lag", lag(node));
      put(card, "behind", node.behind === null ? "\u2013" : `${count(node.behind)} tx`);
      put(card, "connections", `${count(node.connections.active + node.connections.idle)}, ${count(node.connections.active)} active`);
      put(card, "ping", node.round_trip_us === null ? "\u2013" : time(node.round_trip_us));
      put(card, "rate", rate(totals.nodes[node.name] || 0, before && (before.totals.nodes[node.name] || 0), seconds));
      put(card, "version", node.version || "");
      put(card, "position", node.position);
      put(card, "trouble", [node.why, ...node.shortcomings].filter(Boolean).join("\n"));
    }
  }

  function levels(status) {
    for (const card of document.querySelectorAll("[data-level]")) {
      const name = card.dataset.level;
      const outcomes = OUTCOMES.map((outcome) => sum(status.endpoints, (e) => e.counters.outcomes[name][outcome]));
      const all = sum(outcomes, (n) => n);
      let from = 0;
      OUTCOMES.forEach((outcome, index) => {
        const width = all ? 100 * outcomes[index] / all : 0;
        const bar = $(card, `[data-share="${outcome}"]`);
        bar.setAttribute("x", from.toFixed(2));
        bar.setAttribute("width", width.toFixed(2));
        from += width;
        $(card, `[data-outcome="${outcome}"]`).textContent = count(outcomes[index]);
      });
      waits(card, status.endpoints.map((e) => e.counters.waits[name]), all);
    }
  }

  function waits(card, list, reads) {
    const total = sum(list, (w) => w.count);
    const bars = list[0].buckets.map((_, index) => sum(list, (w) => w.buckets[index][1]));
    bars.push(total - sum(bars, (n) => n));
    const highest = Math.max(1, ...bars);
    bars.forEach((n, index) => {
      const bar = $(card, `[data-bar="${index}"]`);
      const height = n ? Math.max(1, BAR_HEIGHT * n / highest) : 0;
      bar.setAttribute("y", (BAR_HEIGHT - height).toFixed(1));
      bar.setAttribute("height", height.toFixed(1));
      const bound = list[0].buckets[index];
      $(bar, "title").textContent = `${count(n)} reads waited ${bound ? `up to ${time(bound[0])}` : "longer"}`;
    });
    put(card, "waited", total
      ? `${share(total, reads)} of the reads waited, ${time(sum(list, (w) => w.sum_us) / total)} on average`
      : "no read has waited");
  }

  function endpoints(status, totals, seconds) {
    for (const endpoint of status.endpoints) {
      const row = $(document, `[data-endpoint="${CSS.escape(endpoint.name)}"]`);
      if (!row) continue;
      const { settings, counters } = endpoint;
      const all = totals.endpoints[endpoint.name];
      put(row, "consistency", settings.consistency);
      put(row, "timeout", settings.consistency_timeout_us ? time(settings.consistency_timeout_us) : "for ever");
      put(row, "on_timeout", settings.consistency_timeout_us ? settings.on_timeout : "\u2013");
      put(row, "clients", count(counters.clients));
      put(row, "rate", rate(all, before && before.totals.endpoints[endpoint.name], seconds));
      put(row, "statements", count(all));
      put(row, "replicas", share(sum(counters.statements, (s) => s.role === "replica" ? s.count : 0), all));
      put(row, "refused", count(counters.logins_refused));
    }
  }

  function reasons(status) {
    const found = new Map();
    for (const way of status.endpoints.flatMap((e) => e.counters.statements)) {
      const entry = found.get(way.reason) || { replica: 0, primary: 0, unknown: 0 };
      entry[way.role] += way.count;
      found.set(way.reason, entry);
    }
    const all = (entry) => entry.replica + entry.primary + entry.unknown;
    const rows = [...found].sort((a, b) => all(b[1]) - all(a[1]) || a[0].localeCompare(b[0])).map(([reason, entry]) => {
      const row = document.createElement("tr");
      const cell = (kind, text) => {
        const element = row.appendChild(document.createElement(kind));
        element.textContent = text;
        if (kind === "td") element.className = "n";
      };
      cell("th", reason);
      ["replica", "primary", "unknown"].forEach((role) => cell("td", count(entry[role])));
      return row;
    });
    $(document, "#reasons").replaceChildren(...rows);
  }

  function pulse(text, trouble) {
    const element = $(document, "#pulse");
    if (element.textContent !== text) element.textContent = text;
    element.className = trouble ? "pulse trouble" : "pulse";
    document.body.classList.toggle("lost", text.startsWith("No answer"));
  }

  function totals(status) {
    const all = { nodes: {}, endpoints: {} };
    for (const endpoint of status.endpoints) {
      all.endpoints[endpoint.name] = sum(endpoint.counters.statements, (s) => s.count);
      for (const way of endpoint.counters.statements) all.nodes[way.node] = (all.nodes[way.node] || 0) + way.count;
    }
    return all;
  }

  async function refresh() {
    try {
      const answer = await fetch("/api/status", { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
      const status = await answer.json();
      const now = { at: performance.now(), totals: totals(status) };
      const seconds = before ? (now.at - before.at) / 1000 : 0;
      $(document, "#uptime").textContent = uptime(status.uptime_s);
      $(document, "#primary").textContent = status.primary || "none";
      $(document, "#failovers").textContent = count(status.failovers);
      nodes(status, now.totals, seconds);
      levels(status);
      endpoints(status, now.totals, seconds);
      reasons(status);
      pulse(status.obstacles.join("\n") || "Every endpoint can serve.", status.obstacles.length > 0);
      before = now;
    } catch (error) {
      before = null;
      pulse(`No answer from the proxy (${error.message}). What is shown is how it was.`, true);
    }
    setTimeout(refresh, 1000);
  }
  refresh();
})();
