// The nodes: what pods have requested, what is assumed, and what is free.

import { h, lazy } from "./dom.js";
import { amountText, countText, plural, taintText } from "./format.js";
import { badge, moreLine, rowLimit, searchField } from "./parts.js";
import { fullName, fullness, nodeOf, resourcesOf } from "./places.js";
import { usageOfNodes } from "./places.js";
import { openNode, openPod, shownTables, ui } from "./ui.js";

// Up to this many nodes have a card each; more become squares.
const kCards = 200;
const kFoundCards = 24;
const kFirstPods = 24;

// Returns the view of all nodes.
export function nodesView() {
  const tables = shownTables();
  const usage = usageOfNodes(tables);
  const rows = [...tables.nodes.values()].sort(byName);
  const wanted = ui.nodeSearch.trim().toLowerCase();
  const found = wanted === ""
    ? rows
    : rows.filter((row) => matches(row, wanted));
  const asCards = rows.length <= kCards || found.length <= kFoundCards;
  return h("section", { key: "nodes", class: "nodes", "aria-label": "Nodes" },
    h("div", { class: "section-head" },
      h("h2", null, "Nodes"),
      h("span", { class: "count" }, countText(rows.length)),
      searchField("Search nodes", "nodeSearch"),
      h("p", { class: "legend" }, legend(asCards))),
    rows.length === 0 && h("p", { class: "quiet" }, "The cluster has no nodes."),
    wanted !== "" && found.length === 0 && h("p", { class: "quiet" },
      "No node matches."),
    asCards ? cards(found, usage, tables) : squares(found, usage));
}

const collator = new Intl.Collator("en", { numeric: true });

// Orders node-2 before node-10.
function byName(a, b) {
  return collator.compare(a.name, b.name);
}

function matches(row, wanted) {
  return row.name.toLowerCase().includes(wanted) ||
    (row.taints ?? []).some((t) => taintText(t).toLowerCase().includes(wanted));
}

function legend(asCards) {
  if (!asCards) {
    return "The fuller a node, the fuller its square. / cordoned, • tainted";
  }
  return [
    h("span", { class: "swatch requested" }), "requested ",
    h("span", { class: "swatch assumed" }), "assumed ",
    h("span", { class: "swatch" }), "free",
  ];
}

function cards(rows, usage, tables) {
  const limit = rowLimit("nodes", kCards);
  return [
    h("ul", { key: "cards", class: "node-cards" },
      rows.slice(0, limit).map((row) => {
        const pods = usage.get(row.name)?.pods ?? [];
        return lazy(row.uid, [row, ui.drawer?.uid, ...pods.flat()], () =>
          nodeCard(row, usage.get(row.name), tables));
      })),
    moreLine("nodes", Math.min(limit, rows.length), rows.length),
  ];
}

function nodeCard(row, usage) {
  const pods = usage?.pods ?? [];
  return h("li", { class: "node", "data-cordoned": row.cordoned ?? null,
    "data-node": row.name },
  h("header", null,
    h("h3", null, h("button", {
      class: "node-name", "data-uid": row.uid, onclick: () => openNode(row),
      "aria-current": ui.drawer?.uid === row.uid ? "true" : null,
    }, row.name)),
    row.cordoned && badge("cordoned", "warn"),
    (row.taints ?? []).map((taint, i) =>
      h("span", { key: `taint ${i}`, class: "badge taint" },
        taintText(taint)))),
  resourcesOf(row, usage).map(resourceLine),
  h("ul", { class: "node-pods", "aria-label": `pods on ${row.name}` },
    pods.slice(0, kFirstPods).map(([uid, pod]) => h("li", { key: uid },
      h("button", {
        class: pod.row?.node ? "chip" : "chip chip-assumed",
        title: pod.row?.node ? fullName(pod) : `${fullName(pod)} (assumed)`,
        "aria-current": ui.drawer?.uid === uid ? "true" : null,
        "data-chip": uid, onclick: () => openPod(uid, pod),
      }, fullName(pod).split("/").at(-1)))),
    pods.length > kFirstPods &&
      h("li", { class: "more" }, `… and ${pods.length - kFirstPods} more`)));
}

function resourceLine({ resource, allocatable, requested, assumed, free }) {
  const part = (n) => `${allocatable > 0 ? (100 * n) / allocatable : 0}%`;
  const text = (n) => amountText(resource, n);
  return h("div", { key: resource, class: "resource" },
    h("span", null, h("span", { class: "label" }, `${resource} `),
      text(requested), h("span", { class: "hidden" }, " requested"),
      assumed > 0 && ` + ${text(assumed)}`,
      assumed > 0 && h("span", { class: "hidden" }, " assumed"),
      ` of ${text(allocatable)}`),
    h("span", { class: "free" }, `${text(free)} free`),
    h("span", { class: "bar", "aria-hidden": "true", "data-over": free < 0 },
      h("span", { class: "requested", styles: { width: part(requested) } }),
      h("span", { class: "assumed", styles: { width: part(assumed) } })));
}

// Returns a square for each node. The arrow keys go from one to the next, and
// only one of the squares is in the order of the Tab key.
function squares(rows, usage) {
  return h("ul", { key: "squares", class: "squares", onkeydown: moveFocus },
    rows.map((row, i) => {
      const level = Math.ceil(fullness(row, usage.get(row.name)) * 10);
      const isCurrent = ui.drawer?.uid === row.uid;
      const pods = usage.get(row.name)?.pods.length ?? 0;
      return lazy(row.uid, [row, level, isCurrent, pods, i === 0], () =>
        square(row, level, isCurrent, pods, i === 0));
    }));
}

function square(row, level, isCurrent, pods, isFirst) {
  const texts = [row.name, `${Math.min(level * 10, 100)} % full`,
    plural(pods, "pod")];
  if (row.cordoned) texts.push("cordoned");
  if (row.taints) texts.push(row.taints.map(taintText).join(", "));
  const text = texts.join(", ");
  return h("li", null, h("button", {
    class: "square", title: text,
    styles: { "--level": `${Math.min(level * 10, 100)}%` },
    "aria-label": text, "data-uid": row.uid, "data-node": row.name,
    tabindex: isFirst ? "0" : "-1", "aria-current": isCurrent ? "true" : null,
    onclick: () => openNode(row),
  }, row.cordoned ? "/" : row.taints ? "•" : null));
}

function moveFocus(event) {
  const squares = [...event.currentTarget.querySelectorAll("button")];
  const here = squares.indexOf(event.target);
  const top = squares[0].offsetTop;
  const second = squares.findIndex((square) => square.offsetTop > top);
  const columns = second < 0 ? squares.length : second;
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns,
    ArrowUp: -columns, Home: -here, End: squares.length - 1 - here };
  const next = squares[here + steps[event.key]];
  if (here < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

// Returns the facts of a node for the drawer.
export function nodeFacts(row, tables) {
  const usage = usageOfNodes(tables).get(row.name);
  return h("div", { key: "facts" },
    h("p", null, row.cordoned ? "Cordoned: takes no new pods. " : null,
      row.taints
        ? `Taints: ${row.taints.map(taintText).join(", ")}`
        : "No taints."),
    h("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": "Resources" },
    h("table", null,
      h("thead", null, h("tr", null,
        ["resource", "requested", "assumed", "free", "allocatable"].map((text) =>
          h("th", { key: text, scope: "col" }, text)))),
      h("tbody", null, resourcesOf(row, usage).map((line) =>
        h("tr", { key: line.resource },
          h("th", { scope: "row" }, line.resource),
          ["requested", "assumed", "free", "allocatable"].map((column) =>
            h("td", { key: column, class: "number" },
              amountText(line.resource, line[column])))))))));
}

// Returns the pods on a node: [[uid, pod], …].
export function podsOnNode(tables, name) {
  return [...tables.pods].filter(([, pod]) =>
    !pod.deleted && nodeOf(pod) === name);
}
