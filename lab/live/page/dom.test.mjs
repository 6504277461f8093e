import assert from "node:assert/strict";
import { test } from "node:test";
import { h, lazy, patch } from "./dom.js";
import { fakeRoot } from "./fake_page.test.mjs";

const items = (names) => names.map((name) => h("li", { key: name }, name));
const inner = (root) => root.children.join("");

test("PatchMakesElementsAttributesAndTexts", () => {
  const root = fakeRoot();
  patch(root, h("p", { class: "a", title: "t" }, "x ", 3, h("b", null, "y")));
  assert.equal(inner(root), '<p class="a" title="t">x 3<b>y</b></p>');
});

test("MarkupInTextsAndAttributesStaysText", () => {
  const root = fakeRoot();
  patch(root, h("p", { title: "<b>" }, "<script>"));
  assert.equal(root.children[0].children[0].tag, undefined);
  assert.equal(root.children[0].children[0].data, "<script>");
});

test("NullAndFalseStandForNothing", () => {
  const root = fakeRoot();
  patch(root, null, false, undefined, h("p", null, false, "x"), 0);
  assert.equal(inner(root), "<p>x</p>0");
});

test("SiblingsKeepTheirNodesWhenOneBeforeThemComesAndGoes", () => {
  const root = fakeRoot();
  patch(root, null, h("p", null, "x"));
  const [p] = root.children;
  patch(root, h("p", null, "new"), h("p", null, "x"));
  assert.equal(root.children[1], p);
  patch(root, false, h("p", null, "x"));
  assert.deepEqual(root.children, [p]);
});

test("KeyedChildrenKeepTheirNodesInEachOrder", () => {
  const root = fakeRoot();
  const names = ["a", "b", "c", "d", "e"];
  patch(root, items(names));
  const nodes = Object.fromEntries(names.map((n, i) => [n, root.children[i]]));
  for (const order of ["edcba", "bde", "ecabd", "", "abcde", "xaybz"]) {
    patch(root, items([...order]));
    assert.equal(root.children.map((node) => node.children[0].data).join(""),
      order);
    if (order === "edcba" || order === "bde") {
      for (const [i, name] of [...order].entries()) {
        assert.equal(root.children[i], nodes[name]);
      }
    }
  }
});

test("NodesInPlaceAreNotMoved", () => {
  const root = fakeRoot();
  patch(root, items(["a", "b", "c"]));
  const moves = root.children.map((node) => node.moves);
  patch(root, items(["a", "b", "c"]));
  patch(root, items(["b", "c"]));
  assert.deepEqual(root.children.map((node) => node.moves), moves.slice(1));
});

test("AChildWithAnotherTagIsReplaced", () => {
  const root = fakeRoot();
  patch(root, h("p", { key: "k" }, "x"));
  patch(root, h("div", { key: "k" }, "x"));
  assert.equal(inner(root), "<div>x</div>");
  patch(root, "text");
  assert.equal(inner(root), "text");
});

test("AttributesStylesAndPropertiesFollowTheView", () => {
  const root = fakeRoot();
  patch(root, h("input", { class: "a", "aria-current": "true", checked: true,
    value: "1", styles: { "--x": "1", "--y": "2" } }));
  const [node] = root.children;
  node.value = "typed";
  patch(root, h("input", { class: null, checked: false, value: "1",
    styles: { "--x": "3" } }));
  assert.deepEqual(node.attributes, {});
  assert.equal(node.checked, false);
  assert.equal(node.value, "1");
  assert.deepEqual(node.styles, { "--x": "3" });
});

test("TheChosenOptionIsShownAfterTheReaderHasPickedAnother", () => {
  const root = fakeRoot();
  const options = (chosen) => ["a", "b"].map((name) =>
    h("option", { key: name, selected: name === chosen }));
  patch(root, options("a"));
  const [a, b] = root.children;
  [a.selected, b.selected] = [false, true];
  patch(root, options("a"));
  assert.deepEqual([a.selected, b.selected], [true, false]);
  assert.deepEqual(a.attributes, {});
});

test("TheTextThatTheReaderIsTypingStays", () => {
  const root = fakeRoot();
  const field = () => h("input", { type: "number", value: "1" });
  patch(root, field());
  const [node] = root.children;
  root.ownerDocument.activeElement = node;
  node.value = "";
  patch(root, field());
  assert.equal(node.value, "");
  root.ownerDocument.activeElement = null;
  patch(root, field());
  assert.equal(node.value, "1");
});

test("HandlersAreFunctionsAndTheNewestOneCounts", () => {
  const root = fakeRoot();
  const calls = [];
  patch(root, h("button", { onclick: () => calls.push(1) }));
  patch(root, h("button", { onclick: () => calls.push(2) }));
  root.children[0].onclick();
  assert.deepEqual(calls, [2]);
  patch(root, h("button"));
  assert.equal(root.children[0].onclick, null);
  assert.throws(() => patch(fakeRoot(), h("b", { onclick: "alert(1)" })));
});

test("PropsThatWouldBeMarkupAreRefused", () => {
  for (const name of ["innerHTML", "outerHTML", "srcdoc", "style"]) {
    assert.throws(() => patch(fakeRoot(), h("p", { [name]: "x" })), TypeError);
  }
});

test("HookIsCalledOnceWithTheNewElement", () => {
  const root = fakeRoot();
  const seen = [];
  const view = () => h("p", { hook: (node) => seen.push(node) }, "x");
  patch(root, view());
  patch(root, view());
  assert.deepEqual(seen, root.children);
});

test("LazyViewsAreMadeOnlyWhenADependencyChanges", () => {
  const root = fakeRoot();
  let made = 0;
  const view = (dep, tag = "p") => lazy("k", [dep], () => {
    ++made;
    return h(tag, null, `${dep}`);
  });
  patch(root, view(1));
  const [p] = root.children;
  patch(root, view(1));
  assert.equal(made, 1);
  patch(root, view(2));
  assert.equal(made, 2);
  assert.equal(root.children[0], p);
  assert.equal(inner(root), "<p>2</p>");
  patch(root, lazy("k", [2, "more"], () => h("p", null, "more")));
  assert.equal(inner(root), "<p>more</p>");
  patch(root, view(3, "b"), h("i"));
  assert.equal(inner(root), "<b>3</b><i></i>");
});

test("AViewThatThrowsLeavesNoDuplicateChildren", () => {
  const root = fakeRoot();
  const show = (names, dep, view) =>
    patch(root, h("ul", items(names)), lazy("k", [dep], view));
  show(["a"], 1, () => h("p", "x"));
  const fail = () => { throw new TypeError("no row"); };
  assert.throws(() => show(["a", "b"], 2, fail), /no row/);
  assert.equal(inner(root), "");
  show(["a", "b"], 2, () => h("p", "y"));
  assert.equal(inner(root), "<ul><li>a</li><li>b</li></ul><p>y</p>");
});
