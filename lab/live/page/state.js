// The state of the cluster and of the scheduler at one moment: tables that
// items change. An item is a record, a row or a report of the server. Each
// change knows the value before and after it, so it can be undone.

// How many deleted pods are remembered, so that a late record of one doesn't
// bring it back, and how many attempts are kept.
const kGraves = 1000;
const kAttempts = 1000;

// Returns empty tables. `version` changes with each change of a table.
export function createTables() {
  return {
    version: 0,
    seen: new Set(),  // the places that pods have been in, now or ever
    nodes: new Map(),  // uid → row
    pods: new Map(),  // uid → {row, added, record, since, deleted}
    attempts: new Map(),  // "uid/number" → {time, order, attempt}
    rings: new Map(),  // the oldest deleted pods and attempts, to drop them
    meta: new Map(),  // "queue", "scheduler", "server", "every", …
  };
}

// Returns equal tables that don't change when the given ones do.
export function copyTables(tables) {
  return Object.fromEntries(Object.entries(tables).map(([name, table]) =>
    [name, table instanceof Map ? new Map(table) : table]));
}

// Collects changes: [table, key, value before, value after, …].
class Changes {
  constructor(tables) {
    this.tables = tables;
    this.list = [];
  }

  set(table, key, after) {
    const before = this.tables[table].get(key);
    if (before === after) return;
    this.list.push(table, key, before, after);
    put(this.tables, table, key, after);
  }

  // Remembers a key in a ring of this size. Returns the key that it replaces.
  ring(name, size, key) {
    const n = this.tables.rings.get(name) ?? 0;
    const slot = `${name}/${n % size}`;
    const oldest = this.tables.rings.get(slot);
    this.set("rings", slot, key);
    this.set("rings", name, n + 1);
    return oldest;
  }
}

function put(tables, table, key, value) {
  if (value === undefined) tables[table].delete(key);
  else tables[table].set(key, value);
}

// Applies an item to the tables. Returns its changes.
export function applyItem(tables, item) {
  const changes = new Changes(tables);
  const { cluster = {}, queue, scheduler, live } = item;
  if (item.pod) applyPodRecord(changes, item);
  if (item.attempt) applyAttempt(changes, item);
  if (cluster.pod) applyPodRow(changes, cluster.pod, item.time);
  if (cluster.node) {
    const { uid, deleted } = cluster.node;
    changes.set("nodes", uid, deleted ? undefined : cluster.node);
  }
  if (queue) changes.set("meta", "queue", queue);
  if (scheduler) changes.set("meta", "scheduler", scheduler);
  if (live) applyLive(changes, live);
  if (changes.list.length > 0) ++tables.version;
  return changes.list;
}

function applyPodRecord(changes, item) {
  const { uid, place } = item.pod;
  changes.tables.seen.add(place);
  const pod = changes.tables.pods.get(uid);
  if (pod?.deleted) return;
  const next = { ...pod, record: item.pod, since: Date.parse(item.time) };
  if (place === "gone" && !pod?.row) bury(changes, uid, next);
  else changes.set("pods", uid, next);
}

function applyPodRow(changes, row, time) {
  const pod = changes.tables.pods.get(row.uid);
  if (!row.deleted) {
    const added = pod?.added ?? Date.parse(time);
    changes.set("pods", row.uid, { ...pod, row, added, deleted: false });
  } else if (pod && !pod.deleted) {
    bury(changes, row.uid, pod);
  }
}

// Marks a pod as deleted, and drops the pod that has been deleted the longest.
function bury(changes, uid, pod) {
  changes.set("pods", uid, { ...pod, deleted: true });
  const oldest = changes.ring("graves", kGraves, uid);
  if (oldest !== uid && changes.tables.pods.get(oldest)?.deleted) {
    changes.set("pods", oldest, undefined);
  }
}

function applyAttempt(changes, item) {
  const key = `${item.attempt.uid}/${item.attempt.attempt}`;
  const known = changes.tables.attempts.get(key);
  const order = known?.order ?? changes.tables.rings.get("attempts") ?? 0;
  if (!known) {
    const oldest = changes.ring("attempts", kAttempts, key);
    if (oldest !== undefined) changes.set("attempts", oldest, undefined);
  }
  const { sequence, attempt } = item;
  changes.set("attempts", key,
    { time: Date.parse(item.time), order, sequence, attempt });
}

function applyLive(changes, { dropped = 0, ...states }) {
  for (const name in states) changes.set("meta", name, states[name]);
  const before = changes.tables.meta.get("dropped") ?? 0;
  changes.set("meta", "dropped", before + dropped);
}

// Undoes changes that applyItem() has returned.
export function undo(tables, changes) {
  for (let i = changes.length - 4; i >= 0; i -= 4) {
    put(tables, changes[i], changes[i + 1], changes[i + 2]);
  }
  ++tables.version;
}

// Makes undone changes again.
export function redo(tables, changes) {
  for (let i = 0; i < changes.length; i += 4) {
    put(tables, changes[i], changes[i + 1], changes[i + 3]);
  }
  ++tables.version;
}
