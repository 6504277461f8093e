import assert from "node:assert/strict";
import { test } from "node:test";
import { headView } from "./controls.js";
import { findView } from "./fake_page.test.mjs";
import { change, feed, past, server, ui } from "./ui.js";

const addLive = (live) => past.add({ time: "2026-11-25T12:00:00Z", live }, 1);
const kHello = { control: true, reset: true };

// Presses Reset, to which the server responds with these errors. Returns the
// notice after it.
async function noticeOfReset(errors) {
  feed.hello = kHello;
  const summary = { created: {}, skipped: {}, deleted: {}, errors };
  server.source = {
    post: async () => ({ ok: true, text: JSON.stringify(summary) }),
  };
  change({ asksReset: true });
  findView(headView(), "button", "Reset the cluster").props.onclick();
  await new Promise(setImmediate);
  return ui.notice;
}

test("AResetWithErrorsIsNoSuccess", async () => {
  assert.deepEqual(await noticeOfReset(["Node n: no.", "pods: late."]),
    { isError: true,
      text: "The cluster is not as at the start. Node n: no. pods: late." });
});

test("AResetWithoutErrorsIsASuccess", async () => {
  assert.deepEqual(await noticeOfReset([]),
    { isError: false, text: "The cluster is as at the start." });
});

test("TheBoxOfAllRejectionsShowsTheStateOfTheServer", async () => {
  feed.hello = { control: true, pace: true, allRejections: true };
  const box = () =>
    findView(findView(headView(), "label", " all rejections"), "input", "");
  addLive({ reports: "yes" });
  for (const state of ["on", ""]) {
    addLive({ allRejections: state });
    assert.equal(box().props.checked, state === "on");
  }
  server.source = { post: async () => ({ ok: false, error: "no" }) };
  const target = { checked: true };
  await box().props.onchange({ target });
  assert.equal(target.checked, false);
});

test("OnlyASchedulerThatReportsHasAPace", () => {
  feed.hello = { control: true, pace: true };
  for (const reports of ["", "yes"]) {
    addLive({ reports });
    assert.equal(Boolean(findView(headView(), "button", "Pause")),
      reports === "yes");
  }
});
