import assert from "node:assert/strict";
import { test } from "node:test";
import { isSupposed, rowsOf, totalsOf, winnersOf } from "./supposing.js";

const scores = [
  { plugin: "Fit", weight: 1, raw: [5, 9, 7], normalized: [50, 90, 70] },
  { plugin: "Number", weight: 2, raw: [10, 0, 5], normalized: [100, 0, 50] },
];

test("TotalsAreNormalizedScoresTimesWeights", () => {
  assert.deepEqual(totalsOf(scores, {}), [250, 90, 170]);
  assert.deepEqual(totalsOf(scores, { Number: 0 }), [50, 90, 70]);
  assert.deepEqual(totalsOf(scores, { Fit: 5, Other: 9 }), [450, 450, 450]);
  assert.deepEqual(totalsOf([], {}), []);
});

test("AllNodesWithTheHighestTotalWin", () => {
  assert.deepEqual(winnersOf([250, 90, 170]), [0]);
  assert.deepEqual(winnersOf([3, 3, 1]), [0, 1]);
  assert.deepEqual(winnersOf([0]), [0]);
});

test("OnlyAnotherWeightIsSupposed", () => {
  assert.equal(isSupposed(scores, {}), false);
  assert.equal(isSupposed(scores, { Number: 2 }), false);
  assert.equal(isSupposed(scores, { Number: 0 }), true);
  assert.equal(isSupposed(scores, { Other: 3 }), false);
});

test("TheSelectedNodeIsTheFirstOfThoseWithItsTotal", () => {
  const attempt = { fits: ["x", "y", "z"], node: "z",
    scores: [{ plugin: "P", weight: 1, normalized: [7, 3, 7] }] };
  const names = (weights) => rowsOf(attempt, weights).rows.map((r) => r.node);
  assert.deepEqual(names({}), ["z", "x", "y"]);
  assert.deepEqual(names({ P: 0 }), ["z", "x", "y"]);
});

test("RowsAreOrderedByTotalAndFollowTheWeights", () => {
  const attempt = { filters: ["A"], fits: ["x", "y", "z"], scores };
  const names = (weights) => rowsOf(attempt, weights).rows.map((r) => r.node);
  assert.deepEqual(names({}), ["x", "z", "y"]);
  assert.deepEqual(names({ Number: 0 }), ["y", "z", "x"]);
  const { rows, tie } = rowsOf(attempt, { Fit: 5 });
  assert.equal(tie, true);
  assert.deepEqual(rows.map((row) => row.wins), [true, true, true]);
  assert.equal(rowsOf(attempt, {}).tie, false);
});

test("NodesWithoutScoresAreNoTie", () => {
  const { rows, tie } = rowsOf({ filters: ["A"], fits: ["x"] }, {});
  assert.equal(tie, false);
  assert.deepEqual(rows, [{ node: "x", index: 0, total: undefined, wins: false,
    marks: ["✓"] }]);
});

const marks = (attempt) => rowsOf({ filters: ["A", "B", "C", "D"], ...attempt },
  {}).rows[0].marks.join(" ");
const by = (...plugins) => [{ node: "n", rejections: plugins.map((plugin) =>
  ({ plugin, reasons: [`no ${plugin}`] })) }];
const skip = [{ point: "PreFilter", plugin: "A", status: "Skip" },
  { point: "PreScore", plugin: "B", status: "Skip" }];

test("PluginsAfterTheFirstRejectionDidNotRun", () => {
  assert.equal(marks({ rejected: by("B") }), "✓ ✗ · ·");
});

test("ARejectedNodeMayHaveNoRejections", () => {
  assert.equal(marks({ rejected: by() }), "· · · ·");
});

test("FurtherRejectionsAreInParentheses", () => {
  assert.equal(marks({ rejected: by("B", "D"), allRejections: true }),
    "✓ ✗ ✓ (✗)");
});

test("APluginThatPreFilterSkippedDidNotRun", () => {
  assert.equal(marks({ fits: ["n"], points: skip }), "· ✓ ✓ ✓");
  assert.equal(marks({ rejected: by("B"), points: skip }), "· ✗ · ·");
});

test("NoPluginRanForANodeThatPreFilterExcludes", () => {
  assert.equal(marks({ rejected: by(undefined), allRejections: true }),
    "· · · ·");
});

test("TheFirstRejectionIsTheResult", () => {
  const { rows } = rowsOf({ filters: [], rejected: by("B", "D") }, {});
  assert.equal(rows[0].reasons, "no B");
  assert.deepEqual(rows[0].further.map((r) => r.plugin), ["D"]);
});
