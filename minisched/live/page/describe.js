// What an item of the history says, in one sentence.

import { plural } from "./format.js";

const kEvents = /([a-z])([A-Z])/g;

// Returns the sentence of an entry of the history.
export function describe(entry) {
  const { item } = entry;
  if (item.pod) return describeMove(item.pod);
  if (item.attempt) {
    const { pod, attempt, failure, node } = item.attempt;
    return `${pod}, attempt ${attempt}: ${failure ?? `selected ${node}`}`;
  }
  if (item.cluster) {
    const [kind, row] = Object.entries(item.cluster)[0];
    const name = row.namespace ? `${row.namespace}/${row.name}` : row.name;
    return `${kind} ${name} ${verbOf(row, entry.changes)}`;
  }
  if (item.queue) {
    return `activeQ has a new order of ${plural(item.queue.length, "pod")}`;
  }
  if (item.scheduler) {
    return `the scheduler ${item.scheduler.paused ? "is paused" : "runs"}`;
  }
  return item.live?.server ? `API server: ${item.live.server}` : "";
}

function verbOf(row, changes) {
  if (row.deleted) return "is deleted";
  return changes[2]?.row || changes[2]?.name ? "is changed" : "is created";
}

// Returns the sentence of a pod's record: "default/web → bound on node-1".
export function describeMove(record) {
  const { name, place, event, node, plugins } = record;
  const parts = [`${name} → ${place}`];
  if (node) parts.push(`on ${node}`);
  if (event) parts.push(`after ${event.replace(kEvents, "$1 $2")}`);
  if (plugins) parts.push(`by ${plugins.join(", ")}`);
  return parts.join(" ");
}

// Returns true if the entry is a step of the story: not a new order of activeQ,
// and no change of a pod other than its node.
export function isMove({ item, changes }) {
  const row = item.cluster?.pod;
  if (!row) return Boolean(item.pod || item.attempt || item.cluster);
  return row.deleted ? changes.length > 0 : changes[2]?.row?.node !== row.node
    || !changes[2]?.row;
}
