// Tables of each kind, as the API server prints them.

import { h } from "./dom.js";
import { amountText, plural, taintText } from "./format.js";
import { kKindNames, pathOf } from "./kinds.js";
import { moreLine, rowLimit, searchField } from "./parts.js";
import { placeOf, usageOfNodes } from "./places.js";
import { change, feed, server, shownTables, ui } from "./ui.js";

const kFirstLines = 100;
const kRefreshMs = 3000;

const answers = new Map();  // path → {columns, rows, error, time, isLoading}

// Returns the last table of this path, and asks for a newer one now and then.
function tableOf(path) {
  let answer = answers.get(path);
  if (!answer) {
    answer = { columns: [], rows: [], time: 0 };
    answers.set(path, answer);
  }
  const isOld = Date.now() - answer.time > kRefreshMs;
  if (isOld && !answer.isLoading && feed.hello.control !== undefined) {
    answer.isLoading = true;
    server.source.table(path).then((result) => {
      answer.isLoading = false;
      answer.time = Date.now();
      answer.error = result.ok ? null : result.error;
      if (result.ok) Object.assign(answer, readTable(JSON.parse(result.text)));
      change({});
    });
  }
  return answer;
}

// Returns the columns that kubectl shows, and the rows: {cells, name,
// namespace, uid}.
function readTable({ columnDefinitions, rows }) {
  const shown = [];
  (columnDefinitions ?? []).forEach((column, i) => {
    if (column.priority === 0) shown.push([i, column.name]);
  });
  return {
    columns: shown.map(([, name]) => name),
    rows: (rows ?? []).map(({ cells, object }) => ({
      cells: shown.map(([i]) => String(cells[i] ?? "")),
      name: object?.metadata?.name,
      namespace: object?.metadata?.namespace,
      uid: object?.metadata?.uid,
    })),
  };
}

// Returns the pods or nodes of the shown moment in the form of readTable().
function tableOfRows(kind, tables) {
  return kind === "Pod" ? podTable(tables) : nodeTable(tables);
}

function podTable(tables) {
  const rows = [];
  for (const [uid, pod] of tables.pods) {
    if (pod.deleted || !pod.row) continue;
    const { name, namespace, node, requests, priority, scheduler } = pod.row;
    rows.push({ name, namespace, uid, cells: [namespace, name, placeOf(pod),
      node ?? "", String(priority ?? 0), String(pod.record?.attempts ?? 0),
      amountText("cpu", requests?.cpu ?? 0),
      amountText("memory", requests?.memory ?? 0), scheduler ?? ""] });
  }
  return { columns: ["Namespace", "Name", "Place", "Node", "Priority",
    "Attempts", "CPU", "Memory", "Scheduler"], rows };
}

function nodeTable(tables) {
  const usage = usageOfNodes(tables);
  const rows = [...tables.nodes.values()].map((row) => {
    const { name, uid, allocatable, taints } = row;
    return { name, uid, cells: [name, row.cordoned ? "cordoned" : "",
      (taints ?? []).map(taintText).join(", "),
      String(usage.get(name)?.pods.length ?? 0),
      amountText("cpu", allocatable?.cpu ?? 0),
      amountText("memory", allocatable?.memory ?? 0)] };
  });
  return { columns: ["Name", "State", "Taints", "Pods", "CPU", "Memory"], rows };
}

// Returns the table of this kind, with the namespaces in the first column.
function chosenTable() {
  if (ui.kind === "Pod" || ui.kind === "Node") {
    return tableOfRows(ui.kind, shownTables());
  }
  const table = tableOf(pathOf(ui.kind));
  if (!table.rows.some((row) => row.namespace)) return table;
  return { ...table, columns: ["Namespace", ...table.columns],
    rows: table.rows.map((row) =>
      ({ ...row, cells: [row.namespace ?? "", ...row.cells] })) };
}

// Returns the view of the tables.
export function tablesView() {
  const { columns, rows, error } = chosenTable();
  const wanted = ui.tableSearch.trim().toLowerCase();
  const found = wanted === "" ? rows : rows.filter((row) =>
    row.cells.some((cell) => cell.toLowerCase().includes(wanted)));
  const sorted = sortRows(found, columns);
  const limit = rowLimit(ui.kind, kFirstLines);
  return h("section", { key: "tables", class: "tables", "aria-label": "Tables" },
    h("div", { class: "section-head" },
      h("h2", null, "Tables"),
      h("label", null, h("span", { class: "hidden" }, "Kind"),
        h("select", { onchange: (event) =>
          change({ kind: event.target.value, tableSearch: "" }) },
        kKindNames.map((kind) => h("option",
          { key: kind, value: kind, selected: kind === ui.kind }, kind)))),
      searchField("Search this table", "tableSearch"),
      h("span", { class: "quiet" }, plural(found.length, "object"))),
    error && h("p", { class: "error" }, error),
    h("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": `Objects of kind ${ui.kind}` },
    h("table", { class: "objects" },
      h("thead", null, h("tr", null, columns.map(headCell))),
      h("tbody", null, sorted.slice(0, limit).map((row) =>
        objectRow(row, columns))))),
    moreLine(ui.kind, Math.min(limit, sorted.length), sorted.length));
}

const kFewRows = 500;
const order = new Intl.Collator("en", { numeric: true });

// Orders node-2 before node-10, unless there are too many rows to do so fast.
function sortRows(rows, columns) {
  const i = columns.indexOf(ui.sort.column);
  if (i < 0) return rows;
  const sign = ui.sort.down ? -1 : 1;
  const compare = rows.length <= kFewRows
    ? order.compare
    : (a, b) => (a < b ? -1 : Number(a > b));
  return [...rows].sort((a, b) => sign * compare(a.cells[i], b.cells[i]));
}

function headCell(column) {
  const isSorted = ui.sort.column === column;
  const down = isSorted && ui.sort.down;
  return h("th", { key: column, scope: "col",
    "aria-sort": isSorted ? (down ? "descending" : "ascending") : "none" },
  h("button", { class: "link",
    onclick: () => change({ sort: { column, down: isSorted && !down } }) },
  column, h("span", { "aria-hidden": "true" },
    isSorted ? (down ? " ↓" : " ↑") : "")));
}

function objectRow(row, columns) {
  const open = () => change({ drawer: { kind: ui.kind, uid: row.uid,
    namespace: row.namespace, name: row.name } });
  return h("tr", { key: row.uid ?? row.cells.join("/") },
    row.cells.map((cell, i) => h("td", { key: i },
      columns[i] === "Name"
        ? h("button", { class: "link", onclick: open }, cell)
        : cell)));
}

// Returns the Events about an object.
export function eventsTable(drawer) {
  const { kind, uid } = drawer;
  const about = kind === "Node" ? drawer.name : uid;
  const { columns, rows, error } = tableOf(
    `/api/v1/events?fieldSelector=involvedObject.uid%3D${
      encodeURIComponent(about)}`);
  const shown = columns.flatMap((name, i) => (name === "Object" ? [] : [i]));
  return h("div", { key: "events" }, h("h3", null, "Events"),
    error && h("p", { class: "error" }, error),
    !error && rows.length === 0 && h("p", { class: "quiet" }, "none"),
    h("ul", { class: "plain" }, rows.slice(-20).reverse().map((row, i) =>
      h("li", { key: row.uid ?? i }, shown.map((column) =>
        h("span", { key: column, class: columns[column].toLowerCase() },
          `${row.cells[column]} `))))));
}
