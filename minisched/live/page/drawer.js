// The drawer: one object with its YAML, its events, and its attempts; or a new
// object. What the reader types is kept until it is saved or thrown away.

import { attemptsOfPod } from "./attempt.js";
import { describeMove } from "./describe.js";
import { h } from "./dom.js";
import { clockText, plural, requestsText } from "./format.js";
import { isNamespaced, kKindNames, pathOf, templateOf } from "./kinds.js";
import { nodeFacts, podsOnNode } from "./nodes.js";
import { pluginNames, timer } from "./parts.js";
import { nodeOf, placeOf } from "./places.js";
import { eventsTable } from "./tables.js";
import { canControl, change, feed, past, server } from "./ui.js";
import { shownTables, ui } from "./ui.js";

const kMoves = 20;

// The texts of objects: path → {text, loaded, row, error, line, isLoading}.
// `text` is in the textarea, `loaded` is what the server has sent.
const editors = new Map();

// Returns true if a text would be lost with the page.
export function hasDrafts() {
  return [...editors.values()].some((editor) => editor.text !== editor.loaded);
}

// Returns the view of the drawer, or null if it is closed.
export function drawerView() {
  const { drawer } = ui;
  if (!drawer) return null;
  const key = drawer.create ? "create" : `${drawer.kind} ${drawer.uid}`;
  const title = drawer.create ? "New object" : drawer.name;
  return h("aside", { key, class: "drawer", "aria-labelledby": "drawer-title",
    onkeydown: (event) => event.key === "Escape" && closeDrawer() },
  h("header", null,
    h("h2", { id: "drawer-title", tabindex: "-1",
      hook: (node) => queueMicrotask(() => node.focus()) },
    !drawer.create && h("span", { class: "quiet" }, `${drawer.kind} `), title),
    h("button", { "aria-label": "Close", title: "Close (Escape)",
      onclick: closeDrawer }, "✕")),
  drawer.create ? createView(drawer) : objectView(drawer));
}

function closeDrawer() {
  const { uid } = ui.drawer;
  const opener = [...document.querySelectorAll("main [data-uid]")]
    .find((node) => node.dataset.uid === uid);
  change({ drawer: null });
  (opener ?? document.getElementById("create")).focus();
}

function objectView(drawer) {
  const tables = shownTables();
  const pod = drawer.kind === "Pod" && tables.pods.get(drawer.uid);
  const node = drawer.kind === "Node" && tables.nodes.get(drawer.uid);
  const row = past.tables.pods.get(drawer.uid)?.row ??
    past.tables.nodes.get(drawer.uid);
  return [
    pod && podFacts(pod),
    node && nodeFacts(node, tables),
    pod && attemptsOfPod(drawer.uid),
    pod && movesOfPod(drawer.uid),
    feed.hello.recording ? null : editorView(drawer, row),
    feed.hello.recording ? null : eventsTable(drawer),
  ];
}

function podFacts(pod) {
  const { row, record } = pod;
  const facts = [
    ["place", placeOf(pod)],
    ["since", pod.since && timer(pod.since, "up")],
    ["node", nodeOf(pod)],
    ["namespace", row?.namespace],
    ["priority", row?.priority],
    ["requests", requestsText(row?.requests)],
    ["gates", row?.gates?.join(", ")],
    ["group", row?.group],
    ["plugins", record?.plugins && pluginNames(record.plugins)],
    ["wakes on", record?.wakes?.join(", ")],
    ["attempts", record?.attempts],
    ["condition", row?.condition &&
      `${row.condition.reason}: ${row.condition.message ?? ""}`],
  ].filter(([, value]) => value);
  return h("dl", { key: "facts" }, facts.map(([name, value]) =>
    h("div", { key: name }, h("dt", null, name), h("dd", null, value))));
}

// Returns the last moves of a pod up to the shown moment.
function movesOfPod(uid) {
  const moves = [];
  let position = ui.rewound?.position ?? past.end;
  for (; position > past.start && moves.length < kMoves; --position) {
    const { time, item } = past.entry(position);
    if (item.pod?.uid === uid) moves.push([position, time, item.pod]);
  }
  if (moves.length === 0) return null;
  return h("details", { key: "moves" },
    h("summary", null, h("h3", null, "Moves")),
    h("ul", { class: "plain" }, moves.map(([position, time, record]) =>
      h("li", { key: position },
        h("span", { class: "time" }, clockText(time)),
        ` ${describeMove(record).slice(record.name.length + 1)}`))));
}

// Returns the editor of an object. Loads its YAML again when it has changed,
// unless the reader has changed it too.
function editorView(drawer, row) {
  const path = pathOf(drawer.kind, drawer.namespace, drawer.name);
  const key = `${path} ${drawer.uid}`;
  let editor = editors.get(key);
  if (!editor) {
    editor = {};
    editors.set(key, editor);
  }
  const isClean = editor.text === editor.loaded;
  if (isClean && !editor.isLoading &&
      (editor.text === undefined ? !editor.error : editor.row !== row)) {
    loadYaml(editor, path, row);
  }
  const save = () => sendYaml(editor, "PUT", path, () => loadYaml(editor, path));
  return h("div", { key: `editor ${key}`, class: "editor" },
    h("h3", null, "YAML"),
    !isClean && editor.row !== row && h("p", { class: "quiet" },
      "The object has changed since you began."),
    textArea(editor, "YAML of the object", !canControl()),
    canControl() && h("div", { class: "actions" },
      h("button", { class: "primary", disabled: isClean, onclick: save },
        "Save"),
      h("button", { disabled: isClean && !editor.error,
        onclick: () => loadYaml(editor, path, row) },
      "Load what the server has"),
      deletePart(drawer, editor, path)));
}

async function loadYaml(editor, path, row) {
  editor.isLoading = true;
  const result = await server.source.read(path);
  editor.isLoading = false;
  editor.error = result.ok ? null : result.error;
  editor.line = undefined;
  editor.row = row ?? editor.row;
  if (result.ok) {
    editor.text = editor.loaded = result.text;
    if (editor.node) editor.node.value = result.text;
  }
  change({});
}

async function sendYaml(editor, method, path, done) {
  const sent = editor.text;
  const result = await server.source.write(method, path, sent);
  Object.assign(editor, { error: null, line: undefined, column: undefined });
  if (result.ok) {
    if (editor.text === sent) editor.loaded = sent;
    done();
  } else {
    Object.assign(editor, { error: result.error, line: result.line,
      column: result.column });
    showPosition(editor);
  }
  change({});
}

// Puts the cursor where the error is.
function showPosition({ node, line, column, text }) {
  if (!node || !line) return;
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).join("\n").length + (line > 1);
  const at = before + Math.min((column ?? 1) - 1, lines[line - 1]?.length ?? 0);
  node.focus();
  node.setSelectionRange(at, Math.min(at + 1, text.length));
  node.scrollTop = (node.scrollHeight / lines.length) * Math.max(line - 5, 0);
}

function textArea(editor, label, isReadOnly) {
  const { error, line, column } = editor;
  return [
    h("textarea", { key: "text", "aria-label": label, spellcheck: "false",
      rows: "16", readonly: isReadOnly, "aria-invalid": error ? "true" : null,
      "aria-describedby": "editor-error",
      hook: (node) => {
        editor.node = node;
        node.value = editor.text ?? "";
      },
      oninput: (event) => {
        editor.text = event.target.value;
        change({});
      } }),
    h("p", { id: "editor-error", class: "error", role: "alert" }, error,
      line && h("button", { class: "link", onclick: () => showPosition(editor) },
        ` Go to line ${line}, column ${column ?? 1}`)),
  ];
}

// Returns the button that deletes the object, and the question after it.
function deletePart(drawer, editor, path) {
  if (!editor.asks) {
    return h("button", { key: "ask", class: "danger", onclick: () => {
      editor.asks = true;
      change({});
    } }, "Delete …");
  }
  const pods = drawer.kind === "Node"
    ? podsOnNode(past.tables, drawer.name).filter(([, pod]) => pod.row)
    : [];
  return h("div", { key: "sure", class: "sure" },
    pods.length > 0 && h("label", null,
      h("input", { type: "checkbox", checked: Boolean(editor.withPods),
        onchange: (event) => { editor.withPods = event.target.checked; } }),
      ` also its ${plural(pods.length, "pod")}`),
    h("button", { class: "danger", hook: (node) => node.focus(),
      onclick: () => deleteObjects(drawer, editor, path, pods) },
    `Delete ${drawer.name}`),
    h("button", { onclick: () => {
      editor.asks = false;
      change({});
    } }, "Keep"));
}

async function deleteObjects(drawer, editor, path, pods) {
  const paths = [path, ...(editor.withPods ? pods : []).map(([, { row }]) =>
    pathOf("Pod", row.namespace, row.name))];
  editor.asks = false;
  for (const each of paths) {
    const result = await server.source.write("DELETE", each);
    editor.error = result.ok ? editor.error : result.error;
  }
  editors.delete(`${path} ${drawer.uid}`);
  if (editor.error) return change({});
  if (ui.drawer?.uid === drawer.uid) closeDrawer();
  change({ notice: { text: `Deleted ${drawer.name}.` } });
}

function createView({ create: kind, namespace = "default" }) {
  const key = `new ${kind}`;
  let editor = editors.get(key);
  if (!editor) {
    const text = templateOf(kind, feed.hello.scheduler);
    editor = { text, loaded: text };
    editors.set(key, editor);
  }
  const set = (values) => change({ drawer: { ...ui.drawer, ...values } });
  return h("div", { key, class: "editor" },
    h("div", { class: "tools" },
      h("label", null, "Kind ", h("select", { onchange: (event) =>
        set({ create: event.target.value }) },
      kKindNames.map((name) => h("option",
        { key: name, value: name, selected: name === kind }, name)))),
      isNamespaced(kind) && h("label", null, "Namespace ",
        h("input", { value: namespace, spellcheck: "false",
          oninput: (event) => set({ namespace: event.target.value }) }))),
    textArea(editor, "YAML of the new object", false),
    h("div", { class: "actions" },
      h("button", { class: "primary", disabled: !canControl(),
        onclick: () => sendYaml(editor, "POST", pathOf(kind, namespace), () =>
          change({ notice: { text: `Created a ${kind}.` } })) }, "Create"),
      h("button", { disabled: editor.text === editor.loaded, onclick: () => {
        editors.delete(key);
        set({ namespace: "default" });
      } }, "Back to the template")));
}
