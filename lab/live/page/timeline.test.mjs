import assert from "node:assert/strict";
import { test } from "node:test";
import { findView } from "./fake_page.test.mjs";
import { timelineView } from "./timeline.js";
import { feed, past, ui } from "./ui.js";

const kStart = Date.parse("2026-11-25T12:00:00Z");

function addNode(ms) {
  past.add({ time: new Date(kStart + ms).toISOString(),
    cluster: { node: { uid: `n${ms}`, name: "n", allocatable: {} } } }, 1);
}

const slider = () => findView(timelineView(), "input", "").props;
const slide = (value) => slider().oninput({ target: { value: `${value}` } });

test("TheRightEndOfTheSliderIsNow", () => {
  feed.hello = { recording: true };
  addNode(0);
  addNode(500);
  addNode(999);
  const { max, step } = slider();
  assert.equal(Number(max) % Number(step), 0);
  assert.equal(slider().value, max);
  slide(998);
  assert.equal(ui.rewound.position, 2);
  assert.equal(slider().value, "998");
  slide(max);
  assert.equal(ui.rewound, null);
});

test("TheLeftArrowGoesToThePreviousChange", () => {
  findView(timelineView(), "button", "←").props.onclick();
  assert.equal(ui.rewound.position, 2);
});
