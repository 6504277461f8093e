// The nodes: what pods have requested, what is assumed, and what is free.

import { h, lazy } from "./dom.js";
import { amountText, countText, plural, taintsText } from "./format.js";
import { badge, button, cut, firstItems, hidden } from "./parts.js";
import { scrollTable, searchField } from "./parts.js";
import { fullName, fullness, placeOf } from "./places.js";
import { resourcesOf, usageOfNodes } from "./places.js";
import { change, currentIf, isFound, openNode, openPod } from "./ui.js";
import { shownTables, ui } from "./ui.js";

// From this many nodes on, each is a square, unless the reader wants cards.
const kSquares = 60;
const kFoundCards = 24;
const kFirstPods = 24;
const kSquaresAtOnce = 250;
const kAmounts = ["requested", "assumed", "free", "allocatable"];

const collator = new Intl.Collator("en", { numeric: true });

// Returns the view of all nodes.
export function nodesView() {
  const tables = shownTables();
  const usage = usageOfNodes(tables);
  const rows = [...tables.nodes.values()]
    .sort((a, b) => collator.compare(a.name, b.name));
  const found = rows.filter(({ name, taints }) =>
    isFound(`${name} ${taintsText(taints)}`, "nodeSearch"));
  const asCards = ui.nodesAs ? ui.nodesAs === "cards"
    : rows.length < kSquares || found.length <= kFoundCards;
  return h("section.nodes", { key: "nodes", "aria-label": "Nodes" },
    h("div.section-head",
      h("h2", "Nodes"),
      h("span.count", countText(rows.length)),
      searchField("Search nodes", "nodeSearch"),
      h("div.pace", { role: "group", "aria-label": "Nodes as" },
        ["cards", "squares"].map((as) => button(as,
          () => change({ nodesAs: as }),
          { "aria-pressed": String(asCards === (as === "cards")) }))),
      asCards
        ? h("p.legend", h("span.swatch.requested"), "requested ",
          h("span.swatch.assumed"), "assumed ", h("span.swatch"), "free")
        : h("p.legend", "The fuller a node, the fuller its square. ",
          "/ cordoned, • tainted")),
    found.length === 0 && h("p.quiet",
      rows.length === 0 ? "The cluster has no nodes." : "No node matches."),
    asCards ? cards(found, usage) : squares(found, usage));
}

function cards(rows, usage) {
  const [items, more] = firstItems("nodes", kSquares, rows, (row) => {
    const used = usage.get(row.name);
    const pods = [...used.pods, ...used.failed].flat();
    return lazy(row.uid, [row, ui.drawer?.uid, ...pods], () =>
      nodeCard(row, used));
  });
  return [h("ul.node-cards", { key: "cards" }, items), more];
}

function nodeCard(row, usage) {
  const { uid, name, cordoned, taints } = row;
  const left = usage.pods.length - kFirstPods;
  return h("li.node", { "data-cordoned": cordoned },
    h("header",
      h("h3", h("button.node-name", { "data-uid": uid,
        "aria-current": currentIf(ui.drawer?.uid === uid),
        onclick: () => openNode(row) }, name)),
      cordoned && badge("cordoned", "warn"),
      taints && badge(taintsText(taints), "taint")),
    resourcesOf(row, usage).map(resourceLine),
    h("ul.node-pods", { "aria-label": `pods on ${name}` },
      usage.pods.slice(0, kFirstPods).map(podChip),
      usage.failed.slice(0, kFirstPods).map(podChip),
      left > 0 && h("li.more", `… and ${left} more`)));
}

function podChip([uid, pod]) {
  const name = fullName(pod);
  const state = placeOf(pod) === "ended" ? "failed"
    : pod.row?.node ? "" : "assumed";
  return h("li", { key: uid }, h("button.chip", {
    class: state && `chip-${state}`, title: name,
    "aria-current": currentIf(ui.drawer?.uid === uid),
    onclick: () => openPod(uid, name) },
  cut(name.split("/").at(-1)), state && hidden(` ${state}`)));
}

function resourceLine({ resource, allocatable, requested, assumed, free }) {
  const width = (n) => ({ width: `${(100 * n) / Math.max(allocatable, 1)}%` });
  const text = (n) => amountText(resource, n);
  return h("div.resource", { key: resource },
    h("span", h("span.label", `${resource} `), text(requested),
      hidden(" requested"), assumed > 0 && ` + ${text(assumed)}`,
      assumed > 0 && hidden(" assumed"), ` of ${text(allocatable)}`),
    h("span.free", `${text(free)} free`),
    h("span.bar", { "aria-hidden": "true", "data-over": free < 0 },
      h("span.requested", { styles: width(requested) }),
      h("span.assumed", { styles: width(assumed) })));
}

let squaresShown = 0;

// Returns a square for each node, some more each time. The arrow keys go from
// one to the next, and only one of them is in the order of the Tab key.
function squares(rows, usage) {
  squaresShown = Math.min(squaresShown + kSquaresAtOnce, rows.length);
  if (squaresShown < rows.length) setTimeout(change, 0);
  return h("ul.squares", { key: "squares", onkeydown: moveFocus },
    rows.slice(0, squaresShown).map((row, i) => {
      const used = usage.get(row.name);
      const percent = Math.ceil(fullness(row, used) * 10) * 10;
      const isCurrent = ui.drawer?.uid === row.uid;
      const deps = [row, percent, isCurrent, used.pods.length, i > 0];
      return lazy(row.uid, deps, () => h("li", square(row, ...deps.slice(1))));
    }));
}

function square(row, percent, isCurrent, pods, isLater) {
  const text = [row.name, `${percent} % full`, plural(pods, "pod"),
    row.cordoned && "cordoned", taintsText(row.taints)]
    .filter(Boolean).join(", ");
  return h("button.square", { title: text, "aria-label": text,
    styles: { "--level": `${percent}%` }, "data-uid": row.uid,
    "aria-current": currentIf(isCurrent), tabindex: isLater ? "-1" : "0",
    onclick: () => openNode(row) }, row.cordoned ? "/" : row.taints && "•");
}

function moveFocus(event) {
  const all = [...event.currentTarget.querySelectorAll("button")];
  const here = all.indexOf(event.target);
  const second = all.findIndex((node) => node.offsetTop > all[0].offsetTop);
  const columns = second < 0 ? all.length : second;
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns,
    ArrowUp: -columns, Home: -here, End: all.length - 1 - here };
  const next = all[here + steps[event.key]];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// Returns the facts of a node for the drawer.
export function nodeFacts(row, usage) {
  return h("div", { key: "facts" },
    h("p", row.cordoned && "Cordoned: takes no new pods. ",
      row.taints ? `Taints: ${taintsText(row.taints)}` : "No taints."),
    scrollTable("Resources", "", ["resource", ...kAmounts].map((text) =>
      h("th", { key: text, scope: "col" }, text)),
    resourcesOf(row, usage).map((line) => h("tr", { key: line.resource },
      h("th", { scope: "row" }, line.resource),
      kAmounts.map((column) => h("td.number", { key: column },
        amountText(line.resource, line[column])))))));
}
