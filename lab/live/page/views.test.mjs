// What the views show of long names, of many objects, and of one namespace.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptsView } from "./attempt.js";
import { findView, textOf } from "./fake_page.test.mjs";
import { nodesView } from "./nodes.js";
import { breakable, cut } from "./parts.js";
import { queueView } from "./queue.js";
import { tablesView } from "./tables.js";
import { change, feed, past, server, ui } from "./ui.js";

const kTime = "2026-11-25T12:00:00Z";
const kLong = "checkout-service-canary-deployment-7d9f8b6c5d-x2k8q";
const textOfAll = (view) => textOf({ children: [view].flat(Infinity)
  .filter(Boolean) });
const add = (state) => past.add({ time: kTime, ...state }, 1);

function addPod(name, namespace, attempts = 1) {
  add({ cluster: { pod: { uid: name, name, namespace, scheduler: "s",
    created: "2026-11-25T11:00:00Z", condition: { message: "0/3 nodes" } } } });
  add({ pod: { uid: name, name: `${namespace}/${name}`, attempts,
    place: "unschedulable", plugins: ["NodeResourcesFit"] } });
}

function begin(hello) {
  past.reset();
  feed.hello = { scheduler: "s", recording: true, ...hello };
  server.source = { attempt: async () => ({ ok: false, error: "no" }) };
  change({ namespace: "", open: {}, nodesAs: null, attempt: null, kind: "Pod" });
}

test("ALongNameIsCutInItsMiddleAndWholeInItsTitle", () => {
  const view = cut(kLong);
  assert.equal(view.props.title, kLong);
  assert.equal(textOf(view), kLong);
  assert.equal(textOf(view.children[1]), "c5d-x2k8q");
  assert.equal(cut("web-1"), "web-1");
});

test("NamesBreakBeforeTheirWordsOnly", () => {
  const words = (name) => breakable(name).map(([, word]) => word);
  assert.deepEqual(words("NodeResourcesFit"), ["Node", "Resources", "Fit"]);
  assert.deepEqual(words("Pod/Delete"), ["Pod/", "Delete"]);
});

test("ManyPodsWithOneReasonAreALineThatOpens", () => {
  begin();
  for (let i = 0; i < 60; ++i) addPod(`web-${i}`, "default");
  const details = () => findView(queueView(), "details", "60 pods like web-0");
  assert.equal(findView([details()], "li", ""), null);
  details().props.ontoggle({ target: { open: true } });
  assert.ok(findView([details()], "li", ""));
  assert.equal(details().props.open, true);
});

test("TheCardOfAPodLeadsToItsLastAttempt", () => {
  begin();
  addPod("web", "default", 3);
  assert.equal(findView(queueView(), "button", "Attempt 3"), null);
  add({ attempt: { uid: "web", pod: "default/web", attempt: 3, failure: "f" } });
  findView(queueView(), "button", "Attempt 3").props.onclick();
  assert.deepEqual([ui.view, ui.attempt], ["attempts",
    { uid: "web", number: 3 }]);
  change({ view: "queue" });
});

test("ANamespaceIsChosenForAllViews", () => {
  begin();
  addPod("web", "default");
  addPod("db", "team");
  add({ attempt: { uid: "web", pod: "default/web", attempt: 1, failure: "f" } });
  add({ attempt: { uid: "db", pod: "team/db", attempt: 1, failure: "f" } });
  assert.match(textOfAll(tablesView()), /defaultweb/);
  change({ namespace: "team" });
  assert.match(textOfAll(queueView()), /unschedulable1 pods/);
  assert.doesNotMatch(textOfAll(tablesView()), /defaultweb/);
  assert.match(textOfAll(tablesView()), /teamdb/);
  const list = findView([attemptsView()], "ul", "");
  assert.match(textOf(list), /^dbattempt 1/);
  change({ namespace: "" });
});

test("TheTableOfPodsHasAgeAndReasonAndSortsByAge", () => {
  begin();
  addPod("old", "default");
  add({ cluster: { pod: { uid: "new", name: "new", namespace: "default",
    scheduler: "s", created: "2026-11-25T11:59:50Z", node: "n" } } });
  change({ sort: { column: "Age", down: false } });
  const rows = findView([tablesView()], "tbody", "").children
    .map((row) => row.children.map(textOf));
  assert.deepEqual(rows.map((row) => row.slice(1, 6)), [
    ["new", "bound", "10s", "n", ""],
    ["old", "unschedulable", "60m", "", "0/3 nodes"]]);
  change({ sort: { column: "Name", down: false } });
});

test("From60NodesOnEachIsASquareUnlessTheReaderWantsCards", () => {
  for (const [count, tag] of [[59, "ul.node-cards"], [60, "ul.squares"]]) {
    begin();
    for (let i = 0; i < count; ++i) {
      add({ cluster: { node: { uid: `${i}`, name: `n-${i}` } } });
    }
    const list = () => findView([nodesView()], "section", "").children
      .find((view) => view.tag === "ul").props.class;
    assert.equal(`ul.${list()}`, tag);
    findView([nodesView()], "button", "cards").props.onclick();
    assert.equal(list(), "node-cards");
    findView([nodesView()], "button", "squares").props.onclick();
    assert.equal(list(), "squares");
  }
});
