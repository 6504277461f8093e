// What the page reads only when needed: whole attempts, and objects as YAML.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptsView } from "./attempt.js";
import { drawerView } from "./drawer.js";
import { findView, textOf } from "./fake_page.test.mjs";
import { tablesView } from "./tables.js";
import { change, feed, past, server } from "./ui.js";

const kLost = { ok: false, error: "The server does not respond." };
const textOfAll = (view) => textOf({ children: [view].flat() });

// Shows a view once while the server is lost, and once when it is back. Returns
// the two texts.
async function textsOf(view, method, text) {
  const texts = [];
  for (const result of [kLost, { ok: true, text }]) {
    feed.hello = { api: true };
    server.source = { table: async () => kLost, [method]: async () => result };
    view();
    await new Promise(setImmediate);
    texts.push(textOfAll(view()));
  }
  return texts;
}

test("AnAttemptIsReadAgainAfterAReconnection", async () => {
  change({ attempt: { uid: "u", number: 1 } });
  const attempt = { pod: "default/web", attempt: 1, node: "n", allNodes: 1,
    feasibleNodes: 1, filters: ["Fit"], fits: ["n"],
    scores: [{ plugin: "S", weight: 3, raw: [0.1], normalized: [0.1] }] };
  const [lost, found] = await textsOf(attemptsView, "attempt",
    JSON.stringify({ attempt }));
  assert.match(lost, /The server does not respond/);
  assert.match(found, /default\/web, attempt 1/);
  assert.match(found, /0\.30\.1 → 0\.1 × 30\.3/);
});

test("AnAttemptOfAnEarlierSchedulerIsNotShown", async () => {
  server.source = { attempt: async () => kLost };
  feed.hello = { api: true };
  attemptsView();
  assert.doesNotMatch(textOfAll(attemptsView()), /default\/web/);
});

test("TheYamlOfAnObjectIsReadAgainAfterAReconnection", async () => {
  change({ drawer: { kind: "Namespace", name: "shop" } });
  const [lost, found] = await textsOf(drawerView, "read", "kind: Namespace");
  assert.match(lost, /The server does not respond/);
  assert.doesNotMatch(found, /The server does not respond/);
});

test("InAPastMomentWhatIsAsOfNowIsMarked", () => {
  feed.hello = { api: true };
  server.source = { table: async () => kLost, read: async () => kLost };
  const texts = () => [tablesView, drawerView].map((view) => textOfAll(view()));
  for (const [kind, isMarked] of [["Node", false], ["Namespace", true]]) {
    change({ kind, drawer: { kind, name: "x", uid: "u" } });
    assert.doesNotMatch(texts().join(""), /as of now/);
    change({ rewound: past.cursor(0) });
    const [table, drawer] = texts();
    assert.equal(table.includes("0 objects, as of now"), isMarked);
    assert.match(drawer, /YAML, as of now.*Events, as of now/);
    change({ rewound: null });
  }
});

test("WithoutAnApiServerOtherKindsAreNotRead", () => {
  const paths = [];
  server.source = { table: async (path) => paths.push(path) };
  feed.hello = { recording: true, control: false, api: false };
  change({ kind: "StorageClass" });
  assert.match(textOfAll(tablesView()), /A recording has only pods and nodes\./);
  assert.deepEqual(paths, []);
  change({ kind: "Node" });
  assert.doesNotMatch(textOfAll(tablesView()), /A recording has only/);
});

test("OnlyTheConfigurationCanBeSavedUnchanged", async () => {
  feed.hello = { api: true, control: true };
  server.source = { table: async () => kLost,
    read: async () => ({ ok: true, text: "a: 1" }) };
  for (const kind of ["Namespace", "Configuration"]) {
    change({ drawer: { kind, name: "x" } });
    const isDisabled = () =>
      findView(drawerView(), "button", "Save").props.disabled;
    assert.equal(isDisabled(), true);
    await new Promise(setImmediate);
    assert.equal(isDisabled(), kind === "Namespace");
  }
});

const kClaim = { metadata: { name: "data", namespace: "default", uid: "c" },
  spec: { volumeName: "disk-b", storageClassName: "fast" },
  status: { phase: "Bound" } };
const kVolume = { metadata: { name: "disk-b", labels: {
  "topology.kubernetes.io/zone": "b__c", app: "db" } },
spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [
  { key: "kubernetes.io/hostname", operator: "In", values: ["b-3"] },
  { key: "disk", operator: "Exists" }] }] } } } };

test("ClaimsAndVolumesShowTheirPodsAndNodes", async () => {
  const tables = { persistentvolumes: [kVolume],
    persistentvolumeclaims: [kClaim] };
  const paths = [];
  feed.hello = { api: true };
  server.source = { read: async () => kLost, table: async (path) => {
    paths.push(path);
    const objects = tables[path.match(/(\w+)\?includeObject=Object$/)?.[1]];
    return { ok: true, text: JSON.stringify({
      columnDefinitions: [{ name: "Name", priority: 0 }],
      rows: objects?.map((object) => ({ cells: [object.metadata.name],
        object })) }) };
  } };
  past.reset();
  past.add({ time: "2026-11-25T12:00:00Z", cluster: { pod: { uid: "p",
    name: "web", namespace: "default", claims: ["data", "late"] } } }, 1);
  const texts = async (choices, view) => {
    change(choices);
    view();
    await new Promise(setImmediate);
    return textOfAll(view());
  };
  const nodes = "hostname in b-3 and disk Exists; zone in b, c";
  assert.match(await texts({ kind: "PersistentVolume" }, tablesView),
    new RegExp(`disk-b${nodes}`));
  assert.match(await texts({ kind: "PersistentVolumeClaim" }, tablesView),
    /defaultdataweb/);
  assert.match(await texts({ drawer: { kind: "Pod", uid: "p", name: "web",
    namespace: "default" } }, drawerView),
  new RegExp(`claimsdata, late.*NodesdataBoundfastdisk-b${nodes}` +
    "latedoes not exist"));
  assert.ok(paths.includes("/api/v1/namespaces/default/persistentvolumeclaims" +
    "?includeObject=Object"));
  change({ drawer: null });
});
