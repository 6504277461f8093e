import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Feed } from "./feed.js";
import { History } from "./history.js";

const kHello = { time: "2026-11-25T12:00:00Z", source: "http://127.0.0.1:1" };
const node = (uid, second) => ({ time: `2026-11-25T12:00:0${second}Z`,
  cluster: { node: { uid, name: uid, allocatable: {} } } });

function newFeed() {
  const history = new History();
  return new Feed(history, () => {});
}

test("TheBaseComesBeforeTheTimeline", () => {
  const feed = newFeed();
  feed.start(kHello);
  feed.items(JSON.stringify([node("a", 1)]), true);
  feed.items(JSON.stringify([node("b", 2)]), false);
  assert.equal(feed.history.end, 1);
  assert.equal(feed.history.tables.nodes.size, 2);
});

test("AStartForgetsWhatWasThereAndAResumeKeepsIt", () => {
  const feed = newFeed();
  feed.start(kHello);
  feed.items(JSON.stringify([node("a", 1)]), false);
  feed.lost();
  assert.equal(feed.status, "lost");
  feed.resume(kHello);
  assert.equal(feed.status, "catching up");
  feed.items(JSON.stringify([node("b", 2)]), false);
  assert.equal(feed.history.tables.nodes.size, 2);
  feed.start(kHello);
  assert.equal(feed.history.tables.nodes.size, 0);
  assert.equal(feed.history.end, 0);
});

test("TheFeedIsLiveOnceItIsQuiet", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const feed = newFeed();
  feed.start(kHello);
  assert.equal(feed.status, "catching up");
  feed.items(JSON.stringify([node("a", 1)]), false);
  mock.timers.tick(1000);
  assert.equal(feed.status, "live");
  mock.timers.reset();
});

test("ARecordingBeginsAtItsMoment", () => {
  const choices = [];
  const feed = new Feed(new History(), (choice) => choices.push(choice ?? {}));
  feed.start({ ...kHello, moment: 2 });
  feed.items(JSON.stringify([node("a", 1)]), false);
  assert.ok(!choices.at(-1).rewound);
  feed.items(JSON.stringify([node("b", 2), node("c", 3)]), false);
  const { rewound } = choices.at(-1);
  assert.equal(rewound.position, 2);
  assert.equal(rewound.time, Date.parse("2026-11-25T12:00:02Z"));
  assert.deepEqual([...rewound.tables.nodes.keys()], ["a", "b"]);
  // Later items leave the moment to the reader.
  feed.items(JSON.stringify([node("d", 4)]), false);
  assert.ok(!choices.at(-1).rewound);
});

test("LongListsAreAppliedInSlices", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const feed = newFeed();
  feed.start(kHello);
  const items = Array.from({ length: 300000 }, (_, i) => node(`n${i}`, 1));
  feed.items(JSON.stringify(items), false);
  assert.ok(feed.history.tables.nodes.size < 300000);
  for (let i = 0; i < 5000 && feed.pending.length > 0; ++i) mock.timers.tick(1);
  assert.equal(feed.history.tables.nodes.size, 300000);
  mock.timers.reset();
});

test("TheClockIsTheServers", () => {
  const feed = newFeed();
  feed.start(kHello);
  assert.ok(Math.abs(feed.now() - Date.parse(kHello.time)) < 1000);
});
