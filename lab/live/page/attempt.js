// The attempts: nodes × plugins, and what other weights would change.

import { h } from "./dom.js";
import { clockText, plural } from "./format.js";
import { badge, breakable, cut, firstItems, hidden } from "./parts.js";
import { inNamespace, kWhole, link, namespaceSelect } from "./parts.js";
import { scrollTable, searchField } from "./parts.js";
import { isSupposed, rowsOf } from "./supposing.js";
import { change, currentIf, feed, isFound, openAttempt } from "./ui.js";
import { openPod, server, shownTables, ui } from "./ui.js";

const kListed = 80;
const kFirstRows = 100;
const kKept = 20;
const kFewNodes = 12;

// "uid/number" → {hello, sequence, attempt, error}
const fullAttempts = new Map();

// Returns the whole record of an attempt, without `attempt` while it is on its
// way. Asks again if the attempt has a newer record, or after a reconnection.
function fullAttempt(uid, number, sequence) {
  const key = `${uid}/${number}`;
  const full = fullAttempts.get(key);
  const { hello } = feed;
  const isSame = full?.hello === hello;
  if (isSame && full.sequence === sequence) return full;
  const next = { ...(isSame && full), hello, sequence };
  fullAttempts.delete(key);
  fullAttempts.set(key, next);
  if (fullAttempts.size > kKept) {
    fullAttempts.delete(fullAttempts.keys().next().value);
  }
  server.source.attempt(uid, number).then((result) => {
    if (result.ok) next.attempt = JSON.parse(result.text).attempt;
    next.error = result.error;
    change();
  });
  return next;
}

// Returns the attempts of the shown moment, the newest first.
const newestAttempts = () =>
  [...shownTables().attempts.values()].sort((a, b) => b.order - a.order);

// Returns the list of attempts, and the chosen one.
export function attemptsView() {
  const attempts = newestAttempts();
  const found = attempts.filter(({ attempt: { pod } }) =>
    isFound(pod, "attemptSearch") && inNamespace(pod.split("/")[0]));
  const newest = found[0]?.attempt;
  const chosen = ui.attempt ??
    (newest && { uid: newest.uid, number: newest.attempt });
  const [items, more] = firstItems("attempts", kListed, found, (entry) =>
    attemptItem(entry, chosen));
  return h("section.attempts", { key: "attempts", "aria-label": "Attempts" },
    h("div.attempt-list",
      h("div.section-head", h("h2", "Attempts"),
        searchField("Search attempts", "attemptSearch"),
        namespaceSelect(),
        ui.attempt && link("Follow the newest",
          () => change({ attempt: null, weights: {} }))),
      attempts.length === 0 &&
        h("p.quiet", "There are no attempts yet. While no page is open, the ",
          "scheduler keeps only the last failed one of each pending pod."),
      h("ul", items), more),
    chosen && attemptPanel(chosen));
}

function attemptItem({ attempt, time }, chosen) {
  const { uid, attempt: number } = attempt;
  const isCurrent = chosen.uid === uid && chosen.number === number;
  return h("li", { key: `${uid}/${number}` },
    h("button.pod", { "aria-current": currentIf(isCurrent), title: attempt.pod,
      onclick: () => openAttempt(uid, number) },
    h("span.pod-line",
      h("span.pod-name.name", cut(attempt.pod.split("/").at(-1))),
      h("span.aside", `attempt ${number} · ${clockText(time)}`)),
    h("span.small", outcome(attempt, cut))));
}

function outcome({ failure, node }, view = String) {
  return [failure ? h("span.mark", "✗ ") : h("span.mark.good", "→ "),
    failure ?? view(node ?? "")];
}

function attemptPanel({ uid, number }) {
  const known = shownTables().attempts.get(`${uid}/${number}`);
  const full = fullAttempt(uid, number, known?.sequence);
  const attempt = { ...full.attempt, ...known?.attempt };
  if (!attempt.pod) return h("p.quiet", full.error ?? "Loading the attempt …");
  const fits = `${attempt.feasibleNodes} of ${
    plural(attempt.allNodes, "node")} feasible`;
  return h("div.attempt-panel", { key: `${uid}/${number}` },
    h("h2", link(attempt.pod, () => openPod(uid, attempt.pod)),
      `, attempt ${number}`),
    h("p.outcome", outcome(attempt), !attempt.failure && `: ${fits}`),
    !full.attempt ? h("p.quiet", full.error ?? "Loading the nodes …")
      : (attempt.fits || attempt.rejected) && attemptTable(attempt),
    countsOfAll(attempt),
    pointsTable(attempt.points ?? []));
}

function attemptTable(attempt) {
  const { filters = [], scores = [] } = attempt;
  const supposed = isSupposed(scores, ui.weights);
  const { rows, tie } = rowsOf(attempt, ui.weights);
  const found = rows.filter((row) => isFound(row.node, "nodeSearch"));
  const [views, more] = firstItems("attempt", kFirstRows, found, (row) =>
    nodeRow(row, attempt, scores, supposed, tie));
  return [
    h("div.tools",
      rows.length > kFewNodes && searchField("Search nodes", "nodeSearch"),
      supposed && h("p", { role: "status" }, badge("supposed", "warn"),
        " These are not the scheduler's own weights. ",
        link("Back to its weights", () => change({ weights: {} })))),
    scrollTable(`Nodes and plugins of ${attempt.pod}`,
      supposed ? "by-node supposed" : "by-node", tableHead(filters, scores),
      views),
    more,
    scores.length > 0 && h("p.legend", { key: "scores" },
      "Scores: normalized × weight, and below raw → normalized × weight. ",
      "Change a weight to see which node would win."),
    filters.length > 0 && h("p.legend", { key: "marks" },
      "✓ passes, ✗ rejects, and this rejection counts, (✗) would reject too, ",
      "· did not run"),
  ];
}

function tableHead(filters, scores) {
  const cell = (text, kind) => h("th", { scope: "col", class: kind }, text);
  return [
    cell("node"),
    filters.map((plugin) => cell(h("code", plugin), "filter")),
    scores.map((column) => cell([h("code", breakable(column.plugin)),
      weightField(column)], "score")),
    scores.length > 0 && cell("total", "number"),
    cell("result"),
  ];
}

function weightField({ plugin, weight }) {
  const value = ui.weights[plugin] ?? weight;
  return h("label.weight", { class: value === weight ? "" : "changed" },
    "× ", hidden(`weight of ${plugin}`),
    h("input", { type: "number", min: "0", max: "1000", value: String(value),
      oninput: (event) => {
        const n = Number.parseInt(event.target.value, 10);
        if (n >= 0) change({ weights: { ...ui.weights, [plugin]: n } });
      } }));
}

function nodeRow(row, attempt, scores, supposed, tie) {
  const { node, index, marks, total, wins, reasons, further = [] } = row;
  const isChosen = node === attempt.node;
  const others = further.map((r) => `${r.plugin}: ${r.reasons.join(", ")}`);
  return h("tr", { key: node,
    class: `${isChosen ? "chosen" : ""} ${wins ? "wins" : ""}` },
  h("th", { scope: "row", class: node.length > kWhole ? "long" : null }, node),
  marks.map((mark) => h("td.mark-cell",
    { class: mark.includes("✗") ? "rejects" : "" }, mark)),
  scores.map((column) => h("td.score", scoreParts(index, column))),
  scores.length > 0 && h("td.number.total", rounded(total) ?? "·"),
  h("td.result",
    isChosen && h("span.selected", "◀ selected "),
    supposed && wins && badge(tie ? "could win" : "would win", "accent"),
    tie && wins && badge("tie", "warn"),
    reasons, others.length > 0 && h("span.small", ` (${others.join("; ")})`)));
}

// Rounds to three decimals: 0.1 × 3 is 0.30000000000000004.
const rounded = (n) => n && Number(n.toFixed(3));

function scoreParts(index, { plugin, weight, raw, normalized }) {
  if (index === undefined) return "·";
  const w = ui.weights[plugin] ?? weight;
  return [h("b", rounded(normalized[index] * w)),
    h("span.small", `${raw[index]} → ${normalized[index]} × ${w}`)];
}

// Returns how many nodes each plugin rejected, unless the table shows them all.
function countsOfAll({ allNodes, feasibleNodes, reasons, fits, rejected }) {
  const listed = (fits ?? []).length + (rejected ?? []).length;
  if (!reasons || listed >= allNodes) return null;
  return h("div.counts",
    h("p", `The pod fits ${feasibleNodes} of ${plural(allNodes, "node")}.`),
    h("ul", reasons.map(({ plugin, reason, nodes }) =>
      h("li", `${plural(nodes, "node")}: `, plugin && h("code", plugin),
        ` ${reason}`))));
}

// Returns the results of the extension points other than Filter and Score.
function pointsTable(points) {
  return points.length > 0 && h("div.points",
    h("h3", "Other extension points"),
    scrollTable("Other extension points", "",
      ["point", "plugin", "status", "message"].map((text) =>
        h("th", { scope: "col" }, text)),
      points.map(({ point, plugin, status, message }, i) => h("tr",
        h("th", { scope: "row" },
          points[i - 1]?.point === point ? hidden(point) : point),
        h("td", plugin && h("code", breakable(plugin))),
        h("td", status), h("td", message)))));
}

// Returns the attempts of a pod for the drawer, the newest first.
export function attemptsOfPod(uid) {
  const own = newestAttempts().filter(({ attempt }) => attempt.uid === uid);
  return own.length > 0 && h("div", { key: "attempts" }, h("h3", "Attempts"),
    h("ul.plain", own.slice(0, kFewNodes).map(({ attempt }) => h("li",
      link(`attempt ${attempt.attempt}`,
        () => openAttempt(uid, attempt.attempt)), " ", outcome(attempt)))));
}
