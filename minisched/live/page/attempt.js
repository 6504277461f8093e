// The attempts: nodes × plugins, with the scores and what other weights would
// change.

import { h } from "./dom.js";
import { clockText, plural } from "./format.js";
import { badge, moreLine, nameParts, rowLimit, searchField } from "./parts.js";
import { isSupposed, rowsOf } from "./supposing.js";
import { change, feed, openAttempt, openPod, server } from "./ui.js";
import { shownTables, ui } from "./ui.js";

const kListed = 80;
const kFirstRows = 100;
const kKept = 20;

const fullAttempts = new Map();  // "uid/number" → {sequence, attempt, error}

// Returns the whole record of an attempt, or undefined while it is on its way.
// Asks again if the attempt has a newer record.
function fullAttempt(key, known) {
  const full = fullAttempts.get(key);
  if (full && full.sequence === known?.sequence) return full;
  const next = { ...full, sequence: known?.sequence };
  fullAttempts.delete(key);
  fullAttempts.set(key, next);
  if (fullAttempts.size > kKept) {
    fullAttempts.delete(fullAttempts.keys().next().value);
  }
  const [uid, number] = key.split("/");
  server.source.attempt(uid, number).then((result) => {
    next.attempt = result.ok ? JSON.parse(result.text).attempt : next.attempt;
    next.error = result.ok ? null : result.error;
    change({});
  });
  return next;
}

// Returns the list of attempts, and the chosen one.
export function attemptsView() {
  const attempts = [...shownTables().attempts.values()]
    .sort((a, b) => b.order - a.order);
  const wanted = ui.attemptSearch.trim().toLowerCase();
  const found = attempts.filter(({ attempt }) =>
    attempt.pod.toLowerCase().includes(wanted));
  const limit = rowLimit("attempts", kListed);
  const chosen = ui.attempt ??
    (found[0] && { uid: found[0].attempt.uid,
      number: found[0].attempt.attempt });
  return h("section", { key: "attempts", class: "attempts",
    "aria-label": "Attempts" },
  h("div", { class: "attempt-list" },
    h("div", { class: "section-head" }, h("h2", null, "Attempts"),
      searchField("Search attempts", "attemptSearch"),
      ui.attempt && h("button", { class: "link",
        onclick: () => change({ attempt: null, weights: {} }) },
      "Follow the newest")),
    attempts.length === 0 && h("p", { class: "quiet" },
      "The scheduler has reported no attempts yet."),
    h("ul", null, found.slice(0, limit).map((entry) =>
      attemptItem(entry, chosen))),
    moreLine("attempts", Math.min(limit, found.length), found.length)),
  chosen && attemptPanel(chosen));
}

function attemptItem({ attempt, time }, chosen) {
  const { uid, attempt: number } = attempt;
  const isCurrent = chosen?.uid === uid && chosen.number === number;
  return h("li", { key: `${uid}/${number}` },
    h("button", { class: "pod", "aria-current": isCurrent ? "true" : null,
      onclick: () => openAttempt(uid, number) },
    h("span", { class: "pod-line" },
      h("span", { class: "pod-name" }, nameParts(attempt.pod, false)),
      h("span", { class: "aside" }, `attempt ${number} · ${clockText(time)}`)),
    h("span", { class: "small" }, outcomeMark(attempt),
      attempt.failure ?? attempt.node ?? "")));
}

function outcomeMark(attempt) {
  return h("span", { class: attempt.failure ? "mark" : "mark good" },
    attempt.failure ? "✗ " : "→ ");
}

function attemptPanel({ uid, number }) {
  const key = `${uid}/${number}`;
  const known = shownTables().attempts.get(key);
  const full = fullAttempt(key, known);
  const summary = known?.attempt ?? full.attempt;
  if (!summary) {
    return h("div", { class: "attempt-panel" }, h("p", { class: "quiet" },
      full.error ?? "Loading the attempt …"));
  }
  const attempt = { ...full.attempt, ...summary };
  return h("div", { key, class: "attempt-panel" },
    h("h2", null,
      h("button", { class: "link", onclick: () => openAttemptsPod(attempt) },
        attempt.pod), `, attempt ${number}`),
    h("p", { class: "outcome" }, outcomeMark(attempt), outcomeText(attempt)),
    full.attempt ? attemptTable(attempt) : null,
    !full.attempt && h("p", { class: "quiet" },
      full.error ?? "Loading the nodes …"),
    countsOfAll(attempt, full.attempt),
    pointsView(attempt.points ?? []));
}

function openAttemptsPod(attempt) {
  const pod = shownTables().pods.get(attempt.uid);
  openPod(attempt.uid, pod ?? { record: { name: attempt.pod } });
}

function outcomeText(attempt) {
  if (attempt.failure) return attempt.failure;
  return `${attempt.node}: ${attempt.feasibleNodes} of ${
    plural(attempt.allNodes, "node")} feasible`;
}

function attemptTable(attempt) {
  const scores = attempt.scores ?? [];
  const supposed = isSupposed(scores, ui.weights);
  const { rows, tie } = rowsOf(attempt, ui.weights);
  const wanted = ui.nodeSearch.trim().toLowerCase();
  const found = rows.filter((row) => row.node.toLowerCase().includes(wanted));
  const limit = rowLimit("attempt", kFirstRows);
  return [
    h("div", { key: "tools", class: "tools" },
      rows.length > 12 && searchField("Search nodes", "nodeSearch"),
      supposed && h("p", { class: "supposed-note", role: "status" },
        badge("supposed", "warn"),
        " These are not the scheduler's own weights. ",
        h("button", { class: "link", onclick: () => change({ weights: {} }) },
          "Back to its weights"))),
    h("div", { key: "table", class: "scroll", tabindex: "0", role: "region",
      "aria-label": `Nodes and plugins of ${attempt.pod}` },
    h("table", { class: supposed ? "grid supposed" : "grid" },
      tableHead(attempt, scores),
      h("tbody", null, found.slice(0, limit).map((row) =>
        nodeRow(row, attempt, scores, supposed, tie))))),
    moreLine("attempt", Math.min(limit, found.length), found.length),
    scores.length > 0 && h("p", { key: "key", class: "legend" },
      "Scores: normalized × weight, and below raw → normalized × weight. ",
      "Change a weight to see which node would win."),
    (attempt.filters ?? []).length > 0 && h("p", { key: "marks",
      class: "legend" },
    "✓ passes · ✗ rejects, and this rejection counts · (✗) would reject too ",
    "· a dot: did not run"),
  ];
}

function tableHead(attempt, scores) {
  return h("thead", null,
    h("tr", null,
      h("th", { scope: "col" }, "node"),
      (attempt.filters ?? []).map((plugin) =>
        h("th", { key: `filter ${plugin}`, scope: "col", class: "filter" },
          h("code", null, plugin))),
      scores.map((column) =>
        h("th", { key: `score ${column.plugin}`, scope: "col",
          class: "score" },
        h("code", null, breakable(column.plugin)), weightField(column))),
      scores.length > 0 && h("th", { scope: "col", class: "number" }, "total"),
      h("th", { scope: "col" }, "result")));
}

// Returns a name that may be broken before its words.
function breakable(name) {
  return name.split(/(?=[A-Z][a-z])/).map((word, i) => [i > 0 && h("wbr"),
    word]);
}

function weightField({ plugin, weight }) {
  const value = ui.weights[plugin] ?? weight;
  return h("label", { class: value === weight ? "weight" : "weight changed" },
    "× ", h("span", { class: "hidden" }, `weight of ${plugin}`),
    h("input", { type: "number", min: "0", max: "1000", step: "1",
      value: String(value), oninput: (event) => {
        const n = Number.parseInt(event.target.value, 10);
        if (n >= 0) change({ weights: { ...ui.weights, [plugin]: n } });
      } }));
}

function nodeRow(row, attempt, scores, supposed, tie) {
  const isChosen = row.node === attempt.node;
  const classes = [isChosen && "chosen", row.wins && "wins"].filter(Boolean);
  return h("tr", { key: row.node, class: classes.join(" ") || null },
    h("th", { scope: "row" }, row.node),
    row.marks.map((mark, i) => h("td", { key: `filter ${i}`,
      class: mark.includes("✗") ? "mark-cell rejects" : "mark-cell" }, mark)),
    scores.map((column) => h("td", { key: `score ${column.plugin}`,
      class: "number score" }, scoreParts(row.index, column))),
    scores.length > 0 && h("td", { class: "number total" },
      row.total ?? "·"),
    h("td", { class: "result" }, resultOf(row, isChosen, supposed, tie)));
}

function scoreParts(index, { plugin, weight, raw, normalized }) {
  if (index === undefined) return "·";
  const w = ui.weights[plugin] ?? weight;
  return [
    h("b", null, normalized[index] * w),
    h("span", { class: "small" },
      `${raw[index]} → ${normalized[index]} × ${w}`),
  ];
}

function resultOf(row, isChosen, supposed, tie) {
  const further = (row.further ?? []).map(({ plugin, reasons }) =>
    `${plugin}: ${reasons.join(", ")}`);
  return [
    isChosen && h("span", { class: "selected" }, "◀ selected "),
    supposed && row.wins && badge(tie ? "could win" : "would win", "accent"),
    tie && row.wins && badge("tie", "warn"),
    row.reasons,
    further.length > 0 && h("span", { class: "small" },
      ` (${further.join("; ")})`),
  ];
}

// Returns how many nodes each plugin rejected, if the table can't show them all.
function countsOfAll(attempt, full) {
  const listed = (full?.fits ?? []).length + (full?.rejected ?? []).length;
  const reasons = attempt.reasons ?? [];
  if (reasons.length === 0 || (full && listed >= attempt.allNodes)) return null;
  return h("div", { class: "counts" },
    h("p", null, `Of all ${plural(attempt.allNodes, "node")}, the pod fits ${
      attempt.feasibleNodes}.`),
    h("ul", null, reasons.map(({ plugin, reason, nodes }, i) =>
      h("li", { key: i }, `${plural(nodes, "node")}: `,
        plugin && h("code", null, plugin), ` ${reason}`))));
}

// Returns the results of the extension points other than Filter and Score.
function pointsView(points) {
  if (points.length === 0) return null;
  return h("div", { class: "points" },
    h("h3", null, "Other extension points"),
    h("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": "Other extension points" },
    h("table", null, h("tbody", null, points.map((point, i) =>
      h("tr", { key: i },
        h("th", { scope: "row" },
          points[i - 1]?.point === point.point ? "" : point.point),
        h("td", null, point.plugin && h("code", null, point.plugin)),
        h("td", null, point.status),
        h("td", null, point.message ?? "")))))));
}

// Returns the attempts of a pod for the drawer, the newest first.
export function attemptsOfPod(uid) {
  const attempts = [...shownTables().attempts.values()]
    .filter(({ attempt }) => attempt.uid === uid)
    .sort((a, b) => b.order - a.order).slice(0, 20);
  if (attempts.length === 0) return null;
  return h("div", { key: "attempts" }, h("h3", null, "Attempts"),
    h("ul", { class: "plain" }, attempts.map(({ attempt }) =>
      h("li", { key: attempt.attempt },
        feed.hello.attempts === false
          ? `${attempt.attempt}`
          : h("button", { class: "link",
            onclick: () => openAttempt(uid, attempt.attempt) },
          `attempt ${attempt.attempt}`),
        ": ", outcomeMark(attempt), attempt.failure ?? attempt.node ?? ""))));
}
