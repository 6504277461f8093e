// Where each pod is, in which order, and what the nodes have left.

import { parseTime } from "./format.js";

// Returns the place of a pod, with the names of the records, and two more:
// "unscheduled" for a pod that only the API server has, and "ended".
export function placeOf(pod) {
  const { row, record } = pod;
  if (pod.deleted) return "gone";
  if (row && (row.phase === "Succeeded" || row.phase === "Failed")) {
    return "ended";
  }
  if (record && record.place !== "gone") return record.place;
  if (!row) return "gone";
  return row.node ? "bound" : "unscheduled";
}

// Returns "namespace/name".
export function fullName(pod) {
  return pod.row ? `${pod.row.namespace}/${pod.row.name}` : pod.record.name;
}

// Returns the node that the pod is on, or is assumed on.
export function nodeOf(pod) {
  return pod.row?.node ?? (holdsNode(pod) ? pod.record.node : undefined);
}

function holdsNode(pod) {
  return ["assumed", "waiting", "bound"].includes(pod.record?.place);
}

let arranged = {};

// Returns the pods of each place: a map of lists of [uid, pod], not sorted.
// Leaves out pods of other schedulers that the scheduler has no record of.
export function arrangePods(tables, scheduler) {
  if (arranged.tables === tables && arranged.version === tables.version &&
      arranged.scheduler === scheduler) {
    return arranged.places;
  }
  const places = new Map();
  for (const entry of tables.pods) {
    const pod = entry[1];
    if (!pod.record && pod.row && pod.row.scheduler !== scheduler) continue;
    const place = placeOf(pod);
    const list = places.get(place);
    if (list) {
      list.push(entry);
    } else {
      places.set(place, [entry]);
    }
  }
  arranged = { tables, version: tables.version, scheduler, places };
  return places;
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
    const turns = new Map();
    const active = tables.meta.get("queue")?.active ?? [];
    for (const [i, uid] of active.entries()) turns.set(uid, i);
    return ([uid, pod]) => turns.get(uid) ?? pod.since;
  }
  if (place === "backoff" || place === "waiting") {
    return ([, pod]) => parseTime(pod.record.until ?? "") || pod.since;
  }
  if (place === "bound" || place === "unschedulable") {
    return ([, pod]) => -(pod.since ?? 0);
  }
  return ([, pod]) => pod.since ?? 0;
}

let used = {};

// Returns what is on each node: a map from the node's name to {requested,
// assumed, pods}, where pods is a list of [uid, pod].
export function usageOfNodes(tables) {
  if (used.tables === tables && used.version === tables.version) {
    return used.nodes;
  }
  const nodes = new Map();
  for (const entry of tables.pods) {
    const pod = entry[1];
    const name = nodeOf(pod);
    if (!name || pod.deleted || placeOf(pod) === "ended") continue;
    let usage = nodes.get(name);
    if (!usage) {
      usage = { requested: {}, assumed: {}, pods: [] };
      nodes.set(name, usage);
    }
    usage.pods.push(entry);
    const sum = pod.row?.node || pod.record.place === "bound"
      ? usage.requested
      : usage.assumed;
    sum.pods = (sum.pods ?? 0) + 1;
    for (const resource in pod.row?.requests) {
      sum[resource] = (sum[resource] ?? 0) + pod.row.requests[resource];
    }
  }
  used = { tables, version: tables.version, nodes };
  return nodes;
}

// Returns the resources of a node that are worth a line: CPU, memory, pods, and
// all others that the node has: [{resource, allocatable, requested, assumed,
// free}].
export function resourcesOf(row, usage) {
  const names = new Set(["cpu", "memory", "pods"]);
  for (const name in row.allocatable) {
    if (name !== "ephemeral-storage" || usage?.requested[name]) names.add(name);
  }
  return [...names].filter((name) => name in row.allocatable).map((name) => {
    const allocatable = row.allocatable[name];
    const requested = usage?.requested[name] ?? 0;
    const assumed = usage?.assumed[name] ?? 0;
    return { resource: name, allocatable, requested, assumed,
      free: allocatable - requested - assumed };
  });
}

// Returns how full a node is, from 0 to 1: of CPU, memory or pods, the fullest.
export function fullness(row, usage) {
  let most = 0;
  for (const name of ["cpu", "memory", "pods"]) {
    const taken = (usage?.requested[name] ?? 0) + (usage?.assumed[name] ?? 0);
    const all = row.allocatable?.[name] ?? 0;
    if (taken > 0) most = Math.max(most, all > 0 ? taken / all : 1);
  }
  return most;
}

// Returns the members of a pod's group: how many hold a node, and how many the
// group needs. Returns null for a pod without a group.
export function groupOf(tables, pod) {
  const { group, namespace, minAvailable } = pod.row ?? {};
  if (!group) return null;
  let all = 0;
  let ready = 0;
  for (const other of tables.pods.values()) {
    if (other.deleted || other.row?.group !== group ||
        other.row.namespace !== namespace) {
      continue;
    }
    ++all;
    if (nodeOf(other)) ++ready;
  }
  return { group, ready, needed: minAvailable ?? all };
}
