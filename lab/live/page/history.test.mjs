import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "./history.js";
import { applyItem, copyTables, createTables, redo, undo } from "./state.js";

let clock = 0;
const time = () => new Date(1.8e12 + ++clock * 100).toISOString();
const record = (uid, place, more) =>
  ({ time: time(), pod: { uid, name: `default/${uid}`, place, ...more } });
const row = (uid, more) =>
  ({ time: time(), cluster: { pod: { uid, namespace: "default", name: uid,
    phase: "Pending", requests: {}, ...more } } });

// What a view can see of tables: without the order in the maps.
function contents(tables) {
  return Object.fromEntries(Object.entries(tables)
    .filter(([name]) => name !== "version" && name !== "seen")
    .map(([name, table]) => [name, [...table].sort(([a], [b]) =>
      (a < b ? -1 : 1))]));
}

// Returns items of all kinds, from a seed.
function randomItems(count, seed) {
  const next = (n) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * n);
  };
  const places = ["active", "in flight", "assumed", "bound", "backoff",
    "unschedulable", "gated", "waiting", "gone"];
  const items = [];
  for (let i = 0; i < count; ++i) {
    const uid = `p${next(12)}`;
    items.push([
      () => record(uid, places[next(places.length)], { attempts: next(5) }),
      () => row(uid, next(2) ? { node: `n${next(3)}` } : {}),
      () => row(uid, { deleted: true }),
      () => ({ time: time(), cluster: { node: { uid: `n${next(3)}`, name: "n",
        allocatable: {}, ...(next(3) === 0 ? { deleted: true } : {}) } } }),
      () => ({ time: time(), sequence: i,
        attempt: { uid, pod: uid, attempt: next(3) } }),
      () => ({ time: time(), queue: { active: [uid], length: 1 } }),
      () => ({ time: time(), scheduler: { name: "s", paused: next(2) === 1 } }),
      () => ({ time: time(), live: { dropped: 1, server: "connected" } }),
    ][next(8)]());
  }
  return items;
}

test("EachRewoundMomentEqualsTheOneSeenLive", () => {
  const history = new History();
  const live = [contents(history.tables)];
  for (const item of randomItems(600, 7)) {
    history.add(item, 100);
    live.push(contents(history.tables));
  }
  const cursor = history.cursor(history.end);
  for (const position of [600, 0, 300, 299, 301, 599, 1, 600, 450]) {
    history.move(cursor, position);
    assert.deepEqual(contents(cursor.tables), live[position], `${position}`);
  }
  for (let position = 600; position >= 0; --position) {
    history.move(cursor, position);
    assert.deepEqual(contents(cursor.tables), live[position], `${position}`);
  }
  assert.deepEqual(contents(history.tables), live[600]);
});

test("MomentsStayEqualWhenOldItemsAreDropped", () => {
  const history = new History(200);
  const live = [contents(history.tables)];
  const cursor = history.cursor(0);
  for (const item of randomItems(1000, 3)) {
    history.add(item, 100);
    live.push(contents(history.tables));
    assert.ok(history.log.length <= 200);
  }
  assert.ok(history.start > 700);
  history.move(cursor, 0);
  assert.equal(cursor.position, history.start);
  assert.deepEqual(contents(cursor.tables), live[history.start]);
  history.move(cursor, 950);
  assert.deepEqual(contents(cursor.tables), live[950]);
});

test("TheSizeOfTheLogIsBounded", () => {
  const history = new History(1000, 5000);
  for (const item of randomItems(300, 5)) history.add(item, 100);
  assert.ok(history.size <= 5000 && history.size > 3000);
});

test("TheBaseIsNoPartOfTheTimeline", () => {
  const history = new History();
  history.addBase(row("a"));
  history.add(record("a", "active"), 100);
  const cursor = history.cursor(0);
  assert.equal(history.end, 1);
  assert.equal(cursor.tables.pods.get("a").record, undefined);
  assert.equal(cursor.tables.pods.get("a").row.name, "a");
});

test("PositionsAreFoundByTime", () => {
  const history = new History();
  const items = [row("a"), record("a", "active"), record("a", "bound")];
  for (const item of items) history.add(item, 1);
  const ms = items.map((item) => Date.parse(item.time));
  assert.equal(history.positionAt(ms[0] - 1), 0);
  assert.equal(history.positionAt(ms[1]), 2);
  assert.equal(history.positionAt(ms[2] + 1), 3);
  assert.equal(history.timeAt(2), ms[1]);
  assert.equal(history.find(3, -1, (e) => Boolean(e.item.cluster)), 1);
  assert.equal(history.find(1, -1, () => true), 0);
  assert.equal(history.find(2, 1, () => true), 3);
});

test("TimesNeverGoBack", () => {
  const history = new History();
  const [early, late] = [row("a"), row("b")];
  history.add(late, 1);
  history.add(early, 1);
  assert.equal(history.timeAt(2), history.timeAt(1));
});

test("ALateRecordDoesNotBringADeletedPodBack", () => {
  const tables = createTables();
  applyItem(tables, row("a"));
  applyItem(tables, record("a", "assumed"));
  applyItem(tables, row("a", { deleted: true }));
  applyItem(tables, record("a", "bound"));
  assert.equal(tables.pods.get("a").deleted, true);
  assert.equal(tables.pods.get("a").record.place, "assumed");
});

test("DeletedPodsAndOldAttemptsAreForgotten", () => {
  const tables = createTables();
  for (let i = 0; i < 3000; ++i) {
    applyItem(tables, row(`p${i}`));
    applyItem(tables, { time: time(), attempt: { uid: `p${i}`, attempt: 1 } });
    applyItem(tables, row(`p${i}`, { deleted: true }));
  }
  assert.equal(tables.pods.size, 1000);
  assert.equal(tables.attempts.size, 1000);
  assert.ok(tables.rings.size < 2010);
});

test("TheSecondRecordOfAnAttemptReplacesTheFirst", () => {
  const tables = createTables();
  const attempt = { uid: "a", attempt: 1, pod: "default/a" };
  applyItem(tables, { time: time(), sequence: 1, attempt });
  applyItem(tables, { time: time(), sequence: 2,
    attempt: { ...attempt, node: "n" } });
  assert.equal(tables.attempts.size, 1);
  assert.equal(tables.attempts.get("a/1").attempt.node, "n");
});

test("UndoAndRedoLeaveCopiesAlone", () => {
  const tables = createTables();
  const changes = applyItem(tables, row("a"));
  const copy = copyTables(tables);
  undo(tables, changes);
  assert.equal(tables.pods.size, 0);
  assert.equal(copy.pods.size, 1);
  redo(tables, changes);
  assert.deepEqual(contents(tables), contents(copy));
});
