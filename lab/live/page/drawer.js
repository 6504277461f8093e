// The drawer: an object with its YAML, events and attempts; or a new object.

import { attemptsOfPod } from "./attempt.js";
import { h } from "./dom.js";
import { editorOf, forgetEditor, isClean, loadYaml } from "./editor.js";
import { sendYaml, textArea } from "./editor.js";
import { plural, requestsText } from "./format.js";
import { isNamespaced, kKindNames, pathOf, templateOf } from "./kinds.js";
import { nodeFacts } from "./nodes.js";
import { button, pluginNames, select, timer } from "./parts.js";
import { nodeOf, placeOf, untilOf, usageOfNodes } from "./places.js";
import { claimsOfPod, eventsTable } from "./tables.js";
import { asOfNow, canControl, change, feed, past, server } from "./ui.js";
import { shownTables, ui } from "./ui.js";

// Returns the view of the drawer, or null if it is closed.
export function drawerView() {
  const { drawer } = ui;
  if (!drawer) return null;
  const key = drawer.create ? "create" : `${drawer.kind} ${drawer.uid}`;
  const takeFocus = (node) => queueMicrotask(() => node.focus());
  return h("aside.drawer", { key, "aria-labelledby": "drawer-title",
    onkeydown: (event) => { if (event.key === "Escape") closeDrawer(); } },
  h("header",
    h("h2", { id: "drawer-title", tabindex: "-1", hook: takeFocus },
      drawer.create ? "New object"
        : [h("span.quiet", `${drawer.kind} `), drawer.name]),
    button("✕", closeDrawer, { "aria-label": "Close", title: "Escape" })),
  drawer.create ? createView(drawer) : objectView(drawer));
}

function closeDrawer() {
  const { uid } = ui.drawer;
  const opener = uid && document.querySelector(
    `main [data-uid="${CSS.escape(uid)}"]`);
  change({ drawer: null });
  (opener || document.getElementById("create"))?.focus();
}

function objectView(drawer) {
  const tables = shownTables();
  const { uid, kind, name } = drawer;
  const pod = kind === "Pod" && tables.pods.get(uid);
  const node = kind === "Node" && tables.nodes.get(uid);
  return [
    pod && podFacts(pod),
    node && nodeFacts(node, usageOfNodes(tables).get(name)),
    pod?.row && feed.hello.api && claimsOfPod(pod.row),
    pod && attemptsOfPod(uid),
    feed.hello.api && editorView(drawer),
    feed.hello.api && uid && eventsTable(drawer),
  ];
}

function podFacts(pod) {
  const { row = {}, record = {}, since } = pod;
  const until = untilOf(pod);
  const facts = {
    place: placeOf(pod),
    since: since && timer(since, "up"),
    "at most": until ? timer(until, "down") : null,
    node: nodeOf(pod),
    namespace: row.namespace,
    priority: row.priority,
    requests: requestsText(row.requests),
    gates: row.gates?.join(", "),
    claims: row.claims?.join(", "),
    group: row.group,
    plugins: record.plugins && pluginNames(record.plugins),
    "wakes on": record.wakes?.join(", "),
    event: record.event,
    attempts: record.attempts,
    condition: row.condition?.message ?? row.condition?.reason,
  };
  return h("dl", { key: "facts" }, Object.entries(facts).map(([fact, value]) =>
    value ? h("div", h("dt", fact), h("dd", value)) : null));
}

// Returns the editor of an object. Loads its YAML again when the object has
// changed, or after a reconnection, unless the reader has changed the text too.
function editorView({ kind, namespace, name, uid }) {
  const path = pathOf(kind, namespace, name);
  const row = past.tables.pods.get(uid)?.row ?? past.tables.nodes.get(uid) ?? 0;
  const editor = editorOf(`${path} ${uid}`);
  // Saving the configuration starts a scheduler that has ended.
  const canSave = !isClean(editor) || kind === "Configuration" && editor.text;
  const isOld = editor.row !== row || editor.hello !== feed.hello;
  if (isClean(editor) && !editor.isLoading && isOld) {
    loadYaml(editor, path, row);
  }
  return h("div.editor", { key: `editor ${uid}` },
    h("h3", `YAML${asOfNow()}`),
    !isClean(editor) && editor.row !== row &&
      h("p.quiet", "The object has changed since you began."),
    textArea(editor, "YAML of the object", !canControl()),
    canControl() && h("div.actions",
      button("Save", () => sendYaml(editor, "PUT", path,
        () => loadYaml(editor, path, row)),
      { class: "primary", disabled: !canSave }),
      button("Load what the server has",
        () => loadYaml(editor, path, row, true),
        { disabled: isClean(editor) && !editor.error }),
      uid && deletePart(editor, path, kind, name)));
}

// Returns the button that deletes the object, and the question after it.
function deletePart(editor, path, kind, name) {
  const ask = (asks) => {
    editor.asks = asks;
    change();
  };
  if (!editor.asks) {
    return button("Delete …", () => ask(true), { class: "danger" });
  }
  const pods = (kind === "Node" && usageOfNodes(past.tables).get(name)?.pods ||
    []).filter(([, pod]) => pod.row);
  return h("div.sure", { key: "sure" },
    pods.length > 0 && h("label", h("input", { type: "checkbox",
      checked: Boolean(editor.withPods), onchange: (event) => {
        editor.withPods = event.target.checked;
      } }), ` also its ${plural(pods.length, "pod")}`),
    button(`Delete ${name}`, () => deleteObjects(editor, path, name,
      editor.withPods ? pods : []),
    { class: "danger", hook: (node) => queueMicrotask(() => node.focus()) }),
    button("Keep", () => ask(false)));
}

async function deleteObjects(editor, path, name, pods) {
  const { drawer } = ui;
  // Without their node, no kubelet would end the pods in their grace period.
  const paths = pods.map(([, { row }]) =>
    `${pathOf("Pod", row.namespace, row.name)}?gracePeriodSeconds=0`);
  editor.asks = false;
  const results = await Promise.all([path, ...paths].map((each) =>
    server.source.write("DELETE", each)));
  editor.error = results.find((result) => !result.ok)?.error;
  if (editor.error) return change();
  forgetEditor(`${path} ${drawer.uid}`);
  if (ui.drawer?.uid === drawer.uid) closeDrawer();
  change({ notice: { text: `Deleted ${name}.` } });
}

function createView({ create: kind, namespace = "default" }) {
  const key = `new ${kind}`;
  const editor = editorOf(key, templateOf(kind, feed.hello.scheduler));
  const set = (values) => change({ drawer: { ...ui.drawer, ...values } });
  return h("div.editor", { key },
    h("div.tools",
      select("Kind", kind, kKindNames, (create) => set({ create })),
      isNamespaced(kind) && h("label", "Namespace ", h("input", {
        value: namespace, spellcheck: "false",
        oninput: (event) => set({ namespace: event.target.value }) }))),
    textArea(editor, "YAML of the new object", false),
    h("div.actions",
      button("Create", () => sendYaml(editor, "POST", pathOf(kind, namespace),
        () => change({ notice: { text: `Created a ${kind}.` } })),
      { class: "primary", disabled: !canControl() }),
      button("Back to the template", () => forgetEditor(key),
        { disabled: isClean(editor) })));
}
