import assert from "node:assert/strict";
import { test } from "node:test";
import { arrangePods, firstOf, fullness, groupByReason, groupOf, namespacesOf }
  from "./places.js";
import { nodeOf, placeOf, rankIn, reasonOf, resourcesOf, usageOfNodes }
  from "./places.js";
import { createTables } from "./state.js";

const row = (name, more) => ({ name, namespace: "default", scheduler: "s",
  phase: "Pending", requests: { cpu: 500, memory: 100 }, ...more });
const tablesOf = (pods, nodes = []) => {
  const tables = createTables();
  for (const [uid, pod] of Object.entries(pods)) tables.pods.set(uid, pod);
  for (const node of nodes) tables.nodes.set(node.name, node);
  return tables;
};

test("ThePlaceIsThatOfTheRecordOrElseOfTheRow", () => {
  const record = { place: "backoff", name: "default/a" };
  assert.equal(placeOf({ row: row("a"), record }), "backoff");
  assert.equal(placeOf({ record }), "backoff");
  assert.equal(placeOf({ row: row("a") }), "unscheduled");
  assert.equal(placeOf({ row: row("a", { node: "n" }) }), "bound");
  assert.equal(placeOf({ row: row("a", { phase: "Failed" }), record }),
    "ended");
  assert.equal(placeOf({ row: row("a"), record, deleted: true }), "gone");
});

test("APodThatAnotherSchedulerBoundIsBound", () => {
  const record = { place: "gone", name: "default/a" };
  assert.equal(placeOf({ row: row("a", { node: "n" }), record }), "bound");
  assert.equal(placeOf({ record }), "gone");
});

test("PodsOfOtherSchedulersAreLeftOut", () => {
  const tables = tablesOf({ a: { row: row("a") },
    b: { row: row("b", { scheduler: "other" }) } });
  assert.deepEqual(arrangePods(tables, "s").get("unscheduled")
    .map(([uid]) => uid), ["a"]);
});

test("ArrangedPodsFollowTheTables", () => {
  const tables = tablesOf({ a: { row: row("a") } });
  assert.equal(arrangePods(tables, "s").get("unscheduled").length, 1);
  tables.pods.set("b", { row: row("b") });
  ++tables.version;
  assert.equal(arrangePods(tables, "s").get("unscheduled").length, 2);
});

test("ManyPodsThatWaitForTheSameReasonAreAGroup", () => {
  const pod = (plugins, message) => ({ row: row("p", { condition: { message } }),
    record: { plugins, place: "unschedulable" } });
  const entries = ["a", "b", "c", "d", "e"].map((uid) =>
    [uid, pod(["Fit"], "no cpu")]);
  const others = [["f", pod(["Fit"], "no memory")], ["g", pod(["Ports"], "x")]];
  const uids = (some) => groupByReason(some).map(({ pods }) =>
    pods.map(([uid]) => uid).join(""));
  assert.deepEqual(uids([...entries, ...others]), ["abcde", "f", "g"]);
  assert.deepEqual(uids(entries.slice(1)), ["b", "c", "d", "e"]);
});

test("TheReasonIsTheConditionOrTheGatesOrElseThePlugins", () => {
  const record = { plugins: ["A", "B"] };
  assert.equal(reasonOf({ row: row("p"), record }), "A, B");
  assert.equal(reasonOf({ row: row("p", { condition: { message: "no" } }),
    record }), "no");
  assert.equal(reasonOf({ row: row("p", { gates: ["x", "y"] }) }),
    "gates x, y");
  assert.equal(reasonOf({ row: row("p") }), "");
});

test("NamespacesAreThoseOfPodsThatExist", () => {
  const tables = tablesOf({ a: { row: row("a") },
    b: { record: { name: "team/b", place: "active" } },
    c: { row: row("c", { namespace: "old" }), deleted: true } });
  assert.deepEqual(namespacesOf(tables), ["default", "team"]);
});

test("FirstOfReturnsTheLowestInOrder", () => {
  const numbers = [5, 3, 9, 1, 7, 3];
  assert.deepEqual(firstOf(numbers, 3, (n) => n), [1, 3, 3]);
  assert.deepEqual(firstOf(numbers, 99, (n) => -n), [9, 7, 5, 3, 3, 1]);
  assert.deepEqual(firstOf([], 3, (n) => n), []);
});

test("ActivePodsAreInTheOrderOfTheQueue", () => {
  const tables = tablesOf({});
  tables.meta.set("queue", { active: ["b", "a"], length: 3 });
  const rank = rankIn("active", tables);
  const pods = ["a", "b", "new"].map((uid) => [uid, { since: 1.8e12 }]);
  assert.deepEqual(firstOf(pods, 9, rank).map(([uid]) => uid),
    ["b", "a", "new"]);
});

test("WaitsAreInTheOrderOfTheirEnds", () => {
  const pod = (seconds) => ({ since: 1, record: {
    until: `2026-11-25T00:00:0${seconds}Z` } });
  const pods = [["a", pod(5)], ["b", pod(2)]];
  assert.deepEqual(firstOf(pods, 9, rankIn("backoff", tablesOf({})))
    .map(([uid]) => uid), ["b", "a"]);
});

test("ANodeCountsBoundAndAssumedPods", () => {
  const node = { name: "n", allocatable: { cpu: 4000, memory: 1000, pods: 10,
    "ephemeral-storage": 5 } };
  const assumed = { place: "assumed", node: "n" };
  const tables = tablesOf({
    a: { row: row("a", { node: "n" }), record: assumed },
    b: { row: row("b"), record: assumed },
    c: { row: row("c", { node: "n", phase: "Succeeded" }) },
    d: { row: row("d"), record: { place: "active", node: "n" } },
    e: { row: row("e", { node: "n" }), deleted: true },
    f: { row: row("f", { node: "n", phase: "Failed" }) },
  }, [node]);
  const usage = usageOfNodes(tables).get("n");
  assert.deepEqual(usage.pods.map(([uid]) => uid), ["a", "b"]);
  assert.deepEqual(usage.failed.map(([uid]) => uid), ["f"]);
  assert.deepEqual(resourcesOf(node, usage), [
    { resource: "cpu", allocatable: 4000, requested: 500, assumed: 500,
      free: 3000 },
    { resource: "memory", allocatable: 1000, requested: 100, assumed: 100,
      free: 800 },
    { resource: "pods", allocatable: 10, requested: 1, assumed: 1, free: 8 },
  ]);
  assert.equal(fullness(node, usage), 0.25);
  assert.equal(nodeOf(tables.pods.get("d")), undefined);
});

test("AnEmptyNodeIsNotFull", () => {
  const node = { name: "n", allocatable: { cpu: 0, pods: 10 } };
  const usage = usageOfNodes(tablesOf({}, [node])).get("n");
  assert.equal(fullness(node, usage), 0);
});

test("AGroupCountsItsMembersWithNodes", () => {
  const member = (place, more) => ({ row: row("m", { group: "g",
    minAvailable: 4, ...more }), record: { place, node: "n" } });
  const tables = tablesOf({ a: member("waiting"), b: member("bound"),
    c: member("active"), d: member("waiting", { namespace: "other" }) });
  assert.deepEqual(groupOf(tables, tables.pods.get("a")),
    { group: "g", ready: 2, needed: 4 });
  assert.equal(groupOf(tables, { row: row("x") }), null);
});
