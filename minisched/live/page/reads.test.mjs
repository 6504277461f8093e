// What the page reads when it needs it: whole attempts, and objects as YAML.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptsView } from "./attempt.js";
import { drawerView } from "./drawer.js";
import { findView, textOf } from "./fake_page.test.mjs";
import { change, feed, server } from "./ui.js";

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
    feasibleNodes: 1, filters: ["Fit"], fits: ["n"] };
  const [lost, found] = await textsOf(attemptsView, "attempt",
    JSON.stringify({ attempt }));
  assert.match(lost, /The server does not respond/);
  assert.match(found, /default\/web, attempt 1/);
});

test("AnotherSchedulerHasOtherAttempts", async () => {
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
