// Editors of objects as YAML. What the reader types is kept until it is saved
// or thrown away, also when the drawer is closed meanwhile.

import { h } from "./dom.js";
import { link } from "./parts.js";
import { change, feed, server } from "./ui.js";

// Key → {id, text, loaded, row, hello, error, line, column, node, isLoading}.
// `text` is in the textarea, `loaded` is what the server has sent, or a
// template. `row` and `hello` are from the moment when it was loaded.
const editors = new Map();
let editorCount = 0;

// Returns true if the reader has not changed the text.
export const isClean = (editor) => editor.text === editor.loaded;

// Returns true if a text would be lost with the page.
export const hasDrafts = () => ![...editors.values()].every(isClean);

// Returns the editor with this key, which begins with this text. Forgets others
// that hold nothing of the reader's.
export function editorOf(key, text) {
  if (!editors.has(key)) {
    for (const [other, editor] of editors) {
      if (isClean(editor)) editors.delete(other);
    }
    editors.set(key, { id: ++editorCount, text, loaded: text });
  }
  return editors.get(key);
}

export function forgetEditor(key) {
  editors.delete(key);
  change();
}

// Loads the object, unless the reader has changed the text meanwhile, or if he
// asks for it. `row` is what is known of the object now.
export async function loadYaml(editor, path, row, isAsked) {
  editor.isLoading = true;
  editor.row = row;
  editor.hello = feed.hello;
  const { ok, text, error } = await server.source.read(path);
  editor.isLoading = false;
  if (!isClean(editor) && !isAsked) return change();
  Object.assign(editor, { error, line: null });
  if (ok) {
    editor.text = editor.loaded = text;
    if (editor.node) editor.node.value = text;
  }
  change();
}

// Sends the text to the server, and calls `done` if the server takes it.
export async function sendYaml(editor, method, path, done) {
  const sent = editor.text;
  const { ok, error, line, column } =
    await server.source.write(method, path, sent);
  Object.assign(editor, { error, line, column });
  if (ok) {
    editor.loaded = sent;
    done();
  }
  showPosition(editor);
  change(ok ? {} : { notice: null });
}

// Puts the cursor where the error is.
function showPosition({ node, line, column, text }) {
  if (!node || !line) return;
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const at = start + Math.min((column ?? 1) - 1, lines[line - 1]?.length ?? 0);
  node.focus();
  node.setSelectionRange(at, at + 1);
  node.scrollTop = (node.scrollHeight / lines.length) * Math.max(line - 5, 0);
}

// Returns the textarea, and below it the server's error.
export function textArea(editor, label, isReadOnly) {
  const { id, error, line, column } = editor;
  return [
    h("textarea", { key: `text ${id}`, "aria-label": label, rows: "16",
      spellcheck: "false", readonly: isReadOnly,
      "aria-invalid": error ? "true" : null, "aria-describedby": "editor-error",
      hook: (node) => {
        editor.node = node;
        node.value = editor.text ?? "";
      },
      oninput: (event) => {
        editor.text = event.target.value;
        change();
      } }),
    h("p.error", { id: "editor-error", role: "alert" }, error, " ",
      line && link(`Go to line ${line}, column ${column ?? 1}`,
        () => showPosition(editor))),
  ];
}
