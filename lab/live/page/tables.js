// Tables of each kind, as the API server prints them.

import { h } from "./dom.js";
import { ageText, amountText, plural, taintsText } from "./format.js";
import { kKindNames, pathOf } from "./kinds.js";
import { cut, firstItems, inNamespace, link } from "./parts.js";
import { namespaceSelect, scrollTable, searchField, select } from "./parts.js";
import { placeOf, reasonOf, usageOfNodes } from "./places.js";
import { asOfNow, change, feed, isFound, server, shownNow } from "./ui.js";
import { shownTables, ui } from "./ui.js";
import { nodesOfVolume, podsByClaim } from "./volumes.js";

const kFirstLines = 100;
const kFewRows = 500;
const kRefreshMs = 3000;
const kKeptTables = 20;
const kFuture = 9e15;  // Later than any time, in milliseconds.

const answers = new Map();  // path → {columns, rows, error, time, isLoading}

// Returns the last table of this path, and asks for a newer one now and then.
function tableOf(path) {
  if (!answers.has(path) && answers.size > kKeptTables) answers.clear();
  const answer = answers.get(path) ?? { columns: [], rows: [], time: 0 };
  answers.set(path, answer);
  if (answer.isLoading || Date.now() - answer.time < kRefreshMs ||
      !feed.hello.api) {
    return answer;
  }
  answer.isLoading = true;
  server.source.table(path).then((result) => {
    Object.assign(answer, result.ok ? readTable(JSON.parse(result.text)) : {},
      { isLoading: false, time: Date.now(), error: result.error });
    change();
  });
  return answer;
}

// Returns the columns that kubectl shows, and the rows: {cells, name,
// namespace, uid, object}.
function readTable({ columnDefinitions = [], rows }) {
  const shown = columnDefinitions.flatMap(({ priority }, i) =>
    (priority === 0 ? [i] : []));
  return {
    columns: shown.map((i) => columnDefinitions[i].name),
    rows: (rows ?? []).map(({ cells, object }) => ({ ...object?.metadata,
      object, cells: shown.map((i) => String(cells[i] ?? "")) })),
  };
}

// Returns the pods of the shown moment in the form of readTable().
function podTable(tables) {
  const rows = [];
  for (const [uid, pod] of tables.pods) {
    if (pod.deleted || !pod.row) continue;
    const { name, namespace, node, requests, priority, scheduler } = pod.row;
    const created = Date.parse(pod.row.created) || pod.added;
    const cells = [namespace, name, placeOf(pod), ageText(shownNow() - created),
      node ?? "", node ? "" : reasonOf(pod), String(pod.record?.attempts ?? 0),
      String(priority ?? 0), amountText("cpu", requests?.cpu),
      amountText("memory", requests?.memory), scheduler ?? ""];
    rows.push({ name, namespace, uid, cells, age: String(kFuture - created) });
  }
  return { columns: ["Namespace", "Name", "Place", "Age", "Node", "Reason",
    "Attempts", "Priority", "CPU", "Memory", "Scheduler"], rows };
}

function nodeTable(tables) {
  const usage = usageOfNodes(tables);
  const rows = [...tables.nodes.values()].map(
    ({ name, uid, allocatable, taints, cordoned }) => ({ name, uid, cells: [
      name, cordoned ? "cordoned" : "", taintsText(taints),
      String(usage.get(name).pods.length), amountText("cpu", allocatable?.cpu),
      amountText("memory", allocatable?.memory)] }));
  const columns = ["Name", "State", "Taints", "Pods", "CPU", "Memory"];
  return { columns, rows };
}

// The kinds whose objects the page knows at each moment.
const kOfMoment = { Pod: podTable, Node: nodeTable };

// Returns the tables of claims and of volumes, whose rows have whole objects.
const claimsTable = (namespace) => tableOf(
  `${pathOf("PersistentVolumeClaim", namespace)}?includeObject=Object`);
const volumesTable = () => tableOf(
  `${pathOf("PersistentVolume")}?includeObject=Object`);

function withColumn({ columns, rows, ...rest }, column, cellOf) {
  return { ...rest, columns: [...columns, column],
    rows: rows.map((row) => ({ ...row, cells: [...row.cells, cellOf(row)] })) };
}

// The kinds whose tables have a column that kubectl does not show.
const kExtended = {
  PersistentVolume: () => withColumn(volumesTable(), "Nodes",
    ({ object }) => nodesOfVolume(object)),
  PersistentVolumeClaim: () => {
    const users = podsByClaim(shownTables());
    return withColumn(claimsTable(), "Pods", ({ namespace, name }) =>
      users.get(`${namespace}/${name}`)?.join(", ") ?? "");
  },
};

// Returns the table of this kind, with the namespaces in the first column.
function chosenTable() {
  const make = kOfMoment[ui.kind];
  if (make) return make(shownTables());
  if (feed.hello.recording) {
    return { columns: [], rows: [],
      error: "A recording has only pods and nodes." };
  }
  const table = kExtended[ui.kind]?.() ?? tableOf(pathOf(ui.kind));
  if (!table.rows.some((row) => row.namespace)) return table;
  return { ...table, columns: ["Namespace", ...table.columns],
    rows: table.rows.map((row) =>
      ({ ...row, cells: [row.namespace ?? "", ...row.cells] })) };
}

// Returns the view of the tables.
export function tablesView() {
  const { columns, rows, error } = chosenTable();
  const found = rows.filter(({ cells, namespace }) =>
    isFound(cells.join(" "), "tableSearch") && inNamespace(namespace));
  const [lines, more] = firstItems(ui.kind, kFirstLines,
    sortRows(found, columns), (row) =>
      objectRow(row, columns));
  return h("section.tables", { key: "tables", "aria-label": "Tables" },
    h("div.section-head",
      h("h2", "Tables"),
      select("Kind", ui.kind, kKindNames,
        (kind) => change({ kind, tableSearch: "" })),
      searchField("Search this table", "tableSearch"),
      namespaceSelect(),
      h("span.quiet", plural(found.length, "object"),
        !kOfMoment[ui.kind] && asOfNow())),
    error && h("p.error", error),
    scrollTable(`Objects of kind ${ui.kind}`, "objects", columns.map(headCell),
      lines),
    more);
}

const order = new Intl.Collator("en", { numeric: true });

// Orders node-2 before node-10, unless there are too many rows to do so fast.
function sortRows(rows, columns) {
  const i = columns.indexOf(ui.sort.column);
  if (i < 0) return rows;
  const keyOf = columns[i] === "Age" ? ({ age, cells }) => age ?? cells[i]
    : ({ cells }) => cells[i];
  const sign = ui.sort.down ? -1 : 1;
  const compare = rows.length <= kFewRows ? order.compare
    : (a, b) => (a < b ? -1 : Number(a > b));
  return [...rows].sort((a, b) => sign * compare(keyOf(a), keyOf(b)));
}

function headCell(column) {
  const isSorted = ui.sort.column === column;
  const down = isSorted && ui.sort.down;
  const direction = down ? "descending" : "ascending";
  return h("th", { key: column, scope: "col",
    "aria-sort": isSorted ? direction : "none" },
  link([column, isSorted && h("span", { "aria-hidden": "true" },
    down ? " ↓" : " ↑")],
  () => change({ sort: { column, down: isSorted && !down } })));
}

function objectRow({ uid, namespace, name, cells }, columns) {
  const { kind } = ui;
  const open = () => change({ drawer: { kind, uid, namespace, name } });
  return h("tr", { key: uid ?? cells.join("/") }, cells.map((cell, i) =>
    (columns[i] === "Reason" ? h("td.reason", { title: cell }, cell)
      : h("td", columns[i] === "Name" ? link(cut(cell), open) : cut(cell)))));
}

// Returns the claims of a pod, each with its class and its volume.
export function claimsOfPod({ namespace, claims }) {
  if (!claims) return null;
  const found = claimsTable(namespace);
  const volumes = volumesTable().rows;
  const open = (kind, name, of) => name && link(cut(name), () => change({
    drawer: { kind, uid: of?.uid, namespace: of?.namespace, name } }));
  const rows = claims.map((name) => {
    const claim = found.rows.find((row) => row.name === name);
    const { spec = {}, status = {} } = claim?.object ?? {};
    const volume = volumes.find((row) => row.name === spec.volumeName);
    const cells = claim ? [open("PersistentVolumeClaim", name, claim),
      status.phase, spec.storageClassName,
      volume ? open("PersistentVolume", volume.name, volume) : spec.volumeName,
      volume && nodesOfVolume(volume.object)]
      : [name, found.time > 0 && !found.error && "does not exist", "", "", ""];
    return h("tr", { key: name }, cells.map((cell) => h("td", cell)));
  });
  return h("div", { key: "claims" }, h("h3", `Claims${asOfNow()}`),
    found.error && h("p.error", found.error),
    scrollTable("Claims of the pod", "objects", ["Claim", "Status", "Class",
      "Volume", "Nodes"].map((name) => h("th", { scope: "col" }, name)), rows));
}

// Returns the Events about an object.
export function eventsTable({ kind, name: object, uid }) {
  const about = encodeURIComponent(kind === "Node" ? object : uid);
  const { columns, rows, error } = tableOf(
    `/api/v1/events?fieldSelector=involvedObject.uid%3D${about}`);
  const shown = columns.flatMap((name, i) => (name === "Object" ? [] : [i]));
  return h("div", { key: "events" }, h("h3", `Events${asOfNow()}`),
    error && h("p.error", error),
    !error && rows.length === 0 && h("p.quiet", "none"),
    h("ul.plain", rows.slice(-20).reverse().map(({ cells }) =>
      h("li", shown.map((i) => h("span", { class: columns[i].toLowerCase() },
        `${cells[i]} `))))));
}
