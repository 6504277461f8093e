// Where each pod is, in which order, and what the nodes have left.

// At least so many pods that wait for the same reason are a group.
const kFewPods = 5;

// Returns the place of a pod, with the names of the records, and two more:
// "unscheduled" for a pod that only the API server has, and "ended".
export function placeOf({ row, record, deleted }) {
  if (deleted) return "gone";
  if (row?.phase === "Succeeded" || row?.phase === "Failed") return "ended";
  if (record && record.place !== "gone") return record.place;
  if (!row) return "gone";
  return row.node ? "bound" : "unscheduled";
}

// Returns "namespace/name".
export const fullName = ({ row, record }) =>
  row ? `${row.namespace}/${row.name}` : record.name;

// Returns the node that the pod is on, or is assumed on.
export function nodeOf({ row, record }) {
  if (row?.node) return row.node;
  const holds = ["assumed", "waiting", "bound"].includes(record?.place);
  return holds ? record.node : undefined;
}

// Returns a function that keeps its last result until the tables change.
function keepResult(make) {
  let last = {};
  return (tables, more) => {
    const { version } = tables;
    if (last.tables !== tables || last.version !== version ||
        last.more !== more) {
      last = { tables, version, more, result: make(tables, more) };
    }
    return last.result;
  };
}

// Returns the pods of each place: a map of lists of [uid, pod], not sorted.
// Leaves out pods of other schedulers that this scheduler has no record of.
export const arrangePods = keepResult((tables, scheduler) => {
  const places = new Map();
  for (const entry of tables.pods) {
    const pod = entry[1];
    if (!pod.record && pod.row?.scheduler !== scheduler) continue;
    const place = placeOf(pod);
    const list = places.get(place);
    if (list) {
      list.push(entry);
    } else {
      places.set(place, [entry]);
    }
  }
  return places;
});

// Returns the namespaces of all pods, sorted.
export const namespacesOf = keepResult(({ pods }) =>
  [...new Set([...pods.values()].filter(({ deleted }) => !deleted)
    .map((pod) => fullName(pod).split("/")[0]))].sort());

const reasons = new WeakMap();  // pod → what reasonOf() has returned

// Returns why a pod waits: "" if nothing is known.
export function reasonOf(pod) {
  if (!reasons.has(pod)) {
    const { gates, condition } = pod.row ?? {};
    reasons.set(pod, gates ? `gates ${gates.join(", ")}`
      : condition?.message ?? (pod.record?.plugins ?? []).join(", "));
  }
  return reasons.get(pod);
}

// Returns the entries in lists: those of many pods that the same plugins reject
// for the same reason, and each other one alone.
export function groupByReason(entries) {
  const groups = new Map();
  for (const entry of entries) {
    const [, pod] = entry;
    const key = `${pod.record?.plugins} ${reasonOf(pod)}`;
    if (groups.has(key)) groups.get(key).push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups].flatMap(([key, pods]) => pods.length >= kFewPods
    ? [{ key, pods }] : pods.map((pod) => ({ key: pod[0], pods: [pod] })));
}

// Returns the first n entries in the order of a number that `rank` returns.
export function firstOf(entries, n, rank) {
  const first = [];
  for (const entry of entries) {
    const r = rank(entry);
    if (first.length === n && r >= first[n - 1].r) continue;
    let i = first.length;
    while (i > 0 && first[i - 1].r > r) --i;
    first.splice(i, 0, { r, entry });
    if (first.length > n) first.pop();
  }
  return first.map(({ entry }) => entry);
}

// Returns the function that gives the order of the pods in a place: their turn
// in activeQ, the end of their wait, or how long they have been there.
export function rankIn(place, tables) {
  if (place === "active") {
    const active = tables.meta.get("queue")?.active ?? [];
    const turns = new Map(active.map((uid, i) => [uid, i]));
    return ([uid, pod]) => turns.get(uid) ?? pod.since;
  }
  const isNewestFirst = place === "bound" || place === "unschedulable";
  if (isNewestFirst) return ([, pod]) => -(pod.since ?? pod.added);
  return ([, pod]) => untilOf(pod) || (pod.since ?? pod.added);
}

// Returns when the pod's wait ends, or NaN.
export const untilOf = (pod) => Date.parse(pod.record?.until ?? "");

// Returns what is on each node: a map from the node's name to {requested,
// assumed, pods, failed}. The last two are lists of [uid, pod]. Failed pods,
// such as those that the kubelet rejected, take no resources.
export const usageOfNodes = keepResult((tables) => {
  const nodes = new Map();
  for (const { name } of tables.nodes.values()) nodes.set(name, noUsage());
  for (const entry of tables.pods) {
    const pod = entry[1];
    const name = nodeOf(pod);
    if (!name || pod.deleted) continue;
    if (!nodes.has(name)) nodes.set(name, noUsage());
    const usage = nodes.get(name);
    if (pod.row?.phase === "Failed") usage.failed.push(entry);
    if (placeOf(pod) === "ended") continue;
    usage.pods.push(entry);
    const isBound = pod.row?.node || pod.record.place === "bound";
    const sum = isBound ? usage.requested : usage.assumed;
    sum.pods = (sum.pods ?? 0) + 1;
    for (const resource in pod.row?.requests) {
      sum[resource] = (sum[resource] ?? 0) + pod.row.requests[resource];
    }
  }
  return nodes;
});

const noUsage = () =>
  ({ requested: {}, assumed: {}, pods: [], failed: [] });

// Returns the resources of a node that are worth a line: [{resource,
// allocatable, requested, assumed, free}].
export function resourcesOf(row, usage) {
  return Object.keys(row.allocatable ?? {}).filter((name) =>
    name !== "ephemeral-storage" || usage.requested[name]).map((resource) => {
    const allocatable = row.allocatable[resource];
    const requested = usage.requested[resource] ?? 0;
    const assumed = usage.assumed[resource] ?? 0;
    return { resource, allocatable, requested, assumed,
      free: allocatable - requested - assumed };
  });
}

// Returns how full a node is, from 0 to 1: of its resources, the fullest.
export function fullness(row, usage) {
  const parts = resourcesOf(row, usage).map(({ allocatable, free }) =>
    (free < allocatable ? 1 - free / allocatable : 0));
  return Math.min(Math.max(0, ...parts), 1);
}

// Returns the members of a pod's group: how many hold a node, and how many the
// group needs. Returns null for a pod without a group.
export function groupOf(tables, { row }) {
  if (!row?.group) return null;
  const members = [...tables.pods.values()].filter((other) =>
    !other.deleted && other.row?.group === row.group &&
    other.row.namespace === row.namespace);
  return { group: row.group, ready: members.filter(nodeOf).length,
    needed: row.minAvailable ?? members.length };
}
