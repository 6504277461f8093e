// The size that the page may have, and what its files must not contain.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const kFolder = new URL(".", import.meta.url);
const kFiles = readdirSync(kFolder).filter((name) => !name.includes(".test."));
const kText = new Map(kFiles.filter((name) => /\.(js|css|html)$/.test(name))
  .map((name) => [name, readFileSync(new URL(name, kFolder), "utf8")]));
const lines = (text) => text.split("\n").length - 1;

test("EachModuleIsPartOfThePage", () => {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, from] of kText.get(name).matchAll(/from "\.\/(\w+\.js)"/g)) {
      visit(from);
    }
  };
  visit("main.js");
  const all = [...kText.keys()].filter((name) => name.endsWith(".js"));
  assert.deepEqual([...found].sort(), all.sort());
});

test("ThePageIsSmall", () => {
  let all = 0;
  let bytes = 0;
  for (const [name, text] of kText) {
    all += lines(text);
    bytes += Buffer.byteLength(text);
    assert.ok(lines(text) <= 300, `${name} has ${lines(text)} lines`);
    for (const line of text.split("\n")) {
      assert.ok(line.length <= 80, `${name}: ${line}`);
    }
  }
  assert.ok(lines(kText.get("dom.js")) <= 150);
  assert.ok(all <= 3040, `${all} lines`);
  assert.ok(bytes <= 124_500, `${bytes} bytes`);
});

test("NothingTurnsTextIntoMarkupOrCode", () => {
  for (const [name, text] of kText) {
    assert.doesNotMatch(text.replaceAll('"innerhtml", "outerhtml"', ""),
      /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function/i,
      name);
    assert.doesNotMatch(text, /\sstyle="|<script>|\son\w+="/, name);
  }
});
