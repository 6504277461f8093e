import assert from "node:assert/strict";
import { test } from "node:test";
import { ageText, amountText, countText, durationText, leftText, plural }
  from "./format.js";
import { requestsText, taintsText } from "./format.js";
import { kKindNames, pathOf, templateOf } from "./kinds.js";

test("DurationsHaveAboutTwoDigits", () => {
  const texts = [0, 250, 999.7, 1300, 12000, 245000, 3700000]
    .map(durationText);
  assert.deepEqual(texts, ["0 s", "250 ms", "1.0 s", "1.3 s", "12 s",
    "4 min 5 s", "1 h 1 min"]);
});

test("AgesAreShort", () => {
  const texts = [-5, 0, 119, 121, 3 * 3600 + 61, 49 * 3600]
    .map((seconds) => ageText(seconds * 1000));
  assert.deepEqual(texts, ["0s", "0s", "119s", "2m", "3h1m", "2d1h"]);
});

test("TimeThatIsLeftCountsDownToDue", () => {
  assert.deepEqual([12345, 1300, 40, 0, -500].map(leftText),
    ["13 s", "1.3 s", "0.0 s", "due", "due"]);
});

test("AmountsHaveTheirUnits", () => {
  assert.equal(amountText("cpu", 1500), "1.5");
  assert.equal(amountText("memory", 512 * 2 ** 20), "512Mi");
  assert.equal(amountText("memory", 1.5 * 2 ** 30), "1.5Gi");
  assert.equal(amountText("memory", 0), "0");
  assert.equal(amountText("nvidia.com/gpu", 4096), "4096");
  assert.equal(requestsText({ cpu: 100, memory: 0 }), "cpu 0.1");
  assert.equal(requestsText(undefined), "");
});

test("NumbersAreSeparatedAndNounsCounted", () => {
  assert.equal(countText(9900), "9,900");
  assert.equal(countText(1234567), "1,234,567");
  assert.equal(plural(1, "pod"), "1 pod");
  assert.equal(plural(0, "pod"), "0 pods");
});

test("TaintsReadAsKubectlWritesThem", () => {
  assert.equal(taintsText([{ key: "a", value: "b", effect: "NoSchedule" },
    { key: "c", effect: "NoExecute" }]), "a=b:NoSchedule, c:NoExecute");
  assert.equal(taintsText(undefined), "");
});

test("EachKindHasAPathAndATemplate", () => {
  assert.equal(pathOf("Pod", "a b", "x/y"),
    "/api/v1/namespaces/a%20b/pods/x%2Fy");
  assert.equal(pathOf("Node", undefined, "n"), "/api/v1/nodes/n");
  assert.equal(pathOf("Deployment"), "/apis/apps/v1/deployments");
  for (const kind of kKindNames) {
    const text = templateOf(kind, "mine");
    assert.match(text, new RegExp(`^apiVersion: [\\w./]+\nkind: ${kind}\n`));
    assert.doesNotMatch(text, /SCHEDULER|undefined|\t/);
  }
  assert.match(templateOf("Deployment", "mine"),
    /\n {4}spec:\n {6}schedulerName: mine\n/);
});
