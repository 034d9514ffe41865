"use strict";
// Everything shown comes from the data island and goes into the page as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const number = new Intl.NumberFormat("en-US");
const n = (value) => number.format(Math.round(value));
const short = new Intl.NumberFormat("en-US", {notation: "compact", maximumSignificantDigits: 3});
const brief = (value) => short.format(value);
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1) + " %" : "–");
const money = (usd) => (usd == null ? "" : "$" + (usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)));

function make(name, attributes, ...children) {
  const element = name === "svg" || make.svg.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") element.setAttribute("class", value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child != null) element.append(child);
  return element;
}
make.svg = new Set(["path", "line", "circle", "rect", "text", "g", "title"]);

function section(title, intro, ...children) {
  const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
  return make("section", {"aria-labelledby": id}, make("h2", {id}, title),
    intro ? make("p", {class: "soft"}, intro) : null, ...children);
}

function headline() {
  const h = data.headline;
  const card = (value, label) => make("div", {class: "card"}, make("b", {}, value), make("span", {}, label));
  const bars = h.bars.map((bar) => make("div", {class: "bar"},
    make("span", {}, bar.label),
    make("div", {role: "img", "aria-label": `${bar.label}: ${percent(bar.tokens, h.prompt_tokens)}`},
      Object.assign(make("i"), {style: `width:${h.prompt_tokens ? 100 * bar.tokens / h.prompt_tokens : 0}%`})),
    make("span", {}, `${percent(bar.tokens, h.prompt_tokens)}  ${n(bar.tokens)} tokens${bar.usd == null ? "" : ", " + money(bar.usd)}`)));
  return make("section", {"aria-label": "headline"},
    make("div", {class: "cards"},
      card(percent(h.shared_tokens, h.prompt_tokens), "of all prompt tokens are shared today"),
      card(n(h.recoverable_tokens), "more tokens could be shared"),
      card(n(h.sites), h.sites === 1 ? "place where prefixes fork" : "places where prefixes fork"),
      card(n(h.requests), `requests in ${n(h.sessions)} sessions`),
      h.observed == null ? null : card(percent(h.observed, h.observed_input), "of input tokens read from cache, as the log recorded")),
    make("div", {class: "bars"}, bars),
    make("p", {class: "soft"}, h.note));
}

function aligned(lead, text, other) {
  let same = 0;
  while (same < text.length && same < other.length && text[same] === other[same]) same += 1;
  return make("div", {dir: "ltr"}, make("span", {class: "soft"}, lead), text.slice(0, same), make("mark", {}, text.slice(same) || "∅"));
}

function sites() {
  if (!data.sites.length) return section("Where prefixes fork", null, make("p", {}, "No unwanted fork: every request extends or shares what came before."));
  const items = data.sites.map((site, index) => make("details", {class: "site", id: "site-" + index, ...(index < 3 ? {open: ""} : {})},
    make("summary", {},
      make("span", {class: "soft"}, `${index + 1}.`), make("span", {class: "what"}, site.cause),
      make("code", {}, site.pointer || "the prompt"),
      make("span", {class: "cost"}, `${n(site.lost_tokens)} tokens lost in ${n(site.requests)} ${site.requests === 1 ? "request" : "requests"}${site.cost_usd ? ", " + money(site.cost_usd) : ""}`)),
    make("div", {},
      make("p", {}, site.summary),
      make("div", {class: "sides mono"}, aligned(site.lead, site.left, site.right), aligned(site.lead, site.right, site.left)),
      make("p", {}, make("b", {}, "Do: "), site.instead, " ", make("span", {class: "tag"}, "fix: " + site.fix),
        site.also.length ? make("span", {class: "tag"}, "also " + site.also.join(", ")) : null),
      make("p", {class: "soft"}, `${site.before} → ${site.after}, token ${n(site.token)}` + (site.char_offset == null ? "" : `, character ${n(site.char_offset)}`)))));
  return section("Where prefixes fork", "Most costly first. The marked part is what differs.", items);
}

const STATES = {cached: "shared with an earlier request", forked: "where the prefix forks", repeated: "sent before, computed again", new: "new text"};

function showDetail(strip, row) {
  const panel = document.getElementById("detail");
  panel.hidden = false;
  panel.replaceChildren(
    make("h3", {}, `${strip.session || "session"}: ${row.label}`),
    row.site == null ? null : make("p", {}, make("a", {href: "#site-" + row.site}, `forks at ${data.sites[row.site].pointer} (${data.sites[row.site].cause})`)),
    make("table", {}, make("tbody", {}, row.cells.map(([part, tokens, state]) =>
      make("tr", {}, make("td", {}, part), make("td", {}, n(tokens) + " tokens"), make("td", {}, STATES[state]))))),
    make("button", {onclick: () => { panel.hidden = true; }}, "close"));
}

function strips() {
  if (!data.strips.length) return null;
  const longest = Math.max(1, ...data.strips.flatMap((s) => s.rows.map((r) => r.cells.reduce((sum, c) => sum + c[1], 0))));
  const legend = make("div", {class: "legend"}, Object.entries(STATES).map(([state, words]) => make("span", {}, make("i", {class: state}), words)));
  const all = data.strips.map((strip) => make("div", {class: "strip"},
    make("h3", {}, strip.session, " ", make("span", {class: "soft"}, strip.note)),
    strip.rows.map((row) => {
      const total = row.cells.reduce((sum, c) => sum + c[1], 0);
      const cells = row.cells.map(([part, tokens, state]) => Object.assign(make("i", {class: state, title: `${part}: ${n(tokens)} tokens, ${STATES[state]}`}), {style: `flex:${tokens} 0 0`}));
      const rest = Object.assign(make("span"), {style: `flex:${longest - total} 0 0`});
      return make("button", {class: "row", "aria-label": `${row.label}: ${n(total)} tokens` + (row.site == null ? "" : `, forks at ${data.sites[row.site].pointer}`), onclick: () => showDetail(strip, row)}, cells, rest);
    })));
  return section("Sessions, request by request", "One row a request, one cell a piece of prompt, as wide as its tokens. Choose a row for its parts.", legend, all);
}

function chart(title, series, options) {
  const W = 340, H = 190, L = 44, B = 26, T = 8, R = 10;
  const points = series.flatMap((s) => s.points);
  if (!points.length) return null;
  const log = options.log;
  const xs = points.map((p) => (log ? Math.log10(p[0]) : p[0])), ys = points.map((p) => p[1]);
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y1 = options.max || Math.max(...ys) || 1;
  const X = (v) => L + (W - L - R) * (x1 > x0 ? ((log ? Math.log10(v) : v) - x0) / (x1 - x0) : 0.5);
  const Y = (v) => H - B - (H - B - T) * Math.min(1, v / y1);
  const paths = series.map((s, i) => make("path", {class: "line" + (i ? " second" : ""), d: s.points.map((p, k) => (k ? "L" : "M") + X(p[0]).toFixed(1) + " " + Y(p[1]).toFixed(1)).join("")}));
  const label = (x, y, text, anchor) => make("text", {x, y, "text-anchor": anchor || "middle"}, text);
  const first = series[0].points[0][0], last = series[0].points[series[0].points.length - 1][0];
  return make("div", {class: "chart"}, make("h3", {}, title),
    make("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}: ${options.summary || ""}`},
      make("path", {class: "axis", d: `M${L} ${T}V${H - B}H${W - R}`}), paths,
      label(L - 6, Y(y1) + 10, options.y(y1), "end"), label(L - 6, Y(0), options.y(0), "end"),
      label(L, H - 8, options.x(first), "start"), label(W - R, H - 8, options.x(last), "end")),
    make("p", {class: "soft"}, options.summary || ""));
}

function charts() {
  const c = data.curves;
  const share = (v) => (100 * v).toFixed(0) + " %";
  const all = [
    chart("Hit rate over time", c.hit_rate, {x: (v) => c.time_labels ? clock(v) : "request " + n(v), y: share, max: 1, summary: c.hit_rate_note}),
    chart("Tokens held over time", c.memory, {x: (v) => c.time_labels ? clock(v) : "request " + n(v), y: brief, summary: c.memory_note}),
    chart("Hit rate by cache size", c.capacity, {x: (v) => brief(v) + " tokens", y: share, max: 1, log: true, summary: c.capacity_note}),
    chart("Pauses between requests of a session", c.gaps, {x: (v) => v < 120 ? n(v) + " s" : n(v / 60) + " min", y: share, max: 1, log: true, summary: c.gaps_note}),
    chart("Cached tokens: predicted and recorded", c.observed, {x: (v) => "request " + n(v), y: brief, summary: c.observed_note}),
  ].filter(Boolean);
  return all.length ? section("Hit rate, memory, time", null, make("div", {class: "charts"}, all)) : null;
}

const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(5, 16).replace("T", " ");

function branch(node, widest) {
  const weight = Object.assign(make("span", {class: "weight" + (node.volatile ? " volatile" : "")}), {style: `width:${Math.max(3, 120 * node.tokens / widest)}px`});
  const text = [weight, `${n(node.tokens)} tokens, ${n(node.requests)} ${node.requests === 1 ? "request" : "requests"} `, make("code", {}, node.text)];
  if (!node.children.length) return make("li", {}, text);
  return make("li", {}, make("details", node.depth < 2 ? {open: ""} : {}, make("summary", {}, text),
    make("ul", {}, node.children.map((child) => branch(child, widest)))));
}

function tree() {
  if (!data.tree.length) return null;
  const heaviest = (nodes) => nodes.reduce((most, node) => Math.max(most, node.tokens, heaviest(node.children)), 1);
  const widest = heaviest(data.tree);
  return section("Radix tree", "Each line is a stretch of prompt that all requests below it share. Red: it begins where prefixes fork.",
    make("ul", {class: "tree"}, data.tree.map((node) => branch(node, widest))));
}

function findings() {
  if (!data.findings.length) return null;
  return section("Findings that no fork shows", null, make("table", {},
    make("thead", {}, make("tr", {}, ["place", "rule", "what"].map((t) => make("th", {scope: "col"}, t)))),
    make("tbody", {}, data.findings.map((f) => make("tr", {}, make("td", {class: "mono"}, f.place), make("td", {}, f.rule), make("td", {}, f.message))))));
}

function toggle() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

document.getElementById("theme").addEventListener("click", toggle);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.getElementById("detail").hidden = true;
  const row = document.activeElement;
  if (!row || !row.classList.contains("row") || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  const rows = [...document.querySelectorAll(".row")];
  const next = rows[rows.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
  if (next) { next.focus(); event.preventDefault(); }
});
document.querySelector("main").prepend(...[headline(), sites(), strips(), charts(), tree(), findings()].filter(Boolean));
