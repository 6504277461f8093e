// The rules that let the build join the modules into one script, and the size
// that the page may have.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const kFolder = new URL(".", import.meta.url);
const kFiles = readdirSync(kFolder).filter((name) => !name.includes(".test."));
const kText = new Map(kFiles.filter((name) => /\.(js|css|html)$/.test(name))
  .map((name) => [name, readFileSync(new URL(name, kFolder), "utf8")]));
const kModules = [...kText].filter(([name]) => name.endsWith(".js"));
const kImport = /^import \{ ([\w, ]+) \} from "\.\/(\w+\.js)";$/;

const lines = (text) => text.split("\n").length - 1;

test("ImportsAreOneALineAndOfNamesThatExist", () => {
  for (const [name, text] of kModules) {
    for (const line of text.split("\n")) {
      if (!/^\s*import\b/.test(line)) continue;
      const [, names, from] = kImport.exec(line) ?? assert.fail(
        `${name}: ${line}`);
      for (const imported of names.split(", ")) {
        assert.match(kText.get(from), new RegExp(
          `^export (async function|function|class|const) ${imported}\\b`, "m"),
        `${name} imports ${imported}`);
        assert.ok(text.split(new RegExp(`\\b${imported}\\b`)).length > 2,
          `${name} does not use ${imported}`);
      }
    }
  }
});

test("ExportsAreFunctionsConstantsAndClasses", () => {
  for (const [name, text] of kModules) {
    for (const [line] of text.matchAll(/^[ \t]*export\b.*$/gm)) {
      assert.match(line, /^export (async function|function|class|const) \w+/,
        name);
    }
  }
});

test("NamesAreUniqueOverAllModules", () => {
  const owner = new Map();
  const declaration =
    /^(?:export )?(?:async )?(?:function|class|const|let) (\w+)/gm;
  for (const [name, text] of kModules) {
    for (const [, declared] of text.matchAll(declaration)) {
      assert.equal(owner.get(declared), undefined,
        `${declared} of ${name} is in ${owner.get(declared)} too`);
      owner.set(declared, name);
    }
  }
});

test("ModulesHaveNoCycles", () => {
  const state = new Map();
  const visit = (name, path) => {
    assert.notEqual(state.get(name), "open", [...path, name].join(" → "));
    if (state.get(name)) return;
    state.set(name, "open");
    for (const [, from] of kText.get(name).matchAll(/from "\.\/(\w+\.js)"/g)) {
      visit(from, [...path, name]);
    }
    state.set(name, "done");
  };
  for (const [name] of kModules) visit(name, []);
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
  assert.ok(all <= 2960, `${all} lines`);
  assert.ok(bytes <= 121_000, `${bytes} bytes`);
});

test("NothingTurnsTextIntoMarkupOrCode", () => {
  for (const [name, text] of kText) {
    assert.doesNotMatch(text.replaceAll('"innerhtml", "outerhtml"', ""),
      /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function/i,
      name);
    assert.doesNotMatch(text, /\sstyle="|<script>|\son\w+="/, name);
  }
});
